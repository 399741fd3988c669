"""Execute Tasora, Manconi & Silvestri, section 2: penalties, time steps, theorems and corollaries."""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from ... import mlcp
from ...mlcp.families import FAMILIES
from ...mlcp.problem import Problem
from ..textbook import reduction
from ..textbook.penalty import (
    GRAVITY,
    GUIDE,
    HEIGHT,
    deepest,
    impulse_step,
    least_steps,
    path,
    printed_fits,
)
from .table import AtLeast, Between, Identity, PaperRow, Table

PAPER = "Tasora, Manconi & Silvestri, simplex method for the mixed LCP"
EXACT, CLOSE_TO = Identity(1e-9), Identity(1e-6)
STIFFNESS = (1e3, 1e5, 1e7)  # N/m, of a body of 1 kg
SHARE = 1 / (1 + GUIDE**2)  # of a vertical force that accelerates a body on the guide downwards
LIMIT = 2 * np.sqrt(2)  # radians of a step at which Runge and Kutta's method of order 4 becomes unstable
STEPS_PER_RADIAN = 10
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
        PaperRow(
            case,
            "(2.8) as printed, of a problem with M b for b: error of alpha",
            of_printed(problem, gamma),
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


def of_printed(problem: Problem, gamma: np.ndarray) -> float:
    """Return the error of (2.7) with A and B as printed, of a problem with M b in the place of b."""
    other = Problem(
        problem.H, problem.tree, problem.H @ problem.g, problem.C, problem.c, problem.D, problem.d
    )
    A, B = reduction.printed(problem)
    return error(A @ gamma + B, reduction.residuals(other, gamma))


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
    for stiffness in STIFFNESS:
        case, rate = f"(2.3), {stiffness:g} N/m", np.sqrt(stiffness * SHARE)
        least, depth = least_steps(stiffness), deepest(stiffness, STEPS_PER_RADIAN * int(rate))
        rest = GRAVITY / stiffness
        balance = rest + np.sqrt(rest**2 + 2 * rest * HEIGHT)  # stiffness d^2 / 2 = GRAVITY (HEIGHT + d)
        rows += [
            PaperRow(case, "deepest penetration of the floor, m", depth),
            PaperRow(case, "its error, by the balance of energies", depth / balance - 1.0, Identity(2e-3)),
            PaperRow(case, "explicit steps needed for one second", least),
            PaperRow(
                case,
                "these over those at which steps become unstable, less 1",
                least * LIMIT / rate - 1.0,
                Identity(0.12),
            ),
        ]
    rows += [
        PaperRow("(2.3), before contact", "error of the fall", fallen(), EXACT),
        PaperRow("(2.3), in contact", "error of the oscillation", oscillation(1e3), CLOSE_TO),
    ]
    note = (
        f"A body of 1 kg slides down a guide of slope {GUIDE:g} onto a floor, whose penalty force is the "
        "stiffness times the depth; accelerations from the system (2.3), with C_q^T in its first line, steps "
        "by Runge and Kutta's method of order 4. Needed: with a tenth fewer steps a body that lies on the "
        "floor is thrown from it. The paper calls the equations stiff and gives no numbers; steps must then "
        "be as short as the root of the stiffness is large."
    )
    return Table(PAPER, "Penalty forces", note, rows)


def fallen() -> float:
    """Return the error of a fall by penalties before the floor, of exact steps: GRAVITY SHARE t^2 / 2."""
    q, v = next(iter(path(1e3, 20)))
    expected = np.array([HEIGHT - GRAVITY * SHARE / 800, -GRAVITY * SHARE / 20])
    return max(error(np.array([q[1], v[1]]), expected), error(np.array([q[0], v[0]]), GUIDE * expected))


def oscillation(stiffness: float) -> float:
    """Return the error of a body in contact that starts at 1.5 times its depth of rest, after one second."""
    rest, rate = -GRAVITY / stiffness, np.sqrt(stiffness * SHARE)
    *_, (q, v) = path(stiffness, 10 * STEPS_PER_RADIAN * int(rate), 1.5 * rest)
    expected = np.array([rest + rest / 2 * np.cos(rate), -rest / 2 * rate * np.sin(rate)])
    return max(error(q, expected[0] * np.array([GUIDE, 1.0])), error(v, expected[1] * np.array([GUIDE, 1.0])))


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
            PaperRow(case, "error of D before contact", falling(K), EXACT),
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
        PaperRow(
            *("(3.3)", "alpha against A gamma + B of (2.7), corrected"),
            *(by_theorem(problem, active, v, gamma), CLOSE_TO),
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


def falling(K: float, steps: int = 5) -> float:
    """Return the error of D after steps (2.5) before the floor: GRAVITY SHARE h^2 (1 + 2 + ...)."""
    h, gaps = 0.01, impulse_step(K, steps).gaps
    return error(np.array(gaps), HEIGHT - GRAVITY * SHARE * h**2 * np.cumsum(np.arange(steps + 1.0)))


def by_theorem(problem: Problem, active: np.ndarray, v: np.ndarray, gamma: np.ndarray) -> float:
    """Compare (3.3) at the solution of (3.1) with the canonical problem, which has no v."""
    impulses = np.zeros(problem.m)
    impulses[active] = gamma
    A, _ = reduction.printed(problem)
    alpha = A @ impulses + reduction.corrected(problem)
    return error(problem.D @ v - problem.d, alpha)


def residual_of(problem: Problem, active: np.ndarray, off: float) -> float:
    """Compare (3.3) with the last line of (2.6) at the solution of (3.2)."""
    v, x = reduction.switched(problem, active, off)
    return error(problem.D @ v - problem.d, np.where(active, 0.0, -off * x))


TABLES = (theorems, penalties, stepping)
