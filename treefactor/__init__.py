"""Branch-sparse linear algebra and dynamics of kinematic trees."""

from importlib.metadata import version

from . import families
from .bound import BoundFactor
from .config import show_config
from .direct import multiply, solve
from .exceptions import (
    AdapterError,
    CodegenError,
    DtypeError,
    InvalidTreeError,
    NonFiniteError,
    NotPositiveDefiniteError,
    PatternError,
    ShapeError,
    TreefactorError,
)
from .ltdl import Factor, factor
from .tree import OperationCount, Tree

__version__ = version("treefactor")

__all__ = [
    "AdapterError",
    "BoundFactor",
    "CodegenError",
    "DtypeError",
    "Factor",
    "InvalidTreeError",
    "NonFiniteError",
    "NotPositiveDefiniteError",
    "OperationCount",
    "PatternError",
    "ShapeError",
    "Tree",
    "TreefactorError",
    "factor",
    "families",
    "multiply",
    "show_config",
    "solve",
]
