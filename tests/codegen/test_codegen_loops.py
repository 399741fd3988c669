"""Compare programs that close loops with dense equations and Pinocchio, on every backend."""

import re
import shutil
from collections import Counter
from dataclasses import replace
from functools import cache
from importlib.util import find_spec

import numpy as np
import pinocchio as pin
import pytest
from helpers.codegen_models import branched_loop, coupled_loops, held
from helpers.sweeps import sweep
from oracles import loops as dense

import treefactor as tf
from treefactor import constraints
from treefactor.codegen import generate
from treefactor.codegen.backends.numpy_ import evaluate
from treefactor.codegen.program import LOOP_FUNCTIONS
from treefactor.model.arms import GENERAL_7R
from treefactor.model.joints import LOOPS
from treefactor.model.mechanisms import MECHANISMS, Mechanism
from treefactor.papers.textbook import closures

RELATIVE = 1e-10
BACKENDS = (
    "interp",
    "numpy",
    pytest.param("cc", marks=pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")),
    pytest.param("llvm", marks=pytest.mark.skipif(find_spec("llvmlite") is None, reason="no llvmlite")),
)


@cache
def mechanism(name: str) -> Mechanism:
    return MECHANISMS[name]()


@cache
def program(name: str) -> tf.Program:
    return generate(mechanism(name).model, LOOP_FUNCTIONS)


def rates(model: tf.Model, count: int = 4):
    """Return random velocities and forces."""
    v, tau = np.random.default_rng(1).normal(size=(2, count, model.nv))
    return v, 10 * tau


COUNTS = {  # mul, add, div, trig
    "four-bar": {
        "loops": (89, 50, 2, 6),
        "loop_velocity": (26, 8, 1, 6),
        "loop_step": (32, 15, 1, 6),
        "loop_gap": (10, 7, 0, 6),
    },
    "five-bar": {
        "loops": (143, 89, 3, 8),
        "loop_velocity": (42, 19, 1, 8),
        "loop_step": (38, 20, 1, 8),
        "loop_gap": (14, 10, 0, 8),
    },
    "stewart": {
        "loops": (1464, 1089, 12, 24),
        "loop_velocity": (197, 107, 6, 24),
        "loop_step": (225, 150, 6, 24),
        "loop_gap": (147, 114, 0, 24),
    },
    "docking": {
        "loops": (2415, 1691, 12, 42),
        "loop_velocity": (523, 227, 6, 42),
        "loop_step": (462, 210, 6, 42),
        "loop_gap": (288, 167, 0, 42),
    },
}


def closed(name: str, count: int = 4) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.array([mechanism(name).random(rng) for _ in range(count)])


def assert_close(actual, expected, tolerance=RELATIVE):
    assert np.abs(actual - expected).max() <= tolerance * np.abs(expected).max()


def assert_closes(model: tf.Model, program: tf.Program, configurations):
    """Assert that velocities and accelerations keep the loops closed and equal those of dense equations."""
    functions = program.functions
    for q, v, tau in zip(configurations, *rates(model, len(configurations)), strict=True):
        given, v = v, evaluate(functions["loop_velocity"], q, v)
        free = [model.tree.names.index(name) for name in program.independent]
        assert (v[free] == given[free]).all()
        assert_close(evaluate(functions["loops"], q, given, tau), dense.accelerations(model, q, v, tau))
        J = dense.jacobian(model, q)
        assert np.abs(J @ v).max() <= RELATIVE * np.abs(J).max() * np.abs(v).max()
        if "loop_gap" in functions:
            q = tf.integrate(model, q, 0.1 * given)
            assert_close(evaluate(functions["loop_gap"], q), constraints.loop_rows(model, q).residual, 1e-13)


@pytest.mark.parametrize("name", MECHANISMS)
def test_bundled_mechanisms_are_closed(name):
    model = mechanism(name).model
    for q in [mechanism(name).closed, *closed(name, 20)]:
        assert np.abs(dense.gap(model, q, np.zeros(model.nv))[0]).max() < 1e-14


@pytest.mark.parametrize("name", sweep(MECHANISMS, lambda name: name != "docking"))
def test_loops_are_what_dense_equations_give(name):
    assert_closes(mechanism(name).model, program(name), closed(name, 2))


@pytest.mark.parametrize("name", MECHANISMS)
def test_loops_are_those_of_constraints(name):
    """Compare two derivations: programs in body frames, rows of wrenches in the base frame."""
    model, functions = mechanism(name).model, program(name).functions
    q, (v, tau) = closed(name), rates(model)
    open_q = tf.integrate(model, q, 0.1 * v)
    expected = constraints.loop_rows(model, open_q).residual
    assert np.abs(evaluate(functions["loop_gap"], open_q) - expected).max() < 1e-14
    J, v = constraints.loop_rows(model, q).dense(), evaluate(functions["loop_velocity"], q, v)
    assert np.abs(J @ v[..., None]).max() <= RELATIVE * np.abs(J).max() * np.abs(v).max()
    a, _ = constraints.forward_dynamics(model, q, v, tau)
    assert_close(evaluate(functions["loops"], q, v, tau), a)


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    counts = {key: (c.mul, c.add, c.div, c.trig) for key, c in program(name).operations.items()}
    assert counts == COUNTS[name]


@pytest.mark.parametrize(("name", "legs"), [("stewart", 3), ("docking", 4)])
def test_matrix_loops_compute_the_same_and_take_more_operations(name, legs):
    model, tally = mechanism(name).model, Counter()
    dependent = np.arange(6, model.nv).reshape(6, legs).tolist()
    q, (v, tau) = closed(name, 1)[0], rates(model)
    parts = closures.evaluate(model, dependent, q, v[0], tau[0], tally)
    assert_close(parts, evaluate(program(name).functions["loops"], q, v[0], tau[0]))
    count = tf.OperationCount(**tally)
    assert count == closures.operations(model, dependent)
    assert count.total > 6 * program(name).operations["loops"].total


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", sweep(["five-bar", "docking", "stewart"], "five-bar".__eq__))
def test_backends_agree(name, backend, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    model, functions = mechanism(name).model, program(name).functions
    kernels = tf.compile(program(name), backend=backend)
    assert kernels.backend == backend
    q, (v, tau) = closed(name, 11), rates(model, 11)
    for function, results in {
        "loops": kernels.loops(q, v, tau),
        "loop_velocity": kernels.loop_velocity(q, v),
        "loop_step": kernels.loop_step(q),
        "loop_gap": kernels.loop_gap(q),
    }.items():
        given = (q, v, tau)[: len(functions[function].inputs)]
        expected = np.array([evaluate(functions[function], *one) for one in zip(*given, strict=True)])
        assert np.abs(results - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("name", MECHANISMS)
def test_gap_is_that_of_dense_matrices_and_steps_close_it(name):
    model, functions = mechanism(name).model, program(name).functions
    free = np.isin(model.tree.names, program(name).independent)
    rng = np.random.default_rng(2)
    for q in closed(name):
        q = tf.integrate(model, q, np.where(free, 0.0, rng.uniform(-0.03, 0.03, model.nv)))
        gap = evaluate(functions["loop_gap"], q)
        assert np.abs(gap - dense.gap(model, q, np.zeros(model.nv))[0]).max() < 1e-14
        assert np.abs(gap).max() > 1e-3
        for _ in range(5):
            step = evaluate(functions["loop_step"], q)
            assert (step[free] == 0).all()
            q = tf.integrate(model, q, step)
        assert np.abs(evaluate(functions["loop_gap"], q)).max() < 1e-14


@pytest.mark.parametrize("kind", LOOPS)
@pytest.mark.parametrize("second", [-1, 1])
def test_loops_of_all_kinds_in_general_position(kind, second):
    model, q = branched_loop(kind, second)
    assert_closes(model, generate(model, LOOP_FUNCTIONS), [q])


def test_joints_of_all_kinds_and_followers_in_coupled_loops():
    model, q = coupled_loops()
    assert_closes(model, generate(model, LOOP_FUNCTIONS, variants="plain"), [q])


def test_loops_that_share_coordinates():
    """Check two loops on one arm: the second depends on dependent coordinates of the first."""
    four_bar = mechanism("four-bar").model
    rod, at = four_bar.joints[2].inertia, {"parent": 2, "p": (0.4, 0, 0)}
    more = [
        replace(four_bar.joints[1], name="second coupler", **at),
        tf.Joint("second rocker", "revolute", p=(0.9, 0, 0), axis=(0, 0, 1), inertia=rod),
    ]
    tree = tf.Model([*four_bar.joints, *more], four_bar.gravity)
    q = np.concatenate([mechanism("four-bar").closed, [0.0, 0.0]])
    q[3:] = -0.9, 1.9
    tip = dense.poses(tree, q, np.zeros(5))
    point = tip[4][0][0].T @ (tip[3][1][0] + tip[3][0][0] @ (0.5, 0, 0) - tip[4][1][0])
    loops = [*four_bar.loops, tf.Loop("second", "spherical", 3, 4, p1=(0.5, 0, 0), p2=point)]
    model = tf.Model(tree.joints, tree.gravity, loops=loops)
    for name in ("crank", "rocker", "second rocker"):
        assert_closes(model, generate(model, LOOP_FUNCTIONS, independent=[name]), [q])


def test_independent_joints_can_be_chosen():
    five_bar = mechanism("five-bar")
    chosen = generate(five_bar.model, LOOP_FUNCTIONS, independent=["shoulder0", "elbow0"])
    assert chosen.independent == ("shoulder0", "elbow0")
    assert_closes(five_bar.model, chosen, closed("five-bar"))
    joints = [replace(joint, body=f"link of {joint.name}") for joint in five_bar.model.joints]
    linked = tf.Model(joints, five_bar.model.gravity, loops=five_bar.model.loops)
    by_body = generate(linked, LOOP_FUNCTIONS, independent=["link of shoulder0", "link of elbow0"])
    assert by_body.independent == chosen.independent
    with pytest.raises(tf.CodegenError, match="independent 'link of elbow' is not a joint, body or freedom"):
        generate(linked, LOOP_FUNCTIONS, independent=["link of shoulder0", "link of elbow"])
    legs = [f"rod{k}" for k in range(6)]
    chosen = generate(
        mechanism("stewart").model, ["loops", "loop_velocity"], variants="plain", independent=legs
    )
    assert chosen.independent == tuple(legs)
    assert_closes(mechanism("stewart").model, chosen, closed("stewart", 2))


def refusals():
    """Return models whose loops cannot be closed, options, and the expected error message."""
    four = mechanism("four-bar").model
    weld = tf.Loop("tip", "weld", 1, 2, p1=(0.5, 0, 0), p2=(0.4, 0, 0))
    twice = replace(four.loops[0], name="again")
    far = replace(four.loops[0], name="far", p1=np.array([5.0, 0, 0]))

    def with_loops(*loops):
        return tf.Model(four.joints, four.gravity, loops=loops)

    return {
        "no loops": (with_loops(), {}, "no loops"),
        "over-constrained": (with_loops(four.loops[0], twice), {}, "loop 'again'"),
        "too far": (with_loops(far), {}, "'far'"),
        "unknown joint": (four, {"independent": ["nothing"]}, "'nothing'"),
        "too many": (four, {"independent": ["crank", "rocker"]}, "1 coordinates are independent, 2"),
        "not determined": (
            mechanism("stewart").model,
            {"independent": ["foot0", "rod0", "foot1", "rod1"]},
            "loop 'ball1' does not determine",
        ),
        "weld in a plane": (with_loops(weld), {}, "'tip'"),
    }


@pytest.mark.parametrize("case", refusals())
def test_refusals_name_the_loop(case):
    model, options, said = refusals()[case]
    with pytest.raises(tf.CodegenError, match=re.escape(said)):
        generate(model, "loops", **options)


def test_energy_of_a_crank_and_rocker_stays():
    model, kernels = mechanism("four-bar").model, tf.compile(program("four-bar"))
    q, v = closed("four-bar", 1)[0], np.array([5.0, 0, 0])
    before = energy(model, q, kernels.loop_velocity(q, v))
    for _ in range(1000):  # classical Runge-Kutta in the angle of the crank, 1 s
        q, v = advanced(model, kernels, q, v, 1e-3)
    after = energy(model, q, kernels.loop_velocity(q, v))
    assert np.abs(kernels.loop_gap(q)).max() < 1e-9
    assert abs(after - before) < 1e-8 * abs(before)


def advanced(model, kernels, q, v, h):
    """Return the state after a step of all coordinates; the loops drift by the integration error only."""
    slopes = []
    for part in (0.0, 0.5, 0.5, 1.0):
        x, y = (q + part * h * slopes[-1][0], v + part * h * slopes[-1][1]) if slopes else (q, v)
        y = kernels.loop_velocity(x, y)
        slopes.append((y, kernels.loops(x, y, np.zeros(model.nv))))
    total = [sum(w * s[i] for w, s in zip((1, 2, 2, 1), slopes, strict=True)) * h / 6 for i in (0, 1)]
    return q + total[0], v + total[1]


def energy(model, q, v):
    """Return kinetic plus potential energy."""
    poses = dense.poses(model, q, np.zeros(model.nv))
    heights = [
        j.inertia.mass * (poses[i][1][0] + poses[i][0][0] @ j.inertia.com) for i, j in enumerate(model.joints)
    ]
    return v @ tf.crba(model, q) @ v / 2 - model.gravity @ sum(heights)


def pinocchio_of(model: tf.Model) -> pin.Model:
    """Return the tree as a Pinocchio model."""
    theirs = pin.Model()
    for joint in model.joints:
        kind = {
            "revolute": lambda axis: pin.JointModelRevoluteUnaligned(axis),
            "prismatic": lambda axis: pin.JointModelPrismaticUnaligned(axis),
            "universal": lambda axes: pin.JointModelUniversal(*axes),
            "freeflyer": lambda _: pin.JointModelFreeFlyer(),
        }[joint.kind]
        i = theirs.addJoint(joint.parent + 1, kind(joint.axis), pin.SE3(joint.R, joint.p), joint.name)
        body = joint.inertia
        theirs.appendBodyToJoint(i, pin.Inertia(body.mass, body.com, body.tensor), pin.SE3.Identity())
    theirs.gravity.linear = model.gravity
    return theirs


def pinocchio_accelerations(model: tf.Model, q, v, tau):
    """Compute constrained dynamics of Pinocchio without stabilization."""
    theirs, frames = pinocchio_of(model), []
    for loop in model.loops:
        kind = {"spherical": pin.ContactType.CONTACT_3D, "weld": pin.ContactType.CONTACT_6D}[loop.kind]
        first, second = pin.SE3(loop.R1, loop.p1), pin.SE3(loop.R2, loop.p2)
        frames.append(
            pin.RigidConstraintModel(
                kind, theirs, loop.first + 1, first, loop.second + 1, second, pin.ReferenceFrame.LOCAL
            )
        )
    data, rows, kept = (
        theirs.createData(),
        pin.StdVec_RigidConstraintModel(),
        pin.StdVec_RigidConstraintData(),
    )
    for frame in frames:
        rows.append(frame)
        kept.append(frame.createData())
    pin.initConstraintDynamics(theirs, data, rows, kept)
    settings = pin.ProximalSettings(1e-14, 1e-10, 100)
    return pin.constraintDynamics(theirs, data, q, v, tau, rows, kept, settings)


def test_a_saved_program_keeps_its_loops(tmp_path):
    program("five-bar").save(tmp_path / "program.npz")
    loaded = tf.Program.load(tmp_path / "program.npz")
    assert loaded.loops == (("tip", "spherical"),)
    assert loaded.independent == ("shoulder0", "shoulder1")
    q, (v, tau) = closed("five-bar"), rates(mechanism("five-bar").model)
    expected = tf.compile(program("five-bar")).loops(q, v, tau)
    assert (tf.compile(loaded).loops(q, v, tau) == expected).all()


def test_a_singular_position_raises():
    kernels = tf.compile(mechanism("four-bar").model, ["loops"])
    straight = np.array([0.0, 0.0, 0.0])  # coupler and rocker lie on one line
    with pytest.raises(tf.NotPositiveDefiniteError, match="not finite"):
        kernels.loops(straight, np.ones(3), np.zeros(3))


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "stewart"])
def test_pinocchio_agrees(name):
    model, functions = mechanism(name).model, program(name).functions
    for q, v, tau in zip(closed(name), *rates(model), strict=True):
        v = evaluate(functions["loop_velocity"], q, v)
        expected = pinocchio_accelerations(model, q, v, tau)
        assert_close(evaluate(functions["loops"], q, v, tau), expected, 1e-8)


def test_pinocchio_agrees_on_a_weld():
    arm = GENERAL_7R.model()
    q = np.random.default_rng(3).uniform(-1, 1, arm.nq)
    model = tf.Model(arm.joints, arm.gravity, loops=[held(arm, q, "weld", "weld", 6, -1)])
    functions = generate(model, LOOP_FUNCTIONS).functions
    for v, tau in zip(*rates(model), strict=True):
        v = evaluate(functions["loop_velocity"], q, v)
        expected = pinocchio_accelerations(model, q, v, tau)
        assert_close(evaluate(functions["loops"], q, v, tau), expected, 1e-8)
