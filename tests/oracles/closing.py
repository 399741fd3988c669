"""Rows of loops and the forces that close them, by NumPy; singular values decide which are redundant."""

import numpy as np

import treefactor as tf
from treefactor.constraints.loops import PAIRS
from treefactor.kinematics.jacobians import BodyMotions, Support, cross

RANK = 1e-9  # singular values below this share of the largest belong to redundant rows


def rows(model, q, v):
    """Return the residual, J and J-dot v in one state."""
    at = BodyMotions(model, q, v)
    terms = [_row(at, loop, *row) for loop in model.loops for row in _kinds(loop)]
    residual, W, rate = (np.array(part) for part in zip(*terms, strict=True))
    ends = np.repeat(
        [(loop.first, loop.second) for loop in model.loops], [loop.rows for loop in model.loops], 0
    )
    pattern = Support(model, *ends.T)
    bias = sum(
        (at.A[body] * W[:, side]).sum(-1) + (at.V[body] * rate[:, side]).sum(-1)
        for side, body in enumerate(ends.T)
    )
    return residual, pattern.dense(pattern.data(at, np.swapaxes(W, 0, 1))), bias


def _kinds(loop):
    """Return for every row the axes of the first and of the second frame; the latter is None for origins."""
    return [(axis, None) for axis in range(3)] + list(PAIRS[loop.kind])


def _row(at, loop, i, j):
    """Return the residual of a row, its wrenches on both bodies and their rates."""
    omega1, omega2 = at.V[loop.first, 3:], at.V[loop.second, 3:]
    a = (at.R[loop.first] @ loop.R1)[:, i]
    if j is not None:
        b = (at.R[loop.second] @ loop.R2)[:, j]
        moment, moved = cross(b, a), cross(cross(omega2, b), a) + cross(b, cross(omega1, a))
        W, rate = (np.concatenate([np.zeros(3), part]) for part in (moment, moved))
        return a @ b, [-W, W], [-rate, rate]
    r1, r2 = at.points(loop.first, loop.p1), at.points(loop.second, loop.p2)
    apart = at.origin[loop.second] - at.origin[loop.first]
    velocity, turned = at.V[loop.second, :3] + cross(omega2, r2), cross(omega1, a)
    W = [np.concatenate([a, cross(r, a)]) for r in (apart + r2, r2)]
    rate = [np.concatenate([turned, cross(velocity, a) + cross(r, turned)]) for r in (apart + r2, r2)]
    return a @ (apart + r2 - r1), [-W[0], W[1]], [-rate[0], rate[1]]


def forward_dynamics(model, q, v, tau, fext=None, stabilization=0.0):
    """Return accelerations and the least forces, by the singular values of W = D^-1/2 L^-T J^T."""
    residual, J, bias = rows(model, q, v)
    inertia = tf.factor(tf.crba(model, q), model.tree)
    free = inertia.solve(tau - tf.bias(model, q, v, fext))
    missing = -bias - stabilization * (2.0 * J @ v + stabilization * residual) - J @ free
    _, size, V = np.linalg.svd(inertia.half_solve(J.T), full_matrices=False)
    kept = size > RANK * size[0]
    force = (V[kept] @ missing / size[kept] ** 2) @ V[kept]
    return free + inertia.solve(J.T @ force), force
