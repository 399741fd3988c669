"""Pair the statements of equal limbs: legs, arms or fingers that hang from one body and have equal trees.

Statements of equal limbs differ in constants and signs only: a register can hold one value of every limb. Any
pairing is valid, as every limb keeps its statements; a better one needs fewer moves between registers.
"""

from __future__ import annotations

from collections import defaultdict

from .expressions import ADD, ATAN2, CONST, INPUT, MUL, RECIP, SQRT, SUB, operands

TRUNK, MANY = (-1, -1), 8  # owner of statements of no limb or of several; most limbs of a group
ALONE = (SQRT, ATAN2)  # operations that registers do not have


def limbs_of(parent) -> list[list[list[int]]]:
    """Return groups of limbs: subtrees of one shape and parent, as freedoms in corresponding order."""
    children: dict[int, list[int]] = defaultdict(list)
    for k, p in enumerate(parent):
        children[p].append(k)
    shapes: dict[int, tuple] = {}
    for k in reversed(range(len(parent))):
        shapes[k] = tuple(sorted(shapes[child] for child in children[k]))
    groups, pending = [], [-1]
    for k in pending:
        alike: dict[tuple, list[int]] = defaultdict(list)
        for child in children[k]:
            alike[shapes[child]].append(child)
        for siblings in alike.values():
            if 1 < len(siblings) <= MANY:
                groups.append([_subtree(child, children, shapes) for child in siblings])
            else:
                pending += siblings
    return groups


def _subtree(root: int, children, shapes) -> list[int]:
    """Return the freedoms of a subtree; equal shapes have corresponding orders."""
    freedoms, pending = [], [root]
    while pending:
        freedoms.append(pending.pop())
        pending += sorted(children[freedoms[-1]], key=lambda child: (shapes[child], child))
    return freedoms


def pairs(function, groups, shift: int) -> list[tuple[int, ...]]:
    """Return packs: statements or inputs, one of every limb of a group, which have corresponding operands.

    Parameters
    ----------
    function : Function
    groups : sequence of limbs
        See `limbs_of`.
    shift : int
        Entries that q has before those of a limb more than v.
    """
    finder = _Finder(function, groups, shift)
    for level in finder.levels():
        finder.pair(level)
    return finder.packs


class _Finder:
    """Searches pairs of statements level by level; two of one level do not depend on each other."""

    def __init__(self, function, groups, shift: int):
        self.op, self.a, self.b = (column.tolist() for column in (function.op, function.a, function.b))
        self.value, self.groups = function.value.tolist(), groups
        self.place = {
            freedom: (g, l, j)
            for g, limbs in enumerate(groups)
            for l, limb in enumerate(limbs)
            for j, freedom in enumerate(limb)
        }
        self.shifts = [shift if name == "q" else 0 for name, _ in function.inputs]
        self.packs: list[tuple[int, ...]] = []
        self.numbers: dict[int, int] = {}
        self.owner, self.alike, self.depth = [TRUNK] * len(self.op), [0] * len(self.op), [0] * len(self.op)
        for row in range(len(self.op)):
            self._describe(row)

    def _describe(self, row: int) -> None:
        """Find the limb, the depth, and a hash of a statement that constants and signs do not change."""
        if self.op[row] == INPUT:
            place = self.place.get(self.b[row] - self.shifts[self.a[row]])
            if place:
                self.owner[row] = place[:2]
            self.alike[row] = hash((INPUT, self.a[row], self.b[row] if place is None else place[::2]))
        for x in operands(self.op, self.a, self.b, row):
            self.depth[row] = max(self.depth[row], 1 + self.depth[x])
        owners = {self.owner[x] for x in operands(self.op, self.a, self.b, row)} - {TRUNK}
        if len(owners) == 1:
            (self.owner[row],) = owners
        if self.op[row] > INPUT:
            known = [self.alike[x] for x in operands(self.op, self.a, self.b, row)]
            self.alike[row] = hash(self._key(row, known))

    def _key(self, row: int, known: list) -> tuple:
        """Return what statements of a pack have in common, given that of their operands."""
        op = self.op[row]
        if op == RECIP:
            return (op, self.b[row] != 0, *known)
        return (ADD if op == SUB else op, *(sorted(known) if op <= MUL else known))

    def levels(self) -> list[list[int]]:
        """Return the statements and inputs of limbs by depth."""
        levels: dict[int, list[int]] = defaultdict(list)
        for row in range(len(self.op)):
            if self.owner[row] != TRUNK and self.op[row] not in ALONE:
                levels[self.depth[row]].append(row)
        return [levels[depth] for depth in sorted(levels)]

    def pair(self, rows: list[int]) -> None:
        """Pair statements of one level: in the order of their constants, then of the statements."""
        alike: dict[tuple, dict[int, list]] = defaultdict(lambda: defaultdict(list))
        for row in rows:
            group, limb = self.owner[row]
            read = operands(self.op, self.a, self.b, row)
            key = self._key(row, [self._known(x) for x in read]) if read else (INPUT, self.alike[row])
            alike[(group, *key)][limb].append(([self.value[x] for x in read if self.op[x] == CONST], row))
        for (group, *_), limbs in alike.items():
            if len(limbs) == len(self.groups[group]):
                columns = [[row for _, row in sorted(limbs[limb])] for limb in range(len(limbs))]
                for pack in zip(*columns, strict=False):
                    self.numbers.update(dict.fromkeys(pack, len(self.packs)))
                    self.packs.append(pack)

    def _known(self, row: int) -> tuple[int, int]:
        """Return what an operand shares with those of other limbs: its pack, or its form in the trunk."""
        if self.op[row] == CONST:
            return 0, 0
        if row in self.numbers:
            return 1, self.numbers[row]
        return (2, self.alike[row]) if self.owner[row] == TRUNK else (3, row)
