"""Riccati recursions with dense matrices, one problem at a time."""

import numpy as np


def transition(by_q, by_v, by_u, step_by_q, step_by_v, h):
    """Return the derivatives (2 n, nu + 2 n) of the next state by (u, q, v) for semi-implicit Euler."""
    n = len(by_q)
    v = h * np.hstack([by_u, by_q, by_v])
    v[:, -n:] += np.eye(n)
    q = h * step_by_v @ v
    q[:, -2 * n : -n] += step_by_q
    return np.vstack([q, v])


def recursion(transitions, gradients, hessians, regularization):
    """Return gains (T, nu, 2 n), feedforward (T, nu) and the falls expected (T,).

    Parameters
    ----------
    transitions : ndarray, shape (T, 2 n, m)
    gradients, hessians : ndarray, shapes (T + 1, m) and (T + 1, m, m)
        Of the costs by (u, q, v).
    regularization : float
        Added to the Hessians by u, and of the cost to go by the state.
    """
    size = transitions.shape[1]
    nu = transitions.shape[2] - size
    V, g = hessians[-1][nu:, nu:] + regularization * np.eye(size), gradients[-1][nu:]
    gains, feedforward, falls = [], [], []
    for F, l_g, l_H in zip(transitions[::-1], gradients[-2::-1], hessians[-2::-1], strict=True):
        Q, Q_g = l_H + F.T @ V @ F, l_g + F.T @ g
        Q_uu = Q[:nu, :nu] + regularization * np.eye(nu)
        K, k = -np.linalg.solve(Q_uu, Q[:nu, nu:]), -np.linalg.solve(Q_uu, Q_g[:nu])
        V, g = Q[nu:, nu:] + Q[nu:, :nu] @ K, Q_g[nu:] + Q[nu:, :nu] @ k
        V = 0.5 * (V + V.T) + regularization * np.eye(size)
        gains.append(K)
        feedforward.append(k)
        falls.append(-Q_g[:nu] @ k)
    return tuple(np.array(x[::-1]) for x in (gains, feedforward, falls))


def controls_of_saddle_point(transitions, gradients, hessians, gaps=None):
    """Return the controls (T, nu) of the linear-quadratic problem that starts at 0, from its KKT system.

    Gaps (T, 2 n) are added to the states after each step.
    """
    steps, size, m = transitions.shape
    nu = m - size
    count = steps * (nu + size)
    at_u = [np.arange(t * nu, (t + 1) * nu) for t in range(steps)]
    at_x = [None, *(np.arange(steps * nu + t * size, steps * nu + (t + 1) * size) for t in range(steps))]
    H, g = np.zeros((count, count)), np.zeros(count)
    C = np.zeros((steps * size, count))
    for t in range(steps + 1):
        places = np.r_[at_u[t] if t < steps else [], at_x[t] if t else []].astype(int)
        entries = np.r_[np.arange(nu) if t < steps else [], np.arange(nu, m) if t else []].astype(int)
        H[np.ix_(places, places)] += hessians[t][np.ix_(entries, entries)]
        g[places] += gradients[t][entries]
    for t in range(steps):
        rows = np.arange(t * size, (t + 1) * size)
        C[np.ix_(rows, at_u[t])] = transitions[t][:, :nu]
        if t:
            C[np.ix_(rows, at_x[t])] = transitions[t][:, nu:]
        C[np.ix_(rows, at_x[t + 1])] -= np.eye(size)
    K = np.block([[H, C.T], [C, np.zeros((len(C), len(C)))]])
    shift = np.zeros(len(C)) if gaps is None else -gaps.ravel()
    return np.linalg.solve(K, np.r_[-g, shift])[: steps * nu].reshape(steps, nu)
