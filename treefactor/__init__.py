"""Branch-sparse linear algebra and dynamics of kinematic trees."""

from . import constraints, families, mlcp
from ._version import __version__
from .bound import BoundFactor
from .chain import chain_forces, chain_inertia
from .codegen import Kernels, Program, compile, generate
from .config import show_config
from .configuration import difference, integrate, neutral, random_configuration
from .direct import multiply, solve
from .dynamics import aba, bias, bind, crba, forward_dynamics, h_times, rnea
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
from .joints import Inertia, Joint, Loop, Mimic
from .ltdl import Factor, factor
from .model import Model
from .streams import stream
from .tree import OperationCount, Tree

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
    "PatternError",
    "Program",
    "ShapeError",
    "StepError",
    "Tree",
    "TreefactorError",
    "__version__",
    "aba",
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
    "mlcp",
    "multiply",
    "neutral",
    "random_configuration",
    "rnea",
    "show_config",
    "solve",
    "stream",
]
