"""Loops by dense matrices: positions along a motion with two derivatives, and the equations of both at once."""

import numpy as np

import treefactor as tf

RIGHT = {  # axes of both frames that are at right angles
    "spherical": (),
    "universal": ((2, 0),),
    "revolute": ((0, 2), (1, 2)),
    "weld": ((0, 2), (1, 2), (0, 1)),
}


def gap(model, q, v):
    """What the loops are open by, and its first two derivatives on the way of constant v."""
    poses = _poses(model, q, v)
    found = []
    for loop in model.loops:
        ends = [(loop.first, loop.R1, loop.p1), (loop.second, loop.R2, loop.p2)]
        (A, a), (B, b) = (_product(poses[joint], (_still(R), _still(p))) for joint, R, p in ends)
        found.append(a - b)
        found += [_times(A[:, None, :, i], B[:, :, j, None])[:, :, 0] for i, j in RIGHT[loop.kind]]
    return np.concatenate(found, axis=1)


def jacobian(model, q):
    """Rows of all loops."""
    return np.stack([gap(model, q, e)[1] for e in np.eye(model.nv)], axis=1)


def accelerations(model, q, v, tau):
    """Solution of H a + b = tau + J^T f, J a + J' v = 0."""
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


def _poses(model, q, v):
    """Rotations (3, 3, 3) and origins (3, 3) of all joints with two derivatives; -1 is the base."""
    poses = {-1: (_still(np.eye(3)), _still(np.zeros(3)))}
    for i, (joint, iq, iv) in enumerate(zip(model.joints, model.idx_q, model.idx_v, strict=True)):
        pose = _product(poses[joint.parent], (_still(joint.R), _still(joint.p)))
        for moved in _moves(joint, q[iq : iq + joint.nq], v[iv : iv + joint.nv]):
            pose = _product(pose, moved)
        poses[i] = pose
    return poses


def _moves(joint, q, v):
    """Motions of a joint."""
    still = _still(np.eye(3)), _still(np.zeros(3))
    if joint.kind in ("revolute", "universal"):
        return [
            (_turn(a, x, rate), still[1]) for a, x, rate in zip(np.atleast_2d(joint.axis), q, v, strict=True)
        ]
    if joint.kind == "prismatic":
        return [(still[0], np.stack([joint.axis * q, joint.axis * v, np.zeros(3)]))]
    if joint.kind == "translation":
        return [(still[0], np.stack([q, v, np.zeros(3)]))]
    assert joint.kind == "freeflyer"
    w = _skew(v[3:])
    twist = np.stack([np.eye(3), w, w @ w]), np.stack([np.zeros(3), v[:3], w @ v[:3]])
    return [(_still(_of_quaternion(q[3:])), _still(q[:3])), twist]


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
    """A constant with its derivatives."""
    return np.stack([x, np.zeros_like(x), np.zeros_like(x)]).astype(float)


def _product(pose, inner):
    """One pose in another."""
    (R, p), (S, r) = pose, inner
    return _times(R, S), p + _times(R, r[:, :, None])[:, :, 0]


def _times(A, B):
    """Product with its derivatives."""
    return np.stack([A[0] @ B[0], A[1] @ B[0] + A[0] @ B[1], A[2] @ B[0] + 2 * A[1] @ B[1] + A[0] @ B[2]])
