"""Differentiate points of shapes, by the features that touch: corners, edges, faces, rims and axes.

Every formula is that of the kernels in ``kernels/contacts``, which say which features touch; vectors are
duals in base axes. Where features change within rounding errors, derivatives are NaN.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InvalidModelError
from ..model.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from ._contact_derivatives import Touching, axes_along
from ._frame_derivatives import Dual, Frames, UnitMotions, cross, frames_of
from .contact_points import KINDS, Shape, shown

NUMBERED = 1 << 14  # corners, faces or edges, in the identities of the kernels
EDGES = 3  # the feature of a point of two edges
SINGLE, ALONG = 2, 3  # of one point of two axes or edges, and of the first of two points along an edge
UP = np.array([0.0, 0.0, 1.0])
NEAR = 1e-10  # relative to the coordinates of a face: closer points are the same but for rounding
ALIKE = 1e-14  # of the squares of lengths: the kernel takes two axes for parallel


class PlacedShape(NamedTuple):
    """Shape in one state: its origin, from the root of the first body of a pair, axes and their rotations."""

    shape: Any  # every formula knows its kind
    origin: Dual
    R: np.ndarray
    turn: np.ndarray

    def vector(self, x) -> Dual:
        """Return a vector of the shape's own axes."""
        value = self.R @ np.asarray(x, dtype=float)[:, None]
        return Dual(value, cross(self.turn, value))

    def point(self, x) -> Dual:
        """Return a point of the shape."""
        return self.origin.plus(self.vector(x))


class Segment(NamedTuple):
    """Points p + s d with s from 0 to 1, and a radius around them."""

    p: Dual
    d: Dual
    radius: float

    def at(self, s: Dual) -> Dual:
        """Return a point of the segment."""
        return self.p.plus(self.d.times(s))


class DualPoint(NamedTuple):
    """Normal from the first to the second shape, place halfway between both surfaces, and gap."""

    normal: Dual
    place: Dual
    gap: Dual


def touching_shapes(at, units: UnitMotions, contacts, touch, points: np.ndarray) -> tuple[Touching, Dual]:
    """Compute geometry and gaps (points, 1, columns) of some near points of shapes.

    Parameters
    ----------
    at : BodyMotions
    contacts : Contacts
    touch : Touch
    points : ndarray of int
        Among the near points of shapes.
    """
    first, of_shapes = len(touch.which) - len(touch.places), len(contacts.mu) - touch.identities.size
    near = first + points
    slots, numbers = touch.which[near] - of_shapes, contacts.owner[touch.which[near]]
    pairs, identities = slots // touch.identities.shape[1], touch.identities.ravel()[slots]
    bodies, poses = contacts.structs["body"][numbers], contacts.poses[pairs]
    ends = [
        frames_of(at, units, bodies[:, side], poses[:, side, :9].reshape(-1, 3, 3), poses[:, side, 9:])
        for side in range(2)
    ]
    apart = ends[1].apart - ends[0].apart
    second = Dual(ends[1].position.value + apart, ends[1].position.derivative)
    places = touch.places[points] - ends[0].apart[:, :, 0]
    known = []
    for k, (i, number, identity) in enumerate(zip(near, numbers, identities, strict=True)):
        shapes = contacts.pairs[pairs[k]]
        one, other = _placed(shapes[0], ends[0], ends[0].position, k), _placed(shapes[1], ends[1], second, k)
        known.append(
            _dual_point(one, other, places[k], touch.gap[i], touch.axes[i, 0], int(identity), int(number))
        )
    normal, place, gap = (
        Dual(*(np.stack(part) for part in zip(*duals, strict=True))) for duals in zip(*known, strict=True)
    )
    levers = place.minus(ends[0].position), place.minus(second)
    return Touching((ends[0], ends[1]), axes_along(normal), levers), gap


def _placed(shape: Shape, end: Frames, origin: Dual, k: int) -> PlacedShape:
    """Return a shape on the frame k, whose origins are given."""
    return PlacedShape(shape, Dual(origin.value[k], origin.derivative[k]), end.R[k], end.turn[k])


def _dual_point(first, second, place, gap, normal, identity: int, contact: int) -> DualPoint:
    """Return a point of two shapes; place, gap and normal are the values that the kernel found."""
    pair = first, second
    kinds = [KINDS.index(type(side.shape)) for side in pair]
    if kinds[0] > kinds[1]:  # as the kernels exchange them
        pair, normal = pair[::-1], -normal
    low, high = (type(side.shape) for side in pair)
    if not _has_derivatives(low, high, *(side.shape for side in pair)):
        one, other = (
            f"{type(side.shape).__name__} on body {shown(side.shape.body)}" for side in (second, first)
        )
        raise InvalidModelError(
            f"a step has no derivatives while contact {contact} acts, of a {one} with a {other}: spheres, "
            "capsules, boxes and convex meshes have them, and all shapes against planes"
        )
    if low is Plane:
        point = _above_plane(*pair, identity)
    elif high is Sphere or high is Capsule:
        point = _of_rounds(_axis(pair[0]), _axis(pair[1]), identity)
    elif low is Sphere or low is Capsule:
        point = _over_hull(*pair, place, gap, normal, identity)
    else:
        point = _of_hulls(*pair, place, gap, normal, identity)
    errors = point.gap.value.item() - gap, *(point.place.value[:, 0] - place)
    if np.abs(errors).max() > NEAR * (1.0 + np.abs(place).max()):  # other features than the kernel's touch
        point = DualPoint(*map(_without_derivative, point))
    return point if kinds[0] <= kinds[1] else DualPoint(point.normal.opposite(), *point[1:])


def _has_derivatives(low: type, high: type, *shapes: Shape) -> bool:
    """Return whether the points of a pair are known as functions of the poses."""
    return (low is Plane and high in (Cylinder, Cone, Ellipsoid)) or all(
        isinstance(shape, Plane | Sphere | Capsule | Box)
        or (isinstance(shape, Mesh) and shape.hull is not None)
        for shape in shapes
    )


def _halfway(normal: Dual, upper: Dual, gap: Dual) -> DualPoint:
    """Return a point of which the place on the shape that the normal leads to is known."""
    return DualPoint(normal, upper.minus(normal.times(gap.scaled(0.5))), gap)


def _above_plane(plane: PlacedShape, other: PlacedShape, identity: int) -> DualPoint:
    """Return a point of a shape against a plane."""
    normal = plane.vector(UP)
    lowest = _lowest(other, normal, identity)
    return _halfway(normal, lowest, lowest.minus(plane.origin).dot(normal))


def _lowest(other: PlacedShape, normal: Dual, identity: int) -> Dual:
    """Return the point of a shape that is against a plane."""
    shape = other.shape
    hull = shape.hull if isinstance(shape, Box | Mesh) else None
    if hull is not None:
        return other.point(hull.corners[identity])
    if isinstance(shape, Ellipsoid):
        return _lowest_of_ellipsoid(other, normal)
    if not isinstance(shape, Cylinder | Cone):
        height = 0.5 * getattr(shape, "length", 0.0) * (1 if identity else -1)
        return other.point(height * UP).minus(normal.scaled(shape.radius))
    rim, k = divmod(identity, 8)
    center, axis = (rim - 0.5) * shape.length * UP, other.vector(UP)
    if rim and isinstance(shape, Cone):  # its tip
        return other.point(center)
    if k < 4:  # fixed to the cylinder
        return other.point(center + shape.radius * np.eye(3)[k // 2] * (-1.0 if k % 2 else 1.0))
    across = normal.minus(axis.times(normal.dot(axis)))
    return other.point(center).minus(_unit(across).scaled(shape.radius))


def _lowest_of_ellipsoid(other: PlacedShape, normal: Dual) -> Dual:
    """Return the point with the opposite normal: p - A n / |sqrt(A) n|, A with the squares of the radii."""
    stretched, push = other.origin.scaled(0.0), other.origin.scaled(0.0)
    for radius, direction in zip(other.shape.radii, np.eye(3), strict=True):
        axis = other.vector(direction)
        part = axis.times(axis.dot(normal)).scaled(radius)
        stretched, push = stretched.plus(part), push.plus(part.scaled(radius))
    return other.origin.minus(push.over(stretched.dot(stretched.unit())))


def _axis(side: PlacedShape) -> Segment:
    """Return the axis of a sphere or capsule."""
    half = 0.5 * getattr(side.shape, "length", 0.0) * UP
    return Segment(side.point(-half), side.vector(2.0 * half), side.shape.radius)


def _of_rounds(a: Segment, b: Segment, identity: int) -> DualPoint:
    """Return the point between the axes of two spheres or capsules; of parallel ones, one end of two."""
    if identity < SINGLE:
        first, second = (x.minus(a.p).dot(a.d).over(a.d.dot(a.d)) for x in (b.p, b.p.plus(b.d)))
        ends = (first, second) if first.value < second.value else (second, first)
        s = _clamp(ends[identity])
        t = _closest_on(b, a.at(s))
    else:
        s, t = _closest(a, b)
    apart = b.at(t).minus(a.at(s))
    normal = _unit(apart)
    distance = apart.dot(normal)
    gap = Dual(distance.value - a.radius - b.radius, distance.derivative)
    return _halfway(normal, b.at(t).minus(normal.scaled(b.radius)), gap)


def _over_hull(rounded, other, place, gap, normal, identity: int) -> DualPoint:
    """Return the point of a sphere or capsule over a face of a hull, or against an edge or corner."""
    axis, hull, is_flat = _axis(rounded), other.shape.hull, identity < SINGLE
    out = -other.R.T @ normal
    foot = other.R.T @ (place - other.origin.value[:, 0]) - 0.5 * gap * out
    face = int(np.argmax(hull.normals @ out))
    if not (
        is_flat or (isinstance(rounded.shape, Sphere) and np.abs(hull.normals[face] - out).max() <= NEAR)
    ):
        starts, ends = (hull.corners[hull.edges[:, k]] for k in (0, 1))
        s = ((foot - starts) * (ends - starts)).sum(axis=1) / ((ends - starts) ** 2).sum(axis=1)
        beside = starts + np.clip(s, 0.0, 1.0)[:, None] * (ends - starts) - foot
        edge = _edge(other, int(np.argmin((beside**2).sum(axis=1))))
        if identity == SINGLE and gap + axis.radius < 0.0:  # the axis is inside
            inside = _of_edges(edge, axis, -normal)
            return DualPoint(inside.normal.opposite(), *inside[1:])
        return _of_rounds(axis, edge, identity - ALONG if identity >= ALONG else identity)
    sides = _sides(hull, face)
    near = sides.near(foot)
    s = _constant(0.0, axis.p)
    if axis.d.value.any():
        center = other.origin.value + other.R @ (foot + (gap + axis.radius) * out)[:, None]
        along = ((center - axis.p.value) * axis.d.value).sum() / (axis.d.value**2).sum()
        s = _constant(np.clip(along, 0.0, 1.0), axis.p)
    is_end = min(s.value.item(), 1.0 - s.value.item()) <= NEAR
    if len(near) == 1 and not is_end:
        plane, across = other.point(sides.corners[near[0]]), other.vector(sides.out[near[0]])
        s = plane.minus(axis.p).dot(across).over(axis.d.dot(across))
    elif len(near) or not is_end:
        s = _without_derivative(s)
    up, end = other.vector(hull.normals[face]), axis.at(s)
    distance = end.minus(other.point(hull.offsets[face] * hull.normals[face])).dot(up)
    gap = Dual(distance.value - axis.radius, distance.derivative)
    return _halfway(up.opposite(), end.minus(up.times(distance)), gap)


def _closest(a: Segment, b: Segment) -> tuple[Dual, Dual]:
    """Return where two segments are closest (Ericson, Real-Time Collision Detection, 5.1.9)."""
    r, zero = a.p.minus(b.p), _constant(0.0, a.p)
    aa, bb, ab = a.d.dot(a.d), b.d.dot(b.d), a.d.dot(b.d)
    if aa.value == 0.0:
        return zero, zero if bb.value == 0.0 else _closest_on(b, a.p)
    if bb.value == 0.0:
        return _closest_on(a, b.p), zero
    square = aa.times(bb).minus(ab.times(ab))
    s = zero
    if square.value > ALIKE * aa.value * bb.value:
        s = _clamp(ab.times(b.d.dot(r)).minus(a.d.dot(r).times(bb)).over(square))
    t = b.d.dot(a.at(s).minus(b.p)).over(bb)
    if 0.0 < t.value < 1.0:
        return s, t
    t = _clamp(t)
    return _closest_on(a, b.at(t)), t


def _closest_on(a: Segment, x: Dual) -> Dual:
    """Return where a segment is closest to a point."""
    return _clamp(x.minus(a.p).dot(a.d).over(a.d.dot(a.d)))


def _clamp(s: Dual) -> Dual:
    """Return s from 0 to 1; within rounding of an end, its derivative is NaN unless it stays there."""
    value, derivative = s.value.item(), s.derivative
    if min(abs(value), abs(value - 1.0)) < NEAR:
        derivative = np.full_like(derivative, np.nan if derivative.any() else 0.0)
    elif not 0.0 < value < 1.0:
        derivative = np.zeros_like(derivative)
    return Dual(np.clip(s.value, 0.0, 1.0), derivative)


def _of_hulls(first, second, place, gap, normal, identity: int) -> DualPoint:
    """Return a point of boxes or hulls: of two edges, or of the face of one and of what is over it."""
    rest, low = divmod(identity, NUMBERED)
    rest, high = divmod(rest, NUMBERED)
    rest, face = divmod(rest, NUMBERED)
    feature, side = divmod(rest, 2)
    if feature == EDGES:
        return _of_edges(_edge(first, low), _edge(second, high), normal)
    reference, other, sign = (first, second, 1.0) if side == 0 else (second, first, -1.0)
    out = reference.shape.hull.normals[face]
    local = reference.R.T @ (place - reference.origin.value[:, 0])
    normal = reference.vector(out)
    over = _over_face(reference, face, other, local - 0.5 * gap * out, local + 0.5 * gap * out)
    gap = over.minus(reference.point(out * reference.shape.hull.offsets[face])).dot(normal)
    point = _halfway(normal, over, gap)
    return point if sign > 0.0 else DualPoint(normal.opposite(), *point[1:])


def _edge(side: PlacedShape, number: int) -> Segment:
    """Return an edge of a hull."""
    corners = side.shape.hull.corners[side.shape.hull.edges[number, :2]]
    return Segment(side.point(corners[0]), side.vector(corners[1] - corners[0]), 0.0)


def _of_edges(a: Segment, b: Segment, normal: np.ndarray) -> DualPoint:
    """Return the point of an edge that is closest to another edge, or to an axis."""
    across = _unit(a.d.cross(b.d))
    if across.value[:, 0] @ normal < 0.0:
        across = across.opposite()
    s, _ = _closest(a, b)
    distance = b.p.minus(a.p).dot(across)
    gap = Dual(distance.value - b.radius, distance.derivative)
    return DualPoint(across, a.at(s).plus(across.times(gap.scaled(0.5))), gap)


class Sides(NamedTuple):
    """Corners of a face, and outward normals of its sides, which begin there."""

    corners: np.ndarray
    out: np.ndarray
    rounding: float

    def near(self, x: np.ndarray) -> np.ndarray:
        """Return the sides over which a point is."""
        return np.flatnonzero(np.abs(((x - self.corners) * self.out).sum(axis=1)) <= self.rounding)


def _sides(hull, face: int) -> Sides:
    """Return the sides of a face."""
    corners = hull.corners[hull.loop[hull.start[face] : hull.start[face + 1]]]
    out = np.cross(np.roll(corners, -1, axis=0) - corners, hull.normals[face])
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    return Sides(corners, out, NEAR * np.abs(corners).max())


def _over_face(reference, face: int, other, foot: np.ndarray, point: np.ndarray) -> Dual:
    """Return a corner of the clipped face of the other hull, whose value and foot on the face are known.

    Over the inside of the face it is a corner, over a side of it the crossing of an edge, and over a corner
    of it a point of the face that is clipped.
    """
    hull, own, sides = reference.shape.hull, other.shape.hull, _sides(reference.shape.hull, face)
    over = sides.near(foot)
    R = reference.R.T @ other.R
    corners = own.corners @ R.T + reference.R.T @ (other.origin.value - reference.origin.value)[:, 0]
    apart = np.linalg.norm(corners - point, axis=1)
    if apart.min() <= sides.rounding:
        corner = other.point(own.corners[np.argmin(apart)])
        return _without_derivative(corner) if len(over) else corner
    incident = _incident(own, corners, R, hull.normals[face])
    around = own.loop[own.start[incident] : own.start[incident + 1]]
    ahead = np.roll(around, -1)
    along = corners[ahead] - corners[around]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    beside = np.linalg.norm(np.cross(point - corners[around], along), axis=1)
    edge = int(np.argmin(beside))
    is_on_edge, inside = beside[edge] <= sides.rounding, other.point(own.corners[around[0]])
    if len(over) == 1 and is_on_edge:
        start = other.point(own.corners[around[edge]])
        way = other.vector(own.corners[ahead[edge]] - own.corners[around[edge]])
        return _where_plane_is(
            reference.point(sides.corners[over[0]]), reference.vector(sides.out[over[0]]), start, way
        )
    if len(over) == 2 and not is_on_edge:
        last = over[1] if over[1] == over[0] + 1 else over[0]  # the side that begins at the corner of both
        start, way = reference.point(sides.corners[last]), reference.vector(hull.normals[face])
        return _where_plane_is(inside, other.vector(own.normals[incident]), start, way)
    return _without_derivative(inside)


def _incident(hull, corners: np.ndarray, R: np.ndarray, normal: np.ndarray) -> int:
    """Return the face most opposed to the normal, at the corner of a placed hull that is deepest along it."""
    deepest = np.argmin(corners @ normal)
    faces = hull.edges[(hull.edges[:, :2] == deepest).any(axis=1), 2:].ravel()
    return int(faces[np.argmin(hull.normals[faces] @ (R.T @ normal))])


def _where_plane_is(plane: Dual, normal: Dual, start: Dual, way: Dual) -> Dual:
    """Return where a line from start meets a plane."""
    return start.plus(way.times(plane.minus(start).dot(normal).over(way.dot(normal))))


def _constant(value: float, other: Dual) -> Dual:
    """Return a constant scalar with as many derivatives as another dual."""
    return Dual(np.full((1, 1), value), np.zeros((1, other.derivative.shape[-1])))


def _unit(x: Dual) -> Dual:
    """Return the unit vector along x; where x vanishes, derivatives do not exist."""
    return x.unit() if x.dot(x).value > NEAR**2 else _without_derivative(x)


def _without_derivative(x: Dual) -> Dual:
    """Return a dual whose derivatives do not exist."""
    return Dual(x.value, np.full_like(x.derivative, np.nan))
