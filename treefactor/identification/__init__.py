"""Regressors, base parameters and estimates of inertial parameters.

`regressors` has the matrices, `columns` the names of their columns; `base_parameters` finds the combinations
of parameters that the forces of the joints depend on, `excitation` names what measured motions do not show.
`identification` estimates parameters from samples, `samples` judges the samples; `physical` fits bodies that
can exist to a triangle of least squares; `gradients` changes gradients to coordinates of such bodies.
`payload` finds what a joint carries beyond its model; `exciting` designs motions.
"""

from .base_parameters import BaseParameters, Direction, base_parameters
from .columns import column_names, regressor_pattern
from .estimate import Estimate, PhysicalEstimate, Residuals
from .excitation import directions_not_excited, unexcited
from .exciting import ExcitingMotion, exciting_motion
from .gradients import log_cholesky_gradient
from .identification import Identification
from .payload import Payload, PayloadIdentification, identify_payload
from .physical import PhysicalFit, fit_physical
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

__all__ = [
    "BaseParameters",
    "Direction",
    "Estimate",
    "ExcitingMotion",
    "Identification",
    "Payload",
    "PayloadIdentification",
    "PhysicalEstimate",
    "PhysicalFit",
    "Residuals",
    "base_parameters",
    "center_of_mass_regressor",
    "column_names",
    "directions_not_excited",
    "exciting_motion",
    "fit_physical",
    "gravity_regressor",
    "identify_payload",
    "kinetic_energy_regressor",
    "log_cholesky_gradient",
    "momentum_regressor",
    "potential_energy_regressor",
    "regressor",
    "regressor_pattern",
    "regressor_transpose_times",
    "slow_rows",
    "torque_delay",
    "unexcited",
]
