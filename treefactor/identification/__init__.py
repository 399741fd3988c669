"""Regressors of the dynamics: what is linear in the inertial parameters of the bodies.

`regressors` has the matrices, `columns` the names of their columns and the pattern of those that can differ
from zero.
"""

from .columns import column_names, regressor_pattern
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
    "center_of_mass_regressor",
    "column_names",
    "gravity_regressor",
    "kinetic_energy_regressor",
    "momentum_regressor",
    "potential_energy_regressor",
    "regressor",
    "regressor_pattern",
    "regressor_transpose_times",
]
