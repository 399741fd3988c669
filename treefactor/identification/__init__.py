"""Regressors, base parameters and estimates of inertial parameters.

`columns` has the names of the columns of regressors; `base_parameters` finds the combinations that the forces
of the joints depend on, `excitation` names what measured motions do not show, and `exciting`
designs motions that show it. `identification` estimates parameters from samples, which `measurements` reads
from files and `samples` judges; `measured_fit` holds a part of them out. `physical` fits bodies that can
exist, `payload` finds what a joint carries, `gradients` changes gradients to coordinates of bodies that can
exist, `urdf` writes robots with new inertias. Pseudo-inertias and log-Cholesky coordinates
are those of `treefactor.model.parameters`.
"""

from typing import TYPE_CHECKING, Any

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
from ..quantities.functions import (
    center_of_mass_regressor,
    gravity_regressor,
    kinetic_energy_regressor,
    momentum_regressor,
    potential_energy_regressor,
    regressor,
    regressor_transpose_times,
)
from .base_parameters import BaseParameters, Direction, base_parameters
from .columns import column_names, regressor_pattern
from .estimate import Estimate, PhysicalEstimate, Residuals
from .excitation import directions_not_excited, unexcited
from .exciting import ExcitingMotion, exciting_motion
from .gradients import log_cholesky_gradient
from .identification import Identification
from .measured_fit import FittedParameter, JointResidual, MeasuredFit, fit_measurements
from .measurements import Measurements, read_measurements
from .payload import Payload, PayloadIdentification, identify_payload
from .physical import PhysicalFit, fit_physical
from .samples import TorqueDelay, slow_rows, torque_delay

if TYPE_CHECKING:
    from .urdf import write_urdf as write_urdf

__all__ = [
    "BaseParameters",
    "Direction",
    "Estimate",
    "ExcitingMotion",
    "FittedParameter",
    "Identification",
    "JointResidual",
    "MeasuredFit",
    "Measurements",
    "Payload",
    "PayloadIdentification",
    "PhysicalEstimate",
    "PhysicalFit",
    "Residuals",
    "TorqueDelay",
    "base_parameters",
    "center_of_mass_regressor",
    "column_names",
    "directions_not_excited",
    "exciting_motion",
    "fault_of",
    "faults",
    "fit_measurements",
    "fit_physical",
    "from_log_cholesky",
    "from_pseudo_inertia",
    "gravity_regressor",
    "identify_payload",
    "kinetic_energy_regressor",
    "log_cholesky_gradient",
    "log_cholesky_jacobian",
    "momentum_regressor",
    "moved_parameters",
    "potential_energy_regressor",
    "pseudo_inertia",
    "read_measurements",
    "regressor",
    "regressor_pattern",
    "regressor_transpose_times",
    "slow_rows",
    "to_log_cholesky",
    "torque_delay",
    "unexcited",
    "write_urdf",
]


def __getattr__(name: str) -> Any:
    """Import `write_urdf` when it is first used: parsers of XML take long to load."""
    if name == "write_urdf":
        from .urdf import write_urdf

        return write_urdf
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
