"""Hold what inverse kinematics returns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ._searches import STATUS

Status = IntEnum("Status", STATUS)  # type: ignore[misc]
Status.__doc__ = """How the search for a target ended.

SOLVED: every task is fulfilled. STALLED: every attempt ended in a local minimum. ITERATIONS: the budget was
spent. OUT_OF_REACH: the target is farther away than all links are long. NON_FINITE: the target or its start
is not finite. STOPPED: the callback ended the search.

Notes
-----
Immutable.
"""


@dataclass(frozen=True, eq=False)
class IKResult:
    """Configurations that inverse kinematics found, and how well they fulfil their tasks.

    Attributes
    ----------
    q : ndarray, shape (..., nq)
        The best configuration found: its largest error over tolerance is least. Within the limits, solved or
        not; NaN where a target or start is not finite.
    status : ndarray of int8, shape (...)
        A `Status` for every target.
    position_error, angle_error : ndarray, shape (...)
        Largest distance (m) and angle (rad) of all tasks, computed again from q; the posture does not count,
        nor do axes without a cost.
    error : ndarray, shape (..., tasks, 2)
        Distance and angle of every task but the posture.
    iterations, attempts : ndarray of int64, shape (...)
        Iterations of all attempts together, and starts.
    solved : ndarray of bool, shape (...)

    Notes
    -----
    Thread-compatible.

    Examples
    --------
    >>> import treefactor as tf
    >>> rail = tf.Joint("rail", "prismatic", axis=[1, 0, 0], lower=0.0, upper=2.0)
    >>> model = tf.Model([rail]).add_frame("cart", "rail")
    >>> result = tf.control.inverse_kinematics(model, [[1.5, 0, 0], [3, 0, 0]], "cart")
    >>> result.q.round(3), result.solved
    (array([[1.5],
           [2. ]]), array([ True, False]))
    >>> result.summary()
    '2 targets: 1 SOLVED, 1 OUT_OF_REACH'
    """

    q: np.ndarray
    position_error: np.ndarray
    angle_error: np.ndarray
    error: np.ndarray
    status: np.ndarray
    iterations: np.ndarray
    attempts: np.ndarray

    @property
    def solved(self) -> np.ndarray:
        """Return whether every task is fulfilled, by kinematics computed again from q."""
        return self.status == SOLVED

    def summary(self) -> str:
        """Return one line: how many targets ended in which way."""
        counts = np.bincount(self.status.ravel(), minlength=len(Status))
        parts = [f"{counts[one]} {one.name}" for one in Status if counts[one]]
        return f"{self.status.size} targets: {', '.join(parts) or 'none'}"

    def __repr__(self) -> str:
        return f"<IKResult of {self.summary()}>"


@dataclass(frozen=True, eq=False)
class Progress:
    """State of a search that a callback gets.

    Attributes
    ----------
    iteration : int
        Iterations of every active target so far.
    error : ndarray, shape (B,)
        Largest error over tolerance of the best configuration of every target so far: at most 1 if it is
        solved.
    active : ndarray of bool, shape (B,)

    Notes
    -----
    Thread-compatible.
    """

    iteration: int
    error: np.ndarray
    active: np.ndarray


SOLVED = STATUS["SOLVED"]
