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

    Costates p are derivatives of the rest of the cost by states: p_t = l_t + F_t^T p_(t+1), where l are the
    gradients (B, T + 1, 2 nv) of the costs.
    """
    (step_by_q, step_by_v), n = transport, gradient.shape[-1] // 2
    by_state = dt * np.concatenate(dynamics[:2], axis=-1)  # of the next v
    by_state[..., n:] += np.eye(n)
    of_q = dt * (by_state if step_by_v is None else np.matmul(step_by_v, by_state))
    of_q[..., :n] += np.eye(n) if step_by_q is None else step_by_q
    transition = np.concatenate([of_q, by_state], axis=-2)
    costates = gradient[..., None, :].copy()
    for t in range(transition.shape[1] - 1, -1, -1):
        costates[:, t] += np.matmul(costates[:, t + 1], transition[:, t])
    by_q, by_v = costates[:, 1:, 0, :n], costates[:, 1:, 0, n:]
    if step_by_v is not None:
        by_q = np.matmul(by_q[..., None, :], step_by_v)[..., 0, :]
    return dt * (dt * by_q + by_v)
