"""Frames on a model: found by name, of any joint or body, added, pickled, and the columns that move them."""

import pickle

import numpy as np
import pytest

import treefactor as tf

ROD = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
TURN = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])


def arm(frames=None):
    joints = [
        tf.Joint("base", "freeflyer", inertia=ROD, body="trunk"),
        tf.Joint("left", "revolute", 0, axis=[0, 1, 0], inertia=ROD, body="hand"),
        tf.Joint("right", "spherical", 0, inertia=ROD),
        tf.Joint("finger", "revolute", "left", axis=[0, 1, 0], inertia=ROD, mimic=tf.Mimic("wheel", 2.0)),
        tf.Joint("wheel", "continuous", 0, axis=[0, 0, 1], inertia=ROD),
    ]
    return tf.Model(joints, frames=frames)


def test_joints_and_named_bodies_are_frames():
    frames = [(frame.name, frame.joint, frame.type) for frame in arm().frames]
    assert frames[:4] == [
        ("base", 0, "joint"),
        ("trunk", 0, "body"),
        ("left", 1, "joint"),
        ("hand", 1, "body"),
    ]
    assert arm().frame("hand").joint == 1


def test_support_lists_the_columns_of_the_path_and_of_leaders():
    model = arm()
    assert model.support("trunk").tolist() == list(range(6))
    assert model.support("hand").tolist() == list(range(7))
    assert model.support("right").tolist() == [*range(6), 7, 8, 9]
    assert model.support("finger").tolist() == [*range(7), 10]  # the column of its leader
    assert model.support(-1).size == 0


def test_an_added_frame_is_placed_in_its_parent():
    model = arm().add_frame("tool", "hand", TURN, [1, 0, 0]).add_frame("tip", "tool", p=[0, 2, 0])
    tip = model.frame("tip")
    assert (tip.joint, tip.parent, tip.type) == (1, "tool", "op_frame")
    assert tip.placement == pytest.approx(np.column_stack([TURN, [-1, 0, 0]]))
    with pytest.raises(tf.InvalidModelError, match="two frames of type 'op_frame' are called 'tip'"):
        model.add_frame("tip", "base")


def test_frames_survive_pickling_and_copies_of_the_model():
    model = arm().add_frame("tool", "hand")
    assert [f.name for f in pickle.loads(pickle.dumps(model)).frames] == [f.name for f in model.frames]


def test_an_unknown_name_proposes_similar_ones():
    with pytest.raises(
        tf.InvalidModelError, match=r"'wheell' is not a frame, joint or body.*did you mean 'wheel'"
    ):
        arm().frame("wheell")
    with pytest.raises(tf.InvalidModelError, match="frame of type 'site'"):
        arm().frame("hand", "site")


def test_a_name_of_several_places_needs_a_type():
    frames = [tf.Frame("hand", 1, p=[0, 0, 1]), tf.Frame("hand", "left", type="body")]
    model = arm(frames)
    with pytest.raises(tf.InvalidModelError, match=r"model.frame\(name, type\)"):
        model.frame("hand")
    assert model.frame("hand", "body").p.tolist() == [0, 0, 0]
    assert arm([tf.Frame("hand", 1), tf.Frame("hand", 1, type="body")]).frame("hand").type == "op_frame"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: tf.Frame("f", 0, R=np.ones((3, 3))), "frame 'f': R is not a rotation"),
        (lambda: tf.Frame("f", 0, type="feet"), "its type must be one of"),
        (lambda: tf.Frame("", 0), "name"),
        (lambda: tf.Frame("f", 1.5), "number of a joint"),
        (lambda: arm([tf.Frame("f", 9)]), "frame 'f' is on joint 9"),
        (lambda: arm([tf.Frame("f", "hnd")]), "did you mean 'hand'"),
        (lambda: arm(["f"]), r"frames\[0\] is not a Frame but str"),
        (lambda: arm().support(tf.Frame("f", 9)), "frame 'f' is on joint 9"),
    ],
)
def test_what_is_no_frame_is_named(wrong, message):
    with pytest.raises(tf.InvalidModelError, match=message):
        wrong()


@pytest.mark.parametrize("kind", ["fixed", "revolute"])
@pytest.mark.parametrize("name", ["universe", "universe (base)", "root_joint"])
@pytest.mark.parametrize("floating", [False, True])
def test_urdfs_may_use_the_names_of_the_base(name, kind, floating):
    text = f"""<robot name="door"><link name="{name}"/><link name="a"/><link name="leaf"/>
      <joint name="hinge" type="continuous"><parent link="{name}"/><child link="a"/></joint>
      <joint name="{name}" type="{kind}"><parent link="a"/><child link="leaf"/><origin xyz="1 2 3"/></joint>
    </robot>"""
    if (name, kind, floating) == ("root_joint", "revolute", True):
        with pytest.raises(tf.InvalidModelError, match="two joints are called 'root_joint'"):
            tf.Model.from_urdf_string(text, floating)
        return
    model = tf.Model.from_urdf_string(text, floating)
    moving = model.frame(name, "fixed_joint" if kind == "fixed" else "joint")
    assert moving.parent == "a"
    assert model.frame(name, "body").joint == floating - 1


def test_models_of_urdfs_keep_frames_of_merged_links_when_pickled_or_extended():
    text = """<robot name="door"><link name="wall"/><link name="leaf"/><link name="knob"/><link name="lock"/>
      <joint name="hinge" type="continuous"><parent link="wall"/><child link="leaf"/></joint>
      <joint name="screws" type="fixed"><parent link="leaf"/><child link="knob"/><origin xyz="1 2 3"/></joint>
      <joint name="glue" type="fixed"><parent link="knob"/><child link="lock"/><origin xyz="0 0 1"/></joint>
    </robot>"""
    model = tf.Model.from_urdf_string(text)
    for one in (model, pickle.loads(pickle.dumps(model)), model.add_frame("key", "lock")):
        lock = one.frame("lock")
        assert (lock.joint, lock.type, lock.parent, lock.p.tolist()) == (0, "body", "glue", [1, 2, 4])
        assert one.frame("screws").type == "fixed_joint"
        assert one.frame("wall").joint == -1
    assert [frame.name for frame in model.frames][:2] == ["universe", "wall"]
    assert model.add_frame("key", "lock").frame("key").p.tolist() == [1, 2, 4]
