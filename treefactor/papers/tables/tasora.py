"""Execute Tasora, Manconi & Silvestri: cost per pivot of their simplex method, its growth, how it ends."""

from __future__ import annotations

from decimal import Decimal
from functools import cache, partial

import numpy as np

from ... import mlcp
from ...bench.comparisons.mlcp_peers import CLARABEL, DAQP, PeerInput
from ...bench.timing import Result
from ...mlcp.families import FAMILIES, box_on_four_feet
from ...mlcp.problem import Problem, Status
from ..kkt import KKT, Corner
from ..textbook import tasora
from .execution import compare
from .table import AtLeast, Identity, PaperRow, Rule, Table
from .tasora_figures import figure_2, figure_3, figure_5, linked
from .tasora_pivots import (
    LAYOUTS,
    PAPER,
    PIVOTS,
    SEED,
    SIZES,
    end,
    magnitude,
    other_factors,
    ours,
    paper_result,
    procedure,
    rows_of,
)
from .tasora_theory import CLOSE_TO, error, penalties, stepping, theorems

PEERS = (DAQP, CLARABEL)
CHAINS = (10, 20, 40, 80)  # bodies
GROWTH = (50, 100, 200, 400, 800, 1600)  # rows of robots
PRINTED = 4  # number of these sizes that are also factorized in the paper's order
MANY, HUNDREDS = 500, 200  # rows that we solve, and that the paper's procedure solves here
FACTORED = Identity(1e-7)
GROWN = {100: Decimal("1.52"), 200: Decimal("2.56"), 400: Decimal("4.69")}  # entries per row, all of M first
ENDS = ("robot", "spheres", "loops", "column", "lattice", "robotred", "dup", "infeas")
END_ROWS = 50
SOLVED = 1e-9  # residual
PER_ROW = ("entries of L per row of the matrix", "products of a factor per row of the matrix")
FEWER = "entries of the paper's factor over those of a pivot in our order"
NO_TREE = "free bodies that touch each other do not form a tree: paths to the root lead through many of them"
FILLED = "a free base, eliminated before the constraints, couples all of them: the corner fills"
UNSWITCHED = "the paper expects at least m systems; rows that no step violates are never switched"
UNSOLVABLE = "no velocity fulfils the constraints, which theorem 2 leaves out"
REASONS = {
    tasora.NO_STEP: "constraints block at the same point, as touching bodies do; the paper calls it an error",
    tasora.NO_PIVOT: "a constraint depends on others: the method as printed has no rule for it",
}
STOPS = {  # families on which the repaired procedure stops, and where
    **dict.fromkeys(("column", "lattice"), tasora.NO_STEP),
    **dict.fromkeys(("loops", "robotred", "infeas"), tasora.NO_PIVOT),
}


def incremental() -> Table:
    """Count the entries of L computed for one pivot, in the paper's order and in ours."""
    rows = [row for family in LAYOUTS for m in SIZES for row in computed(family, m)]
    note = (
        "Entries of the factor L that are not zero, counted on the repaired procedure and on our own factor. "
        "The paper eliminates all of M first, so that constraints fill the m x m corner, and computes the "
        "corner anew from the row that a pivot switches. We eliminate a constraint before the deepest "
        "freedom of its branch, and a pivot changes the path from there to the root. "
        f"Spheres: {NO_TREE}."
    )
    return Table(PAPER, "Incremental decomposition", note, rows)


def computed(family: str, m: int) -> list[PaperRow]:
    """Count the entries of L, and a pivot's share of it."""
    problem, run = paper_result(family, m)
    case, whole = f"{family}, m = {m}", run.computed[0]
    kkt = ours(problem)
    touched = np.mean([kkt.switch(row).touched for row in range(len(problem.c), kkt.J.shape[0])])
    return [
        PaperRow(case, "entries of L, all of M first", whole),
        PaperRow(case, "entries of L, our order", kkt.nnz),
        PaperRow(case, "pivots of the repaired procedure", run.pivots, instead=PIVOTS[family, m]),
        PaperRow(case, "systems solved", run.pivots + 1, AtLeast(m), PIVOTS[family, m] + 1, UNSWITCHED),
        PaperRow(case, FEWER, whole / touched),
        *products_of(case, problem),
    ]


def products_of(case: str, problem: Problem) -> list[PaperRow]:
    """Compare both incremental factors, some rows on, with products of dense matrices."""
    J, rng = rows_of(problem).toarray(), np.random.default_rng(0)
    kkt, corner = ours(problem), Corner(problem.tree, problem.packed, rows_of(problem))
    for row in rng.permutation(len(J))[: len(J) // 2]:
        kkt.switch(row)
        corner.switch(row)
    last = corner.switch(len(J) - 2).touched
    E = np.where(corner.on, corner.delta, corner.OFF)
    dense = J @ np.linalg.solve(problem.H, J.T) + np.diag(E)
    scale = np.sqrt(np.outer(np.diag(dense), np.diag(dense)))
    of_corner = float((np.abs(corner.L @ corner.L.T - dense) / scale).max())
    on = J[kkt.on]
    f, b = rng.normal(size=problem.n), rng.normal(size=len(J))
    K = np.block([[problem.H, on.T], [on, -kkt.delta * np.eye(len(on))]])
    v, y = kkt.solve(f, b)
    x = np.linalg.solve(K, np.concatenate((f, b[kkt.on])))
    multipliers = np.zeros(len(J))
    multipliers[kkt.on] = x[problem.n :]
    solved = max(error(v, x[: problem.n]), error(y, multipliers))
    return [
        PaperRow(
            case, "corner of the constraints, half of them on: error of its factor", of_corner, FACTORED
        ),
        PaperRow(case, "entries of the corner that the row before the last computes", last, 3),
        PaperRow(case, "our order, half of the constraints on: error of a solution", solved, FACTORED),
    ]


def growing() -> Table:
    """Count the work per row of the matrix, for robots with more and more legs."""
    figures = {m: per_row(m) for m in GROWTH}
    rows = [
        PaperRow(f"robot, m = {m}", f"{what}, over the smallest", work / least, Rule(1.0))
        for m, both in list(figures.items())[1:]
        for what, work, least in zip(PER_ROW, both, figures[GROWTH[0]], strict=True)
    ]
    what = f"{PER_ROW[0]}, all of M first, over the smallest"
    for m in GROWTH[1:PRINTED]:
        ratio = printed_per_row(m) / printed_per_row(GROWTH[0])
        rows.append(PaperRow(f"robot, m = {m}", what, ratio, Rule(1.0), GROWN[m], FILLED))
    least = maximal_per_row(CHAINS[0])
    rows += [
        PaperRow(f"chain of {bodies} bodies", what, maximal_per_row(bodies) / least, Rule(1.0))
        for bodies in CHAINS[1:]
    ]
    note = (
        "The paper has a decomposition of O(n) for mechanisms without loops: then the work per row of the "
        "matrix is the same at every size. Robots with a free base and more and more legs, constraints on "
        "each, first by our factor, then in the paper's order. Chains: bodies with six freedoms each and "
        "three bilateral rows per joint, as the paper has them, in its order."
    )
    return Table(PAPER, "Decomposition of O(n)", note, rows)


@cache
def robot(m: int) -> Problem:
    """Return the robot with m rows."""
    return FAMILIES["robot"](m, SEED)


def per_row(m: int) -> tuple[float, float]:
    """Count entries of our L, and products of a factorization, per row of the matrix of a robot."""
    problem = robot(m)
    kkt = ours(problem)
    return kkt.nnz / (problem.n + m), products(kkt) / (problem.n + m)


def printed_per_row(m: int) -> float:
    """Count entries of L with all of M first, per row of the matrix of a robot."""
    problem = robot(m)
    return Corner(problem.tree, problem.packed, rows_of(problem)).nnz / (problem.n + m)


def maximal_per_row(bodies: int) -> float:
    """Count entries of L with all of M first, per row of the matrix of a chain of bodies."""
    S = tasora.matrix(linked(bodies, contacts=0))
    return tasora.Incremental(S).computed[0] / len(S)


def hundreds() -> Table:
    """Solve problems with hundreds of unilateral constraints, by the paper's procedure and by ours."""
    rows = [row for family in LAYOUTS for row in by_the_paper(family)]
    for family in ("robot", "spheres", "lattice", "column"):
        problem = FAMILIES[family](MANY, SEED)
        solution = mlcp.solve(problem)
        solved = MANY if verdict(problem) == tasora.SOLVED else 0
        case = f"{family}, n = {problem.n}, ours"
        times = timed(problem) if family in LAYOUTS else ()
        rows.append(PaperRow(case, "unilateral constraints solved", solved, instead=MANY, timed=times))
        rows.append(PaperRow(case, "systems factorized", solution.factorizations))
    note = (
        "The paper shows a cascade of rigid bodies with hundreds of contacts (its figure 4) and no numbers: "
        "compared is that its procedure, repaired, solves so many. Ours: solved means a residual computed "
        f"anew of at most {SOLVED:g}. Time: a solution, against switching one row at a time, and against "
        "other solvers where they are installed."
    )
    return Table(PAPER, "Hundreds of constraints", note, rows)


def by_the_paper(family: str) -> list[PaperRow]:
    """Solve a problem by the repaired procedure, and check the solution."""
    problem, run = paper_result(family, HUNDREDS)
    case, alpha = f"{family}, m = {HUNDREDS}, the paper's", problem.D @ run.v - problem.d
    size = np.abs(problem.d).max()
    motion = problem.H @ run.v - problem.g - problem.D.T @ run.gamma
    least = min(alpha.min() / size, run.gamma.min() / np.abs(run.gamma).max())
    return [
        PaperRow(case, "the procedure, repaired", run.ended, tasora.SOLVED),
        PaperRow(case, "unilateral constraints", problem.m, AtLeast(100)),
        PaperRow(case, "pivots", run.pivots, instead=PIVOTS[family, HUNDREDS]),
        PaperRow(
            case,
            "(2.6): error of the motion",
            float(np.abs(motion).max() / np.abs(problem.g).max()),
            CLOSE_TO,
        ),
        PaperRow(case, "least impulse or residual", float(least), AtLeast(-1e-9)),
        PaperRow(case, "products of impulse and residual", float(np.abs(run.gamma * alpha).max()), CLOSE_TO),
    ]


def endings() -> Table:
    """Compare how the procedure as printed and our solver end."""
    rows = []
    for family in ENDS:
        problem, run = paper_result(family, END_ROWS)
        case = f"{family}, m = {END_ROWS}"
        unsolvable = verdict(problem) == "infeasible"
        reason = UNSOLVABLE if unsolvable else REASONS.get(run.ended, "")
        printed, _ = end(family, END_ROWS, SEED, tasora.printed)
        rows += [
            PaperRow(case, "the procedure as printed", printed),
            PaperRow(case, "the procedure, repaired", run.ended, tasora.SOLVED, STOPS.get(family), reason),
            PaperRow(case, "ours", verdict(problem), tasora.SOLVED, "infeasible", UNSOLVABLE),
        ]
    four = box_on_four_feet()
    unique = "v and gamma" if np.linalg.matrix_rank(four.D.toarray()) == four.m else "v"
    dependent = "impulses are not unique where active rows depend on each other"
    rows.append(PaperRow("box on four feet", "unique", unique, "v and gamma", "v", dependent))
    for off, paper in ((1e20, Decimal("0e-12")), (1e10, None)):
        what = f"forces that rows with {off:g} on the diagonal leave behind"
        rows.append(PaperRow(f"robot, m = {END_ROWS}", what, left_behind(off), paper))
    note = (
        "The paper finds its method robust on ill-conditioned and pathological problems; even repaired, its "
        "procedure stops where the step is 0, with an error, or where a pivot is. Forces left behind: "
        "|H v - g - D^T gamma| over |g|, largest entries."
    )
    return Table(PAPER, "Ends", note, rows)


def verdict(problem: Problem) -> str:
    """Return our solver's status after checking that it is true."""
    solution = mlcp.solve(problem)
    if solution.status is Status.SOLVED:
        return tasora.SOLVED if solution.residual() <= SOLVED else "wrong"
    return solution.status.name.lower().replace("_", " ")


def left_behind(off: float) -> float:
    """Return the largest entry of H v - g - D^T gamma, over that of g, of the paper's method."""
    problem = paper_result(LAYOUTS[0], END_ROWS)[0]
    run = tasora.repaired(problem, off)
    rest = problem.H @ run.v - problem.g - problem.D.T @ run.gamma
    return float(np.abs(rest).max() / np.abs(problem.g).max())


def products(kkt: KKT) -> int:
    """Count the products of a factorization: half the square of every column's length."""
    width, size = kkt.fronts.sizes().T
    columns = [rest for w, s in zip(width, size, strict=True) for rest in range(s - w, s)]
    return int(sum(k * (k + 1) // 2 for k in (*columns, *np.diff(kkt.J.indptr))))


def timed(problem: Problem) -> tuple[Result, ...]:
    """Time a solution in turns with one row at a time, and with other solvers."""
    peers = {"one row at a time": partial(mlcp.solve, problem, method="simplex")}
    peers |= {peer.name: peer.prepare(PeerInput(problem)) for peer in PEERS if peer.available()}
    return compare(partial(mlcp.solve, problem), peers)


TABLES = (
    procedure,
    magnitude,
    incremental,
    other_factors,
    growing,
    hundreds,
    endings,
    theorems,
    penalties,
    stepping,
    figure_2,
    figure_3,
    figure_5,
)
