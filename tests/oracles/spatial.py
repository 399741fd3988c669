"""Spatial algebra in NumPy on any numbers: double, complex or Decimal; vectors are [linear; angular].

Leading axes are a batch.
"""

from decimal import Decimal

import numpy as np

MOMENTS = [[4, 5, 7], [5, 6, 8], [7, 8, 9]]  # where a tensor's entries are among the inertial parameters


def decimals(x):
    """Return an array of Decimal numbers."""
    return np.vectorize(Decimal, otypes=[object])(np.asarray(x))


def same_numbers(*arrays):
    """Return arrays; all of Decimal numbers if one of them is."""
    arrays = [np.asarray(x) for x in arrays]
    return [decimals(x) for x in arrays] if any(x.dtype == object for x in arrays) else arrays


def solve(H, b):
    """Return H^-1 b for positive definite matrices."""
    if H.dtype != object:
        return np.linalg.solve(H, b[..., None])[..., 0]
    H, b = H.copy(), b.copy()
    n = b.shape[-1]
    for k in range(n):
        ratio = H[..., k + 1 :, k] / H[..., k, k, None]
        H[..., k + 1 :, :] -= ratio[..., None] * H[..., k, None, :]
        b[..., k + 1 :] -= ratio * b[..., k, None]
    for k in reversed(range(n)):
        b[..., k] = (b[..., k] - (H[..., k, k + 1 :] * b[..., k + 1 :]).sum(axis=-1)) / H[..., k, k]
    return b


def homogeneous(R, p=(0.0, 0.0, 0.0)):
    """Return a placement as a matrix (4, 4)."""
    return np.block([[np.asarray(R), np.reshape(p, (3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]])


def exp(x):
    """Return the displacements of motions x (..., 6) by the series of the matrix exponential."""
    top = np.concatenate([hat(x[..., 3:]), x[..., :3, None]], axis=-1)
    X = np.concatenate([top, top[..., :1, :] * 0], axis=-2)
    term, order = X * 0 + same_numbers(x, np.eye(4))[1], 0
    total = term
    while (abs(term) > 1e-60).any():
        order += 1
        term = term @ X / order
        total = total + term
    return total


def vee(X):
    """Return the motions (..., 6) of matrices (..., 4, 4)."""
    return np.stack([*(X[..., k, 3] for k in range(3)), X[..., 2, 1], X[..., 0, 2], X[..., 1, 0]], axis=-1)


def hat(x):
    """Return the matrices of cross products with x."""
    zero = x[..., 0] * 0
    rows = [zero, -x[..., 2], x[..., 1]], [x[..., 2], zero, -x[..., 0]], [-x[..., 1], x[..., 0], zero]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def cross(x, y):
    """Return cross products."""
    return (hat(x) @ y[..., None])[..., 0]


def turn(M, x):
    """Return vectors of a frame with placement M in the axes of its parent."""
    return (M[..., :3, :3] @ x[..., None])[..., 0]


def to_child(M, x):
    """Return motions in the frame with placement M, from those in its parent."""
    back = np.swapaxes(M[..., :3, :3], -1, -2)
    linear = x[..., :3] + cross(x[..., 3:], M[..., :3, 3])
    return np.concatenate([(back @ part[..., None])[..., 0] for part in (linear, x[..., 3:])], axis=-1)


def to_parent(M, f):
    """Return forces on the frame with placement M, seen from its parent."""
    force = turn(M, f[..., :3])
    return np.concatenate([force, turn(M, f[..., 3:]) + cross(M[..., :3, 3], force)], axis=-1)


def motion_cross(x, y):
    """Return x × y of motions."""
    linear = cross(x[..., 3:], y[..., :3]) + cross(x[..., :3], y[..., 3:])
    return np.concatenate([linear, cross(x[..., 3:], y[..., 3:])], axis=-1)


def force_cross(x, f):
    """Return x × f of a motion and a force."""
    angular = cross(x[..., 3:], f[..., 3:]) + cross(x[..., :3], f[..., :3])
    return np.concatenate([cross(x[..., 3:], f[..., :3]), angular], axis=-1)


def momentum(inertia, x):
    """Return I x of a body with these ten parameters."""
    m, h, J = inertia[..., :1], inertia[..., 1:4], inertia[..., MOMENTS]
    angular = cross(h, x[..., :3]) + (J @ x[..., 3:, None])[..., 0]
    return np.concatenate([m * x[..., :3] + cross(x[..., 3:], h), angular], axis=-1)
