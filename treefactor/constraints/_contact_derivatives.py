"""Compute derivatives of rows and forces of contacts between spheres and planes by q and v."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kinematics.jacobians import BodyMotions
from ._frame_derivatives import (
    Dual,
    Frames,
    UnitMotions,
    force_derivatives,
    frames_of,
    freedoms_of,
    turned_with,
)

IDENTITY = np.eye(3)
LEVEL = 1e-12  # third coordinate of a normal that is zero but for rounding


class Touching(NamedTuple):
    """Frames on both bodies of contacts, and their axes and touching points with derivatives.

    The frames are at the centres of spheres and at the points of planes; ``levers`` are from both to where
    the bodies touch.
    """

    ends: tuple[Frames, Frames]
    axes: tuple[Dual, Dual, Dual]
    levers: tuple[Dual, Dual]

    def rates(self, of: np.ndarray, along: np.ndarray) -> np.ndarray:
        """Return the derivatives by q and v (rows, 2 m) of D v, for directions (rows, 3) along the axes.

        Rows are those of the contacts `of`.
        """
        against, sphere = self.ends
        moving = sphere.velocity.plus(sphere.spin.cross(self.levers[1]))
        moving = moving.minus(against.velocity).minus(against.spin.cross(self.levers[0]))
        by_axes = np.concatenate([moving.dot(axis).derivative for axis in self.axes], axis=1)
        share = along[:, :, None]
        return np.where(share != 0.0, share * by_axes[of], 0.0).sum(axis=1)

    def force_derivatives(self, model, along: np.ndarray) -> np.ndarray:
        """Return the derivatives by q (nv, nv) of forces along (contacts, 3) the axes on the spheres."""
        force = self._directions(along)
        on_second = force_derivatives(model, self.ends[1], force, self.levers[1].cross(force))
        force = force.opposite()
        return on_second + force_derivatives(model, self.ends[0], force, self.levers[0].cross(force))

    def _directions(self, along: np.ndarray) -> Dual:
        """Return the vectors with these coordinates along the axes."""
        share = along[:, :, None, None]
        value = sum(share[:, k] * x.value for k, x in enumerate(self.axes))
        parts = [
            np.where(share[:, k] != 0.0, share[:, k] * x.derivative, 0.0) for k, x in enumerate(self.axes)
        ]
        return Dual(value, parts[0] + parts[1] + parts[2])


def touching(at: BodyMotions, units: UnitMotions, contacts: np.ndarray) -> Touching:
    """Compute the geometry of contacts, of the struct of the contact kernel, in one state."""
    count = len(contacts)
    R = np.broadcast_to(IDENTITY, (count, 3, 3))
    ends = [
        frames_of(at, units, np.array(contacts["body"][:, side]), R, contacts[name])
        for side, name in enumerate(("anchor", "center"))
    ]
    apart = ends[0].to_second(ends[1])
    normal = _normals(contacts, ends[0], apart)
    radius = contacts["radius"][:, None, None]
    down = Dual(-radius * normal.value, -radius * normal.derivative)
    return Touching((ends[0], ends[1]), axes_along(normal), (apart.plus(down), down))


def _normals(contacts: np.ndarray, against: Frames, apart: Dual) -> Dual:
    """Return the normals of planes, and the directions between centres of spheres."""
    flat = (contacts["flat"] != 0)[:, None, None]
    plane = turned_with(against, contacts["normal"])
    length = np.linalg.norm(apart.value, axis=-2, keepdims=True)
    length = np.where(flat, 1.0, length)
    value = apart.value / length
    derivative = (apart.derivative - value * (value * apart.derivative).sum(-2, keepdims=True)) / length
    return Dual(np.where(flat, plane.value, value), np.where(flat, plane.derivative, derivative))


def axes_along(normal: Dual) -> tuple[Dual, Dual, Dual]:
    """Return normals and the tangents that the contact kernel chooses (Duff et al. 2017).

    These jump where the third coordinate of the normal changes its sign: derivatives along that are NaN.
    """
    (x, y, z), (dx, dy, dz) = (np.moveaxis(part, -2, 0) for part in normal)
    sign = np.copysign(1.0, z)
    a = -1.0 / (sign + z)
    da, b = a * a * dz, x * y * a
    db = dx * y * a + x * dy * a + x * y * da
    first = (1.0 + sign * x * x * a, sign * b, -sign * x)
    dfirst = (sign * (2.0 * x * dx * a + x * x * da), sign * db, -sign * dx)
    second = (b, sign + y * y * a, -y)
    dsecond = (db, 2.0 * y * dy * a + y * y * da, -dy)
    pairs = (first, dfirst), (second, dsecond)
    first_tangent, second_tangent = (Dual(*(np.stack(part, axis=-2) for part in pair)) for pair in pairs)
    jumps = ((np.abs(z) <= LEVEL) & (np.abs(dz) > LEVEL))[..., None, :]
    first_tangent, second_tangent = (
        Dual(x.value, np.where(jumps, np.nan, x.derivative)) for x in (first_tangent, second_tangent)
    )
    return normal, first_tangent, second_tangent


def to_v(at: BodyMotions, columns: np.ndarray) -> np.ndarray:
    """Return derivatives (rows, m) of all freedoms as those of v."""
    return freedoms_of(at.model).to_v(columns)
