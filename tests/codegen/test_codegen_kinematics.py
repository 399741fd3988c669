"""Compare generated programs of frames, centre of mass, momentum and energies with Pinocchio."""

import numpy as np
import pytest
from helpers import model_cases
from helpers.codegen_models import ARMS, KINDS, model, pin, pinocchio_model, random_model, states
from helpers.frame_cases import (
    FRAMES,
    REFERENCES,
    frame_functions,
    frame_results,
    whole_results,
)
from helpers.sweeps import examples, sweep
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor.codegen import verify
from treefactor.codegen.program import KINEMATICS

SAME = 1e-13  # relative to the largest entry


def assert_same(own, expected, name):
    """Assert that a result has the shape and values of the expected one."""
    assert np.shape(own) == np.shape(expected), name
    assert np.abs(own - expected).max(initial=0.0) <= SAME * max(1.0, np.abs(expected).max(initial=0.0)), name


def assert_like_pinocchio(robot, theirs, frame, q, v, a, moving=True):
    """Assert that functions of a frame and of the whole agree, single and in a batch of two states.

    If not moving, without the derivatives of Jacobians.
    """
    expected = [
        frame_results(theirs, *one, frame, robot.support(frame)) | whole_results(theirs, *one)
        for one in zip(q, v, a, strict=True)
    ]
    kernels = tf.compile(tf.generate(robot, list(expected[0]), snap=0.0))
    for name, first in expected[0].items():
        if not moving and "jacobian_dot" in name:
            continue
        arguments = {"q": q, "v": v, "a": a}
        taken = [arguments[x] for x, _ in kernels.program.functions[kernel_name(name)].inputs]
        both = kernels.call(name, *taken)
        assert_same(both[0], first, name)
        assert_same(both[1], expected[1][name], name)
        assert_same(kernels.call(name, *(np.ascontiguousarray(x[0]) for x in taken)), first, name)


def kernel_name(name):
    """Return the name without the default reference."""
    start, _, end = name.partition(":LOCAL")
    return start + end if not end.startswith("_WORLD") else name


@pytest.mark.parametrize("name", FRAMES)
def test_robots(name):
    robot = model(name)
    assert_like_pinocchio(robot, pinocchio_model(name), FRAMES[name], *states(robot, 2))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint_at_the_root_and_on_another(kind):
    rng = np.random.default_rng(3)
    kinds = [kind, "revolute", kind, "prismatic"]
    joints = random_model(rng, kinds, armature=0.3).joints
    joints = [joint if joint.kind != "continuous" else with_axis(joint, rng) for joint in joints]
    chain = [moved(joint, i - 1) for i, joint in enumerate(joints)]
    robot = tf.Model(chain, rng.normal(size=3)).add_frame("tool", "joint3", rotation(rng), rng.normal(size=3))
    theirs = model_cases.in_pinocchio(robot)
    frame = robot.frame("tool")
    own = pin.Frame("tool", frame.joint + 1, 0, pin.SE3(frame.R, frame.p), pin.FrameType.OP_FRAME)
    theirs.addFrame(own)
    moving = kind != "universal"  # Pinocchio's derivative leaves out that of the axes in the joint
    assert_like_pinocchio(robot, theirs, "tool", *states(robot, 2), moving)
    q, v, _ = (x[0] for x in states(robot, 1))
    for reference in REFERENCES:
        names = [f"frame_{kind}:tool:{reference}" for kind in ("jacobian", "jacobian_dot")]
        kernels, h = tf.compile(robot, names), 1e-5
        later, before = (kernels.call(names[0], tf.integrate(robot, q, t * v)) for t in (h, -h))
        own = kernels.call(names[1], q, v)
        np.testing.assert_allclose(own, (later - before) / (2 * h), rtol=0, atol=1e-7)


def rotation(rng):
    """Return a random rotation."""
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return R * np.linalg.det(R)


def moved(joint, parent):
    """Return a joint on another parent."""
    return tf.Joint(
        joint.name,
        joint.kind,
        parent,
        joint.R,
        joint.p,
        joint.axis,
        joint.pitch,
        joint.inertia,
        joint.armature,
    )


def with_axis(joint, rng):
    """Return a continuous joint about a coordinate axis: Pinocchio's Python has no others."""
    axis = np.eye(3)[rng.integers(3)]
    return tf.Joint(
        joint.name,
        joint.kind,
        joint.parent,
        joint.R,
        joint.p,
        axis,
        inertia=joint.inertia,
        armature=joint.armature,
    )


@settings(max_examples=examples(8))
@given(kinds=st.lists(st.sampled_from(KINDS), max_size=3), seed=st.integers(0, 2**32 - 1))
def test_any_tree_of_any_joints_is_verified(kinds, seed):
    kinds = ["revolute", "revolute", *kinds]  # a screw alone has derivatives of 0
    robot = random_model(np.random.default_rng(seed), kinds, 0.1)
    robot = robot.add_frame("tool", robot.joints[-1].name if kinds else -1, p=[0.1, -0.2, 0.3])
    assert_verified(robot, [*frame_functions("tool"), *KINEMATICS], variants=("plain", "both"))


def assert_verified(robot, functions, **options):
    """Assert that all intermediates agree with numeric matrices, in all variants and by all methods."""
    verdicts = verify(robot, functions, **options)
    assert {verdict.function for verdict in verdicts} == {kernel_name(name) for name in functions}
    assert [verdict for verdict in verdicts if verdict.first] == []


@pytest.mark.parametrize("name", sweep(["ur5", "panda9", "talos32"], "ur5".__eq__))
def test_every_intermediate_is_verified(name):
    assert_verified(model(name), [*frame_functions(FRAMES[name]), *KINEMATICS])


def test_joints_that_follow_others():
    kinds = ["revolute", "prismatic", "helical", "revolute", "continuous", "revolute"]
    robot = random_model(np.random.default_rng(0), kinds, 0.1, {1: 2, 3: 0}).add_frame(
        "tool", "joint3", p=[1, 2, 3]
    )
    assert_verified(robot, [*frame_functions("tool"), *KINEMATICS])


@pytest.mark.parametrize("name", ["ssrms7", "gen7"])
def test_arms(name):
    assert_verified(ARMS[name].model(), KINEMATICS)


def test_several_bodies_on_the_base():
    joints = random_model(np.random.default_rng(2), ["revolute", "spherical", "revolute", "planar"]).joints
    roots = tf.Model([moved(joint, -1 if i < 3 else 2) for i, joint in enumerate(joints)])
    assert_verified(roots, [*KINEMATICS, "frame_jacobian:joint3:WORLD"])


@pytest.mark.parametrize("name", sweep(["solo12", "ur5"], "ur5".__eq__))
def test_no_digits_are_lost_far_from_the_origin(name):
    """Move the robot by 2^20 m: everything that does not name that place keeps its digits."""
    robot, far = model(name), np.array([2.0**20, -(2.0**20), 2.0**19])
    q, v, a = (x[0] for x in states(robot, 1))
    if name == "solo12":
        here, there, q_there = robot, robot, q + np.append(far, np.zeros(robot.nq - 3))
    else:
        first = robot.joints[0]
        joints = [tf.Joint(first.name, first.kind, -1, first.R, first.p + far, first.axis, 0, first.inertia)]
        here, q_there = robot, q
        there = tf.Model([*joints, *robot.joints[1:]], robot.gravity, robot.name, frames=robot.frames)
    frame = FRAMES[name]
    functions = [x for x in frame_functions(frame) if "WORLD" not in x.split(":") and "placement" not in x]
    functions += [
        x for x in KINEMATICS if x not in ("joint_placements", "center_of_mass", "potential_energy")
    ]
    for function in functions:
        near, distant = (tf.compile(tf.generate(x, function)) for x in (here, there))
        (used,) = near.program.functions.values()
        given = [{"v": v, "a": a}.get(x) for x, _ in used.inputs][1:]
        assert_same(distant.call(function, q_there, *given), near.call(function, q, *given), function)


def test_frames_of_the_base_do_not_move():
    robot = model("ur5").add_frame("stand", -1, p=[1.0, 2.0, 3.0])
    names = frame_functions("stand")
    kernels = tf.compile(tf.generate(robot, names))
    q, v, a = (x[0] for x in states(robot, 1))
    for name in names:
        own = kernels.call(
            name, *[q, v, a][: 1 + ("velocity" in name or "dot" in name) + 2 * ("accel" in name)]
        )
        expected = np.column_stack([np.eye(3), [1, 2, 3]]) if "placement" in name else np.zeros(own.shape)
        np.testing.assert_array_equal(own, expected)
    assert kernels.call("frame_jacobian:stand:packed", q).shape == (6, 0)


def test_one_freedom_keeps_its_axis():
    rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    one = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    kernels = tf.compile(one, ["frame_jacobian:hinge", "centroidal_map", "center_of_mass_jacobian"])
    for name, rows in (("frame_jacobian:hinge", 6), ("centroidal_map", 6), ("center_of_mass_jacobian", 3)):
        assert kernels.call(name, np.zeros(1)).shape == (rows, 1)
        assert kernels.call(name, np.zeros((5, 1))).shape == (5, rows, 1)


def test_models_without_mass_have_no_center():
    empty = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0])])
    with pytest.raises(tf.CodegenError, match="no mass"):
        tf.generate(empty, "center_of_mass")
    assert tf.generate(empty, "frame_placement:hinge").operations["frame_placement:hinge"].trig


@pytest.mark.parametrize("reference", REFERENCES)
def test_structural_zeros_are_constants(reference):
    """Columns outside the support of a frame take no statements: dense and packed programs are the same."""
    robot = model("solo12")
    name = f"frame_jacobian:FL_FOOT:{reference}"
    program = tf.generate(robot, [name, f"{name}:packed"])
    dense, packed = program.functions.values()
    assert dense.operations == packed.operations
    support = list(dict(program.frames)["FL_FOOT"])
    assert packed.shape == (6, len(support)) == (6, 9)
    outside = np.setdiff1d(np.arange(robot.nv), support)
    rows = dense.output.reshape(6, robot.nv)[:, outside]
    assert (dense.value[rows] == 0.0).all()
    assert (rows < dense.first).all()
