"""Make the solvers of `treefactor.control` for JAX and PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._util.validation import as_tuple
from ..exceptions import ShapeError
from ..model.model import require_model
from ..tolerances import EXPECTED_FALL, LEAST_REGULARIZATION
from ._public_functions import Adapter, hashable_frames

POSES = ((3, 4), (4, 4))


class Solutions(NamedTuple):
    """Configurations that bring a frame to its targets, and how each search ended.

    Attributes
    ----------
    q : array, shape (..., nq)
    status : array of int8, shape (...)
        `treefactor.control.Status`; 0 is SOLVED.

    Notes
    -----
    Thread-compatible.
    """

    q: Any
    status: Any


class Motions(NamedTuple):
    """Motions of least cost, and how each search ended.

    Attributes
    ----------
    q, v, u : array, shapes (..., T + 1, nq), (..., T + 1, nv), (..., T, nu)
    cost : array, shape (...)
    status : array of int8, shape (...)
        `treefactor.control.ILQRStatus`; 0 is CONVERGED.

    Notes
    -----
    Thread-compatible.
    """

    q: Any
    v: Any
    u: Any
    cost: Any
    status: Any


INVERSE = """Bring a frame to its targets, as `treefactor.control.inverse_kinematics`.

    Parameters
    ----------
    model : Model
    targets : {argument}, shape (..., 3, 4), (..., 4, 4) or (..., 3)
        Poses of the frame, or positions (m).
    frame : str, int or Frame
    q0 : {argument}, shape (..., nq), optional
        First start of every target.
    limits, joints, restarts, starts, stall, iterations, tolerance, seed
        As those of `treefactor.control.inverse_kinematics`; constants.

    Returns
    -------
    Solutions
        A named tuple of q and status. In float32, q is rounded after it was found within the limits.

    Raises
    ------
    {errors}
    InvalidModelError, ConfigurationError, ValueError
        As `treefactor.control.inverse_kinematics`. Targets without a rotation are NON_FINITE, not errors.

    Notes
    -----
    A search has no derivative; its solution has, by the theorem of implicit functions: q moves by the
    shortest dq of the joints that moves the frame as its target, J dq = e. Joints within 1e-6 of a limit are
    held: their rows are zero. Where J has not full rank, dq is the one with the least error: singular values
    of J below 1e-4 of its norm fade out. The start counts as constant. For an arm with as many joints as the
    target has degrees of freedom, this is the derivative of the search; with more joints it is that of a
    search that starts at its solution, q0 = q.

    Derivatives of elements that are not SOLVED are NaN, but zero where the gradient that arrives is zero:
    ``where(status == 0, loss, 0)`` leaves them out. There are no second derivatives.
    """
MOTION = """Find motions of least cost, as `treefactor.control.ilqr`.

    Parameters
    ----------
    model : Model
    q0, v0, u : {argument}, shapes (..., nq), (..., nv), (..., T, nu)
    cost : list of costs
        As those of `treefactor.control.ilqr`, but without CustomCost and without axes of problems; constants.
    dt : float
    method, control_limits, actuated, second_order, iterations, tolerance, regularization
        As those of `treefactor.control.ilqr`; constants. Every search begins at the motion of u.

    Returns
    -------
    Motions
        A named tuple of q, v, u, cost and status.

    Raises
    ------
    {errors}
    InvalidModelError, ConfigurationError, ValueError
        As `treefactor.control.ilqr`.

    Notes
    -----
    There are no derivatives: the gains belong to the Hessian of Gauss and Newton, and are not the derivative
    of the solution where residuals are left. The least cost changes with the initial state as the cost of
    `rollout` with these controls, held constant: that can be differentiated.
    """


def solvers(adapter: Adapter) -> dict[str, Callable]:
    """Return the solvers of a framework by their names."""
    evaluate = adapter.evaluate

    def inverse_kinematics(
        model,
        targets,
        frame,
        q0=None,
        *,
        limits=True,
        joints=None,
        restarts=None,
        starts=1,
        stall=6,
        iterations=1000,
        tolerance=1e-4,
        seed=0,
    ):
        require_model(model)
        targets = adapter.as_array(targets, "targets", ())
        shape = tuple(targets.shape[-2:])
        if shape in POSES:
            targets = targets[..., :3, :]
        options = (
            ("frame", hashable_frames(frame)),
            ("iterations", iterations),
            ("joints", hashable(joints)),
            ("limits", hashable(limits)),
            ("point", shape not in POSES),
            ("restarts", restarts),
            ("seed", seed),
            ("stall", stall),
            ("start", q0 is not None),
            ("starts", starts),
            ("tolerance", hashable(tolerance)),
        )
        given = (targets,) if q0 is None else (targets, adapter.as_array(q0, "q0", ()))
        q, status = evaluate("inverse_kinematics", model, tuple(map(adapter.constant, given)), options)
        (change,) = evaluate("change of inverse_kinematics", model, (q, status, targets), options)
        return Solutions(q + change, adapter.as_int8(status[..., 0]))

    def ilqr(
        model,
        q0,
        v0,
        u,
        cost,
        dt,
        *,
        method="single",
        control_limits=None,
        actuated=None,
        second_order=False,
        iterations=100,
        tolerance=EXPECTED_FALL,
        regularization=LEAST_REGULARIZATION,
    ):
        require_model(model)
        u = adapter.as_array(u, "u", ())
        if u.ndim < 2:
            raise ShapeError(f"u must have shape (..., T, nu), got {tuple(u.shape)}", tuple(u.shape))
        options = (
            ("actuated", hashable(actuated)),
            ("control_limits", hashable(control_limits)),
            ("controls", u.shape[-1]),
            ("cost", as_tuple(cost, "cost")),
            ("dt", adapter.as_length(dt)),
            ("iterations", iterations),
            ("method", method),
            ("regularization", regularization),
            ("second_order", second_order),
            ("steps", u.shape[-2]),
            ("tolerance", tolerance),
        )
        q, v, u, cost, status = evaluate("ilqr", model, (q0, v0, u), options)
        return Motions(q, v, u, cost[..., 0], adapter.as_int8(status[..., 0]))

    functions = {"inverse_kinematics": inverse_kinematics, "ilqr": ilqr}
    for (name, function), text in zip(functions.items(), (INVERSE, MOTION), strict=True):
        _document(function, name, text, adapter)
    return functions


def _document(function: Callable, name: str, text: str, adapter: Adapter) -> None:
    """Give a solver the name, module and docstring of a framework's function."""
    framework = adapter.framework
    function.__module__, function.__qualname__ = f"treefactor.{framework.module}", name
    function.__doc__ = text.format(argument=framework.argument, errors=", ".join(framework.errors))


def hashable(value):
    """Return numbers as numbers of Python, and lists and arrays as tuples: options are keys."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    return tuple(map(hashable, value)) if isinstance(value, (list, tuple)) else value
