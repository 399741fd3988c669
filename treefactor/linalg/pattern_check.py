"""Check that matrices are symmetric and have entries only in the pattern of their tree."""

from __future__ import annotations

import numpy as np

from ..exceptions import PatternError
from ..tolerances import PATTERN, SYMMETRY
from ..tree.tree import Tree


def check_pattern(H: np.ndarray, tree: Tree) -> None:
    """Raise PatternError if any matrix of H is not symmetric or has entries outside the tree's pattern.

    Mirrored entries that are not finite pass: the factorization reports them.
    """
    mirror = np.swapaxes(H, -1, -2)
    size = np.abs(H)
    scale = np.where(np.isfinite(H), size, 0.0).max(axis=(-2, -1), initial=0.0, keepdims=True)
    equal = (H == mirror) | (np.isnan(H) & np.isnan(mirror))
    with np.errstate(invalid="ignore"):  # inf - inf
        skew = ~equal & ~(np.abs(H - mirror) <= SYMMETRY * scale)
    outside = ~(size <= PATTERN * scale) & ~tree.mask()
    for wrong, complaint in ((skew, "differs from its mirror"), (outside, "is outside the tree's pattern")):
        if wrong.any():
            *_, row, column = map(int, np.argwhere(wrong)[0])
            raise PatternError(f"H[{row}, {column}] {complaint}", row=row, column=column)
