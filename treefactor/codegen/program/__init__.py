"""Represent programs: the table of scalar expressions, passes over its statements, and C text."""

from .names import KINEMATICS
from .program import (
    ARGUMENTS,
    CLOSURES,
    COLUMNS,
    FORMAT,
    FUNCTIONS,
    LOOP_FUNCTIONS,
    NO_PROGRAM,
    PLAIN,
    REACTIONS,
    TIP_FUNCTIONS,
    Function,
    Program,
    argument_sizes,
    available,
    operation_count,
)

__all__ = [
    "ARGUMENTS",
    "CLOSURES",
    "COLUMNS",
    "FORMAT",
    "FUNCTIONS",
    "KINEMATICS",
    "LOOP_FUNCTIONS",
    "NO_PROGRAM",
    "PLAIN",
    "REACTIONS",
    "TIP_FUNCTIONS",
    "Function",
    "Program",
    "argument_sizes",
    "available",
    "operation_count",
]
