"""Make the trees of the papers: chains, binary trees, lattices, Tree-1; and random trees."""

from __future__ import annotations

import numpy as np

from .tree.tree import Tree

__all__ = [
    "binary_tree",
    "chain",
    "lattice",
    "random_tree",
    "tree_1",
]


def chain(n: int) -> Tree:
    """Return an unbranched chain: D1 = (n^2 - n)/2, D2 = (n^3 - n)/6.

    Parameters
    ----------
    n : int
        Nodes.

    Returns
    -------
    Tree

    Raises
    ------
    ValueError
        If it is not an integer, or negative.
    """
    return Tree(np.arange(-1, _count(n, "n") - 1))


def binary_tree(depth: int) -> Tree:
    """Return a balanced binary tree of 2^depth - 1 nodes, numbered level by level.

    Parameters
    ----------
    depth : int
        Levels.

    Returns
    -------
    Tree

    Raises
    ------
    ValueError
        If it is not an integer, or negative.

    Notes
    -----
    Shimanovsky, table 2.
    """
    return Tree((np.arange(2 ** _count(depth, "depth") - 1) - 1) // 2)


def lattice(m: int) -> Tree:
    """Return the shortest-path spanning tree of an m x m lattice with the root in a corner, row by row.

    Parameters
    ----------
    m : int
        Nodes of an edge.

    Returns
    -------
    Tree

    Raises
    ------
    ValueError
        If it is not an integer, or negative.

    Notes
    -----
    Shimanovsky, table 2: D1 = m^3 - m^2.
    """
    m = _count(m, "m")
    row, column = np.divmod(np.arange(m**2), max(m, 1))
    parent = row * m + column - 1
    edge = column == 0
    parent[edge] = (row[edge] - 1) * m
    parent[:1] = -1
    return Tree(parent)


def tree_1() -> Tree:
    """Return Shimanovsky's example Tree-1: seven bodies, joints 3 and 6 with two freedoms, n = 9.

    Returns
    -------
    Tree
    """
    return Tree.from_joints([-1, 0, 1, 1, 2, 3, 3], [1, 1, 2, 1, 1, 2, 1])


def random_tree(n: int, rng: np.random.Generator | int, branching: float = 0.3) -> Tree:
    """Return a random tree of n nodes, possibly with several roots.

    Parameters
    ----------
    n : int
    rng : numpy.random.Generator or int
        Source of random numbers, or its seed.
    branching : float
        Probability that the parent of a node is any earlier node or the base, each as likely, instead of the
        node before it: 0 gives a chain, 1 a uniformly random recursive tree.

    Returns
    -------
    Tree

    Raises
    ------
    ValueError
        If n is not an integer or negative, or branching is not from 0 to 1.
    """
    if not 0 <= branching <= 1:
        raise ValueError(f"branching must lie between 0 and 1, got {branching}")
    rng = np.random.default_rng(rng)
    parent = np.arange(-1, _count(n, "n") - 1)
    anywhere = rng.integers(-1, np.arange(n)) if n else parent
    return Tree(np.where(rng.random(n) < branching, anywhere, parent))


def _count(value: int, name: str) -> int:
    """Return value if it is a non-negative integer."""
    if not float(value).is_integer() or value < 0:
        raise ValueError(f"{name} must be a non-negative integer, got {value}")
    return int(value)
