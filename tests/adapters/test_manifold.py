"""Test tangents, steps and brackets in JAX and PyTorch against treefactor's functions and Pinocchio.

The fixture `float64` enables JAX's 64-bit numbers for one test at a time, by a context: other tests, in this
process or in other threads, keep JAX's default of 32 bits.
"""

import importlib
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.manifold_cases import CLOSE, MIXED, PLACED, TURNING, draw, mixed, off_unit, robot

import treefactor as tf
from treefactor.adapters._lie_groups import SMALL, SMALL_TANGENT, Sphere
from treefactor.adapters._manifold import Manifold

pin = pytest.importorskip("pinocchio", reason="the reference")
jax = pytest.importorskip("jax", reason="JAX is not installed")

from treefactor.adapters import pinocchio_  # noqa: E402

jnp = jax.numpy
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # of torch itself
SIGNS = ((1, 1), (1, -1), (-1, 1), (-1, -1))


@pytest.fixture(autouse=True)
def float64():
    """Enable 64-bit numbers of JAX inside the test, in this thread."""
    holder = jax if hasattr(jax, "enable_x64") else importlib.import_module("jax.experimental")
    with holder.enable_x64(True):
        yield


@pytest.fixture(params=["numpy", "torch", "jax"])
def framework(request):
    """Return the functions of a framework, how it receives an array, and how it runs a function fast.

    NumPy has the same functions and compiles nothing: it tests values in little time.
    """
    if request.param == "jax":
        return SimpleNamespace(xp=jnp, array=jnp.asarray, fast=jax.jit)
    if request.param == "numpy":
        return SimpleNamespace(xp=np, array=np.asarray, fast=lambda function: function)
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    return SimpleNamespace(xp=torch, array=torch.as_tensor, fast=lambda function: function)


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


def test_steps_of_all_kinds_in_one_tree(framework):
    """Put every entry into its place where kinds alternate and mimic joints follow."""
    model = mixed()
    manifold, (q, other, v) = Manifold(model, framework.xp), draw(model, (3,))
    given = [framework.array(x) for x in (q, other, v)]
    np.testing.assert_allclose(
        framework.fast(manifold.integrate)(given[0], given[2]), tf.integrate(model, q, v), **CLOSE
    )
    np.testing.assert_allclose(
        framework.fast(manifold.difference)(*given[:2]), tf.difference(model, q, other), **CLOSE
    )
    long = off_unit(model, q)
    np.testing.assert_allclose(
        framework.fast(manifold.normalize)(framework.array(long)), tf.normalize(model, long), **CLOSE
    )
    again = framework.fast(lambda q, v: manifold.to_tangent(q, manifold.from_tangent(q, v)))
    np.testing.assert_allclose(again(given[0], given[2]), v, rtol=1e-13, atol=1e-13)


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


@pytest.mark.parametrize("kind", TURNING)
def test_rules_repeat(kind):
    """A function whose derivative is written with P has the higher derivatives of f(normalize(q))."""
    model = robot((kind,))
    manifold, (q, _, _) = Manifold(model, jnp), draw(model)
    weights = jnp.asarray(np.random.default_rng(2).normal(size=model.nq))

    def height(q):
        return jnp.sum(jnp.sin(weights * manifold.normalize(q)))

    def gradient(q):  # along integrate
        unit = manifold.normalize(q)
        return jax.jacfwd(lambda v: height(unit + manifold.from_tangent(unit, v)))(jnp.zeros(model.nv))

    @jax.custom_jvp
    def ruled(q):
        return height(q)

    @ruled.defjvp
    def _(primals, tangents):
        return ruled(*primals), gradient(*primals) @ manifold.to_tangent(*primals, *tangents)

    orders = [jax.jacfwd, jax.hessian]
    orders += [lambda f: jax.jacfwd(jax.jacfwd(jax.jacfwd(f)))] if kind == "spherical" else []
    for order in orders:
        got, wanted = (
            jax.jit(jax.vmap(order(f)))(jnp.stack([q, off_unit(model, q)])) for f in (ruled, height)
        )
        np.testing.assert_allclose(got, wanted, atol=1e-12)


@pytest.mark.parametrize("kind", TURNING)
@pytest.mark.parametrize("scale", [0.0, 1.0])
def test_derivatives_of_steps(kind, scale):
    """Derivatives of steps, in tangents, equal d_integrate and d_difference."""
    model = robot(("revolute", kind))
    manifold, (q, _, v) = Manifold(model, jnp), draw(model, (), scale)
    reached = tf.integrate(model, q, v)

    def at(x):
        return manifold.from_tangent(x, jnp.eye(model.nv)).T

    def by_tangents(q, v, reached):
        by_q, by_v = jax.jacfwd(manifold.integrate, (0, 1))(q, v)
        by_q0, by_q1 = jax.jacrev(manifold.difference, (0, 1))(q, reached)
        steps = [manifold.to_tangent(reached, columns.T).T for columns in (by_q @ at(q), by_v)]
        return *steps, by_q0 @ at(q), by_q1 @ at(reached)

    wanted = *tf.d_integrate(model, q, v), *tf.d_difference(model, q, reached)
    for got, expected in zip(jax.jit(by_tangents)(q, v, reached), wanted, strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-13)


@pytest.mark.parametrize("kind", TURNING)
def test_second_derivatives_at_rest(kind):
    """The Hessian at v = 0 is finite and equals second differences of treefactor.integrate."""
    model = robot((kind,))
    manifold, (q, _, _) = Manifold(model, jnp), draw(model)
    weights, n, step = np.random.default_rng(3).normal(size=model.nq), model.nv, 1e-4

    def height(x):
        return jnp.sum(weights * x**2)

    got = jax.jit(jax.hessian(lambda v: height(manifold.integrate(q, v))))(jnp.zeros(n))
    corners = np.array(
        [[s * step * a + t * step * b for a in np.eye(n) for b in np.eye(n)] for s, t in SIGNS]
    )
    x = tf.integrate(model, q, corners)
    value = (weights * x**2).sum(-1).reshape(4, n, n)
    wanted = (value[0] - value[1] - value[2] + value[3]) / (4 * step**2)
    np.testing.assert_allclose(got, wanted, atol=1e-6)


def at_state(kinds, name, where):
    """Return a model and the arguments of a function at rest, in motion or near half a turn."""
    model = robot(kinds)
    manifold, (q, _, v) = Manifold(model, np), draw(model)
    if where == "near half a turn":
        v[[6, 9, 10]], v[4:7] = 3.0, (1.5, 1.8, 1.6)
    v = 0.0 * v if where == "at rest" else v
    second = tf.integrate(model, q, v) if name == "difference" else v
    return model, (q, manifold.from_tangent(q, v) if name == "to_tangent" else second)


NAMES = ("integrate", "difference", "to_tangent", "from_tangent", "pull")
WHERE = ("at rest", "in motion", "near half a turn")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("where", WHERE)
def test_second_derivatives_in_torch(name, where):
    """Forward, reverse, mapped and second derivatives in PyTorch equal finite differences."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    model, given = at_state(("revolute", "freeflyer", "planar", "continuous"), name, where)
    given = [torch.tensor(x, requires_grad=True) for x in given]
    function = getattr(Manifold(model, torch), name)
    first = {"check_forward_ad": True, "check_batched_grad": True}
    assert torch.autograd.gradcheck(function, given, **first)
    assert torch.autograd.gradgradcheck(function, given, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["integrate", "difference"])
@pytest.mark.parametrize("kind", ["spherical", "planar"])
def test_second_derivatives_in_jax(kind, name):
    """Forward and reverse derivatives of first and second order in JAX, at rest, equal finite differences."""
    from jax.test_util import check_grads

    model, given = at_state((kind,), name, "at rest")
    check_grads(jax.jit(getattr(Manifold(model, jnp), name)), [jnp.asarray(x) for x in given], 2)


def test_derivatives_are_smooth_where_series_end():
    """Values and two derivatives agree on both sides of the angles where series take over."""
    sphere = Sphere(jnp)

    def exponential(angle):
        return jnp.stack(sphere.exponential(angle * angle))

    def logarithm(tangent):
        turn, second = sphere.logarithm(jnp.stack([tangent, 0.0, 0.0, 1.0]))
        return jnp.stack([turn[0], second[0]])

    for function, end in ((exponential, 2 * SMALL**0.5), (logarithm, SMALL_TANGENT**0.5)):
        tolerance = 1e-13
        for _ in range(3):
            below, above = jax.jit(jax.vmap(function))(end * (1.0 + jnp.array([-1e-14, 1e-14])))
            np.testing.assert_allclose(below, above, rtol=tolerance, atol=tolerance)
            function, tolerance = jax.jacfwd(function), 50 * tolerance


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


def test_batches_and_transformations():
    """Leading axes broadcast, vmap takes any axis, a NaN stays in its row, and a batch may be empty."""
    model = robot(("prismatic", "freeflyer", "planar"))
    manifold, (q, _, v) = Manifold(model, jnp), draw(model, (3,))
    step = jax.jit(manifold.integrate)
    wanted = tf.integrate(model, q, v[0])
    np.testing.assert_allclose(step(q, v[0]), wanted, **CLOSE)
    np.testing.assert_allclose(jax.jit(jax.vmap(manifold.integrate, (1, None)))(q.T, v[0]), wanted, **CLOSE)
    bad = q.copy()
    bad[1, 4] = np.nan
    rows = np.asarray(step(bad, v[0]))
    assert np.isnan(rows[1]).any()
    assert (rows[[0, 2]] == np.asarray(step(q, v[0]))[[0, 2]]).all()
    assert step(q[:0], v[0]).shape == (0, model.nq)


def test_dtypes_are_kept(framework):
    """Single precision stays single precision in every function."""
    model = mixed()
    manifold, (q, other, v) = Manifold(model, framework.xp), draw(model)
    q, other, v = (framework.array(x.astype(np.float32)) for x in (q, other, v))

    def everything(q, other, v):
        results = [manifold.integrate(q, v), manifold.difference(q, other), manifold.normalize(q)]
        results += [manifold.to_tangent(q, other), manifold.from_tangent(q, v), manifold.pull(q, v)]
        return *results, manifold.bracket(v, v), manifold.co_bracket(v, v)

    evaluate = partial(jax.eval_shape, everything) if framework.xp is jnp else everything
    assert {result.dtype for result in evaluate(q, other, v)} == {q.dtype}


@pytest.mark.parametrize("name", ["integrate", "difference", "pull"])
def test_empty_batches_of_several_joints_of_a_kind(framework, name):
    model = mixed()
    sizes = {"integrate": model.nv, "difference": model.nq, "pull": model.nv}
    q, other = (framework.xp.ones((0, size)) for size in (model.nq, sizes[name]))
    result = getattr(Manifold(model, framework.xp), name)(q, other)
    assert result.shape == (0, model.nv if name == "difference" else model.nq)


def test_no_operation_without_turning_joints():
    """Where G = 1, tangents and gradients are returned as they are, and brackets are zero."""
    model = robot(("revolute", "universal", "helical", "translation", "prismatic"))
    manifold, (q, _, v) = Manifold(model, jnp), draw(model)
    assert manifold.trivial
    assert manifold.commutes
    assert manifold.to_tangent(q, v) is manifold.from_tangent(q, v) is manifold.pull(q, v) is v
    assert manifold.normalize(q) is q
    assert not np.asarray(manifold.bracket(v, q)).any()


def test_one_free_flyer_costs_no_reordering():
    """A free-flyer before plain joints needs slices and one concatenation: no gather, no scatter."""
    model = robot(("freeflyer", *["revolute"] * 12))
    manifold, (q, _, v) = Manifold(model, jnp), draw(model)
    for name in ("integrate", "from_tangent", "pull"):
        text = str(jax.make_jaxpr(getattr(manifold, name))(q, v))
        assert "gather" not in text
        assert "scatter" not in text


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
