"""Analyse K = [H J^T; J -E] symbolically: the order of elimination and the fronts, without numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..linalg.factorization import Factor
from ..tree.tree import Tree
from ._active_set import ActiveSetSolver
from ._fronts import Fronts, distinct_supports, find_fronts
from ._kkt import Kkt
from ._ordering import coupled_trees, group_trees, minimum_degree

REMEMBERED = 64  # of ten falling dominoes there are 34, 1.2 MB


def positions(tree: Tree, start: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Compute the position of every freedom in the order of elimination.

    Within a tree the order is leaf to root; trees that constraints couple are ordered by minimum degree.

    Parameters
    ----------
    tree : Tree
    start, column : ndarray of int
        Constraint r has its entries in column[start[r]:start[r + 1]].

    Returns
    -------
    ndarray of int, shape (n,)
    """
    trees = _trees(tree)
    count = len(trees.size)
    if count == 1:
        return tree.n - trees.place
    rank = np.zeros(count, dtype=np.intp)
    member, rows = coupled_trees(start, trees.which[column], count)
    if len(member):
        number, places = group_trees(member, rows, count)
        turn = np.full(places + 1, -1, dtype=np.intp)
        turn[minimum_degree(places, rows, number[member])] = np.arange(places)
        rank = turn[number]
    sequence = count - 1 - np.argsort(rank[::-1], kind="stable")
    end = np.empty(count, dtype=np.intp)
    end[sequence] = np.cumsum(trees.size[sequence])
    return end[trees.which] - trees.place


class _Trees(NamedTuple):
    """Sizes of the trees of a forest; tree and depth-first place, from 1, of every freedom."""

    size: np.ndarray
    which: np.ndarray
    place: np.ndarray


@lru_cache(maxsize=REMEMBERED)
def _trees(tree: Tree) -> _Trees:
    """Number the trees of a forest depth first."""
    depth_first, n = tree.order, tree.n
    first = np.flatnonzero(tree.parent[depth_first] < 0)
    size = np.diff(first, append=n)
    root = np.repeat(np.arange(len(first)), size)
    which, place = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
    which[depth_first], place[depth_first] = root, np.arange(1, n + 1) - first[root]
    return _Trees(size, which, place)


@dataclass(frozen=True, eq=False)
class SymbolicKkt:
    """Symbolic analysis of K, which problems with the same tree and supports share.

    Attributes
    ----------
    fronts : Fronts
        Fronts of K.
    idle : list
        Workspaces that are not in use.
    """

    fronts: Fronts
    idle: list[tuple[Factor, ActiveSetSolver]] = field(default_factory=list)

    def workspace(self, tree: Tree) -> tuple[Factor, ActiveSetSolver]:
        """Take an idle workspace for problems with this tree, or make one; callers return it to `idle`."""
        try:
            return self.idle.pop()
        except IndexError:
            return Factor(tree, layout="packed"), ActiveSetSolver(Kkt(self.fronts), tree.pattern)


_recent: list[SymbolicKkt] = []  # the latest first


def analyse(
    tree: Tree, start: np.ndarray, column: np.ndarray, guess: SymbolicKkt | None = None
) -> SymbolicKkt:
    """Return the symbolic analysis of K: the guess if it fits, or of the last REMEMBERED, or a new one."""
    start, column = np.ascontiguousarray(start, np.intp), np.ascontiguousarray(column, np.intp)
    known = _recent[:] if guess is None else [guess, *_recent]
    at = find_fronts([symbolic.fronts for symbolic in known], tree, start, column)
    if at >= 0:
        return known[at]
    once = distinct_supports(start, column)
    fresh = SymbolicKkt(Fronts(positions(tree, *once), tree, start, column))
    _recent.insert(0, fresh)
    del _recent[REMEMBERED:]
    return fresh
