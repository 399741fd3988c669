"""Compute the derivatives of `integrate` and `difference`: by both arguments, or by one as Pinocchio does."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._util.bindable import register
from ._configuration_calls import (
    DIFFERENCE_BY_Q0,
    DIFFERENCE_BY_Q1,
    INTEGRATE_BY_Q,
    INTEGRATE_BY_V,
    bind_step,
    general_path,
)
from ._configuration_fast_path import BoundStep, BoundSteps, call, call_both
from .model import Model

NO_OUTS = None, None


def integrate_derivatives(model: Model, q, v, out=None, num_threads: int = 1):
    """Compute the derivatives of `integrate` by q and by v.

    Parameters
    ----------
    model, q, v, num_threads
        As for `integrate`.
    out : tuple of two ndarrays, shape (..., nv, nv), optional
        Receives the result.

    Returns
    -------
    tuple of two ndarrays, shape (..., nv, nv)
        Velocity of the result, in its own axes, per velocity of q (the adjoint of exp(-v)) and per change of
        v (the right Jacobian of exp). Both are the identity but for blocks of joints that turn in more than
        one way.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
        As for `integrate`.

    Notes
    -----
    Pinocchio's ``dIntegrate`` for both arguments; `d_integrate` computes one of the two matrices. A joint's
    block depends only on its own entries of q and v: a model of a free-flyer alone gives that block of a
    robot, without the rest.

    Examples
    --------
    >>> import treefactor as tf
    >>> ball = tf.Model([tf.Joint("ball", "spherical")])
    >>> by_q, by_v = tf.integrate_derivatives(ball, tf.neutral(ball), [0.0, 0.0, 0.0])
    >>> by_q + by_v
    array([[2., 0., 0.],
           [0., 2., 0.],
           [0., 0., 2.]])
    """
    outs = NO_OUTS if out is None else two_outs(out, q, v)
    return call_both(model, INTEGRATE_BY_Q, INTEGRATE_BY_V, q, v, outs, num_threads, general_path)


def difference_derivatives(model: Model, q0, q1, out=None, num_threads: int = 1):
    """Compute the derivatives of `difference` by q0 and by q1.

    Parameters
    ----------
    model, q0, q1, num_threads
        As for `difference`.
    out : tuple of two ndarrays, shape (..., nv, nv), optional
        Receives the result.

    Returns
    -------
    tuple of two ndarrays, shape (..., nv, nv)
        Change of the difference per velocity of q0 and of q1, each in its own axes: with the right Jacobian J
        of exp and the difference d, minus the inverse of J(-d), and the inverse of J(d).

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
        As for `difference`.

    Notes
    -----
    Pinocchio's ``dDifference`` for both arguments; `d_difference` computes one of the two matrices.

    Examples
    --------
    >>> import treefactor as tf
    >>> slide = tf.Model([tf.Joint("slide", "prismatic", axis=[1, 0, 0], inertia=tf.Inertia(1.0))])
    >>> tf.difference_derivatives(slide, [1.0], [3.0])
    (array([[-1.]]), array([[1.]]))
    """
    outs = NO_OUTS if out is None else two_outs(out, q0, q1)
    return call_both(model, DIFFERENCE_BY_Q0, DIFFERENCE_BY_Q1, q0, q1, outs, num_threads, general_path)


def d_integrate(model: Model, q, v, argument=None, out=None, num_threads: int = 1):
    """Return the derivative of `integrate` by q or by v.

    Parameters
    ----------
    model, q, v, num_threads
        As for `integrate`.
    argument : {"ARG0", "ARG1", 0, 1} or pinocchio.ArgumentPosition, optional
        0 is q, 1 is v; without it both are returned.
    out : ndarray, shape (..., nv, nv), or tuple of two of them, optional
        Two without an argument.

    Returns
    -------
    ndarray, shape (..., nv, nv), or tuple of two of them
        Velocity of the result in its own axes per velocity of the argument: by q the adjoint of exp(-v), by v
        the right Jacobian of exp.

    Raises
    ------
    ValueError
        If the argument is unknown.
    ShapeError, NonFiniteError, ConfigurationError
        As for `integrate`.

    Notes
    -----
    ``pinocchio.dIntegrate``; without an argument, `integrate_derivatives`. Solà, Deray & Atchuthan (2018),
    equations 177 to 180.

    Examples
    --------
    >>> import treefactor as tf
    >>> slide = tf.Model([tf.Joint("slide", "prismatic", axis=[1, 0, 0], inertia=tf.Inertia(1.0))])
    >>> tf.d_integrate(slide, [1.0], [3.0], "ARG1")
    array([[1.]])
    """
    op = INTEGRATE_BY.get(argument)
    if op is None:
        require_no_argument(argument)
        return integrate_derivatives(model, q, v, out, num_threads)
    return call(model, op, q, v, None, out, num_threads, general_path)


def d_difference(model: Model, q0, q1, argument=None, out=None, num_threads: int = 1):
    """Return the derivative of `difference` by q0 or by q1.

    Parameters
    ----------
    model, q0, q1, num_threads
        As for `difference`.
    argument : {"ARG0", "ARG1", 0, 1} or pinocchio.ArgumentPosition, optional
        0 is q0, 1 is q1; without it both are returned.
    out : ndarray, shape (..., nv, nv), or tuple of two of them, optional
        Two without an argument.

    Returns
    -------
    ndarray, shape (..., nv, nv), or tuple of two of them

    Raises
    ------
    ValueError
        If the argument is unknown.
    ShapeError, NonFiniteError, ConfigurationError
        As for `integrate`.

    Notes
    -----
    ``pinocchio.dDifference``; without an argument, `difference_derivatives`. With d the difference and J the
    right Jacobian of exp: by q1 the inverse of J(d), by q0 the negative inverse of J(-d).
    """
    op = DIFFERENCE_BY.get(argument)
    if op is None:
        require_no_argument(argument)
        return difference_derivatives(model, q0, q1, out, num_threads)
    return call(model, op, q0, q1, None, out, num_threads, general_path)


def require_no_argument(argument) -> None:
    """Raise ValueError for an argument that is none of the two."""
    if argument is not None:
        raise ValueError(f"argument must be 'ARG0' or 'ARG1', 0 or 1, got {argument!r}")


def two_outs(out, *inputs) -> tuple:
    """Return the two arrays of out for the results; raise ValueError for another out."""
    if type(out) is not tuple or len(out) != 2:
        given = type(out).__name__
        raise ValueError(f"out must be a tuple of two arrays, one for each argument, got {given}")
    if any(np.may_share_memory(one, x) for one in out for x in inputs) or np.may_share_memory(*out):
        raise ValueError("the arrays of out must share no memory with each other and with the arguments")
    return out


INTEGRATE_BY = {0: INTEGRATE_BY_Q, 1: INTEGRATE_BY_V, "ARG0": INTEGRATE_BY_Q, "ARG1": INTEGRATE_BY_V}
DIFFERENCE_BY = {0: DIFFERENCE_BY_Q0, 1: DIFFERENCE_BY_Q1, "ARG0": DIFFERENCE_BY_Q0, "ARG1": DIFFERENCE_BY_Q1}


def _bound(function, model: Model, given: dict, out) -> BoundStep:
    """Return the bound call of a derivative by one argument."""
    op = (INTEGRATE_BY if function is d_integrate else DIFFERENCE_BY).get(given["argument"])
    if op is None:
        raise ValueError(f"argument must be 'ARG0' or 'ARG1' to be bound, got {given['argument']!r}")
    return bind_step(op, function, model, given, out)


def bind_both(ops: tuple[int, int], function, model: Model, given: dict, out) -> BoundSteps:
    """Return the bound call of a function of both derivatives, given their operations."""
    if out is None:
        raise ValueError("out must be a tuple of two arrays to be bound, got None")
    outs = two_outs(out, *given.values())
    first, second = (bind_step(op, function, model, given, one) for op, one in zip(ops, outs, strict=True))
    return BoundSteps(first, second, out, partial(function, model, **given, out=out))


register(_bound, (d_integrate, d_difference))
register(partial(bind_both, (INTEGRATE_BY_Q, INTEGRATE_BY_V)), [integrate_derivatives])
register(partial(bind_both, (DIFFERENCE_BY_Q0, DIFFERENCE_BY_Q1)), [difference_derivatives])
