"""Records of a time step: near contacts, unilateral rows and solution, and what the next step starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .. import mlcp
from ..mlcp._stacked_rows import SortedRows


@dataclass(frozen=True)
class Touch:
    """Contacts of one state whose gap is within the margin.

    Attributes
    ----------
    which : ndarray of int
        Numbers of the contacts.
    gap : ndarray
        m; negative where bodies overlap.
    axes : ndarray, shape (contacts, 3, 3)
        Rows: the normal, out of the plane or the other sphere, and two tangents, in the base.
    start, column : ndarray of int
        Columns of the rows of contact k are ``column[start[k]:start[k + 1]]``.
    data : ndarray, shape (3, nnz)
        Entries of the rows of these three.
    errors : ndarray, shape (nnz,)
        Rounding errors of the entries; an entry within them is zero.
    """

    which: np.ndarray
    gap: np.ndarray
    axes: np.ndarray
    start: np.ndarray
    column: np.ndarray
    data: np.ndarray
    errors: np.ndarray


class LastStep(NamedTuple):
    """What the next step starts from: near contacts, keys of rows, a solution, and impulses and row status.

    Impulses and row status are those of the solution, or of later steps with the same rows.
    """

    touch: Touch
    key: np.ndarray
    solution: mlcp.Solution
    gamma: np.ndarray
    active: np.ndarray


@dataclass(frozen=True)
class Unilateral:
    """Unilateral rows D v >= d with keys; rows of contacts have a contact `of` and a direction `along`."""

    D: SortedRows
    d: np.ndarray
    upper: np.ndarray | None
    key: np.ndarray
    of: np.ndarray
    along: np.ndarray
    gap: np.ndarray


@dataclass(frozen=True)
class Solved:
    """Contacts, rows, packed H and solution of the problem of a step."""

    touch: Touch
    rows: Unilateral
    H: np.ndarray
    solution: mlcp.Solution
