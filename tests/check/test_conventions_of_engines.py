"""Translation between conventions: T and c against their definitions, by differences along a motion."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from treefactor import check
from treefactor._util.conventions import JointsDifferError, UndeclaredJointError, pairs, translate
from treefactor._util.protocol import Base, EngineJoint
from treefactor.check import robots

AXES = st.sampled_from(["world", "body", "inertial"])
STEP = 1e-5


def motion(rng):
    """Return position and rotation of a link as functions of time."""
    a, b, w, u = rng.normal(size=(4, 3))
    return (
        lambda t: a + b * t + w * t * t,
        lambda t: Rotation.from_rotvec(w * t) * Rotation.from_rotvec(u * t**2),
    )


def body_velocity(p, R, t):
    """Return Pinocchio's velocity of a link: of its origin, and angular, both in its axes."""
    linear = (p(t + STEP) - p(t - STEP)) / (2 * STEP)
    turned = (R(t + STEP) * R(t - STEP).inv()).as_rotvec() / (2 * STEP)
    return np.concatenate([R(t).inv().apply(linear), R(t).inv().apply(turned)])


def engine_velocity(p, R, t, base):
    """Return the velocity of a link in the convention of an engine."""
    at = (lambda s: p(s) + R(s).apply(base.com)) if base.point == "com" else p
    linear = (at(t + STEP) - at(t - STEP)) / (2 * STEP)
    angular = (R(t + STEP) * R(t - STEP).inv()).as_rotvec() / (2 * STEP)
    halves = [
        in_axes(linear, base.linear, R(t), base.axes),
        in_axes(angular, base.angular, R(t), base.axes),
    ]
    return np.concatenate(halves if base.order == "linear-angular" else halves[::-1])


def in_axes(vector, axes, R, inertial):
    turned = {"world": np.eye(3), "body": R.as_matrix().T, "inertial": (R.as_matrix() @ inertial).T}
    return turned[axes] @ vector


def engine_acceleration(p, R, t, base):
    """Return the classical acceleration; for a linear velocity in body axes the derivative of its entries."""
    if base.linear == "body":
        return (engine_velocity(p, R, t + STEP, base) - engine_velocity(p, R, t - STEP, base)) / (2 * STEP)
    world = Base(point=base.point, com=base.com, linear="world", angular="world")
    a = (engine_velocity(p, R, t + STEP, world) - engine_velocity(p, R, t - STEP, world)) / (2 * STEP)
    halves = [
        in_axes(a[:3], base.linear, R(t), base.axes),
        in_axes(a[3:], base.angular, R(t), base.axes),
    ]
    return np.concatenate(halves if base.order == "linear-angular" else halves[::-1])


FREE = EngineJoint("root_joint", "free", -1, slice(0, 7), slice(0, 6))


@given(
    order=st.sampled_from(["linear-angular", "angular-linear"]),
    linear=AXES,
    angular=AXES,
    point=st.sampled_from(["origin", "com"]),
    seed=st.integers(0, 1000),
)
def test_velocity_and_acceleration_of_a_free_joint(order, linear, angular, point, seed):
    rng = np.random.default_rng(seed)
    base = Base(
        order=order,
        linear=linear,
        angular=angular,
        point=point,
        com=rng.normal(size=3),
        axes=Rotation.random(random_state=seed).as_matrix(),
    )
    p, R = motion(rng)
    q = np.concatenate([p(0.3), R(0.3).as_quat()])
    v = body_velocity(p, R, 0.3)
    a = (body_velocity(p, R, 0.3 + STEP) - body_velocity(p, R, 0.3 - STEP)) / (2 * STEP)
    at = translate(pairs([FREE], [FREE], base), base, (7, 6, 6), q, v)
    np.testing.assert_allclose(at.v, engine_velocity(p, R, 0.3, base), atol=1e-7)
    np.testing.assert_allclose(at.reference_motion(engine_acceleration(p, R, 0.3, base)), a, atol=1e-3)
    np.testing.assert_allclose(at.inverse @ at.T, np.eye(6), atol=1e-14)


@given(
    placed=st.sampled_from(["origin", "com"]),
    pose=st.sampled_from(["p xyzw", "p wxyz", "wxyz p"]),
    seed=st.integers(0, 1000),
)
def test_pose_of_a_free_joint(placed, pose, seed):
    rng = np.random.default_rng(seed)
    axes = Rotation.random(random_state=seed)
    base = Base(placed=placed, pose=pose, com=rng.normal(size=3), axes=axes.as_matrix())
    p, R = rng.normal(size=3), Rotation.random(random_state=seed + 1)
    q = np.concatenate([p, R.as_quat()])
    mine = translate(pairs([FREE], [FREE], base), base, (7, 6, 6), q, np.zeros(6)).q
    position, quaternion = (mine[4:], mine[:4]) if pose == "wxyz p" else (mine[:3], mine[3:])
    quaternion = np.roll(quaternion, -1) if "wxyz" in pose else quaternion
    expected = (p, R) if placed == "origin" else (p + R.apply(base.com), R * axes)
    np.testing.assert_allclose(position, expected[0], atol=1e-14)
    np.testing.assert_allclose(
        Rotation.from_quat(quaternion).as_matrix(), expected[1].as_matrix(), atol=1e-14
    )


def test_planar_joint_with_an_angle():
    mine = EngineJoint("plane", "planar", -1, slice(0, 3), slice(0, 3))
    theirs = EngineJoint("plane", "planar", -1, slice(0, 4), slice(0, 3))
    x, y, angle = (lambda t: 0.3 + t), (lambda t: t * t), (lambda t: 0.2 + 2 * t)

    def q(t):
        return np.array([x(t), y(t), np.cos(angle(t)), np.sin(angle(t))])

    def v(t):
        turn = np.array([[q(t)[2], q(t)[3]], [-q(t)[3], q(t)[2]]])
        return np.array([*(turn @ [1.0, 2 * t]), 2.0])

    a = (v(0.5 + STEP) - v(0.5 - STEP)) / (2 * STEP)
    base = Base()
    at = translate(pairs([theirs], [mine], base), base, (3, 3, 3), q(0.5), v(0.5))
    np.testing.assert_allclose(at.q, [x(0.5), y(0.5), angle(0.5)], atol=1e-12)
    np.testing.assert_allclose(at.v, [1.0, 1.0, 2.0], atol=1e-12)
    np.testing.assert_allclose(at.reference_motion(np.array([0.0, 2.0, 0.0])), a, atol=1e-8)


def test_continuous_joints_with_one_number_or_two():
    one = EngineJoint("j", "revolute", -1, slice(0, 1), slice(0, 1))
    two = EngineJoint("j", "revolute", -1, slice(0, 2), slice(0, 1))
    base = Base()
    q = np.array([np.cos(2.5), np.sin(2.5)])
    assert translate(pairs([two], [one], base), base, (1, 1, 1), q, np.ones(1)).q == pytest.approx(2.5)
    np.testing.assert_allclose(
        translate(pairs([one], [two], base), base, (2, 1, 1), np.array([2.5]), np.ones(1)).q, q
    )


def test_joints_in_another_order_are_matched_by_name():
    mine = [
        EngineJoint("b", "revolute", -1, slice(0, 1), slice(0, 1)),
        EngineJoint("a", "prismatic", 0, slice(1, 2), slice(1, 2)),
    ]
    theirs = [
        EngineJoint("a", "prismatic", -1, slice(0, 1), slice(0, 1)),
        EngineJoint("b", "revolute", -1, slice(1, 2), slice(1, 2)),
    ]
    base = Base()
    at = translate(pairs(theirs, mine, base), base, (2, 2, 2), np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    assert at.q.tolist() == [2.0, 1.0]
    assert at.v.tolist() == [4.0, 3.0]
    assert at.reference_matrix(np.diag([5.0, 6.0])).tolist() == [[6.0, 0.0], [0.0, 5.0]]


def test_other_joints_are_named():
    mine = [EngineJoint("a", "revolute", -1, slice(0, 1), slice(0, 1))]
    theirs = [EngineJoint("b", "revolute", -1, slice(0, 1), slice(0, 1))]
    with pytest.raises(JointsDifferError, match=r"lacks b .revolute.; it has a .revolute. besides") as caught:
        pairs(theirs, mine, Base())
    assert caught.value.names == ("b", "a")


def test_a_joint_with_other_freedoms_or_without_a_convention_is_named():
    mine = EngineJoint("a", "other", -1, slice(0, 2), slice(0, 2))
    theirs = [EngineJoint("a", "planar", -1, slice(0, 4), slice(0, 3))]
    with pytest.raises(JointsDifferError, match=r"a .planar. has 2 freedoms, not 3"):
        pairs(theirs, [mine], Base())
    mine = EngineJoint("a", "other", -1, slice(0, 4), slice(0, 3))
    with pytest.raises(UndeclaredJointError, match=r"no convention for a .planar."):
        pairs(theirs, [mine], Base())


def test_a_free_root_is_matched_beside_another_free_joint():
    mine = [replace(FREE, name="floating_base"), replace(FREE, name="ball", q=slice(7, 14), v=slice(6, 12))]
    theirs = [replace(FREE, name="root_joint"), replace(FREE, name="ball", q=slice(7, 14), v=slice(6, 12))]
    matched = pairs(theirs, mine, Base())
    assert [pair.joint.name for pair in matched] == ["floating_base", "ball"]


def test_a_base_that_is_always_there_is_left_out():
    arm = EngineJoint("a", "revolute", 0, slice(7, 8), slice(6, 7))
    theirs = [EngineJoint("a", "revolute", -1, slice(0, 1), slice(0, 1))]
    base = Base(always=True)
    at = translate(pairs(theirs, [FREE, arm], base), base, (8, 7, 1), np.array([0.5]), np.array([2.0]))
    assert at.kept.tolist() == [6]
    assert at.v.tolist() == [0, 0, 0, 0, 0, 0, 2.0]
    assert at.reference_matrix(np.diag([1.0, 2, 3, 4, 5, 6, 7])).tolist() == [[7.0]]
    assert at.force(np.array([3.0])).tolist() == [0, 0, 0, 0, 0, 0, 3.0]


@pytest.mark.parametrize("engine", ["pinocchio", "treefactor"])
def test_the_root_link_of_a_fixed_base_is_translated_and_no_difference(engine):
    pytest.importorskip("pinocchio")
    quantities = ["centre of mass", "momentum", "energies"]
    (cells,) = check.check([robots.find("ur5_robot")], [engine], quantities, samples=1)
    assert [(cell.state, cell.causes) for cell in cells] == [(check.AGREES, ())] * 3
