"""Joints, inertias and frames that readers make of numbers are those that the constructors make."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import treefactor as tf
from treefactor.exceptions import InvalidModelError, TreefactorError
from treefactor.model._building import are_consistent, entries, new_frame, new_inertia, new_joint
from treefactor.model.joints import AXES, SIZES
from treefactor.model.parameters import parameters_of

KINDS = sorted(SIZES)


def numbers(seed, kind="universal"):
    """Return a placement, axis, com and tensor, armature and limits."""
    rng = np.random.default_rng(seed)
    placement = np.eye(4)
    placement[:3] = np.column_stack([Rotation.random(random_state=seed).as_matrix(), rng.standard_normal(3)])
    axis = rng.standard_normal((AXES.get(kind, 1), 3))
    axis /= np.linalg.norm(axis, axis=1, keepdims=True) * (1 + 1e-12)
    half = rng.standard_normal((3, 3))
    nq, nv = SIZES[kind]
    limits = -rng.random(nq), np.where(rng.random(nq) < 0.5, np.inf, rng.random(nq))
    return placement, axis, rng.standard_normal(3), half @ half.T, rng.random(nv), limits


def other_limits(seed, kind):
    """Return limits of forces and velocities."""
    return np.random.default_rng(seed).random((2, SIZES[kind][1]))


def assert_same(one, other):
    for name, value in vars(other).items():
        same = vars(one)[name]
        assert type(same) is type(value), name
        if isinstance(value, np.ndarray):
            assert (same.shape, same.tobytes(), same.flags.writeable) == (value.shape, value.tobytes(), False)
        elif not isinstance(value, tf.Inertia):
            assert same == value, name
    assert list(vars(one)) == list(vars(other))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("seed", range(5))
def test_inertias_and_frames(seed, order):
    placement, _, com, tensor, *_ = numbers(seed)
    placement, tensor = np.array(placement, order=order), np.array(tensor, order=order)
    assert_same(new_inertia(2.0, com, tensor), tf.Inertia(2.0, com, tensor))
    R, p = placement[:3, :3], placement[:3, 3]
    assert_same(new_frame("f", 3, placement, "body", "g"), tf.Frame("f", 3, R, p, "body", "g"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_joints(kind, seed):
    placement, axis, com, tensor, armature, (lower, upper) = numbers(seed, kind)
    given = None if kind not in AXES else axis if AXES[kind] == 2 else axis[0]
    pitch, inertia = 0.1 * (kind == "helical"), tf.Inertia(2.0, com, tensor)
    own = kind, 1, placement[:3, :3], placement[:3, 3], given, pitch, inertia
    last = armature, lower, upper, None, "b", *other_limits(seed, kind)
    joint = new_joint("j", kind, 1, placement, given, pitch, inertia, *last)
    assert_same(joint, tf.Joint("j", *own, *last))
    joint = new_joint("j", kind, 1, placement, given, pitch, inertia, *last[:5], None, last[6])
    assert_same(joint, tf.Joint("j", *own, *last[:5], None, last[6]))
    joint = new_joint("j", kind, 1, placement, given, pitch, inertia, None, None, None, None, "")
    assert_same(joint, tf.Joint("j", *own))


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_followers(kind):
    placement, axis, com, tensor, armature, limits = numbers(1, kind)
    inertia, mimic = tf.Inertia(2.0, com, tensor), tf.Mimic(0, 2.0, 1.0)
    last = axis[0], 0.0, inertia, armature, *limits, mimic, "b", *other_limits(1, kind)
    joint = new_joint("j", kind, 1, placement, *last)
    assert_same(joint, tf.Joint("j", kind, 1, placement[:3, :3], placement[:3, 3], *last))


def changed(array, at, value):
    array = array.copy()
    array[at] = value
    return array


@pytest.mark.parametrize("value", [np.nan, np.inf, 9.0])
def test_the_constructors_refuse_what_is_impossible(value):
    placement, axis, com, tensor, armature, limits = numbers(2)
    inertia = tf.Inertia()

    def joint(placement=placement, axis=axis, armature=armature, lower=limits[0], pitch=0.0, effort=None):
        own = inertia, armature, lower, limits[1], None, "", effort, effort
        return new_joint("j", "universal", -1, placement, axis, pitch, *own)

    for call in (
        lambda: new_inertia(2.0, com, changed(tensor, (0, 1), value)),
        lambda: new_inertia(-value, com, tensor),
        lambda: new_frame("f", 0, changed(placement, (1, 2), value), "body", ""),
        lambda: new_frame("", 0, placement, "body", ""),
        lambda: new_frame("f", 0, placement, "other", ""),
        lambda: new_frame("f", 0, np.diag([1.0, 1.0, -1.0, 1.0]), "body", ""),
        lambda: joint(placement=changed(placement, (1, 2), value)),
        lambda: joint(axis=changed(axis, (1, 2), value)),
        lambda: joint(axis=None),
        lambda: joint(armature=changed(armature, 1, -value)),
        lambda: joint(lower=changed(limits[0], 1, np.nan)),
        lambda: joint(pitch=value),
        lambda: joint(effort=np.array([1.0, np.nan])),
    ):
        with pytest.raises(TreefactorError):
            call()
    for at in (0, 2):
        if value != 9.0:
            with pytest.raises(TreefactorError):
                new_inertia(2.0, changed(com, at, value), tensor)
            with pytest.raises(InvalidModelError, match="joint 'j'"):
                joint(placement=changed(placement, (at, 3), value))


def chain(**changes):
    """Return joints of several kinds, the third of which follows the first."""
    kinds = ("continuous", "freeflyer", "revolute", "universal", "prismatic")
    joints = []
    for i, kind in enumerate(kinds):
        axis = None if kind not in AXES else np.eye(3)[:2] if AXES[kind] == 2 else [0, 0, 1]
        mimic = tf.Mimic(0, 3.0) if i == 2 else None
        own = {"armature": 0.1 + i, "lower": -1.0 - i, "upper": 2.0 + i, "mimic": mimic, "axis": axis}
        own |= {"effort_limit": i, "velocity_limit": 5 + i}
        joints.append(tf.Joint(f"j{i}", kind, i - 1, **own))
    return tuple(joints)


def test_entries_of_joints():
    attributes = entries(chain())
    assert {name: attributes[name] for name in ("njoints", "nq", "nv")} == {"njoints": 5, "nq": 12, "nv": 10}
    assert attributes["idx_q"] == (0, 2, 0, 9, 11)
    assert attributes["idx_v"] == (0, 1, 0, 7, 9)
    np.testing.assert_array_equal(attributes["armature"], [0.1 + 9 * 2.1, *[1.1] * 6, 3.1, 3.1, 4.1])
    np.testing.assert_array_equal(attributes["lower"], [-1.0] * 2 + [-2.0] * 7 + [-4.0] * 2 + [-5.0])
    np.testing.assert_array_equal(attributes["upper"], [2.0] * 2 + [3.0] * 7 + [5.0] * 2 + [6.0])
    np.testing.assert_array_equal(attributes["effort_limit"], [0.0] + [1.0] * 6 + [3.0] * 2 + [4.0])
    np.testing.assert_array_equal(attributes["velocity_limit"], [5.0] + [6.0] * 6 + [8.0] * 2 + [9.0])
    arrays = dict.fromkeys(("armature", "lower", "upper", "effort_limit", "velocity_limit"), 0)
    assert entries(()) | arrays == {"njoints": 0, "nq": 0, "nv": 0, "idx_q": (), "idx_v": ()} | arrays


def hinge(name="a", parent=-1, body="", **others):
    return tf.Joint(name, "revolute", parent, axis=[0, 0, 1], body=body, **others)


@pytest.mark.parametrize(
    ("joints", "frames", "consistent"),
    [
        ([hinge(), hinge("b", 0)], None, True),
        ([hinge(), hinge("b", 0)], [tf.Frame("f", 1), tf.Frame("f", -1, type="body")], True),
        ([hinge(), hinge("a", 0)], None, False),
        ([hinge(body="x"), hinge("b", 0, body="x")], None, False),
        ([hinge(parent=0)], None, False),
        ([hinge(parent=-2)], None, False),
        ([hinge(), hinge("b", "a")], None, False),
        ([hinge(), hinge("b", 0, mimic=tf.Mimic(0))], None, False),
        ([hinge()], [tf.Frame("f", 1)], False),
        ([hinge()], [tf.Frame("f", -2)], False),
        ([hinge()], [tf.Frame("f", "a")], False),
        ([hinge()], [tf.Frame("f", 0), tf.Frame("f", -1)], False),
        ([hinge()], ["f"], False),
        (["a"], None, False),
    ],
)
def test_models_that_need_no_other_checks(joints, frames, consistent):
    assert are_consistent(tuple(joints), frames and tuple(frames)) is consistent


def test_parameters_are_those_of_the_numpy_function():
    joints = [hinge(f"j{seed}", inertia=tf.Inertia(1.5, *numbers(seed)[2:4])) for seed in range(4)]
    model = tf.Model(joints, strict=False)
    for joint, pi in zip(joints, model.parameters, strict=True):
        inertia = joint.inertia
        assert pi.tobytes() == parameters_of(inertia.mass, inertia.com, inertia.tensor).tobytes()
