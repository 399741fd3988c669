"""Execute Featherstone (2008), chapter 6: tables 6.4 to 6.6, figure 6.4, and the rule for density."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, partial
from itertools import accumulate

import numpy as np

from ... import families
from ...check import robots
from ...exceptions import TreefactorError
from ...linalg.factorization import Factor, factor
from ...linalg.solve_multiply import multiply
from ...tree.tree import Tree
from ..textbook import featherstone as textbook
from ..textbook.recursions import operations
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
from .featherstone_inertia import (
    PAPER,
    TITLE_ONLY,
    bounds,
    equations,
    figure_6_1,
    figure_6_2,
    figure_6_3,
    orders,
    table_6_1,
    table_6_2,
)
from .table import Identity, PaperRow, Rule, Table

LAM = [0, 1, 1, 2, 2, 3]  # example of table 6.4: joint 2 has three freedoms
DOF = [1, 3, 1, 1, 1, 1]
MAP = (0, 1, 4, 5, 6, 7, 8)
EXPANDED = (0, 1, 2, 3, 1, 4, 4, 5)
WELDED = {  # of trees with one joint without freedoms, the parent array, freedoms, and the expanded array
    "joint 3 welded": (LAM, [1, 1, 0, 1, 1, 1], (0, 1, 2, 2, 1)),
    "joint 4 welded": ([0, 1, 1, 2, 4, 4], [1, 1, 1, 0, 1, 1], (0, 1, 1, 2, 2)),
}
ROBOT = "solo12"
EXACT = Identity()  # residuals must be 0 within rounding
STEP = {"area 2": 2, "area 3": 3}  # counts in figure 6.4, the same for k = 7, 6 and 5


def table_6_4() -> Table:
    """Expand the parent array."""
    map_, printed = as_printed(LAM, DOF)
    welded = (
        "as printed, map(i) = map(i-1) + n_i sends the children of a joint without freedoms to the joint "
        "numbered before it; ours sends them to its parent's last variable"
    )
    three = "joint 2 with 3 freedoms"
    rows = [
        PaperRow(three, "map, as printed", map_, MAP),
        PaperRow(three, "λ', as printed", printed, EXPANDED),
        PaperRow(three, "λ', textbook", tuple(textbook.expand(LAM, DOF)), EXPANDED),
        PaperRow(three, "λ', Tree.from_joints", expanded(LAM, DOF), EXPANDED),
    ]
    for case, (lam, dof, known) in WELDED.items():
        paper = as_printed(lam, dof)[1]
        rows += [
            PaperRow(case, "λ', textbook", tuple(textbook.expand(lam, dof)), paper, known, welded),
            PaperRow(case, "λ', Tree.from_joints", expanded(lam, dof), paper, known, welded),
        ]
    note = f"λ = {tuple(LAM)}, nodes from 1, base 0; λ = {tuple(WELDED['joint 4 welded'][0])} for joint 4."
    return Table(PAPER, "Table 6.4: expanded parent array", note + TITLE_ONLY, rows, example())


def as_printed(lam: list[int], dof: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Expand by table 6.4 to the letter: map, and the expanded parent array."""
    map_ = (0, *accumulate(dof))
    expanded = list(range(sum(dof)))  # λ'(i) = i - 1
    for i, parent in enumerate(lam, start=1):
        expanded[map_[i - 1]] = map_[parent]  # λ'(map(i-1) + 1) = map(λ(i))
    return map_, tuple(expanded)


def expanded(lam: list[int], dof: list[int]) -> tuple[int, ...]:
    """Expand by `Tree.from_joints`, from 1."""
    return tuple((Tree.from_joints(np.array(lam) - 1, dof).parent + 1).tolist())


def example() -> Tree:
    """Return the expanded tree of table 6.4."""
    return Tree.from_one_based(EXPANDED)


def figure_6_4() -> Table:
    """Count the first steps of the factorization of seven bodies: divisions in area 2, updates in area 3."""
    whole, rows = families.binary_tree(3), []
    for k in (7, 6, 5):
        count = last_node_count(textbook.ltdl, Tree(whole.parent[:k]))
        rows.append(PaperRow("seven bodies", f"k = {k}", {"area 2": count.div, "area 3": count.mul}, STEP))
    note = "The count for the nodes up to k less the count without k, on counting scalars, by LTDL."
    return Table(PAPER, "Figure 6.4: first three steps", note, rows, whole)


@dataclass(frozen=True)
class Product:
    """A product or back-substitution with L: by the textbook, by NumPy and by our kernels."""

    kind: str
    what: str
    book: Callable
    numpy: Callable
    ours: Callable


PRODUCTS = (
    Product("L", "L x", textbook.l_mul, np.matmul, Factor.multiply_l),
    Product("LT", "Lᵀ x", textbook.lt_mul, lambda L, x: L.T @ x, Factor.multiply_lt),
    Product("L_inv", "L⁻¹ x", textbook.l_inv, np.linalg.solve, Factor.solve_l),
    Product("LT_inv", "L⁻ᵀ x", textbook.lt_inv, lambda L, x: np.linalg.solve(L.T, x), Factor.solve_lt),
)
FACTORIZATIONS = {"LTL": textbook.ltl, "LTDL": textbook.ltdl}
SHAPE = {False: "general L", True: "unit L"}  # name of L by whether its diagonal is 1
KIND = {False: "LTL", True: "LTDL"}


def table_6_5() -> Table:
    """Compare products and back-substitutions with NumPy's."""
    tree, case = example(), "example of table 6.4"
    H, x = sample(tree), vector(tree)
    rows = []
    for product in PRODUCTS:
        for unit, shape in SHAPE.items():
            L = lower(tree, unit)
            results = execute(product.book, tree, x, unit)[1], product.ours(factored(tree, unit), x)
            rows.append(
                PaperRow(case, f"{product.what}, {shape}", error(product.numpy(L, x), *results), EXACT)
            )
    results = execute(textbook.h_mul, tree, x)[1], multiply(H, tree, x)
    rows.append(PaperRow(case, "H x", error(H @ x, *results), EXACT))
    for kind, book in FACTORIZATIONS.items():
        results = execute(partial(_solution, book, kind), tree, x)[1], factor(H, tree, kind).solve(x)
        rows.append(PaperRow(case, f"H⁻¹ x by {kind}", error(np.linalg.solve(H, x), *results), EXACT))
    note = (
        "Largest deviation from NumPy's result over its largest entry: the worse of the algorithm as "
        "printed, run on counting scalars, and our kernel."
    )
    return Table(PAPER, "Table 6.5: products and back-substitutions", note + TITLE_ONLY, rows)


def _solution(factorize: Callable, kind: str, H, lam, b) -> np.ndarray:
    """Solve H x = b by the textbook."""
    return textbook.solve(factorize(H, lam), lam, b, kind == "LTDL")


def lower(tree: Tree, unit: bool) -> np.ndarray:
    """Return the L that `execute` passes to the products: the lower triangle of the sample."""
    L = np.tril(sample(tree))
    if unit:
        np.fill_diagonal(L, 1.0)
    return L


def factored(tree: Tree, unit: bool) -> Factor:
    """Return a factor with that L."""
    L = lower(tree, unit)
    return factor(L.T @ L, tree, KIND[unit])


def error(expected: np.ndarray, *results: np.ndarray) -> float:
    """Return the largest deviation over the largest expected entry."""
    return float(max(np.abs(result - expected).max() for result in results) / np.abs(expected).max())


def table_6_6() -> Table:
    """Count every operation on several trees."""
    rows = [row for case, tree in cases().items() for row in costs(case, tree)]
    note = "Paper: the formulas in n, D1, D2. Ours: the algorithms as printed, counted on counting scalars."
    return Table(PAPER, "Table 6.6: computational cost", note + TITLE_ONLY, rows)


@cache
def cases() -> dict[str, Tree]:
    """Return the trees whose costs are counted; a robot only where Pinocchio is installed."""
    named = {
        "chain": families.chain(12),
        "binary tree": families.binary_tree(4),
        "Tree-1": families.tree_1(),
        "random tree": families.random_tree(30, 0),
    }
    with suppress(TreefactorError):  # where it is not installed
        from ...adapters import pinocchio_

        robot = robots.find(ROBOT)
        named[ROBOT] = pinocchio_.tree(pinocchio_.load(robot.path, robot.floating))
    return {f"{name}, n = {tree.n}": tree for name, tree in named.items()}


def costs(case: str, tree: Tree) -> list[PaperRow]:
    """Count every operation of table 6.6 on one tree."""
    rows = [
        PaperRow(
            case, kind, factorization_count(book, tree), tree.cost(kind), timed=timed(refactor, tree, kind)
        )
        for kind, book in FACTORIZATIONS.items()
    ]
    for product in PRODUCTS:
        for unit, shape in SHAPE.items():
            count = execute(product.book, tree, vector(tree), unit)[0]
            times = timed(partial(apply, product.ours), tree, KIND[unit])
            paper = tree.cost(product.kind, unit)
            rows.append(PaperRow(case, f"{product.what}, {shape}", count, paper, timed=times))
    count = execute(textbook.h_mul, tree, vector(tree))[0]
    return [
        *rows,
        PaperRow(case, "H x", count, tree.cost("H"), timed=timed(partial(apply, h_mul), tree, "LTDL")),
    ]


def h_mul(f: Factor, x: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Return H x of the sample."""
    return multiply(sample(f.tree), f.tree, x, out)


def rule_of_thumb() -> Table:
    """Compare counted costs with those that follow roughly from the density."""
    rows = []
    for case, tree in {**cases(), "binary tree, n = 63": families.binary_tree(6)}.items():
        if tree.nnz == families.chain(tree.n).nnz:
            continue  # a rule about branches
        saved = [factorization_count(textbook.ltdl, t).total for t in (families.chain(tree.n), tree)]
        rows += [
            PaperRow(case, "density ρ", tree.mask().mean()),
            *(share(case, tree, what, cost) for what, cost in RECURSIONS.items()),
            PaperRow(
                *(case, "operations to factorize, times fewer", saved[0] / saved[1]),
                *(Rule(1 / tree.density**2),),
                timed=timed_factorization(tree),
            ),
        ]
    note = (
        "Counted operations on a tree over those on a chain of the same size, beside ρ; and how many times "
        "cheaper the factorization is, beside 1/ρ². Explained: costs per body, by depth 1, 2 and more, and "
        "per pair of bodies, from chains of one to four bodies, give the share to 3 digits."
    )
    return Table(PAPER, "Section 6.4: rule of thumb", note, rows)


RECURSIONS: dict[str, Callable[[Tree], int]] = {
    "operations for H (table 6.2), share of a chain's": lambda tree: sample_bodies.inertia(tree)[0].total,
    "operations for H (our loops), share of a chain's": lambda tree: (
        operations(sample_bodies.model(tree), "crba").total
    ),
}
PER_BODY = (
    "poses and composite inertias take as much for a body of a tree as for one of a chain, and only the work "
    "for pairs of bodies falls with ρ"
)


def share(case: str, tree: Tree, what: str, cost: Callable[[Tree], int]) -> PaperRow:
    """Compare the cost of H with that on a chain, and with what the costs of small trees predict."""
    chain = families.chain(tree.n)
    small = [families.chain(n) for n in (1, 2, 3, 4)]
    terms = np.linalg.solve(*(np.array(list(map(of, small)), dtype=float) for of in (sizes, cost)))
    predicted = (terms @ sizes(tree)) / (terms @ sizes(chain))
    ours = cost(tree) / cost(chain)
    return PaperRow(case, what, ours, Rule(tree.density), Decimal(f"{predicted:.3f}"), PER_BODY)


def sizes(tree: Tree) -> tuple[int, ...]:
    """Count bodies of depth 1, 2 and more, and pairs of a body and one that carries it."""
    return *(int(group.sum()) for group in (tree.depth == 1, tree.depth == 2, tree.depth > 2)), tree.D1


TABLES = (
    *(table_6_1, table_6_2, figure_6_1, equations, figure_6_2, figure_6_3),
    *(table_6_4, figure_6_4, table_6_5, table_6_6, rule_of_thumb, orders, bounds),
)
