"""Convert one inertia matrix to SciPy's sparse matrices and back, in O(nnz)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_array

from .._util.validation import require_sound


def packed_rows(tree, H, upper: bool) -> np.ndarray:
    """Return the packed rows along a Tree of a sparse (n, n) matrix; missing entries are zeros."""
    require_sound(H, "H")
    H = csr_array(H.T if upper else H, copy=True)
    H.sum_duplicates()
    stored = np.repeat(np.arange(tree.n), np.diff(H.indptr)) * tree.n + H.indices  # in rising order
    wanted = tree.rows * tree.n + tree.columns
    at = np.searchsorted(stored, wanted)
    is_stored = np.append(stored, -1)[at] == wanted
    return np.where(is_stored, np.append(H.data, 0)[at], 0)


def symmetric(tree, packed: np.ndarray) -> csc_array:
    """Return the symmetric matrix of packed rows along a Tree."""
    below = np.flatnonzero(tree.rows != tree.columns)
    rows = np.concatenate([tree.rows, tree.columns[below]])
    columns = np.concatenate([tree.columns, tree.rows[below]])
    entries = np.concatenate([packed, packed[below]])
    return coo_array((entries, (rows, columns)), shape=(tree.n, tree.n)).tocsc()
