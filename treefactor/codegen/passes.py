"""Passes over programs, one function each; those that make instructions for a machine are in `lowering`."""

from __future__ import annotations

import numpy as np

from ._table import use_counts
from .expressions import ADD, CONST, INPUT, MUL


def extract(table, targets, arguments) -> tuple:
    """Columns op, a, b, value of the rows that targets need, and the targets' rows and signs.

    Parameters
    ----------
    table : Table
    targets : sequence of scalars and numbers
    arguments : sequence of int
        The table's numbers of the arguments, in their new order.
    """
    codes = table.codes(targets)
    op, a, b = table.columns()
    alive = np.flatnonzero(use_counts(op, a, b, codes))
    alive = alive[np.argsort(np.minimum(op[alive], ADD), kind="stable")]  # numbers, inputs, the others
    number = np.zeros(op.size, np.int32)
    number[alive] = np.arange(alive.size)
    op, a, b = op[alive], a[alive], b[alive]
    constant, given, binary = op == CONST, op == INPUT, (op >= ADD) & (op <= MUL)
    value, new_a, new_b = np.zeros(op.size), *np.zeros((2, op.size), np.int32)
    value[constant] = np.stack([a[constant], b[constant]], axis=1).astype(np.int32).view(np.float64)[:, 0]
    place = np.zeros(max(arguments) + 1, np.int32)
    place[list(arguments)] = np.arange(len(arguments))
    new_a[given], new_b[given] = place[a[given]], b[given]
    new_a[op >= ADD], new_b[binary] = number[a[op >= ADD]], number[b[binary]]
    return op, new_a, new_b, value, number[np.abs(codes)], np.where(codes < 0, -1, 1).astype(np.int8)


def inlined(function) -> np.ndarray:
    """Which rows a printer can write into their only use: not results, sines, cosines or reciprocals."""
    used = uses(function)
    used[function.output] = 0
    return (used == 1) & (function.op >= ADD) & (function.op <= MUL)


def uses(function) -> np.ndarray:
    """How many operands and results of a function are that row."""
    return use_counts(function.op, function.a, function.b, function.output)
