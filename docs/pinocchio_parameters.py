"""Measure the times of regressors in turns with Pinocchio's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pinocchio_turns import rows

from treefactor import bench
from treefactor.bench.comparisons import robot as robot_times

JOINT_TORQUES = "pin.computeJointTorqueRegressor(model, data, q, v, a)"
REGRESSORS = (  # name of the row, ours, Pinocchio's
    ("computeJointTorqueRegressor", "tf.regressor(robot, q, v, a)", JOINT_TORQUES),
    (
        "gravity_regressor",
        "tf.gravity_regressor(robot, q)",
        "pin.computeJointTorqueRegressor(model, data, q, zero, zero)",
    ),
    (
        "computeKineticEnergyRegressor",
        "tf.kinetic_energy_regressor(robot, q, v)",
        "pin.computeKineticEnergyRegressor(model, data, q, v)",
    ),
    (
        "computePotentialEnergyRegressor",
        "tf.potential_energy_regressor(robot, q)",
        "pin.computePotentialEnergyRegressor(model, data, q)",
    ),
    (
        "regressor_transpose_times",
        "tf.regressor_transpose_times(robot, q, v, a, lam)",
        f"lam @ {JOINT_TORQUES}",
    ),
)


def parameters(case: robot_times.Case) -> Iterator[bench.Comparison]:
    """Yield comparisons of regressors, in batches with a loop over Pinocchio's."""
    moving = case.moving
    arrays = {"q": moving.q, "v": moving.v, "a": moving.a, "lam": moving.tau}
    for what, ours, theirs in REGRESSORS:
        read = {name: x for name, x in arrays.items() if f", {name}" in ours}
        yield from rows(case, what, ours, theirs, read, zero=np.zeros(case.model.nv))
