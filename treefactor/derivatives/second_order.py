"""Compute second derivatives of weighted sums of inverse and forward dynamics: products and matrices."""

from __future__ import annotations

from functools import partial
from typing import Any

from .._util.bindable import register
from .._util.validation import check_choice
from ..dynamics.inertias import with_inertias
from ..model.model import Model
from ..tree.tree import LAYOUTS
from . import _second_order as compiled
from ._calls import call
from ._general_path import bound, general_path
from .second_order_results import ForwardDynamicsHessian, ForwardDynamicsHvp, RneaHessian, RneaHvp

__all__ = ["forward_dynamics_hessian", "forward_dynamics_hvp", "rnea_hessian", "rnea_hvp"]


def rnea_hvp(
    model: Model,
    q,
    v,
    a,
    w,
    dq,
    dv,
    da,
    dw=None,
    fext=None,
    symmetric: bool = True,
    out=None,
    num_threads: int = 1,
    inertias=None,
) -> RneaHvp:
    """Compute the second derivatives of w . rnea(model, q, v, a) along a direction, in O(nv).

    Parameters
    ----------
    model : Model
        Joints of every kind, mimic joints included.
    q, v, a : array_like, shapes (..., nq), (..., nv), (..., nv)
        Leading axes are a batch; an array without them applies to every configuration.
    w : array_like, shape (..., nv)
        Weights of the generalized forces.
    dq, dv, da : array_like, shape (..., nv), or None
        Direction; None is zero. q changes along `integrate`.
    dw : array_like, shape (..., nv), optional
        Change of w: adds the gradient of dw . rnea.
    fext : array_like, shape (..., njoints, 6), optional
        External force and moment on every body, at the origin and in the axes of its joint: they turn with
        the body.
    symmetric : bool
        Multiply with the symmetric Hessian, by d at d = 0, of the weighted sum at integrate(q, d). False:
        return the derivative of the gradient instead, as differences of gradients approximate it; it is not
        symmetric. See Notes.
    out : tuple of 3 ndarrays, optional
        Receives the results.
    num_threads : int
        For batches; -1 uses all cores.
    inertias : Inertias or array_like, shape (..., njoints, 10), optional
        In the place of the model's: see `Inertias`.

    Returns
    -------
    RneaHvp
        Named tuple of the parts q, v and a, each of shape (..., nv). In a batch, configurations that are not
        finite or whose quaternions do not have unit length give NaN.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    The derivative of the reverse recursion of Carpentier and Mansard (2018), Analytical derivatives of
    rigid body dynamics algorithms, along the direction, in the axes of the root body. The gradient g by q
    of a joint that turns in more than one way (spherical, planar, free-flyer) belongs to axes that move
    with q. Its derivative along x therefore contains the Lie bracket of the motions along the tangent, and
    as a matrix D is not symmetric: y . D x - x . D y = g . [x, y]. The symmetric Hessian is H x = D x -
    ad_x^T g / 2, which is D x - g x x / 2 (a cross product) for a spherical joint. Both have the same x . H
    x, and are equal where g = 0 and for all other joints.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> tf.rnea_hvp(model, [np.pi / 2], [0.0], [0.0], [1.0], [1.0], [0.0], [0.0]).q.round(3)
    array([-4.905])
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    arrays = (q, v, a, w, dq, dv, da, dw, fext)
    return call(model, compiled.RneaHvp, (bool(symmetric),), arrays, out, num_threads, general_path)


def rnea_hessian(
    model: Model,
    q,
    v,
    a,
    w,
    fext=None,
    symmetric: bool = True,
    layout: str = "dense",
    out=None,
    num_threads: int = 1,
    inertias=None,
) -> RneaHessian:
    """Compute the second derivatives of w . rnea(model, q, v, a) as matrices, in O(nv depth).

    Parameters
    ----------
    model, q, v, a, w, fext, num_threads, inertias
        As for `rnea_hvp`.
    symmetric : bool
        Return as qq the symmetric Hessian, by d at d = 0, of the weighted sum at integrate(q, d). False:
        return the derivative of the gradient: entry (k, l) is that of entry k of the gradient by q along the
        l-th unit vector. They differ by the Lie bracket, within spherical, planar and free-flyer joints only;
        see `rnea_hvp`.
    layout : {"dense", "packed", "lanes"}
        "packed" has only entries in the pattern of H: of symmetric matrices the nnz rows that `Tree.unpack`
        makes dense, of the others 2 nnz - nv, first those on and left of the diagonal, row by row as
        `Tree.pack` orders them, then those above the diagonal, transposed, in the same order
        (`Tree.unpack_pair`). "lanes" has the same entries for 8 configurations side by side.
    out : tuple of 4 ndarrays, optional
        Receives the results.

    Returns
    -------
    RneaHessian
        Named tuple of qq, qv, vv and qa: derivatives by q twice, by q (rows) and v (columns), by v twice, and
        by q (rows) and a (columns), each of shape (..., nv, nv), or (..., entries) if packed, or (blocks,
        entries, 8). vv is symmetric. Derivatives by v and a, and by a twice, are zero. In a batch,
        configurations that are not finite or whose quaternions do not have unit length give NaN.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
    ValueError
        If there is no such layout.

    Notes
    -----
    Sums over composite bodies, contracted with w before any entry is formed: for the derivatives without w
    see Singh, Russell and Wensing (2023), On second-order derivatives of rigid-body dynamics. Entries
    outside the pattern of H are exactly zero.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> tf.rnea_hessian(model, [np.pi / 2], [0.0], [0.0], [1.0]).qq.round(3)
    array([[-4.905]])
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    if type(layout) is not str or layout not in LAYOUTS:
        check_choice("layout", layout, LAYOUTS)
    options = (layout, bool(symmetric))
    return call(model, compiled.RneaHessian, options, (q, v, a, w, fext), out, num_threads, general_path)


def forward_dynamics_hvp(
    model: Model,
    q,
    v,
    tau,
    w,
    dq,
    dv,
    dtau,
    dw=None,
    fext=None,
    symmetric: bool = True,
    out=None,
    num_threads: int = 1,
    inertias=None,
) -> ForwardDynamicsHvp:
    """Compute the second derivatives of w . forward_dynamics(model, q, v, tau) along a direction.

    Parameters
    ----------
    model, q, v, dq, dv, fext, symmetric, out, num_threads, inertias
        As for `rnea_hvp`.
    tau, w : array_like, shape (..., nv)
        Generalized forces, and weights of the accelerations.
    dtau : array_like, shape (..., nv), or None
        Direction in tau; None is zero.
    dw : array_like, shape (..., nv), optional
        Change of w: adds the gradient of dw . forward_dynamics.

    Returns
    -------
    ForwardDynamicsHvp
        Named tuple of the parts q, v and tau, each of shape (..., nv). In a batch, NaN where there is no
        solution.

    Raises
    ------
    NotPositiveDefiniteError
        If a freedom moves no mass; names the joint. Only for a single configuration.
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    With the factor of H, the acceleration a and its change da along the direction: minus `rnea_hvp` with
    weights H^-1 w along (dq, dv, da), where the weights change, too. It costs the factor, three solves and
    products in O(nv); errors grow with the condition number of H. For the symmetric Hessian see `rnea_hvp`.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> tf.forward_dynamics_hvp(model, [np.pi / 2], [0.0], [0.0], [1.0], [1.0], [0.0], [0.0]).q.round(3)
    array([14.014])
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    arrays = (q, v, tau, w, dq, dv, dtau, dw, fext)
    options = (bool(symmetric),)
    return call(model, compiled.ForwardDynamicsHvp, options, arrays, out, num_threads, general_path)


def forward_dynamics_hessian(
    model: Model,
    q,
    v,
    tau,
    w,
    fext=None,
    symmetric: bool = True,
    out=None,
    num_threads: int = 1,
    inertias=None,
) -> ForwardDynamicsHessian:
    """Compute the second derivatives of w . forward_dynamics(model, q, v, tau) as matrices.

    Parameters
    ----------
    model, q, v, fext, num_threads, inertias
        As for `rnea_hvp`.
    tau, w : array_like, shape (..., nv)
        Generalized forces, and weights of the accelerations.
    symmetric : bool
        As for `rnea_hessian`.
    out : tuple of 4 ndarrays, optional
        Receives the results.

    Returns
    -------
    ForwardDynamicsHessian
        Named tuple of qq, qv, vv and qtau: derivatives by q twice, by q (rows) and v (columns), by v twice,
        and by q (rows) and tau (columns), each of shape (..., nv, nv). Derivatives by v and tau, and by tau
        twice, are zero. In a batch, NaN where there is no solution.

    Raises
    ------
    NotPositiveDefiniteError
        If a freedom moves no mass; names the joint. Only for a single configuration.
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    From `rnea_hessian` with weights H^-1 w at the acceleration that forward dynamics gives, and the
    matrices of `forward_dynamics_derivatives`, in O(nv^2 depth). Errors grow with the condition number of
    H. The matrices are dense where the model is connected, except vv, which has the pattern of H.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> tf.forward_dynamics_hessian(model, [np.pi / 2], [0.0], [0.0], [1.0]).qq.round(3)
    array([[14.014]])
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    options = (bool(symmetric),)
    arrays = (q, v, tau, w, fext)
    return call(model, compiled.ForwardDynamicsHessian, options, arrays, out, num_threads, general_path)


def _bind_to(kind):
    """Return how calls of a function are bound that has the option `symmetric`."""

    def bind(function, model: Model, given: dict[str, Any], out):
        options = (bool(given["symmetric"]),)
        return bound(model, kind, options, given, out, partial(function, model, **given, out=out))

    return bind


def _bound_hessian(function, model: Model, given: dict[str, Any], out):
    """Return the bound call of `rnea_hessian`."""
    check_choice("layout", given["layout"], LAYOUTS[:2])
    options = (given["layout"], bool(given["symmetric"]))
    return bound(model, compiled.RneaHessian, options, given, out, partial(function, model, **given, out=out))


register(_bind_to(compiled.RneaHvp), (rnea_hvp,))
register(_bind_to(compiled.ForwardDynamicsHvp), (forward_dynamics_hvp,))
register(_bind_to(compiled.ForwardDynamicsHessian), (forward_dynamics_hessian,))
register(_bound_hessian, (rnea_hessian,))
