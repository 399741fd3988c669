"""Scalar expressions: Python arithmetic on them appends statements to a `Table`.

The tables of Golubev & Yaskevich (2020) and their names here:

====  =======================  ============================================================================
IDT   identifiers              arguments of a `Function`, by name and size; `Table.input` returns an entry
SET   scalar expressions       `Table`: columns op, a, b, one statement per distinct expression
MPT   matrices                 Python lists (of lists) of scalars and numbers: see `matrices`
MET   elements of matrices     `Scalar`: statement number and sign; constants are Python floats
====  =======================  ============================================================================

The recursions are ordinary loops that run on floats and on scalars alike.
"""

from __future__ import annotations

import math

from ._table import OPERATIONS, Scalar, Table

__all__ = [
    "OPERATIONS",
    "Scalar",
    "Table",
    "arctangent",
    "is_binary",
    "is_trig",
    "operands",
    "reciprocal",
    "root",
    "sincos",
]

CONST, INPUT, ADD, SUB, MUL, RECIP, SIN, COS, SQRT, ATAN2 = range(len(OPERATIONS))


def is_binary(op):
    """Return whether operations, a number or an array, have two operands."""
    return ((op >= ADD) & (op <= MUL)) | (op == ATAN2)


def is_trig(op):
    """Return whether operations, a number or an array, are sines or cosines."""
    return (op == SIN) | (op == COS)


def operands(op, a, b, row: int) -> tuple[int, ...]:
    """Return the operands of a statement, given lists of operations and operands."""
    if op[row] <= INPUT:
        return ()
    return (a[row], b[row]) if is_binary(op[row]) else (a[row],)


def sincos(angle) -> tuple:
    """Return sine and cosine of a number or scalar."""
    return angle.sincos() if hasattr(angle, "sincos") else (math.sin(angle), math.cos(angle))


class MasslessError(ZeroDivisionError):
    """A freedom moves no mass at any configuration."""

    def __init__(self, freedom: int):
        super().__init__(f"freedom {freedom} moves no mass")
        self.freedom = freedom


def reciprocal(pivot, freedom: int):
    """Return 1 / pivot of a freedom, a number or scalar; in programs NaN unless the pivot is positive."""
    if hasattr(pivot, "pivot"):
        return pivot.pivot(freedom)
    if not pivot > 0:
        raise MasslessError(freedom)
    return 1.0 / pivot


def root(x, loop: int):
    """Return the square root that closes a loop, of a number or scalar; NaN if x is negative."""
    if hasattr(x, "sqrt"):
        return x.sqrt(loop)
    return math.sqrt(x) if x >= 0.0 else math.nan


def arctangent(y, x):
    """Return atan2(y, x) of numbers or scalars."""
    table = getattr(y, "table", None) or getattr(x, "table", None)
    return math.atan2(y, x) if table is None else table.atan2(y, x)
