"""Regressors, base parameters and estimates of inertial parameters.

`regressors` has the matrices that are multiplied by the parameters, `columns` the names of their columns and
the pattern of those that can differ from zero. `base_parameters` finds the combinations of parameters that
the forces of the joints depend on; `excitation` names what measured motions do not show.
"""

from .base_parameters import BaseParameters, Direction, base_parameters
from .columns import column_names, regressor_pattern
from .excitation import directions_not_excited, unexcited
from .regressors import (
    center_of_mass_regressor,
    gravity_regressor,
    kinetic_energy_regressor,
    momentum_regressor,
    potential_energy_regressor,
    regressor,
    regressor_transpose_times,
)

__all__ = [
    "BaseParameters",
    "Direction",
    "base_parameters",
    "center_of_mass_regressor",
    "column_names",
    "directions_not_excited",
    "gravity_regressor",
    "kinetic_energy_regressor",
    "momentum_regressor",
    "potential_energy_regressor",
    "regressor",
    "regressor_pattern",
    "regressor_transpose_times",
    "unexcited",
]
