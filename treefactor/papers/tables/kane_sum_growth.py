"""Execute the Kane-sum paper: lines 11 to 16 of table 1, figure 2 with its crossings, counts of forces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import numpy as np

from ..._util.counting import counting
from ...dynamics import chain_on_scalars as composite
from ...dynamics.chain import chain_forces
from ...tree.tree import OperationCount
from ..textbook import kane_sum, kosynka, stepanenko
from .sample_chains import chain, counted
from .table import Derived, Identity, PaperRow, Rule, Table

PAPER = "Kane-sum: recursive inertia matrix of a chain of bodies"
RECURSION, KOSYNKA, STEPANENKO = "Kane-sum recursion", "kosynka", "Stepanenko"
QUOTED = (KOSYNKA, STEPANENKO)  # methods whose counts the paper quotes without their lines
# coefficients of the polynomials in N of multiplications and of additions
Polynomials = tuple[tuple[float, ...], tuple[float, ...]]
LINES: dict[str, Polynomials] = {  # 11 to 13
    RECURSION: kane_sum.TOTAL,
    KOSYNKA: kosynka.QUOTED,
    STEPANENKO: stepanenko.QUOTED,
}
TOTALS = {  # 14 to 16
    RECURSION: (91.5, -136.5, 39),
    KOSYNKA: (14, 129, -59, 0),
    STEPANENKO: (69, 69, 0),
}
KNOWN = {  # coefficients of N^3, N^2, N and 1, as executed
    RECURSION: (0.0, 93.0, -75.0, 6.0),
    KOSYNKA: (2.0, 32.5, 18.5, 0.0),
    STEPANENKO: (0.0, 8.5, 147.5, -127.0),
}
MODULES = {RECURSION: kane_sum, KOSYNKA: kosynka, STEPANENKO: stepanenko}
FITTED = (2, 3, 4, 5)  # numbers of bodies from whose counts a polynomial of degree 3 follows
CHECKED = (8, 12)  # numbers of bodies on which the polynomial is checked
PLOTTED = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14)
RANGE = range(1, 61)  # bodies among which crossings are looked for
PRINTED_CROSSING = 9  # bodies from which Stepanenko's method is the cheaper one in figure 2
FORCES = (2, 6, 12, 24)

Cost = Callable[[int], float]


def totals() -> Table:
    """Compare lines 14 to 16 of table 1 with lines 11 to 13, and with polynomials of counts."""
    rows = []
    for number, (name, line) in enumerate(TOTALS.items(), start=14):
        sums = tuple(float(x) for x in np.polyadd(*LINES[name]))
        rows.append(
            PaperRow(f"line {number}", f"{name}, coefficients", sums, Derived(tuple(map(float, line))))
        )
    for name in TOTALS:
        terms = executed(name)
        ours, line = (tuple(map(float, x)) for x in (terms, np.pad(TOTALS[name], (4 - len(TOTALS[name]), 0))))
        known = KNOWN[name], DIFFERENT[name], name not in QUOTED
        rows.append(PaperRow("executed", f"{name}, coefficients", ours, line, *known))
        for n in CHECKED:
            apart = total(name, n) - float(np.polyval(terms, n))
            rows.append(
                PaperRow(f"N = {n}", f"{name}, count less that polynomial", round(apart, 6), Identity())
            )
    note = (
        "Lines 14 to 16 are the sums of multiplications and additions of lines 11 to 13: derived. Executed: "
        "the polynomial of degree 3 in N through the counts of chains of 2 to 5 bodies."
    )
    return Table(PAPER, "Table 1: lines 11 to 16", note, rows)


@cache
def total(name: str, n: int) -> int:
    """Count the operations of a method on a revolute chain."""
    return counted(MODULES[name], chain(n)).total


@cache
def executed(name: str) -> np.ndarray:
    """Return the polynomial of degree 3 through the counts of small chains, highest power first."""
    return np.polyfit(FITTED, [total(name, n) for n in FITTED], 3).round(6) + 0.0


def printed(name: str) -> Cost:
    """Return the paper's number of operations as a function of N."""
    return lambda n: float(np.polyval(TOTALS[name], n))


def as_run(name: str) -> Cost:
    """Return the counted number of operations as a function of N."""
    return lambda n: float(np.polyval(executed(name), n))


def crossing(first: Cost, second: Cost) -> int | str:
    """Return the N from which on the second function is not above the first, within RANGE."""
    above = [n for n in RANGE if second(n) > first(n)]
    if not above:
        return RANGE[0]
    return above[-1] + 1 if above[-1] < RANGE[-1] else "none"


def figure_2() -> Table:
    """Count the operations of the three methods against the number of bodies, and their crossings."""
    curves = {name: {n: point(name, n) for n in PLOTTED} for name in TOTALS}
    rows = [row for points in curves.values() for row in points.values()]
    pair = (RECURSION, STEPANENKO)
    rows += [
        PaperRow(
            *("polynomials", "N from which Stepanenko's method is cheaper"),
            *(crossing(*map(printed, pair)), Derived(PRINTED_CROSSING)),
        ),
        PaperRow(
            *("executed", "N from which Stepanenko's method is cheaper"),
            *(crossing(*map(as_run, pair)), PRINTED_CROSSING, 2, FEWER, False),
        ),
        PaperRow(
            *("polynomials", "N from which the recursion is cheaper than kosynka"),
            crossing(printed(KOSYNKA), printed(RECURSION)),
        ),
        PaperRow(
            *("executed", "N from which the recursion is cheaper than kosynka"),
            *(crossing(as_run(KOSYNKA), as_run(RECURSION)), crossing(printed(KOSYNKA), printed(RECURSION))),
            *(29, FEWER, False),
        ),
        *growths(),
    ]
    note = (
        "Paper: the polynomials of lines 14 to 16, which figure 2 draws; the text we have does "
        "not show the drawing. Ours: each method counted on "
        "counting scalars. With the printed polynomials Stepanenko's method is the cheaper one from N = 9 "
        "on; as executed, from N = 2."
    )
    return Table(PAPER, "Figure 2: operations against N", note, rows, curves=curves)


FEWER = (
    "the counts of kosynka and of Stepanenko's method are quoted without their lines; run in the base frame "
    "with composite bodies and triangular sums they take far fewer, and the recursion is cheapest only for "
    "one body and, beside kosynka, for long chains"
)


def point(name: str, n: int) -> PaperRow:
    """Compare one point of a curve."""
    known = round(as_run(name)(n))
    reason, is_explained = DIFFERENT[name], name not in QUOTED
    return PaperRow(f"N = {n}", name, total(name, n), int(printed(name)(n)), known, reason, is_explained)


DIFFERENT = {
    RECURSION: "the lines of table 1 that differ",
    KOSYNKA: "quoted from a dissertation without its lines",
    STEPANENKO: "counted by the paper without its lines",
}


def growths() -> list[PaperRow]:
    """Return how the counts grow when the chain is twice as long, beside the orders that the paper states."""
    rows = []
    for name, order in ((RECURSION, 2), (KOSYNKA, 3), (STEPANENKO, 2)):
        small, large = 12, 24
        grown = total(name, large) / total(name, small)
        rows.append(
            PaperRow("N from 12 to 24", f"{name}, of order N{'²³'[order - 2]}", grown, Rule(2.0**order))
        )
    return rows


def forces() -> Table:
    """Count the sums (17) to (21) of the force vector, as printed and with one running sum."""
    rows = []
    for n in FORCES:
        counts = {"as printed": printed_forces(n), "ours": own_forces(n)}
        for name, count in counts.items():
            rows.append(PaperRow(f"N = {n}", f"(17) to (21), {name}", count))
        rows.append(PaperRow(f"N = {n}", "b of both, and of chain_forces", apart(n), Identity(1e-11)))
    slopes = {
        name: np.log([count(b).total / count(a).total for a, b in pairwise(FORCES)])
        / np.log([b / a for a, b in pairwise(FORCES)])
        for name, count in (("as printed", printed_forces), ("ours", own_forces))
    }
    rows += [
        PaperRow("N from 12 to 24", f"exponent of N, {name}", float(slope[-1]))
        for name, slope in slopes.items()
    ]
    note = (
        "The paper counts no operations of b. As printed, (19) sums the moments of all outboard forces anew "
        "for every joint; ours adds r × F to one running sum. Forces and moments of the bodies, (11), are "
        "given; ours has 6 N additions of external and inertial ones among its own."
    )
    return Table(PAPER, "Equations (17) to (21): force vector", note, rows)


def loads(n: int) -> tuple[np.ndarray, ...]:
    """Return random forces, moments and torques of n bodies."""
    rng = np.random.default_rng(n + 1)
    return rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), rng.normal(size=n)


def printed_forces(n: int) -> OperationCount:
    """Count (17) to (21) as printed."""
    return _run_forces(n)[0]


def _run_forces(n: int) -> tuple[OperationCount, np.ndarray]:
    """Run (17) to (21) as printed."""
    tally: Counter[str] = Counter()
    axis, r = (counting(x, tally) for x in chain(n)[:2])
    b = kane_sum.forces(axis, r, *(counting(x, tally) for x in loads(n)), [False] * n)
    return OperationCount(**tally), b.astype(float)


def own_forces(n: int) -> OperationCount:
    """Count our sums: what `chain_forces` takes less the inertial forces of the bodies."""
    tally: Counter[str] = Counter()
    axis, r, mass, c, inertia = (counting(x, tally) for x in chain(n))
    rate = counting(np.zeros(n), tally)
    composite.inertial(axis, r, mass, c, inertia, rate, [False] * n)
    inertial = Counter(tally)
    tally.clear()
    composite.forces(axis, r, mass, c, inertia, rate, *(counting(x, tally) for x in loads(n)))
    tally.subtract(inertial)
    return OperationCount(**tally)


def apart(n: int) -> float:
    """Return the largest difference of the printed sums from `chain_forces` for bodies at rest."""
    ours = chain_forces(*chain(n), np.zeros(n), *loads(n))
    return float(np.abs(_run_forces(n)[1] - ours).max() / np.abs(ours).max())
