"""Write the statements of a function for one configuration, with equal limbs side by side in registers.

A register may hold the negative of a value in some lanes, as limbs that mirror each other differ in signs.
The writer knows the signs of lanes, moves them through products, and lets constants take them up.
"""

from __future__ import annotations

import textwrap

from .expressions import ADD, CONST, COS, INPUT, MUL, RECIP, SQRT, SUB
from .units import Units

COLUMNS = 100
SHARE = 0.2  # cycles that a statement adds to a chain that it is no part of, about
TYPES = {2: "two", 4: "four", 8: "eight"}  # C types of registers, by lanes
POSITIVE, NEGATIVE = "0.0, INFINITY", "-INFINITY, 0.0"  # bounds of pivots

Rows = tuple[int, ...]  # statements in the lanes of a register
Signs = tuple[int, ...]  # sign of every lane, 1 or -1


def lanes_of(rows) -> int:
    """Return the lanes of the register for values of so many limbs; those beyond repeat the last one."""
    return next(lanes for lanes in TYPES if lanes >= len(rows))


def times(s: Signs, t: Signs) -> Signs:
    """Return the products of signs."""
    return tuple(x * y for x, y in zip(s, t, strict=True))


def register(values) -> str:
    """Return the text of a register of numbers or texts."""
    lanes = lanes_of(values)
    texts = [*map(str, values), *[str(values[-1])] * (lanes - len(values))]
    return f"({TYPES[lanes]}){{{', '.join(texts)}}}"


class Single:
    """Writes C statements.

    Parameters
    ----------
    function : Function
    packs : sequence of tuple of int
        Statements that are computed together, see `limbs.pairs`.

    Attributes
    ----------
    lines : list of str
    widest : int
        Lanes of the widest register, 1 without packs.
    cycles : float
        Estimated time.
    """

    def __init__(self, function, packs):
        self.plan = Units(function, packs)
        self.op, self.a, self.b = self.plan.op, self.plan.a, self.plan.b
        self.value, self.places = function.value.tolist(), function.places
        self.sign: dict[int, Signs] = {}  # of the lanes of packs, by unit
        self.names: dict[tuple, str] = {}  # variables that were defined where they were first used
        self.lines: list[str] = []
        self.widest = max((lanes_of(unit.rows) for unit in self.plan.units if len(unit.rows) > 1), default=1)
        for step in self._steps():
            if isinstance(step, list):
                self.sincos(step)
            else:
                self.define(step)
        for entry, row in enumerate(function.output.tolist()):
            text, sign = self.scalar(row)
            self.lines.append(f"out[{entry}] = {'-' if sign * function.sign[entry] < 0 else ''}{text};")
        self.cycles = self.plan.cycles + SHARE * len(self.lines)

    def _steps(self) -> list:
        """Return the units in order; all sines and cosines of one depth are one step, a list of units."""
        units, order = self.plan.units, self.plan.ordered()
        depth: dict[int, int] = {}  # most nested sines and cosines below a unit
        for k in order:
            depth[k] = max((depth[x] for x in units[k].before), default=0) + self.plan.is_trig(k)
        steps: list = []
        done: set[int] = set()
        for level in range(1, max(depth.values(), default=0) + 1):
            together = [k for k in order if self.plan.is_trig(k) and depth[k] == level]
            pending, needed = [x for k in together for x in units[k].before], set()
            while pending:
                k = pending.pop()
                if k not in needed | done:
                    needed.add(k)
                    pending += units[k].before
            steps += [*(k for k in order if k in needed), together]
            done |= needed | set(together)
        return steps + [k for k in order if k not in done]

    def define(self, k: int) -> None:
        """Write the statement of a unit."""
        rows = self.plan.units[k].rows
        if len(rows) == 1:
            self.lines.append(f"const real t{rows[0]} = {self.expression(rows[0])};")
        else:
            text, self.sign[k] = self.packed(rows)
            self.lines.append(f"const {TYPES[lanes_of(rows)]} p{k} = {text};")

    def named(self, key: tuple, name: str, kind: str, text: str) -> str:
        """Return a variable that holds the value of a text; defines it when it is first used."""
        if key not in self.names:
            self.names[key] = name
            self.lines.append(f"const {kind} {name} = {text};")
        return self.names[key]

    # one value

    def scalar(self, row: int) -> tuple[str, int]:
        """Return the text of a value, and the sign to multiply it by."""
        if self.op[row] == CONST:
            return repr(self.value[row]), 1
        if self.op[row] == INPUT:
            letter, at = self.places[self.a[row]]
            return f"{letter}[{at + self.b[row]}]", 1
        unit = self.plan.of[row]
        rows = self.plan.units[unit].rows
        if len(rows) == 1:
            return f"t{row}", 1
        lane = rows.index(row)
        return self.named((row,), f"t{row}", "real", f"p{unit}[{lane}]"), self.sign[unit][lane]

    def signed(self, row: int) -> str:
        """Return the text of a value with its sign."""
        text, sign = self.scalar(row)
        return text if sign > 0 else f"-{text}"

    def expression(self, row: int) -> str:
        """Return the text of a statement; products that are part of a sum are in it."""
        op = self.op[row]
        if op == MUL:
            text, sign = self.factors(row)
            return text if sign > 0 else f"-({text})"
        if op in (ADD, SUB):
            (left, s), (right, t) = self.term(self.a[row]), self.term(self.b[row])
            t = t if op == ADD else -t
            if s < 0 < t:
                (left, s), (right, t) = (right, t), (left, s)
            return f"{left if s > 0 else f'-({left})'} {'+' if t > 0 else '-'} {right}"
        if op == RECIP and self.b[row]:
            return f"reciprocal({self.signed(self.a[row])}, {POSITIVE if self.b[row] > 0 else NEGATIVE})"
        if op == RECIP:
            return f"1.0 / {self.signed(self.a[row])}"
        if op == SQRT:
            return f"root({self.signed(self.a[row])})"
        return f"arctangent({self.signed(self.a[row])}, {self.signed(self.b[row])})"

    def factors(self, row: int) -> tuple[str, int]:
        """Return the text of a product, and the sign to multiply it by."""
        (left, s), (right, t) = self.scalar(self.a[row]), self.scalar(self.b[row])
        return f"{left} * {right}", s * t

    def term(self, row: int) -> tuple[str, int]:
        """Return the text of a term of a sum, and the sign to multiply it by."""
        return self.factors(row) if self.plan.of.get(row) in self.plan.part_of else self.scalar(row)

    # values of all limbs

    def is_constant(self, rows: Rows) -> bool:
        """Return whether the lanes of a register are constants."""
        return all(self.op[row] == CONST for row in rows)

    def pack(self, rows: Rows) -> int | None:
        """Return the unit that computes just these values together."""
        unit = self.plan.of.get(rows[0])
        return unit if unit is not None and self.plan.units[unit].rows == rows else None

    def lanes(self, rows: Rows) -> tuple[str, Signs]:
        """Return the text of a register that holds values, and the signs to multiply its lanes by."""
        unit, positive = self.pack(rows), (1,) * len(rows)
        if unit is not None:
            return f"p{unit}", self.sign[unit]
        if self.is_constant(rows):
            return register([self.value[row] for row in rows]), positive
        if rows not in self.names:
            text = register([self.signed(row) for row in rows])
            self.named(rows, f"r{len(self.names)}", TYPES[lanes_of(rows)], text)
        return self.names[rows], positive

    def turned(self, rows: Rows, mask: Signs) -> tuple[str, Signs]:
        """Return the same as `lanes` with the signs of the lanes multiplied by a mask."""
        text, sign = self.lanes(rows)
        if self.is_constant(rows):
            text = register([self.value[row] * s for row, s in zip(rows, mask, strict=True)])
        elif min(mask) < 0:
            kind = TYPES[lanes_of(rows)]
            expression = f"turned_{kind}({text}, {register([0.0 * s for s in mask])})"
            text = self.named((text, mask), f"n{len(self.names)}", kind, expression)
        return text, times(sign, mask)

    def packed(self, rows: Rows) -> tuple[str, Signs]:
        """Return the text of a pack, and the signs to multiply its lanes by."""
        op = self.op[rows[0]]
        if op == MUL:
            (left, _), (right, _) = self.sides(rows)
            return self.product(left, right, (1,) * len(rows))
        if op in (ADD, SUB):
            return self.sum(*self.sides(rows))
        text, sign = self.lanes(tuple(self.a[row] for row in rows))
        if not self.b[rows[0]]:
            return f"1.0 / {text}", sign
        bounds = [(POSITIVE if self.b[row] * s > 0 else NEGATIVE) for row, s in zip(rows, sign, strict=True)]
        low, high = (register(side) for side in zip(*(pair.split(", ") for pair in bounds), strict=True))
        return f"reciprocal_{TYPES[lanes_of(rows)]}({text}, {low}, {high})", sign

    def sides(self, rows: Rows) -> list[tuple[Rows, Signs]]:
        """Return the operands of a pack, left and right in all lanes, with their signs in sums."""
        first = self._source(self.a[rows[0]]), self._source(self.b[rows[0]])
        left, right = [], []
        for row in rows:
            a, b = (self.a[row], 1), (self.b[row], -1 if self.op[row] == SUB else 1)
            sources = self._source(a[0]), self._source(b[0])
            if sources != first and sources[::-1] == first:
                a, b = b, a
            left.append(a)
            right.append(b)
        (x, s), (y, t) = zip(*left, strict=True), zip(*right, strict=True)
        return [(x, s), (y, t)]

    def _source(self, row: int) -> int:
        """Return the unit of a pack, -1 for constants, -2 for other values."""
        if self.op[row] == CONST:
            return -1
        unit = self.plan.of.get(row)
        return unit if unit is not None and len(self.plan.units[unit].rows) > 1 else -2

    def product(self, left: Rows, right: Rows, mask: Signs) -> tuple[str, Signs]:
        """Return text and signs of a product, the signs multiplied by a mask, which a constant takes up."""
        if self.is_constant(right):
            left, right = right, left
        (x, s), (y, t) = self.turned(left, mask), self.lanes(right)
        return f"{x} * {y}", times(s, t)

    def part(self, rows: Rows, mask: Signs) -> tuple[str, Signs]:
        """Return text and signs of a term of a sum, the latter multiplied by a mask."""
        if self.pack(rows) not in self.plan.part_of:
            return self.turned(rows, mask)
        (left, _), (right, _) = self.sides(rows)
        return self.product(left, right, mask)

    def is_free(self, rows: Rows) -> bool:
        """Return whether signs of a term change without an operation, as it or a factor is constant."""
        if self.pack(rows) in self.plan.part_of:
            return any(self.is_constant(side) for side, _ in self.sides(rows))
        return self.is_constant(rows)

    def sum(self, left: tuple[Rows, Signs], right: tuple[Rows, Signs]) -> tuple[str, Signs]:
        """Return text and signs of a sum; changes signs of lanes of a term where lanes add and subtract."""
        positive = (1,) * len(left[0])
        (x, s), (y, t) = self.part(left[0], positive), self.part(right[0], positive)
        s, t = times(s, left[1]), times(t, right[1])
        relative = times(s, t)
        joined = "+" if sum(relative) >= 0 else "-"
        mask = relative if joined == "+" else tuple(-r for r in relative)
        if min(mask) > 0:
            return f"{x} {joined} {y}", s
        if self.is_free(left[0]) and not self.is_free(right[0]):
            return f"{self.part(left[0], mask)[0]} {joined} {y}", times(s, mask)
        return f"{x} {joined} {self.part(right[0], mask)[0]}", s

    def sincos(self, units: list[int]) -> None:
        """Write one call for sines and cosines; the angles of a pack are adjacent."""
        angles: list[int] = []
        at: dict[Rows, int] = {}
        for k in sorted(units, key=lambda k: -len(self.plan.units[k].rows)):
            of = tuple(self.a[row] for row in self.plan.units[k].rows)
            if of not in at:
                at[of] = len(angles) if len(of) > 1 or of[0] not in angles else angles.index(of[0])
                if at[of] == len(angles):
                    angles += [*of, *[of[-1]] * (lanes_of(of) - len(of) if len(of) > 1 else 0)]
        angle, sine, cosine = (f"{name}{angles[0]}" for name in ("angle", "sine", "cosine"))
        texts = [*map(self.signed, angles), *["0.0"] * (-len(angles) % 8)]
        eights = ", ".join(f"EIGHT({', '.join(texts[k : k + 8])})" for k in range(0, len(texts), 8))
        n = len(texts) // 8
        self.lines += [
            f"const tf_V {angle}[EIGHTS({n})] = {{",
            *(f"    {line}" for line in textwrap.wrap(eights, COLUMNS)),
            "};",
            f"tf_V {sine}[EIGHTS({n})], {cosine}[EIGHTS({n})];",
            f"sincos_eights({n}, {angle}, {sine}, {cosine});",
        ]
        for k in units:
            rows = self.plan.units[k].rows
            place = at[tuple(self.a[row] for row in rows)]
            of = cosine if self.op[rows[0]] == COS else sine
            if len(rows) == 1:
                self.lines.append(f"const real t{rows[0]} = entry({of}, {place});")
            else:
                kind, self.sign[k] = TYPES[lanes_of(rows)], (1,) * len(rows)
                self.lines.append(f"const {kind} p{k} = load_{kind}({of}, {place});")
