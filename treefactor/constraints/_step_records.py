"""Records of a time step: unilateral rows, contacts and solution, and what the next step starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .. import mlcp
from ..mlcp._stacked_rows import SortedRows
from .contacts import Touch


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
