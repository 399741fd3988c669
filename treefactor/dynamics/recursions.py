"""Compute the inertia matrix, inverse and forward dynamics of a model, for one configuration or a batch."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._util.validation import check_choice, require_apart, require_bindable
from ..model.model import Model, require_model
from ..tree.tree import LAYOUTS
from ._bound_call import Bound, call
from ._general_path import (
    ABA,
    BASE_FORCE,
    BIAS,
    CRBA,
    FACTOR,
    FRAMES,
    H_TIMES,
    INPUTS,
    JOINT_FORCES,
    MOTION,
    RNEA,
    GeneralCall,
    general_path,
)
from .reactions import base_force, joint_forces

__all__ = ["aba", "bias", "bind", "crba", "forward_dynamics", "h_times", "rnea"]

METHODS = {"aba": ABA, "factor": FACTOR}
BINDERS: dict[Any, Any] = {}  # how functions of other modules are bound: called with model, arguments and out


def crba(model: Model, q, out=None, layout: str = "dense", num_threads: int = 1) -> np.ndarray:
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
    Featherstone (2008), table 6.2: composite-rigid-body algorithm, in the axes of the root body; moments of
    bodies far from it are taken about local origins.
    """
    if layout == "dense":
        return call(model, CRBA, q, None, None, None, out, num_threads, general_path)
    check_choice("layout", layout, LAYOUTS)
    return GeneralCall(model, CRBA, out, num_threads, layout).run(q)


def rnea(model: Model, q, v, a, fext=None, out=None, num_threads: int = 1) -> np.ndarray:
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

    Returns
    -------
    ndarray, shape (..., nv)
        N, N m.

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Featherstone (2008), table 5.1.
    """
    return call(model, RNEA, q, v, a, fext, out, num_threads, general_path)


def bias(model: Model, q, v, fext=None, out=None, num_threads: int = 1) -> np.ndarray:
    """Compute the generalized forces at zero acceleration: Coriolis, centrifugal, gravity, minus external.

    Pinocchio calls them ``nle``, MuJoCo ``qfrc_bias``.

    Parameters
    ----------
    model, q, v, fext, out, num_threads
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
    return call(model, BIAS, q, v, None, fext, out, num_threads, general_path)


def h_times(model: Model, q, x, out=None, num_threads: int = 1) -> np.ndarray:
    """Compute H(q) x without forming H.

    Parameters
    ----------
    model, q, out, num_threads
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
    return call(model, H_TIMES, q, None, x, None, out, num_threads, general_path)


def aba(model: Model, q, v, tau, fext=None, out=None, num_threads: int = 1) -> np.ndarray:
    """Compute forward dynamics, the acceleration under tau, by the articulated-body algorithm in O(n).

    Parameters
    ----------
    model : Model
        Must not have mimic joints.
    q, v, tau, fext, out, num_threads
        As for `rnea`; tau has shape (..., nv).

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
    return call(model, ABA, q, v, tau, fext, out, num_threads, general_path)


def forward_dynamics(
    model: Model, q, v, tau, fext=None, method: str = "factor", out=None, num_threads: int = 1
) -> np.ndarray:
    """Compute forward dynamics, the acceleration under tau: from H, its LTDL factor and the bias, or by ABA.

    Parameters
    ----------
    model, q, v, tau, fext, out, num_threads
        As for `aba`; with "factor" the model may have mimic joints.
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
    Featherstone (2008), section 6.1. With "factor", a single state without fext and the same state in a batch
    may differ in their last bits, because a single H and a batch are factorized by different kernels. Strides
    never change a bit; in all other functions of the dynamics a batch does not, either.
    """
    check_choice("method", method, tuple(METHODS))
    if method == "aba":
        return aba(model, q, v, tau, fext, out, num_threads)
    return call(model, FACTOR, q, v, tau, fext, out, num_threads, general_path)


def frames(model: Model, q, v, num_threads: int = 1) -> np.ndarray:
    """Compute kinematics records of all bodies and unit motions of all freedoms, in the axes of the base.

    `BodyMotions` and `treefactor.constraints` read them. Arguments and errors are those of `bias`.

    Returns
    -------
    ndarray, shape (..., r njoints + 6 m)
        For every joint the r numbers of a record with the fields of the dtype `BODY_MOTION`: axes of its
        body; its origin, measured from that of the root body; origin of the root body; velocity; acceleration
        at zero acceleration of the joints (m, rad, s). Then 6 numbers for each of the m freedoms of all
        joints, mimic joints included: its unit motion. All velocities, accelerations and motions are
        spatial, linear before angular, taken at the origin of the root body.

    Notes
    -----
    Featherstone (2008), table 5.1, outward half. Positions are measured from the root body, so results for a
    point are as exact as its rounded distance from the root body.
    """
    return call(model, FRAMES, q, v, None, None, None, num_threads, general_path)


def motion(model: Model, q, v, tau) -> tuple[np.ndarray, np.ndarray]:
    """Compute tau - bias and the packed rows of H in one state, the two sides of H a = tau - bias.

    Arguments and errors are those of `rnea`.
    """
    found = call(model, MOTION, q, v, tau, None, None, 1, general_path)
    return found[: model.nv], found[model.nv :]


def bind(function, model: Model, *arguments, out, **options) -> Any:
    """Bind a function to fixed arrays: returns a call without arguments, for inner loops.

    Parameters
    ----------
    function
        `crba`, `rnea`, `bias`, `h_times`, `aba`, `forward_dynamics` (by the factor), `joint_forces`,
        `base_force`; or a function of the kinematics, such as `frame_jacobian`.
    model : Model
    *arguments, out : ndarray of float64
        Arguments after the model, for one configuration; contiguous. They are referenced, not copied.
        Functions of the kinematics also take their frame here.
    **options
        Their reference, layout and so on, by name.

    Returns
    -------
    callable
        Returns ``out``; raises what the function raises.

    Raises
    ------
    ValueError
        If the function cannot be bound, or an array is not contiguous float64 of the right shape.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> q, v, tau, a = np.zeros(1), np.zeros(1), np.ones(1), np.empty(1)
    >>> step = tf.bind(tf.forward_dynamics, model, q, v, tau, out=a)
    >>> step()
    array([2.85714286])
    """
    if function in BINDERS:
        return BINDERS[function](model, *arguments, out=out, **options)
    operations = {
        crba: CRBA,
        rnea: RNEA,
        bias: BIAS,
        h_times: H_TIMES,
        aba: ABA,
        forward_dynamics: FACTOR,
        joint_forces: JOINT_FORCES,
        base_force: BASE_FORCE,
    }
    if function not in operations:
        known = ", ".join(one.__name__ for one in (*operations, *BINDERS))
        raise ValueError(f"function must be one of {known} to be bound, got {function!r}")
    require_model(model)
    op = operations[function]
    shapes = {CRBA: (model.nv, model.nv), JOINT_FORCES: (model.njoints, 6), BASE_FORCE: (6,)}
    names = INPUTS[op]
    if len(arguments) != len(names) or options:
        raise ValueError(
            f"{function.__name__} takes {len(names)} arrays after the model: {', '.join(names)}; "
            f"got {len(arguments)}{''.join(f', {name}=' for name in options)}"
        )
    arrays = dict(zip(names, arguments, strict=True))
    for name, array in arrays.items():
        require_bindable(array, (model.nq if name == "q" else model.nv,), name)
    require_bindable(out, shapes.get(op, (model.nv,)), "out")
    require_apart(out, arrays)
    validated = partial(function, model, *arguments, out=out)
    x = next((arrays[name] for name in ("a", "tau", "x") if name in arrays), None)
    return Bound(model, op, arrays["q"], arrays.get("v"), x, out, validated)
