"""How solutions of inverse kinematics follow their targets: searches, Pinocchio, pseudoinverses."""

import numpy as np
import pytest

import treefactor as tf
from treefactor import robots, so3
from treefactor.adapters._maps import array_function
from treefactor.adapters._public_solvers import hashable
from treefactor.control import Status, inverse_kinematics

TIGHT = 1e-12
OPTIONS = {
    **{"iterations": 1000, "joints": None, "limits": True, "point": False, "restarts": None, "seed": 0},
    **{"stall": 6, "start": True, "starts": 1, "tolerance": TIGHT},
}
rng = np.random.default_rng(4)


def load(name, frame, size, floating=False):
    """Return a model, random configurations and the placements of a frame."""
    model = tf.Model.from_urdf(robots.find(name).path, floating=floating)
    q = tf.random_configuration(model, 5, size=4 * size)
    least = np.linalg.svd(tf.frame_jacobian(model, q, frame), compute_uv=False)[:, 5]
    q = q[np.argsort(least)[-size:]]  # far from singular: differences are accurate
    return model, q, tf.frame_placement(model, q, frame)


def shifted(targets, d):
    """Return poses moved by d (6,) in their own axes, or positions moved in those of the base."""
    if targets.ndim == 2:
        return targets + d[:3]
    R = targets[..., :3]
    return np.concatenate([R @ so3.exp(d[3:]), targets[..., 3:] + (R @ d[:3])[..., None]], axis=-1)


def rates(targets, d, h=1e-5):
    """Return how the entries of targets change along d."""
    return (shifted(targets, h * d) - shifted(targets, -h * d)) / (2 * h)


def run(function, kind, *arrays):
    outputs = [np.full((len(arrays[0]), *shape), 7.0) for shape in function.map(kind).outputs]
    function.map(kind).run([np.ascontiguousarray(x, float) for x in arrays], outputs)
    return outputs


def change_of(model, frame, **options):
    return array_function("change of inverse_kinematics", model, **OPTIONS | {"frame": frame} | options)


def along(function, q, targets, d, status=None):
    """Return the change of solutions along d, from the map "jvp"; q and status are constants there."""
    state = q, np.zeros((len(q), 1)) if status is None else status, targets
    still = np.zeros((len(q), function.model.nv)), np.zeros((len(q), 1))
    return run(function, "jvp", *state, *still, rates(targets, d))[0]


def differences(model, frame, q0, targets, d, h=1e-5):
    """Return central differences of searches from the same starts."""
    ends = [
        inverse_kinematics(model, shifted(targets, step * d), frame, q0=q0, tolerance=TIGHT)
        for step in (h, -h)
    ]
    assert all(end.solved.all() for end in ends)
    return (ends[0].q - ends[1].q) / (2 * h)


def test_solutions_of_six_joints_change_as_searches_do():
    """From any start: there is no other solution near by."""
    model, q, targets = load("ur5_robot", "tool0", 6)
    q0 = q + 0.2 * rng.normal(size=q.shape)
    solution = inverse_kinematics(model, targets, "tool0", q0=q0, tolerance=TIGHT)
    function = change_of(model, "tool0")
    for d in np.eye(6):
        changes = along(function, solution.q, targets, d)
        expected = differences(model, "tool0", q0, targets, d)
        np.testing.assert_allclose(changes, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("name", "frame", "floating"), [("panda", "panda_hand_tcp", False), ("solo12", "FL_FOOT", True)]
)
@pytest.mark.parametrize("point", [False, True])
def test_redundant_robots_change_as_searches_from_their_solution(name, frame, floating, point):
    model, q, targets = load(name, frame, 5, floating)
    targets = targets[..., 3] if point else targets
    function = change_of(model, frame, point=point)
    d = rng.normal(size=6)
    expected = differences(model, frame, q, targets, d)
    changes = along(function, q, targets, d)
    np.testing.assert_allclose(changes, expected, atol=1e-6 * np.abs(expected).max())
    weights = rng.normal(size=q.shape)
    gradient = run(function, "vjp", q, np.zeros((len(q), 1)), targets, weights)
    assert not gradient[0].any()
    np.testing.assert_allclose((gradient[2] * rates(targets, d)).sum(), (weights * changes).sum(), rtol=1e-8)


def test_changes_are_those_of_pinocchio():
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is the reference")
    from treefactor.adapters import pinocchio_

    theirs, (model, q, targets) = (
        pinocchio_.load(robots.find("panda").path, False),
        load("panda", "panda_hand_tcp", 5),
    )
    data, number, d = theirs.createData(), theirs.getFrameId("panda_hand_tcp"), rng.normal(size=6)
    changes = along(change_of(model, "panda_hand_tcp"), q, targets, d)
    some = ("panda_joint1", "panda_joint2", "panda_joint4", "panda_joint6")
    of_some = along(change_of(model, "panda_hand_tcp", joints=some), q, targets, d)
    own = [model.idx_v[model.numbers[joint]] for joint in some]
    for one, few, x in zip(changes, of_some, q, strict=True):
        J = pin.computeFrameJacobian(theirs, data, x, number, pin.LOCAL)
        np.testing.assert_allclose(one, np.linalg.pinv(J) @ d, rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(few[own], np.linalg.pinv(J[:, own]) @ d, rtol=1e-5, atol=1e-8)
        assert not np.delete(few, own).any()


def test_joints_at_limits_are_held():
    model, q, _ = load("panda", "panda_hand_tcp", 4)
    q[:2, 1], q[2, 5] = model.upper[1], model.lower[5] + 1e-7
    targets, d = tf.frame_placement(model, q, "panda_hand_tcp"), rng.normal(size=6)
    changes = along(change_of(model, "panda_hand_tcp"), q, targets, d)
    assert not changes[:2, 1].any()
    assert changes[2, 5] == 0.0
    for one, x in zip(changes, q, strict=True):
        J = tf.frame_jacobian(model, x, "panda_hand_tcp")
        free = (x > model.lower + 1e-6) & (x < model.upper - 1e-6)
        np.testing.assert_allclose(one[free], np.linalg.pinv(J[:, free]) @ d, rtol=1e-4, atol=1e-7)
    wide = hashable((model.lower - 1.0, model.upper + 1.0))
    assert along(change_of(model, "panda_hand_tcp", limits=wide), q, targets, d)[:, 1].all()
    shut = hashable((q[3], q[3]))
    assert not along(change_of(model, "panda_hand_tcp", limits=shut), q[3:], targets[3:], d).any()
    quadruped, q, targets = load("solo12", "FL_FOOT", 2, floating=True)
    ends = np.full(quadruped.nq, -99.0), np.full(quadruped.nq, 99.0)
    ends[1][8] = q[0, 8]
    changes = along(change_of(quadruped, "FL_FOOT", limits=hashable(ends)), q[:1], targets[:1], d)[0]
    assert changes[8] == 0.0
    assert changes[[7, 9]].all()


def test_lost_rank_and_lost_targets():
    """Least error where a planar arm has three freedoms for six; NaN where nothing was found."""
    links = [
        tf.Joint(name, "revolute", k - 1, p=[1.0 * (k > 0), 0, 0], axis=[0, 0, 1])
        for k, name in enumerate("abc")
    ]
    model = tf.Model(links).add_frame("tip", "c", p=[1, 0, 0])
    q = np.array([[0.3, 0.8, -0.5], [0.3, 0.8, -0.5], [0.2, 0.0, 0.0]])
    targets, d = tf.frame_placement(model, q, "tip"), rng.normal(size=6)
    status = np.array([[Status.SOLVED], [Status.STALLED], [Status.SOLVED]], float)
    changes = along(change_of(model, "tip"), q, targets, d, status)
    for k in (0, 2):
        expected = np.linalg.pinv(tf.frame_jacobian(model, q[k], "tip")) @ d
        np.testing.assert_allclose(changes[k], expected, rtol=1e-5)
    assert np.isnan(changes[1]).all()
    for weights, lost in ((np.ones((3, 3)), True), (np.array([[1.0], [0.0], [1.0]]) * np.ones(3), False)):
        gradient = run(change_of(model, "tip"), "vjp", q, status, targets, weights)[2]
        assert np.isnan(gradient[1]).all() == lost
        assert np.isfinite(gradient[[0, 2]]).all()
    assert not np.isnan(along(change_of(model, "tip"), q, targets, np.zeros(6), status)).any()
