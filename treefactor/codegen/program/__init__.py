"""Programs: tables of scalar expressions, passes over them, and their text in C."""

from .program import (
    ARGUMENTS,
    COLUMNS,
    FORMAT,
    FUNCTIONS,
    LOOP_FUNCTIONS,
    NO_PROGRAM,
    PLAIN,
    TIP_FUNCTIONS,
    Function,
    Program,
    available,
    operation_count,
    shape_of,
)

__all__ = [
    "ARGUMENTS",
    "COLUMNS",
    "FORMAT",
    "FUNCTIONS",
    "LOOP_FUNCTIONS",
    "NO_PROGRAM",
    "PLAIN",
    "TIP_FUNCTIONS",
    "Function",
    "Program",
    "available",
    "operation_count",
    "shape_of",
]
