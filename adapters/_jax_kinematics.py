"""Kinematics inside JAX: placements, Jacobians, velocities and momenta, see `jax_`."""

from __future__ import annotations

import jax

from ..kinematics.plans import reference_name
from ._jax_functions import evaluate
from ._kinematics_functions import hashable_frames


def frame_placement(model, q, frame) -> jax.Array:
    """Compute the placements [R | p] of frames in the world, see `treefactor.frame_placement`.

    Parameters
    ----------
    model : Model or Kernels
    q : array_like, shape (..., nq)
    frame : str, Frame, -1 for the base, or list of them

    Returns
    -------
    jax.Array, shape (..., 3, 4) or (..., k, 3, 4)
        Derivatives are those of the 12 entries.

    Raises
    ------
    ShapeError, DtypeError
        If q does not fit the model.
    InvalidModelError
        If the model has no frame of that name.

    Examples
    --------
    >>> import jax, numpy as np, treefactor as tf
    >>> from treefactor.adapters import jax_
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1])]).add_frame("tip", "hinge", p=[1, 0, 0])
    >>> height = lambda q: jax_.frame_placement(arm, q, "tip")[1, 3]
    >>> print(jax.grad(height)(jax.numpy.zeros(1)))
    [1.]
    """
    return evaluate("frame_placement", model, (q,), frame=hashable_frames(frame))


def joint_placements(model, q) -> jax.Array:
    """Compute the placements [R | p] of all joints in the world, see `treefactor.joint_placements`.

    Parameters
    ----------
    model : Model or Kernels
    q : array_like, shape (..., nq)

    Returns
    -------
    jax.Array, shape (..., njoints, 3, 4)

    Raises
    ------
    ShapeError, DtypeError
        If q does not fit the model.
    """
    return evaluate("joint_placements", model, (q,))


def frame_velocity(model, q, v, frame, reference: str = "LOCAL") -> jax.Array:
    """Compute the spatial velocities of frames, see `treefactor.frame_velocity`.

    Parameters
    ----------
    model : Model or Kernels
    q, v : array_like, shapes (..., nq), (..., nv)
    frame : str, Frame, -1 for the base, or list of them
    reference : {"LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"}

    Returns
    -------
    jax.Array, shape (..., 6) or (..., k, 6)
        Linear before angular; m/s, rad/s.

    Raises
    ------
    ShapeError, DtypeError
        If arrays do not fit the model or each other.
    InvalidModelError, ValueError
        If the model has no frame of that name, or the reference is unknown.
    """
    options = {"frame": hashable_frames(frame), "reference": reference_name(reference)}
    return evaluate("frame_velocity", model, (q, v), **options)


def frame_jacobian(model, q, frame, reference: str = "LOCAL") -> jax.Array:
    """Compute the Jacobians of frames, dense, see `treefactor.frame_jacobian`.

    Parameters
    ----------
    model : Model or Kernels
    q : array_like, shape (..., nq)
    frame : str, Frame, -1 for the base, or list of them
    reference : {"LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"}

    Returns
    -------
    jax.Array, shape (..., 6, nv) or (..., k, 6, nv)

    Raises
    ------
    ShapeError, DtypeError
        If q does not fit the model.
    InvalidModelError, ValueError
        If the model has no frame of that name, or the reference is unknown.
    """
    options = {"frame": hashable_frames(frame), "reference": reference_name(reference)}
    return evaluate("frame_jacobian", model, (q,), **options)


def center_of_mass(model, q) -> jax.Array:
    """Compute the centre of mass, see `treefactor.center_of_mass`; its velocity is the jvp along v.

    Parameters
    ----------
    model : Model or Kernels
    q : array_like, shape (..., nq)

    Returns
    -------
    jax.Array, shape (..., 3)
        m, in world axes.

    Raises
    ------
    ShapeError, DtypeError
        If q does not fit the model.
    """
    return evaluate("center_of_mass", model, (q,))


def center_of_mass_jacobian(model, q) -> jax.Array:
    """Compute the Jacobian of the centre of mass, see `treefactor.center_of_mass_jacobian`.

    Parameters
    ----------
    model : Model or Kernels
    q : array_like, shape (..., nq)

    Returns
    -------
    jax.Array, shape (..., 3, nv)

    Raises
    ------
    ShapeError, DtypeError
        If q does not fit the model.
    """
    return evaluate("center_of_mass_jacobian", model, (q,))


def centroidal_momentum(model, q, v) -> jax.Array:
    """Compute the momentum about the centre of mass, see `treefactor.centroidal_momentum`.

    Parameters
    ----------
    model : Model or Kernels
    q, v : array_like, shapes (..., nq), (..., nv)

    Returns
    -------
    jax.Array, shape (..., 6)
        Linear before angular; kg m/s, kg m^2/s, in world axes.

    Raises
    ------
    ShapeError, DtypeError
        If arrays do not fit the model or each other.
    """
    return evaluate("centroidal_momentum", model, (q, v))
