"""Loops by dense matrices: positions along a motion with two derivatives, and all equations at once."""

import numpy as np

import treefactor as tf
from treefactor.model.joints import SIZES

RIGHT = {  # axes of both frames that are at right angles
    "spherical": (),
    "universal": ((2, 0),),
    "revolute": ((0, 2), (1, 2)),
    "weld": ((2, 1), (0, 2), (1, 0)),
}
ORIGIN = np.zeros((3, 3))


def gap(model, q, v):
    """Return residuals, origins in axes of the first frame, and two derivatives along a constant v."""
    at, residuals = poses(model, q, v), []
    for loop in model.loops:
        ends = [(loop.first, loop.R1, loop.p1), (loop.second, loop.R2, loop.p2)]
        (A, a), (B, b) = (_product(at[joint], (_still(R), _still(p))) for joint, R, p in ends)
        residuals.append(_times(np.swapaxes(A, 1, 2), (b - a)[:, :, None])[:, :, 0])
        residuals += [_times(A[:, None, :, i], B[:, :, j, None])[:, :, 0] for i, j in RIGHT[loop.kind]]
    return np.concatenate(residuals, axis=1)


def jacobian(model, q):
    """Return the rows of all loops."""
    return np.stack([gap(model, q, e)[1] for e in np.eye(model.nv)], axis=1)


def accelerations(model, q, v, tau):
    """Return the solution of H a + b = tau + J^T f, J a + J' v = 0."""
    J, side = jacobian(model, q), gap(model, q, v)[2]
    said = np.abs(J).max(axis=1) > 1e-12
    J, side = J[said], side[said]
    H = tf.crba(model, q)
    K = np.block([[H, J.T], [J, np.zeros((len(J), len(J)))]])
    scale = 1 / np.sqrt(np.abs(K).max(axis=1))
    x = scale * np.linalg.solve(
        scale[:, None] * K * scale, scale * np.concatenate([tau - tf.bias(model, q, v), -side])
    )
    return x[: model.nv]


def poses(model, q, v):
    """Return rotations (3, 3, 3) and origins (3, 3) of all joints with two derivatives; -1 is the base."""
    placed = {-1: (_still(np.eye(3)), ORIGIN)}
    for i, (joint, iq, iv) in enumerate(zip(model.joints, model.idx_q, model.idx_v, strict=True)):
        pose = _product(placed[joint.parent], (_still(joint.R), _still(joint.p)))
        nq, nv = SIZES[joint.kind]
        ratio, offset = (joint.mimic.ratio, joint.mimic.offset) if joint.mimic else (1.0, 0.0)
        for R, p in _moves(joint, ratio * q[iq : iq + nq] + offset, ratio * v[iv : iv + nv]):
            pose = _product(pose, (R if np.ndim(R) else _still(np.eye(3)), p if np.ndim(p) else ORIGIN))
        placed[i] = pose
    return placed


def _moves(joint, q, v):
    """Return motions of a joint, the axes of v turning with it."""
    if joint.kind in ("revolute", "universal", "helical"):
        moves = [(_turn(a, x, r), 0) for a, x, r in zip(np.atleast_2d(joint.axis), q, v, strict=True)]
        return [*moves, (0, _along(joint.pitch * joint.axis, q, v))] if joint.kind == "helical" else moves
    if joint.kind == "prismatic":
        return [(0, _along(joint.axis, q, v))]
    if joint.kind == "translation":
        return [(0, np.stack([q, v, np.zeros(3)]))]
    if joint.kind == "continuous":
        return [(_turn(joint.axis, np.arctan2(q[1], q[0]), v[0]), 0)]
    if joint.kind == "planar":
        at = _turn(np.eye(3)[2], np.arctan2(q[3], q[2]), 0.0), _still([*q[:2], 0])
        return [at, _twist([*v[:2], 0], [0, 0, v[2]])]
    if joint.kind == "spherical":
        return [(_still(_of_quaternion(q)), 0), _twist([0, 0, 0], v)]
    return [(_still(_of_quaternion(q[3:])), _still(q[:3])), _twist(v[:3], v[3:])]


def _along(axis, q, v):
    return np.stack([axis * q, axis * v, np.zeros(3)])


def _twist(v, w):
    """Return the motion from here on with constant velocities in the axes of the body."""
    w = _skew(np.array(w))
    return np.stack([np.eye(3), w, w @ w]), np.stack([np.zeros(3), v, w @ v])


def _turn(axis, angle, rate):
    K = _skew(axis)
    R = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    return np.stack([R, R @ K * rate, R @ K @ K * rate**2])


def _skew(x):
    return np.cross(x, np.eye(3)).T


def _of_quaternion(q):
    x, y, z, w = q
    u = _skew(np.array([x, y, z]))
    return np.eye(3) + 2 * w * u + 2 * u @ u


def _still(x):
    """Return a constant with its derivatives."""
    x = np.asarray(x, dtype=float)
    return np.stack([x, np.zeros_like(x), np.zeros_like(x)])


def _product(pose, inner):
    """Return one pose in another."""
    (R, p), (S, r) = pose, inner
    return _times(R, S), p + _times(R, r[:, :, None])[:, :, 0]


def _times(A, B):
    """Return the product with its derivatives."""
    return np.stack([A[0] @ B[0], A[1] @ B[0] + A[0] @ B[1], A[2] @ B[0] + 2 * A[1] @ B[1] + A[0] @ B[2]])
