"""Compute the Coriolis matrix, and the inverse of the joint-space inertia matrix."""

from __future__ import annotations

import numpy as np

from .._util.validation import check_choice
from ..model.model import Model
from ._bound_call import call
from ._general_path import CORIOLIS, CORIOLIS_PACKED, INVERSE, general_path
from .inertias import with_inertias

LAYOUTS = DENSE, PACKED = "dense", "packed"


def coriolis_matrix(
    model: Model,
    q,
    v,
    out=None,
    layout: str = "dense",
    num_threads: int = 1,
    inertias=None,
) -> np.ndarray:
    """Compute the Coriolis matrix C(q, v): C v = bias - gravity, and the rate of H is C + C^T.

    Parameters
    ----------
    model : Model
    q, v : array_like, shapes (..., nq), (..., nv)
    out : ndarray, optional
        Receives the result.
    layout : {"dense", "packed"}
        "packed" has only the 2 nnz - nv entries in the pattern of H: first those on and left of the diagonal,
        row by row as `Tree.pack` orders them; then those above the diagonal, transposed, in the same order.
    num_threads : int
        For batches; -1 uses all cores.
    inertias : Inertias or array_like, shape (..., njoints, 10), optional
        In the place of the model's: see `Inertias`.

    Returns
    -------
    ndarray, shape (..., nv, nv) or (..., 2 nnz - nv)
        kg/s, kg m/s, kg m^2/s: Pinocchio's ``computeCoriolisMatrix``. With mimic joints, G^T C G of all
        joints.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
    ValueError
        If there is no such layout.

    Notes
    -----
    Echeandia and Wensing (2021), algorithm 1. Many matrices C satisfy the first equation; with the second,
    the rate of H minus 2 C is skew-symmetric, as passivity-based control needs. With universal or
    mimic joints Pinocchio 4.1's C satisfies neither.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> shoulder = tf.Joint("shoulder", "revolute", axis=[0, 1, 0], inertia=rod)
    >>> elbow = tf.Joint("elbow", "revolute", 0, p=[0, 0, -1], axis=[0, 1, 0], inertia=rod)
    >>> model = tf.Model([shoulder, elbow])
    >>> tf.coriolis_matrix(model, [0.0, np.pi / 2], [1.0, 0.0]).round(3)
    array([[ 0. , -0.5],
           [ 0.5,  0. ]])
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    if layout is not DENSE and layout is not PACKED:
        check_choice("layout", layout, LAYOUTS)
    if layout == "dense":
        return call(model, CORIOLIS, q, v, None, None, out, num_threads, general_path)
    return call(model, CORIOLIS_PACKED, q, v, None, None, out, num_threads, general_path)


def inverse_inertia(model: Model, q, out=None, num_threads: int = 1, inertias=None) -> np.ndarray:
    """Compute the inverse of the joint-space inertia matrix H(q), armature included.

    Parameters
    ----------
    model : Model
        May have mimic joints.
    q : array_like, shape (..., nq)
    out : ndarray, shape (..., nv, nv), optional
    num_threads : int
        For batches; -1 uses all cores.
    inertias : Inertias or array_like, shape (..., njoints, 10), optional
        In the place of the model's: see `Inertias`.

    Returns
    -------
    ndarray, shape (..., nv, nv)
        1/kg, 1/(kg m), 1/(kg m^2), both triangles; in a batch, NaN where H is singular. Pinocchio's
        ``computeMinverse``, which refuses mimic joints.

    Raises
    ------
    NotPositiveDefiniteError
        If a freedom moves no mass; names the joint. Only for a single configuration.
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Featherstone (2008), sections 6.2 and 6.5: H by composite rigid bodies, its branch-sparse LTDL factor, and
    the inverse of that. To apply the inverse to a few vectors, `factor` and solve instead.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> tf.inverse_inertia(model, [0.0])
    array([[2.85714286]])
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    return call(model, INVERSE, q, None, None, None, out, num_threads, general_path)
