"""Measure how cost, time and memory of a factorization grow with the size of a tree."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from .. import families
from ..linalg.factorization import Factor
from ..tree.tree import Tree
from .timing import Call, Result, outcome, times_in_turns

__all__ = [
    "FAMILIES",
    "LARGE",
    "NODES",
    "OPERATIONS",
    "Growth",
    "affordable",
    "dominant",
    "footprint",
    "growth",
    "refactorization",
    "steadiness",
]

NODES, SMALLEST = 2**20, 4  # of the largest tree, and where every family has a tree
OPERATIONS = 3e9  # of the longest factorization
LARGE = 1000  # nodes from which time should be proportional to operations

# of every family, a function and the parameters of ever larger trees
FAMILIES: dict[str, tuple[Callable[[int], Tree], list[int]]] = {
    "chain": (families.chain, [2**k for k in range(1, 21)]),
    "binary tree": (families.binary_tree, list(range(2, 21))),
    "lattice": (families.lattice, [2**k for k in range(1, 11)]),
}


@dataclass(frozen=True)
class Growth:
    """Cost, time and memory of one tree of a family.

    Attributes
    ----------
    family : str
    tree : Tree
    times : ndarray
        Seconds of a factorization of packed rows, turn by turn with the other trees of the family.
    memory : int
        Bytes that tree and factor take.

    Notes
    -----
    Thread-compatible.
    """

    family: str
    tree: Tree
    times: np.ndarray
    memory: int

    @property
    def operations(self) -> int:
        """Operations of the factorization: N1 + 2 N2 in Shimanovsky's notation."""
        return self.tree.cost("LTDL").total

    @property
    def dense(self) -> int:
        """Operations of the factorization of a dense matrix of the same size."""
        n = self.tree.n
        return (n**2 - n) // 2 + (n**3 - n) // 3

    @property
    def seconds(self) -> float:
        """Median time of a factorization."""
        return float(np.median(self.times))

    def as_dict(self) -> dict:
        """Return all values, for JSON."""
        tree = self.tree
        counts = {"n": tree.n, "N1": tree.D1, "N2": tree.D2, "nnz": tree.nnz}
        counts |= {"operations": self.operations, "dense": self.dense}
        return {"family": self.family, **counts, "seconds": self.seconds, "memory": self.memory}


def growth(family: str, nodes: int = NODES, operations: float = OPERATIONS) -> list[Growth]:
    """Measure the trees of a family, in turns.

    Parameters
    ----------
    family : str
        Of FAMILIES.
    nodes : int
        Of the largest tree.
    operations : float
        Of the longest factorization.

    Notes
    -----
    Shimanovsky, table 2 and figure 4.
    """
    make = FAMILIES[family][0]
    sizes = affordable(family, nodes, operations)
    memory = [footprint(partial(make, size)) for size in sizes]
    trees = [make(size) for size in sizes]
    times = times_in_turns([Call(refactorization(tree)) for tree in trees]).T
    return [Growth(family, *measured) for measured in zip(trees, times, memory, strict=True)]


def steadiness(grown: Sequence[Growth]) -> Result:
    """Compare the time per operation of the fastest large tree of a family with that of the slowest."""
    times = np.array([one.times / one.operations for one in grown if one.tree.n > LARGE])
    fastest, slowest = times.min(axis=0), times.max(axis=0)
    return outcome("S9", grown[0].family, "slowest size", "fastest size", slowest, fastest, 0.5)


def affordable(family: str, nodes: int, operations: float) -> list[int]:
    """Return the parameters of the trees of a family within both limits."""
    make, sizes = FAMILIES[family]
    affordable_sizes = []
    for size in sizes:
        tree = make(size)
        if tree.n > nodes or tree.cost("LTDL").total > operations:
            break
        affordable_sizes.append(size)
    return affordable_sizes


def refactorization(tree: Tree) -> Callable[[], object]:
    """Return a call that factorizes a matrix of random packed rows, in preallocated memory."""
    return partial(Factor(tree, layout="packed").refactor, dominant(tree, np.random.default_rng(0)))


def dominant(tree: Tree, rng: np.random.Generator) -> np.ndarray:
    """Return packed rows of a random diagonally dominant matrix."""
    H = rng.uniform(-1, 1, tree.nnz)
    diagonal = tree.row_start[1:] - 1
    H[diagonal] = 0.0
    size = np.abs(H)
    H[diagonal] = 1.0 + np.bincount(tree.rows, size, tree.n) + np.bincount(tree.columns, size, tree.n)
    return H


def footprint(make: Callable[[], Tree]) -> int:
    """Return the bytes that a tree and the factor of a matrix occupy."""
    tracemalloc.start()
    try:
        tree = make()
        factor = Factor(tree, layout="packed")
        used = tracemalloc.get_traced_memory()[0]
        del factor
    finally:
        tracemalloc.stop()
    return used
