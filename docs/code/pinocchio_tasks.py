"""Time requests, operational space and simulation in turns with Pinocchio."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pinocchio as pin
from pinocchio_turns import BATCH, CALL, WAYS, rows

import treefactor as tf
from treefactor import bench
from treefactor.bench.case import Case

TWO = CALL, BATCH
FUSED = (  # name of the row, ours, Pinocchio's
    "Kinematics",
    "request(q)",
    "pin.computeJointJacobians(model, data, q); pin.updateFramePlacement(model, data, frame); "
    "pin.getFrameJacobian(model, data, frame, pin.LOCAL); data.oMf[frame]; "
    "pin.centerOfMass(model, data, q, False)",
)
PARTS = "J = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL); "
SPACE = (
    f"{PARTS}K = pin.computeMinverse(model, data, q) @ J.T; inertia = np.linalg.inv(J @ K); "
    "inverse = K @ inertia; "
)
TASK_BIAS = (
    "pin.forwardKinematics(model, data, q, v, zero); "
    "rate = pin.getFrameAcceleration(model, data, frame, pin.LOCAL)"
)
TASKS = (  # Pinocchio computes the parts, NumPy composes them
    ("task_bias", "tf.task_bias(robot, q, v, name)", TASK_BIAS),
    (
        "operational_inertia",
        "tf.operational_inertia(robot, q, name)",
        f"{PARTS}np.linalg.inv(J @ pin.computeMinverse(model, data, q) @ J.T)",
    ),
    ("operational_space", "everything(tf.operational_space(robot, q, name))", f"{SPACE}one - inverse @ J"),
    (
        "operational_bias",
        "tf.operational_bias(robot, q, v, name)",
        f"{SPACE}{TASK_BIAS}; inverse.T @ pin.nle(model, data, q, v) - inertia @ rate.vector",
    ),
)
ROLLED = 20  # steps
SOLVED = "np.linalg.solve(pin.crba(model, data, q), tau - pin.nle(model, data, q, v))"
SIMULATED = "v = v + h * pin.aba(model, data, q, v, tau); q = pin.integrate(model, q, h * v)"


def tasks(case: Case, frame: int) -> Iterator[bench.Comparison]:
    """Yield comparisons of a request of several results, and of tasks of one frame."""
    moving, robot, chosen = case, case.ours, case.model.frames[frame]
    arrays = {"q": moving.q, "v": moving.v}
    names = {
        "frame": frame,
        "name": chosen.name,
        "zero": np.zeros(robot.nv),
        "one": np.eye(robot.nv),
        "request": tf.Kinematics(robot, [chosen.name], jacobians=[chosen.name], center_of_mass=True),
        "everything": lambda task: (task.inertia, task.inverse, task.nullspace),
    }
    regular = len(robot.support(chosen.name)) >= 6  # else the task is singular
    for what, ours, theirs in (FUSED, *(TASKS if regular else TASKS[:1])):
        plain = ours.startswith("tf.")  # others return objects of several arrays
        yield from rows(case, what, ours, theirs, arrays, WAYS if plain else TWO, plain, **names)


def simulation(case: Case) -> Iterator[bench.Comparison]:
    """Yield comparisons of accelerations from *H*, time steps and trajectories."""
    moving = case
    arrays = {"q": moving.q, "v": moving.v, "tau": moving.tau}
    ours, theirs = "tf.forward_dynamics(robot, q, v, tau)", SOLVED
    yield from rows(case, "crba, nle, solve", ours, theirs, arrays)
    yield from rows(case, "step", "tf.step(robot, q, v, tau, h)", SIMULATED, arrays, TWO, h=1e-3)

    def steps(q, v, tau, h=1e-3) -> None:
        for _ in range(ROLLED):
            v = v + h * pin.aba(case.model, case.data, q, v, tau)
            q = pin.integrate(case.model, q, h * v)

    few = {name: array[:64] for name, array in arrays.items()}
    names = {"h": 1e-3, "steps": steps, "ROLLED": ROLLED}
    ours = "tf.rollout(robot, q, v, tau, h, ROLLED)"
    yield from rows(case, "rollout", ours, "steps(q, v, tau)", few, TWO, **names)
