"""Inverse kinematics and iterative LQR inside JAX: values, maps, gradients, types, statuses, errors."""

import numpy as np
import pytest
from helpers.jax_cases import compiled_fast, jax, jax_, precision

import treefactor as tf
from treefactor import control, robots
from treefactor.exceptions import DtypeError, InvalidModelError, ShapeError

TOOL = "panda_hand_tcp"


@pytest.fixture(autouse=True)
def _float64():
    with precision(True), compiled_fast():
        yield


@pytest.fixture(scope="module")
def panda():
    return tf.Model.from_urdf(robots.find("panda").path)


def test_values_are_those_of_treefactor_bit_for_bit(panda):
    q = tf.random_configuration(panda, 0, size=(2, 6))
    targets, q0 = tf.frame_placement(panda, q, TOOL), 0.5 * (q + q[:1, :1])
    wanted = control.inverse_kinematics(panda, targets, TOOL, q0=q0, starts=2)
    solution = jax_.inverse_kinematics(panda, targets, TOOL, q0, starts=2)
    assert solution.status.dtype == np.int8
    assert (solution.q == wanted.q).all()
    assert (solution.status == wanted.status).all()
    wide = np.concatenate([targets, np.broadcast_to([0.0, 0.0, 0.0, 1.0], (2, 6, 1, 4))], axis=2)
    solve = jax.jit(jax.vmap(lambda target, q0: jax_.inverse_kinematics(panda, target, TOOL, q0, starts=2)))
    assert (solve(wide, q0).q == wanted.q).all()
    points = jax_.inverse_kinematics(panda, targets[..., 3], TOOL, joints=panda_joints(panda))
    wanted = control.inverse_kinematics(panda, targets[..., 3], TOOL, joints=panda_joints(panda))
    assert (points.q == wanted.q).all()


def panda_joints(panda):
    return [joint.name for joint in panda.joints[:5]]


def test_statuses_and_gradients(panda):
    """A bad or unreachable target spoils neither the gradients of others nor, if masked, the sum."""
    targets = tf.frame_placement(panda, tf.random_configuration(panda, 0, size=6), TOOL)
    targets[5, :, :3] *= 1.1
    targets[1, :, 3] *= 9.0
    targets[2, 0, 0] = np.nan
    targets[3, :, :3] *= -1.0

    def loss(targets, masked):
        q, status = jax_.inverse_kinematics(panda, targets, TOOL, iterations=200)
        squares = (q**2).sum(axis=-1)
        return jax.numpy.where(status == 0, squares, 0.0).sum() if masked else squares.sum(), status

    gradient = jax.jit(jax.grad(loss, has_aux=True), static_argnums=1)
    slopes, status = gradient(targets, True)
    assert status.tolist() == [0, 3, 4, 4, 0, 4]
    good = np.array([0, 4])
    assert (slopes[good] != 0.0).any(axis=(1, 2)).all()
    assert not slopes[1].any()
    alone = gradient(targets, False)[0]
    np.testing.assert_array_equal(alone[good], slopes[np.array(good)])
    assert np.isnan(alone[1]).all()
    push = jax.jit(lambda x, dx: jax.jvp(lambda x: loss(x, True)[0], (x,), (dx,))[1])
    along = push(targets[good], np.ones((2, 3, 4)))
    np.testing.assert_allclose(along, np.asarray(slopes)[good].sum(), rtol=1e-9)
    by_start = jax.jit(jax.grad(lambda q0: jax_.inverse_kinematics(panda, targets[0], TOOL, q0).q.sum()))
    assert not by_start(np.zeros(panda.nq)).any()
    with pytest.raises(NotImplementedError, match="second derivatives of inverse_kinematics"):
        jax.hessian(lambda x: jax_.inverse_kinematics(panda, x, TOOL).q.sum())(targets[0])


def test_float32(panda):
    targets = tf.frame_placement(panda, tf.random_configuration(panda, 0, size=20), TOOL)
    solution = jax_.inverse_kinematics(panda, targets.astype(np.float32), TOOL)
    assert solution.q.dtype == np.float32
    assert not solution.status.any()
    apart = tf.frame_placement(panda, np.asarray(solution.q, float), TOOL)[..., 3] - targets[..., 3]
    assert np.linalg.norm(apart, axis=1).max() < 1.02e-4


def test_errors(panda):
    target = tf.frame_placement(panda, tf.neutral(panda), TOOL)
    for kind, text, arguments, options in [
        (InvalidModelError, "did you mean 'panda_hand_tcp'", (target, "panda_hand_tpc"), {}),
        (ShapeError, "targets of shape", (target[:, :2], TOOL), {}),
        (ShapeError, "q0 of shape", (target, TOOL, np.zeros(7)), {}),
        (ValueError, "at most 8", (target, TOOL), {"starts": 9}),
    ]:
        with pytest.raises(kind, match=text):
            jax_.inverse_kinematics(panda, *arguments, **options)
    with pytest.raises(TypeError, match=r"treefactor\.Model"):
        jax_.inverse_kinematics("panda", target, TOOL)


def test_motions_of_least_cost():
    """Values; the gradient of the least cost by the state is that of the rollout with its controls."""
    rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.1]))
    model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    cost = [control.StateCost([1.0], at="final"), control.ControlCost(weight=1e-2)]
    q0, v0, u = np.array([[0.0], [0.3]]), np.zeros(1), np.zeros((20, 1))
    wanted = control.ilqr(model, q0, v0, u, cost, 0.02)
    solve = jax.jit(jax.vmap(lambda q0: jax_.ilqr(model, q0, v0, u, cost, 0.02)))
    motion = solve(q0)
    for name in ("q", "v", "u", "cost", "status"):
        np.testing.assert_array_equal(getattr(motion, name), getattr(wanted, name))
    again = jax_.ilqr(model, q0, v0, u, [control.StateCost([1.0], at="final"), cost[1]], 0.02)
    np.testing.assert_array_equal(again.u, wanted.u)
    options = {"method": "multiple", "second_order": True, "control_limits": (-1.0, 1.0)}
    exact = control.ilqr(model, q0, v0, u, cost, 0.02, **options)
    assert (jax_.ilqr(model, q0, v0, u, cost, 0.02, **options).u == exact.u).all()
    assert (exact.u != wanted.u).any()

    other = jax_.ilqr(model, q0, v0, u, [control.StateCost([0.9], at="final"), cost[1]], 0.02)
    assert (other.u != wanted.u).any()

    def of_rollout(q0, u):
        q, v = jax_.rollout(model, q0, v0, u, 0.02)
        return 0.5 * ((q[-1] - 1.0) ** 2 + v[-1] ** 2).sum() + 0.5 * 0.02 * 1e-2 * (u**2).sum()

    h = 1e-3
    ends = [control.ilqr(model, q0[1] + step, v0, u, cost, 0.02, tolerance=1e-14) for step in (h, -h)]
    slope = jax.jit(jax.grad(of_rollout))(q0[1], motion.u[1])[0]
    np.testing.assert_allclose(slope, (ends[0].cost - ends[1].cost) / (2 * h), rtol=1e-4)
    with pytest.raises(NotImplementedError, match="derivatives of ilqr are not available"):
        jax.grad(lambda q0: jax_.ilqr(model, q0, v0, u, cost, 0.02).cost)(q0[0])
    custom = control.CustomCost(lambda q, v, u: q[..., 0], None)
    with pytest.raises(DtypeError, match="CustomCost"):
        jax_.ilqr(model, q0, v0, u, [custom], 0.02)
    with pytest.raises(ShapeError, match="T, nu"):
        jax_.ilqr(model, q0, v0, u[:, 0], cost, 0.02)
