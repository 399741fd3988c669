"""Records of a time step: near contacts, unilateral rows and solution, and what the next step starts from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import mlcp
from ..mlcp._stacked_rows import SortedRows
from ..mlcp.symbolic_kkt import SymbolicKkt

SOLUTIONS = (
    3  # most problems of a step: points that overlap after it, but had no rows, get them in the next one
)
TOUCHING = 1e-10  # m; smaller overlaps are left as they are by the split correction
NO_PLACES, NONE_NEW = np.empty((0, 3)), np.empty(0, bool)  # of steps without points of shapes
for _empty in (NO_PLACES, NONE_NEW):
    _empty.flags.writeable = False


class Touch(NamedTuple):
    """Contacts of one state whose gap is within the margin.

    Attributes
    ----------
    which : ndarray of int
        Slots of the contacts, see `Contacts.near`; ascending.
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
    places : ndarray, shape (points, 3)
        Of the last contacts, which are points of shapes, in the base.
    identities : ndarray of int, shape (pairs of shapes, slots)
        Of the points in the slots, for the next step; None without shapes.
    is_new : ndarray of bool
        Whether points of shapes were not there in the step before.
    """

    which: np.ndarray
    gap: np.ndarray
    axes: np.ndarray
    start: np.ndarray
    column: np.ndarray
    data: np.ndarray
    errors: np.ndarray
    places: np.ndarray = NO_PLACES
    identities: np.ndarray | None = None
    is_new: np.ndarray = NONE_NEW

    def joined(self, first: int, other: Touch) -> Touch:
        """Return these contacts and then others, points of shapes, whose slots begin with the first."""
        return Touch(
            np.concatenate([self.which, first + other.which]),
            np.concatenate([self.gap, other.gap]),
            np.concatenate([self.axes, other.axes]),
            np.concatenate([self.start, self.start[-1] + other.start[1:]]),
            np.concatenate([self.column, other.column]),
            np.concatenate([self.data, other.data], axis=1),
            np.concatenate([self.errors, other.errors]),
            other.places,
            other.identities,
            other.is_new,
        )


class LastStep(NamedTuple):
    """What the next step starts from.

    Attributes
    ----------
    identities : ndarray of int or None
        Of points of shapes, see `Touch`.
    key : ndarray of int
        Keys of the unilateral rows.
    gamma_c, gamma : ndarray
        Impulses of bilateral and unilateral rows.
    active : ndarray of bool
        Unilateral rows that were on.
    symbolic : SymbolicKkt or None
        Of the last problem; pickles have none.
    """

    identities: np.ndarray | None
    key: np.ndarray
    gamma_c: np.ndarray
    gamma: np.ndarray
    active: np.ndarray
    symbolic: SymbolicKkt | None

    def __reduce__(self):
        return LastStep, (*self[:-1], None)


class Unilateral(NamedTuple):
    """Unilateral rows D v >= d with keys; rows of contacts have a contact `of` and a direction `along`."""

    D: SortedRows
    d: np.ndarray
    upper: np.ndarray | None
    key: np.ndarray
    of: np.ndarray
    along: np.ndarray
    gap: np.ndarray


class Solved(NamedTuple):
    """Contacts, rows, H and solution of a step, and rows and solution of the motion that undoes overlaps."""

    touch: Touch
    rows: Unilateral
    H: np.ndarray
    solution: mlcp.Solution
    removal: tuple[Unilateral, mlcp.Solution] | None
