"""Mechanisms in maximal coordinates by spatial vectors at the base's origin, and SciPy's sparse solver."""

import numpy as np
from scipy.linalg import null_space
from scipy.sparse import block_diag, bmat, csc_array
from scipy.sparse.linalg import spsolve


def tilde(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def on_motions(R, p):
    """Return the matrix that moves twists (linear, angular) from a frame at R, p to the base."""
    return np.block([[R, tilde(p) @ R], [np.zeros((3, 3)), R]])


def on_wrenches(R, p):
    """Return the matrix that moves wrenches (force, moment) from a frame at R, p to the base."""
    return np.linalg.inv(on_motions(R, p)).T


def across_motion(V):
    """Return the derivative of twists fixed to a body with twist V."""
    return np.block([[tilde(V[3:]), tilde(V[:3])], [np.zeros((3, 3)), tilde(V[3:])]])


def inertial(bodies, gravity, R, p, twist, wrench):
    """Return spatial inertias of the bodies, and the forces on all of them (6 n,), at the base's origin."""
    blocks, force = [], []
    for i, body in enumerate(bodies):
        com = p[i] + R[i] @ body.com
        to_com = np.linalg.inv(on_motions(np.eye(3), com))
        local = np.block([
            [body.mass * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), R[i] @ body.tensor @ R[i].T]
        ])  # fmt: skip
        I = to_com.T @ local @ to_com
        weight = np.append(body.mass * gravity, np.cross(com, body.mass * gravity))
        outer = wrench[i] + np.append(np.zeros(3), np.cross(p[i], wrench[i, :3]))
        blocks.append(I)
        force.append(weight + outer + across_motion(twist[i]).T @ I @ twist[i])
    return blocks, np.concatenate(force)


def solve(bodies, joints, gravity, R, p, velocity, tau, wrench):
    """Return accelerations of the bodies' origins (n, 6), and joint forces (joints, 6) in second frames."""
    n = len(bodies)
    twist = [np.append(v[:3] - np.cross(v[3:], x), v[3:]) for v, x in zip(velocity, p, strict=True)]
    twist, R, p = [*twist, np.zeros(6)], [*R, np.eye(3)], [*p, np.zeros(3)]
    blocks, force = inertial(bodies, gravity, R, p, twist, wrench)
    rows, right, soft, kept, first = [], [], [], [], 0
    for joint in joints:
        a, b = joint.first, joint.second
        frame = R[b] @ joint.R2, p[b] + R[b] @ joint.p2
        S, S_rate = freedoms(joint, frame, R[a] @ joint.R1, twist[a], twist[b])
        # wrenches that measure the rates: dual to S, and combinations of S in the joint's frame
        drive = on_wrenches(*frame) @ np.linalg.pinv(np.linalg.inv(on_motions(*frame)) @ S).T
        applied = drive @ tau[first : first + S.shape[1]]
        for body, sign in ((b, 1), (a, -1)):
            if body >= 0:
                force[6 * body : 6 * body + 6] += sign * applied
        # T^T (a_b - a_a) = T^T S' rates, with (v_b - v_a) = S rates
        rates = np.linalg.lstsq(S, twist[b] - twist[a], rcond=None)[0]
        measured = [(T, 0.0) for T in null_space(S.T).T]
        measured += [(T, 1.0 / one) for T, one in zip(drive.T, joint.armature, strict=True) if one > 0]
        kept.append((frame, applied, slice(len(rows), len(rows) + len(measured)), measured))
        for T, E in measured:
            row = np.zeros(6 * n)
            for body, sign in ((b, 1), (a, -1)):
                if body >= 0:
                    row[6 * body : 6 * body + 6] = sign * T
            rows.append(row)
            right.append(T @ S_rate @ rates)
            soft.append(E)
        first += S.shape[1]
    J = np.array(rows).reshape(-1, 6 * n)
    K = csc_array(
        bmat(
            [
                [block_diag([csc_array(block) for block in blocks]), csc_array(J.T)],
                [csc_array(J), -csc_array(np.diag(soft))],
            ]
        )
    )
    x = spsolve(K, np.concatenate([force, right]))
    a, y = x[: 6 * n].reshape(n, 6), x[6 * n :]
    forces = []
    for frame, applied, at, measured in kept:
        total = applied - sum((one * T for one, (T, _) in zip(y[at], measured, strict=True)), np.zeros(6))
        forces.append(np.linalg.inv(on_wrenches(*frame)) @ total)
    spin = velocity[:, 3:]
    linear = a[:, :3] + np.cross(a[:, 3:], p[:n]) + np.cross(spin, velocity[:, :3])
    return np.concatenate([linear, a[:, 3:]], axis=1), np.array(forces).reshape(-1, 6)


def freedoms(joint, frame, R1, V1, V2):
    """Return free motions S (6, k) in the base, and their derivative."""
    S = on_motions(*frame) @ np.asarray(joint.free).T
    rate = across_motion(V2) @ S
    if joint.turn is None:
        return S, rate
    axis = R1 @ joint.turn
    turn = np.append(np.cross(frame[1], axis), axis)
    # the axis turns with the first body, its point moves with the second
    spin = np.cross(V1[3:], axis)
    point = V2[:3] + np.cross(V2[3:], frame[1])
    moved = np.append(np.cross(point, axis) + np.cross(frame[1], spin), spin)
    return np.column_stack([turn, S]), np.column_stack([moved, rate])
