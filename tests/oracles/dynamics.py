"""Textbook recursions over a Model with 6x6 matrices, in the frames of the joints.

Featherstone, Rigid Body Dynamics Algorithms (2008): tables 4.1, 5.1 and 6.2. Spatial vectors are [linear;
angular], as Pinocchio has them. Joints that follow others have freedoms of their own here, and results are
reduced by the coupling G at the end.
"""

import numpy as np
from scipy.spatial.transform import Rotation

from treefactor.model.joints import SIZES


def place(model, q):
    """Return rotation and origin of every joint in its parent's frame, and freedoms S (6, nv) in its own."""
    placed = []
    for joint, x in zip(model.joints, positions(model, q), strict=True):
        R, p, S = motion(joint, x)
        placed.append((joint.R @ R, joint.p + joint.R @ p, S))
    return placed


def positions(model, q):
    """Return the entries of q of every joint; of one that follows another, its angle or distance."""
    entries = []
    for joint, at in zip(model.joints, model.idx_q, strict=True):
        kind = model.joints[joint.mimic.leader].kind if joint.mimic else joint.kind
        x = np.asarray(q)[at : at + SIZES[kind][0]]
        if joint.mimic:
            angle = np.arctan2(x[1], x[0]) if kind == "continuous" else x[0]
            x = np.array([joint.mimic.ratio * angle + joint.mimic.offset])
        entries.append(x)
    return entries


def motion(joint, x):
    """Return the rotation, translation and freedoms of a joint at its entries x of q."""
    turn, slide = np.zeros((2, 3, SIZES[joint.kind][1]))
    R, p = np.eye(3), np.zeros(3)
    match joint.kind:
        case "revolute" | "helical":
            R, p = about(joint.axis, x[0]), joint.pitch * x[0] * joint.axis
            turn[:, 0], slide[:, 0] = joint.axis, joint.pitch * joint.axis
        case "continuous":
            R = about(joint.axis, np.arctan2(x[1], x[0]))
            turn[:, 0] = joint.axis
        case "prismatic":
            p = x[0] * joint.axis
            slide[:, 0] = joint.axis
        case "universal":
            second = about(joint.axis[1], x[1])
            R = about(joint.axis[0], x[0]) @ second
            turn = np.stack([second.T @ joint.axis[0], joint.axis[1]], axis=1)
        case "spherical":
            R, turn = Rotation.from_quat(x).as_matrix(), np.eye(3)
        case "planar":
            R, p = about([0, 0, 1], np.arctan2(x[3], x[2])), np.array([x[0], x[1], 0.0])
            slide[:, :2], turn[2, 2] = np.eye(3)[:, :2], 1.0
        case "translation":
            p, slide = x, np.eye(3)
        case "freeflyer":
            R, p = Rotation.from_quat(x[3:]).as_matrix(), x[:3]
            slide[:, :3] = turn[:, 3:] = np.eye(3)
    return R, p, np.vstack([slide, turn])


def about(axis, angle):
    """Return the rotation about an axis."""
    return Rotation.from_rotvec(angle * np.asarray(axis)).as_matrix()


def cross(c):
    """Return S(c) with S(c) x = c × x."""
    return np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])


def transform(R, p):
    """Transform motions to the frame with rotation R and origin p."""
    return np.block([[R.T, -R.T @ cross(p)], [np.zeros((3, 3)), R.T]])


def motion_cross(v):
    """Return v × of motions; its negative transpose is v × of forces."""
    return np.block([[cross(v[3:]), cross(v[:3])], [np.zeros((3, 3)), cross(v[3:])]])


def spatial_inertia(inertia):
    """Return the inertia at the origin of the frame, shape (6, 6)."""
    m, C = inertia.mass, cross(inertia.com)
    return np.block([[m * np.eye(3), -m * C], [m * C, inertia.tensor - m * C @ C]])


def joint_rate(joint, S, v):
    """Return (dS/dt) v for a constant v: zero except for "universal", whose first axis turns in the body."""
    rate = np.zeros(6)
    if joint.kind == "universal":
        rate[3:] = np.cross(S[3:, 0] * v[0], S[3:, 1] * v[1])
    return rate


def freedoms(model):
    """Return the slice of every joint among the freedoms of all joints, followers included."""
    stop = np.cumsum([SIZES[joint.kind][1] for joint in model.joints])
    return [slice(k - SIZES[joint.kind][1], k) for k, joint in zip(stop, model.joints, strict=True)]


def coupling(model):
    """Return G with v of all freedoms = G v."""
    G = np.zeros((sum(SIZES[joint.kind][1] for joint in model.joints), model.nv))
    for joint, at, v in zip(model.joints, freedoms(model), model.idx_v, strict=True):
        count = at.stop - at.start
        G[at, v : v + count] = np.eye(count) * (joint.mimic.ratio if joint.mimic else 1.0)
    return G


def crba(model, q):
    """Return the joint-space inertia matrix with armature, shape (nv, nv)."""
    placed, at = place(model, q), freedoms(model)
    X = [transform(R, p) for R, p, _ in placed]
    composite = [spatial_inertia(joint.inertia) for joint in model.joints]
    G = coupling(model)
    H = np.zeros((len(G), len(G)))
    for i in reversed(range(model.njoints)):
        parent = model.joints[i].parent
        if parent >= 0:
            composite[parent] += X[i].T @ composite[i] @ X[i]
        F = composite[i] @ placed[i][2]
        H[at[i], at[i]] = placed[i][2].T @ F
        j = i
        while model.joints[j].parent >= 0:
            F = X[j].T @ F
            j = model.joints[j].parent
            H[at[i], at[j]] = F.T @ placed[j][2]
            H[at[j], at[i]] = H[at[i], at[j]].T
    return G.T @ H @ G + np.diag(model.armature)


def rnea(model, q, v, a, fext=None):
    """Return H a + bias, shape (nv,); fext (njoints, 6) is [force; moment] on every body, in its frame."""
    force, tau = joint_forces(model, q, v, a, fext), np.zeros(len(coupling(model)))
    for one, at, (_, _, S) in zip(force, freedoms(model), place(model, q), strict=True):
        tau[at] = S.T @ one
    return coupling(model).T @ tau + model.armature * a


def base_force(model, q, v, a, fext=None):
    """Return [force; moment] of the model on the base, at its origin."""
    force = np.zeros(6)
    forces = joint_forces(model, q, v, a, fext)
    for joint, one, (R, p, _) in zip(model.joints, forces, place(model, q), strict=True):
        force -= transform(R, p).T @ one if joint.parent < 0 else 0.0
    return force


def joint_forces(model, q, v, a, fext=None):
    """Return [force; moment] of the parent on the body of every joint, in its frame, shape (njoints, 6)."""
    placed, at, G = place(model, q), freedoms(model), coupling(model)
    v_all, a_all = G @ np.asarray(v, float), G @ np.asarray(a, float)
    X = [transform(R, p) for R, p, _ in placed]
    still, falling = np.zeros(6), np.concatenate([-model.gravity, np.zeros(3)])
    velocity, acceleration, force = [], [], []
    for i, joint in enumerate(model.joints):
        S = placed[i][2]
        own = S @ v_all[at[i]]
        velocity.append(X[i] @ (velocity[joint.parent] if joint.parent >= 0 else still) + own)
        acceleration.append(
            X[i] @ (acceleration[joint.parent] if joint.parent >= 0 else falling)
            + S @ a_all[at[i]]
            + joint_rate(joint, S, v_all[at[i]])
            + motion_cross(velocity[i]) @ own
        )
        M = spatial_inertia(joint.inertia)
        f = M @ acceleration[i] - motion_cross(velocity[i]).T @ M @ velocity[i]
        force.append(f if fext is None else f - fext[i])
    for i in reversed(range(model.njoints)):
        if model.joints[i].parent >= 0:
            force[model.joints[i].parent] += X[i].T @ force[i]
    return np.reshape(force, (-1, 6))


def bias(model, q, v, fext=None):
    """Return the generalized forces at zero acceleration, shape (nv,)."""
    return rnea(model, q, v, np.zeros(model.nv), fext)


def h_times(model, q, x):
    """Return H x, shape (nv,)."""
    return crba(model, q) @ x


def forward_dynamics(model, q, v, tau, fext=None):
    """Return H^-1 (tau - bias), shape (nv,)."""
    return np.linalg.solve(crba(model, q), tau - bias(model, q, v, fext))


def inverse_inertia(model, q):
    """Return H^-1, shape (nv, nv)."""
    return np.linalg.inv(crba(model, q))


def generalized_gravity(model, q):
    """Return the forces at rest, shape (nv,)."""
    return bias(model, q, np.zeros(model.nv))


def static_torque(model, q, fext):
    """Return the forces at rest under external ones, shape (nv,)."""
    return bias(model, q, np.zeros(model.nv), fext)


def kinetic_energy(model, q, v):
    """Return half of v^T H v."""
    return 0.5 * np.asarray(v) @ crba(model, q) @ v


def potential_energy(model, q):
    """Return the sum of -m g . c over all bodies."""
    energy, placed = 0.0, []
    for joint, (R, p, _) in zip(model.joints, place(model, q), strict=True):
        R0, p0 = placed[joint.parent] if joint.parent >= 0 else (np.eye(3), np.zeros(3))
        placed.append((R0 @ R, R0 @ p + p0))
        energy -= joint.inertia.mass * model.gravity @ (placed[-1][0] @ joint.inertia.com + placed[-1][1])
    return energy


def mechanical_energy(model, q, v):
    """Return the sum of both energies."""
    return kinetic_energy(model, q, v) + potential_energy(model, q)
