"""Tasora, Manconi & Silvestri: what their simplex method computes per pivot, how it grows, where it ends."""

from __future__ import annotations

from decimal import Decimal
from functools import cache, partial

import numpy as np

from ... import mlcp
from ...bench.comparisons.mlcp_peers import CLARABEL, DAQP, Given
from ...bench.timing import Result
from ...mlcp.families import FAMILIES, box_on_four_feet
from ...mlcp.problem import Problem, Status
from ..kkt import KKT, Corner
from ..textbook import tasora
from .execution import duel
from .table import AtLeast, Row, Rule, Table

PAPER = "Tasora, Manconi & Silvestri, simplex method for the mixed LCP"
SEED = 1
PEERS = (DAQP, CLARABEL)
LAYOUTS, SIZES = ("robot", "spheres"), (40, 80, 120)  # families and rows of both orders
GROWTH = (50, 100, 200, 400, 800, 1600)  # rows of robots
PRINTED = 4  # of those, in the paper's order
MANY = 500  # rows
ENDS = ("robot", "spheres", "loops", "column", "lattice", "robotred", "dup", "infeas")
END_ROWS = 50
SOLVED = 1e-9  # residual
PER_ROW = ("entries of L per row of the matrix", "products of a factor per row of the matrix")
FEWER = "times fewer entries per pivot than the paper's factor, ours"
NO_TREE = "free bodies that touch each other are no tree: paths to the root lead through many of them"
FILLED = "a free base, eliminated before the constraints, couples all of them: the corner fills"
UNSOLVABLE = "no velocity fulfils the constraints, which theorem 2 leaves out"
REASONS = {
    tasora.NO_STEP: "constraints block at the same point, as touching bodies do; the paper calls it an error",
    tasora.NO_PIVOT: "a constraint depends on others: the method as printed has no rule for it",
}


def incremental() -> Table:
    """Entries of L computed for one pivot, in the paper's order and in ours."""
    rows = [row for family in LAYOUTS for m in SIZES for row in computed(family, m)]
    note = (
        "Entries of the factor L that are not zero, counted on the paper's method as printed and on our own "
        "factor. The paper eliminates all of M first, so that constraints fill the m x m corner, and "
        "computes the corner anew from the row that a pivot switches. We eliminate a constraint before the "
        "deepest freedom of its branch, and a pivot changes the path from there to the root."
    )
    return Table(PAPER, "Incremental decomposition", note, rows)


def computed(family: str, m: int) -> list[Row]:
    """Entries of L, and of a pivot's share of it."""
    problem, walked = walk(family, m)
    case, (whole, *pivots) = f"{family}, m = {m}", walked.computed
    kkt, corner = ours(problem), m * (m + 1) / 2
    touched = np.mean([kkt.switch(row).touched for row in range(len(problem.c), kkt.J.shape[0])])
    return [
        Row(case, "entries of L, all of M first", whole),
        Row(case, "entries of L, our order", kkt.nnz),
        Row(case, "pivots of the paper's method", walked.pivots),
        Row(case, "entries of the m x m corner over the most of a pivot", corner / max(pivots), AtLeast(1.0)),
        Row(case, "times fewer entries per pivot than a factor, as printed", whole / np.mean(pivots)),
        Row(
            case, FEWER, whole / touched, AtLeast(10.0), AtLeast(1.0), NO_TREE if family == "spheres" else ""
        ),
    ]


def growing() -> Table:
    """Work per row of the matrix, for robots of ever more legs."""
    figures = {m: per_row(m) for m in GROWTH}
    rows = [
        Row(f"robot, m = {m}", f"{what}, over the smallest", found / least, Rule(1.0))
        for m, both in figures.items()
        for what, found, least in zip(PER_ROW, both, figures[GROWTH[0]], strict=True)
    ]
    what = f"{PER_ROW[0]}, all of M first, over the smallest"
    for m in GROWTH[1:PRINTED]:
        ratio = printed_per_row(m) / printed_per_row(GROWTH[0])
        rows.append(Row(f"robot, m = {m}", what, ratio, Rule(1.0), AtLeast(1.5), FILLED))
    note = (
        "The paper has a decomposition of O(n) for mechanisms without loops: then the work per row of the "
        "matrix is the same at every size. Robots with a free base and more and more legs, constraints on "
        "each."
    )
    return Table(PAPER, "Decomposition of O(n)", note, rows)


def per_row(m: int) -> tuple[float, float]:
    """Entries of our L, and products of a factorization, per row of the matrix of a robot."""
    problem = FAMILIES["robot"](m, SEED)
    kkt = ours(problem)
    return kkt.nnz / (problem.n + m), products(kkt) / (problem.n + m)


def printed_per_row(m: int) -> float:
    """Entries of L with all of M first, per row of the matrix of a robot."""
    problem = FAMILIES["robot"](m, SEED)
    return Corner(problem.tree, problem.packed, rows_of(problem)).nnz / (problem.n + m)


def hundreds() -> Table:
    """Hundreds of unilateral constraints."""
    rows = []
    for family in ("robot", "spheres", "lattice", "column"):
        problem = FAMILIES[family](MANY, SEED)
        solution = mlcp.solve(problem)
        solved = MANY if verdict(problem) == tasora.SOLVED else 0
        case = f"{family}, n = {problem.n}"
        rows.append(Row(case, "unilateral constraints solved", solved, AtLeast(100), timed=timed(problem)))
        rows.append(Row(case, "systems factorized", solution.factorizations))
    note = (
        "The paper shows hundreds of contacts (its figures 4 and 5) and no numbers. Solved: a residual "
        f"computed anew of at most {SOLVED:g}. Time: a solution, against switching one row at a time, and "
        "against other solvers where they are installed."
    )
    return Table(PAPER, "Hundreds of constraints", note, rows)


def endings() -> Table:
    """How the procedure as printed and our solver end."""
    rows = []
    for family in ENDS:
        problem, walked = walk(family, END_ROWS)
        case = f"{family}, m = {END_ROWS}"
        unsolvable = verdict(problem) == "infeasible"
        reason = UNSOLVABLE if unsolvable else REASONS.get(walked.ended, "")
        rows += [
            Row(case, "the procedure as printed", walked.ended, tasora.SOLVED, walked.ended, reason),
            Row(case, "ours", verdict(problem), tasora.SOLVED, "infeasible", UNSOLVABLE),
        ]
    four = box_on_four_feet()
    unique = "v and gamma" if np.linalg.matrix_rank(four.D.toarray()) == four.m else "v"
    dependent = "impulses are not unique where active rows depend on each other"
    rows.append(Row("box on four feet", "unique", unique, "v and gamma", "v", dependent))
    for off, paper in ((1e20, Decimal("0e-12")), (1e10, None)):
        what = f"forces that rows with {off:g} on the diagonal leave behind"
        rows.append(Row(f"robot, m = {END_ROWS}", what, left_behind(off), paper))
    note = (
        "The paper finds its method robust on ill-conditioned and pathological problems; its procedure stops "
        "where the step is 0, with an error, or where a pivot is. Forces left behind: |H v - g - D^T gamma| "
        "over |g|, largest entries."
    )
    return Table(PAPER, "Ends", note, rows)


@cache
def walk(family: str, m: int) -> tuple[Problem, tasora.Walked]:
    """A problem, and the paper's method on it."""
    problem = FAMILIES[family](m, SEED)
    return problem, tasora.solve_lcp(problem)


def verdict(problem: Problem) -> str:
    """What our solver says, and is right to say."""
    solution = mlcp.solve(problem)
    if solution.status is Status.SOLVED:
        return tasora.SOLVED if solution.residual() <= SOLVED else "wrong"
    return solution.status.name.lower().replace("_", " ")


def left_behind(off: float) -> float:
    """Share of the forces that rows take that are off."""
    problem = walk(LAYOUTS[0], END_ROWS)[0]
    walked = tasora.solve_lcp(problem, off)
    rest = problem.H @ walked.v - problem.g - problem.D.T @ walked.gamma
    return float(np.abs(rest).max() / np.abs(problem.g).max())


def ours(problem: Problem) -> KKT:
    """Our factor of a problem's matrix."""
    return KKT(problem.tree, problem.packed, rows_of(problem))


def rows_of(problem: Problem):
    """Bilateral and unilateral rows."""
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack((problem.C, problem.D)))


def products(kkt: KKT) -> int:
    """Products of a factorization: half the square of every column, of constraints and of freedoms."""
    width, size = kkt.fronts.sizes().T
    columns = [rest for w, s in zip(width, size, strict=True) for rest in range(s - w, s)]
    return int(sum(k * (k + 1) // 2 for k in (*columns, *np.diff(kkt.J.indptr))))


def timed(problem: Problem) -> tuple[Result, ...]:
    """A solution in turns with one row at a time, and with other solvers."""
    peers = {"one row at a time": partial(mlcp.solve, problem, method="simplex")}
    peers |= {peer.name: peer.ask(Given(problem)) for peer in PEERS if peer.available()}
    return duel(partial(mlcp.solve, problem), peers)


TABLES = (incremental, growing, hundreds, endings)
