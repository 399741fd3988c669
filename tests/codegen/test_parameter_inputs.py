"""Check programs with inertial parameters as inputs against models that have these parameters."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.codegen_models import (
    ARMS,
    KINDS,
    ROBOTS,
    model,
    pinocchio_model,
    random_model,
    states,
)
from helpers.other_robots import other_robot, parameters
from helpers.sweeps import sweep
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor.codegen import directional, generate, gradient, verify
from treefactor.codegen.choices import Choice
from treefactor.codegen.program.names import PARAMETRIC

RELATIVE = 1e-12
ACCELERATIONS = ("aba", "forward_dynamics")
WAYS = (("standard", None), ("base", None), ("base", "model"))
OPERATIONS = {  # with all constants folded; then for WAYS, with the number of entries of pi
    "ur5": {
        "rnea": (281, (588, 51), (498, 37), (282, 18)),
        "forward_dynamics": (487, (994, 51), (882, 37), (504, 18)),
        "crba": (141, (287, 48), (261, 35), (148, 17)),
    },
    "panda9": {
        "rnea": (643, (815, 80), (704, 52), (644, 46)),
        "forward_dynamics": (1264, (1566, 80), (1412, 52), (1281, 46)),
        "crba": (414, (542, 74), (514, 48), (490, 42)),
    },
    "solo12": {
        "rnea": (1125, (1668, 130), (1401, 94), (1125, 64)),
        "forward_dynamics": (2415, (3314, 130), (2958, 94), (2479, 64)),
        "crba": (522, (695, 130), (607, 94), (540, 64)),
    },
    "talos32": {
        "rnea": (3599, (4323, 330), (3664, 234), (3664, 234)),
        "forward_dynamics": (7924, (9142, 330), (8247, 234), (8247, 234)),
        "crba": (3109, (3358, 330), (3155, 234), (3155, 234)),
    },
}
PROTOTYPE = {  # operations over those with all constants folded, of a prototype: rnea, forward dynamics, crba
    "ur5": ((2.10, 2.05, 2.04), (1.78, 1.82, 1.85)),
    "panda9": ((1.35, 1.28, 1.32), (1.10, 1.12, 1.25)),
    "solo12": ((1.49, 1.39, 1.35), (1.26, 1.24, 1.19)),
    "talos32": ((1.21, 1.16, 1.09), (1.02, 1.05, 1.02)),
}
TARGETS = {"solo12": 1.30, "panda9": 1.15, "talos32": 1.05}  # rnea with "base" over all constants folded


def assert_computes(robot, program, other, seed=0):
    """Assert that a program gives the results of another robot for that robot's parameters."""
    q, v, x = states(robot, 3, seed)
    pi = program.parameters(parameters(other), other.armature)
    H, bias = tf.crba(other, q), tf.bias(other, q, v)
    expected = {"bias": bias, "rnea": tf.rnea(other, q, v, x), "minv": np.linalg.inv(H)}
    expected |= {"crba": H, **dict.fromkeys(ACCELERATIONS, tf.forward_dynamics(other, q, v, x))}
    for name, function in program.functions.items():
        assert function.inputs[-1] == ("pi", pi.size)
        result = function.evaluate(*(q, v, x)[: len(function.inputs) - 1], pi)
        result = robot.tree.unpack(result) if name == "crba" else result
        solved = name in (*ACCELERATIONS, "minv")
        scale = np.linalg.cond(H).max() if solved else 1.0  # of both, that have different roundings
        unit = np.abs(H).max() if name in ("bias", "rnea") else 0.0  # force of a unit acceleration
        assert np.abs(result - expected[name]).max() <= RELATIVE * max(1.0, scale / 1e3) * (
            np.abs(expected[name]).max() + unit
        ), name


@pytest.mark.parametrize("kind", ["base", "standard"])
@pytest.mark.parametrize("name", [*ROBOTS, *ARMS])
def test_other_robots_of_the_same_kinematics(name, kind):
    robot = model(name)
    functions = PARAMETRIC if robot.nv < 20 else ("rnea", "crba", "forward_dynamics")
    assert_computes(robot, generate(robot, functions, parameters=kind), other_robot(robot))


@settings(max_examples=20)
@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=5),
    seed=st.integers(0, 2**32 - 1),
    rotors=st.sampled_from([0.0, 0.2]),
    kind=st.sampled_from(["base", "standard"]),
)
def test_any_tree_of_any_joints(kinds, seed, rotors, kind):
    robot = random_model(np.random.default_rng(seed), kinds, rotors)
    assert_computes(robot, generate(robot, parameters=kind), other_robot(robot, seed), seed)


@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1))
def test_joints_that_follow_others(seed):
    kinds = ["revolute", "prismatic", "helical", "revolute", "continuous", "revolute"]
    robot = random_model(np.random.default_rng(seed), kinds, 0.1, {1: 2, 3: 0})
    program = generate(robot, parameters="base")
    assert "aba" not in program.functions
    assert_computes(robot, program, other_robot(robot, seed), seed)
    assert not [one for one in verify(robot, program.functions, parameters="base") if one.first]


@pytest.mark.parametrize("kind", ["base", "standard"])
@pytest.mark.parametrize("name", ["ur5", "panda9", "solo12", "g1", "gen6"])
def test_programs_depend_on_the_kinematics_only(name, kind):
    """Frames that turn with a centre of mass would make the program of another robot differ."""
    robot = model(name)
    own, its = (generate(x, ("rnea", "crba"), parameters=kind) for x in (robot, other_robot(robot)))
    for function, same in zip(own.functions.values(), its.functions.values(), strict=True):
        for column in ("op", "a", "b", "value", "output", "sign"):
            assert np.array_equal(getattr(function, column), getattr(same, column)), column
    pi = parameters(robot)
    assert np.array_equal(own.parameters(pi), its.parameters(pi))


@pytest.mark.parametrize("kind", ["base", "standard"])
@pytest.mark.parametrize("name", ["panda9", "solo12", "talos32"])
def test_inputs_are_the_moments_of_transformed_bodies(name, kind):
    robot = other_robot(model(name))
    choice = Choice.of(robot, "rnea", (), ("both", "meeting", "frames", "plain"), 1e-12, parameters=kind)
    for variant, bodies in choice.stepped.items():
        values = np.append(choice.inputs[variant].values(robot), 0.0)
        moments = np.array([body.moments for body in bodies])
        inputs = values[choice.inputs[variant].entries]
        assert np.abs(inputs - moments).max() <= 1e-13 * np.abs(moments).max()


@pytest.mark.parametrize("name", sweep(OPERATIONS, lambda name: name != "talos32"))
def test_operations_and_inputs(name):
    for function, (folded, *counts) in OPERATIONS[name].items():
        assert generate(model(name), function).operations[function].total == folded
        for (kind, zeros), expected in zip(WAYS, counts, strict=True):
            program = generate(model(name), function, parameters=kind, zeros=zeros)
            cost = program.operations[function].total, program.parameters().size
            assert cost == expected, (function, kind, zeros)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_are_within_those_of_the_prototype(name):
    for at, (folded, *counts) in enumerate(OPERATIONS[name].values()):
        for (total, _), ratios in zip(counts, PROTOTYPE[name], strict=False):
            assert round(total / folded, 2) <= ratios[at]
    folded, _, (base, _), _ = OPERATIONS[name]["rnea"]
    assert base <= TARGETS.get(name, 2.0) * folded


def test_forces_are_linear_in_parameters_that_no_body_has():
    robot = model("panda7")
    program, rng = generate(robot, "rnea", parameters="base"), np.random.default_rng(0)
    q, v, a = states(robot, 1)
    pi = rng.normal(size=(3, 7, 10))  # negative masses among them
    one, two, both = (
        program.functions["rnea"].evaluate(q[0], v[0], a[0], program.parameters(x))
        for x in (pi[0], pi[1], 2 * pi[0] - 3 * pi[1])
    )
    assert np.abs(2 * one - 3 * two - both).max() < 1e-12 * np.abs(both).max()


@pytest.mark.parametrize("name", ["ur5", "panda7", "talos32"])
def test_parameters_are_pinocchios(name):
    program = generate(model(name), "rnea", parameters="base")
    theirs = [inertia.toDynamicParameters() for inertia in pinocchio_model(name).inertias[1:]]
    own = program.parameters()
    assert np.allclose(program.parameters(theirs), own, rtol=0, atol=1e-13 * np.abs(own).max())


def test_parameters_are_those_of_the_model_by_default():
    robot = random_model(np.random.default_rng(0), KINDS, 0.3)
    program = generate(robot, ("rnea", "crba"), parameters="base")
    assert np.allclose(robot.parameters, parameters(robot), rtol=0, atol=1e-14)
    own = program.parameters(parameters(robot), robot.armature)
    assert np.allclose(program.parameters(), own, rtol=0, atol=1e-12 * np.abs(own).max())


@pytest.mark.parametrize(
    ("kind", "zeros"),
    sweep(
        [("base", "model"), ("standard", None), ("base", None), ("standard", "model")],
        lambda case: case in (("base", "model"), ("standard", None)),
    ),
)
def test_all_intermediates_of_all_variants(kind, zeros):
    for robot in (model("panda9"), random_model(np.random.default_rng(1), ["revolute", *KINDS[2:6]], 0.2)):
        verdicts = verify(robot, parameters=kind, zeros=zeros)
        assert {one.function for one in verdicts} == set(PARAMETRIC)
        assert not [one for one in verdicts if one.first]


def test_an_error_in_the_map_is_found(monkeypatch):
    from treefactor.codegen.algorithms import inertial_inputs

    wrong = inertial_inputs.UNIT.copy()
    wrong[0, 1, 5] *= -1
    monkeypatch.setattr(inertial_inputs, "UNIT", wrong)
    assert any(one.first for one in verify(model("ur5"), "rnea", parameters="base"))


def test_derivatives_by_parameters():
    """The statements of a program are differentiated by all arguments, parameters included."""
    robot = model("ur5")
    program = generate(robot, "rnea", parameters="base")
    rnea, p = program.functions["rnea"], program.parameters().size
    q, v, a = (x[0] for x in states(robot, 1))
    pi, w = np.random.default_rng(0).normal(size=p), np.arange(1.0, 7.0)
    by_pi = gradient(rnea).evaluate(q, v, a, pi, w)[-p:]
    units = [w @ rnea.evaluate(q, v, a, unit) for unit in np.eye(p)]
    assert np.allclose(by_pi, units, rtol=0, atol=1e-12)
    still = np.zeros(6)
    along = directional(rnea).evaluate(q, v, a, pi, still, still, still, pi)
    assert np.allclose(along, rnea.evaluate(q, v, a, pi), rtol=0, atol=1e-12)


def test_zeros_of_the_model():
    robot = model("solo12")
    program = generate(robot, ("rnea", "aba"), parameters="base", zeros="model")
    q, v, x = states(robot, 2)
    joints = [
        replace(joint, inertia=tf.Inertia(1.5 * own.mass, own.com, 1.5 * own.tensor))
        for joint, own in ((joint, joint.inertia) for joint in robot.joints)
    ]
    heavier = tf.Model(joints, robot.gravity)
    pi = program.parameters(parameters(heavier))
    assert np.allclose(pi, 1.5 * program.parameters(), rtol=0, atol=1e-14)
    for name in ("rnea", "aba"):
        expected = getattr(tf, name)(heavier, q, v, x)
        result = program.functions[name].evaluate(q, v, x, pi)
        assert np.abs(result - expected).max() <= RELATIVE * np.abs(expected).max()


def test_a_model_without_joints_and_one_that_is_its_own_input():
    program = generate(tf.Model([]), parameters="base")
    assert program.parameters(np.zeros((5, 0, 10))).shape == (5, 0)
    assert all(f.evaluate(*[[]] * len(f.inputs)).size == 0 for f in program.functions.values())
    bare = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1.0])])  # moves no mass: an error if folded
    program = generate(bare, parameters="base")
    assert_computes(bare, program, other_robot(bare))


def test_models_and_inertias_give_their_parameters():
    """A model or Inertias gives its parameters and armature; one with other joints is refused."""
    rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.02]))
    model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod, armature=0.1)])
    program = tf.generate(model, "rnea", parameters="base")
    pi = model.parameters * np.array([[[1.0]], [[3.0]]])
    for armature in ([0.2], [[0.2], [0.4]]):
        inertias = tf.Inertias(model, pi, armature)
        assert np.array_equal(program.parameters(inertias), program.parameters(pi, armature))
    other = model.with_parameters(pi[1], [0.7])
    assert np.array_equal(program.parameters(other), program.parameters(pi[1], [0.7]))
    assert np.array_equal(program.parameters(other, [0.1]), program.parameters(pi[1], [0.1]))
    stranger = tf.Model([tf.Joint("slide", "prismatic", axis=[0, 1, 0], inertia=rod)])
    with pytest.raises(tf.CodegenError, match="has joints slide; the program has hinge"):
        program.parameters(stranger)


def test_ten_numbers_of_every_joint_are_no_input():
    """Kernels name the method that makes their input, where they receive what that method takes."""
    robot = model("ur5")
    kernels = tf.compile(robot, "crba", parameters="base")
    q, _, _ = states(robot, 1)
    with pytest.raises(tf.ShapeError, match=r"as program\.parameters\(pi\) returns it, got \(6, 10\)"):
        kernels.crba(q, robot.parameters)
