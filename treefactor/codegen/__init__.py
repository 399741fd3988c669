"""Straight-line programs of one model: its recursions on scalars, every expression once, none unused."""

from .program import Function, Program
from .writer import generate

__all__ = ["Function", "Program", "generate"]
