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
from functools import cached_property, partial

import numpy as np

from .._functions._compiled_function import CompiledFunction
from .._functions._entry import kept_function
from .._functions.binding import bound
from .._functions.general_path import run
from .._util.bindable import register
from .._util.validation import Sealed, as_array, as_number, as_real
from ..exceptions import ShapeError
from ..linalg._delassus import nullspace
from ..linalg.delassus import ONE_REGULAR, REGULAR, inertia
from ..linalg.factorization import factor
from ..linalg.factors import Factor
from ..model.model import Model, require_model
from ._task_functions import OperationalSpace as SpaceFunction
from ._task_functions import TaskMatrices
from ._task_rows import singular
from .plans import reference_name

__all__ = ["OperationalSpace", "operational_space"]


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

    `nullspace` is computed when it is first read, and so is what `operational_space` does not need: `factor`.
    Of an object that is made from a factor so is `inverse`, from the factor as it is then.

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

    J: np.ndarray
    inertia: np.ndarray
    status: np.ndarray
    _inertia_matrix: tuple  # the packed rows of H and its tree, until the factor is needed

    def __init__(self, factor: Factor, J, support=None, damping: float = 0.0):
        J = _dense(J, support, factor.tree.n)
        Lambda, status = inertia(factor, J, damping)
        if status is not ONE_REGULAR and not status.ndim and status != REGULAR:
            raise singular(int(status))
        self._keep(factor=factor, J=J, inertia=Lambda, status=status)

    @cached_property
    def factor(self) -> Factor:
        """Return the factor of H."""
        return factor(*self._inertia_matrix, layout="packed")

    @cached_property
    def inverse(self) -> np.ndarray:
        """Return J_bar."""
        J = np.broadcast_to(self.J, (*self.factor.batch, *self.J.shape[-2:])) if self.factor.batch else self.J
        return self.factor.solve(J.swapaxes(-1, -2).copy()) @ self.inertia

    @cached_property
    def nullspace(self) -> np.ndarray:
        """Return N."""
        inverse, J = (np.ascontiguousarray(x, np.float64) for x in (self.inverse, self.J))
        return nullspace(inverse, J)

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
        A bound call writes (inertia, inverse, nullspace) into the tuple ``out`` instead.

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
    function = _compiled(model, SpaceFunction, frame, reference)
    Lambda, inverse, J, H, row = run(model, function, (q, damping), None, num_threads)
    task = OperationalSpace.__new__(OperationalSpace)
    status = row.astype(np.intp) if row.ndim else ONE_REGULAR
    vars(task).update(J=J, inertia=Lambda, inverse=inverse, status=status, _inertia_matrix=(H, model.tree))
    return task


def _compiled(model: Model, kind: type, frame, reference) -> CompiledFunction:
    """Return the compiled function of a model for frames, which it keeps."""
    require_model(model)
    options = tuple(frame) if isinstance(frame, list) else frame, reference_name(reference)
    try:
        return kept_function(model, kind, options)
    except TypeError:  # not hashable, so not a frame
        return kind(model, *options)


def _bind(function, model: Model, given: dict, out):
    """Return the bound call of `operational_space`, into the tuple (inertia, inverse, nullspace)."""
    compiled = _compiled(model, TaskMatrices, given["frame"], given["reference"])
    damping = np.array(as_number(given["damping"], "damping"))
    validated = partial(_compute_into, out, model, **given)
    return bound(compiled, {"q": given["q"], "damping": damping}, out, validated)


def _compute_into(out: tuple, model: Model, **given) -> tuple:
    """Write the matrices of `operational_space` into arrays; raise the error that names what is wrong."""
    task = operational_space(model, **given)
    for array, result in zip(out, (task.inertia, task.inverse, task.nullspace), strict=True):
        array[...] = result
    return out


register(_bind, [operational_space])
