"""Find the largest torques and the height of the hand along a recorded motion, all samples at once."""

import numpy as np
import pinocchio as pin

import treefactor as tf
from treefactor.adapters import pinocchio_

model = pin.buildSampleModelManipulator()
robot = pinocchio_.model(model)
t = np.linspace(0.0, 200.0, 200_000)[:, None]
phases = np.arange(model.nq)
qs, vs, accelerations = np.sin(t + phases), np.cos(t + phases), -np.sin(t + phases)

torques = tf.rnea(robot, qs, vs, accelerations)
heights = tf.frame_placement(robot, qs, "effector_body")[:, 2, 3]

print("largest torques:", np.abs(torques).max(axis=0).round(6))
print("lowest and highest point:", np.min(heights).round(6), np.max(heights).round(6))
