"""Branch-sparse linear algebra and dynamics of kinematic trees."""

from typing import TYPE_CHECKING

from . import constraints, families, mlcp
from ._util._explained_calls import explain
from ._version import __version__
from .codegen import Kernels, Program, compile, generate
from .config import show_config
from .derivatives.kinematics import (
    centroidal_derivatives,
    com_derivatives,
    difference_derivatives,
    frame_derivatives,
    integrate_derivatives,
)
from .dynamics import (
    aba,
    base_force,
    bias,
    bind,
    coriolis_matrix,
    crba,
    forward_dynamics,
    generalized_gravity,
    h_times,
    inverse_inertia,
    joint_forces,
    kinetic_energy,
    mechanical_energy,
    potential_energy,
    rnea,
    rollout,
    static_torque,
    step,
)
from .dynamics.chain import chain_forces, chain_inertia
from .dynamics.inertias import Inertias
from .exceptions import (
    AdapterError,
    CodegenError,
    ConfigurationError,
    DtypeError,
    InvalidChainError,
    InvalidModelError,
    InvalidTreeError,
    NonFiniteError,
    NotPositiveDefiniteError,
    PatternError,
    ShapeError,
    StepError,
    TreefactorError,
)
from .identification.base_parameters import BaseParameters, base_parameters
from .identification.identification import Identification
from .kinematics.all_terms import all_terms
from .kinematics.centroidal import (
    center_of_mass,
    center_of_mass_jacobian,
    centroidal_inertia,
    centroidal_map,
    centroidal_map_dot,
    centroidal_momentum,
    centroidal_momentum_rate,
)
from .kinematics.delassus import delassus
from .kinematics.frames import (
    frame_acceleration,
    frame_jacobian,
    frame_jacobian_dot,
    frame_placement,
    frame_velocity,
    joint_jacobian,
    joint_placements,
)
from .kinematics.fused import Kinematics
from .kinematics.operational_space import (
    OperationalSpace,
    operational_bias,
    operational_inertia,
    operational_space,
    task_bias,
)
from .linalg import BoundFactor, Factor, damped_least_squares, factor, multiply, solve
from .model import Frame, Inertia, Joint, Loop, Mimic, Model, se3, so3
from .model.configuration import (
    difference,
    integrate,
    interpolate,
    neutral,
    normalize,
    random_configuration,
)
from .model.configuration_derivatives import d_difference, d_integrate
from .model.configuration_distances import distance, is_same_configuration, squared_distance
from .quantities.functions import (
    center_of_mass_regressor,
    forward_dynamics_derivatives,
    forward_dynamics_hessian,
    forward_dynamics_hvp,
    forward_dynamics_jvp,
    forward_dynamics_vjp,
    gravity_regressor,
    kinetic_energy_regressor,
    momentum_regressor,
    potential_energy_regressor,
    regressor,
    regressor_transpose_times,
    rnea_derivatives,
    rnea_hessian,
    rnea_hvp,
    rnea_jvp,
    rnea_vjp,
)
from .streams import stream
from .tree import OperationCount, Tree

if TYPE_CHECKING:  # short paths of modules that lie deeper; at run time _moved finds them
    from .check import robots as robots
    from .dynamics import flexible as flexible
    from .dynamics import flexible_chain as flexible_chain
    from .mlcp import fclib as fclib
    from .model import arms as arms
    from .model import mechanisms as mechanisms
else:
    from ._moved import __getattr__ as __getattr__

explain(list(globals().values()))
del explain

__all__ = [
    "AdapterError",
    "BaseParameters",
    "BoundFactor",
    "CodegenError",
    "ConfigurationError",
    "DtypeError",
    "Factor",
    "Frame",
    "Identification",
    "Inertia",
    "Inertias",
    "InvalidChainError",
    "InvalidModelError",
    "InvalidTreeError",
    "Joint",
    "Kernels",
    "Kinematics",
    "Loop",
    "Mimic",
    "Model",
    "NonFiniteError",
    "NotPositiveDefiniteError",
    "OperationCount",
    "OperationalSpace",
    "PatternError",
    "Program",
    "ShapeError",
    "StepError",
    "Tree",
    "TreefactorError",
    "__version__",
    "aba",
    "all_terms",
    "base_force",
    "base_parameters",
    "bias",
    "bind",
    "center_of_mass",
    "center_of_mass_jacobian",
    "center_of_mass_regressor",
    "centroidal_derivatives",
    "centroidal_inertia",
    "centroidal_map",
    "centroidal_map_dot",
    "centroidal_momentum",
    "centroidal_momentum_rate",
    "chain_forces",
    "chain_inertia",
    "com_derivatives",
    "compile",
    "constraints",
    "coriolis_matrix",
    "crba",
    "d_difference",
    "d_integrate",
    "damped_least_squares",
    "delassus",
    "difference",
    "difference_derivatives",
    "distance",
    "factor",
    "families",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_dynamics_hessian",
    "forward_dynamics_hvp",
    "forward_dynamics_jvp",
    "forward_dynamics_vjp",
    "frame_acceleration",
    "frame_derivatives",
    "frame_jacobian",
    "frame_jacobian_dot",
    "frame_placement",
    "frame_velocity",
    "generalized_gravity",
    "generate",
    "gravity_regressor",
    "h_times",
    "integrate",
    "integrate_derivatives",
    "interpolate",
    "inverse_inertia",
    "is_same_configuration",
    "joint_forces",
    "joint_jacobian",
    "joint_placements",
    "kinetic_energy",
    "kinetic_energy_regressor",
    "mechanical_energy",
    "mlcp",
    "momentum_regressor",
    "multiply",
    "neutral",
    "normalize",
    "operational_bias",
    "operational_inertia",
    "operational_space",
    "potential_energy",
    "potential_energy_regressor",
    "random_configuration",
    "regressor",
    "regressor_transpose_times",
    "rnea",
    "rnea_derivatives",
    "rnea_hessian",
    "rnea_hvp",
    "rnea_jvp",
    "rnea_vjp",
    "rollout",
    "se3",
    "show_config",
    "so3",
    "solve",
    "squared_distance",
    "static_torque",
    "step",
    "stream",
    "task_bias",
]
