"""Identify the parameters of a robot from its motion: regressors, base parameters and estimates.

`regressors` has matrices, `columns` the names of theirs; `base_parameters` finds the combinations that forces
depend on, `excitation` names what motions do not show; `identification` estimates from samples, which
`measurements` reads from files and `samples` judges; `measured_fit` holds a part of them out; `urdf` writes
robots with new inertias.
"""

from .base_parameters import BaseParameters, Direction, base_parameters
from .columns import column_names, regressor_pattern
from .estimate import Estimate, Residuals
from .excitation import directions_not_excited, unexcited
from .identification import Identification
from .measured_fit import FittedParameter, JointResidual, MeasuredFit, fit_measurements
from .measurements import Measurements, read_measurements
from .regressors import (
    center_of_mass_regressor,
    gravity_regressor,
    kinetic_energy_regressor,
    momentum_regressor,
    potential_energy_regressor,
    regressor,
    regressor_transpose_times,
)
from .samples import slow_rows, torque_delay
from .urdf import write_urdf

__all__ = [
    "BaseParameters",
    "Direction",
    "Estimate",
    "FittedParameter",
    "Identification",
    "JointResidual",
    "MeasuredFit",
    "Measurements",
    "Residuals",
    "base_parameters",
    "center_of_mass_regressor",
    "column_names",
    "directions_not_excited",
    "fit_measurements",
    "gravity_regressor",
    "kinetic_energy_regressor",
    "momentum_regressor",
    "potential_energy_regressor",
    "read_measurements",
    "regressor",
    "regressor_pattern",
    "regressor_transpose_times",
    "slow_rows",
    "torque_delay",
    "unexcited",
    "write_urdf",
]
