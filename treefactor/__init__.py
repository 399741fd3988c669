"""Branch-sparse linear algebra and dynamics of kinematic trees."""

from importlib.metadata import version

from . import families
from .bound import BoundFactor
from .config import show_config
from .configuration import difference, integrate, neutral, random_configuration
from .exceptions import (
    AdapterError,
    CodegenError,
    ConfigurationError,
    DtypeError,
    InvalidModelError,
    InvalidTreeError,
    NonFiniteError,
    NotPositiveDefiniteError,
    PatternError,
    ShapeError,
    TreefactorError,
)
from .ltdl import Factor, factor, multiply
from .model import Inertia, Joint, Mimic, Model
from .tree import OperationCount, Tree

__version__ = version("treefactor")

__all__ = [
    "AdapterError",
    "BoundFactor",
    "CodegenError",
    "ConfigurationError",
    "DtypeError",
    "Factor",
    "Inertia",
    "InvalidModelError",
    "InvalidTreeError",
    "Joint",
    "Mimic",
    "Model",
    "NonFiniteError",
    "NotPositiveDefiniteError",
    "OperationCount",
    "PatternError",
    "ShapeError",
    "Tree",
    "TreefactorError",
    "difference",
    "factor",
    "families",
    "integrate",
    "multiply",
    "neutral",
    "random_configuration",
    "show_config",
]
