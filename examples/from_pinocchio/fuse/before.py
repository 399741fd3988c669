"""Simulate an arm that a spring and a damper pull to a posture."""

import numpy as np
import pinocchio as pin

model = pin.buildSampleModelManipulator()
data = model.createData()
q, v, dt = pin.neutral(model), np.zeros(model.nv), 1e-3
goal = np.full(model.nq, 0.5)

for _ in range(60_000):
    tau = 80.0 * (goal - q) - 12.0 * v
    M = pin.crba(model, data, q)
    h = pin.nle(model, data, q, v)
    a = np.linalg.solve(M, tau - h)
    v = v + a * dt
    q = pin.integrate(model, q, v * dt)

print("rests at", q.round(6))
