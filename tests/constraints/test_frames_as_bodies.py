"""Test that contacts, loops and tips take frames by name or as a Frame, like joints and bodies."""

import numpy as np
import pytest
from helpers.model_cases import models, state
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import treefactor as tf
from treefactor import constraints
from treefactor.constraints import Contact, Plane, Sphere, contacts_between
from treefactor.constraints.contacts import Contacts
from treefactor.kinematics.jacobians import BodyMotions

P = np.array([0.3, -0.2, 0.7])


def turn(seed):
    return Rotation.random(random_state=seed).as_matrix()


def with_tool(model, joint, seed=0):
    """Return the model with a frame "tool" placed askew on a joint."""
    return model.add_frame(
        "tool", model.joints[joint].name, turn(seed), np.random.default_rng(seed).normal(size=3)
    )


@given(models(max_joints=4), st.integers(0, 2**31), st.booleans())
def test_contacts_on_frames_are_those_at_their_places(model, seed, by_name):
    model = with_tool(model, seed % model.njoints, seed).add_frame("floor", -1, turn(seed + 2), P)
    tool, floor = model.frame("tool"), model.frame("floor")
    n = Rotation.random(random_state=seed).apply([0, 0, 1])
    ground, hand = ("floor", "tool") if by_name else (floor, tool)
    cases = (
        (Plane(-1, floor.R @ n, floor.p + floor.R @ P), Plane(ground, n, P)),
        (Sphere(-1, floor.p + floor.R @ n, 0.3), Sphere(ground, n, 0.3)),
    )
    at = BodyMotions(model, state(model, seed)[0])
    for on_base, on_frame in cases:
        expected = Contact(Sphere(tool.joint, tool.p + tool.R @ P, 0.1), on_base)
        touches = [
            Contacts(model, [one]).near(at) for one in (expected, Contact(Sphere(hand, P, 0.1), on_frame))
        ]
        for name in ("gap", "axes", "data"):
            own, other = (getattr(touch, name) for touch in touches)
            np.testing.assert_allclose(own, other, atol=1e-11)


ROD = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))


def arm(**more):
    """Return an arm with a hand, a frame "palm" on it, a frame "wrist axis" at its joint, and "wall"."""
    joints = [
        tf.Joint("shoulder", "spherical", inertia=ROD, body="upper arm"),
        tf.Joint("wrist", "revolute", 0, p=[0, 0, -1], axis=[0, 1, 0], inertia=ROD, body="hand"),
    ]
    frames = [
        tf.Frame("palm", "wrist", turn(0), P),
        tf.Frame("wrist axis", "wrist"),
        tf.Frame("wall", -1, turn(1), P),
    ]
    return tf.Model(joints, name="arm", frames=frames, **more)


def test_bodies_of_one_joint_do_not_touch_each_other():
    spheres = [Sphere("palm", radius=0.1), Sphere("hand", radius=0.1), Sphere("wall", radius=0.1)]
    contacts = contacts_between(spheres, model=arm())
    assert [(one.sphere.body, one.against.body) for one in contacts] == [("wall", "palm"), ("wall", "hand")]
    with pytest.raises(tf.InvalidModelError, match=r"both sides are on body 1, .* as 'hand' and 'palm'"):
        Contacts(arm(), [Contact(Sphere(arm().frame("palm")), Sphere("hand"))])


def test_loops_end_at_frames():
    ends = {"R1": turn(2), "p1": [0.1, 0.2, 0.3], "R2": turn(3), "p2": [0.4, 0.5, 0.6]}
    model = arm(loops=[tf.Loop("grip", "weld", "palm", "wall", **ends)])
    palm, wall = model.frame("palm"), model.frame("wall")
    loop = tf.Loop(
        "grip", "weld", 1, -1,
        palm.R @ ends["R1"], palm.p + palm.R @ ends["p1"],
        wall.R @ ends["R2"], wall.p + wall.R @ ends["p2"],
    )  # fmt: skip
    q = tf.random_configuration(model, 0)
    rows, expected = (constraints.loop_rows(one, q) for one in (model, arm(loops=[loop])))
    np.testing.assert_array_equal(rows.residual, expected.residual)
    np.testing.assert_array_equal(rows.dense(), expected.dense())
    with pytest.raises(tf.InvalidModelError, match="both ends are on joint 1"):
        arm(loops=[tf.Loop("grip", "weld", "palm", "hand")])


def test_tips_are_joints_or_frames_at_joints():
    model, q = arm(), tf.random_configuration(arm(), 0)
    expected = tf.compile(model, "jacobian", tips=["wrist"]).jacobian(q)
    for tip in ("wrist axis", model.frame("wrist axis")):
        np.testing.assert_array_equal(tf.compile(model, "jacobian", tips=[tip]).jacobian(q), expected)
        np.testing.assert_array_equal(tf.compile(model, "jacobian", tips=tip).jacobian(q), expected)
    with pytest.raises(
        tf.CodegenError, match=r"'palm' is away from its joint 'wrist'.*'frame_jacobian:palm'"
    ):
        tf.generate(model, "jacobian", tips="palm")
    with pytest.raises(tf.CodegenError, match="'wall' is the base"):
        tf.generate(model, "jacobian", tips="wall")


@pytest.mark.parametrize(
    "use",
    [
        lambda model: Contacts(model, [Contact(Sphere("plam"))]),
        lambda model: tf.generate(model, "jacobian", tips="plam"),
        lambda model: arm(loops=[tf.Loop("grip", "weld", "plam", 0)]),
        lambda model: model.support("plam"),
        lambda model: model.add_frame("finger", "plam"),
        lambda model: constraints.Stepper(model, drives=[constraints.Drive("plam", (0, 0, 0))]),
    ],
)
def test_unknown_frames_raise_with_the_nearest_names(use):
    with pytest.raises(
        (tf.InvalidModelError, tf.CodegenError), match=r"'plam' is not a .*did you mean 'palm'"
    ):
        use(arm())


def test_drives_move_joints_not_frames():
    with pytest.raises(tf.InvalidModelError, match="'palm' is a frame on joint 'wrist'"):
        constraints.Stepper(arm(), drives=[constraints.Drive("palm", (0, 0, 0))]).step(model_q(), np.zeros(4))


def model_q():
    return tf.random_configuration(arm(), 0)
