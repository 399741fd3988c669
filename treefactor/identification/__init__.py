"""Regressors, base parameters and estimates of inertial parameters.

`regressors` has the matrices that are multiplied by the parameters, `columns` the names of their columns and
the pattern of those that can differ from zero. `base_parameters` finds the combinations of parameters that
the forces of the joints depend on; `excitation` names what measured motions do not show. Pseudo-inertias and
log-Cholesky coordinates are those of `treefactor.model.parameters`.
"""

from ..model.parameters import (
    fault_of,
    faults,
    from_log_cholesky,
    from_pseudo_inertia,
    log_cholesky_jacobian,
    moved_parameters,
    pseudo_inertia,
    to_log_cholesky,
)
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
    "fault_of",
    "faults",
    "from_log_cholesky",
    "from_pseudo_inertia",
    "gravity_regressor",
    "kinetic_energy_regressor",
    "log_cholesky_jacobian",
    "momentum_regressor",
    "moved_parameters",
    "potential_energy_regressor",
    "pseudo_inertia",
    "regressor",
    "regressor_pattern",
    "regressor_transpose_times",
    "to_log_cholesky",
    "unexcited",
]
