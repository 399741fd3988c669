"""Dynamics and kinematics inside JAX, on CPUs: jit, vmap, grad, jvp, scan and second derivatives.

Functions have the names and arguments of treefactor, without ``out`` and ``num_threads``; they take JAX's
arrays and return them, float32 or float64 as their arguments. The model is not an array: it is closed over. A
`treefactor.Kernels` object may take its place: its program computes the values, derivatives come from the
model that it was made of.

q keeps its nq entries. The derivative by q is that of the function of ``normalize(q)``: zero along the length
of a quaternion. On the manifold of configurations, differentiate ``f(integrate(model, q, d))`` by d at d = 0.

Values have the bits of treefactor's for the same arrays, and under ``vmap`` those of its batches (float64,
numbers that are not denormal). Where JAX does not accept treefactor's handler, functions are called by
callbacks, and a single state is computed as a batch of one, which may differ in the last bit.

A state without a solution, or that is not a configuration, gives NaN. Functions of dynamics,
`frame_placement` and `center_of_mass` can be differentiated twice, those with external forces or inertias and
the other functions of kinematics once; `integrate`, `difference` and `normalize` without limit. Beyond that
NotImplementedError is raised.
"""

from __future__ import annotations

from ._jax_version import jax  # isort: skip

import jax.numpy as jnp

from .._util.validation import as_count, as_number, check_choice
from ..dynamics.rollouts import METHODS, count_steps
from ._jax_functions import as_array, evaluate
from ._jax_kinematics import (
    center_of_mass,
    center_of_mass_jacobian,
    centroidal_momentum,
    frame_jacobian,
    frame_placement,
    frame_velocity,
    joint_placements,
)
from ._jax_parameters import from_log_cholesky

__all__ = [
    "aba",
    "bias",
    "center_of_mass",
    "center_of_mass_jacobian",
    "centroidal_momentum",
    "crba",
    "difference",
    "forward_dynamics",
    "frame_jacobian",
    "frame_placement",
    "frame_velocity",
    "from_log_cholesky",
    "h_times",
    "integrate",
    "joint_placements",
    "normalize",
    "rnea",
    "rollout",
    "step",
]


def forward_dynamics(model, q, v, tau, fext=None, method: str = "factor", inertias=None) -> jax.Array:
    """Compute accelerations from forces, see `treefactor.forward_dynamics`.

    Parameters
    ----------
    model : Model or Kernels
    q, v, tau : array_like, shapes (..., nq), (..., nv), (..., nv)
        Float32 or float64, all the same; leading axes broadcast.
    fext : array_like, shape (..., njoints, 6), optional
        External force and moment on the body of every joint; N, N m. There are no second derivatives with it.
    method : {"factor", "aba"}
    inertias : array_like, shape (..., njoints, 10), optional
        In the place of the model's, see ``Model.parameters``: one set, or one for every element. There are no
        second derivatives with it.

    Returns
    -------
    jax.Array, shape (..., nv)
        m/s^2, rad/s^2; NaN where there is no solution.

    Raises
    ------
    ShapeError, DtypeError
        If arrays do not fit the model or each other.

    Examples
    --------
    >>> import jax, numpy as np, treefactor as tf
    >>> from treefactor.adapters import jax_
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> gradient = jax.grad(lambda tau: jax_.forward_dynamics(model, [0.0], [0.0], tau).sum())
    >>> print(gradient(jax.numpy.zeros(1)).round(3))
    [2.857]
    """
    check_choice("method", method, ("factor", "aba"))
    options = {} if method == "factor" else {"method": method}
    return _with_extras("forward_dynamics", model, (q, v, tau), fext, inertias, options)


def aba(model, q, v, tau, fext=None, inertias=None) -> jax.Array:
    """Compute accelerations by articulated bodies, see `treefactor.aba`.

    Parameters
    ----------
    model : Model or Kernels
    q, v, tau : array_like, shapes (..., nq), (..., nv), (..., nv)
    fext : array_like, shape (..., njoints, 6), optional
    inertias : array_like, shape (..., njoints, 10), optional
        See `forward_dynamics`.

    Returns
    -------
    jax.Array, shape (..., nv)

    Raises
    ------
    ShapeError, DtypeError
        If arrays do not fit the model or each other.
    """
    return _with_extras("aba", model, (q, v, tau), fext, inertias)


def rnea(model, q, v, a, fext=None, inertias=None) -> jax.Array:
    """Compute the forces of accelerations, see `treefactor.rnea`.

    Parameters
    ----------
    model : Model or Kernels
    q, v, a : array_like, shapes (..., nq), (..., nv), (..., nv)
    fext : array_like, shape (..., njoints, 6), optional
    inertias : array_like, shape (..., njoints, 10), optional
        See `forward_dynamics`.

    Returns
    -------
    jax.Array, shape (..., nv)
        N, N m.

    Raises
    ------
    ShapeError, DtypeError
        If arrays do not fit the model or each other.
    """
    return _with_extras("rnea", model, (q, v, a), fext, inertias)


def bias(model, q, v, fext=None, inertias=None) -> jax.Array:
    """Compute the forces of zero accelerations, see `treefactor.bias`.

    Parameters
    ----------
    model : Model or Kernels
    q, v : array_like, shapes (..., nq), (..., nv)
    fext : array_like, shape (..., njoints, 6), optional
    inertias : array_like, shape (..., njoints, 10), optional
        See `forward_dynamics`.

    Returns
    -------
    jax.Array, shape (..., nv)
        N, N m.

    Raises
    ------
    ShapeError, DtypeError
        If arrays do not fit the model or each other.
    """
    return _with_extras("bias", model, (q, v), fext, inertias)


def _with_extras(name: str, model, given: tuple, fext=None, inertias=None, options: dict | None = None):
    """Evaluate a function that takes external forces or inertias."""
    options = {} if options is None else options
    for key, array in (("fext", fext), ("inertias", inertias)):
        if array is not None:
            given, options = (*given, array), {**options, key: True}
    return evaluate(name, model, given, **options)


def crba(model, q, inertias=None) -> jax.Array:
    """Compute the inertia matrix H, dense, see `treefactor.crba`.

    Parameters
    ----------
    model : Model or Kernels
    q : array_like, shape (..., nq)
    inertias : array_like, shape (..., njoints, 10), optional
        See `forward_dynamics`.

    Returns
    -------
    jax.Array, shape (..., nv, nv)

    Raises
    ------
    ShapeError, DtypeError
        If q does not fit the model.
    """
    return _with_extras("crba", model, (q,), None, inertias)


def h_times(model, q, x, inertias=None) -> jax.Array:
    """Compute the product H x, see `treefactor.h_times`.

    Parameters
    ----------
    model : Model or Kernels
        The model of Kernels computes the product.
    q, x : array_like, shapes (..., nq), (..., nv)
    inertias : array_like, shape (..., njoints, 10), optional
        See `forward_dynamics`.

    Returns
    -------
    jax.Array, shape (..., nv)

    Raises
    ------
    ShapeError, DtypeError
        If arrays do not fit the model or each other.
    """
    return _with_extras("h_times", model, (q, x), None, inertias)


def integrate(model, q, v) -> jax.Array:
    """Compute the configuration after one second at the velocity v, see `treefactor.integrate`.

    Parameters
    ----------
    model : Model or Kernels
    q, v : array_like, shapes (..., nq), (..., nv)

    Returns
    -------
    jax.Array, shape (..., nq)
        Can be differentiated to any order.

    Raises
    ------
    ShapeError, DtypeError
        If arrays do not fit the model or each other.
    """
    return evaluate("integrate", model, (q, v))


def difference(model, q0, q1) -> jax.Array:
    """Compute the velocity that leads from q0 to q1 in one second, see `treefactor.difference`.

    Parameters
    ----------
    model : Model or Kernels
    q0, q1 : array_like, shape (..., nq)

    Returns
    -------
    jax.Array, shape (..., nv)
        Can be differentiated to any order.

    Raises
    ------
    ShapeError, DtypeError
        If arrays do not fit the model or each other.
    """
    return evaluate("difference", model, (q0, q1))


def normalize(model, q) -> jax.Array:
    """Scale the rotations in q to unit length, see `treefactor.normalize`.

    Parameters
    ----------
    model : Model or Kernels
    q : array_like, shape (..., nq)

    Returns
    -------
    jax.Array, shape (..., nq)
        Can be differentiated to any order.

    Raises
    ------
    ShapeError, DtypeError
        If q does not fit the model.
    """
    return evaluate("normalize", model, (q,))


def step(
    model, q, v, tau, h, method: str = METHODS[0], fext=None, inertias=None
) -> tuple[jax.Array, jax.Array]:
    """Compute the state after a time step, see `treefactor.step`.

    Parameters
    ----------
    model : Model or Kernels
    q, v, tau : array_like, shapes (..., nq), (..., nv), (..., nv)
    h : float
        Length of the step, s: a number of Python, not an array that JAX traces.
    method : {"semi_implicit_euler", "rk4"}
    fext : array_like, shape (..., njoints, 6), optional
    inertias : array_like, shape (..., njoints, 10), optional
        See `forward_dynamics`.

    Returns
    -------
    q, v : jax.Array, shapes (..., nq), (..., nv)

    Raises
    ------
    ShapeError, DtypeError
        If arrays do not fit the model or each other.
    ValueError
        If the method is unknown.
    """
    return _with_extras("step", model, (q, v, tau), fext, inertias, _motion(h, method))


def rollout(
    model, q0, v0, tau, h, steps: int | None = None, method: str = METHODS[0], fext=None, inertias=None
) -> tuple[jax.Array, jax.Array]:
    """Compute trajectories by one call for all steps, see `treefactor.rollout`.

    Parameters
    ----------
    model : Model or Kernels
    q0, v0 : array_like, shapes (..., nq), (..., nv)
    tau : array_like, shape (..., T, nv), or None
        With ``steps``: shape (..., nv), the same in all steps, or None for no forces.
    h : float
        Length of a step, s: a number of Python, not an array that JAX traces.
    steps : int, optional
        Number of steps T.
    method : {"semi_implicit_euler", "rk4"}
    fext : array_like, shape (..., T, njoints, 6), or (..., njoints, 6) with ``steps``; optional
    inertias : array_like, shape (..., njoints, 10), optional
        The same in all steps; see `forward_dynamics`.

    Returns
    -------
    q, v : jax.Array, shapes (..., T + 1, nq), (..., T + 1, nv)
        Entry 0 is the initial state.

    Raises
    ------
    ShapeError, DtypeError
        If arrays do not fit the model or each other.
    ValueError
        If the method is unknown, or steps is negative.

    Notes
    -----
    Derivatives go through the stored states step by step: for a gradient, one product with the derivative of
    forward dynamics for every step, or eight times the work with "rk4", which evaluates its stages again.
    """
    options = _motion(h, method)
    if steps is None:
        tau = None if tau is None else as_array(tau, "tau", ())
        options["steps"] = count_steps(None if tau is None else tau.shape, getattr(model, "nv", "nv"))
        return _with_extras("rollout", model, (q0, v0, tau), fext, inertias, options)
    options["steps"] = as_count(steps, "steps")
    q0 = as_array(q0, "q0", ())
    sizes = getattr(model, "program", model)
    if tau is None:
        tau = jnp.zeros(sizes.nv, q0.dtype)
    tau = _repeated(as_array(tau, "tau", (sizes.nv,)), 1, options["steps"])
    if fext is not None:
        shape = getattr(model, "njoints", 0), 6
        fext = _repeated(as_array(fext, "fext", shape), 2, options["steps"])
    return _with_extras("rollout", model, (q0, v0, tau), fext, inertias, options)


def _repeated(x: jax.Array, axes: int, steps: int) -> jax.Array:
    """Return forces that are the same in all steps, with an axis of steps."""
    lead = x.shape[: x.ndim - axes]
    return jnp.broadcast_to(jnp.expand_dims(x, len(lead)), (*lead, steps, *x.shape[len(lead) :]))


def _motion(h, method) -> dict:
    """Return the options of steps and trajectories."""
    check_choice("method", method, METHODS)
    if isinstance(h, jax.core.Tracer):
        raise TypeError(
            "h must be a number of Python, got a tracer of JAX: the length of a step can be neither "
            "differentiated nor mapped; close over it, or name it in static_argnums"
        )
    return {"h": as_number(h, "h"), "method": method}
