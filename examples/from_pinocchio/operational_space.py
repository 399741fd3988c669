"""Control an arm in operational space, so that its hand follows a circle: with Pinocchio, with treefactor.

The controller of Khatib (1987): the hand is accelerated towards the circle through its inertia, the joints
that are left over hold a posture, and forward dynamics and an integration step close the loop.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from turns import compare, seconds

import treefactor as tf
from treefactor import robots, so3
from treefactor.adapters import pinocchio_

FRAME, REFERENCE = "panda_hand_tcp", "LOCAL_WORLD_ALIGNED"
POSTURE = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.8, 0.02, 0.02])
STEPS, H = 1000, 1e-3
STIFFNESS, DAMPING, HOLD = 400.0, 40.0, 10.0
RADIUS, SPEED = 0.05, 2 * np.pi


def circle(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return position relative to the start of the circle, velocity and acceleration."""
    c, s = np.cos(SPEED * t), np.sin(SPEED * t)
    place = RADIUS * np.array([0.0, c - 1.0, s])
    return place, SPEED * RADIUS * np.array([0.0, -s, c]), -(SPEED**2) * RADIUS * np.array([0.0, c, s])


def desired(error: np.ndarray, velocity: np.ndarray, t: float) -> np.ndarray:
    """Return the acceleration that brings the hand back to the circle and to its orientation."""
    _, v, a = circle(t)
    acceleration = STIFFNESS * error - DAMPING * velocity
    acceleration[:3] += a + DAMPING * v
    return acceleration


def with_pinocchio(model: pin.Model, data: pin.Data) -> np.ndarray:
    """Return the positions of the hand."""
    q, v, frame, positions = POSTURE, np.zeros(model.nv), model.getFrameId(FRAME), np.empty((STEPS, 3))
    eye, reference = np.eye(model.nv), pin.LOCAL_WORLD_ALIGNED
    pin.framesForwardKinematics(model, data, q)
    start = data.oMf[frame].copy()
    for step in range(STEPS):
        pin.computeJointJacobiansTimeVariation(model, data, q, v)
        pin.updateFramePlacement(model, data, frame)
        hand = data.oMf[frame]
        J = pin.getFrameJacobian(model, data, frame, reference)
        bias = pin.getFrameJacobianTimeVariation(model, data, frame, reference) @ v
        goal = start.translation + circle(step * H)[0]
        turned = hand.rotation @ pin.log3(hand.rotation.T @ start.rotation)
        error = np.concatenate([goal - hand.translation, turned])
        inverse = pin.computeMinverse(model, data, q)
        inertia = np.linalg.inv(J @ inverse @ J.T)
        force = inertia @ (desired(error, J @ v, step * H) - bias)
        null = eye - inverse @ J.T @ inertia @ J
        hold = pin.crba(model, data, q) @ (HOLD**2 * (POSTURE - q) - 2 * HOLD * v)
        tau = J.T @ force + null.T @ hold + pin.nle(model, data, q, v)
        positions[step] = hand.translation
        v = v + pin.aba(model, data, q, v, tau) * H
        q = pin.integrate(model, q, v * H)
    return positions


def with_treefactor(model: tf.Model) -> np.ndarray:
    """Return the positions of the hand."""
    q, v, positions = POSTURE, np.zeros(model.nv), np.empty((STEPS, 3))
    start = tf.frame_placement(model, q, FRAME)
    for step in range(STEPS):
        task = tf.operational_space(model, q, FRAME, REFERENCE)
        hand, J = tf.frame_placement(model, q, FRAME), task.J
        goal = start[:, 3] + circle(step * H)[0]
        R = hand[:, :3]
        error = np.concatenate([goal - hand[:, 3], R @ so3.log(R.T @ start[:, :3])])
        bias = tf.task_bias(model, q, v, FRAME, REFERENCE)
        force = task.inertia @ (desired(error, J @ v, step * H) - bias)
        hold = tf.h_times(model, q, HOLD**2 * (POSTURE - q) - 2 * HOLD * v)
        tau = J.T @ force + task.nullspace.T @ hold + tf.bias(model, q, v)
        positions[step] = hand[:, 3]
        q, v = tf.step(model, q, v, tau, H)
    return positions


def main() -> None:
    """Run both versions and print the ratio of their times."""
    duration = seconds(__doc__.splitlines()[0])
    model = pinocchio_.load(robots.find("panda").path)
    ours, data = pinocchio_.model(model), model.createData()
    path, theirs = with_treefactor(ours), with_pinocchio(model, data)
    course = path[0] + np.array([circle(step * H)[0] for step in range(STEPS)])
    print(f"the hand stays within {1e3 * np.abs(path - course).max():.2f} mm of its course")
    print(f"the paths differ by {np.abs(path - theirs).max():.1e} m")
    compare("panda", lambda: with_treefactor(ours), lambda: with_pinocchio(model, data), duration)


if __name__ == "__main__":
    main()
