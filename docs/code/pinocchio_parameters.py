"""Time regressors in turns with Pinocchio's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pinocchio_turns import rows

from treefactor import bench, identification
from treefactor.bench.case import Case

TORQUES = "pin.computeJointTorqueRegressor(model, data, q, v, a)"
REGRESSORS = (  # name of the row, ours, Pinocchio's
    ("computeJointTorqueRegressor", "tf.regressor(robot, q, v, a)", TORQUES),
    (
        "gravity_regressor",
        "tf.gravity_regressor(robot, q)",
        "pin.computeJointTorqueRegressor(model, data, q, still, still)",
    ),
    (
        "momentum_regressor",
        "tf.momentum_regressor(robot, q, v)",
        "pin.computeJointTorqueRegressor(weightless, weightless_data, q, still, v)",
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
        "computeStaticRegressor",
        "tf.center_of_mass_regressor(robot, q)",
        "pin.computeStaticRegressor(model, data, q)",
    ),
    (
        "regressor_transpose_times",
        "tf.regressor_transpose_times(robot, q, v, a, w)",
        f"{TORQUES}.T @ w",
    ),
)


def parameters(case: Case) -> Iterator[bench.Comparison]:
    """Yield comparisons of regressors; Pinocchio has those of momentum as torques without gravity."""
    weightless = case.model.copy()
    weightless.gravity.linear = np.zeros(3)
    still = np.zeros(case.model.nv)
    names = {"weightless": weightless, "weightless_data": weightless.createData(), "still": still}
    moving = case
    arrays = {"q": moving.q, "v": moving.v, "a": moving.a, "w": moving.tau}
    for what, ours, theirs in REGRESSORS:
        read = {name: x for name, x in arrays.items() if f", {name}" in ours}
        yield from rows(case, what, ours, theirs, read, identification=identification, **names)
