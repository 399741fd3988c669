"""Compare generated programs with the compiled recursions and with Pinocchio."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from helpers.codegen_models import ARMS, KINDS, ROBOTS, model, pinocchio_model, random_model, states
from helpers.sweeps import sweep
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor.codegen import generate, verify
from treefactor.codegen.algorithms.frames import bodies_of
from treefactor.codegen.algorithms.recursions import Recursions
from treefactor.codegen.backends.numpy_ import evaluate
from treefactor.model.arms import general_inertia

RELATIVE = 1e-12  # of H, forces and accelerations
BACKWARD = 1e-14  # of the equation of motion, relative to its terms
INVERSE = 1e-13  # of H H^-1 - 1, relative to the norms of both


def assert_same(actual, expected, scale=0.0):
    """Assert that deviations are rounding errors of the largest entry, or of the scale."""
    assert actual.shape == expected.shape
    assert np.abs(actual - expected).max() <= RELATIVE * (np.abs(expected).max() + scale)


def assert_computes(model, program, seed=0):
    """Assert that all functions of a program equal those of the model."""
    q, v, x = states(model, 3, seed)
    H, bias = tf.crba(model, q), tf.bias(model, q, v)
    results = {name: evaluate(f, *(q, v, x)[: len(f.inputs)]) for name, f in program.functions.items()}
    assert_same(model.tree.unpack(results["crba"]), H)
    unit = np.abs(H).max()  # force of a unit acceleration
    assert_same(results["bias"], bias, unit)
    assert_same(results["rnea"], tf.rnea(model, q, v, x), unit)
    for name in {"aba", "forward_dynamics"} & set(results):
        assert_solves(H, bias, x, results[name], np.linalg.norm(model.gravity))
    product = np.abs(results["minv"] @ H - np.eye(model.nv)).max(axis=(1, 2))
    norms = np.linalg.norm(H, axis=(1, 2)) * np.linalg.norm(results["minv"], axis=(1, 2))
    assert (product <= INVERSE * norms).all()


def assert_solves(H, bias, tau, qdd, gravity):
    """Assert that the residual of H qdd + bias = tau is a rounding error of its terms."""
    residual = np.abs(np.einsum("bij,bj->bi", H, qdd) + bias - tau).max(axis=1)
    accelerations = np.abs(qdd).max(axis=1) + gravity
    terms = np.abs(H).sum(axis=2).max(axis=1) * accelerations + np.abs(bias - tau).max(axis=1)
    assert (residual <= BACKWARD * terms).all()


@pytest.mark.parametrize("name", sweep([*ROBOTS, *ARMS], ("ur5", "solo12", *list(ARMS)[:3]).__contains__))
def test_programs_compute_what_the_recursions_do(name):
    assert_computes(model(name), generate(model(name)))


@pytest.mark.parametrize("name", sweep(["panda9", "solo12", "talos32"], lambda name: name != "talos32"))
def test_programs_compute_what_pinocchio_does(name):
    theirs, program = pinocchio_model(name), generate(model(name))
    data = theirs.createData()
    q, v, x = (array[0] for array in states(model(name), 1))
    results = {key: evaluate(f, *(q, v, x)[: len(f.inputs)]) for key, f in program.functions.items()}
    H = np.triu(pin.crba(theirs, data, q))
    assert_same(model(name).tree.unpack(results["crba"]), H + np.triu(H, 1).T)
    assert_same(results["rnea"], pin.rnea(theirs, data, q, v, x))
    assert_same(results["bias"], pin.nonLinearEffects(theirs, data, q, v))
    assert_same(results["aba"], pin.aba(theirs, data, q, v, x))


@pytest.mark.parametrize("name", sweep(["panda9", "solo12", "talos32"], lambda name: name != "talos32"))
def test_jacobians_are_pinocchios(name):
    theirs, robot = pinocchio_model(name), model(name)
    tips = [theirs.names[-1], theirs.names[2]]
    functions = generate(robot, ("jacobian", "delassus"), tips).functions
    q = states(robot, 1)[0][0]
    data = theirs.createData()
    J = np.vstack([pin.computeJointJacobian(theirs, data, q, theirs.getJointId(tip)) for tip in tips])
    assert_same(evaluate(functions["jacobian"], q), J)
    assert_same(evaluate(functions["delassus"], q), J @ np.linalg.solve(tf.crba(robot, q), J.T))


@settings(max_examples=15)
@given(kinds=st.lists(st.sampled_from(KINDS), min_size=2, max_size=5), seed=st.integers(0, 2**32 - 1))
def test_jacobians_give_kinetic_energy(kinds, seed):
    """Check that H is the sum of J^T I J over all bodies, for all joints."""
    robot = random_model(np.random.default_rng(seed), kinds)
    tips = [joint.name for joint in robot.joints]
    q = states(robot, 1, seed)[0][0]
    J = evaluate(generate(robot, "jacobian", tips).functions["jacobian"], q).reshape(-1, 6, robot.nv)
    H = sum(x.T @ spatial(joint.inertia) @ x for x, joint in zip(J, robot.joints, strict=True))
    assert_same(H, tf.crba(robot, q))


def spatial(inertia):
    """Return the 6 x 6 inertia at the joint origin."""
    return pin.Inertia(inertia.mass, inertia.com, inertia.tensor).matrix()


@pytest.mark.parametrize("variant", ["plain", "frames", "regroup", "both", "meeting"])
@pytest.mark.parametrize("name", ["solo12", pytest.param("talos32", marks=pytest.mark.slow)])
def test_every_variant_computes_the_same(name, variant):
    robot = model(name)
    assert_computes(robot, generate(robot, variants=variant))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint_at_the_root_and_on_another(kind):
    robot = random_model(np.random.default_rng(5), [kind, "revolute", kind, "revolute"], armature=0.3)
    assert_computes(robot, generate(robot))


@settings(max_examples=25)
@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=6),
    seed=st.integers(0, 2**32 - 1),
    armature=st.sampled_from([0.0, 0.2]),
)
def test_any_tree_of_any_joints(kinds, seed, armature):
    robot = random_model(np.random.default_rng(seed), kinds, armature)
    assert_computes(robot, generate(robot), seed)


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
def test_joints_that_follow_others(seed):
    kinds = ["revolute", "prismatic", "helical", "revolute", "continuous", "revolute"]
    robot = random_model(np.random.default_rng(seed), kinds, 0.1, {1: 2, 3: 0})
    functions = ("crba", "rnea", "bias", "forward_dynamics", "minv")
    assert_computes(robot, generate(robot, functions), seed)


@pytest.mark.parametrize("ratio", sweep([0, 1, -1, 2, -2, 3, -7, 100], (0, -1, 2, -7).__contains__))
def test_joints_that_follow_a_continuous_one_by_whole_ratios(ratio):
    kinds = ["continuous", "revolute", "prismatic", "revolute"]
    free = random_model(np.random.default_rng(2), kinds, 0.1)
    joints = list(free.joints)
    joints[3] = replace(joints[3], mimic=tf.Mimic(0, ratio, 0.7))
    robot = tf.Model(joints, free.gravity)
    functions = ("crba", "rnea", "bias", "forward_dynamics", "minv")
    for variant in ("plain", "both"):
        assert_computes(robot, generate(robot, functions, variants=variant))
    assert not any(verdict.first for verdict in verify(robot, functions, tolerance=1e-11))


@pytest.mark.parametrize("tilt", [1e-13, 1e-10, 1e-6, 1e-3, 0.03, 0.3])
def test_nearly_parallel_axes_cost_no_digits(tilt):
    rng = np.random.default_rng(0)
    rotations = [pin.utils.rotate(axis, tilt) for axis in "xyxy"]
    joints = [
        tf.Joint(
            f"joint{k}", "revolute", k - 1, R, rng.normal(size=3), [0, 0, 1.0], inertia=general_inertia(rng)
        )
        for k, R in enumerate(rotations)
    ]
    robot = tf.Model(joints, [0, -9.81, 0])
    assert_computes(robot, generate(robot, variants="both"))


def test_recursions_run_on_plain_numbers():
    robot = model("solo12")
    q, v, x = (array[0].tolist() for array in states(robot, 1))
    loops = Recursions(bodies_of(robot), robot.gravity, robot.tree, q)
    assert_same(np.array(loops.H), tf.crba(robot, q, layout="packed"))
    tau = loops.generalized_forces(loops.forces(loops.states(v, x)), x)
    assert_same(np.array(tau), tf.rnea(robot, q, v, x))
    assert_same(np.array(loops.aba(v, x)), tf.aba(robot, q, v, x))


def test_a_model_without_joints():
    program = generate(tf.Model([]))
    assert all(evaluate(f, *[[]] * len(f.inputs)).size == 0 for f in program.functions.values())


def test_a_nan_stays_in_its_configuration():
    robot = model("panda7")
    q, v, x = states(robot, 4)
    q[2, 3] = np.nan
    qdd = evaluate(generate(robot, "forward_dynamics").functions["forward_dynamics"], q, v, x)
    assert (np.isnan(qdd).any(axis=1) == [False, False, True, False]).all()


def test_snapping_is_reported():
    tilted = tf.Joint("tilted", "revolute", R=pin.utils.rotate("x", np.pi / 2 + 2e-9), axis=[0, 0, 1.0])
    robot = tf.Model([tf.Joint("base", "revolute", axis=[0, 0, 1.0]), tilted])
    assert generate(robot, "bias").snapped == 0
    assert generate(robot, "bias", snap=1e-8).snapped == pytest.approx(2e-9, rel=1e-3)
