"""Transform programs: one function per pass. Passes that make interpreter instructions are in `lowering`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from ._table import use_counts
from .expressions import (
    ADD,
    ATAN2,
    CONST,
    INPUT,
    MUL,
    RECIP,
    SIN,
    SQRT,
    SUB,
    Table,
    arctangent,
    is_binary,
    reciprocal,
    root,
    sincos,
)


def extract(table, targets, arguments) -> tuple:
    """Extract the statements that targets need: columns op, a, b, value, and rows and signs of targets.

    Parameters
    ----------
    table : Table
    targets : sequence of scalars and numbers
    arguments : sequence of int
        Numbers of the arguments in the table, in their new order.
    """
    codes = table.codes(targets)
    op, a, b = table.columns()
    alive = np.flatnonzero(use_counts(op, a, b, codes))
    alive = alive[np.argsort(np.minimum(op[alive], ADD), kind="stable")]  # constants, inputs, the others
    number = np.zeros(op.size, np.int32)
    number[alive] = np.arange(alive.size)
    op, a, b = op[alive], a[alive], b[alive]
    constant, is_input, binary = op == CONST, op == INPUT, is_binary(op)
    value, new_a, new_b = np.zeros(op.size), *np.zeros((2, op.size), np.int32)
    value[constant] = np.stack([a[constant], b[constant]], axis=1).astype(np.int32).view(np.float64)[:, 0]
    place = np.zeros(max(arguments) + 1, np.int32)
    place[list(arguments)] = np.arange(len(arguments))
    new_a[is_input], new_b[is_input] = place[a[is_input]], b[is_input]
    new_a[op >= ADD], new_b[binary] = number[a[op >= ADD]], number[b[binary]]
    tagged = (op == RECIP) | (op == SQRT)
    new_b[tagged] = b[tagged]
    return op, new_a, new_b, value, number[np.abs(codes)], np.where(codes < 0, -1, 1).astype(np.int8)


def gather(function):
    """Factor out common factors: a x + a y = a (x + y), in sums of products that have no other use.

    Sums are flattened first. All statements are written to a new table, so that new common subexpressions and
    constants are shared and folded.
    """
    table, op, used = Table(), function.op.tolist(), uses(function).tolist()
    a, b, value = function.a.tolist(), function.b.tolist(), function.value.tolist()
    absorbed = _absorbed(op, a, b, used)
    scalars: list = [0.0] * len(op)
    for row, kind in enumerate(op):
        if kind == CONST:
            scalars[row] = value[row]
        elif kind == INPUT:
            scalars[row] = table.input(a[row], b[row])
        elif row in absorbed:
            continue
        elif kind in (ADD, SUB):
            scalars[row] = _sum(_terms(row, op, a, b, absorbed), scalars)
        else:
            scalars[row] = applied(kind, scalars, a[row], b[row])
    result = [scalars[row] * float(sign) for row, sign in zip(function.output, function.sign, strict=True)]
    columns = extract(table, result, range(len(function.inputs)))
    return replace(function, **dict(zip(("op", "a", "b", "value", "output", "sign"), columns, strict=True)))


def applied(kind: int, scalars, a: int, b: int):
    """Return an operation on scalars computed before; reciprocals of pivots keep their freedom."""
    if kind in (ADD, SUB):
        return scalars[a] + scalars[b] if kind == ADD else scalars[a] - scalars[b]
    if kind == MUL:
        return scalars[a] * scalars[b]
    if kind == RECIP and b:
        sign = 1.0 if b > 0 else -1.0
        return sign * reciprocal(sign * scalars[a], abs(b) - 1)
    if kind == SQRT:
        return root(scalars[a], b - 1)
    if kind == ATAN2:
        return arctangent(scalars[a], scalars[b])
    return 1.0 / scalars[a] if kind == RECIP else sincos(scalars[a])[kind - SIN]


def _absorbed(op, a, b, used) -> set[int]:
    """Return the sums and products whose only use is in one sum."""
    operands = (x for row, kind in enumerate(op) if kind in (ADD, SUB) for x in (a[row], b[row]))
    return {x for x in operands if used[x] == 1 and op[x] in (ADD, SUB, MUL)}


def _terms(row: int, op, a, b, absorbed) -> list[tuple[float, tuple[int, ...]]]:
    """Return signs and factors of the terms of a sum, nested sums flattened."""
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


def _sum(terms, scalars):
    """Return the sum of terms, repeatedly factoring out the most frequent factor."""
    common = _common_factor(terms)
    if common is None:
        parts = [s * scalars[x[0]] if len(x) == 1 else s * (scalars[x[0]] * scalars[x[1]]) for s, x in terms]
        return sum(parts[1:], parts[0])
    shared = [(s, x) for s, x in terms if len(x) == 2 and common in x]
    part = scalars[common] * _sum([(s, (x[x[0] == common],)) for s, x in shared], scalars)
    rest = [term for term in terms if term not in shared]
    return part + _sum(rest, scalars) if rest else part


def _common_factor(terms) -> int | None:
    """Return the factor of most products, at least two; None if no factor has two."""
    factors = [x for _, pair in terms if len(pair) == 2 for x in pair]
    if len(set(factors)) == len(factors):
        return None
    counts = Counter(x for _, pair in terms if len(pair) == 2 for x in set(pair))
    common, times = counts.most_common(1)[0]
    return common if times > 1 else None


def inlined(function) -> np.ndarray:
    """Return which statements a printer can inline into their only use: sums, differences and products."""
    used = uses(function)
    used[function.output] = 0
    return (used == 1) & (function.op >= ADD) & (function.op <= MUL)


def uses(function) -> np.ndarray:
    """Count the uses of every statement of a function as operand or result."""
    return use_counts(function.op, function.a, function.b, function.output)
