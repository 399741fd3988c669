"""Find the points at which two shapes touch by coal, for pairs that have no kernel of ours."""

from __future__ import annotations

import coal
import numpy as np

from ..constraints._touching import POINT
from ..model.geometry import Shape
from ..model.shapes import Box, Ellipsoid, Mesh, Plane, Sphere

TILT = 1e-3  # rad: one shape is tilted this much for the other points of flat ends and lines
ALIKE = 0.99  # cosine of normals that belong to one side
APART = 1e-2  # of the size: closer points are one


class CoalPair:
    """Points of two convex shapes; coal's objects are made on the first call.

    One coal query finds one point. Four more, after small tilts about it as in MuJoCo's multiccd, find those
    at the other ends of flat parts, if there are any; the gap of each is that without the tilt.

    Parameters
    ----------
    first, second : shapes
    """

    def __init__(self, first: Shape, second: Shape):
        self.shapes = first, second
        self.made: tuple | None = None
        self.size = 0.0

    def __reduce__(self):
        return CoalPair, self.shapes

    def __call__(self, first_pose: np.ndarray, second_pose: np.ndarray, margin: float) -> np.ndarray:
        """Return the points, as `touching_points` does; poses are R by rows, then p."""
        if self.made is None:
            self.made = tuple(in_coal(shape) for shape in self.shapes)
            radii = [shape.aabb_radius for shape in self.made if not isinstance(shape, coal.Halfspace)]
            self.size, self.most = min(radii), sum(radii)
        (R, p), (Q, s) = ((pose[:9].reshape(3, 3), pose[9:]) for pose in (first_pose, second_pose))
        nearest = self.nearest(R, p, Q, s, margin)
        if nearest is None:
            return np.empty(0, POINT)
        x, y, n = nearest
        points = [(0, 0.5 * (x + y), n @ (y - x))]
        pivot = points[0][1]
        for k, turn in enumerate(_tilts(n), 1):
            tilted = self.nearest(R, p, turn @ Q, pivot + turn @ (s - pivot), margin + TILT * self.most)
            if tilted is None or tilted[2] @ n < ALIKE:
                continue
            x, y = tilted[0], pivot + turn.T @ (tilted[1] - pivot)
            point, gap = 0.5 * (x + y), n @ (y - x)
            is_new = all(np.linalg.norm(point - other) > APART * self.size for _, other, _ in points)
            if gap <= margin and is_new:
                points.append((k, point, gap))
        made = np.empty(len(points), POINT)
        for to, (k, point, gap) in zip(made, points, strict=True):
            to["identity"], to["point"], to["gap"], to["normal"] = k, point, gap, n
        return made

    def nearest(self, R, p, Q, s, margin: float) -> tuple | None:
        """Return the nearest or deepest points of both shapes and the normal; None beyond the margin.

        The tolerances of coal stay what they are: its EPA fails for curved shapes if they are smaller. A
        depth that is larger than both shapes is such a failure.
        """
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        request.enable_signed_distance = True
        poses = coal.Transform3s(R, p), coal.Transform3s(Q, s)
        distance = coal.distance(self.made[0], poses[0], self.made[1], poses[1], request, result)
        if not -self.most <= distance <= margin:
            return None
        n = np.array(result.normal)
        return np.array(result.getNearestPoint1()), np.array(result.getNearestPoint2()), n


def _tilts(n: np.ndarray) -> list[np.ndarray]:
    """Return small rotations both ways about two axes across n."""
    u = np.cross(n, np.eye(3)[np.abs(n).argmin()])
    u /= np.linalg.norm(u)
    turns = []
    for axis in (u, np.cross(n, u)):
        for angle in (TILT, -TILT):
            x, y, z = np.sin(angle) * axis
            cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            turns.append(np.eye(3) + cross + (1.0 - np.cos(angle)) * (np.outer(axis, axis) - np.eye(3)))
    return turns


def in_coal(shape: Shape):
    """Return the shape of coal, about its own origin."""
    if isinstance(shape, Plane):
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if isinstance(shape, Sphere):
        made = coal.Sphere(shape.radius)
    elif isinstance(shape, Box):
        made = coal.Box(*shape.size)
    elif isinstance(shape, Ellipsoid):
        made = coal.Ellipsoid(*shape.radii)
    elif isinstance(shape, Mesh):
        corners = coal.StdVec_Vec3s()
        corners.extend(list(shape.vertices))  # their rank is 3: coal's hull of points in one plane crashes
        made = coal.Convex.convexHull(corners, True, "Qt")
    else:
        made = getattr(coal, type(shape).__name__)(shape.radius, shape.length)
    made.computeLocalAABB()
    return made
