"""Let the wrist of an arm follow a circle, by damped least squares from the last configuration."""

import numpy as np
import pinocchio as pin

model = pin.buildSampleModelManipulator()
data = model.createData()
joint = model.getJointId("wrist2_joint")
q, damping, steps = np.full(model.nq, 0.5), 1e-6 * np.eye(6), 0
pin.forwardKinematics(model, data, q)
start = data.oMi[joint].copy()

for t in np.linspace(0.0, 20.0, 10_000):
    target = pin.SE3(start.rotation, start.translation + 0.1 * np.array([np.cos(t) - 1.0, 0.0, np.sin(t)]))
    for _ in range(20):
        pin.forwardKinematics(model, data, q)
        error_pose = data.oMi[joint].actInv(target)
        error = pin.log6(error_pose).vector
        if np.linalg.norm(error) < 1e-6:
            break
        J = pin.Jlog6(error_pose.inverse()) @ pin.computeJointJacobian(model, data, q, joint)
        v = J.T @ np.linalg.solve(J @ J.T + damping, error)
        q = pin.integrate(model, q, v)
        steps += 1

print(steps, "steps, to", q.round(4))
