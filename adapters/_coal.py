"""Find the points at which two shapes touch by coal, for pairs that have no kernel of ours."""

from __future__ import annotations

from typing import NamedTuple

import coal
import numpy as np

from ..constraints._shape_contacts import SLOTS as MOST_POINTS
from ..constraints._touching import POINT
from ..constraints.contact_points import surface_of
from ..model._triangles import Triangles
from ..model.geometry import Shape
from ..model.shapes import Box, Ellipsoid, Mesh, Plane, Sphere

TILT = 1e-3  # rad: one shape is tilted this much for the other points of flat ends and lines
ALIKE = 0.99  # cosine of normals that belong to one side
APART = 1e-2  # of the size: closer points are one
FEW = 4  # points, below which tilts look for others
LEAN = 2e-3  # sine up to which a normal of coal is that of a face
MOST_CONTACTS = 1000  # triangles
TILTS = 4


class Feature(NamedTuple):
    """Points of both shapes that are nearest or deepest, the normal from first to second, and a number."""

    x: np.ndarray
    y: np.ndarray
    n: np.ndarray
    number: int


class CoalPair:
    """Points of two shapes, of which one may be a surface; coal's objects are made on the first call.

    Coal finds one point of two convex shapes, or of every triangle. Where its normal leads from one triangle
    into another, the deepest point below the triangle is taken instead, if there is one. If there are few,
    four more queries, with small tilts about the first one as in MuJoCo's multiccd, find those at the other
    ends of flat parts; the gap of each is that without the tilt.

    Parameters
    ----------
    first, second : shapes
    """

    def __init__(self, first: Shape, second: Shape):
        self.shapes = first, second
        self.surfaces = surface_of(first), surface_of(second)
        self.made: tuple | None = None
        self.size = self.most = 0.0

    def __reduce__(self):
        return CoalPair, self.shapes

    def __call__(self, first_pose: np.ndarray, second_pose: np.ndarray, margin: float) -> np.ndarray:
        """Return the points, as `touching_points` does; poses are R by rows, then p."""
        if self.made is None:
            self.made = tuple(in_coal(shape) for shape in self.shapes)
            radii = [one.aabb_radius for one in self.made]
            self.size, self.most = min(radii), sum(radii)
        (R, p), (Q, s) = ((pose[:9].reshape(3, 3), pose[9:]) for pose in (first_pose, second_pose))
        points: list[tuple[int, np.ndarray, np.ndarray, float]] = []

        def add(feature: Feature, which: int) -> None:
            point, gap = 0.5 * (feature.x + feature.y), feature.n @ (feature.y - feature.x)
            is_new = all(
                np.linalg.norm(point - other) > APART * self.size or feature.n @ n < ALIKE
                for _, other, n, _ in points
            )
            if gap <= margin and is_new:
                points.append(((TILTS + 1) * feature.number + which, point, feature.n, gap))

        first = self.features(R, p, Q, s, margin)
        for feature in first:
            add(feature, 0)
        if points and len(points) < FEW:
            n, pivot = first[0].n, points[0][1]
            for which, turn in enumerate(_tilts(n), 1):
                for tilted in self.features(
                    R, p, turn @ Q, pivot + turn @ (s - pivot), margin + TILT * self.most
                ):
                    nearest = max(first, key=lambda one: one.n @ tilted.n)
                    if nearest.n @ tilted.n > ALIKE:
                        add(
                            Feature(tilted.x, pivot + turn.T @ (tilted.y - pivot), nearest.n, tilted.number),
                            which,
                        )
        points = _spread(points)
        made = np.empty(len(points), POINT)
        for to, (number, point, n, gap) in zip(made, points, strict=True):
            to["identity"], to["point"], to["normal"], to["gap"] = number, point, n, gap
        return made

    def features(self, R, p, Q, s, margin: float) -> list[Feature]:
        """Return what is nearest or deepest, the deepest first.

        The tolerances of coal stay what they are: its EPA fails for curved shapes if they are smaller. A
        depth that is larger than both shapes is such a failure.
        """
        poses = coal.Transform3s(R, p), coal.Transform3s(Q, s)
        if self.surfaces == (None, None):
            request, result = coal.DistanceRequest(), coal.DistanceResult()
            request.enable_signed_distance = True
            distance = coal.distance(self.made[0], poses[0], self.made[1], poses[1], request, result)
            if not -self.most <= distance <= margin:
                return []
            points = result.getNearestPoint1(), result.getNearestPoint2(), result.normal
            return [Feature(*map(np.array, points), 0)]
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        request.num_max_contacts, request.security_margin = MOST_CONTACTS, margin
        coal.collide(self.made[0], poses[0], self.made[1], poses[1], request, result)
        side = 0 if self.surfaces[0] is not None else 1
        axes, features = (R, Q)[side], []
        for contact in sorted(result.getContacts(), key=lambda one: one.penetration_depth):
            n, triangle = np.array(contact.normal), (contact.b1, contact.b2)[side]
            out = axes.T @ (n if side == 0 else -n)
            if contact.penetration_depth >= -self.most and _leads_out(self.surfaces[side], triangle, out):
                points = contact.getNearestPoint1(), contact.getNearestPoint2()
                features.append(Feature(*map(np.array, points), n, triangle))
            elif (deepest := self.deepest_below(side, triangle, poses)) is not None:
                features.append(deepest)
        return features

    def deepest_below(self, side: int, f: int, poses: tuple) -> Feature | None:
        """Return the point of the other shape that is deepest below a triangle; None if it is beside that."""
        surface, result = self.surfaces[side], coal.DistanceResult()
        normal, corners = surface.normals[f], surface.corners[surface.triangles[f]]
        request, pose = coal.DistanceRequest(), poses[side]
        request.enable_signed_distance = True
        plane = coal.Halfspace(normal, float(normal @ corners[0]))
        coal.distance(plane, pose, self.made[1 - side], poses[1 - side], request, result)
        x, y = np.array(result.getNearestPoint1()), np.array(result.getNearestPoint2())
        own = pose.getRotation().T @ (y - pose.getTranslation())
        if any(
            np.cross(corners[(k + 1) % 3] - corners[k], normal) @ (own - corners[k]) > 0.0 for k in range(3)
        ):
            return None
        n = pose.getRotation() @ normal
        return Feature(x, y, n, f) if side == 0 else Feature(y, x, -n, f)


def _leads_out(surface: Triangles, f: int, n: np.ndarray) -> bool:
    """Return whether a normal is one of triangle f, or of a side or corner that sticks out.

    Where it leans over a side, no other triangle beside this may rise towards it.
    """
    if n @ surface.normals[f] <= 0.0:
        return False
    for k in range(3):
        a, b, opposite = (surface.triangles[f, (k + i) % 3] for i in range(3))
        start, edge = surface.corners[a], surface.corners[b] - surface.corners[a]

        def rise(corner: int, start=start, edge=edge) -> float:
            """Return the sine of the slope along n from the side to a corner."""
            way = surface.corners[corner] - start
            way = way - (way @ edge) / (edge @ edge) * edge
            return float(way @ n) / max(float(np.linalg.norm(way)), 1e-300)

        e = surface.sides[f, k]
        others = surface.beside[surface.beside_start[e] : surface.beside_start[e + 1]]
        if rise(opposite) < -LEAN and any(rise(one) > LEAN for one in others if one != opposite):
            return False
    return True


def _spread(points: list) -> list:
    """Return at most eight points: the deepest, then those that are farthest from all before."""
    if len(points) <= MOST_POINTS:
        return points
    places = np.array([point for _, point, _, _ in points])
    chosen = [int(np.argmin([gap for *_, gap in points]))]
    apart = np.full(len(points), np.inf)
    while len(chosen) < MOST_POINTS:
        apart = np.minimum(apart, np.linalg.norm(places - places[chosen[-1]], axis=1))
        chosen.append(int(apart.argmax()))
    return [points[k] for k in chosen]


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
    surface = surface_of(shape)
    if surface is not None:
        made = coal.BVHModelOBBRSS()
        made.beginModel(len(surface.triangles), 3 * len(surface.triangles))
        for corners in surface.corners[surface.triangles]:
            made.addTriangle(*corners)
        made.endModel()
        made.computeLocalAABB()
        return made
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
