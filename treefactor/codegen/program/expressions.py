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

__all__ = ["OPERATIONS", "Scalar", "Table", "reciprocal", "sincos"]

CONST, INPUT, ADD, SUB, MUL, RECIP, SIN, COS = range(len(OPERATIONS))


def sincos(angle) -> tuple:
    """Return sine and cosine of a number or scalar."""
    return angle.sincos() if hasattr(angle, "sincos") else (math.sin(angle), math.cos(angle))


def reciprocal(pivot, freedom: int):
    """Return 1 / pivot of a freedom, a number or scalar; in programs NaN unless the pivot is positive."""
    if hasattr(pivot, "pivot"):
        return pivot.pivot(freedom)
    if not pivot > 0:
        raise ZeroDivisionError(f"freedom {freedom} moves no mass")
    return 1.0 / pivot
