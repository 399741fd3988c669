"""Motion of places on the bodies of joints, in axes of the base or, given R, of the frame."""

import treefactor as tf


def frame_of(body, R=None, p=(0.0, 0.0, 0.0)):
    """Return the frame, and the reference of its motion."""
    if R is None:
        return tf.Frame("point", body, p=p), "LOCAL_WORLD_ALIGNED"
    return tf.Frame("frame", body, R, p), "LOCAL"


def placement(model, q, body, R=None, p=(0.0, 0.0, 0.0)):
    """Return rotation and origin."""
    T = tf.frame_placement(model, q, frame_of(body, R, p)[0])
    return T[..., :3], T[..., 3]


def jacobian(model, q, body, R=None, p=(0.0, 0.0, 0.0)):
    """Return the Jacobian."""
    return tf.frame_jacobian(model, q, *frame_of(body, R, p))


def acceleration_bias(model, q, v, body, R=None, p=(0.0, 0.0, 0.0)):
    """Return the classical acceleration at zero acceleration of the joints."""
    return tf.frame_acceleration(model, q, v, None, *frame_of(body, R, p), classical=True)
