"""Find the largest torques and the height of the hand along a recorded motion, sample by sample."""

import numpy as np
import pinocchio as pin

model = pin.buildSampleModelManipulator()
data = model.createData()
hand = model.getFrameId("effector_body")
t = np.linspace(0.0, 200.0, 200_000)[:, None]
phases = np.arange(model.nq)
qs, vs, accelerations = np.sin(t + phases), np.cos(t + phases), -np.sin(t + phases)

torques, heights = [], []
for q, v, a in zip(qs, vs, accelerations, strict=True):
    torques.append(pin.rnea(model, data, q, v, a))
    pin.framesForwardKinematics(model, data, q)
    heights.append(data.oMf[hand].translation[2])

print("largest torques:", np.abs(torques).max(axis=0).round(6))
print("lowest and highest point:", np.min(heights).round(6), np.max(heights).round(6))
