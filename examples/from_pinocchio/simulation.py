"""Simulate a long pendulum and an arm under feedback: Pinocchio's loop, and the same with treefactor.

The first loop is that of Pinocchio's ``simulation-pendulum.py``: forward dynamics by the articulated-body
algorithm and semi-implicit Euler steps. Its torques are known beforehand, so one call computes the motion.
In the second loop the torques depend on the state, so each step is a call on fixed arrays.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from turns import compare, seconds

import treefactor as tf
from treefactor.adapters import pinocchio_

LINKS, STEPS, H = 10, 1000, 1e-3
STIFFNESS, DAMPING = 80.0, 12.0


def pendulum() -> pin.Model:
    """Return a pendulum of equal rods."""
    model, joint = pin.Model(), 0
    length, mass = 2.0 / LINKS, 1.0 / LINKS
    rod = pin.Inertia(
        mass, np.array([0.0, 0.0, length / 2]), pin.Inertia.FromBox(mass, 0.01, 0.01, length).inertia
    )
    for k in range(LINKS):
        at = pin.SE3(np.eye(3), np.array([0.0, 0.0, length if k else 0.0]))
        joint = model.addJoint(joint, pin.JointModelRX(), at, f"hinge{k}")
        model.appendBodyToJoint(joint, rod, pin.SE3.Identity())
    return model


def with_pinocchio(model: pin.Model, data: pin.Data, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return all configurations of the pendulum without torques."""
    tau, configurations = np.zeros(model.nv), [q]
    for _ in range(STEPS):
        a = pin.aba(model, data, q, v, tau)
        v = v + a * H
        q = pin.integrate(model, q, v * H)
        configurations.append(q)
    return np.array(configurations)


def with_treefactor(model: tf.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return all configurations of the pendulum without torques."""
    configurations, _ = tf.rollout(model, q, v, np.zeros((STEPS, model.nv)), H)
    return configurations


def held_with_pinocchio(model: pin.Model, data: pin.Data, q: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """Return the configuration to which PD control with gravity compensation moves an arm."""
    v = np.zeros(model.nv)
    for _ in range(STEPS):
        error = pin.difference(model, q, goal)
        tau = STIFFNESS * error - DAMPING * v + pin.computeGeneralizedGravity(model, data, q)
        v = v + pin.aba(model, data, q, v, tau) * H
        q = pin.integrate(model, q, v * H)
    return q


def held_with_treefactor(model: tf.Model, q: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """Return the configuration to which PD control with gravity compensation moves an arm."""
    v = np.zeros(model.nv)
    for _ in range(STEPS):
        error = tf.difference(model, q, goal)
        tau = STIFFNESS * error - DAMPING * v + tf.generalized_gravity(model, q)
        q, v = tf.step(model, q, v, tau, H)
    return q


def main() -> None:
    """Run both loops with both packages and print the ratios of their times."""
    duration = seconds(__doc__.splitlines()[0])
    model = pendulum()
    ours, data = pinocchio_.model(model), model.createData()
    start = np.full(model.nv, 0.1), np.zeros(model.nv)
    apart = np.abs(with_treefactor(ours, *start) - with_pinocchio(model, data, *start)).max()
    print(f"pendulum of {LINKS} links: the configurations differ by {apart:.1e} rad at most")
    compare(
        "pendulum",
        lambda: with_treefactor(ours, *start),
        lambda: with_pinocchio(model, data, *start),
        duration,
    )
    arm = pin.buildSampleModelManipulator()
    ours_arm, data_arm = pinocchio_.model(arm), arm.createData()
    ends = pin.neutral(arm), np.full(arm.nq, 0.5)
    apart = np.abs(held_with_treefactor(ours_arm, *ends) - held_with_pinocchio(arm, data_arm, *ends)).max()
    print(f"arm under feedback: the configurations differ by {apart:.1e} rad")
    compare(
        "arm",
        lambda: held_with_treefactor(ours_arm, *ends),
        lambda: held_with_pinocchio(arm, data_arm, *ends),
        duration,
    )


if __name__ == "__main__":
    main()
