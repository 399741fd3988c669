"""Factorize a matrix in memory of another owner, such as the data of an engine."""

from __future__ import annotations

import numpy as np

from .._util.validation import as_shift, check_choice, require_unmasked
from ..exceptions import DtypeError, NotPositiveDefiniteError, ShapeError
from ..tree.packing import LAYOUTS
from ..tree.tree import Tree
from . import _factor_methods
from .factors import FACTORIZED, Factor


class BoundFactor(_factor_methods.BoundCalls, Factor):
    """Factor of one matrix in memory of another owner, which every call of `factor` reads again.

    Parameters
    ----------
    H : ndarray of float64, shape (n, n), or (nnz,) with ``layout="packed"``
        Any strides; referred to, not copied. Its owner must keep the memory in place.
    tree : Tree
    kind, triangle, layout
        As for `treefactor.factor`.

    Raises
    ------
    DtypeError, ShapeError
        If H cannot be bound.

    Notes
    -----
    Thread-compatible.

    `factor` changes it, and so does code that writes H.
    """

    _fill_call = "factor()"
    ALL_ZERO = "the bound matrix is all zero: write H into it before factor()"
    _source: np.ndarray

    def __init__(
        self,
        H: np.ndarray,
        tree: Tree,
        kind: str = "LTDL",
        triangle: str = "lower",
        layout: str = "dense",
    ):
        check_choice("layout", layout, LAYOUTS[:2])
        super().__init__(tree, (), kind, layout, triangle)
        if not isinstance(H, np.ndarray) or H.dtype != np.float64 or not H.flags.aligned:
            received = f"dtype {H.dtype}" if isinstance(H, np.ndarray) else type(H).__name__
            raise DtypeError(
                f"H must be an aligned NumPy array of float64 to be bound, got {received}",
                getattr(H, "dtype", None),
            )
        require_unmasked(H, "H")
        if tree.batch_of(H, layout):
            raise ShapeError(f"only a single matrix can be bound, got shape {H.shape}", H.shape)
        self._keep(_source=H)
        self._kernel.bind(H, layout == "dense", self._upper)

    def _factor(self, shift) -> BoundFactor:
        """Validate the shift, and factorize: the general path of `factor`."""
        if shift is not None:
            shift = as_shift(shift, self.tree.n, ())
        row = self._kernel.refresh(shift)
        if row != FACTORIZED:
            if not self._source.any():
                raise NotPositiveDefiniteError(self.ALL_ZERO, row=row, name=self.tree.name(row))
            self._require_success(self._source)
        return self

    def refactor(self, H, shift=None, layout: str | None = None) -> BoundFactor:
        """Raise TypeError: write into the bound matrix and call `factor` instead."""
        raise TypeError("a bound factor reads its own matrix: write there and call factor()")

    def __reduce__(self):
        raise TypeError("a bound factor refers to memory of another owner and cannot be copied or pickled")


__all__ = ["BoundFactor"]
