"""Use a factor, or a triangle of H, that another library keeps in its own arrays."""

from __future__ import annotations

import numpy as np

from ..tree.tree import Tree
from . import _single_calls  # type: ignore[attr-defined]  # compiled
from .factors import Factor


class ForeignFactor(_single_calls.ForeignCalls, Factor):
    """Factor in arrays of another library: products, solutions and the inverse read L and D again.

    Parameters
    ----------
    L : ndarray of float64, shape (n, n)
        Unit lower triangular; with ``triangle="upper"`` its transpose, as Pinocchio's ``data.U``. Any
        strides; referred to, not copied. Its owner must keep the memory in place.
    D : ndarray of float64, shape (n,)
    tree : Tree
    triangle : {"lower", "upper"}

    Notes
    -----
    Thread-compatible.

    Every operation changes it.
    """

    _source: tuple[np.ndarray, np.ndarray]

    def __init__(self, L: np.ndarray, D: np.ndarray, tree: Tree, triangle: str = "lower"):
        super().__init__(tree, triangle=triangle)
        self._keep(_source=(L, D))
        self._bind(L, D)

    def _read(self) -> None:
        """Take over L and D, or raise the error that names the bad row: the general path of reading."""
        self.adopt(*self._source)
