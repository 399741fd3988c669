"""Execute Shimanovsky: tables 1 and 2, figure 4, Tree-1, savings and the rule for density."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial

import numpy as np

from ... import families
from ...bench.scaling import FAMILIES, affordable
from ...linalg.factorization import Factor
from ...tree.tree import Tree
from ..textbook import body_coordinates, featherstone
from ..textbook import shimanovsky as textbook
from ..textbook.body_coordinates import Body
from . import sample_bodies
from .execution import (
    apply,
    execute,
    factorization_count,
    last_node_count,
    refactor,
    sample,
    timed,
    timed_factorization,
    vector,
)
from .shimanovsky_bounds import (
    PAPER,
    bounds,
    half_zeros,
    lattice_sizes,
    orders,
    spanning_trees,
)
from .shimanovsky_numbers import along_p, numbers, unit, upper
from .table import Identity, PaperRow, Rule, Table

NODES = 256  # nodes of the largest tree that is counted

# of every family, n, N1 and N2 as functions of its parameter
FORMULAS: dict[str, Callable[[int], tuple[int, int, int]]] = {
    "chain": lambda m: (m, (m**2 - m) // 2, (m**3 - m) // 6),
    "binary tree": lambda m: (
        2**m - 1,
        sum(i * 2**i for i in range(1, m)),
        sum(i * (i + 1) * 2 ** (i - 1) for i in range(1, m)),
    ),
    "lattice": lattice_sizes,
}
ORDER: dict[str, tuple[str, Callable[[int], float]]] = {
    "chain": ("n³", lambda n: n**3),
    "binary tree": ("n log² n", lambda n: n * np.log2(n) ** 2),
    "lattice": ("n²", lambda n: n**2),
}

P = (0, 1, 2, 2, 3, 4, 4)  # Tree-1
DOF = (1, 1, 2, 1, 1, 2, 1)
P_EXPANDED = (0, 1, 2, 3, 2, 4, 5, 7, 5)
M_ROWS = (
    *((1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 3, 4, 6), (1, 2, 3, 4, 6)),
    *((1, 2, 5, 7, 8, 9), (1, 2, 3, 4, 6), (1, 2, 5, 7, 8), (1, 2, 5, 7, 8), (1, 2, 5, 9)),
)
U_ROWS = (
    *((1, 2, 3, 4, 5, 6, 7, 8, 9), (2, 3, 4, 5, 6, 7, 8, 9), (3, 4, 6), (4, 6), (5, 7, 8, 9), (6,)),
    *((7, 8), (8,), (9,)),
)
FIRST_STEP = {"computed": 4, "modified": 6}
FIRST_STEP_DENSE = {"computed": 9, "modified": 36}

SAVINGS = {  # family and parameter
    ("binary tree", 4): Decimal("7.75"),
    ("binary tree", 8): Decimal("434"),
    ("lattice", 4): Decimal("5.29"),
    ("lattice", 16): Decimal("73.9"),
}
DENSITIES = {  # alpha and 1/alpha^2
    ("binary tree", 4): (Decimal("0.37"), Decimal("7.3")),
    ("lattice", 4): (Decimal("0.44"), Decimal("5.2")),
}


def table_1() -> Table:
    """Count the costs of both factorizations and their substitutions."""
    rows = [
        row
        for case in (("binary tree", 4), ("lattice", 4))
        for method in ("UUᵀ", "UDUᵀ")
        for row in costs(*case, method)
    ]
    note = "Paper: the formulas in n, N1 and N2. Ours: algorithms 1 to 3, counted on counting scalars."
    return Table(PAPER, "Table 1: costs", note, rows)


def costs(family: str, m: int, method: str) -> list[PaperRow]:
    """Return the entries of table 1 on one tree by UUᵀ or UDUᵀ."""
    tree = FAMILIES[family][0](m)
    unit = method == "UDUᵀ"
    kind, factorize = ("LTDL", textbook.udut) if unit else ("LTL", textbook.uut)
    b = vector(tree)
    steps = {
        "factorization": (factorization_count(factorize, tree, upper=True), tree.cost(kind), refactor),
        "forward": (
            execute(textbook.forward, tree, b, unit, upper=True)[0],
            tree.cost("LT_inv", unit=False),  # UDUᵀ divides by D
            forward if unit else partial(apply, Factor.solve_lt),
        ),
        "backward": (
            execute(textbook.backward, tree, b, unit, upper=True)[0],
            tree.cost("L_inv", unit),
            partial(apply, Factor.solve_l),
        ),
    }
    return [
        PaperRow(label(family, tree), f"{method}, {what}", count, paper, timed=timed(kernel, tree, kind))
        for what, (count, paper, kernel) in steps.items()
    ]


def forward(f: Factor) -> Callable[[], object]:
    """Return a call of algorithm 2: D^-1 L^-T b."""
    D, b, out = f.D(), vector(f.tree), np.empty(f.tree.n)
    return lambda: np.divide(f.solve_lt(b, out), D, out)


def label(family: str, tree: Tree) -> str:
    """Return family and size as text."""
    return f"{family}, n = {tree.n}"


def table_2() -> Table:
    """Count the sizes of the three families, and their orders of growth."""
    rows = [row for family in FAMILIES for row in sizes(family)]
    note = (
        "N1 and N2 are the divisions and the multiplications of a run of algorithm 1 on counting scalars. "
        "Orders: how many times more operations the largest tree takes than the one before."
    )
    return Table(PAPER, "Table 2: three families", note, rows)


def sizes(family: str) -> list[PaperRow]:
    """Return counted sizes of the trees of a family, and the order of growth of the two largest."""
    rows, growing = [], []
    for m in affordable(family, NODES, np.inf):
        tree = FAMILIES[family][0](m)
        count = factorization_count(textbook.udut, tree, upper=True)
        ours = {"n": tree.n, "N1": count.div, "N2": count.mul}
        rows.append(PaperRow(family, f"m = {m}", ours, dict(zip(ours, FORMULAS[family](m), strict=True))))
        growing.append((tree.n, count.total))
    (n, fewer), (larger, more) = growing[-2:]
    name, order = ORDER[family]
    what = f"order {name}, n from {n} to {larger}"
    return [*rows, PaperRow(family, what, more / fewer, Rule(order(larger) / order(n)))]


def tree_1() -> Table:
    """Factorize the example Tree-1: expansion, patterns, first step of the elimination."""
    tree, case = families.tree_1(), "Tree-1"
    dense, every = families.chain(tree.n), list(range(tree.n))
    M = mass_matrix()
    U = np.triu(textbook.udut(M, every).astype(float))  # as if M were dense
    sparse = textbook.udut(upper(M, np.nan), P_EXPANDED).astype(float)
    rows = [
        PaperRow(case, "expanded p, textbook", tuple(featherstone.expand(P, DOF)), P_EXPANDED),
        PaperRow(case, "expanded p, Tree.from_joints", tuple((tree.parent + 1).tolist()), P_EXPANDED),
        *pattern("M", M, M_ROWS),
        *pattern("U", U, U_ROWS),
        PaperRow(
            case, "(3): M by composite bodies", float(np.abs(by_composites() - M).max() / M.max()), Identity()
        ),
        PaperRow(case, "U along p against a dense factor", along_p(M, unit(sparse)), Identity()),
        PaperRow(case, "entries of U in UᵀU", entries(np.linalg.cholesky(M)), dense.nnz),
        PaperRow(case, "entries of U in UDUᵀ", entries(U), sum(map(len, U_ROWS))),
        PaperRow(case, "first step", first_step(tree), FIRST_STEP, timed=timed_factorization(tree)),
        PaperRow("dense, n = 9", "first step", first_step(dense), FIRST_STEP_DENSE),
    ]
    note = (
        "M of seven bodies at random by differential inverse dynamics, U by algorithm 1 as of a dense "
        "matrix: neither uses the pattern. First step: the count for the tree less the count without its "
        "last node; D's entry is computed, too. Times: of the whole factorization."
    )
    return Table(PAPER, "Tree-1", note, rows, tree)


def mechanism() -> list[Body]:
    """Return seven bodies of Tree-1 at random, joints 3 and 6 with two freedoms."""
    bodies = sample_bodies.bodies(Tree.from_one_based(P))
    return [replace(body, S=np.eye(6)[2 : 2 + freedoms]) for body, freedoms in zip(bodies, DOF, strict=True)]


def mass_matrix() -> np.ndarray:
    """Compute M of Tree-1 column by column."""
    columns = [body_coordinates.inverse_dynamics(mechanism(), unit)[0] for unit in np.eye(sum(DOF))]
    return np.array(columns, dtype=float).T


def by_composites() -> np.ndarray:
    """Compute M of Tree-1 by the composite-rigid-body algorithm."""
    return body_coordinates.composite_rigid_body(mechanism()).astype(float)


def pattern(name: str, matrix: np.ndarray, printed: Sequence[tuple[int, ...]]) -> list[PaperRow]:
    """Return the columns of the non-zeros, row by row, from 1."""
    return [
        PaperRow("Tree-1", f"row {k} of {name}", tuple((np.flatnonzero(row) + 1).tolist()), paper)
        for k, (row, paper) in enumerate(zip(matrix, printed, strict=True), start=1)
    ]


def entries(matrix: np.ndarray) -> int:
    """Count the non-zeros."""
    return int(np.count_nonzero(matrix))


def first_step(tree: Tree) -> dict[str, int]:
    """Count the entries that the elimination of the last node computes and modifies."""
    count = last_node_count(textbook.udut, tree, upper=True)
    return {"computed": count.div + 1, "modified": count.mul}


def figure_4() -> Table:
    """Count the operations of a factorization against the size, with times."""
    curves = {family: curve(family) for family in FAMILIES}
    rows = [row for points in curves.values() for row in points.values()]
    note = (
        "N = N1 + 2 N2. Paper: from the formulas of table 2, since the text we have does not "
        "show the drawing. Ours: every operation of algorithm 1, counted "
        "on counting scalars. Times: our factorization, our own of a dense matrix and LAPACK's Cholesky."
    )
    return Table(PAPER, "Figure 4: cost of a factorization", note, rows, curves=curves)


def curve(family: str) -> dict[int, PaperRow]:
    """Return n and operations of one family."""
    points = {}
    for m in affordable(family, NODES, np.inf):
        tree = FAMILIES[family][0](m)
        _, N1, N2 = FORMULAS[family](m)
        count = factorization_count(textbook.udut, tree, upper=True).total
        times = timed_factorization(tree)
        points[tree.n] = PaperRow(label(family, tree), "N", count, N1 + 2 * N2, timed=times)
    return points


def savings() -> Table:
    """Return the headline savings against a dense matrix of the same size."""
    rows = []
    for (family, m), paper in SAVINGS.items():
        tree = FAMILIES[family][0](m)
        what = "times fewer operations"
        rows.append(PaperRow(label(family, tree), what, saved(tree), paper, timed=timed_factorization(tree)))
    note = "Operations of algorithm 1, counted on counting scalars, on the dense matrix and on the tree's."
    return Table(PAPER, "Savings against dense", note, rows)


def saved(tree: Tree) -> float:
    """Count how many times fewer operations the tree takes than a dense matrix."""
    dense, sparse = (
        factorization_count(textbook.udut, t, upper=True).total for t in (families.chain(tree.n), tree)
    )
    return dense / sparse


def densities() -> Table:
    """Compare density and the savings that follow from it by the rule of thumb."""
    rows = []
    for family, m in SAVINGS:
        tree = FAMILIES[family][0](m)
        case, alpha = label(family, tree), density(tree)
        printed = DENSITIES.get((family, m), (None, None))
        dense = execute(textbook.backward, families.chain(tree.n), vector(tree), True, upper=True)[0].total
        sparse = execute(textbook.backward, tree, vector(tree), True, upper=True)[0].total
        rows += [
            PaperRow(case, "density α", alpha, printed[0]),
            PaperRow(case, "1/α²", 1 / alpha**2, printed[1]),
            PaperRow(
                *(case, "factorization, times fewer operations", saved(tree), Rule(1 / alpha**2)),
                timed=timed_factorization(tree),
            ),
            PaperRow(
                *(case, "substitution, times fewer operations", dense / sparse, Rule(1 / alpha)),
                timed=timed(partial(apply, Factor.solve_l), tree, "LTDL"),
            ),
        ]
    note = "α is the share of non-zeros of the matrix. Savings as counted, beside the rule's 1/α² and 1/α."
    return Table(PAPER, "Density rule", note, rows)


def density(tree: Tree) -> float:
    """Return the share of non-zeros."""
    return entries(sample(tree)) / tree.n**2


TABLES = (
    *(table_1, numbers, table_2, tree_1, figure_4, savings, densities),
    *(bounds, spanning_trees, half_zeros, orders),
)
