"""Compute first derivatives of inverse and forward dynamics by q, v and a or tau, as matrices."""

from __future__ import annotations

from functools import partial
from typing import Any

from .._util.bindable import register
from .._util.validation import check_choice
from ..dynamics.inertias import with_inertias
from ..model.model import Model
from ..tree.tree import LAYOUTS
from . import _first_order as compiled
from ._calls import call
from ._general_path import bound, general_path
from .first_order_results import ForwardDynamicsDerivatives, RneaDerivatives

__all__ = ["forward_dynamics_derivatives", "rnea_derivatives"]


def rnea_derivatives(
    model: Model,
    q,
    v,
    a,
    fext=None,
    layout: str = "dense",
    with_value: bool = False,
    out=None,
    num_threads: int = 1,
    inertias=None,
) -> RneaDerivatives:
    """Compute the derivatives of inverse dynamics by q, v and a.

    Parameters
    ----------
    model : Model
        Joints of every kind, mimic joints included.
    q, v, a : array_like, shapes (..., nq), (..., nv), (..., nv)
        Leading axes are a batch; an array without them applies to every configuration.
    fext : array_like, shape (..., njoints, 6), optional
        External force and moment on the body of every joint, at the origin and in the axes of the joint, in N
        and N m: they turn with the body.
    layout : {"dense", "packed", "lanes"}
        "packed" has only entries in the pattern of H: of the derivatives by q and v 2 nnz - nv, first those
        on and left of the diagonal, row by row as `Tree.pack` orders them, then those above the diagonal,
        transposed, in the same order; of H the nnz rows. `Tree.unpack_pair` makes the first two dense,
        `Tree.unpack` the last one. "lanes" has the same entries for 8 configurations side by side.
    with_value : bool
        Whether to return the generalized forces, too.
    out : tuple of ndarray, optional
        Receives the results, one array for each.
    num_threads : int
        For batches; -1 uses all cores.
    inertias : Inertias or array_like, shape (..., njoints, 10), optional
        In the place of the model's: see `Inertias`.

    Returns
    -------
    RneaDerivatives
        Named tuple of dtau_dq, dtau_dv and dtau_da, which is H: each of shape (..., nv, nv), or (...,
        entries) if packed, or (blocks, entries, 8); then tau (..., nv) if it is wanted. N, N m per m or rad,
        per m/s or rad/s, and per m/s^2 or rad/s^2. In a batch, configurations that are not finite or whose
        quaternions do not have unit length give NaN.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
    ValueError
        If there is no such layout.

    Notes
    -----
    Column k of dtau_dq is the derivative along `integrate`: of tau at integrate(q, t e_k) by t, for the k-th
    unit vector e_k; a quaternion has three columns. The algorithm is that of Singh, Russell and Wensing
    (2022), Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra, in the axes
    of the root body; the first of its kind is in Carpentier and Mansard (2018). Entries outside the pattern
    of H, and columns of dtau_dq of translations of a free-flying root, are exactly zero. Pinocchio 4.1's
    ``computeRNEADerivatives`` is wrong for universal and ZYX joints, and refuses mimic joints.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> found = tf.rnea_derivatives(model, [0.0], [0.0], [0.0])
    >>> found.dtau_dq, found.dtau_da
    (array([[4.905]]), array([[0.35]]))
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    if type(layout) is not str or layout not in LAYOUTS:
        check_choice("layout", layout, LAYOUTS)
    options = (layout, bool(with_value))
    return call(model, compiled.RneaDerivatives, options, (q, v, a, fext), out, num_threads, general_path)


def forward_dynamics_derivatives(
    model: Model,
    q,
    v,
    tau,
    fext=None,
    with_value: bool = False,
    out=None,
    num_threads: int = 1,
    inertias=None,
) -> ForwardDynamicsDerivatives:
    """Compute the derivatives of forward dynamics by q, v and tau.

    Parameters
    ----------
    model, q, v, fext, out, num_threads, inertias
        As for `rnea_derivatives`.
    tau : array_like, shape (..., nv)
        Generalized forces, N, N m.
    with_value : bool
        Whether to return the acceleration, too.

    Returns
    -------
    ForwardDynamicsDerivatives
        Named tuple of da_dq, da_dv and da_dtau, which is the inverse of H: each of shape (..., nv, nv); then
        a (..., nv) if it is wanted. m/s^2 or rad/s^2 per m or rad, per m/s or rad/s, and per N or N m. In a
        batch, NaN where there is no solution.

    Raises
    ------
    NotPositiveDefiniteError
        If a freedom moves no mass; names the joint. Only for a single configuration.
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    With ID the inverse dynamics, da_dq = -H^-1 dID/dq and da_dv = -H^-1 dID/dv at the acceleration that
    forward dynamics gives. Column k of da_dq is the derivative along `integrate`, as in `rnea_derivatives`.
    Errors grow with the condition number of H. Carpentier and Mansard (2018), Analytical derivatives of rigid
    body dynamics algorithms. There is no packed layout: the matrices are dense where the model is connected.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> found = tf.forward_dynamics_derivatives(model, [0.0], [0.0], [0.0], with_value=True)
    >>> found.da_dq.round(3), found.a
    (array([[-14.014]]), array([0.]))
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    arrays = (q, v, tau, fext)
    options = (bool(with_value),)
    return call(model, compiled.ForwardDynamicsDerivatives, options, arrays, out, num_threads, general_path)


def _bound_rnea(function, model: Model, given: dict[str, Any], out):
    """Return the bound call of `rnea_derivatives`."""
    check_choice("layout", given["layout"], LAYOUTS[:2])
    options = (given["layout"], bool(given["with_value"]))
    return bound(
        model, compiled.RneaDerivatives, options, given, out, partial(function, model, **given, out=out)
    )


def _bound_forward(function, model: Model, given: dict[str, Any], out):
    """Return the bound call of `forward_dynamics_derivatives`."""
    options = (bool(given["with_value"]),)
    validated = partial(function, model, **given, out=out)
    return bound(model, compiled.ForwardDynamicsDerivatives, options, given, out, validated)


register(_bound_rnea, (rnea_derivatives,))
register(_bound_forward, (forward_dynamics_derivatives,))
