"""Identify the parameters of a robot from its motion: regressors, base parameters and estimates.

`base_parameters` finds the combinations of parameters that the forces of the joints depend on; `excitation`
names what measured motions do not show; `identification` estimates base parameters and friction from samples,
which `measurements` reads from files and `samples` judges; `measured_fit` holds a part of them out; `urdf`
writes robots with new inertias.
"""

from .base_parameters import BaseParameters, Direction, base_parameters
from .estimate import Estimate, Residuals
from .excitation import directions_not_excited, unexcited
from .identification import Identification
from .measured_fit import FittedParameter, JointResidual, MeasuredFit, fit_measurements
from .measurements import Measurements, read_measurements
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
    "directions_not_excited",
    "fit_measurements",
    "read_measurements",
    "slow_rows",
    "torque_delay",
    "unexcited",
    "write_urdf",
]
