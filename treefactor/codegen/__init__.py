"""Straight-line programs of one model: its recursions on scalars, every expression once, none unused."""

from .kernels import Kernels, compile
from .program.program import Function, Program
from .verification.verification import Verdict, verify
from .writer import generate

__all__ = ["Function", "Kernels", "Program", "Verdict", "compile", "generate", "verify"]
