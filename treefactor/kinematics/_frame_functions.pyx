# cython: embedsignature=False, autotestdict=False
"""Compute placements, velocities, accelerations and Jacobians of frames and joints."""

from ._bound_request cimport compute

from . import plans
from ._general_path import general_path
from .plans import CLASSICAL, LAYOUTS, PLACED, option_of

cdef object dense = LAYOUTS[0]
cdef int PLACEMENT = plans.PLACEMENT, VELOCITY = plans.VELOCITY, ACCELERATION = plans.ACCELERATION
cdef int JACOBIAN = plans.JACOBIAN, JACOBIAN_DOT = plans.JACOBIAN_DOT
cdef int OF_JOINT = plans.OF_JOINT, ALL_JOINTS = plans.ALL_JOINTS


def frame_placement(model, q, frame, out=None, num_threads=1):
    """Compute the placements [R | p] of frames in the world.

    Parameters
    ----------
    model : Model
    q : array_like, shape (..., nq)
        Configurations in Pinocchio's layout; leading axes are a batch.
    frame : str, Frame, -1 for the base, or list of them
        A frame, joint or body by name, or a `Frame`. Numbers are refused: for joint k of the model pass
        ``model.joints[k].name``, for a number of ``getFrameId`` ``model.frames[number]``. A list of k frames
        adds an axis.
    out : ndarray, optional
        Receives the result.
    num_threads : int
        For batches; -1 uses all cores.

    Returns
    -------
    ndarray, shape (..., 3, 4) or (..., k, 3, 4)
        ``T[..., :3]`` is the rotation, ``T[..., 3]`` the origin in m. In a batch, configurations that are not
        finite or whose quaternions do not have unit length give NaN.

    Raises
    ------
    InvalidModelError
        If the model has no frame of that name; proposes similar names.
    ShapeError, NonFiniteError, ConfigurationError
        If q is not a configuration of the model; ConfigurationError names the joint.
    DtypeError
        If a frame is given by a number other than -1, or an array does not hold real numbers.

    Notes
    -----
    Featherstone (2008), section 4.4. Pinocchio's ``data.oMf`` after ``updateFramePlacement``.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1])]).add_frame("tip", "hinge", p=[1, 0, 0])
    >>> tf.frame_placement(arm, [np.pi / 2], "tip").round(3) + 0.0
    array([[ 0., -1.,  0.,  0.],
           [ 1.,  0.,  0.,  1.],
           [ 0.,  0.,  1.,  0.]])
    """
    return compute(model, PLACEMENT, frame, "LOCAL", 0, q, None, None, out, num_threads, general_path)


def joint_placements(model, q, out=None, num_threads=1):
    """Compute the placements [R | p] of all joints in the world.

    Parameters
    ----------
    model, q, out, num_threads
        As for `frame_placement`.

    Returns
    -------
    ndarray, shape (..., njoints, 3, 4)
        Pinocchio's ``data.oMi`` without the universe.

    Raises
    ------
    ShapeError, DtypeError, NonFiniteError, ConfigurationError

    Notes
    -----
    Featherstone (2008), section 4.4.

    Examples
    --------
    >>> import treefactor as tf
    >>> slider = tf.Model([tf.Joint("slider", "prismatic", axis=[0, 0, 1])])
    >>> tf.joint_placements(slider, [0.5])[0, :, 3]
    array([0. , 0. , 0.5])
    """
    return compute(model, ALL_JOINTS, -1, "LOCAL", 0, q, None, None, out, num_threads, general_path)


def frame_velocity(model, q, v, frame, reference="LOCAL", out=None, num_threads=1):
    """Compute the spatial velocities of frames, linear before angular.

    Parameters
    ----------
    model, q, frame, out, num_threads
        As for `frame_placement`.
    v : array_like, shape (..., nv)
    reference : {"LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"} or Pinocchio's enum
        "LOCAL": of the frame's origin, in the axes of the frame. "WORLD": of the point of the body that is at
        the origin of the world, in world axes. "LOCAL_WORLD_ALIGNED": of the frame's origin, in world axes:
        its linear part is the time derivative of the origin's position.

    Returns
    -------
    ndarray, shape (..., 6) or (..., k, 6)
        m/s, rad/s.

    Raises
    ------
    InvalidModelError, ShapeError, DtypeError, NonFiniteError, ConfigurationError
        As for `frame_placement`.
    ValueError
        If the reference is not one of the three.

    Notes
    -----
    Featherstone (2008), section 4.4. Pinocchio's ``getFrameVelocity``; equal to `frame_jacobian` times v.

    Examples
    --------
    >>> import treefactor as tf
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1])]).add_frame("tip", "hinge", p=[1, 0, 0])
    >>> tf.frame_velocity(arm, [0.0], [2.0], "tip")
    array([0., 2., 0., 0., 0., 2.])
    """
    return compute(model, VELOCITY, frame, reference, 0, q, v, None, out, num_threads, general_path)


def frame_acceleration(model, q, v, a, frame, reference="LOCAL", classical=False, out=None, num_threads=1):
    """Compute the accelerations of frames, linear before angular; gravity is not included.

    Parameters
    ----------
    model, q, v, frame, reference, out, num_threads
        As for `frame_velocity`.
    a : array_like, shape (..., nv), or None
        None means zero.
    classical : bool
        Compute the acceleration of the point of the body: in "LOCAL_WORLD_ALIGNED" the second derivative of
        the origin's position. Otherwise the linear part is that of the spatial acceleration: the classical
        one minus omega x v.

    Returns
    -------
    ndarray, shape (..., 6) or (..., k, 6)
        m/s^2, rad/s^2.

    Raises
    ------
    InvalidModelError, ShapeError, DtypeError, NonFiniteError, ConfigurationError, ValueError
        As for `frame_velocity`.

    Notes
    -----
    Featherstone (2008), section 4.4. Pinocchio's ``getFrameAcceleration``, ``getFrameClassicalAcceleration``.

    Examples
    --------
    >>> import treefactor as tf
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1])]).add_frame("tip", "hinge", p=[1, 0, 0])
    >>> tf.frame_acceleration(arm, [0.0], [2.0], None, "tip", classical=True)
    array([-4.,  0.,  0.,  0.,  0.,  0.])
    """
    cdef int option = CLASSICAL if classical else 0
    return compute(model, ACCELERATION, frame, reference, option, q, v, a, out, num_threads, general_path)


def frame_jacobian(model, q, frame, reference="LOCAL", layout="dense", placement=False, out=None,
                   num_threads=1):
    """Compute the Jacobians J of frames, so that J v is `frame_velocity`; on request the placements, too.

    Parameters
    ----------
    model, q, frame, reference, num_threads
        As for `frame_velocity`.
    layout : {"dense", "packed"}
        "packed" leaves out the columns that are zero: it holds those of ``model.support(frame)``, and takes
        one frame.
    placement : bool
        Return the pair of the Jacobian and of what `frame_placement` returns.
    out : ndarray or tuple of two ndarrays, optional
        Receives the result.

    Returns
    -------
    ndarray, shape (..., 6, nv), (..., k, 6, nv) or (..., 6, n_s)
        Linear rows before angular ones; m, rad per unit of v. Columns that are zero for every q remain so in
        configurations that are not finite.
    ndarray, shape (..., 3, 4) or (..., k, 3, 4)
        Placements, with ``placement=True``.

    Raises
    ------
    InvalidModelError, ShapeError, DtypeError, NonFiniteError, ConfigurationError
        As for `frame_placement`.
    ValueError
        If the reference or the layout is unknown, or a list of frames is to be packed.

    Notes
    -----
    Featherstone (2008), section 4.4. Pinocchio's ``computeFrameJacobian``. `treefactor.constraints.jacobian`
    is in world axes unless it is given a rotation.

    Examples
    --------
    >>> import treefactor as tf
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1])]).add_frame("tip", "hinge", p=[1, 0, 0])
    >>> tf.frame_jacobian(arm, [0.0], "tip").T
    array([[0., 1., 0., 0., 0., 1.]])
    """
    cdef int option = 0 if layout is dense else option_of(layout, False)
    if placement:
        option += PLACED
    return compute(model, JACOBIAN, frame, reference, option, q, None, None, out, num_threads, general_path)


def joint_jacobian(model, q, joint, reference="LOCAL", out=None, num_threads=1):
    """Compute the Jacobian of a joint's own frame.

    Parameters
    ----------
    model, q, reference, out, num_threads
        As for `frame_velocity`.
    joint : int or str
        Number of the joint, -1 for the base, or name of the joint or of its body. The name of any other
        frame selects the joint that carries it, not the frame: `frame_jacobian` takes frames.

    Returns
    -------
    ndarray, shape (..., 6, nv)
        m, rad per unit of v.

    Raises
    ------
    InvalidModelError, ShapeError, DtypeError, NonFiniteError, ConfigurationError
        As for `frame_velocity`.
    IndexError, ValueError
        If a number is not that of a joint, or the reference is not one of the three.

    Notes
    -----
    Featherstone (2008), section 4.4. Pinocchio's ``computeJointJacobian``, whose joint i + 1 is joint i here.

    Examples
    --------
    >>> import treefactor as tf
    >>> slider = tf.Model([tf.Joint("slider", "prismatic", axis=[0, 0, 1])])
    >>> tf.joint_jacobian(slider, [0.5], "slider").T
    array([[0., 0., 1., 0., 0., 0.]])
    """
    return compute(model, OF_JOINT, joint, reference, 0, q, None, None, out, num_threads, general_path)


def frame_jacobian_dot(model, q, v, frame, reference="LOCAL", layout="dense", out=None, num_threads=1):
    """Compute the time derivatives of the Jacobians of frames.

    Parameters
    ----------
    model, q, v, frame, reference, num_threads
        As for `frame_velocity`.
    layout, out
        As for `frame_jacobian`.

    Returns
    -------
    ndarray, shape (..., 6, nv), (..., k, 6, nv) or (..., 6, n_s)
        Linear rows before angular ones; m/s, rad/s per unit of v. With J of the same reference,
        J-dot v + J a is the spatial acceleration in "LOCAL" and "WORLD", and the classical one in
        "LOCAL_WORLD_ALIGNED".

    Raises
    ------
    InvalidModelError, ShapeError, DtypeError, NonFiniteError, ConfigurationError, ValueError
        As for `frame_jacobian`.

    Notes
    -----
    Featherstone (2008), section 4.4. Pinocchio's ``getFrameJacobianTimeVariation``.

    Examples
    --------
    >>> import treefactor as tf
    >>> arm = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1])]).add_frame("tip", "hinge", p=[1, 0, 0])
    >>> tf.frame_jacobian_dot(arm, [0.0], [2.0], "tip", "LOCAL_WORLD_ALIGNED").T
    array([[-2.,  0.,  0.,  0.,  0.,  0.]])
    """
    cdef int option = 0 if layout is dense else option_of(layout, False)
    return compute(model, JACOBIAN_DOT, frame, reference, option, q, v, None, out, num_threads, general_path)
