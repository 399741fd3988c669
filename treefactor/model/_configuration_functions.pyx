# cython: embedsignature=False, autotestdict=False
"""Integrate velocities, subtract and interpolate configurations, and normalize them."""

from ._configuration_fast_path cimport compute
from ._configurations cimport DIFFERENCE, INTEGRATE, INTERPOLATE, NORMALIZE

from ._configuration_calls import general_path


def integrate(model, q, v, out=None, num_threads=1):
    """Return the configuration reached from q at the constant velocity v after one second.

    Parameters
    ----------
    model : Model
    q : array_like, shape (..., nq)
    v : array_like, shape (..., nv)
        Leading axes equal those of q; either array may lack them.
    out : ndarray, shape (..., nq), optional
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    ndarray, shape (..., nq)
        In a batch, NaN throughout for a configuration with an entry that is not finite, or with a (cos, sin)
        or quaternion that does not have unit length.

    Raises
    ------
    ShapeError
    NonFiniteError
        For single configurations.
    ConfigurationError
        For a single configuration, if a (cos, sin) or a quaternion does not have unit length; names the
        joint.

    Notes
    -----
    For a free joint, q ∘ exp v with v in body axes (Lie group SE(3)), as ``pinocchio.integrate``.
    """
    return compute(model, INTEGRATE, q, v, None, out, num_threads, general_path)


def difference(model, q0, q1, out=None, num_threads=1):
    """Return the shortest constant velocity from q0 to q1 within one second: the inverse of `integrate`.

    Parameters
    ----------
    model : Model
    q0, q1 : array_like, shape (..., nq)
        Either may lack the leading axes of the other.
    out : ndarray, shape (..., nv), optional
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    ndarray, shape (..., nv)

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
        As for `integrate`.
    """
    return compute(model, DIFFERENCE, q0, q1, None, out, num_threads, general_path)


def interpolate(model, q0, q1, u, out=None, num_threads=1):
    """Return the configuration at the fraction u between q0 and q1: integrate(q0, u * difference(q0, q1)).

    Parameters
    ----------
    model, q0, q1, num_threads
        As for `difference`.
    u : float or array_like
        0 gives q0, 1 gives q1; one number, or one for each configuration of the batch.
    out : ndarray, shape (..., nq), optional

    Returns
    -------
    ndarray, shape (..., nq)

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
        As for `integrate`.

    Notes
    -----
    ``pinocchio.interpolate``. A path along the geodesics of every joint.

    Examples
    --------
    >>> import treefactor as tf
    >>> slide = tf.Model([tf.Joint("slide", "prismatic", axis=[1, 0, 0], inertia=tf.Inertia(1.0))])
    >>> tf.interpolate(slide, [1.0], [3.0], 0.25)
    array([1.5])
    """
    return compute(model, INTERPOLATE, q0, q1, u, out, num_threads, general_path)


def normalize(model, q, out=None, num_threads=1):
    """Return q with all (cos, sin) and quaternions scaled to unit length; other entries stay.

    Parameters
    ----------
    model : Model
    q : array_like, shape (..., nq)
        Rotations may have any length but zero.
    out : ndarray, shape (..., nq), optional
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    ndarray, shape (..., nq)
        In a batch, NaN throughout for a configuration with an entry that is not finite, or with a rotation of
        length zero.

    Raises
    ------
    ShapeError
    NonFiniteError
        For single configurations.
    ConfigurationError
        If a rotation of a single configuration has length zero; names the joint and its entries.

    Notes
    -----
    ``pinocchio.normalize``, which leaves (cos, sin) = (0, 0) as it is. After many steps of `integrate` it is
    not needed: every step corrects the length.

    Examples
    --------
    >>> import treefactor as tf
    >>> tf.normalize(tf.Model([tf.Joint("ball", "spherical", inertia=tf.Inertia(1.0))]), [0, 0, 3, 4])
    array([0. , 0. , 0.6, 0.8])
    """
    return compute(model, NORMALIZE, q, None, None, out, num_threads, general_path)
