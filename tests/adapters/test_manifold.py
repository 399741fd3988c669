"""Test tangents, steps and brackets in NumPy and PyTorch against treefactor's functions and Pinocchio.

NumPy has the same functions and compiles nothing: it tests values in little time.
"""

import numpy as np
import pytest
from helpers.manifold_cases import (
    CLOSE,
    MIXED,
    PLACED,
    TURNING,
    at_state,
    check_empty_batches,
    check_steps_of_all_kinds,
    draw,
    off_unit,
    results_in_single_precision,
    robot,
)

import treefactor as tf
from treefactor.adapters._manifold import Manifold

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # of torch itself
SIGNS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
FRAMEWORKS = {"numpy": "asarray", "torch": "as_tensor"}  # and how they receive an array


@pytest.fixture(params=FRAMEWORKS)
def framework(request):
    """Return the functions of a framework, and how it receives an array."""
    xp = pytest.importorskip(request.param, reason="PyTorch is not installed")
    return xp, getattr(xp, FRAMEWORKS[request.param])


def test_steps_of_all_kinds_in_one_tree(framework):
    """Put every entry into its place where kinds alternate and mimic joints follow."""
    check_steps_of_all_kinds(*framework)


def test_empty_batches_of_several_joints_of_a_kind(framework):
    check_empty_batches(framework[0])


def test_dtypes_are_kept(framework):
    """Single precision stays single precision in every function."""
    q, results = results_in_single_precision(*framework, lambda function, *arrays: function(*arrays))
    assert {result.dtype for result in results} == {q.dtype}


@pytest.mark.parametrize("kinds", PLACED.values(), ids=PLACED)
def test_steps_are_those_of_treefactor(kinds):
    """Integrate, subtract and normalize as the compiled kernels, at rest and beyond half a turn."""
    model = robot(kinds)
    manifold = Manifold(model, np)
    for scale in (0.0, 1e-9, 0.1, 1.0, 3.0):
        q, other, v = draw(model, (4, 2), scale)
        reached = tf.integrate(model, q, v)
        np.testing.assert_allclose(manifold.integrate(q, v), reached, **CLOSE)
        np.testing.assert_allclose(manifold.difference(q, other), tf.difference(model, q, other), **CLOSE)
        back = manifold.difference(q, reached)
        np.testing.assert_allclose(back, tf.difference(model, q, reached), **CLOSE)
    long = off_unit(model, q)
    np.testing.assert_allclose(manifold.normalize(long), tf.normalize(model, long), **CLOSE)


def test_half_turns_are_accurate():
    """Differences next to half a turn lose no digit of the angle."""
    model = robot(("freeflyer", "spherical", "planar", "continuous"))
    manifold, (q, _, _) = Manifold(model, np), draw(model)
    v = np.zeros(model.nv)
    v[[3, 6, 11, 12]] = np.pi - 1e-6
    reached = tf.integrate(model, q, v)
    got = manifold.difference(q, reached)
    np.testing.assert_allclose(got, v, atol=1e-14)
    np.testing.assert_allclose(got, tf.difference(model, q, reached), atol=1e-14)


def test_tangents_follow_pinocchio():
    """G is the derivative of pinocchio.integrate for all its joints, and P the left inverse of G."""
    pin = pytest.importorskip("pinocchio", reason="the reference")
    from treefactor.adapters import pinocchio_

    pinned, parent = pin.Model(), 0
    for k, kind in enumerate(("FreeFlyer", "RX", "Spherical", "RUBY", "Planar", "PZ", "Translation", "HX")):
        joint = getattr(pin, f"JointModel{kind}")(*((0.2,) if kind == "HX" else ()))
        parent = pinned.addJoint(parent, joint, pin.SE3.Random(), f"joint{k}")
        pinned.appendBodyToJoint(parent, pin.Inertia.Random(), pin.SE3.Identity())
    model = pinocchio_.model(pinned)
    manifold, (q, _, _) = Manifold(model, np), draw(model)
    G = manifold.from_tangent(q, np.eye(model.nv)).T
    h = 1e-5  # Pinocchio's integrateCoeffWiseJacobian has no Python name
    ends = [[pin.integrate(pinned, q, side * h * v) for v in np.eye(model.nv)] for side in (1, -1)]
    np.testing.assert_allclose(G, (np.array(ends[0]) - ends[1]).T / (2 * h), atol=1e-10)
    P = manifold.to_tangent(q, np.eye(model.nq)).T
    np.testing.assert_allclose(P @ G, np.eye(model.nv), atol=1e-14)
    np.testing.assert_allclose(manifold.pull(q, np.eye(model.nv)), P, **CLOSE)


@pytest.mark.parametrize("kind", TURNING)
def test_tangents_do_not_depend_on_lengths(kind):
    """P and its transpose are those of normalize(q) at any length, and P maps the rotation itself to zero."""
    model = robot(("revolute", kind))
    manifold, (q, _, _) = Manifold(model, np), draw(model)
    q, h = off_unit(model, q), 1e-5
    unit = manifold.normalize(q)
    P = manifold.to_tangent(q, np.eye(model.nq)).T
    ends = [manifold.normalize(q + side * h * np.eye(model.nq)) for side in (1, -1)]
    np.testing.assert_allclose(P, manifold.to_tangent(unit, (ends[0] - ends[1]) / (2 * h)).T, atol=1e-9)
    np.testing.assert_allclose(manifold.to_tangent(q, q - unit), 0.0, atol=1e-14)
    np.testing.assert_allclose(manifold.pull(q, np.eye(model.nv)), P, atol=1e-14)
    back = manifold.to_tangent(q, manifold.from_tangent(q, np.eye(model.nv)))
    np.testing.assert_allclose(back, np.eye(model.nv), atol=1e-14)


WHERE = ("at rest", "in motion", "near half a turn")
CASES = dict.fromkeys(("integrate", "difference"), (WHERE[0], WHERE[2]))
CASES |= dict.fromkeys(("to_tangent", "from_tangent", "pull"), (WHERE[1],))  # others are slow


@pytest.mark.parametrize(
    ("name", "where"),
    [
        pytest.param(name, where, marks=() if where in fast else pytest.mark.slow)
        for name, fast in CASES.items()
        for where in WHERE
    ],
)
def test_second_derivatives_in_torch(name, where):
    """Forward, reverse, mapped and second derivatives in PyTorch equal finite differences."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    model, given = at_state(("revolute", "freeflyer", "planar", "continuous"), name, where)
    given = [torch.tensor(x, requires_grad=True) for x in given]
    function = getattr(Manifold(model, torch), name)
    first = {"check_forward_ad": True, "check_batched_grad": True}
    assert torch.autograd.gradcheck(function, given, **first)
    assert torch.autograd.gradgradcheck(function, given, atol=1e-4)


@pytest.mark.parametrize("kind", TURNING)
def test_brackets_by_second_differences(kind):
    """Brackets equal commutators of derivatives along treefactor.integrate; co_bracket is the transpose."""
    model = robot(("revolute", kind, "prismatic"))
    manifold, (q, _, _) = Manifold(model, np), draw(model)
    rng, h = np.random.default_rng(5), 1e-3
    a, b, g = rng.normal(size=(3, model.nv))

    def second(a, b):
        steps = [tf.integrate(model, tf.integrate(model, q, s * h * a), t * h * b) for s, t in SIGNS]
        return (steps[0] - steps[1] - steps[2] + steps[3]) / (4 * h**2)

    along = manifold.from_tangent(q, manifold.bracket(a, b))
    np.testing.assert_allclose(along, second(a, b) - second(b, a), atol=2e-5)
    np.testing.assert_allclose(manifold.co_bracket(a, g) @ b, g @ manifold.bracket(a, b), atol=1e-14)
    assert manifold.commutes == (kind == "continuous") == (not np.asarray(manifold.bracket(a, b)).any())


@pytest.mark.parametrize("kinds", [*[(kind, "revolute") for kind in TURNING], MIXED], ids=str)
def test_second_derivatives_of_dynamics_differ_by_brackets(kinds):
    """The two Hessians of rnea_hvp differ by half the co_bracket, as its docstring writes."""
    model = robot(kinds)
    q, _, x = draw(model)
    v, a, w, zero = *np.random.default_rng(1).normal(size=(3, model.nv)), np.zeros(model.nv)
    gradient = tf.rnea_vjp(model, q, v, a, w)[0]
    moving, symmetric = (
        tf.rnea_hvp(model, q, v, a, w, x, zero, zero, symmetric=symmetric).q for symmetric in (False, True)
    )
    half = Manifold(model, np).co_bracket(x, gradient) / 2
    np.testing.assert_allclose(half, moving - symmetric, atol=1e-11 * abs(moving).max())


def test_no_operation_without_turning_joints():
    """Where G = 1, tangents and gradients are returned as they are, and brackets are zero."""
    model = robot(("revolute", "universal", "helical", "translation", "prismatic"))
    manifold, (q, _, v) = Manifold(model, np), draw(model)
    assert manifold.trivial
    assert manifold.commutes
    assert manifold.to_tangent(q, v) is manifold.from_tangent(q, v) is manifold.pull(q, v) is v
    assert manifold.normalize(q) is q
    assert not np.asarray(manifold.bracket(v, q)).any()


def test_torch_compiles_without_breaks():
    """torch.compile captures the steps as one graph, and torch.func differentiates them twice."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    model = robot(("prismatic", "freeflyer", "planar", "revolute", "planar"))
    manifold, (q, _, v) = Manifold(model, torch), draw(model)
    q, v = torch.as_tensor(q), torch.as_tensor(v)
    compiled = torch.compile(manifold.integrate, backend="aot_eager", fullgraph=True)
    np.testing.assert_array_equal(compiled(q, v), manifold.integrate(q, v))
    second = torch.func.hessian(lambda v: manifold.integrate(q, v).sin().sum())(0.0 * v)
    np.testing.assert_allclose(second, second.T, atol=1e-13)
