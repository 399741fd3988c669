"""Programs cut into blocks that a compiler digests, and the values that pass from one to the next.

The time a compiler takes grows faster than the length of a function: above `LIMIT` steps there are several
of about `SIZE`, and a workspace whose slots are used again.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from .expressions import ADD, MUL, SIN

LIMIT, SIZE = 3000, 1500


@dataclass(frozen=True)
class Trig:
    """Rows that are sines and cosines, and the angles they are of, all taken at once."""

    rows: tuple[int, ...]
    angles: tuple[int, ...]


@dataclass(frozen=True)
class Block:
    """Steps of a `Function`, one after the other.

    Attributes
    ----------
    steps : list of int or Trig
        Rows, and sines and cosines.
    kept : dict of int to int
        Slots of the workspace for rows that later blocks need.
    taken : dict of int to int
        Slots in which rows of earlier blocks are.
    outputs : list of int
        Entries of the result that are known after it.
    """

    steps: list
    kept: dict[int, int] = field(default_factory=dict)
    taken: dict[int, int] = field(default_factory=dict)
    outputs: list[int] = field(default_factory=list)


def steps(function) -> list:
    """Rows in order, all sines and cosines at once as soon as the rows of their angles are there."""
    op, a, b = (column.tolist() for column in (function.op, function.a, function.b))
    level = [0] * len(op)  # sines and cosines on the way to a row
    for row in range(function.first, len(op)):
        level[row] = max(level[a[row]], level[b[row]] if op[row] <= MUL else 0) + (op[row] >= SIN)
    done = [operation < ADD for operation in op]
    found: list = []
    for depth in range(1, max(level, default=0) + 1):
        rows = [row for row in range(function.first, len(op)) if op[row] >= SIN and level[row] == depth]
        angles = sorted({a[row] for row in rows})
        needed = set(angles)
        for row in reversed(range(function.first, max(angles) + 1)):
            if row in needed and not done[row]:
                needed.update((a[row], b[row]) if op[row] <= MUL else (a[row],))
        found += [row for row in sorted(needed) if not done[row]]
        found.append(Trig(tuple(rows), tuple(angles)))
        for row in (*needed, *rows):
            done[row] = True
    return found + [row for row in range(len(op)) if not done[row]]


def blocks(function) -> tuple[list[Block], int]:
    """Blocks of a function, and the slots of the workspace between them."""
    order = steps(function)
    count = 1 if len(order) <= LIMIT else -(-len(order) // SIZE)
    cuts = [len(order) * k // count for k in range(count + 1)]
    found = [Block(order[start:stop]) for start, stop in pairwise(cuts)]
    made = np.full(function.rows, -1)  # block of every row, none for numbers and inputs
    for k, block in enumerate(found):
        for step in block.steps:
            made[list(step.rows) if isinstance(step, Trig) else step] = k
    for entry, row in enumerate(function.output.tolist()):
        found[made[row]].outputs.append(entry)
    return found, _allot(function, found, made)


def _allot(function, found: list[Block], made: np.ndarray) -> int:
    """Give slots to rows that pass between blocks, free ones again; returns how many there are."""
    computed, binary = function.op >= ADD, (function.op >= ADD) & (function.op <= MUL)
    last = made.copy()  # block that uses a row last
    np.maximum.at(last, function.a[computed], made[computed])
    np.maximum.at(last, function.b[binary], made[binary])
    live: dict[int, int] = {}
    free: list[int] = []
    slots = 0
    for k, block in enumerate(found):
        block.taken.update(live)
        for row in np.flatnonzero((made == k) & (last > k)).tolist():
            if not free:
                heapq.heappush(free, slots)
                slots += 1
            live[row] = block.kept[row] = heapq.heappop(free)
        for row in [row for row in live if last[row] == k]:
            heapq.heappush(free, live.pop(row))
    return slots
