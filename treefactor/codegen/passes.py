"""Passes over programs, one function each: from the table to rows of a function, from these to instructions.

`extract` counts uses backwards and drops dead rows. A backend that wants instructions calls `fuse`,
`schedule` and `allocate` in this order; a printer calls `inlined`.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from heapq import heappop, heappush

import numpy as np

from ._table import use_counts
from .expressions import ADD, CONST, INPUT, MUL, OPERATIONS, RECIP, SIN, SUB, Table, sincos

FUSED = (*OPERATIONS, "MULADD", "MULSUB", "SUBMUL")  # a b + c, a b - c, c - a b
MULADD, MULSUB, SUBMUL = range(len(OPERATIONS), len(FUSED))
WINDOW = 1000  # rows that a row may be moved forward


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
            found[row] = _sum(_terms(row, 1, op, a, b, absorbed), found)
        elif kind == MUL:
            found[row] = found[a[row]] * found[b[row]]
        else:
            found[row] = 1.0 / found[a[row]] if kind == RECIP else sincos(found[a[row]])[kind - SIN]
    result = [found[row] * float(sign) for row, sign in zip(function.output, function.sign, strict=True)]
    columns = extract(table, result, range(len(function.inputs)))
    return replace(function, **dict(zip(("op", "a", "b", "value", "output", "sign"), columns, strict=True)))


def _absorbed(op, a, b, used) -> set[int]:
    """Sums and products that are used by one sum only."""
    operands = (x for row, kind in enumerate(op) if kind in (ADD, SUB) for x in (a[row], b[row]))
    return {x for x in operands if used[x] == 1 and op[x] in (ADD, SUB, MUL)}


def _terms(row: int, sign: int, op, a, b, absorbed) -> list[tuple[int, tuple[int, ...]]]:
    """Signs and factors of the terms of a sum, sums within it opened."""
    terms = []
    for x, s in ((a[row], sign), (b[row], sign if op[row] == ADD else -sign)):
        if x not in absorbed:
            terms.append((s, (x,)))
        elif op[x] == MUL:
            terms.append((s, (a[x], b[x])))
        else:
            terms += _terms(x, s, op, a, b, absorbed)
    return terms


def _sum(terms, found):
    """Sum of terms, the most common factor taken out until none is common."""
    total = None
    counts = Counter(x for _, factors in terms if len(factors) == 2 for x in set(factors))
    while counts and max(counts.values()) > 1:
        common = max(counts, key=counts.get)
        shared = [(s, factors) for s, factors in terms if common in factors and len(factors) == 2]
        terms = [term for term in terms if term not in shared]
        others = [(s, (factors[factors[0] == common],)) for s, factors in shared]
        part = found[common] * _sum(others, found)
        total = part if total is None else total + part
        counts = Counter(x for _, factors in terms if len(factors) == 2 for x in set(factors))
    for sign, factors in terms:
        part = math.prod((found[x] for x in factors), start=float(sign))
        total = part if total is None else total + part
    return total


@dataclass(frozen=True, eq=False)
class Instructions:
    """Rows of a function for a machine with multiply-adds.

    Attributes
    ----------
    op : ndarray of uint8, shape (rows,)
        An index into `FUSED`: rows of numbers first, then inputs, then the others, as of `Function`.
    operands : ndarray of int32, shape (rows, 3)
        Rows a, b, c; of INPUT the argument and the entry. Unused ones are 0.
    value : ndarray of float64, shape (rows,)
        Of CONST.
    output, sign : ndarray
        As of `Function`.
    """

    op: np.ndarray
    operands: np.ndarray
    value: np.ndarray
    output: np.ndarray
    sign: np.ndarray

    @property
    def first(self) -> int:
        """First row that is an operation."""
        return int(np.count_nonzero(self.op <= INPUT))


def operand_count(op) -> np.ndarray:
    """How many operands operations have that are rows."""
    return np.array([0, 0, 2, 2, 2, 1, 1, 1, 3, 3, 3])[op]


def fuse(function) -> Instructions:
    """Products with a single use, which is a sum, become part of it."""
    op, operands = function.op.copy(), np.zeros((function.op.size, 3), np.int32)
    operands[:, 0], operands[:, 1] = function.a, function.b
    left = _uses(op, operands, function.output).tolist()
    product = (op == MUL).tolist()
    for row in np.flatnonzero((op == ADD) | (op == SUB)).tolist():
        a, b, _ = operands[row].tolist()
        for factors, term, fused in ((b, a, SUBMUL), (a, b, MULSUB)):
            if product[factors] and left[factors] == 1:
                operands[row] = *operands[factors, :2], term
                op[row] = fused if op[row] == SUB else MULADD
                left[factors] = 0
                break
    keep = np.flatnonzero((op <= INPUT) | (np.array(left) > 0))
    return _renumbered(Instructions(op, operands, function.value, function.output, function.sign), keep)


def schedule(code: Instructions, window: int = WINDOW) -> Instructions:
    """Rows in runs of one operation; none overtakes a row more than a window before it.

    An interpreter that looks at the operation once for each run jumps less often: list scheduling that stays
    with an operation while a row of it is ready.
    """
    op, first = code.op.tolist(), code.first
    operands, count = code.operands.tolist(), operand_count(code.op).tolist()
    waiting = [0] * len(op)
    users: list[list[int]] = [[] for _ in op]
    for row in range(first, len(op)):
        for operand in set(operands[row][: count[row]]):
            if operand >= first:
                users[operand].append(row)
                waiting[row] += 1
    ready: dict[int, list[int]] = {}
    for row in range(first, len(op)):
        if not waiting[row]:
            heappush(ready.setdefault(op[row], []), row)
    order, done, oldest, now = list(range(first)), [False] * len(op), first, -1
    while len(order) < len(op):
        while done[oldest]:
            oldest += 1
        if not ready.get(now) or ready[now][0] > oldest + window:
            near = {kind: sum(row <= oldest + window for row in rows) for kind, rows in ready.items()}
            now = max(near, key=near.get)
        row = heappop(ready[now])
        order.append(row)
        done[row] = True
        for user in users[row]:
            waiting[user] -= 1
            if not waiting[user]:
                heappush(ready.setdefault(op[user], []), user)
    return _renumbered(code, np.array(order))


def allocate(code: Instructions) -> tuple[np.ndarray, int]:
    """Slot of every row, and how many there are: a slot is taken again after the last use of its row.

    Numbers keep the first slots, inputs start in the next ones; results keep theirs.
    """
    first, numbers = code.first, int(np.count_nonzero(code.op == CONST))
    size = code.op.size
    last = np.full(size, -1)
    count = operand_count(code.op)
    for k in range(3):
        rows = np.flatnonzero(count > k)
        np.maximum.at(last, code.operands[rows, k], rows)
    last[code.output] = size
    last[:numbers] = size
    ends: list[list[int]] = [[] for _ in range(size + 1)]
    for row, end in enumerate(last.tolist()):
        ends[end if end >= 0 else row].append(row)
    slot, free, total = list(range(first)), [], first
    for row in range(first, size):
        free += [slot[dead] for dead in ends[row] if dead < row]
        if free:
            slot.append(free.pop())
        else:
            slot.append(total)
            total += 1
    return np.array(slot, np.int32), total


def inlined(function) -> np.ndarray:
    """Which rows a printer can write into their only use: not results, sines, cosines or reciprocals."""
    used = uses(function)
    used[function.output] = 0
    return (used == 1) & (function.op >= ADD) & (function.op <= MUL)


def uses(function) -> np.ndarray:
    """How many operands and results of a function are that row."""
    operands = np.stack([function.a, function.b, np.zeros_like(function.a)], axis=1)
    return _uses(function.op, operands, function.output)


def _uses(op, operands, output) -> np.ndarray:
    count = operand_count(op)
    used = [operands[count > k, k] for k in range(3)]
    return np.bincount(np.concatenate([*used, output]), minlength=op.size)


def _renumbered(code: Instructions, rows: np.ndarray) -> Instructions:
    """The given rows, in that order."""
    number = np.zeros(code.op.size, np.int32)
    number[rows] = np.arange(rows.size)
    op, operands = code.op[rows], code.operands[rows]
    is_row = np.arange(3) < operand_count(op)[:, None]
    operands = np.where(is_row, number[np.where(is_row, operands, 0)], operands)
    return replace(code, op=op, operands=operands, value=code.value[rows], output=number[code.output])
