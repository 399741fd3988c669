"""Move the hand of an arm to a pose: Pinocchio's example, and the same with treefactor.

The loop is that of Pinocchio's ``inverse-kinematics.py``: the error is the logarithm of the placement of the
target in the hand, and each step solves a damped least-squares problem with the Jacobian of that error.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from turns import compare, seconds

import treefactor as tf
from treefactor import se3
from treefactor.adapters import pinocchio_

JOINT = 6  # in Pinocchio's numbers; the last one of the arm
TARGET = pin.SE3(np.eye(3), np.array([1.0, 0.0, 1.0]))
STEPS, CLOSE, STEP, DAMPING = 1000, 1e-4, 0.1, 1e-12


def with_pinocchio(model: pin.Model, data: pin.Data) -> tuple[np.ndarray, int]:
    """Return the configuration that reaches the target, and the number of steps."""
    q = pin.neutral(model)
    for count in range(STEPS):
        pin.forwardKinematics(model, data, q)
        error_pose = data.oMi[JOINT].actInv(TARGET)
        error = pin.log(error_pose).vector
        if np.linalg.norm(error) < CLOSE:
            return q, count
        J = -pin.Jlog6(error_pose.inverse()) @ pin.computeJointJacobian(model, data, q, JOINT)
        v = -J.T @ np.linalg.solve(J @ J.T + DAMPING * np.eye(6), error)
        q = pin.integrate(model, q, v * STEP)
    raise RuntimeError("the target was not reached")


def with_treefactor(model: tf.Model) -> tuple[np.ndarray, int]:
    """Return the configuration that reaches the target, and the number of steps."""
    joint, target = model.joints[JOINT - 1].name, pose_of(TARGET)
    q = tf.neutral(model)
    for count in range(STEPS):
        J, hand = tf.frame_jacobian(model, q, joint, placement=True)
        error_pose = se3.between(hand, target)
        error = se3.log(error_pose)
        if np.linalg.norm(error) < CLOSE:
            return q, count
        J = -se3.jlog(se3.inverse(error_pose)) @ J
        v = -tf.damped_least_squares(J, error, DAMPING)
        q = tf.integrate(model, q, v * STEP)
    raise RuntimeError("the target was not reached")


def pose_of(placement: pin.SE3) -> np.ndarray:
    """Return a placement as [R | p]."""
    return placement.homogeneous[:3]


def models() -> tuple[pin.Model, tf.Model]:
    """Return Pinocchio's sample arm, and our model of it."""
    model = pin.buildSampleModelManipulator()
    return model, pinocchio_.model(model)


def main() -> None:
    """Run both versions and print the ratio of their times."""
    duration = seconds(__doc__.splitlines()[0])
    model, ours = models()
    data = model.createData()
    q, count = with_treefactor(ours)
    theirs, their_count = with_pinocchio(model, data)
    print(f"{count} and {their_count} steps; the configurations differ by {np.abs(q - theirs).max():.1e} rad")
    compare("arm", lambda: with_treefactor(ours), lambda: with_pinocchio(model, data), duration)


if __name__ == "__main__":
    main()
