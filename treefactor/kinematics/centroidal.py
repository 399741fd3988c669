"""Compute centres of mass, and momentum and inertia about the centre of mass."""

from __future__ import annotations

import numpy as np

from ..model.model import Model
from ._bound_request import call
from ._general_path import general_path
from .frames import register_requests
from .masses import CENTER, CENTER_JACOBIAN, INERTIA, MAP, MAP_DOT, MOMENTUM, MOMENTUM_RATE


def center_of_mass(model: Model, q, v=None, a=None, root=None, out=None, num_threads: int = 1):
    """Compute the centre of mass of a model or of a subtree, with its velocity and acceleration on request.

    Parameters
    ----------
    model : Model
    q : array_like, shape (..., nq)
        Configurations in Pinocchio's layout; leading axes are a batch.
    v : array_like, shape (..., nv), optional
        With it the velocity is computed, too.
    a : array_like, shape (..., nv), optional
        With it the acceleration is computed, too.
    root : int or str, optional
        Joint, by its number, its name or that of its body: selects its body and all bodies that it carries.
        The name of a link on a fixed joint selects the joint that carries the link, with its whole body.
        By default, and with -1, all bodies of the model are selected; the base has no mass.
    out : ndarray or tuple of ndarray, optional
        Receives the result.
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    ndarray, shape (..., 3), or tuple of two or three of them
        Position, m, velocity, m/s, and acceleration, m/s^2, in world axes, for every subtree.
        Gravity is not included. In a batch, configurations that are not finite or whose quaternions do not
        have unit length give NaN.

    Raises
    ------
    InvalidModelError
        If the bodies have no mass, or the model has no joint or body of that name.
    ShapeError, DtypeError, NonFiniteError, ConfigurationError
        If q, v or a is not that of a state of the model.
    IndexError, ValueError
        If root is not the number of a joint.
    TypeError
        If a is given without v.

    Notes
    -----
    Pinocchio's ``centerOfMass``, which leaves the centres ``data.com[k]`` of subtrees in the axes of joint k.

    Examples
    --------
    >>> import treefactor as tf
    >>> body = tf.Inertia(2.0, [1.0, 0.0, 0.0], [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1], inertia=body)])
    >>> tf.center_of_mass(arm, [0.0], [2.0])
    (array([1., 0., 0.]), array([0., 2., 0.]))
    """
    order = 2 if a is not None else 1 if v is not None else 0
    root = -1 if root is None else root
    return call(model, CENTER, root, "LOCAL", order, q, v, a, out, num_threads, general_path)


def center_of_mass_jacobian(model: Model, q, root=None, out=None, num_threads: int = 1) -> np.ndarray:
    """Compute the Jacobian J of the centre of mass of a model or of a subtree: its velocity is J v.

    Parameters
    ----------
    model, q, root, num_threads
        As for `center_of_mass`.
    out : ndarray, optional
        Receives the result.

    Returns
    -------
    ndarray, shape (..., 3, nv)
        In world axes, m per unit of v. Columns that are zero for every q remain so in
        configurations that are not finite.

    Raises
    ------
    InvalidModelError, ShapeError, DtypeError, NonFiniteError, ConfigurationError, IndexError, ValueError
        As for `center_of_mass`.

    Notes
    -----
    Pinocchio's ``jacobianCenterOfMass`` and ``jacobianSubtreeCenterOfMass``.

    Examples
    --------
    >>> import treefactor as tf
    >>> body = tf.Inertia(2.0, [1.0, 0.0, 0.0], [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1], inertia=body)])
    >>> tf.center_of_mass_jacobian(arm, [0.0]).T
    array([[0., 1., 0.]])
    """
    root = -1 if root is None else root
    return call(model, CENTER_JACOBIAN, root, "LOCAL", 0, q, None, None, out, num_threads, general_path)


def centroidal_map(model: Model, q, out=None, num_threads: int = 1) -> np.ndarray:
    """Compute the centroidal momentum matrix A: A v is `centroidal_momentum`.

    Parameters
    ----------
    model, q, num_threads
        As for `center_of_mass`.
    out : ndarray, optional
        Receives the result.

    Returns
    -------
    ndarray, shape (..., 6, nv)
        Rows of linear momentum, kg m/s, before those of angular momentum about the centre of mass, kg m^2/s,
        per unit of v; in world axes.

    Raises
    ------
    InvalidModelError, ShapeError, DtypeError, NonFiniteError, ConfigurationError
        As for `center_of_mass`.

    Notes
    -----
    Pinocchio's ``computeCentroidalMap``. The linear rows are the mass of the model times
    `center_of_mass_jacobian`. Orin, Goswami, Lee (2013), Centroidal dynamics of a humanoid robot.

    Examples
    --------
    >>> import treefactor as tf
    >>> body = tf.Inertia(2.0, [1.0, 0.0, 0.0], [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1], inertia=body)])
    >>> tf.centroidal_map(arm, [0.0]).T.round(12)
    array([[0. , 2. , 0. , 0. , 0. , 0.1]])
    """
    return call(model, MAP, -1, "LOCAL", 0, q, None, None, out, num_threads, general_path)


def centroidal_map_dot(model: Model, q, v, out=None, num_threads: int = 1) -> np.ndarray:
    """Compute the time derivative of the centroidal momentum matrix.

    Parameters
    ----------
    model, q, out, num_threads
        As for `centroidal_map`.
    v : array_like, shape (..., nv)

    Returns
    -------
    ndarray, shape (..., 6, nv)

    Raises
    ------
    InvalidModelError, ShapeError, DtypeError, NonFiniteError, ConfigurationError
        As for `center_of_mass`.

    Notes
    -----
    Pinocchio's ``dccrba``.

    Examples
    --------
    >>> import treefactor as tf
    >>> body = tf.Inertia(2.0, [1.0, 0.0, 0.0], [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1], inertia=body)])
    >>> tf.centroidal_map_dot(arm, [0.0], [3.0]).T.round(12) + 0.0
    array([[-6.,  0.,  0.,  0.,  0.,  0.]])
    """
    return call(model, MAP_DOT, -1, "LOCAL", 0, q, v, None, out, num_threads, general_path)


def centroidal_momentum(model: Model, q, v, out=None, num_threads: int = 1) -> np.ndarray:
    """Compute the linear momentum of a model, and its angular momentum about the centre of mass.

    Parameters
    ----------
    model, q, v, out, num_threads
        As for `centroidal_map_dot`.

    Returns
    -------
    ndarray, shape (..., 6)
        kg m/s, then kg m^2/s, in world axes.

    Raises
    ------
    InvalidModelError, ShapeError, DtypeError, NonFiniteError, ConfigurationError
        As for `center_of_mass`.

    Notes
    -----
    Pinocchio's ``computeCentroidalMomentum``. Momenta of bodies are added up about the centre of mass, at
    velocities relative to it: no digit is lost far from the base.

    Examples
    --------
    >>> import treefactor as tf
    >>> body = tf.Inertia(2.0, [1.0, 0.0, 0.0], [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1], inertia=body)])
    >>> tf.centroidal_momentum(arm, [0.0], [3.0]).round(12)
    array([0. , 6. , 0. , 0. , 0. , 0.3])
    """
    return call(model, MOMENTUM, -1, "LOCAL", 0, q, v, None, out, num_threads, general_path)


def centroidal_momentum_rate(model: Model, q, v, a, out=None, num_threads: int = 1) -> np.ndarray:
    """Compute the time derivative of `centroidal_momentum`; gravity is not included.

    Parameters
    ----------
    model, q, v, out, num_threads
        As for `centroidal_map_dot`.
    a : array_like, shape (..., nv), or None
        None means zero.

    Returns
    -------
    ndarray, shape (..., 6)
        N, then N m, in world axes: `centroidal_map` times a plus `centroidal_map_dot` times v.

    Raises
    ------
    InvalidModelError, ShapeError, DtypeError, NonFiniteError, ConfigurationError
        As for `center_of_mass`.

    Notes
    -----
    Pinocchio's ``computeCentroidalMomentumTimeVariation``. The linear part is the mass of the model times the
    acceleration of `center_of_mass`.

    Examples
    --------
    >>> import treefactor as tf
    >>> body = tf.Inertia(2.0, [1.0, 0.0, 0.0], [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1], inertia=body)])
    >>> tf.centroidal_momentum_rate(arm, [0.0], [3.0], [1.0]).round(12)
    array([-18. ,   2. ,   0. ,   0. ,   0. ,   0.1])
    """
    return call(model, MOMENTUM_RATE, -1, "LOCAL", 0, q, v, a, out, num_threads, general_path)


def centroidal_inertia(model: Model, q, out=None, num_threads: int = 1) -> np.ndarray:
    """Compute the inertia tensor of a model about its centre of mass, as if all joints were locked.

    Parameters
    ----------
    model, q, out, num_threads
        As for `centroidal_map`.

    Returns
    -------
    ndarray, shape (..., 3, 3)
        kg m^2, in world axes.

    Raises
    ------
    InvalidModelError, ShapeError, DtypeError, NonFiniteError, ConfigurationError
        As for `center_of_mass`.

    Notes
    -----
    Pinocchio's ``data.Ig.inertia`` after ``ccrba``. Armature is not included.

    Examples
    --------
    >>> import treefactor as tf
    >>> body = tf.Inertia(2.0, [1.0, 0.0, 0.0], [[0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.2]])
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1], inertia=body)])
    >>> tf.centroidal_inertia(arm, [0.0]).round(12).diagonal()
    array([0.1, 0.2, 0.2])
    """
    return call(model, INERTIA, -1, "LOCAL", 0, q, None, None, out, num_threads, general_path)


def _derivatives(given: dict) -> int:
    """Return how many derivatives of a centre of mass are wanted."""
    if given["a"] is not None and given["v"] is None:
        raise TypeError("v is needed for accelerations of a centre of mass, got None")
    return 2 if given["a"] is not None else 1 if given["v"] is not None else 0


register_requests(
    {center_of_mass: (CENTER, _derivatives)}
    | {
        function: (kind, lambda given: 0)
        for function, kind in (
            (center_of_mass_jacobian, CENTER_JACOBIAN),
            (centroidal_map, MAP),
            (centroidal_map_dot, MAP_DOT),
            (centroidal_momentum, MOMENTUM),
            (centroidal_momentum_rate, MOMENTUM_RATE),
            (centroidal_inertia, INERTIA),
        )
    }
)
