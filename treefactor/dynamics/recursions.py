"""Compute the inertia matrix, inverse and forward dynamics of a model, for one configuration or a batch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .._util._bound_call import BoundCall
from .._util._explained_calls import explain
from .._util.bindable import bound_arrays, builder_of, given_arguments, register
from .._util.validation import check_choice
from ..model.model import Model, require_model
from ._bound_call import Bound, call
from ._general_path import (
    ABA,
    BASE_FORCE,
    BIAS,
    CORIOLIS,
    CORIOLIS_PACKED,
    CRBA,
    CRBA_PACKED,
    FACTOR,
    FRAMES,
    GRAVITY,
    H_TIMES,
    INPUTS,
    INVERSE,
    JOINT_FORCES,
    KINETIC_ENERGY,
    MECHANICAL_ENERGY,
    MOTION,
    POTENTIAL_ENERGY,
    RNEA,
    STATIC_TORQUE,
    general_path,
)
from ._recursion_calls import aba, bias, crba, forward_dynamics, h_times, rnea
from .energies import kinetic_energy, mechanical_energy, potential_energy
from .inertias import bindable_model
from .matrices import coriolis_matrix, inverse_inertia
from .reactions import base_force, joint_forces
from .statics import generalized_gravity, static_torque

__all__ = ["aba", "bias", "bind", "crba", "forward_dynamics", "h_times", "rnea"]

METHODS = {"aba": ABA, "factor": FACTOR}


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


def bind(function, model: Model, *arguments: Any, out: Any, **options: Any) -> BoundCall:
    """Bind a function to fixed arrays: returns a call without arguments, for inner loops.

    Parameters
    ----------
    function
        A function of a model and one configuration that returns real arrays: of the dynamics (`rnea`,
        `step`, ...), of the kinematics (`frame_jacobian`, `constraints.jacobian`, ...), of configurations
        (`integrate`, `distance`, `d_difference`, ...); not `is_same_configuration` and those
        of the operational space.
    model : Model
    *arguments
        Arguments after the model. Arrays are contiguous, of float64, for one configuration; they are
        referenced, not copied. u of `interpolate` is an array without axes, h of `step` a number.
    out : ndarray of float64, or tuple of them
        Contiguous; a tuple where the function returns one. Of energies and `distance` without axes; that of
        `step` may be the state itself; that of `constraints.placement` has shape (3, 4).
    **options
        Arguments by name: fext, layout, method, reference and so on. Layouts are "dense" and "packed". Later
        changes of ``inertias``, one set, take effect.

    Returns
    -------
    callable
        Returns ``out``, and `constraints.placement` views of it; raises what the function raises.

    Raises
    ------
    ValueError
        If the function cannot be bound, an argument is unknown or missing, or an array is not contiguous
        float64 of the right shape.

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
    build = builder_of(function)
    require_model(model)
    given = given_arguments(function, arguments, options)
    return build(function, bindable_model(model, given.pop("inertias", None)), given, out)


BOUND: dict[Callable[..., np.ndarray], int] = {
    rnea: RNEA,
    bias: BIAS,
    h_times: H_TIMES,
    aba: ABA,
    joint_forces: JOINT_FORCES,
    base_force: BASE_FORCE,
    generalized_gravity: GRAVITY,
    static_torque: STATIC_TORQUE,
    kinetic_energy: KINETIC_ENERGY,
    potential_energy: POTENTIAL_ENERGY,
    mechanical_energy: MECHANICAL_ENERGY,
    inverse_inertia: INVERSE,
}
BOUND_BY: dict[Callable[..., np.ndarray], tuple[str, dict[str, int]]] = {  # the option that tells which
    crba: ("layout", {"dense": CRBA, "packed": CRBA_PACKED}),
    coriolis_matrix: ("layout", {"dense": CORIOLIS, "packed": CORIOLIS_PACKED}),
    forward_dynamics: ("method", METHODS),
}


def _bound(function, model: Model, given: dict[str, Any], out: np.ndarray) -> Bound:
    """Return the bound call of a recursion."""
    op = BOUND[function] if function in BOUND else _chosen(*BOUND_BY[function], given)
    names = {*INPUTS[op], "fext"} if given.get("fext") is not None else INPUTS[op]
    sizes = {"q": (model.nq,), "fext": (model.njoints, 6)}
    shapes = {name: sizes.get(name, (model.nv,)) for name in given if name in names}
    arrays = bound_arrays(shapes, given, model.bodies.shape(op), out)
    validated = partial(function, model, **given, out=out)
    x = next((arrays[name] for name in ("a", "tau", "x") if name in arrays), None)
    return Bound(model, op, arrays["q"], arrays.get("v"), x, arrays.get("fext"), out, validated)


def _chosen(option: str, operations: dict[str, int], given: dict[str, Any]) -> int:
    """Return the operation that an option names."""
    check_choice(option, given[option], tuple(operations))
    return operations[given[option]]


register(_bound, (*BOUND, *BOUND_BY))
explain([aba, bias, crba, forward_dynamics, h_times, rnea])
