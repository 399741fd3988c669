"""Find pairs of shapes whose distance no motion changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kinematics.jacobians import BodyMotions, Support
from ..model.frames import located
from ..model.geometry import Shape
from ..model.model import Model
from ..model.shapes import Capsule, Cone, Cylinder, Ellipsoid, Plane, Sphere
from .contact_points import placement_of
from .loops import loops_of, random_motions

SAMPLES = 2  # random configurations; motions are analytic functions of q
STILL = 1e-9  # of velocities, for unit velocities of the joints: a smaller one is a rounding error


def still_pairs(model: Model, pairs: Sequence[tuple[Shape, Shape]]) -> np.ndarray:
    """Return for every pair of shapes whether no motion of the model changes their distance.

    That is so if each motion of one body relative to the other is the sum of two motions, one of which maps
    one shape onto itself, and the other one the other shape: a wheel's cylinder turns about its own axis,
    and a plane is everywhere the same.
    """
    shapes = {id(shape): shape for pair in pairs for shape in pair}
    placed = {key: located(model, shape.body, *placement_of(shape)) for key, shape in shapes.items()}
    bodies = np.array([[placed[id(shape)][0] for shape in pair] for pair in pairs], dtype=np.intp)
    first, second = bodies.reshape(-1, 2).T
    rows = Support(model, np.repeat(first, 6), np.repeat(second, 6))
    still = np.ones(len(pairs), dtype=bool)
    for at in random_motions(model, SAMPLES):
        motions = rows.dense(rows.data(at, _unit_wrenches(at, first, second))).reshape(-1, 6, model.nv)
        if model.loops:
            J = loops_of(model).rows(at).dense()
            motions = motions - motions @ np.linalg.pinv(J, rcond=STILL) @ J
        symmetries = {key: _symmetries(shapes[key], at, *placed[key]) for key in shapes}
        for k in np.flatnonzero(still).tolist():
            own = np.hstack([symmetries[id(shape)] for shape in pairs[k]])
            rest = motions[k] - own @ (np.linalg.pinv(own) @ motions[k])
            still[k] = np.abs(rest).max(initial=0.0) < STILL * max(1.0, np.abs(motions[k]).max(initial=0.0))
    return still


def _unit_wrenches(at: BodyMotions, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return unit forces at the world's origin, then unit torques, on both bodies of every pair.

    Moments are about the origins of the root bodies, shape (2, 6 pairs, 6).
    """
    wrenches = np.zeros((2, len(first), 6, 6))
    for side, body in enumerate((first, second)):
        wrenches[side] = np.eye(6)
        wrenches[side, :, :3, 3:] = np.cross(-at.origin[body][:, None], np.eye(3))
    wrenches[1] *= -1.0
    return wrenches.reshape(2, -1, 6)


def _symmetries(shape: Shape, at: BodyMotions, body: int, R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the velocities of a body at the world's origin that map a shape onto itself, shape (6, k).

    R and p place the shape in its body.
    """
    axes, center = at.R[body] @ R, at.origin[body] + at.points(body, p)
    about = np.zeros((3, 0))
    if isinstance(shape, Sphere):
        about = axes
    elif isinstance(shape, Plane | Capsule | Cylinder | Cone):
        about = axes[:, 2:]
    elif isinstance(shape, Ellipsoid):
        about = _turns(axes, *shape.radii.tolist())
    motions = np.vstack([np.cross(center, about.T).T.reshape(3, -1), about])
    if isinstance(shape, Plane):
        motions = np.hstack([motions, np.vstack([axes[:, :2], np.zeros((3, 2))])])
    return motions


def _turns(axes: np.ndarray, a: float, b: float, c: float) -> np.ndarray:
    """Return the axes about which an ellipsoid with these radii may turn, as columns."""
    if a == b == c:
        return axes
    return axes[:, [b == c, c == a, a == b]]
