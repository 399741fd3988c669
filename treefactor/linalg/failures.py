"""Explain why a single matrix has no factor: the exception with the row, the joint and the entry."""

from __future__ import annotations

import numpy as np

from ..exceptions import NonFiniteError, NotPositiveDefiniteError
from ..tree.tree import Tree


def not_positive_definite(
    tree: Tree, row: int, H: np.ndarray | None, upper: bool
) -> NotPositiveDefiniteError:
    """Return the error for the failed pivot of a row of H; it names an entry that is not finite, if any."""
    name = tree.name(row)
    where = f"row {row}" if name is None else f"row {row} ({name})"
    reason = f"H is not positive definite: the pivot of {where} is not positive"
    entry = None if H is None else non_finite_entry(tree, H, upper)
    if entry is not None:
        row, column = entry
        where = "" if name is None else f" of {tree.name(row)}"
        reason = f"H is not finite: entry ({row}, {column}){where}"
        name = tree.name(row)
    return NotPositiveDefiniteError(reason, row=row, name=name)


def non_finite_entry(tree: Tree, H: np.ndarray, upper: bool) -> tuple[int, int] | None:
    """Return the first entry read from H, dense or packed, that is not finite."""
    if H.ndim == 2:
        H = H[tree.columns, tree.rows] if upper else H[tree.rows, tree.columns]
    bad = np.flatnonzero(~np.isfinite(H))
    if not bad.size:
        return None
    entry = int(tree.rows[bad[0]]), int(tree.columns[bad[0]])
    return entry[::-1] if upper else entry


def not_adoptable(
    tree: Tree, row: int, L: np.ndarray, D: np.ndarray, upper: bool
) -> NotPositiveDefiniteError | NonFiniteError:
    """Return the error about a row of L and D that no factor can have."""
    pivot, name = float(D[row]), tree.name(row)
    if not (0.0 < pivot < np.inf and 1.0 / pivot < np.inf):
        return NotPositiveDefiniteError(f"D[{row}] = {pivot} is not positive", row=row, name=name)
    columns = tree.columns[tree.row_start[row] : tree.row_start[row + 1]]
    entries = L[columns, row] if upper else L[row, columns]
    column = int(columns[np.flatnonzero(~np.isfinite(entries))[0]])
    where = (column, row) if upper else (row, column)
    return NonFiniteError(f"L is not finite: entry {where}", row=row)
