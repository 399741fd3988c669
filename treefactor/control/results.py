"""Hold what inverse kinematics and the search for motions return."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from .._util.validation import as_count, as_real
from ..model.model import Model
from ..quantities import functions as tf
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


class ILQRStatus(IntEnum):
    """How the search for a motion ended.

    CONVERGED: the expected change of the cost is below the tolerance, and so are all gaps. ITERATIONS: the
    budget was spent. REGULARIZATION: no step lowers the cost with the largest regularization. NON_FINITE: the
    first motion, or its cost, is not finite. STOPPED: the callback ended the search.

    Notes
    -----
    Immutable.
    """

    CONVERGED = 0
    ITERATIONS = 1
    REGULARIZATION = 2
    NON_FINITE = 3
    STOPPED = 4


@dataclass(frozen=True, eq=False)
class ILQRProgress:
    """State of a search that a callback gets.

    Attributes
    ----------
    iteration : int
        Iterations so far.
    cost : ndarray, shape (B,)
    active : ndarray of bool, shape (B,)
        Problems that go on.

    Notes
    -----
    Thread-compatible.
    """

    iteration: int
    cost: np.ndarray
    active: np.ndarray


@dataclass(frozen=True, eq=False)
class ILQRResult:
    """Motions of least cost, and the feedback that keeps to them.

    Attributes
    ----------
    q, v, u : ndarray, shapes (..., T + 1, nq), (..., T + 1, nv), (..., T, nu)
    cost : ndarray, shape (...)
    gains : ndarray, shape (..., T, nu, 2 nv)
        K: how controls change with (dq, dv), of the last iteration; dq is ``difference(model, q, actual)``.
    feedforward : ndarray, shape (..., T, nu)
        Change of u that the last iteration proposed: near 0 at a minimum.
    iterations : ndarray of int64, shape (...)
    status : ndarray of int8, shape (...)
        An `ILQRStatus` for every problem.
    expected : ndarray, shape (...)
        Fall of the cost that the last iteration expected.
    gap : ndarray, shape (...)
        Largest difference (m, rad, m/s, rad/s) between the end of a step and the next state: 0 with the
        method "single", whose motions have no gaps.
    costs : ndarray, shape (iterations + 1, ...)
        After each iteration, the first one of the given controls.
    solved : ndarray of bool, shape (...)
    control_limits : tuple of ndarray, shape (nu,), or None
        Lower and upper ones.
    model : Model

    Notes
    -----
    Thread-compatible.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.1]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> goal = tf.control.StateCost([1.0], at="final")
    >>> cost = [goal, tf.control.ControlCost(weight=1e-4)]
    >>> tf.control.ilqr(model, [0.0], [0.0], np.zeros((50, 1)), cost, 0.02)
    <ILQRResult of 1 problem: 1 CONVERGED>
    """

    q: np.ndarray
    v: np.ndarray
    u: np.ndarray
    cost: np.ndarray
    gains: np.ndarray
    feedforward: np.ndarray
    iterations: np.ndarray
    status: np.ndarray
    expected: np.ndarray
    gap: np.ndarray
    costs: np.ndarray
    control_limits: tuple[np.ndarray, np.ndarray] | None
    model: Model

    @property
    def solved(self) -> np.ndarray:
        """Return whether the expected change of the cost and all gaps are below the tolerance."""
        return self.status == ILQRStatus.CONVERGED

    def policy(self, t: int, q, v) -> np.ndarray:
        """Return the controls of states near those of time t: ``u[t] + K[t] (dq, dv)``, within the limits.

        Parameters
        ----------
        t : int
            0 to T - 1.
        q, v : array_like, shapes (..., nq) and (..., nv)
            Leading axes broadcast to those of the problems, or have further axes before them.

        Returns
        -------
        ndarray, shape (..., nu)
        """
        steps = self.u.shape[-2]
        t = as_count(t, "t")
        if t >= steps:
            raise ValueError(f"t must be below {steps}, got {t}")
        v = as_real(v, "v")
        change = [tf.difference(self.model, self.q[..., t, :], q), v - self.v[..., t, :]]
        x = np.concatenate(np.broadcast_arrays(*change), axis=-1)
        u = self.u[..., t, :] + np.matmul(self.gains[..., t, :, :], x[..., None])[..., 0]
        return u if self.control_limits is None else np.clip(u, *self.control_limits)

    def summary(self) -> str:
        """Return one line: how many problems ended in which way, and the largest gap that is left."""
        counts = np.bincount(self.status.ravel(), minlength=len(ILQRStatus))
        parts = [f"{counts[one]} {one.name}" for one in ILQRStatus if counts[one]]
        count, gap = self.status.size, self.gap.max(initial=0.0)
        left = f"; gaps up to {gap:.1e}" if gap else ""
        return f"{count} problem{'s' * (count != 1)}: {', '.join(parts) or 'none'}{left}"

    def __repr__(self) -> str:
        return f"<ILQRResult of {self.summary()}>"


SOLVED = STATUS["SOLVED"]
