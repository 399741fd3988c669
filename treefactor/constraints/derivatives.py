"""Compute derivatives of the dynamics with closed loops, drives and rigid contacts."""

from __future__ import annotations

from functools import partial
from typing import Any

from .._functions._entry import kept_function, run_kept
from .._functions.binding import bound
from .._util.bindable import register
from ..model.model import Model, require_model
from ._constrained_dynamics import prepared_rows
from ._constrained_function import ConstrainedDerivatives
from ._loop_rows import driven_loops, loops_of
from .constrained_results import ConstrainedDerivatives as ConstrainedMatrices
from .constrained_results import ConstrainedDerivativesWithValue as ConstrainedMatricesWithValue
from .drives import motions_at
from .loops import NO_DRIVES, decay_rate


def forward_dynamics_derivatives(
    model: Model,
    q,
    v,
    tau,
    fext=None,
    stabilization: float = 0.0,
    drives=NO_DRIVES,
    t=0.0,
    contacts=(),
    with_value: bool = False,
    out=None,
    num_threads: int = 1,
) -> ConstrainedMatrices | ConstrainedMatricesWithValue:
    """Compute the derivatives of dynamics with closed loops, drives and rigid contacts that hold.

    Parameters
    ----------
    model, q, v, tau, fext, stabilization, drives, t, contacts
        As for `constraints.forward_dynamics`. All loops, drives and contacts hold, before and after the
        change; fext turns with the bodies.
    with_value : bool
        Whether to return the accelerations and forces, too.
    out : tuple of ndarray, optional
        Receives the results, one array for each.
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    ConstrainedDerivatives
        Named tuple of da_dq, da_dv, da_dtau, each (..., nv, nv), and dforces_dq, dforces_dv, dforces_dtau,
        each (..., rows, nv), with the rows of `forward_dynamics`; then a (..., nv) and forces (..., rows) if
        they are wanted. m/s^2, rad/s^2, N, N m per m or rad, per m/s or rad/s, and per N or N m. In a batch,
        NaN where there is no solution.

    Raises
    ------
    NotPositiveDefiniteError, ShapeError, NonFiniteError, ConfigurationError, InvalidModelError, ValueError
        As `forward_dynamics`.

    Notes
    -----
    Column k of derivatives by q is along `treefactor.integrate`. With J a + gamma the second derivative of
    the rows, and ID inverse dynamics without the forces f of the constraints::

        [H J^T; J 0] [da; -df] = [dtau - dID + d(J^T f); -d(J a + gamma + 2 s J v + s^2 residual)]

    where d(J^T f) holds f in its axes: those of the first frame of a loop, of the frame of a "LOCAL" contact,
    or of the base. Carpentier and Mansard (2018); Pinocchio's ``computeConstraintDynamicsDerivatives``, which
    has other terms for open "6D" loops in "LOCAL_WORLD_ALIGNED" axes. Where rows depend on each other, the
    rank of J must be constant near q, as in planar loops of revolute joints; the derivatives are those of the
    least forces. Where it changes, as in a singular configuration, there are no derivatives.

    Examples
    --------
    A hinge whose end is held: its weight in the axes of the rod depends on the angle.

    >>> import numpy as np, treefactor as tf
    >>> from treefactor.constraints import RigidContact, forward_dynamics_derivatives
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> end = RigidContact(tf.Frame("end", "hinge", p=[0, 0, -1.0]))
    >>> D = forward_dynamics_derivatives(model, [0.1], [0.0], [0.0], contacts=[end])
    >>> D.dforces_dq[0].round(3), D.dforces_dtau[0].round(3)
    (array([-4.88]), array([1.]))
    """
    kind, options, arrays = _compiled(model, q, v, tau, fext, stabilization, drives, t, contacts, with_value)
    return run_kept(model, kind, options, arrays, out, num_threads)


def _compiled(model: Model, q, v, tau, fext, stabilization, drives, t, contacts, with_value) -> tuple:
    """Return class and options of the compiled function, and its arguments."""
    require_model(model)
    s = decay_rate(stabilization)
    drives, loops = (drives, loops_of(model)) if drives is NO_DRIVES else driven_loops(model, drives)
    motions = (motions_at(drives, t),) if drives else ()
    options = (prepared_rows(loops, contacts), s, bool(with_value))
    return ConstrainedDerivatives, options, (q, v, tau, fext, *motions)


def _bound(function, model: Model, given: dict[str, Any], out):
    """Return the bound call of `forward_dynamics_derivatives`."""
    kind, options, arrays = _compiled(model, **given)
    names = ("q", "v", "tau", "fext", "drives")
    arrays = dict(zip(names, arrays, strict=False))
    validated = partial(function, model, **given, out=out)
    return bound(kept_function(model, kind, options), arrays, out, validated)


register(_bound, (forward_dynamics_derivatives,))
