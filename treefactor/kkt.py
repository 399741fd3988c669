"""The order of elimination of K = [H J^T; J -E] and its exact fill."""

from __future__ import annotations

import numpy as np

from ._kkt import Kkt
from ._order import minimum_degree
from .tree import Tree


def positions(tree: Tree, start: np.ndarray, column: np.ndarray) -> np.ndarray:
    """When every freedom is eliminated: leaf to root, the trees that constraints tie by minimum degree.

    Parameters
    ----------
    tree : Tree
    start, column : ndarray of int
        Constraint r has its entries in column[start[r]:start[r + 1]].
    """
    depth_first = tree.order
    root = np.cumsum(tree.parent[depth_first] < 0) - 1  # number of the tree, by depth-first place
    which = np.empty(tree.n, dtype=np.intp)
    which[depth_first] = root
    count = int(root[-1]) + 1 if tree.n else 0
    rank = np.arange(count)[::-1]
    tied = ties(which[column], start)
    if tied is not None:
        members, first = tied
        used, member = np.unique(members, return_inverse=True)
        rank = np.empty(count, dtype=np.intp)
        free = np.setdiff1d(np.arange(count), used)
        rank[free] = np.arange(free.size)
        rank[used[minimum_degree(used.size, first, member.astype(np.intp))]] = free.size + np.arange(
            used.size
        )
    sequence = np.lexsort((-np.arange(tree.n), rank[root]))
    position = np.empty(tree.n, dtype=np.intp)
    position[depth_first[sequence]] = np.arange(tree.n)
    return position


def ties(member: np.ndarray, start: np.ndarray):
    """Trees of the constraints that touch several, and where each constraint's begin; None without such."""
    m = len(start) - 1
    owner = np.repeat(np.arange(m), np.diff(start))
    order = np.lexsort((member, owner))
    owner, member = owner[order], member[order]
    fresh = np.ones(owner.size, dtype=bool)
    fresh[1:] = (owner[1:] != owner[:-1]) | (member[1:] != member[:-1])
    owner, member = owner[fresh], member[fresh]
    several = np.bincount(owner, minlength=m) > 1
    keep = several[owner]
    if not keep.any():
        return None
    owner, member = owner[keep], member[keep]
    return member, np.concatenate(([0], np.flatnonzero(np.diff(owner)) + 1, [owner.size])).astype(np.intp)


def analyse(tree: Tree, start: np.ndarray, column: np.ndarray) -> Kkt:
    """The fronts of K for one pattern, nothing factorized yet."""
    start, column = np.ascontiguousarray(start, np.intp), np.ascontiguousarray(column, np.intp)
    return Kkt(positions(tree, start, column), tree, start, column)


def predicted_nnz(kkt: Kkt, entries: int) -> int:
    """Entries of L of the whole K, its diagonal and the constraints' rows with `entries` entries included."""
    width, size = kkt.sizes().T
    return int((width * size - width * (width - 1) // 2).sum()) + entries + kkt.m
