"""Reduce H to fewer coordinates under linear mimic couplings, and find the tree of the reduced matrix.

With v = G w the reduced inertia matrix is G^T H G. A coupling between two branches adds entries to it, so it
has a tree of its own.
"""

from __future__ import annotations

import numpy as np

from .._util.validation import as_real, require_finite
from ..exceptions import ShapeError
from ..tolerances import CLEAR_ENTRY
from ..tree.tree import Tree


class Coupling:
    """Linear mimic coupling v = G w between the freedoms v of a tree and fewer coordinates w.

    Parameters
    ----------
    tree : Tree
        Tree of the n freedoms v.
    G : array_like, shape (n, m)
        Must have full column rank.
    names : sequence of str, optional
        Names of the coordinates w.

    Attributes
    ----------
    tree : Tree
        Tree of the m coordinates: the smallest whose pattern contains that of ``G^T H G``.
    G : ndarray, shape (n, m), read-only

    Raises
    ------
    ShapeError, NonFiniteError
        If G does not fit the tree.
    ValueError
        If the columns of G depend on each other.

    Examples
    --------
    Two fingers on one hand, driven by one motor:

    >>> import numpy as np, treefactor as tf
    >>> from treefactor.model.mimic import Coupling
    >>> gripper = Coupling(tf.Tree([-1, 0, 0]), [[1.0, 0], [0, 1], [0, -1]])
    >>> H = np.array([[4.0, 1, 1], [1, 2, 0], [1, 0, 2]])
    >>> gripper.reduce(H)
    array([[4., 0.],
           [0., 4.]])
    >>> gripper.tree
    Tree([-1,  0])
    """

    def __init__(self, tree: Tree, G, names=None):
        from scipy.sparse import csr_array

        G = as_real(G, "G").copy()
        if G.ndim != 2 or G.shape[0] != tree.n:
            raise ShapeError(f"G must have shape ({tree.n}, m), got {G.shape}", G.shape, (tree.n, "m"))
        require_finite(G, "G")
        if not _has_full_rank(G):
            raise ValueError(
                "the columns of G depend on each other: some coordinates move nothing of their own"
            )
        G.flags.writeable = False
        self.G = G
        moved = csr_array((G != 0).astype(float))
        pattern = csr_array((np.ones(tree.nnz), tree.columns, tree.row_start), shape=(tree.n, tree.n))
        self.tree = Tree.from_pattern(moved.T @ pattern @ moved, names)

    def reduce(self, H) -> np.ndarray:
        """Return G^T H G, for H of shape (..., n, n); both triangles are read."""
        return self.G.T @ as_real(H, "H") @ self.G

    def reduce_force(self, tau) -> np.ndarray:
        """Return G^T tau, for tau of shape (..., n)."""
        return as_real(tau, "tau") @ self.G

    def expand(self, w) -> np.ndarray:
        """Return the freedoms G w, for w of shape (..., m)."""
        return as_real(w, "w") @ self.G.T


def _has_full_rank(G: np.ndarray) -> bool:
    """Return whether the columns of G are linearly independent.

    A column that is alone in a row is independent of the others. Only columns that share all their rows need
    singular values; mimic joints with one leader have none of these.
    """
    row, column = np.nonzero(G)
    size, largest = np.abs(G[row, column]), np.zeros(G.shape[1])
    np.maximum.at(largest, column, size)
    shared, clear = np.ones(G.shape[1], dtype=bool), size > CLEAR_ENTRY * largest[column]
    while True:
        left = shared[column]
        count = np.bincount(row[left], minlength=G.shape[0])
        alone = left & clear & (count[row] == 1)
        if not alone.any():
            break
        shared[column[alone]] = False
    G = G[:, shared]
    largest = np.abs(G).max(axis=0, initial=0.0)
    return G.shape[1] == 0 or np.linalg.matrix_rank(G / np.where(largest > 0.0, largest, 1.0)) == G.shape[1]
