"""Execute Tasora, Manconi & Silvestri, section 2: penalties, time steps, theorems and corollaries."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import numpy as np

from ... import mlcp
from ...mlcp.families import FAMILIES
from ...mlcp.problem import Problem
from ..textbook import reduction
from ..textbook.penalty import GUIDE, deepest, impulse_step, least_steps, printed_fits
from .table import AtLeast, Between, Identity, PaperRow, Table

PAPER = "Tasora, Manconi & Silvestri, simplex method for the mixed LCP"
EXACT, CLOSE_TO = Identity(1e-9), Identity(1e-6)
STIFFNESS = (1e3, 1e5, 1e7)  # N/m, of a body of 1 kg
BILATERAL = 3  # rows
NO_M = "the proof's b is M v + h Q, so that v is M^-1 (... + b): the printed v and B lack M^-1 in front of b"
LEFTOVER = "a leftover of the line above: (2.7) needs B as it is"
RECTANGULAR = (
    "the proof inverts D M^-1 C^T, which has as many rows as unilateral and as many columns as bilateral "
    "constraints; (2.8) needs the inverse of C M^-1 C^T only"
)
DIFFERENCE = (
    "A is a difference: its second summand is negative semidefinite, so that the proof by sums of "
    "semidefinite matrices does not apply"
)
DEPENDENT = (
    "each tie of two legs stands there twice: C M^-1 C^T has no inverse, which the theorem does not exclude"
)
TRANSPOSED = "the text we have lacks the transposes of C_q and D_q in the first lines of (2.1) to (3.2)"


def theorems() -> Table:
    """Evaluate theorem 1 with (2.7) and (2.8), corollaries 1.1 and 1.2."""
    problem = bilateral(8, BILATERAL)
    gamma = np.random.default_rng(0).uniform(size=problem.m)
    alpha = reduction.residuals(problem, gamma)
    A, B = reduction.printed(problem)
    size, case = np.abs(alpha).max(), f"{problem.m} unilateral rows, {BILATERAL} bilateral"
    shape = "x".join(map(str, reduction.coupling(problem).shape))
    rows = [
        PaperRow(
            case, "(2.7) with A, B of (2.8): error of alpha", error(A @ gamma + B, alpha), EXACT, *MISSING
        ),
        PaperRow(
            case,
            "(2.7) with M^-1 b for b in (2.8): error of alpha",
            error(A @ gamma + reduction.corrected(problem), alpha),
            EXACT,
        ),
        PaperRow(case, "(2.8), B = 0: largest entry of B", float(np.abs(B).max() / size), EXACT, *NOT_ZERO),
        PaperRow(case, "rows and columns of what the proof inverts", shape, "square", "8x3", RECTANGULAR),
    ]
    square = bilateral(BILATERAL, BILATERAL)
    deviation = error(reduction.by_the_proof(square), reduction.printed(square)[0])
    case = f"{BILATERAL} unilateral rows, {BILATERAL} bilateral"
    rows.append(PaperRow(case, "A by the steps of the proof: error", deviation, EXACT))
    rows += [row for family in ("robot", "spheres", "lattice") for row in semidefinite(family)]
    rows += [*dependent(), *quadratic()]
    note = (
        "Errors: over the largest entry. Residuals alpha to compare with come from solving the first two "
        f"lines of (2.6) for given impulses. {TRANSPOSED[0].upper()}{TRANSPOSED[1:]}."
    )
    return Table(PAPER, "Theorem 1 and its corollaries", note, rows)


MISSING, NOT_ZERO = (AtLeast(1e-3), NO_M), (AtLeast(1e-3), LEFTOVER)


def semidefinite(family: str) -> list[PaperRow]:
    """Compute the smallest eigenvalue of A and of its second summand, of problems with bilateral rows."""
    problem = bilateral(8, BILATERAL, family)
    A, _ = reduction.printed(problem)
    first = reduction.first_summand(problem)
    largest = np.abs(np.linalg.eigvalsh(first)).max()
    case = f"{family}, {BILATERAL} bilateral rows"
    least, second = (float(np.linalg.eigvalsh((X + X.T) / 2).min() / largest) for X in (A, A - first))
    return [
        PaperRow(case, "A - A^T over A", error(A.T, A), EXACT),
        PaperRow(case, "smallest eigenvalue of A over its largest", least, AtLeast(-1e-12)),
        PaperRow(
            case,
            "smallest eigenvalue of the second summand",
            second,
            AtLeast(-1e-12),
            Between(-1.0 - 1e-9, 0.0),
            DIFFERENCE,
        ),
    ]


def dependent() -> list[PaperRow]:
    """Compute the rank of C M^-1 C^T where bilateral rows depend on each other."""
    C = FAMILIES["loops"](20, 0).C.toarray()
    rank = int(np.linalg.matrix_rank(C))
    return [PaperRow("loops, every tie twice", "rank of C M^-1 C^T", rank, len(C), len(C) // 2, DEPENDENT)]


def quadratic() -> list[PaperRow]:
    """Solve the program (2.9) by sequential quadratic programming, and the mixed problem by ours."""
    from scipy.optimize import minimize

    problem = bilateral(8, BILATERAL)
    solution = mlcp.solve(problem)
    C, D = problem.C.toarray(), problem.D.toarray()
    minimum = minimize(
        lambda v: (v @ problem.H @ v / 2 - v @ problem.g, problem.H @ v - problem.g),
        np.zeros(problem.n),
        jac=True,
        method="SLSQP",
        constraints=[
            {"type": "eq", "fun": lambda v: C @ v - problem.c, "jac": lambda v: C},
            {"type": "ineq", "fun": lambda v: D @ v - problem.d, "jac": lambda v: D},
        ],
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    what = "(2.9) by another method: error of v"
    return [
        PaperRow(
            f"{problem.m} unilateral rows, {BILATERAL} bilateral",
            what,
            error(minimum.x, solution.v),
            CLOSE_TO,
        )
    ]


def bilateral(m: int, p: int, family: str = "robot") -> Problem:
    """Return a problem of a family with p random bilateral rows."""
    unilateral = FAMILIES[family](m, 0)
    C = np.random.default_rng(1).normal(size=(p, unilateral.n))
    return Problem(
        unilateral.H, unilateral.tree, unilateral.g, C, np.linspace(-0.1, 0.1, p), unilateral.D, unilateral.d
    )


def error(actual, expected) -> float:
    """Return the largest error over the largest entry."""
    return float(np.abs(actual - expected).max() / np.abs(expected).max())


def penalties() -> Table:
    """Drop a body by penalty forces, and compare with time steps of impulses."""
    rows = [
        PaperRow(
            "(2.3)", "C_q in the first line, as printed", printed_fits(), "fits", "does not fit", TRANSPOSED
        )
    ]
    counts = {stiffness: least_steps(stiffness) for stiffness in STIFFNESS}
    for stiffness, least in counts.items():
        case = f"(2.3), {stiffness:g} N/m"
        depth = deepest(stiffness, 8 * least)
        rows.append(PaperRow(case, "deepest penetration of the floor, m", depth))
        rows.append(PaperRow(case, "explicit steps needed for one second", least))
    for softer, stiffer in pairwise(STIFFNESS):
        what = "explicit steps needed, over those of a hundredth of the stiffness"
        rows.append(PaperRow(f"(2.3), {stiffer:g} N/m", what, counts[stiffer] / counts[softer]))
    note = (
        f"A body of 1 kg slides down a guide of slope {GUIDE:g} onto a floor, whose penalty force is the "
        "stiffness times the depth; accelerations from the system (2.3), with C_q^T in its first line, steps "
        "by Runge and Kutta's method of order 4. Needed: with a tenth fewer steps a body that lies on the "
        "floor is thrown from it. The paper calls the equations stiff and gives no numbers; steps must then "
        "be as short as the root of the stiffness is large."
    )
    return Table(PAPER, "Penalty forces", note, rows)


def stepping() -> Table:
    """Drop the same body by the steps (2.5), and solve their mixed problem in its forms (2.4) to (3.3)."""
    falls = [impulse_step(K, steps=100) for K in (0.2, 1.0)]
    rows = [
        PaperRow(
            "(2.4), (2.5), (2.6), (3.1), (3.2)",
            "C_q in the first line, as printed",
            printed_fits(),
            "fits",
            "does not fit",
            TRANSPOSED,
        )
    ]
    for K, fall in zip((0.2, 1.0), falls, strict=True):
        case = f"(2.5), K = {K:g}"
        rows += [
            PaperRow(case, "least D in 100 steps of 0.01 s, m", min(fall.gaps), AtLeast(-1e-9)),
            PaperRow(case, "(2.4), largest product of impulse and residual", fall.products, EXACT),
            PaperRow(case, "largest violation of C, m", fall.violation, EXACT),
        ]
    sunk = impulse_step(0.25, steps=1, height=-0.1)
    left = sunk.gaps[-1] / sunk.gaps[0]
    rows.append(
        PaperRow("(2.5), K = 0.25", "share of a violation of D left after a step", left, Decimal("0.75"))
    )
    problem = bilateral(12, BILATERAL)
    solution, off = mlcp.solve(problem), 1e20
    active = solution.gamma > 0
    v, gamma = reduction.reduced(problem, active)
    rows += [
        PaperRow("(3.1), rows that are on", "error of v", error(v, solution.v), CLOSE_TO),
        PaperRow(
            "(3.1), rows that are on", "error of impulses", error(gamma, solution.gamma[active]), CLOSE_TO
        ),
        PaperRow(
            "(3.2), 1e20 for rows that are off",
            "difference of v from (3.1)",
            shift(problem, active, v),
            EXACT,
        ),
        PaperRow(
            "(2.6), (3.3)", "alpha against the last line of (2.6)", residual_of(problem, active, off), EXACT
        ),
    ]
    note = (
        "The steps (2.5) keep the body out of the floor at a hundredth of a second, where the penalty force "
        "of 1e7 N/m needs about a thousand. (3.1) and (3.2): a robot with bilateral rows, the rows that are "
        "on at our solution."
    )
    return Table(PAPER, "Time steps of impulses", note, rows)


def shift(problem: Problem, active: np.ndarray, v: np.ndarray) -> float:
    """Return the error of v by (3.2), against v without the rows that are off."""
    return error(reduction.switched(problem, active)[0], v)


def residual_of(problem: Problem, active: np.ndarray, off: float) -> float:
    """Compare (3.3) with the last line of (2.6) at the solution of (3.2)."""
    v, x = reduction.switched(problem, active, off)
    return error(problem.D @ v - problem.d, np.where(active, 0.0, -off * x))


TABLES = (theorems, penalties, stepping)
