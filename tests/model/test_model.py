"""Check that Model, Joint and Inertia have the right layout, reject invalid input and are immutable."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from helpers.model_cases import models, random_axis, random_inertia, random_model
from hypothesis import given
from oracles import dynamics

import treefactor as tf
from treefactor.model.digests import digest
from treefactor.model.joints import AXES, FOLLOWERS, SIZES

RNG = np.random.default_rng(0)
ROD = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
Y = [0, 1, 0]


def hinge(name="j", parent=-1, **changes):
    return tf.Joint(name, "revolute", parent, axis=Y, inertia=ROD, **changes)


# ------------------------------------------------------------------------------------------------- layout


@pytest.mark.parametrize("kind", SIZES)
def test_every_kind_of_joint(kind):
    joint = tf.Joint("a", kind, axis=random_axis(kind, RNG), inertia=random_inertia(RNG))
    model = tf.Model([joint, hinge("b", 0)])
    nq, nv = SIZES[kind]
    assert (model.nq, model.nv, model.njoints) == (nq + 1, nv + 1, 2)
    assert (model.idx_q, model.idx_v) == ((0, nq), (0, nv))
    assert model.tree.names == ("a" if nv == 1 else "a[0]", *[f"a[{d}]" for d in range(1, nv)], "b")
    assert model.lower.tolist() == [-np.inf] * (nq + 1)


@given(models())
def test_the_tree_is_that_of_the_freedoms(model):
    H = dynamics.crba(model, tf.random_configuration(model, 0))
    assert not H[~model.tree.mask()].any()
    assert model.tree.n == model.nv == model.armature.size
    assert np.linalg.eigvalsh(H)[0] > 0


@given(models())
def test_entries_cover_q_and_v_once(model):
    for at, total in ((0, model.nq), (1, model.nv)):
        entries = np.concatenate([np.zeros(0, int), *(both[at].ravel() for both in model.entries.values())])
        assert sorted(entries.tolist()) == list(range(total))


def test_a_follower_has_the_entries_of_its_leader():
    follower = hinge("b", 0, mimic=tf.Mimic(0, -2.0, 0.5), armature=0.1)
    model = tf.Model([hinge("a", armature=0.3), follower, hinge("c", 1)])
    assert (model.nq, model.nv, model.idx_q, model.idx_v) == (2, 2, (0, 0, 1), (0, 0, 1))
    np.testing.assert_allclose(model.armature, [0.3 + 4 * 0.1, 0.0])
    np.testing.assert_array_equal(model.coupling.G, [[1, 0], [-2, 0], [0, 1]])
    assert model.tree.names == ("a", "c")


def test_no_joints():
    model = tf.Model([])
    assert (model.nq, model.nv, model.tree.n, model.entries) == (0, 0, 0, {})


def test_a_model_is_shown_by_its_sizes():
    model = tf.Model([tf.Joint("wheel", "continuous", axis=Y)], name="cart")
    assert repr(model) == "<Model 'cart': 1 joints, nq 2, nv 1>"


def test_limits_and_armature():
    model = tf.Model([hinge(lower=-1, upper=2, armature=0.5)])
    assert (model.lower[0], model.upper[0], model.armature[0]) == (-1, 2, 0.5)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"lower": 2, "upper": 1}, "lower limit 2 is above the upper one, 1"),
        ({"effort_limit": -1}, "limit of effort -1 is negative"),
        ({"velocity_limit": -0.5}, "limit of velocity -0.5 is negative"),
    ],
)
def test_impossible_limits_are_refused_by_the_name_of_the_joint(limits, reason):
    for joints in ([hinge(**limits)], [hinge("other"), hinge(mimic=tf.Mimic(0), **limits)]):
        with pytest.raises(tf.InvalidModelError, match=f"^joint 'j': {reason}$") as caught:
            tf.Model(joints)
        assert caught.value.joint == "j"
        model = tf.Model(joints, strict=False)
        assert model.faults() == {"j": reason}
        model.with_parameters(model.parameters, strict=True)  # which changes no limits


def test_limits_that_leave_no_room_are_possible():
    joint = hinge(lower=1, upper=1, effort_limit=0, velocity_limit=0)
    assert tf.Model([joint]).faults() == {}


def test_limits_of_forces_and_velocities_go_along():
    follower = hinge("follower", mimic=tf.Mimic(0), effort_limit=9)
    ball = tf.Joint("ball", "spherical", effort_limit=[1, 2, 3], velocity_limit=4, inertia=ROD)
    model = tf.Model([hinge(effort_limit=5), follower, ball])
    for one in (
        model,
        pickle.loads(pickle.dumps(model)),
        model.with_parameters(2 * model.parameters),
        pickle.loads(pickle.dumps(model.with_parameters(2 * model.parameters))),
        model.add_frame("tip", "ball"),
    ):
        assert one.effort_limit.tolist() == [5, 1, 2, 3]
        assert one.velocity_limit.tolist() == [np.inf, 4, 4, 4]
    assert digest(model) != digest(tf.Model([hinge(effort_limit=6), follower, ball]))


# ------------------------------------------------------------------------------------------------ inertias


def test_the_inertia_of_two_bodies_is_that_of_both():
    first, second = random_inertia(RNG), random_inertia(RNG)
    both = dynamics.spatial_inertia(first) + dynamics.spatial_inertia(second)
    np.testing.assert_allclose(dynamics.spatial_inertia(first + second), both, atol=1e-14)
    assert (first + tf.Inertia()).mass == first.mass


def test_an_inertia_seen_from_another_frame():
    R, p = dynamics.about([0.6, 0, 0.8], 0.7), np.array([0.1, -0.2, 0.3])
    inertia = random_inertia(RNG)
    X = dynamics.transform(R, p)
    moved = dynamics.spatial_inertia(inertia.moved(R, p))
    np.testing.assert_allclose(moved, X.T @ dynamics.spatial_inertia(inertia) @ X, atol=1e-14)


FAULTS = {
    "triangle": ((1.0, np.diag([1.0, 1.0, 2.1])), "triangle inequality"),
    "negative": ((1.0, np.diag([1.0, 1.0, -0.1])), "negative"),
    "massless": ((0.0, np.eye(3)), "without mass"),
}


@pytest.mark.parametrize(("body", "reason"), FAULTS.values(), ids=FAULTS)
def test_an_impossible_inertia_is_refused_by_the_name_of_its_joint(body, reason):
    joint = tf.Joint("elbow", "revolute", axis=Y, inertia=tf.Inertia(body[0], tensor=body[1]))
    with pytest.raises(tf.InvalidModelError, match=f"'elbow': .*{reason}") as caught:
        tf.Model([joint])
    assert caught.value.joint == "elbow"
    assert list(tf.Model([joint], strict=False).faults()) == ["elbow"]


@pytest.mark.parametrize("moments", [(1, 1, 2), (0, 1, 1), (0, 0, 0), (1e-9, 1e-9, 2e-9)])
def test_flat_bodies_rods_and_points_are_accepted(moments):
    assert tf.Inertia(1.0, tensor=np.diag(moments).astype(float)).fault() is None


BAD_INERTIAS = {
    "negative mass": ({"mass": -1.0}, "negative"),
    "infinite mass": ({"mass": np.inf}, "finite"),
    "masses": ({"mass": [1.0, 2.0]}, "one number"),
    "NaN": ({"com": [0, np.nan, 0]}, "com is not finite"),
    "short": ({"com": [0, 0]}, "shape"),
    "asymmetric": ({"tensor": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "symmetric"),
    "not square": ({"tensor": [1, 1, 1]}, "shape"),
    "text": ({"com": ["a", "b", "c"]}, "real numbers"),
}


@pytest.mark.parametrize(("values", "reason"), BAD_INERTIAS.values(), ids=BAD_INERTIAS)
def test_what_is_no_inertia(values, reason):
    with pytest.raises(tf.TreefactorError, match=reason):
        tf.Inertia(**values)


# ------------------------------------------------------------------------------------------------ refusals

BAD_JOINTS = {
    "kind": (
        {"kind": "screw"},
        "'screw' is not a kind of joint; did you mean 'helical'.* there are revolute, .*freeflyer",
    ),
    "no axis": ({"axis": None}, "a revolute joint needs an axis"),
    "long axis": ({"axis": [0, 2, 0]}, "unit length"),
    "NaN axis": ({"axis": [0, np.nan, 0]}, "axis is not finite"),
    "one axis of two": ({"kind": "universal"}, r"axis must have shape \(2, 3\)"),
    "an axis too many": ({"kind": "spherical"}, "has no axis"),
    "reflection": ({"R": np.diag([1.0, 1.0, -1.0])}, "R is not a rotation"),
    "scaled": ({"R": 2 * np.eye(3)}, "R is not a rotation"),
    "short p": ({"p": [0, 0]}, "p must have shape"),
    "armature": ({"armature": -1.0}, "armature must not be negative"),
    "many armatures": ({"armature": [1.0, 2.0]}, "armature"),
    "pitch": ({"pitch": np.nan}, "pitch"),
    "a pitch too many": ({"pitch": 0.1}, "has no pitch"),
    "parent": ({"parent": 1.0}, "parent must be the number or name of a joint, got 1.0"),
    "inertia": ({"inertia": 1.0}, "inertia must be an Inertia, got 1.0"),
    "mimic": ({"mimic": 0}, "mimic must be a Mimic or None, got 0"),
    "limits": ({"lower": [1.0, 2.0]}, "lower"),
    "forces": ({"effort_limit": [1.0, 2.0]}, "effort_limit"),
    "a NaN velocity": ({"velocity_limit": np.nan}, "a limit is NaN"),
    "a NaN limit": ({"upper": np.nan}, "a limit is NaN"),
    "follower": ({"kind": "spherical", "axis": None, "mimic": tf.Mimic(0)}, "cannot follow"),
    "ratio": ({"mimic": tf.Mimic(0, np.inf)}, "ratio is not finite"),
    "no ratio": ({"mimic": tf.Mimic(0, "2")}, "ratio must hold real numbers"),
    "offset": ({"mimic": tf.Mimic(0, 1.0, np.nan)}, "offset is not finite"),
    "leader": ({"mimic": tf.Mimic(1.5)}, "number or name of a joint to follow, got 1.5"),
}


@pytest.mark.parametrize(("changes", "reason"), BAD_JOINTS.values(), ids=BAD_JOINTS)
def test_what_is_no_joint_is_named(changes, reason):
    with pytest.raises(tf.InvalidModelError, match=f"'wrist': .*{reason}") as caught:
        tf.Joint(**{"name": "wrist", "kind": "revolute", "axis": Y} | changes)
    assert caught.value.joint == "wrist"


BAD_MODELS = {
    "order": ([hinge("a", 1), hinge("b")], "'a' is number 0 and has parent 1"),
    "own parent": ([hinge("a", 0)], "parents come first"),
    "names": ([hinge("a"), hinge("a", 0)], "two joints are called 'a'"),
    "no joint": ([hinge("a"), "b"], r"joints\[1\] is not a Joint but str"),
    "follows itself": ([hinge("a", mimic=tf.Mimic(0))], "'a' follows joint 0"),
    "follows nobody": ([hinge("a", mimic=tf.Mimic(3))], "'a' follows joint 3"),
    "follows a follower": (
        [hinge("a"), hinge("b", 0, mimic=tf.Mimic(0)), hinge("c", 1, mimic=tf.Mimic(1))],
        "'c' follows joint 1",
    ),
    "follows a ball": ([tf.Joint("s", "spherical"), hinge("b", 0, mimic=tf.Mimic(0))], "must be one of"),
}


@pytest.mark.parametrize(("joints", "reason"), BAD_MODELS.values(), ids=BAD_MODELS)
def test_what_is_no_model(joints, reason):
    with pytest.raises(tf.InvalidModelError, match=reason):
        tf.Model(joints)


def test_gravity_is_a_finite_vector():
    with pytest.raises(tf.ShapeError):
        tf.Model([], gravity=9.81)
    with pytest.raises(tf.NonFiniteError):
        tf.Model([], gravity=[0, 0, np.nan])


# -------------------------------------------------------------------------------- immutable, copied, pickled


def arrays(model):
    """Return all arrays of a model."""
    yield from (model.gravity, model.armature, model.lower, model.upper, model.tree.parent)
    for joint in model.joints:
        yield from (joint.R, joint.p, joint.armature, joint.lower, joint.inertia.com, joint.inertia.tensor)
        if joint.kind in AXES:
            yield joint.axis


def test_nothing_can_be_written():
    model = random_model([-1] * len(SIZES), list(SIZES), 0)
    for array in arrays(model):
        assert not array.flags.writeable
    with pytest.raises(AttributeError):
        model.gravity = np.zeros(3)
    with pytest.raises(AttributeError):
        del model.joints
    with pytest.raises(AttributeError):
        model.joints[0].p = np.zeros(3)
    with pytest.raises(AttributeError):
        model.joints[0].inertia.mass = 1.0


def test_the_callers_arrays_stay_his():
    com, R, p, gravity = np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3)
    joint = tf.Joint("a", "spherical", R=R, p=p, inertia=tf.Inertia(1.0, com, np.eye(3)))
    model = tf.Model([joint], gravity)
    for array in (com, R, p, gravity):
        array[:] = 7.0
    assert not np.any([joint.p, joint.inertia.com, model.gravity])


@given(models())
def test_pickles(model):
    again = pickle.loads(pickle.dumps(model))
    assert (again.tree, again.name, again.idx_q) == (model.tree, model.name, model.idx_q)
    q = tf.random_configuration(model, 0)
    np.testing.assert_array_equal(dynamics.crba(again, q), dynamics.crba(model, q))
    assert not any(array.flags.writeable for array in arrays(again))


def test_followers_may_be_any_of_one_freedom():
    for kind in FOLLOWERS:
        follower = tf.Joint("b", kind, 0, axis=Y, inertia=ROD, mimic=tf.Mimic(0))
        assert tf.Model([hinge("a"), follower]).nv == 1


def test_loops_hold_frames_of_two_bodies():
    joints = [hinge("a"), hinge("b", 0)]
    loops = [tf.Loop("close", "universal", 1, -1, p1=[1, 0, 0])]
    model = tf.Model(joints, loops=loops)
    (loop,) = pickle.loads(pickle.dumps(model)).loops
    assert (loop.name, loop.kind, loop.first, loop.second, loop.rows) == ("close", "universal", 1, -1, 4)
    np.testing.assert_array_equal(loop.p1, [1, 0, 0])
    with pytest.raises(ValueError, match="read-only"):
        loop.p1[0] = 2


def test_loops_end_at_frames_given_as_objects():
    joints = [replace(hinge("a"), body="link"), hinge("b", 0)]
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    named = [tf.Frame("pin", "b", turn, [1, 0, 0]), tf.Frame("hole", -1, p=[0, 2, 0])]
    by_name = tf.Loop("close", "weld", "pin", "hole", p1=[0, 0.5, 0])
    (expected,) = tf.Model(joints, loops=[by_name], frames=named).loops
    for first, second in (named, (replace(named[0], joint=1), "hole"), ("pin", named[1])):
        (loop,) = tf.Model(
            joints, loops=[tf.Loop("close", "weld", first, second, p1=[0, 0.5, 0])], frames=named
        ).loops
        assert (loop.first, loop.second) == (expected.first, expected.second) == (1, -1)
        for name in ("R1", "p1", "R2", "p2"):
            np.testing.assert_array_equal(getattr(loop, name), getattr(expected, name))
    (loop,) = tf.Model(joints, loops=[tf.Loop("c", "weld", tf.Frame("f", "link"), 1)]).loops
    assert (loop.first, loop.second) == (0, 1)


@pytest.mark.parametrize(
    ("loop", "message"),
    [
        (
            lambda: tf.Loop("c", "weld", tf.Frame("f", "lost"), 1),
            "loop 'c': frame 'f' is on 'lost', not a joint",
        ),
        (lambda: tf.Loop("c", "weld", tf.Frame("f", 7), 1), "ends at joint 7, there are 2"),
        (lambda: tf.Loop("c", "hinge", 0, 1), "'hinge' is not a kind of loop"),
        (lambda: tf.Loop("c", "weld", 1, 1), "both ends are on joint 1"),
        (lambda: tf.Loop("c", "weld", 0, 1.5), "number of a joint"),
        (lambda: tf.Loop("c", "weld", 0, 1, R1=2 * np.eye(3)), "R1 is not a rotation"),
        (lambda: tf.Loop("c", "weld", 0, 1, p2=[0, np.nan, 0]), "p2"),
        (lambda: tf.Loop("c", "weld", 0, 2), "ends at joint 2, there are 2"),
        (lambda: tf.Loop("a", "weld", 0, 1), "called 'a'"),
        (lambda: "c", r"loops\[0\] is not a Loop but str"),
    ],
)
def test_loops_that_cannot_be(loop, message):
    with pytest.raises(tf.InvalidModelError, match=message):
        tf.Model([hinge("a"), hinge("b", 0)], loops=[loop()])
