"""Straight-line programs of one model: its recursions on scalars, every expression once, none unused."""

from .kernels import Kernels, compile
from .program import Function, Program
from .writer import generate

__all__ = ["Function", "Kernels", "Program", "compile", "generate"]
