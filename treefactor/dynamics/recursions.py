"""Bind calls to arrays; compute both sides of the equation of motion of one state."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._util._bound_call import BoundCall
from .._util.bindable import builder_of, given_arguments
from ..model.model import Model, require_model
from ..quantities.functions import equation_of_motion
from .inertias import bindable_model

__all__ = ["bind"]


def motion(model: Model, q, v, tau) -> tuple[np.ndarray, np.ndarray]:
    """Compute tau - bias and the packed rows of H in one state, the two sides of H a = tau - bias.

    Arguments and errors are those of `rnea`.
    """
    both = equation_of_motion(model, q, v, tau)
    return both[: model.nv], both[model.nv :]


def bind(function, model: Model, *arguments: Any, out: Any, **options: Any) -> BoundCall:
    """Bind a function to fixed arrays: returns a call without arguments, for inner loops.

    Parameters
    ----------
    function
        A function of a model and one configuration that returns real arrays: of the dynamics (`rnea`,
        `step`, ...), of the kinematics (`frame_jacobian`, `center_of_mass`, ...), of configurations
        (`integrate`, `distance`, `d_difference`, ...); not `is_same_configuration` and those
        of the operational space.
    model : Model
    *arguments
        Arguments after the model. Arrays are contiguous, of float64, for one configuration; they are
        referenced, not copied. u of `interpolate` is an array without axes, h of `step` a number.
    out : ndarray of float64, or tuple of them
        Contiguous; a tuple where the function returns one. Of energies and `distance` without axes; that of
        `step` may be the state itself.
    **options
        Arguments by name: fext, layout, method, reference and so on. Layouts are "dense" and "packed". Later
        changes of ``inertias``, one set, take effect.

    Returns
    -------
    callable
        Returns ``out``; raises what the function raises.

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
