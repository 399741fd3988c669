"""Compute the rows of tasks: stacked Jacobians of frames, and J-dot v.

No other module of tasks depends on how frames and their Jacobians are found.
"""

from __future__ import annotations

import numpy as np

from .._util.validation import as_vector, check_choice
from ..model.joints import _rotation
from ..model.model import Model, body_number
from .jacobians import Kinematics, Support, cross, product

REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
COMPONENTS = ("linear x", "linear y", "linear z", "angular x", "angular y", "angular z")


def _one(model: Model, frame) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the joint, rotation and origin of a frame: a name, the number of a joint, or a frame object."""
    if isinstance(frame, str) and hasattr(model, "frame"):
        frame = model.frame(frame)
    if hasattr(frame, "joint") and hasattr(frame, "p"):
        return frame.joint, _rotation(frame.R, "R"), as_vector(frame.p, 3, "p")
    return body_number(model, frame), np.eye(3), np.zeros(3)


def _several(frame) -> list:
    """Return the frames of an argument: one, or a list of them."""
    return list(frame) if isinstance(frame, list | tuple) else [frame]


def row_name(frame, row: int) -> str:
    """Return the name of a row in messages, for a frame or a list of frames."""
    one = _several(frame)[row // 6]
    return f"{COMPONENTS[row % 6]} of frame {str(getattr(one, 'name', one))!r}"


def jacobian_of(model: Model, q, frame, reference, num_threads: int) -> np.ndarray:
    """Return the Jacobian of a frame, or those of a list of frames stacked, shape (..., 6 k, nv)."""
    at, sets = _axes(model, q, None, frame, reference)
    W = np.zeros((2, *at.batch, 6 * len(sets), 6))
    for k, (_, axes, r) in enumerate(sets):
        rows = W[1, ..., 6 * k : 6 * k + 6, :]
        rows[..., :3, :3] = rows[..., 3:, 3:] = axes
        rows[..., :3, 3:] = cross(r[..., None, :], np.broadcast_to(axes, (*r.shape, 3)))
    bodies = np.repeat([body for body, *_ in sets], 6)
    support = Support(model, np.full(len(bodies), -1), bodies)
    return support.dense(support.data(at, W))


def jacobian_dot_v(model: Model, q, v, frame, reference, num_threads: int) -> np.ndarray:
    """Return J-dot v of the stacked Jacobian, shape (..., 6 k)."""
    at, sets = _axes(model, q, v, frame, reference)
    found = []
    for body, axes, r in sets:
        V, A = at.V[..., body, :], at.A[..., body, :]
        linear = A[..., :3] + cross(A[..., 3:], r)
        if _reference(reference) == "LOCAL_WORLD_ALIGNED":  # the point moves, its axes do not turn
            linear = linear + cross(V[..., 3:], V[..., :3] + cross(V[..., 3:], r))
        found += [product(axes, linear), product(axes, A[..., 3:])]
    return np.concatenate(found, axis=-1)


def _reference(reference) -> str:
    """Return the name of a reference; Pinocchio's enumeration has the same names."""
    name = getattr(reference, "name", reference)
    check_choice("reference", name, REFERENCES)
    return name


def _axes(model: Model, q, v, frame, reference):
    """Return kinematics, and for every frame its body, axes as rows, and point from the root body."""
    name, at = _reference(reference), Kinematics(model, q, v)
    sets = []
    for one in _several(frame):
        body, R, p = _one(model, one)
        r = -at.origin[..., body, :] if name == "WORLD" else at.points(body, p)
        axes = np.swapaxes(at.R[..., body, :, :] @ R, -1, -2) if name == "LOCAL" else np.eye(3)
        sets.append((body, axes, r))
    return at, sets
