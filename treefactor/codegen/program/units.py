"""Order the statements of one configuration so that no long chain of them starts late.

The processor computes independent statements at once, if they are close enough in the code.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from . import passes
from .expressions import ADD, ATAN2, COS, MUL, RECIP, SIN, SQRT, SUB, is_trig, operands

LATENCY = {ADD: 3, SUB: 3, MUL: 3, RECIP: 15, SQRT: 20, ATAN2: 80, SIN: 70, COS: 70}  # cycles, about
FUSED, MOVE = 4, 4  # cycles of a multiplication with addition, and of a move between lanes
PORTS = 2  # products that start in one cycle, and sums
FEW = 1000  # most units of a short function
NEAR, FAR = 64, 512  # how far before their turn units may start, in long functions and in short ones


@dataclass
class Unit:
    """Statements that are computed together.

    Attributes
    ----------
    rows : tuple of int
        One statement, or one of every limb of a group.
    before : set of int
        Units that compute the operands, also those of products that are part of it.
    latency, height : int
        Cycles of the unit, and of the longest chain from it to a result.
    """

    rows: tuple[int, ...]
    before: set[int] = field(default_factory=set)
    latency: int = 0
    height: int = 0


class Units:
    """All units of a function.

    Parameters
    ----------
    function : Function
    packs : sequence of tuple of int
        Statements of limbs that are computed together, see `limbs.pairs`.

    Attributes
    ----------
    of : dict of int to int
        Unit of every statement that is neither constant nor input.
    part_of : dict of int to int
        For units of products that one sum uses: the unit of the sum, which computes them.
    cycles : int
        That `ordered` has simulated.
    """

    cycles = 0

    def __init__(self, function, packs):
        self.op, self.a, self.b = (column.tolist() for column in (function.op, function.a, function.b))
        self.units: list[Unit] = []
        self.of: dict[int, int] = {}
        pack_of = {row: pack for pack in packs for row in pack}
        for row in range(function.first, len(self.op)):
            if row not in self.of:
                pack = pack_of.get(row, (row,))
                self.of.update(dict.fromkeys(pack, len(self.units)))
                self.units.append(Unit(pack))
        self.part_of = self._products(passes.uses(function).tolist())
        self._connect()

    def _products(self, uses) -> dict[int, int]:
        """Return the units of products that one sum uses, and its unit: compilers fuse them."""
        products = {}
        for k, unit in enumerate(self.units):
            first = unit.rows[0]
            for x in (self.a[first], self.b[first]) if self.op[first] in (ADD, SUB) else ():
                rows = self.units[self.of[x]].rows if x in self.of else ()
                if len(rows) == len(unit.rows) and self.op[x] == MUL:
                    used = zip(rows, unit.rows, strict=True)
                    if all(uses[x] == 1 and x in (self.a[row], self.b[row]) for x, row in used):
                        products[self.of[x]] = k
        return products

    def _connect(self) -> None:
        """Set latencies of units and which come before each."""
        fused = set(self.part_of.values())
        for k, unit in enumerate(self.units):
            unit.latency = FUSED if k in fused else LATENCY[self.op[unit.rows[0]]]
            whole = self.part_of.get(k, k)
            read = {x for row in unit.rows for x in operands(self.op, self.a, self.b, row) if x in self.of}
            self.units[whole].before |= {self.of[x] for x in read} - {whole}
        for k, whole in self.part_of.items():
            self.units[whole].before.discard(k)

    def is_trig(self, k: int) -> bool:
        """Return whether a unit is of sines or cosines."""
        return bool(is_trig(self.op[self.units[k].rows[0]]))

    def ordered(self) -> list[int]:
        """Return the units in an order that starts long chains early, each unit after its operands."""
        chosen = [k for k in range(len(self.units)) if k not in self.part_of]
        after: dict[int, list[int]] = {k: [] for k in chosen}
        for k in chosen:
            for x in self.units[k].before:
                after[x].append(k)
        plain = self._plain(chosen, after)
        for k in reversed(plain):
            unit = self.units[k]
            rest = (self.units[x].height + self._move(k, x) for x in after[k])
            unit.height = unit.latency + max(rest, default=0)
        return self._simulated(plain, after)

    def _move(self, k: int, after: int) -> int:
        """Return the cycles that values take from one unit to another."""
        return MOVE * (len(self.units[k].rows) != len(self.units[after].rows))

    def _plain(self, chosen, after) -> list[int]:
        """Order units by their first statements, as far as operands allow."""
        left = {k: len(self.units[k].before) for k in chosen}
        ready = [(min(self.units[k].rows), k) for k in chosen if not left[k]]
        heapq.heapify(ready)
        order = []
        while ready:
            order.append(heapq.heappop(ready)[1])
            for x in after[order[-1]]:
                left[x] -= 1
                if not left[x]:
                    heapq.heappush(ready, (min(self.units[x].rows), x))
        return order

    def _simulated(self, plain: list[int], after) -> list[int]:
        """Return the order in which a processor starts units if it starts the longest chains first.

        Units far behind the first one that is left must wait: values that wait for others need registers.
        """
        window = FAR if len(plain) <= FEW else NEAR
        turn = {k: at for at, k in enumerate(plain)}
        left, start = {k: len(self.units[k].before) for k in plain}, dict.fromkeys(plain, 0)
        waiting = [(0, turn[k], k) for k in plain if not left[k]]  # three heaps: by cycle, by turn, by height
        early: list[tuple[int, int]] = []
        ready: list[tuple[int, int]] = []
        order: dict[int, None] = {}
        cycle = oldest = 0
        while len(order) < len(plain):
            while plain[oldest] in order:
                oldest += 1
            while waiting and waiting[0][0] <= cycle:
                heapq.heappush(early, heapq.heappop(waiting)[1:])
            while early and early[0][0] <= oldest + window:
                k = heapq.heappop(early)[1]
                heapq.heappush(ready, (-self.units[k].height, k))
            for k in self._started(ready):
                order[k] = None
                for x in after[k]:
                    start[x] = max(start[x], cycle + self.units[k].latency + self._move(k, x))
                    left[x] -= 1
                    if not left[x]:
                        heapq.heappush(waiting, (start[x], turn[x], x))
            cycle += 1
        self.cycles = cycle
        return list(order)

    def _started(self, ready: list[tuple[int, int]]) -> list[int]:
        """Take the units that start in one cycle from a heap of those that can."""
        free, started, kept = {True: PORTS, False: PORTS}, [], []
        while ready and any(free.values()):
            entry = heapq.heappop(ready)
            k = entry[1]
            sums = self.op[self.units[k].rows[0]] in (ADD, SUB) and self.units[k].latency < FUSED
            if free[sums]:
                free[sums] -= 1
                started.append(k)
            else:
                kept.append(entry)
        for entry in kept:
            heapq.heappush(ready, entry)
        return started
