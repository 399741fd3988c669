"""Execute Featherstone (2008), tables 6.1 and 6.2 in body coordinates, figures 6.1 to 6.3, and orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ... import families
from ...dynamics import crba, rnea
from ...tree.tree import OperationCount, Tree
from ..textbook import featherstone as textbook
from . import sample_bodies as sample
from .execution import execute, factorization_count
from .table import AtLeast, Identity, Limit, PaperRow, Rule, Table

PAPER = "Featherstone (2008), chapter 6"
TITLE_ONLY = (
    " The text we have shows only the title of this table; its content is taken from notes on the book."
)
SAMPLES = {
    "chain, n = 6": families.chain(6),
    "binary tree, n = 7": families.binary_tree(3),
    "random tree, n = 12": families.random_tree(12, 0),
}
BODY = 1  # body whose joint accelerates in figure 6.1, counted from 0
LEGS = 4  # joints of each leg of the trees of fixed depth


def legs(count: int) -> Tree:
    """Return a tree of chains of four joints on the base."""
    return Tree([-1 if k % LEGS == 0 else k - 1 for k in range(LEGS * count)])


# functions that make the trees, and their parameters
FAMILIES: dict[str, tuple[Callable[[int], Tree], Sequence[int]]] = {
    "chains": (families.chain, (4, 8, 16, 32)),
    "binary trees": (families.binary_tree, (2, 3, 4, 5, 6)),
    "lattices": (families.lattice, (2, 3, 4, 5, 6)),
    "legs of four joints": (legs, (1, 2, 4, 8, 16)),
}


def residual(actual: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest deviation over the largest expected entry."""
    return float(np.abs(actual - expected).max() / np.abs(expected).max())


def depth(tree: Tree) -> int:
    """Return the depth of a tree, the book's d."""
    return int(tree.depth.max())


def table_6_1() -> Table:
    """Multiply by H without H, by differential inverse dynamics."""
    rows = [row for case, tree in SAMPLES.items() for row in products(case, tree)]
    note = (
        "In body coordinates, as printed, on counting scalars; S and X are given, as in the book. A spatial "
        "transform takes 24 multiplications and 18 additions, no zero of S is used. Compared with `crba` and "
        "`rnea`, which work in another frame."
    )
    return Table(PAPER, "Table 6.1: H times a vector without H", note + TITLE_ONLY, rows)


def products(case: str, tree: Tree) -> list[PaperRow]:
    """Execute equations (6.3) and (6.4) and table 6.1 on one tree."""
    model, q = sample.model(tree), sample.configuration(tree)
    v, a = np.random.default_rng(2).normal(size=(2, tree.n))
    H, zero = crba(model, q), np.zeros(tree.n)
    count, tau, *_ = sample.product(tree, a)
    times = tree.n * count.total / sample.inertia(tree)[0].total
    change = rnea(model, q, v, a) - rnea(model, q, v, zero)
    return [
        PaperRow(case, "(6.3): ID(q̈) - C against H q̈", residual(change, H @ a), Identity()),
        PaperRow(case, "(6.4): table 6.1 against ID(q̈) - ID(0)", residual(tau.ravel(), change), Identity()),
        PaperRow(case, "columns of H by δ", residual(columns(tree), H), Identity()),
        PaperRow(case, "operations of table 6.1", count),
        PaperRow(case, "operations for H by n columns, times those of table 6.2", times, AtLeast(1.0)),
    ]


def table_6_2() -> Table:
    """Compute H by the composite-rigid-body algorithm."""
    rows = []
    for case, tree in SAMPLES.items():
        count, H = sample.inertia(tree)
        expected = crba(sample.model(tree), sample.configuration(tree))
        rows += [
            PaperRow(case, "H against crba", residual(H, expected), Identity()),
            PaperRow(case, "operations of table 6.2", count),
            PaperRow(
                case,
                "non-zeros of H, at most n d in its lower triangle",
                lower(H),
                Limit(tree.n * depth(tree)),
            ),
        ]
    note = (
        "As table 6.1. The composite of a body takes 45 + 9 + 12 multiplications to turn and shift; the book "
        "counts nothing here."
    )
    return Table(PAPER, "Table 6.2: composite-rigid-body algorithm", note + TITLE_ONLY, rows)


def lower(matrix: np.ndarray) -> int:
    """Count the non-zeros of the lower triangle."""
    return int(np.count_nonzero(np.tril(matrix)))


def figure_6_1() -> Table:
    """Accelerate one joint, and look at the motions and forces of all bodies."""
    tree = families.binary_tree(3)
    X, bodies = sample.motions_from_base(tree), sample.bodies(tree)
    _, tau, a, f = sample.product(tree, np.eye(tree.n)[BODY])
    a, f = np.array([np.linalg.solve(x, motion) for x, motion in zip(X, a, strict=True)]), from_base(X, f)
    s = np.linalg.solve(X[BODY], bodies[BODY].S[0])
    inside = np.array([BODY in (k, *tree.ancestors(k)) for k in range(tree.n)])
    above = np.array([k in (BODY, *tree.ancestors(BODY)) for k in range(tree.n)])
    composite = composites(tree)
    expected = np.where(inside[:, None], composite @ s, np.where(above[:, None], composite[BODY] @ s, 0.0))
    own = np.array([x.T @ sample.matrix(body) @ x @ m for x, body, m in zip(X, bodies, a, strict=True)])
    summed = np.array([own[subtree(tree, k)].sum(axis=0) for k in range(tree.n)])
    S = np.array([np.linalg.solve(x, body.S[0]) for x, body in zip(X, bodies, strict=True)])
    case, column = "joint 2 of seven bodies", sample.inertia(tree)[1][:, BODY]
    rows = [
        PaperRow(case, "(6.21): accelerations", residual(a, inside[:, None] * s), Identity()),
        PaperRow(case, "(6.22), (6.23): forces sum those of the subtree", residual(f, summed), Identity()),
        PaperRow(case, "(6.24): forces", residual(f, expected), Identity()),
        PaperRow(case, "(6.25): column of H", residual((S * expected).sum(axis=1), column), Identity()),
        PaperRow(case, "τ is a column of H", residual(tau.ravel(), column), Identity()),
    ]
    note = "Table 6.1 with q̈ = δ, in coordinates of the base. The book's drawing is not in the text we have."
    return Table(PAPER, "Figure 6.1: one joint accelerates", note, rows, tree)


def from_base(X: Sequence[np.ndarray], f: np.ndarray) -> np.ndarray:
    """Return forces on the bodies in coordinates of the base."""
    return np.array([x.T @ force for x, force in zip(X, f, strict=True)])


def subtree(tree: Tree, k: int) -> np.ndarray:
    """Return the nodes that node k supports, itself included."""
    return np.array([m for m in range(tree.n) if k in (m, *tree.ancestors(m))])


def composites(tree: Tree) -> np.ndarray:
    """Return the 6 x 6 inertias of all subtrees in coordinates of the base (6.12)."""
    X, bodies = sample.motions_from_base(tree), sample.bodies(tree)
    own = np.array([x.T @ sample.matrix(body) @ x for x, body in zip(X, bodies, strict=True)])
    return np.array([own[subtree(tree, k)].sum(axis=0) for k in range(tree.n)])


def equations() -> Table:
    """Execute the equations of section 6.2 on matrices, apart from the algorithms."""
    rows = [row for case, tree in SAMPLES.items() for row in energies(case, tree)]
    note = (
        "Sums over bodies and joints as the equations have them, on 6 x 6 matrices in coordinates of the "
        "base, against H of table 6.2."
    )
    return Table(PAPER, "Equations (6.7) to (6.16)", note, rows)


def energies(case: str, tree: Tree) -> list[PaperRow]:
    """Execute the sums of equations (6.7) to (6.16) on one tree."""
    X, bodies = sample.motions_from_base(tree), sample.bodies(tree)
    H, v = sample.inertia(tree)[1], np.random.default_rng(3).normal(size=tree.n)
    S = np.array([np.linalg.solve(x, body.S[0]) for x, body in zip(X, bodies, strict=True)])
    own = [x.T @ sample.matrix(body) @ x for x, body in zip(X, bodies, strict=True)]
    speeds = [v[path] @ S[path] for path in ([*tree.ancestors(k), k] for k in range(tree.n))]
    twice = sum(speed @ inertia @ speed for speed, inertia in zip(speeds, own, strict=True))
    both = [
        [np.intersect1d(subtree(tree, i), subtree(tree, j)) for j in range(tree.n)] for i in range(tree.n)
    ]
    summed = np.array(
        [[sum(S[i] @ own[k] @ S[j] for k in row[j]) for j in range(tree.n)] for i, row in enumerate(both)]
    )
    composite = composites(tree)
    recursive = np.array(own)
    for k in range(tree.n - 1, -1, -1):
        if tree.parent[k] >= 0:
            recursive[tree.parent[k]] += recursive[k]
    deeper = [
        [S[i] @ composite[max(i, j)] @ S[j] * (tree.mask()[i, j]) for j in range(tree.n)]
        for i in range(tree.n)
    ]
    return [
        PaperRow(
            case, "(6.5), (6.10): kinetic energy", residual(np.array(v @ H @ v), np.array(twice)), Identity()
        ),
        PaperRow(case, "(6.8), (6.9), (6.11): H by sums", residual(summed, H), Identity()),
        PaperRow(case, "(6.12), (6.13): composites", residual(recursive, composite), Identity()),
        PaperRow(
            case,
            "(6.14); (6.16) without its plus sign: H by composites",
            residual(np.array(deeper), H),
            Identity(),
        ),
    ]


def figure_6_2() -> Table:
    """Compute H for the extremes of branching, and for two numberings of one graph."""
    star, chain, tree = Tree([-1] * 7), families.chain(7), families.binary_tree(3)
    renumbered, order = Tree.renumber(tree.parent)  # depth first instead of level by level
    moved = (columns(tree) != 0)[np.ix_(order, order)]
    numbered = "(d), (e) two numberings"
    rows = [
        PaperRow(
            "(a) all bodies on the base", "off-diagonal non-zeros of H", lower(columns(star)) - star.n, 0
        ),
        PaperRow("(b) no branches", "zeros of H", int((columns(chain) == 0).sum()), 0),
        PaperRow(
            numbered, "entries that a permutation misses", int((moved != (columns(renumbered) != 0)).sum()), 0
        ),
        PaperRow(
            numbered, "operations of LᵀDL, difference", ltdl(renumbered).total - ltdl(tree).total, Identity()
        ),
    ]
    note = (
        "Non-zeros of H at random positions, by table 6.1, which does not know the pattern. The graphs (c) "
        "to (e) of the book are drawings that the text we have does not contain; (d) and (e) are our seven "
        "bodies, numbered level by level and depth first."
    )
    return Table(PAPER, "Figure 6.2: branch-induced sparsity", note, rows)


def columns(tree: Tree) -> np.ndarray:
    """Compute H column by column by table 6.1."""
    return np.stack([sample.product(tree, unit)[1].ravel() for unit in np.eye(tree.n)], axis=1)


def ltdl(tree: Tree) -> OperationCount:
    """Count the operations of the factorization."""
    return factorization_count(textbook.ltdl, tree)


def figure_6_3() -> Table:
    """Compare the patterns of H and of factors that are computed from it as from a dense matrix."""
    rows = []
    for case, tree in SAMPLES.items():
        if tree.nnz == families.chain(tree.n).nnz:
            continue  # nothing can fill
        H, dense = columns(tree), list(range(tree.n))  # as if there were no branches
        for kind, factorize in (("LᵀL", textbook.ltl), ("LᵀDL", textbook.ltdl)):
            full, sparse = (
                np.tril(factorize(H, lam).astype(float)) for lam in (dense, (tree.parent + 1).tolist())
            )
            rows += [
                PaperRow(case, f"table 6.3: H = {kind}", residual(recomposed(sparse, kind), H), Identity()),
                PaperRow(case, f"fill-in of {kind}", lower(full) - lower(H), 0),
            ]
        rows.append(
            PaperRow(case, "fill-in of LLᵀ, the usual order", lower(np.linalg.cholesky(H)) - lower(H))
        )
    note = (
        "Table 6.3 along the tree, and on all entries of H (by table 6.1) as if there were no branches; the "
        "second run counts what fills."
    )
    return Table(PAPER, "Figure 6.3: factors keep the pattern", note, rows)


def recomposed(factored: np.ndarray, kind: str) -> np.ndarray:
    """Return H of the result of a factorization."""
    if kind == "LᵀL":
        return factored.T @ factored
    L = np.tril(factored, -1) + np.eye(len(factored))
    return L.T @ np.diag(np.diag(factored)) @ L


ORDERS: dict[str, tuple[str, Callable[[Tree], float], Callable[[Tree], int]]] = {
    "inverse dynamics (table 6.1)": ("n", lambda t: t.n, lambda t: sample.product(t, np.ones(t.n))[0].total),
    "H (table 6.2)": ("n d", lambda t: t.n * depth(t), lambda t: sample.inertia(t)[0].total),
    "LᵀDL and solution": ("n d²", lambda t: t.n * depth(t) ** 2, lambda t: ltdl(t).total + substitution(t)),
}


def substitution(tree: Tree) -> int:
    """Count the operations of a solution by the factor."""
    b = np.ones(tree.n)
    return (
        sum(execute(algorithm, tree, b, True)[0].total for algorithm in (textbook.lt_inv, textbook.l_inv))
        + tree.n
    )


def orders() -> Table:
    """Fit the growth of counted operations over families of trees."""
    rows = []
    for what, (order, scale, cost) in ORDERS.items():
        fitted = {
            family: np.array([(scale(tree), cost(tree)) for tree in map(make, sizes)])
            for family, (make, sizes) in FAMILIES.items()
        }
        fitted["all families"] = np.concatenate(list(fitted.values()))
        for family, points in fitted.items():
            slope = float(np.polyfit(*np.log(points).T, 1)[0])
            rows.append(PaperRow(family, f"{what}: exponent of {order}", slope, Rule(1.0)))
    note = (
        "Slopes of straight lines through logarithms of counted operations, by least squares. The book "
        "states the orders O(n), O(n d) and O(n d²) of steps 1 to 3 of forward dynamics, d the depth."
    )
    return Table(PAPER, "Section 6.1: orders of the three steps", note, rows)


def bounds() -> Table:
    """Compare counted D1 and D2 with their bounds."""
    rows = []
    trees = {
        f"{family}, n = {make(m).n}": make(m)
        for family, (make, sizes) in FAMILIES.items()
        for m in sizes[-2:]
    }
    for case, tree in {**SAMPLES, "all on the base, n = 8": Tree([-1] * 8), **trees}.items():
        n, d, count = tree.n, depth(tree), ltdl(tree)
        rows += [
            PaperRow(case, "D1 ≤ n (d - 1)", count.div, Limit(n * (d - 1))),
            PaperRow(case, "D2 ≤ n d (d - 1) / 2", count.mul, Limit(n * d * (d - 1) // 2)),
        ]
    n = SAMPLES["chain, n = 6"].n
    largest = ltdl(families.chain(n))
    rows += [
        PaperRow("no branches, n = 6", "D1 = (n² - n) / 2", largest.div, (n**2 - n) // 2),
        PaperRow("no branches, n = 6", "D2 = (n³ - n) / 6", largest.mul, (n**3 - n) // 6),
    ]
    note = "D1 and D2 are the divisions and the multiplications of a run of LᵀDL on counting scalars."
    return Table(PAPER, "Section 6.5: bounds of D1 and D2", note, rows)
