"""Passes over programs, one function each; those that make instructions for a machine are in `lowering`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from ._table import use_counts
from .expressions import ADD, CONST, INPUT, MUL, RECIP, SIN, SUB, Table, reciprocal, sincos


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
    new_b[op == RECIP] = b[op == RECIP]
    return op, new_a, new_b, value, number[np.abs(codes)], np.where(codes < 0, -1, 1).astype(np.int8)


def gather(function):
    """The function with a x + a y = a (x + y) in sums, however bracketed, of products without other use.

    Its rows are written once more, on a table of their own, so that whatever folds then does.
    """
    table, op, used = Table(), function.op.tolist(), uses(function).tolist()
    a, b, value = function.a.tolist(), function.b.tolist(), function.value.tolist()
    absorbed = _absorbed(op, a, b, used)
    found: list = [0.0] * len(op)
    for row, kind in enumerate(op):
        if kind == CONST:
            found[row] = value[row]
        elif kind == INPUT:
            found[row] = table.input(a[row], b[row])
        elif row in absorbed:
            continue
        elif kind in (ADD, SUB):
            found[row] = _sum(_terms(row, op, a, b, absorbed), found)
        elif kind == MUL:
            found[row] = found[a[row]] * found[b[row]]
        elif kind == RECIP and b[row]:
            sign = 1.0 if b[row] > 0 else -1.0
            found[row] = sign * reciprocal(sign * found[a[row]], abs(b[row]) - 1)
        else:
            found[row] = 1.0 / found[a[row]] if kind == RECIP else sincos(found[a[row]])[kind - SIN]
    result = [found[row] * float(sign) for row, sign in zip(function.output, function.sign, strict=True)]
    columns = extract(table, result, range(len(function.inputs)))
    return replace(function, **dict(zip(("op", "a", "b", "value", "output", "sign"), columns, strict=True)))


def _absorbed(op, a, b, used) -> set[int]:
    """Sums and products that are used by one sum only."""
    operands = (x for row, kind in enumerate(op) if kind in (ADD, SUB) for x in (a[row], b[row]))
    return {x for x in operands if used[x] == 1 and op[x] in (ADD, SUB, MUL)}


def _terms(row: int, op, a, b, absorbed) -> list[tuple[float, tuple[int, ...]]]:
    """Signs and factors of the terms of a sum, sums within it opened."""
    terms, stack = [], [(row, 1.0)]
    while stack:
        x, sign = stack.pop()
        if x != row and x not in absorbed:
            terms.append((sign, (x,)))
        elif op[x] == MUL:
            terms.append((sign, (a[x], b[x])))
        else:
            stack += [(b[x], sign if op[x] == ADD else -sign), (a[x], sign)]
    return terms


def _sum(terms, found):
    """Sum of terms, the most common factor taken out until none is common."""
    common = _common_factor(terms)
    if common is None:
        parts = [s * found[x[0]] if len(x) == 1 else s * (found[x[0]] * found[x[1]]) for s, x in terms]
        return sum(parts[1:], parts[0])
    shared = [(s, x) for s, x in terms if len(x) == 2 and common in x]
    part = found[common] * _sum([(s, (x[x[0] == common],)) for s, x in shared], found)
    rest = [term for term in terms if term not in shared]
    return part + _sum(rest, found) if rest else part


def _common_factor(terms) -> int | None:
    """The row that is a factor of most products, of at least two."""
    factors = [x for _, pair in terms if len(pair) == 2 for x in pair]
    if len(set(factors)) == len(factors):
        return None
    counts = Counter(x for _, pair in terms if len(pair) == 2 for x in set(pair))
    common, times = counts.most_common(1)[0]
    return common if times > 1 else None


def inlined(function) -> np.ndarray:
    """Which rows a printer can write into their only use: not results, sines, cosines or reciprocals."""
    used = uses(function)
    used[function.output] = 0
    return (used == 1) & (function.op >= ADD) & (function.op <= MUL)


def uses(function) -> np.ndarray:
    """How many operands and results of a function are that row."""
    return use_counts(function.op, function.a, function.b, function.output)
