"""Simulate an arm that a spring and a damper pull to a posture, each step by one call."""

import numpy as np
import pinocchio as pin

import treefactor as tf
from treefactor.adapters import pinocchio_

model = pin.buildSampleModelManipulator()
robot = pinocchio_.model(model)
q, v, dt = pin.neutral(model), np.zeros(model.nv), 1e-3
goal = np.full(model.nq, 0.5)

for _ in range(60_000):
    tau = 80.0 * (goal - q) - 12.0 * v
    q, v = tf.step(robot, q, v, tau, dt)

print("rests at", q.round(6))
