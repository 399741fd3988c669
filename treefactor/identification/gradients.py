"""Change gradients by inertial parameters to log-Cholesky coordinates."""

from __future__ import annotations

import numpy as np

from .._util.validation import as_real
from ..exceptions import ShapeError
from ..model.parameters import log_cholesky_jacobian


def log_cholesky_gradient(theta, gradient) -> np.ndarray:
    """Compute the gradient by log-Cholesky coordinates from that by inertial parameters.

    Parameters
    ----------
    theta : array_like, shape (..., 10)
        Coordinates of bodies: see `treefactor.identification.from_log_cholesky`.
    gradient : array_like, shape (..., 10)
        Gradient by the parameters of these bodies, such as ``inertia`` of `treefactor.rnea_vjp` and of
        `treefactor.forward_dynamics_vjp`. Leading axes of both broadcast: one theta serves a batch of states.

    Returns
    -------
    ndarray, shape (..., 10)

    Raises
    ------
    ShapeError
        If the last axis of an argument has not 10 entries, or the leading axes do not fit.

    Notes
    -----
    J^T times the gradient, J = d pi / d theta. Every theta is a body that can exist, so optimizers need no
    constraints. Rucker and Wensing (2022), Smooth parameterization of rigid-body inertia.

    Examples
    --------
    A step against the gradient of qdd^2 / 2: the body of the hinge gets heavier, and stays a body.

    >>> import numpy as np, treefactor as tf
    >>> from treefactor.identification import log_cholesky_gradient
    >>> from treefactor.model.parameters import from_log_cholesky, to_log_cholesky
    >>> arm = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.05]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=arm)], gravity=[0, 0, 0])
    >>> theta = to_log_cholesky(arm.parameters)
    >>> qdd = tf.forward_dynamics(model, [0.0], [0.0], [1.0])
    >>> g = tf.forward_dynamics_vjp(model, [0.0], [0.0], [1.0], qdd, inertia_gradient=True)
    >>> theta = theta - 0.01 * log_cholesky_gradient(theta, g.inertia[0])
    >>> heavier = tf.Inertia.from_parameters(from_log_cholesky(theta))
    >>> bool(heavier.mass > arm.mass), heavier.fault()
    (True, None)
    """
    jacobian, gradient = log_cholesky_jacobian(theta), as_real(gradient, "gradient")
    if gradient.shape[-1:] != (10,):
        raise ShapeError(f"gradient must have shape (..., 10), got {gradient.shape}", gradient.shape, (10,))
    try:
        return np.einsum("...ij,...i->...j", jacobian, gradient)
    except ValueError:
        shapes = f"{np.shape(theta)} and {gradient.shape}"
        raise ShapeError(f"leading axes of theta and gradient must fit, got shapes {shapes}") from None
