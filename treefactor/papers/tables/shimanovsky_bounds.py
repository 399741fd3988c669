"""Execute Shimanovsky: bounds (7) and (10) to (13), spanning trees of a lattice, half zeros, orders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np

from ... import families
from ...bench.scaling import FAMILIES, affordable
from ...linalg.factorization import Factor
from ...tree.tree import OperationCount, Tree
from ..textbook import shimanovsky as textbook
from .execution import apply, execute, factorization_count, timed, timed_factorization, vector
from .table import Limit, PaperRow, Rule, Table

PAPER = "Shimanovsky, UDUᵀ of a branching system's mass matrix"
TREES = {
    "Tree-1": families.tree_1(),
    "binary tree, n = 15": families.binary_tree(4),
    "lattice, n = 16": families.lattice(4),
    "random tree, n = 30": families.random_tree(30, 0),
}
EDGES = (3, 4, 5, 8)  # nodes of an edge of the lattices
SIZE = 24  # nodes of the trees whose matrix is half zeros
SEEDS = 60  # random trees that are tried
NEAR = 0.01  # densities this close to 0.5 count as one half
LARGEST = 64  # nodes of the trees whose orders are compared
EVERY = 3  # edge of the lattice all of whose shortest-path trees are counted

Choice = Callable[[int, int], bool]  # whether a node of the lattice hangs on the one to its left


def bounds() -> Table:
    """Compare counted N1 and N2 with their bounds."""
    rows = [row for case, tree in TREES.items() for row in within(case, tree)]
    star, chain, n = Tree([-1] * 8), families.chain(8), 8
    counts = {case: counted(tree) for case, tree in (("all on the root", star), ("no branches", chain))}
    limits = {"all on the root": (0, 0), "no branches": ((n**2 - n) // 2, (n**3 - n) // 6)}
    for case, (N1, N2) in limits.items():
        rows += [
            PaperRow(f"{case}, n = 8", "(10) as an equation: N1", counts[case].div, N1),
            PaperRow(f"{case}, n = 8", "(11) as an equation: N2", counts[case].mul, N2),
        ]
    note = "N1 and N2 are the divisions and the multiplications of a run of algorithm 1 on counting scalars."
    return Table(PAPER, "Bounds (7) and (10) to (13)", note, rows)


def counted(tree: Tree) -> OperationCount:
    """Count the operations of algorithm 1."""
    return factorization_count(textbook.udut, tree, upper=True)


def within(case: str, tree: Tree) -> list[PaperRow]:
    """Compare the counts of one tree with all bounds."""
    n, d, count = tree.n, int(tree.depth.max()), counted(tree)
    return [
        PaperRow(case, "(7): largest η_i - i", int((tree.depth - np.arange(1, n + 1)).max()), Limit(0)),
        PaperRow(case, "(10): N1 ≤ (n² - n) / 2", count.div, Limit((n**2 - n) // 2)),
        PaperRow(case, "(11): N2 ≤ (n³ - n) / 6", count.mul, Limit((n**3 - n) // 6)),
        PaperRow(case, "(12): N1 ≤ n (d - 1)", count.div, Limit(n * (d - 1))),
        PaperRow(case, "(13): N2 ≤ n d (d - 1) / 2", count.mul, Limit(n * d * (d - 1) // 2)),
    ]


def lattice_sizes(m: int) -> tuple[int, int, int]:
    """Return n, N1 and N2 by the formulas of table 2."""
    return m**2, m**3 - m**2, (7 * m**4 - 6 * m**3 - m**2) // 12


def spanning_tree(m: int, left: Choice) -> Tree:
    """Return a shortest-path spanning tree of the m x m lattice with the root in a corner, row by row."""
    parent = []
    for row, column in product(range(m), repeat=2):
        beside = column > 0 and (row == 0 or left(row, column))
        parent.append(row * m + column - 1 if beside else (row - 1) * m + column if row else -1)
    return Tree(parent)


def at_random(seed: int) -> Choice:
    """Return a choice at random."""
    rng = np.random.default_rng(seed)
    return lambda row, column: bool(rng.integers(2))


CHOICES: dict[str, Callable[[], Choice]] = {
    "rows": lambda: lambda row, column: True,
    "columns": lambda: lambda row, column: False,
    "staircases": lambda: lambda row, column: (row + column) % 2 == 0,
    "at random, 0": partial(at_random, 0),
    "at random, 1": partial(at_random, 1),
}


def spanning_trees() -> Table:
    """Count several shortest-path trees of one lattice."""
    rows = []
    for m in EDGES:
        formula = dict(zip(("n", "N1", "N2"), lattice_sizes(m), strict=True))
        for name, choose in CHOICES.items():
            tree = spanning_tree(m, choose())
            count = counted(tree)
            ours = {"n": tree.n, "N1": count.div, "N2": count.mul}
            rows.append(PaperRow(f"lattice, m = {m}", f"tree by {name}", ours, formula))
    every, m = all_counts(EVERY), EDGES[-1]
    lattice, binary = (spanning_tree(m, at_random(2)), families.binary_tree(6))
    snake = counted(families.chain(m**2))
    rows += [
        PaperRow(f"lattice, m = {EVERY}", f"all {every.total()} trees: different (N1, N2)", len(every), 1),
        PaperRow(
            f"lattice, m = {m}",
            "nodes with η = 1, 2, ...",
            levels(lattice),
            tuple(m - abs(k - m) for k in range(1, 2 * m)),
        ),
        PaperRow(
            "binary tree, m = 6", "nodes with η = 1, 2, ...", levels(binary), tuple(2**k for k in range(6))
        ),
        PaperRow(f"lattice, m = {m}", "one path through all nodes", {"N1": snake.div, "N2": snake.mul}),
    ]
    note = (
        "Figure 3 (b) shows one of the trees for which table 2 holds. Every node hangs on its left or its "
        "upper neighbour; which one, is chosen by row, by column, alternately or at random. A path through "
        "all nodes is not a tree of shortest paths, and takes more."
    )
    return Table(PAPER, "Figure 3: spanning trees of a lattice", note, rows, spanning_tree(4, at_random(0)))


def all_counts(m: int) -> Counter[tuple[int, int]]:
    """Count N1 and N2 of every shortest-path tree of a lattice."""
    counts: Counter[tuple[int, int]] = Counter()
    for choice in product((False, True), repeat=(m - 1) ** 2):
        count = counted(spanning_tree(m, lambda row, column, c=choice: c[(row - 1) * (m - 1) + column - 1]))
        counts[count.div, count.mul] += 1
    return counts


def levels(tree: Tree) -> tuple[int, ...]:
    """Count the nodes at every distance from the root."""
    return tuple(np.bincount(tree.depth)[1:].tolist())


def half_zeros() -> Table:
    """Factorize matrices about half of whose entries are zero."""
    rows = []
    for case, tree in halves().items():
        dense, b = families.chain(tree.n), vector(tree)
        factorized = [counted(pattern).total for pattern in (dense, tree)]
        substituted = [
            execute(textbook.backward, pattern, b, True, upper=True)[0].total for pattern in (dense, tree)
        ]
        rows += [
            PaperRow(case, "share of non-zeros", float(tree.mask().mean())),
            PaperRow(
                *(case, "factorization, times fewer operations", factorized[0] / factorized[1], Rule(4.0)),
                timed=timed_factorization(tree),
            ),
            PaperRow(
                *(case, "substitution, times fewer operations", substituted[0] / substituted[1], Rule(2.0)),
                timed=timed(partial(apply, Factor.solve_l), tree, "LTDL"),
            ),
        ]
    note = (
        "The paper: with half of the entries zero the factorization is four times faster. Operations by "
        "algorithms 1 and 3; times of our kernels against those of a dense matrix."
    )
    return Table(PAPER, "Example: half of the entries are zero", note, rows)


def halves() -> dict[str, Tree]:
    """Return trees about half of whose entries are zero."""
    half = SIZE // 2
    trees = {
        "two chains, n = 24": Tree([*range(-1, half - 1), -1, *range(half, SIZE - 1)]),
        "9 nodes in series and 23 leaves, n = 32": Tree([*range(-1, 8), *[8] * 23]),
    }
    for seed in range(SEEDS):
        tree = families.random_tree(SIZE, seed, 0.1)
        if abs(tree.mask().mean() - 0.5) < NEAR:
            trees[f"random tree {seed}, n = {SIZE}"] = tree
    return trees


ORDERS: dict[str, dict[str, tuple[str, Callable[[int], float]]]] = {
    "chain": {"N1": ("n²", lambda n: n**2), "N2": ("n³", lambda n: n**3)},
    "binary tree": {
        "N1": ("n log n", lambda n: n * np.log2(n)),
        "N2": ("n log² n", lambda n: n * np.log2(n) ** 2),
    },
    "lattice": {"N1": ("n^1.5", lambda n: n**1.5), "N2": ("n²", lambda n: n**2)},
}


def orders() -> Table:
    """Compare the growth of N1 and N2 with their orders."""
    rows = []
    for family, (make, _) in FAMILIES.items():
        small, large = (make(m) for m in affordable(family, LARGEST, np.inf)[-2:])
        before, after = counted(small), counted(large)
        growths = {"N1": after.div / before.div, "N2": after.mul / before.mul}
        for name, (order, function) in ORDERS[family].items():
            what = f"{name} of order {order}, n from {small.n} to {large.n}"
            rows.append(PaperRow(family, what, growths[name], Rule(function(large.n) / function(small.n))))
    rows += [row for case, tree in TREES.items() for row in without_roots(case, tree)]
    note = "How many times more the largest tree takes than the one before; and what UDUᵀ does without."
    return Table(PAPER, "Sections 2 and 3: orders of N1 and N2", note, rows)


def without_roots(case: str, tree: Tree) -> list[PaperRow]:
    """Count what UUᵀ takes that UDUᵀ does not."""
    b = vector(tree)
    totals = []
    for factorize, unit in ((textbook.uut, False), (textbook.udut, True)):
        steps = [factorization_count(factorize, tree, upper=True)]
        steps += [
            execute(step, tree, b, unit, upper=True)[0] for step in (textbook.forward, textbook.backward)
        ]
        totals.append(
            {kind: sum(getattr(step, kind) for step in steps) for kind in ("mul", "add", "div", "sqrt")}
        )
    more = {kind: totals[0][kind] - totals[1][kind] for kind in totals[0]}
    return [PaperRow(case, "UUᵀ and its substitutions, more than UDUᵀ", more, expected(tree.n))]


def expected(n: int) -> dict[str, int]:
    """Return the operations of UUᵀ that UDUᵀ does not take, after the paper: n square roots, n divisions."""
    return {"mul": 0, "add": 0, "div": n, "sqrt": n}
