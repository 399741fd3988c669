"""Branch-sparse linear algebra and dynamics of kinematic trees."""

from importlib.metadata import version

from . import families
from .bound import BoundFactor
from .chain import chain_forces, chain_inertia
from .config import show_config
from .exceptions import (
    AdapterError,
    CodegenError,
    DtypeError,
    InvalidChainError,
    InvalidTreeError,
    NonFiniteError,
    NotPositiveDefiniteError,
    PatternError,
    ShapeError,
    TreefactorError,
)
from .ltdl import Factor, factor, multiply
from .tree import OperationCount, Tree

__version__ = version("treefactor")

__all__ = [
    "AdapterError",
    "BoundFactor",
    "CodegenError",
    "DtypeError",
    "Factor",
    "InvalidChainError",
    "InvalidTreeError",
    "NonFiniteError",
    "NotPositiveDefiniteError",
    "OperationCount",
    "PatternError",
    "ShapeError",
    "Tree",
    "TreefactorError",
    "chain_forces",
    "chain_inertia",
    "factor",
    "families",
    "multiply",
    "show_config",
]
