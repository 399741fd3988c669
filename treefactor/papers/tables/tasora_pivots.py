"""Execute Tasora, Manconi & Silvestri, section 3: their procedure as printed, and the cost of its pivots."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from functools import cache, partial

import numpy as np

from ... import mlcp
from ...bench.timing import Result
from ...mlcp.families import FAMILIES
from ...mlcp.problem import Problem
from ..kkt import KKT, Corner
from ..textbook import tasora
from ..textbook.basis import Basis, column, columns
from .execution import compare
from .table import ANY_TIME, AtLeast, Identity, PaperRow, Table
from .tasora_theory import bilateral

PAPER = "Tasora, Manconi & Silvestri, simplex method for the mixed LCP"
SEED = 1
LAYOUTS, SIZES = ("robot", "spheres"), (40, 80, 120)  # families and rows of both orders
LAST = {"lattice": (6, 2), "loops": (12, 1)}  # for seed 0 rounding decides how the procedure ends
SMALL = tuple(  # problems that have a solution
    (family, m, seed)
    for family in ("robot", "robotred", "spheres", "lattice", "dup", "column", "loops")
    for m, seed in ((6, 0), (6, 1), LAST.get(family, (12, 0)))
)
WRONG = "ends, but not at the solution"
CLOSE_TO = 1e-6  # largest difference of v from the solution's
TIMED_ROWS = 4  # switched in one timed run
AS_PRINTED = (
    "its last test calls a step of 1 an error, which every step is that no row blocks; and rows that are "
    "violated before and after a step make it negative"
)
STILL_VIOLATED = (
    "rows that are violated before and after a step make it negative: the procedure does not exclude them"
)
NOT_REPAIRED = (
    "rows that touch at the same point make a step of 0, and dependent ones a pivot of 0: no rule is printed"
)
ENDED = (  # of the procedures: how runs end, how many of those at the first pivot, pivots of all, and why
    (
        {tasora.SOLVED: 0, tasora.WHOLE: 13, tasora.NEGATIVE: 4, tasora.NO_STEP: 3, WRONG: 1},
        *(20, 21, AS_PRINTED),
    ),
    (
        {tasora.SOLVED: 9, tasora.NEGATIVE: 7, tasora.NO_STEP: 3, WRONG: 2},
        *(7, 47, STILL_VIOLATED),
    ),
    ({tasora.SOLVED: 17, tasora.NO_STEP: 3, tasora.NO_PIVOT: 1}, *(4, 73, NOT_REPAIRED)),
)
PIVOTS = {  # of the repaired procedure
    **{("robot", 40): 20, ("robot", 80): 59, ("robot", 120): 81, ("robot", 200): 161},
    **{("spheres", 40): 15, ("spheres", 80): 37, ("spheres", 120): 50, ("spheres", 200): 95},
}
NEARLY = "with 88 rows of the matrix; with more, the factor is above 10"
SMALL_CORNER = (
    "a pivot of so few rows takes as long as the calls that it consists of; LAPACK decomposes the dense "
    "matrix in one"
)
TIMES_OF = {  # by decomposition: why it takes less than 10 times as long as a pivot
    "dense LU": SMALL_CORNER,
    "dense Bunch-Kaufman": (
        "LAPACK's, column by column, skips the zeros of this matrix: on a full one it takes several times as "
        "long"
    ),
}
BOTH = (
    "the paper gives its order of magnitude for both optimisations, sparse and incremental; over a sparse "
    "factor computed anew, the incremental one alone saves this"
)
FEWER_COLUMNS = "the basis has no columns of impulses that are off; the paper's matrix has all rows"
MORE = "times fewer entries per pivot, our order over the paper's"


def procedure() -> Table:
    """Run the procedure of section 3.2 as printed, and with its repairs."""
    runs = {
        "as printed": tasora.printed,
        "as printed, but a step of 1 allowed": partial(tasora.printed, whole=True),
        "repaired": tasora.repaired,
    }
    case, rows = f"{len(SMALL)} small problems", []
    for (how, run), (known, at_once, pivots, reason) in zip(runs.items(), ENDED, strict=True):
        ends = [end(*small, run) for small in SMALL]
        counts = Counter(ended for ended, _ in ends)
        solved = counts.pop(tasora.SOLVED, 0)
        rows.append(PaperRow(case, f"{how}: solved", solved, len(SMALL), known[tasora.SOLVED], reason))
        rows += [
            PaperRow(case, f"{how}: {ended}", count, instead=known.get(ended, 0))
            for ended, count in counts.most_common()
        ]
        first = sum(ended != tasora.SOLVED and pivots <= 1 for ended, pivots in ends)
        rows.append(PaperRow(case, f"{how}: ends at the first pivot, unsolved", first, instead=at_once))
        switched = sum(pivots for _, pivots in ends)
        rows.append(PaperRow(case, f"{how}: rows switched in all", switched, instead=pivots))
    note = (
        "Risolvi_LCP and Calcola_step_max, line by line; seven families of problems that have a solution, "
        "three of each. Repairs: " + "; ".join(tasora.REPAIRS) + ". Every count of pivots on this page is of "
        "the repaired procedure."
    )
    return Table(PAPER, "The procedure as printed", note, rows)


@cache
def end(family: str, m: int, seed: int, run) -> tuple[str, int]:
    """Return how a procedure ends on a problem, and after how many pivots."""
    problem = FAMILIES[family](m, seed)
    with np.errstate(all="ignore"):
        result = run(problem)
    agrees = np.abs(result.v - mlcp.solve(problem).v).max() <= CLOSE_TO  # False for NaN
    return result.ended if agrees or result.ended != tasora.SOLVED else WRONG, result.pivots


def magnitude() -> Table:
    """Count and time a pivot on a dense matrix, and by the paper's incremental factor."""
    rows = [row for family in LAYOUTS for m in SIZES for row in per_pivot(family, m)]
    note = (
        "Entries of a dense L of n + m rows, over the entries of L that the paper's incremental "
        "decomposition computes for a pivot: counted on the repaired procedure. Time: "
        f"{TIMED_ROWS} pivots, the corner computed anew from the row on, against as many dense "
        "decompositions by LAPACK: LU, and Bunch and Kaufman's, from which the paper starts."
    )
    return Table(PAPER, "An order of magnitude", note, rows)


def per_pivot(family: str, m: int) -> list[PaperRow]:
    """Compare the entries computed for a pivot."""
    problem, run = paper_result(family, m)
    case, (whole, *pivots) = f"{family}, m = {m}", run.computed
    size, kkt = problem.n + len(problem.c) + m, ours(problem)
    dense = size * (size + 1) / 2 / np.mean(pivots)
    touched = np.mean([kkt.switch(row).touched for row in range(len(problem.c), kkt.J.shape[0])])
    what, timed = "entries of a dense factor over those of a pivot", timed_pivots(problem)
    return [
        PaperRow(case, what, dense, AtLeast(10.0), Decimal("9.52"), NEARLY, timed=timed),
        *(
            PaperRow(
                case,
                f"time of {result.peer} over that of a pivot",
                result.ratio,
                AtLeast(10.0),
                ANY_TIME,
                TIMES_OF[result.peer],
            )
            for result in timed
        ),
        PaperRow(
            case,
            "entries of the sparse factor over those of a pivot",
            whole / np.mean(pivots),
            AtLeast(10.0),
            SPARSE[family, m],
            BOTH,
        ),
        PaperRow(case, MORE, np.mean(pivots) / touched),
    ]


SPARSE = {  # entries of the sparse factor over those of a pivot
    **dict(zip((("robot", m) for m in SIZES), map(Decimal, ("4.05", "3.97", "3.43")), strict=True)),
    **dict(zip((("spheres", m) for m in SIZES), map(Decimal, ("3.62", "3.08", "3.11")), strict=True)),
}


def timed_pivots(problem: Problem) -> tuple[Result, ...]:
    """Time pivots of the paper's layout against dense decompositions."""
    from scipy.linalg import lu_factor
    from scipy.linalg.lapack import dsytrf

    corner, S = Corner(problem.tree, problem.packed, rows_of(problem)), tasora.matrix(problem)
    rows = np.linspace(0, problem.m - 1, TIMED_ROWS).astype(int)

    def again(decompose) -> None:
        for _ in rows:
            decompose(S)

    def incremental() -> None:
        for row in rows:
            corner.switch(row)

    peers = zip(TIMES_OF, (lu_factor, dsytrf), strict=True)
    return compare(incremental, {name: partial(again, decompose) for name, decompose in peers})


def other_factors() -> Table:
    """Count the entries that Bunch and Kaufman's and Bartels and Golub's decompositions keep."""
    rows = [with_bilateral()]
    rows += [row for family in LAYOUTS for m in SIZES[:2] for row in against(family, m)]
    note = (
        "Bunch and Kaufman's pivots are chosen by size (LAPACK's dsytrf), those of the paper by the order of "
        "the mechanism. Bartels and Golub's: L and U of the basis of the mixed problem, one column replaced "
        "per pivot of the repaired procedure; entries counted where they are not zero."
    )
    return Table(PAPER, "Other decompositions", note, rows)


def against(family: str, m: int) -> list[PaperRow]:
    """Compare entries of the paper's factor with those of two others, on the same pivots."""
    from scipy.linalg import ldl

    problem, run = paper_result(family, m)
    case, on = f"{family}, m = {m}", np.zeros(problem.m, bool)
    basis = Basis(columns(problem, on))
    factor = tasora.Incremental(tasora.matrix(problem))
    for i in run.switched:
        on[i] = not on[i]
        basis.replace(problem.n + len(problem.c) + i, column(problem, i, bool(on[i])))
        factor.set(problem.n + len(problem.c) + i, 0.0 if on[i] else tasora.OFF)
    L, D, order = ldl(factor.S)
    product = (factor.L * factor.D) @ factor.L.T
    error = float((np.abs(product - factor.S) / np.maximum(1.0, np.abs(factor.S))).max())
    kept, pivoted = np.count_nonzero(np.tril(factor.L)), np.count_nonzero(L[order])
    return [
        PaperRow(case, "entries of L, Bunch-Kaufman over the paper's", pivoted / kept),
        PaperRow(case, "pivots of 2 x 2, Bunch-Kaufman", int(np.count_nonzero(np.diag(D, 1)))),
        PaperRow(case, "error of L D L^T after all pivots", error, Identity(1e-9)),
        PaperRow(
            case,
            "entries kept, Bartels-Golub over the paper's",
            basis.entries / kept,
            AtLeast(1.0),
            KEPT.get(case),
            FEWER_COLUMNS,
        ),
        PaperRow(
            case,
            "Bartels-Golub: error of B x after all pivots",
            basis_error(basis, problem, on),
            Identity(1e-8),
        ),
        PaperRow(
            case,
            "entries computed per pivot, Bartels-Golub over the paper's",
            float(np.mean(basis.computed) / np.mean(run.computed[1:])),
        ),
    ]


KEPT = {"spheres, m = 40": Decimal("0.848"), "spheres, m = 80": Decimal("0.721")}


def basis_error(basis: Basis, problem: Problem, on: np.ndarray) -> float:
    """Return the residual of a solution with the updated basis, against columns of S and of -1."""
    B = tasora.matrix(problem, 0.0)
    off = len(B) - problem.m + np.flatnonzero(~on)
    B[:, off] = 0.0
    B[off, off] = -1.0
    r = np.random.default_rng(0).normal(size=len(B))
    return float(np.abs(B @ basis.solve(r) - r).max() / np.abs(r).max())


def with_bilateral() -> PaperRow:
    """Replace columns of a basis of a problem with bilateral rows, one after the other."""
    problem = bilateral(8, 3)
    on = np.zeros(problem.m, bool)
    basis = Basis(columns(problem, on))
    for i in (3, 0, 7, 3, 5):
        on[i] = not on[i]
        basis.replace(problem.n + len(problem.c) + i, column(problem, i, bool(on[i])))
    case = f"{problem.m} unilateral rows, {len(problem.c)} bilateral"
    return PaperRow(case, "Bartels-Golub: error of B x", basis_error(basis, problem, on), Identity(1e-8))


@cache
def paper_result(family: str, m: int) -> tuple[Problem, tasora.SimplexResult]:
    """Return a problem, and the result of the repaired procedure on it."""
    problem = FAMILIES[family](m, SEED)
    return problem, tasora.repaired(problem)


def ours(problem: Problem) -> KKT:
    """Return our factor of a problem's matrix."""
    return KKT(problem.tree, problem.packed, rows_of(problem))


def rows_of(problem: Problem):
    """Stack bilateral and unilateral rows."""
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack((problem.C, problem.D)))


TABLES = (procedure, magnitude, other_factors)
