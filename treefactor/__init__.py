"""Branch-sparse linear algebra and dynamics of kinematic trees."""

from typing import TYPE_CHECKING

from . import constraints, families, mlcp
from ._version import __version__
from .codegen import Kernels, Program, compile, generate
from .config import show_config
from .dynamics import aba, base_force, bias, bind, crba, forward_dynamics, h_times, joint_forces, rnea
from .dynamics.chain import chain_forces, chain_inertia
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
from .kinematics import (
    OperationalSpace,
    operational_bias,
    operational_inertia,
    operational_space,
    task_bias,
)
from .linalg import BoundFactor, Factor, factor, multiply, solve
from .model import Inertia, Joint, Loop, Mimic, Model
from .model.configuration import difference, integrate, neutral, random_configuration
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

__all__ = [
    "AdapterError",
    "BoundFactor",
    "CodegenError",
    "ConfigurationError",
    "DtypeError",
    "Factor",
    "Inertia",
    "InvalidChainError",
    "InvalidModelError",
    "InvalidTreeError",
    "Joint",
    "Kernels",
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
    "base_force",
    "bias",
    "bind",
    "chain_forces",
    "chain_inertia",
    "compile",
    "constraints",
    "crba",
    "difference",
    "factor",
    "families",
    "forward_dynamics",
    "generate",
    "h_times",
    "integrate",
    "joint_forces",
    "mlcp",
    "multiply",
    "neutral",
    "operational_bias",
    "operational_inertia",
    "operational_space",
    "random_configuration",
    "rnea",
    "show_config",
    "solve",
    "stream",
    "task_bias",
]
