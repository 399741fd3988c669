"""Add the second derivatives of dynamics to those of costs, weighted with the costates of motions."""

from __future__ import annotations

import numpy as np

from ..model.model import Model
from ..quantities import functions as tf


def add_curvature(model: Model, dt: float, motion, dynamics, transport, matrix, gradient, hessian) -> None:
    """Add the sums of costates times second derivatives of steps to Hessians, their upper triangles.

    Parameters
    ----------
    model : Model
    dt : float
    motion : tuple of ndarray
        q (B, T, nq), v and generalized forces (B, T, nv).
    dynamics : tuple of ndarray
        Derivatives of accelerations by q and v (B, T, nv, nv), and others.
    transport : tuple of ndarray, or of None
        Derivatives of a step of q by q and by v, (B, T, nv, nv); None where they are unit matrices.
    matrix : ndarray, shape (nv, nu), or None
        Generalized forces of controls; None is the unit matrix.
    gradient, hessian : ndarray, shapes (B, T + 1, m) and (B, T + 1, m, m)
        Of the costs by (u, q, v).
    """
    n = model.nv
    weights = accelerations_worth(dt, dynamics, transport, gradient[..., -2 * n :])
    q, v, forces = motion
    by = tf.forward_dynamics_hessian(model, q, v, forces, weights)
    by_tau_q = by.qtau.swapaxes(-1, -2)
    stages, nu = hessian[:, :-1], hessian.shape[-1] - 2 * n
    stages[..., :nu, nu : nu + n] += by_tau_q if matrix is None else np.matmul(matrix.T, by_tau_q)
    stages[..., nu : nu + n, nu : nu + n] += by.qq
    stages[..., nu : nu + n, nu + n :] += by.qv
    stages[..., nu + n :, nu + n :] += by.vv


def accelerations_worth(dt: float, dynamics, transport, gradient) -> np.ndarray:
    """Return the derivatives (B, T, nv) of costs by accelerations: dt times the costates of velocities.

    Costates p are derivatives of the rest of the cost by states: p_t = l_t + F_t^T p_(t+1).
    """
    by_q, by_v = dynamics[:2]
    count, steps, n = by_q.shape[:3]
    weights = np.empty((count, steps, n))
    p_q, p_v = gradient[:, -1, :n], gradient[:, -1, n:]
    for t in range(steps - 1, -1, -1):
        moved = p_q if transport[0] is None else _times(p_q, transport[1][:, t])
        p_v = p_v + dt * moved
        weights[:, t] = dt * p_v
        p_q = p_q if transport[0] is None else _times(p_q, transport[0][:, t])
        p_q = gradient[:, t, :n] + p_q + _times(weights[:, t], by_q[:, t])
        p_v = gradient[:, t, n:] + p_v + _times(weights[:, t], by_v[:, t])
    return weights


def _times(p, D):
    """Return p^T D for every problem."""
    return np.matmul(p[:, None], D)[:, 0]
