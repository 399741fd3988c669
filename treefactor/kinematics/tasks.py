"""Compute operational-space quantities of tasks: inertia, consistent inverse, null space and bias.

A task has the Jacobian J of m rows: its velocity is J v. The joints obey H a + h = tau, with the inertia
matrix H and h = ``bias(model, q, v)``, which includes gravity. Khatib's quantities are::

    Lambda = (J H^-1 J^T)^-1         operational_inertia    the operational-space inertia
    J_bar  = H^-1 J^T Lambda         OperationalSpace.inverse      J J_bar = 1
    N      = 1 - J_bar J             OperationalSpace.nullspace    J N = 0,  N J_bar = 0,  N N = N
    mu     = J_bar^T h - Lambda J-dot v                     operational_bias, gravity included

Joint forces tau = J^T F + N^T tau_0 accelerate the task so that F = Lambda (J a + J-dot v) + mu, whatever
tau_0 is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, partial

import numpy as np

from .._util.validation import Sealed, as_array, as_output, as_real
from ..exceptions import NotPositiveDefiniteError, ShapeError
from ..linalg.delassus import ONE_REGULAR, REGULAR, inertia, require_damping
from ..linalg.factors import Factor
from ..model.model import Model
from ..quantities.functions import bias
from ._task_rows import jacobian_dot_v, row_name
from .delassus_of_frames import compute, parts

__all__ = ["OperationalSpace", "operational_bias", "operational_inertia", "operational_space", "task_bias"]


class OperationalSpace(Sealed):
    """Operational-space quantities of one task, or of the tasks of a batch.

    Parameters
    ----------
    factor : Factor
        Of H, float64.
    J : array_like, shape (..., m, n), or (..., m, s) with ``support``
        Jacobian of the task; its leading axes are those of the batch, or absent.
    support : array_like of int, shape (s,), optional
        Columns of J that are given; the others are zero.
    damping : float
        Added to the diagonal of J H^-1 J^T: near a singular configuration the inertia stays finite, and
        J J_bar differs from 1. Its unit is that of the diagonal, 1/kg and 1/(kg m^2).

    Attributes
    ----------
    factor : Factor
    J : ndarray, shape (..., m, n)
    inertia : ndarray, shape (..., m, m)
        Lambda, symmetric. NaN for singular elements of a batch.
    status : ndarray of int, shape (...)
        -1, or the first row of J that depends on rows before it, is zero or not finite; 0 if H has no factor,
        whose own status gives the reason.
    inverse : ndarray, shape (..., n, m)
        Dynamically consistent inverse J_bar = H^-1 J^T Lambda: J_bar u has the least kinetic energy of all
        joint velocities v with J v = u.
    nullspace : ndarray, shape (..., n, n)
        N = 1 - J_bar J projects accelerations; its transpose projects joint forces.

    Raises
    ------
    ShapeError, DtypeError, NonFiniteError
        If an argument has the wrong type or shape, or a single J is not finite.
    NotPositiveDefiniteError
        If a single task is singular without damping; names the row.

    Notes
    -----
    Thread-compatible.

    `inverse` and `nullspace` are computed when they are first read, from the factor as it is then.

    Khatib (1987), A unified approach for motion and force control of robot manipulators: the operational
    space formulation, IEEE Journal on Robotics and Automation 3(1), 43-53.

    Examples
    --------
    >>> import numpy as np
    >>> import treefactor as tf
    >>> f = tf.factor(np.diag([2.0, 4.0]), tf.Tree([-1, 0]))
    >>> task = tf.OperationalSpace(f, [[1.0, 1.0]])
    >>> task.inertia, task.inverse.ravel()
    (array([[1.33333333]]), array([0.66666667, 0.33333333]))
    """

    factor: Factor
    J: np.ndarray
    inertia: np.ndarray
    status: np.ndarray

    def __init__(self, factor: Factor, J, support=None, damping: float = 0.0):
        self._fill(factor, _dense(J, support, factor.tree.n), damping, None)

    def _fill(
        self, factor: Factor, J: np.ndarray, damping: float, name: Callable[[int], str] | None
    ) -> OperationalSpace:
        """Set the attributes; `name` gives rows a name in messages."""
        Lambda, status = inertia(factor, J, damping)
        _require_regular(status, name)
        self._keep(factor=factor, J=J, inertia=Lambda, status=status)
        return self

    @cached_property
    def inverse(self) -> np.ndarray:
        """Return J_bar."""
        J = np.broadcast_to(self.J, (*self.factor.batch, *self.J.shape[-2:])) if self.factor.batch else self.J
        return self.factor.solve(J.swapaxes(-1, -2).copy()) @ self.inertia

    @cached_property
    def nullspace(self) -> np.ndarray:
        """Return N."""
        return np.eye(self.J.shape[-1]) - self.inverse @ self.J

    def bias(self, h, jacobian_dot_v) -> np.ndarray:
        """Return mu = J_bar^T h - Lambda J-dot v, shape (..., m).

        Parameters
        ----------
        h : array_like, shape (..., n)
            ``treefactor.bias(model, q, v)``; mu then includes gravity. Pinocchio's ``nle``.
        jacobian_dot_v : array_like, shape (..., m)
            `task_bias`.
        """
        h, rate = as_real(h, "h"), as_real(jacobian_dot_v, "jacobian_dot_v")
        n, batch = self.factor.tree.n, self.factor.batch
        if h.shape[-1:] != (n,):
            raise ShapeError(f"h must have shape (..., {n}), got {h.shape}", h.shape, ("...", n))
        if batch:
            free = self.factor.solve(np.broadcast_to(h, (*batch, n)))
        elif h.ndim == 1:
            free = self.factor.solve(h)
        else:  # many h for one task
            free = self.factor.solve(h.reshape(math.prod(h.shape[:-1]), n).T).T.reshape(h.shape)
        return (self.inertia @ ((self.J @ free[..., None])[..., 0] - rate)[..., None])[..., 0]


def _require_regular(status: np.ndarray, name: Callable[[int], str] | None) -> None:
    """Raise if a single task is singular."""
    if status is ONE_REGULAR or status.ndim or status == REGULAR:
        return
    row = int(status)
    called = None if name is None else name(row)
    where = f"row {row}" if name is None else f"row {row} ({called})"
    raise NotPositiveDefiniteError(
        f"the task is singular: {where} of J is zero or depends on the rows before it. Leave the row out, or "
        "give a damping > 0",
        row=row,
        name=called,
    )


def _dense(J, support, n: int) -> np.ndarray:
    """Return J with all n columns."""
    J = as_real(J, "J")
    if support is None:
        return J
    columns = as_array(support, "support")
    if columns.ndim != 1 or J.ndim < 2 or J.shape[-1] != columns.size:
        raise ShapeError(
            f"J must have one column for each of {columns.size} in support, got {J.shape}", J.shape
        )
    if columns.dtype.kind not in "iu" or not ((columns >= 0) & (columns < n)).all():
        raise ShapeError(f"support must hold columns from 0 to {n - 1}, got {support!r:.200}")
    whole = np.zeros((*J.shape[:-1], n))
    whole[..., columns] = J
    return whole


def operational_space(
    model: Model, q, frame, reference="LOCAL", damping: float = 0.0, num_threads: int = 1
) -> OperationalSpace:
    """Compute the operational-space quantities of one frame or of several frames together.

    Parameters
    ----------
    model : Model
    q : array_like, shape (..., nq)
    frame : str, Frame, -1 for the base, or list of them
        As for `frame_jacobian`. k frames are one task of 6 k rows, linear before angular for each frame.
    reference : {"LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"}
        Axes and point of the velocity J v; or Pinocchio's enumeration.
    damping : float
        As for `OperationalSpace`.
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    OperationalSpace

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError, InvalidModelError
        If q is not a configuration, or the model has no such frame.
    NotPositiveDefiniteError
        If a single task is singular without damping, as that of 6 rows of an arm with fewer joints; names the
        row and frame.

    Notes
    -----
    Khatib (1987). In Pinocchio, J H^-1 J^T is ``computeDelassusMatrix``.
    """
    f, J = parts(model, q, frame, reference, num_threads)
    return OperationalSpace.__new__(OperationalSpace)._fill(f, J, damping, partial(row_name, frame))


def operational_inertia(
    model: Model, q, frame, reference="LOCAL", damping: float = 0.0, out=None, num_threads: int = 1
) -> np.ndarray:
    """Compute the operational-space inertia of one or several frames, Lambda = (J H^-1 J^T)^-1.

    Parameters
    ----------
    model, q, frame, reference, damping, num_threads
        As for `operational_space`.
    out : ndarray, shape (..., 6 k, 6 k), optional

    Returns
    -------
    ndarray, shape (..., 6 k, 6 k)
        kg, kg m, kg m^2. In a batch, NaN where the task is singular: ``status`` of `operational_space`
        has the row.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError, InvalidModelError, NotPositiveDefiniteError
        As for `operational_space`.

    Notes
    -----
    Khatib (1987).
    """
    damping = require_damping(damping)
    Lambda = compute(model, q, frame, reference, out, num_threads, damping)
    if Lambda is not None:
        return Lambda
    f, J = parts(model, q, frame, reference, num_threads)
    Lambda, status = inertia(f, J, damping, out if f.batch else None)
    _require_regular(status, partial(row_name, frame))
    if out is None or Lambda is out:
        return Lambda
    as_output(out, Lambda.shape)[...] = Lambda
    return out


def task_bias(model: Model, q, v, frame, reference="LOCAL", num_threads: int = 1) -> np.ndarray:
    """Compute J-dot v of frames: the change of their velocity J v while the joints do not accelerate.

    Parameters
    ----------
    model, q, frame, reference, num_threads
        As for `operational_space`.
    v : array_like, shape (..., nv)

    Returns
    -------
    ndarray, shape (..., 6 k)
        m/s^2, then rad/s^2, for each frame. It is the derivative of J v: a spatial acceleration for LOCAL and
        WORLD, the classical one for LOCAL_WORLD_ALIGNED.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError, InvalidModelError
    """
    return jacobian_dot_v(model, q, v, frame, reference, num_threads)


def operational_bias(
    model: Model, q, v, frame, reference="LOCAL", damping: float = 0.0, num_threads: int = 1
) -> np.ndarray:
    """Compute mu = J_bar^T h - Lambda J-dot v, the force at the task that lets it move without acceleration.

    Parameters
    ----------
    model, q, frame, reference, damping, num_threads
        As for `operational_space`.
    v : array_like, shape (..., nv)

    Returns
    -------
    ndarray, shape (..., 6 k)
        N, N m. Gravity is included: h is ``bias(model, q, v)``.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError, InvalidModelError, NotPositiveDefiniteError
        As for `operational_space`.

    Notes
    -----
    Khatib (1987), with the sign of F = Lambda x-ddot + mu + p; here mu + p.
    """
    task = operational_space(model, q, frame, reference, damping, num_threads)
    h = bias(model, q, v, num_threads=num_threads)
    return task.bias(h, task_bias(model, q, v, frame, reference, num_threads))
