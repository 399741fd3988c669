"""Scalar expressions and their table: ordinary arithmetic that writes down what it does.

Golubev & Yaskevich's tables under today's names:

====  =======================  ============================================================================
IDT   identifiers              arguments of a `Function`, by name and size; `Table.input` is an entry
SET   scalar expressions       `Table`: columns op, a, b, one row for every expression there is
MPT   matrices                 Python lists (of lists) of scalars and numbers: see `matrices`
MET   elements of matrices     `Scalar`: the row and the sign; numbers are Python's own
====  =======================  ============================================================================

A recursion is an ordinary loop that runs on Python's numbers as it runs on scalars.
"""

from __future__ import annotations

import math

from ._table import OPERATIONS, Scalar, Table

__all__ = ["OPERATIONS", "Scalar", "Table", "reciprocal", "sincos"]

CONST, INPUT, ADD, SUB, MUL, RECIP, SIN, COS = range(len(OPERATIONS))


def sincos(angle) -> tuple:
    """Sine and cosine of a number or scalar."""
    return angle.sincos() if hasattr(angle, "sincos") else (math.sin(angle), math.cos(angle))


def reciprocal(pivot, freedom: int):
    """One over the pivot of a freedom, a number or scalar, NaN in programs where it is not positive."""
    if hasattr(pivot, "pivot"):
        return pivot.pivot(freedom)
    if not pivot > 0:
        raise ZeroDivisionError(f"freedom {freedom} moves no mass")
    return 1.0 / pivot
