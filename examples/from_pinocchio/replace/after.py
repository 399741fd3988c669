"""Let the wrist of an arm follow a circle, by damped least squares from the last configuration."""

import numpy as np
import pinocchio as pin

import treefactor as tf
from treefactor import se3
from treefactor.adapters import pinocchio_

model = pin.buildSampleModelManipulator()
robot = pinocchio_.model(model)
joint = "wrist2_joint"
q, damping, steps = np.full(model.nq, 0.5), 1e-6 * np.eye(6), 0
start = tf.frame_placement(robot, q, joint)

for t in np.linspace(0.0, 20.0, 10_000):
    target = start.copy()
    target[:, 3] += 0.1 * np.array([np.cos(t) - 1.0, 0.0, np.sin(t)])
    for _ in range(20):
        J, hand = tf.frame_jacobian(robot, q, joint, placement=True)
        error_pose = se3.between(hand, target)
        error = se3.log(error_pose)
        if np.linalg.norm(error) < 1e-6:
            break
        J = se3.jlog(se3.inverse(error_pose)) @ J
        v = J.T @ np.linalg.solve(J @ J.T + damping, error)
        q = tf.integrate(robot, q, v)
        steps += 1

print(steps, "steps, to", q.round(4))
