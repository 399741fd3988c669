"""Compute the derivatives of `integrate` and `difference` by their arguments."""

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
    ``pinocchio.dIntegrate``; Solà, Deray & Atchuthan (2018), equations 177 to 180.

    Examples
    --------
    >>> import treefactor as tf
    >>> slide = tf.Model([tf.Joint("slide", "prismatic", axis=[1, 0, 0], inertia=tf.Inertia(1.0))])
    >>> tf.d_integrate(slide, [1.0], [3.0], "ARG1")
    array([[1.]])
    """
    op = INTEGRATE_BY.get(argument)
    if op is None:
        outs = two_outs(argument, out, q, v)
        return call_both(model, INTEGRATE_BY_Q, INTEGRATE_BY_V, q, v, outs, num_threads, general_path)
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
    ``pinocchio.dDifference``. With d the difference and J the right Jacobian of exp: by q1 the inverse of
    J(d), by q0 the negative inverse of J(-d).
    """
    op = DIFFERENCE_BY.get(argument)
    if op is None:
        outs = two_outs(argument, out, q0, q1)
        return call_both(model, DIFFERENCE_BY_Q0, DIFFERENCE_BY_Q1, q0, q1, outs, num_threads, general_path)
    return call(model, op, q0, q1, None, out, num_threads, general_path)


def two_outs(argument, out, *inputs) -> tuple:
    """Return two arrays for the results, or None; raise ValueError for another argument or out."""
    if argument is not None:
        raise ValueError(f"argument must be 'ARG0' or 'ARG1', 0 or 1, got {argument!r}")
    if out is None:
        return None, None
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
    outs = two_outs(None, out, *given.values())
    first, second = (bind_step(op, function, model, given, one) for op, one in zip(ops, outs, strict=True))
    return BoundSteps(first, second, out, partial(function, model, **given, out=out))


register(_bound, (d_integrate, d_difference))
