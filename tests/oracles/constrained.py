"""Solve dynamics with loops and rigid contacts as one dense system, on complex numbers for complex steps."""

import numpy as np

from oracles.derivatives import by_complex_steps, frame_state, inverse_dynamics, mass_matrix
from oracles.spatial import cross
from treefactor import Frame
from treefactor.model.joints import PAIRS


def ends_of(model, contacts):
    """Return pairs of frames, with the loop or contact that they belong to."""
    pairs = []
    for loop in model.loops:
        ends = (("first", loop.first, loop.R1, loop.p1), ("second", loop.second, loop.R2, loop.p2))
        pairs.append((loop, [Frame(*end[:2], *end[2:]) for end in ends]))
    for contact in contacts:
        ends = contact.frame, contact.against
        ends = [Frame("base", -1) if end == -1 else end for end in ends]
        pairs.append((contact, ends))
    return pairs


def rows(model, q, v, a, contacts=(), dq=0.0):
    """Return residuals, rates and accelerations (..., rows)."""
    parts = []
    for one, frames in ends_of(model, contacts):
        ends = []
        for frame in frames:
            state = frame_state(model, q, v, a, frame, "LOCAL_WORLD_ALIGNED", dq)
            R, p = state.placement[..., :3], state.placement[..., 3]
            classical = state.classical
            ends.append((R, p, *np.split(state.velocity, 2, -1), *np.split(classical, 2, -1)))
        parts.append(loop_rows(one, *ends) if hasattr(one, "R1") else contact_rows(one, *ends))
    return [np.concatenate(part, axis=-1) for part in zip(*parts, strict=True)]


def loop_rows(loop, first, second):
    """Return x = R1^T (p2 - p1) and cosines of pairs of axes, with two derivatives."""
    (R1, p1, u1, w1, c1, b1), (R2, p2, u2, w2, c2, b2) = first, second
    d, e = p2 - p1, u2 - u1
    rate = e - cross(w1, d)
    faster = c2 - c1 - cross(b1, d) - 2 * cross(w1, e) + cross(w1, cross(w1, d))
    parts = [[seen(R1, x)] for x in (d, rate, faster)]
    for i, j in PAIRS[loop.kind]:
        x, y = R1[..., :, i], R2[..., :, j]
        dx, dy = cross(w1, x), cross(w2, y)
        ddx, ddy = cross(b1, x) + cross(w1, dx), cross(b2, y) + cross(w2, dy)
        for part, value in zip(parts, (x * y, dx * y + x * dy, ddx * y + 2 * dx * dy + x * ddy), strict=True):
            part.append(value.sum(-1, keepdims=True))
    return [np.concatenate(part, axis=-1) for part in parts]


def contact_rows(contact, first, second):
    """Return the rows of a rigid contact, as `RigidContact` defines them."""
    (R1, p1, u1, w1, c1, b1), (R2, p2, u2, w2, c2, b2) = first, second
    d, e = p1 - p2, u1 - u2
    R = R1 if contact.reference == "LOCAL" else np.eye(3)
    if contact.kind == "3D":
        return [seen(R, x) for x in (d, e, c1 - c2)]
    rate = e - cross(w2, d)
    faster = c1 - c2 - cross(b2, d) - cross(w2, e) - cross(w1, rate)
    angle = (R1 @ logarithm(np.swapaxes(R2, -1, -2) @ R1)[..., None])[..., 0]
    parts = (d, angle), (rate, w1 - w2), (faster, b1 - b2 + cross(w1, w2))
    return [np.concatenate([seen(R, x) for x in pair], axis=-1) for pair in parts]


def seen(R, x):
    """Return vectors in the axes R."""
    return (np.swapaxes(R, -1, -2) @ x[..., None])[..., 0]


def logarithm(R):
    """Return the rotation vector; not for small angles."""
    angle = np.arccos((np.trace(R, axis1=-2, axis2=-1) - 1) / 2 + 0j)[..., None]
    skew = R - np.swapaxes(R, -1, -2)
    return (
        np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1) * angle / (2 * np.sin(angle))
    )


def forward_dynamics(model, q, v, tau, contacts=(), s=0.0, fext=None, dq=0.0):
    """Return accelerations and forces; J has full rank."""
    n, zero = model.nv, np.zeros(model.nv)
    v, tau, dq = (np.asarray(x, complex) for x in (v, tau, np.zeros(n) + dq))
    batch = np.broadcast_shapes(v.shape, tau.shape, dq.shape)[:-1]
    v, tau, dq = (np.broadcast_to(x, (*batch, n)) for x in (v, tau, dq))
    unit = np.broadcast_to(np.eye(n, dtype=complex), (*batch, n, n))
    J = rows(model, q, unit, zero, contacts, dq[..., None, :])[1]  # rows of velocity k
    residual, rate, bias = rows(model, q, v, zero, contacts, dq)
    side = -(bias + s * (2 * rate + s * residual))
    K = np.zeros((*batch, n + side.shape[-1], n + side.shape[-1]), complex)
    K[..., :n, :n], K[..., n:, :n] = mass_matrix(model, q, dq), np.swapaxes(J, -1, -2)
    K[..., :n, n:] = J
    top = tau - inverse_dynamics(model, q, v, v * 0, fext, dq)
    x = np.linalg.solve(K, np.concatenate([top, side], axis=-1)[..., None])[..., 0]
    return np.concatenate([x[..., :n], -x[..., n:]], axis=-1)


def forward_dynamics_derivatives(model, q, v, tau, contacts=(), s=0.0, fext=None):
    """Return derivatives of accelerations by q, v and tau, then of forces, and both values."""
    given, n = {"contacts": contacts, "s": s, "fext": fext}, model.nv
    blocks = [
        by_complex_steps(lambda step: forward_dynamics(model, q, v, tau, **given, dq=step), n),
        by_complex_steps(lambda step: forward_dynamics(model, q, v + step, tau, **given), n),
        by_complex_steps(lambda step: forward_dynamics(model, q, v, tau + step, **given), n),
    ]
    value = forward_dynamics(model, q, v, tau, **given).real
    return [*(x[:n] for x in blocks), *(x[n:] for x in blocks), value[:n], value[n:]]
