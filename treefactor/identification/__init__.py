"""Regressors, base parameters and estimates of inertial parameters.

`base_parameters` finds the combinations of parameters that the forces of the joints depend on, `excitation`
names what measured motions do not show; `identification` estimates parameters from samples, `samples` judges
the samples.
"""

from .base_parameters import BaseParameters, Direction, base_parameters
from .estimate import Estimate, Residuals
from .excitation import directions_not_excited, unexcited
from .identification import Identification
from .samples import slow_rows, torque_delay

__all__ = [
    "BaseParameters",
    "Direction",
    "Estimate",
    "Identification",
    "Residuals",
    "base_parameters",
    "directions_not_excited",
    "slow_rows",
    "torque_delay",
    "unexcited",
]
