"""Generate straight-line programs of a model: recursions run on scalar expressions, simplified and shared."""

from .cuda_kernels import CudaKernels
from .kernels import Kernels, ParameterKernels, compile
from .program.differentiate import directional, gradient
from .program.program import Function, Program
from .stages import stages
from .verification.verification import Verdict, verify
from .writer import generate

__all__ = [
    "CudaKernels",
    "Function",
    "Kernels",
    "ParameterKernels",
    "Program",
    "Verdict",
    "compile",
    "directional",
    "generate",
    "gradient",
    "stages",
    "verify",
]
