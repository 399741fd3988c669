"""Compare generated position closure with Newton's method, and with closures derived by hand."""

import pickle
import shutil
from importlib.util import find_spec

import numpy as np
import pytest
from helpers.closing_models import leg, planar, six_bar
from helpers.codegen_models import branched_loop, coupled_loops, held
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor import constraints
from treefactor.codegen import Program, compile, generate, verify
from treefactor.codegen.algorithms.frames import bodies_of
from treefactor.codegen.algorithms.partition import closed
from treefactor.codegen.backends.numpy_ import evaluate
from treefactor.exceptions import CodegenError, ConfigurationError
from treefactor.model.mechanisms import MECHANISMS, Mechanism

CLOSED = 1e-12  # residual of loops, m or cosine
BACKENDS = (
    "interp",
    "numpy",
    pytest.param("cc", marks=pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")),
    pytest.param("llvm", marks=pytest.mark.skipif(find_spec("llvmlite") is None, reason="no llvmlite")),
)
COUNTS = {  # mul, add, div, sqrt, trig
    "four-bar": (24, 11, 1, 1, 4),
    "five-bar": (32, 16, 1, 1, 6),
    "stewart": (165, 117, 6, 12, 12),
    "docking": (282, 151, 12, 12, 24),
}


@pytest.fixture(scope="module")
def programs():
    """Return mechanisms and their programs on the branch of the mechanism's own closure."""
    mechanisms = {name: MECHANISMS[name]() for name in MECHANISMS}
    return {
        name: (one, generate(one.model, "position_closure", branch=one.closed))
        for name, one in mechanisms.items()
    }


def configurations(mechanism: Mechanism, count: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.array([mechanism.random(rng) for _ in range(count)])


def residual(model: tf.Model, q) -> float:
    return np.abs(constraints.loop_rows(model, q).residual).max()


def assert_same(model: tf.Model, q, expected, tolerance=1e-9):
    """Assert that configurations are equal, angles up to whole turns."""
    apart = np.abs(np.exp(1j * q) - np.exp(1j * np.asarray(expected)))
    lengths = [i for i in model.idx_q if model.joints[model.idx_q.index(i)].kind == "prismatic"]
    apart[..., lengths] = np.abs(q - expected)[..., lengths]
    assert apart.max() < tolerance


def opened(model: tf.Model, program: Program, q, size: float) -> np.ndarray:
    """Return configurations whose dependent joints have moved by a size."""
    step = np.array([0.0 if name in program.independent else size for name in model.tree.names])
    return tf.integrate(model, q, np.broadcast_to(step, (*q.shape[:-1], model.nv)))


def newton(model: tf.Model, program: Program, q) -> np.ndarray:
    """Return the configuration that Newton's method finds; the independent positions stay."""
    follow = [k for k, name in enumerate(model.tree.names) if name not in program.independent]
    for _ in range(30):
        rows, step = constraints.loop_rows(model, q), np.zeros(model.nv)
        step[follow] = -np.linalg.lstsq(rows.dense()[:, follow], rows.residual, rcond=1e-9)[0]
        q = tf.integrate(model, q, step)
    return q


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_close_as_by_hand_and_by_newton(programs, name, backend, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    mechanism, program = programs[name]
    kernels, q = compile(program, backend=backend), configurations(mechanism, 20)
    open_q = opened(mechanism.model, program, q, 0.3)
    assert residual(mechanism.model, open_q) > 0.01
    closed_q = kernels.position_closure(open_q)
    assert kernels.backend == backend
    assert residual(mechanism.model, closed_q) < CLOSED
    assert_same(mechanism.model, closed_q, q)
    near = newton(mechanism.model, program, opened(mechanism.model, program, q[0], 0.01))
    assert_same(mechanism.model, near, closed_q[0], CLOSED)
    np.testing.assert_allclose(kernels.position_closure(open_q[3]), closed_q[3], rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", COUNTS)
def test_counts(programs, name):
    count = programs[name][1].operations["position_closure"]
    assert (count.mul, count.add, count.div, count.sqrt, count.trig) == COUNTS[name]
    newton = generate(programs[name][0].model, ["loop_step"]).operations["loop_step"]
    assert count.total < newton.total  # one closure takes less than one of Newton's steps


def assert_closes(model: tf.Model, q, independent, seed: int):
    """Assert that the closure returns q, and of other independent positions what Newton's method finds."""
    program = generate(model, "position_closure", variants="both", independent=independent, branch=q)
    function = program.functions["position_closure"]
    free = [k for k, freedom in enumerate(model.tree.names) if freedom in program.independent]
    closed_q = evaluate(function, q)
    assert residual(model, closed_q) < 1e-9
    assert_same(model, closed_q, q, 1e-6)
    step = np.zeros(model.nv)
    step[free] = 0.02 * np.random.default_rng(seed).normal(size=len(free))
    moved = tf.integrate(model, q, step)
    closed_q = evaluate(function, moved)
    if np.isfinite(closed_q).all():
        assert residual(model, closed_q) < 1e-9
        near = newton(model, program, moved)
        if np.isfinite(near).all() and residual(model, near) < CLOSED:
            other = generate(model, "position_closure", variants="both", independent=independent, branch=near)
            if other.branch == program.branch:  # near singular positions it may change the branch
                assert_same(model, near, closed_q, 1e-6)
    return program


KINDS = ("revolute", "continuous", "prismatic")


@settings(max_examples=40)
@given(
    kinds=st.tuples(*[st.sampled_from(KINDS)] * 3),
    split=st.integers(1, 3),
    unknown=st.sampled_from([(0, 1), (0, 2), (1, 2)]),
    seed=st.integers(0, 10**6),
)
def test_planar_rings(kinds, split, unknown, seed):
    rng = np.random.default_rng(seed)
    model, q = planar(rng, kinds, split)
    independent = [f"joint{k}" for k in range(3) if k not in unknown]
    assert_closes(model, q, independent, seed)


@settings(max_examples=25)
@given(
    third=st.sampled_from(["prismatic", "revolute"]),
    reverse=st.booleans(),
    apart=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_legs(third, reverse, apart, seed):
    model, q = leg(np.random.default_rng(seed), third, reverse, apart=apart)
    assert_closes(model, q, ["platform"], seed)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("third", ["prismatic", "revolute"])
def test_legs_with_a_universal_joint_at_both_ends(third, seed):
    model, q = leg(np.random.default_rng(seed), third, False, "universal")
    assert_closes(model, q, ["platform"], seed)


@pytest.mark.parametrize("seed", range(5))
def test_loops_are_closed_in_an_order_in_which_each_is_determined(seed):
    model, q = six_bar(np.random.default_rng(seed))
    program = assert_closes(model, q, ["joint0"], seed)
    assert len(program.branch) == 2


def test_both_branches_close_and_differ():
    mechanism = MECHANISMS["four-bar"]()
    branches = []
    for sign in (1, -1):
        program = generate(mechanism.model, "position_closure", branch={"coupler": sign})
        assert program.branch == (("coupler", sign),)
        q = compile(program).position_closure(mechanism.closed)
        assert residual(mechanism.model, q) < CLOSED
        branches.append(q)
    assert np.abs(branches[0] - branches[1]).max() > 0.1


@pytest.mark.parametrize("name", ["stewart", "docking"])
def test_without_a_branch_the_rods_of_platforms_are_long(name):
    mechanism = MECHANISMS[name]()
    model, program = mechanism.model, generate(mechanism.model, "position_closure", variants="plain")
    assert {sign for freedom, sign in program.branch if freedom.startswith("rod")} == {1}
    q = compile(program).position_closure(configurations(mechanism, 20))
    assert residual(model, q) < CLOSED
    rods = [i for i, joint in zip(model.idx_q, model.joints, strict=True) if joint.name.startswith("rod")]
    assert len(rods) == 6
    assert q[:, rods].min() > 0.3


@pytest.mark.parametrize("slider", range(3))
@pytest.mark.parametrize("seed", range(4))
def test_without_a_branch_it_is_that_of_a_closed_neutral_configuration(slider, seed):
    kinds = ["prismatic" if k == slider else "revolute" for k in range(3)]
    rng = np.random.default_rng(seed)
    model, _ = planar(rng, kinds, 2)
    q = tf.neutral(model)
    loop = held(model, q, "ring", "spherical", 1, 2)
    model = tf.Model(model.joints, model.gravity, loops=[loop])
    closed_q = compile(generate(model, "position_closure")).position_closure(q)
    assert_same(model, closed_q, q)


@settings(max_examples=20)
@given(kinds=st.tuples(*[st.sampled_from(KINDS)] * 3), split=st.integers(1, 3), seed=st.integers(0, 10**6))
def test_all_variants_close_on_the_same_branch(kinds, split, seed):
    model, q = planar(np.random.default_rng(seed), kinds, split)
    assume(kinds.count("prismatic") < 3)
    for branch in (None, q):
        programs = [
            generate(model, "position_closure", variants=name, branch=branch) for name in ("plain", "meeting")
        ]
        at = closed(model, bodies_of(model), 1)[0] if branch is None else q
        plain, other = (evaluate(program.functions["position_closure"], at) for program in programs)
        assert_same(model, other, plain, 1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_positions_that_close_no_loop_are_marked(programs, backend):
    mechanism, program = programs["five-bar"]
    kernels = compile(program, backend=backend)
    far = np.array([np.pi, 0.0, 0.0, 0.0])  # arms away from each other
    with pytest.raises(ConfigurationError):
        mechanism.close(far[[0, 2]])
    with pytest.raises(
        ConfigurationError, match="loop 'tip' cannot be closed at these positions of shoulder0"
    ) as e:
        kernels.position_closure(far)
    assert e.value.joint == "tip"
    batch = kernels.position_closure(np.array([far, mechanism.closed, far] * 30))
    assert np.isnan(batch[::3]).all()
    assert np.isnan(batch[2::3]).all()
    assert np.abs(batch[1::3] - mechanism.closed).max() < CLOSED


def test_loops_without_an_analytic_closure_are_named():
    general, _ = branched_loop("spherical", 5)
    with pytest.raises(
        CodegenError, match=r"loop 'loop' has no analytic closure: its dependent joints .* Newton"
    ):
        generate(general, "position_closure")
    mimic, _ = coupled_loops()
    with pytest.raises(CodegenError, match="has no analytic closure"):
        generate(mimic, "position_closure")
    assert "position_closure" not in generate(MECHANISMS["four-bar"]().model).functions


@pytest.mark.parametrize(
    ("branch", "message"),
    [
        ({"couplr": 1}, "branch: 'couplr' is not among coupler.*coupler"),
        ({"coupler": 2}, "branch: expected 1 or -1 for 'coupler', got 2"),
        (np.zeros(3), "branch: expected a configuration with closed loops, but loop 'tip' is"),
        (np.zeros(2), r"branch must have shape \(3,\)"),
    ],
)
def test_branches_are_checked(branch, message):
    with pytest.raises((CodegenError, tf.ShapeError), match=message):
        generate(MECHANISMS["four-bar"]().model, "position_closure", branch=branch)


def test_a_branch_needs_a_closure():
    with pytest.raises(CodegenError, match="branch= needs one of the functions position_closure"):
        generate(MECHANISMS["four-bar"]().model, "crba", branch={"coupler": 1})
    with pytest.raises(CodegenError, match="the model has no loops"):
        generate(tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1.0])]), "position_closure")


def test_programs_are_stored_with_their_branch(programs, tmp_path):
    mechanism, program = programs["docking"]
    program.save(tmp_path / "docking.npz")
    for copy in (Program.load(tmp_path / "docking.npz"), pickle.loads(pickle.dumps(program))):
        assert copy.branch == program.branch
        assert len(copy.branch) == 18
        closed_q = compile(copy).position_closure(mechanism.closed)
        np.testing.assert_array_equal(closed_q, compile(program).position_closure(mechanism.closed))


def test_a_call_is_bound(programs):
    mechanism, program = programs["stewart"]
    q, out = mechanism.closed, np.empty(mechanism.model.nq)
    compile(program).bind("position_closure", q, out=out)()
    np.testing.assert_allclose(out, q, atol=CLOSED)


@pytest.mark.parametrize("name", MECHANISMS)
def test_closures_are_verified(name):
    for verdict in verify(MECHANISMS[name]().model, "position_closure", variants=("plain", "both")):
        assert verdict.first is None, verdict
        assert verdict.elements > 0
