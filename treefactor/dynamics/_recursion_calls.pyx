# cython: embedsignature=False
"""Compute the inertia matrix, inverse and forward dynamics of a model, for one configuration or a batch."""

from ._bound_call cimport compute
from ._recursions cimport ABA, BIAS, CRBA, CRBA_PACKED, FACTOR, H_TIMES, RNEA

from .._util.validation import check_choice
from ..tree.tree import LAYOUTS
from ._general_path import GeneralCall, general_path
from .inertias import with_inertias

cdef object dense = LAYOUTS[0], packed = LAYOUTS[1], by_factor = "factor", by_aba = "aba"
cdef tuple methods = (by_aba, by_factor)


def crba(model, q, out=None, layout="dense", num_threads=1, inertias=None):
    """Compute the joint-space inertia matrix H(q), armature included.

    Parameters
    ----------
    model : Model
    q : array_like, shape (..., nq)
        Configurations in Pinocchio's layout.
    out : ndarray, optional
        Receives the result.
    layout : {"dense", "packed", "lanes"}
        Layout of the result: `treefactor.factor` accepts all of them.
    num_threads : int
        For batches; -1 uses all cores.
    inertias : Inertias or array_like, shape (..., njoints, 10), optional
        In the place of the model's: see `Inertias`.

    Returns
    -------
    ndarray, shape (..., nv, nv), (..., nnz) or (blocks, nnz, 8)
        kg, kg m, kg m^2. In a batch, configurations that are not finite or whose quaternions do not have unit
        length give NaN.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
        If q is not a configuration of the model; ConfigurationError names the joint.

    Notes
    -----
    Featherstone (2008), table 6.2: composite-rigid-body algorithm, every body in its own axes and about its
    own origin.
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    if layout is not dense and layout is not packed:
        check_choice("layout", layout, LAYOUTS)
    if layout == "dense":
        return compute(model, CRBA, q, None, None, None, out, num_threads, general_path)
    if layout == "packed":
        return compute(model, CRBA_PACKED, q, None, None, None, out, num_threads, general_path)
    return GeneralCall(model, CRBA, out, num_threads, layout).run(q)


def rnea(model, q, v, a, fext=None, out=None, num_threads=1, inertias=None):
    """Compute inverse dynamics: the generalized forces tau that produce the acceleration a.

    Parameters
    ----------
    model : Model
    q, v, a : array_like, shapes (..., nq), (..., nv), (..., nv)
        Leading axes are a batch; an array without them applies to every configuration.
    fext : array_like, shape (..., njoints, 6), optional
        External force and moment on the body of every joint, at the origin and in the axes of the joint, in
        N and N m: Pinocchio's ``fext`` without its first entry, the universe.
    out : ndarray, shape (..., nv), optional
    num_threads : int
        For batches; -1 uses all cores.
    inertias : Inertias or array_like, shape (..., njoints, 10), optional
        In the place of the model's: see `Inertias`.

    Returns
    -------
    ndarray, shape (..., nv)
        N, N m.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Luh, Walker and Paul (1980): recursive Newton-Euler algorithm, every body in its own axes.
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    return compute(model, RNEA, q, v, a, fext, out, num_threads, general_path)


def bias(model, q, v, fext=None, out=None, num_threads=1, inertias=None):
    """Compute the generalized forces at zero acceleration: Coriolis, centrifugal, gravity, minus external.

    Pinocchio calls them ``nle``, MuJoCo ``qfrc_bias``.

    Parameters
    ----------
    model, q, v, fext, out, num_threads, inertias
        As for `rnea`.

    Returns
    -------
    ndarray, shape (..., nv)
        N, N m.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Featherstone (2008), table 5.1, without accelerations.
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    return compute(model, BIAS, q, v, None, fext, out, num_threads, general_path)


def h_times(model, q, x, out=None, num_threads=1, inertias=None):
    """Compute H(q) x without forming H.

    Parameters
    ----------
    model, q, out, num_threads, inertias
        As for `rnea`.
    x : array_like, shape (..., nv)

    Returns
    -------
    ndarray, shape (..., nv)

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Featherstone (2008), table 6.1: inverse dynamics without velocities, gravity and external forces.
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    return compute(model, H_TIMES, q, None, x, None, out, num_threads, general_path)


def aba(model, q, v, tau, fext=None, out=None, num_threads=1, inertias=None):
    """Compute forward dynamics, the acceleration under tau, by the articulated-body algorithm in O(n).

    Parameters
    ----------
    model : Model
        Must not have mimic joints.
    q, v, fext, out, num_threads, inertias
        As for `rnea`.
    tau : array_like, shape (..., nv)
        Generalized forces, N, N m.

    Returns
    -------
    ndarray, shape (..., nv)
        m/s^2, rad/s^2; in a batch, NaN where there is no solution.

    Raises
    ------
    NotPositiveDefiniteError
        If a freedom moves no mass; names the joint. Only for a single configuration.
    ValueError
        If the model has mimic joints: use ``forward_dynamics(..., method="factor")``.
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Featherstone (2008), table 7.1, one freedom after the other.
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    return compute(model, ABA, q, v, tau, fext, out, num_threads, general_path)


def forward_dynamics(model, q, v, tau, fext=None, method="factor", out=None, num_threads=1, inertias=None):
    """Compute forward dynamics, the acceleration under tau: from H, its LTDL factor and the bias, or by ABA.

    Parameters
    ----------
    model : Model
        May have mimic joints with "factor".
    q, v, tau, fext, out, num_threads, inertias
        As for `aba`.
    method : {"factor", "aba"}
        "factor" solves ``H a = tau - bias``; models with mimic joints need it.

    Returns
    -------
    ndarray, shape (..., nv)
        m/s^2, rad/s^2; in a batch, NaN where there is no solution.

    Raises
    ------
    NotPositiveDefiniteError, ValueError, ShapeError, NonFiniteError, ConfigurationError
        As for `aba`.

    Notes
    -----
    Featherstone (2008), section 6.1. With "factor", a single state and the same state in a batch may differ
    in their last bits, because a single H and a batch are factorized by different kernels. So may the results
    of `inverse_inertia` and `coriolis_matrix`. Strides never change a bit; in all other functions of the
    dynamics a batch does not, either.
    """
    if inertias is not None:
        model = with_inertias(model, inertias)
    if method is not by_factor and method is not by_aba:
        check_choice("method", method, methods)
    return compute(model, ABA if method == "aba" else FACTOR, q, v, tau, fext, out, num_threads, general_path)
