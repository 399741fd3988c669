"""Split programs into blocks that compile fast, and allocate workspace slots for values between blocks.

Compile time grows faster than the length of a function: a program of more than `LIMIT` steps is split into
blocks of about `SIZE` steps; slots of the workspace are reused.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

import numpy as np

from .expressions import ADD, is_binary, is_trig

LIMIT, SIZE = 3000, 1500
FEW = 2 / 3  # part of the live values at which another order is worth its longer waits


@dataclass(frozen=True)
class Trig:
    """Step that computes sines and cosines (statements `rows`) of several angles at once."""

    rows: tuple[int, ...]
    angles: tuple[int, ...]


@dataclass(frozen=True)
class Block:
    """Consecutive steps of a `Function`.

    Attributes
    ----------
    steps : list of int or Trig
        Statements, and groups of sines and cosines.
    kept : dict of int to int
        Workspace slots of statements that later blocks need.
    taken : dict of int to int
        Workspace slots of statements of earlier blocks.
    outputs : list of int
        Entries of the result that this block completes.
    """

    steps: list
    kept: dict[int, int] = field(default_factory=dict)
    taken: dict[int, int] = field(default_factory=dict)
    outputs: list[int] = field(default_factory=list)


def steps(function) -> list:
    """Order statements so that sines and cosines of one depth are computed at once, after their angles."""
    op, a, b = (column.tolist() for column in (function.op, function.a, function.b))
    level = [0] * len(op)  # most nested sines and cosines below a statement
    for row in range(function.first, len(op)):
        level[row] = max(level[a[row]], level[b[row]] if is_binary(op[row]) else 0) + is_trig(op[row])
    done = [operation < ADD for operation in op]
    order: list = []
    for depth in range(1, max(level, default=0) + 1):
        rows = [row for row in range(function.first, len(op)) if is_trig(op[row]) and level[row] == depth]
        angles = sorted({a[row] for row in rows})
        needed = set(angles)
        for row in reversed(range(function.first, max(angles) + 1)):
            if row in needed and not done[row]:
                needed.update((a[row], b[row]) if is_binary(op[row]) else (a[row],))
        order += [row for row in sorted(needed) if not done[row]]
        order.append(Trig(tuple(rows), tuple(angles)))
        for row in (*needed, *rows):
            done[row] = True
    rest = [row for row in range(len(op)) if not done[row]]
    late = _depth_first(function, rest)
    few = _most_live(function, order + late) < FEW * _most_live(function, order + rest)
    return order + (late if few else rest)


def _depth_first(function, rows: list[int]) -> list[int]:
    """Order statements so that each follows what it alone needs: limb by limb, the longer operand first."""
    depth = dict.fromkeys(rows, 0)
    operands: dict[int, list[int]] = {}
    for row, used in zip(rows, _operands(function, rows), strict=True):
        operands[row] = sorted({x for x in used if x in depth}, key=depth.__getitem__)
        depth[row] = 1 + max(map(depth.__getitem__, operands[row]), default=0)
    order: dict[int, None] = {}
    for output in function.output.tolist():
        waiting = [output] if output in depth else []
        while waiting:
            missing = [x for x in operands[waiting[-1]] if x not in order]
            if missing:
                waiting += missing
            else:
                order[waiting.pop()] = None
    return list(order)


def _operands(function, order: list) -> list[tuple[int, ...]]:
    """Return the statements that each step uses."""
    op, a, b = (column.tolist() for column in (function.op, function.a, function.b))
    return [
        step.angles if isinstance(step, Trig) else (a[step], b[step]) if is_binary(op[step]) else (a[step],)
        for step in order
    ]


def _most_live(function, order: list) -> int:
    """Return how many results of steps are needed later at the same time, at most."""
    changes = [0] * (len(order) + 1)
    made: dict[int, int] = {}
    last: dict[int, int] = {}
    for k, (step, used) in enumerate(zip(order, _operands(function, order), strict=True)):
        made.update(dict.fromkeys(step.rows if isinstance(step, Trig) else (step,), k))
        last.update(dict.fromkeys(used, k))
    for row, k in made.items():
        changes[k] += 1
        changes[last.get(row, k)] -= 1
    return max(accumulate(changes))


def split_into_blocks(function) -> tuple[list[Block], int]:
    """Return the blocks of a function and the number of workspace slots."""
    order = steps(function)
    count = 1 if len(order) <= LIMIT else -(-len(order) // SIZE)
    cuts = [len(order) * k // count for k in range(count + 1)]
    blocks = [Block(order[start:stop]) for start, stop in pairwise(cuts)]
    made = np.full(function.rows, -1)  # block of every statement, -1 for constants and inputs
    for k, block in enumerate(blocks):
        for step in block.steps:
            made[list(step.rows) if isinstance(step, Trig) else step] = k
    for entry, row in enumerate(function.output.tolist()):
        blocks[made[row]].outputs.append(entry)
    return blocks, _allocate(function, blocks, made)


def _allocate(function, blocks: list[Block], made: np.ndarray) -> int:
    """Allocate slots for statements used in later blocks, reusing free ones; return the number of slots."""
    computed, binary = function.op >= ADD, is_binary(function.op)
    last = made.copy()  # last block that uses a statement
    np.maximum.at(last, function.a[computed], made[computed])
    np.maximum.at(last, function.b[binary], made[binary])
    live: dict[int, int] = {}
    free: list[int] = []
    slots = 0
    for k, block in enumerate(blocks):
        block.taken.update(live)
        for row in np.flatnonzero((made == k) & (last > k)).tolist():
            if not free:
                heapq.heappush(free, slots)
                slots += 1
            live[row] = block.kept[row] = heapq.heappop(free)
        for row in [row for row in live if last[row] == k]:
            heapq.heappush(free, live.pop(row))
    return slots
