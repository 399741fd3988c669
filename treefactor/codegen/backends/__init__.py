"""Run programs: the interpreter, compiled C, LLVM, and NumPy as the reference."""

from .choice import (
    BACKENDS,
    Reference,
    evaluated,
    interpreted,
    machine_code,
    made_by,
)

__all__ = [
    "BACKENDS",
    "Reference",
    "evaluated",
    "interpreted",
    "machine_code",
    "made_by",
]
