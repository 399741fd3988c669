"""Convert the factor of one matrix to the forms of SciPy: a sparse L, and linear operators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..tree.tree import Tree


def l_csc(tree: Tree, packed: np.ndarray, unit: bool):
    """Return L as a `scipy.sparse.csc_array`, from its packed rows; unit replaces the diagonal by ones."""
    from scipy.sparse import csr_array

    if unit:
        packed[tree.row_start[1:] - 1] = 1.0
    return csr_array((packed, tree.columns.copy(), tree.row_start.copy()), shape=(tree.n, tree.n)).tocsc()


def linear_operator(n: int, apply: Callable):
    """Return a symmetric operation on (n,) or (n, k) as a `scipy.sparse.linalg.LinearOperator`."""
    from scipy.sparse.linalg import LinearOperator

    def matvec(x):  # SciPy passes (n,) or (n, 1)
        return apply(np.asarray(x).reshape(n))

    return LinearOperator(
        (n, n), matvec=matvec, rmatvec=matvec, matmat=apply, rmatmat=apply, dtype=np.float64
    )
