"""Find pairs of shapes whose distance no motion changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..kinematics.jacobians import BodyMotions, Support, cross
from ..model.frames import located
from ..model.geometry import Shape
from ..model.model import Model
from ..model.shapes import Capsule, Cone, Cylinder, Ellipsoid, Plane, Sphere
from .contact_points import placement_of
from .loops import loops_of, random_motions

SAMPLES = 2  # random configurations; motions are analytic functions of q
STILL = 1e-9  # of velocities, for unit velocities of the joints: a smaller one is a rounding error
AXES = np.eye(3)


class Sides(NamedTuple):
    """First or second shapes of all pairs: their bodies, placements in these, and symmetries.

    Attributes
    ----------
    body : ndarray of int, shape (pairs,)
    R, p : ndarray, shapes (pairs, 3, 3) and (pairs, 3)
    slides, turns : ndarray, shapes (pairs, 3, 3)
        Directions along which, and axes about which a shape moves onto itself, in its own axes: columns that
        are not zero.
    """

    body: np.ndarray
    R: np.ndarray
    p: np.ndarray
    slides: np.ndarray
    turns: np.ndarray


def still_pairs(model: Model, pairs: Sequence[tuple[Shape, Shape]]) -> np.ndarray:
    """Return for every pair of shapes whether no motion of the model changes their distance.

    That is so if each motion of one body relative to the other is the sum of two motions, one of which maps
    one shape onto itself, and the other one the other shape: a wheel's cylinder turns about its own axis,
    and a plane is everywhere the same. Where loops cannot be closed, no pair is known to be still.
    """
    if not len(pairs):
        return np.zeros(0, dtype=bool)
    first, second = (_sides(model, [pair[k] for pair in pairs]) for k in range(2))
    rows = Support(model, np.repeat(first.body, 6), np.repeat(second.body, 6))
    samples = list(random_motions(model, SAMPLES))
    still = np.full(len(pairs), bool(samples))
    for at in samples:
        motions, own = _motions(model, at, rows, first, second)
        rest = motions - own @ (np.linalg.pinv(own, rcond=STILL) @ motions)
        largest = np.abs(motions).max(axis=(1, 2), initial=1.0)
        still &= np.abs(rest).max(axis=(1, 2), initial=0.0) < STILL * largest
    return still


def _sides(model: Model, shapes: Sequence[Shape]) -> Sides:
    """Return one side of all pairs."""
    placed = [(*located(model, shape.body, *placement_of(shape)), *_symmetries(shape)) for shape in shapes]
    return Sides(*(np.array(column) for column in zip(*placed, strict=True)))


def _symmetries(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Return the directions along which, and the axes about which a shape moves onto itself."""
    if isinstance(shape, Plane):
        return np.diag([1.0, 1.0, 0.0]), np.diag([0.0, 0.0, 1.0])
    if isinstance(shape, Ellipsoid):
        a, b, c = shape.radii.tolist()
        return np.zeros((3, 3)), np.diag([float(b == c), float(c == a), float(a == b)])
    about = 3 * [float(isinstance(shape, Sphere))]
    about[2] = float(isinstance(shape, Sphere | Capsule | Cylinder | Cone))
    return np.zeros((3, 3)), np.diag(about)


def _motions(
    model: Model, at: BodyMotions, rows: Support, first: Sides, second: Sides
) -> tuple[np.ndarray, np.ndarray]:
    """Return the motions of first bodies relative to second ones, and those that map a shape onto itself.

    Columns are linear and angular velocities, in base axes, at the place of the first shape; linear ones in
    units of the distance of both places, if that exceeds 1 m. Shapes (pairs, 6, nv) and (pairs, 6, 12).
    """
    near, far = (at.points(side.body, side.p) for side in (first, second))
    roots = at.origin[second.body] - at.origin[first.body]
    apart = roots + far - near
    wrenches = np.tile(np.eye(6), (2, len(near), 1, 1))
    wrenches[0, :, :3, 3:] = cross(near[:, None], AXES)
    wrenches[1, :, :3, 3:] = cross((near - roots)[:, None], AXES)
    wrenches[1] *= -1.0
    motions = rows.dense(rows.data(at, wrenches.reshape(2, -1, 6))).reshape(-1, 6, model.nv)
    if model.loops:
        J = loops_of(model).rows(at).dense()
        motions = motions - motions @ np.linalg.pinv(J, rcond=STILL) @ J
    own = []
    for side, lever in ((first, np.zeros_like(apart)), (second, apart)):
        axes = at.R[side.body] @ side.R
        slides, turns = axes @ side.slides, axes @ side.turns
        turning = np.swapaxes(cross(lever[:, None], np.swapaxes(turns, 1, 2)), 1, 2)
        own.append(np.block([[slides, turning], [np.zeros_like(slides), turns]]))
    symmetries = np.concatenate(own, axis=2)
    unit = np.linalg.norm(apart, axis=1).clip(1.0)[:, None, None]
    motions[:, :3] /= unit
    symmetries[:, :3] /= unit
    return motions, symmetries
