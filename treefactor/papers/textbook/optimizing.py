"""Evaluate the optimizing formulas of Golubev & Yaskevich (2020) as printed, on scalars of any type.

(1.2), (1.4), (1.5), and the generalized forces (1.6), whose recursion is in the frames of the bodies. Scalars
may count their operations, or write statements of a program.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._util.vectors import apply, cross, dot

NEXT = (1, 2, 0)


def squares(w) -> tuple:
    """Return v1 to v6 of (1.2)."""
    return w[0] * w[0], w[1] * w[1], w[2] * w[2], w[0] * w[1], w[0] * w[2], w[1] * w[2]


def centrifugal(v) -> list:
    """Return Omega of (1.2)."""
    v1, v2, v3, v4, v5, v6 = v
    return [[-v3 - v2, v4, v5], [v4, -v3 - v1, v6], [v5, v6, -v2 - v1]]


def gyroscopic(v, moments, differences) -> list:
    """Return m of (1.2); moments IXY, IXZ and IYZ, and the constants cI1, cI2 and cI3."""
    v1, v2, v3, v4, v5, v6 = v
    (xy, xz, yz), (c1, c2, c3) = moments, differences
    return [
        v6 * c1 + (v3 - v2) * yz + v5 * xy - v4 * xz,
        v5 * c2 + (v1 - v3) * xz - v6 * xy + v4 * yz,
        v4 * c3 + (v2 - v1) * xy + v6 * xz - v5 * yz,
    ]


def trigonometric(c, s) -> tuple:
    """Return v_T1 to v_T3 of (1.4), which all matrices turned by one joint share."""
    return c * c, s * s, s * c


def equal(x, y) -> bool:
    """Return whether two scalars are the same number."""
    return float(x) == float(y)


def turned(A, k: int, c, s, v_t, printed: bool = True, same: Callable[..., bool] = equal) -> np.ndarray:
    """Return alpha^T A alpha by (1.4) and (1.5), alpha about axis k.

    Parameters
    ----------
    A : ndarray, shape (3, 3)
    k : int
    c, s : scalar
    v_t : tuple of scalars
        See `trigonometric`.
    printed : bool
        v_A4 = v_T3 v_A1, as printed; or v_T3 v_A2.
    same : callable
        Returns whether two entries are equal.
    """
    m = NEXT[k]
    n = NEXT[m]
    t1, t2, t3 = v_t
    a1, a2 = A[m, n] + A[n, m], A[m, m] - A[n, n]
    a3 = t3 * a1
    a4 = t3 * (a1 if printed else a2)
    R = np.empty((3, 3), dtype=object)
    R[k, k] = A[k, k]
    R[k, m], R[k, n] = c * A[k, m] - s * A[k, n], c * A[k, n] + s * A[k, m]
    if same(A[m, m], A[n, n]):
        R[m, m], R[n, n] = A[m, m] - a3, A[m, m] + a3
    else:
        R[m, m] = t1 * A[m, m] + t2 * A[n, n] - a3
        R[n, n] = t1 * A[n, n] + t2 * A[m, m] + a3
    if same(A[m, n], A[n, m]):
        R[m, n] = (t1 - t2) * A[m, n] + a4
    else:
        R[m, n] = t1 * A[m, n] - t2 * A[n, m] + a4
    if all(same(A[i, j], A[j, i]) for i, j in ((k, m), (k, n), (m, n))):
        R[m, k], R[n, k], R[n, m] = R[k, m], R[k, n], R[m, n]
    else:
        R[m, k], R[n, k] = c * A[m, k] - s * A[n, k], c * A[n, k] + s * A[m, k]
        R[n, m] = t1 * A[n, m] - t2 * A[m, n] + a4
    return R


def alpha(k: int, c, s, zero, one) -> np.ndarray:
    """Return alpha_k, the matrix of a rotation about axis k."""
    m = NEXT[k]
    n = NEXT[m]
    matrix = np.full((3, 3), zero, dtype=object)
    matrix[k, k] = one
    matrix[m, m], matrix[m, n], matrix[n, m], matrix[n, n] = c, s, -s, c
    return matrix


def product(A, B) -> np.ndarray:
    """Return A B: 27 multiplications and 18 additions."""
    return np.array([[dot(row, column) for column in B.T] for row in A], dtype=object)


def tilde(x, zero) -> np.ndarray:
    """Return the matrix of x cross y."""
    return np.array([[zero, -x[2], x[1]], [x[2], zero, -x[0]], [-x[1], x[0], zero]], dtype=object)


def generalized_forces(model, q, v, printed: bool = True) -> np.ndarray:
    """Return b of (1.6) for a chain of revolute joints about z.

    Parameters
    ----------
    model : Model
    q, v : ndarray, shape (n,)
    printed : bool
        The last line of (1.6) gives the moment of body j, as printed; or of body j-1.
    """
    n, zero = len(model.joints), np.zeros(3)
    beta, f, m = [], [], []
    w, e, a, r = zero, zero, -model.gravity, zero
    for joint, angle, rate in zip(model.joints, q, v, strict=True):
        turn = alpha(2, np.cos(angle), np.sin(angle), 0.0, 1.0).astype(float)
        beta.append(turn @ joint.R.T)
        r = np.asarray(joint.p)
        a = beta[-1] @ (a + np.array(centrifugal(squares(w))) @ r + np.cross(e, r))
        own, before = np.array([0.0, 0.0, rate]), beta[-1] @ w
        w, e = before + own, beta[-1] @ e + np.cross(before, own)
        mass, d = joint.inertia.mass, joint.inertia.com
        tensor = joint.inertia.tensor + mass * (d @ d * np.eye(3) - np.outer(d, d))
        f.append(-mass * (a + np.array(centrifugal(squares(w))) @ d + np.cross(e, d)))
        m.append(-tensor @ e - np.cross(mass * d, a) - gyroscopic_of(w, tensor))
    b = np.empty(n)
    for j in reversed(range(n)):
        b[j] = m[j][2]
        if j:
            force = beta[j].T @ f[j]
            f[j - 1] = f[j - 1] + force
            moment = m[j - 1] + (beta[j].T @ m[j] + np.cross(model.joints[j].p, force))
            m[j if printed else j - 1] = moment
    return b


def gyroscopic_of(w, tensor) -> np.ndarray:
    """Return w cross (I w) by (1.2); products of inertia enter the tensor with a minus sign."""
    moments = -tensor[0, 1], -tensor[0, 2], -tensor[1, 2]
    x, y, z = np.diag(tensor)
    return np.array(gyroscopic(squares(w), moments, (z - y, x - z, y - x)))


def by_cross_products(w, tensor, r) -> tuple[list, list]:
    """Return w cross (w cross r) and w cross (I w) as (1.1) defines them."""
    return cross(w, cross(w, r)), cross(w, apply(tensor, w))
