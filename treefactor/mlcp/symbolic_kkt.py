"""Analyse K = [H J^T; J -E] symbolically: the order of elimination and the fronts, without numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..tree.tree import Tree
from ._fronts import Fronts, distinct_supports, find_fronts
from ._ordering import coupled_trees, group_trees, minimum_degree


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
    depth_first, n = tree.order, tree.n
    first = np.flatnonzero(tree.parent[depth_first] < 0)  # of every tree, by depth-first place
    count, size = len(first), np.diff(first, append=n)
    root = np.repeat(np.arange(count), size)
    which = np.empty(n, dtype=np.intp)
    which[depth_first] = root
    rank = np.zeros(count, dtype=np.intp)
    member, rows = coupled_trees(start, which[column], count)
    if len(member):
        number, places = group_trees(member, rows, count)
        turn = np.full(places + 1, -1, dtype=np.intp)
        turn[minimum_degree(places, rows, number[member])] = np.arange(places)
        rank = turn[number]
    sequence = count - 1 - np.argsort(rank[::-1], kind="stable")
    end = np.empty(count, dtype=np.intp)
    end[sequence] = np.cumsum(size[sequence])
    position = np.empty(n, dtype=np.intp)
    position[depth_first] = (end + first)[root] - 1 - np.arange(n)
    return position


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
    idle: list = field(default_factory=list)


REMEMBERED = 16
_recent: list[SymbolicKkt] = []  # the latest first


def analyse(
    tree: Tree, start: np.ndarray, column: np.ndarray, guess: SymbolicKkt | None = None
) -> SymbolicKkt:
    """Return the symbolic analysis of K: the guess if it fits, or of the last REMEMBERED, or a new one."""
    start, column = np.ascontiguousarray(start, np.intp), np.ascontiguousarray(column, np.intp)
    known = _recent[:] if guess is None else [guess, *_recent]
    at = find_fronts([one.fronts for one in known], tree, start, column)
    if at >= 0:
        return known[at]
    once = distinct_supports(start, column)
    fresh = SymbolicKkt(Fronts(positions(tree, *once), tree, start, column, once))
    _recent.insert(0, fresh)
    del _recent[REMEMBERED:]
    return fresh
