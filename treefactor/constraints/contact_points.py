"""Find the points at which two shapes touch, with identities that last while the same features do."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .._util.validation import as_real, as_size, require_finite
from ..exceptions import InvalidModelError, ShapeError
from ..model.shapes import Box, Capsule, Cylinder, Mesh, Plane, Sphere
from ._touching import Collider, can_touch, touching_points

Shape = Plane | Sphere | Capsule | Cylinder | Box | Mesh
KINDS = (Plane, Sphere, Capsule, Cylinder, Box, Mesh)  # in the order of the kernels
ORIGIN = np.zeros(3)


class ContactPoints(NamedTuple):
    """Points at which two shapes touch or nearly do.

    Attributes
    ----------
    points : ndarray, shape (points, 3)
        Halfway between both surfaces, m.
    normals : ndarray, shape (points, 3)
        Unit vectors from the first shape to the second.
    gaps : ndarray, shape (points,)
        Distance of both surfaces along the normal, m; negative where they overlap.
    identities : ndarray of int, shape (points,)
        Of the features that touch, such as a corner and a face; they stay while these touch.
    """

    points: np.ndarray
    normals: np.ndarray
    gaps: np.ndarray
    identities: np.ndarray


def contact_points(
    first: Shape, second: Shape, first_placement=None, second_placement=None, margin: float = 0.0
) -> ContactPoints:
    """Find the points at which two shapes touch, or are closer than a margin.

    Parameters
    ----------
    first, second : Plane, Sphere, Capsule, Cylinder, Box or Mesh
    first_placement, second_placement : array_like, shape (3, 4), optional
        Placements [R, p] of the frames of their bodies; by default both are at the origin.
    margin : float
        m; points with larger gaps are left out.

    Returns
    -------
    ContactPoints
        At most eight.

    Raises
    ------
    InvalidModelError
        For two planes.
    ValueError, ShapeError, NonFiniteError

    Notes
    -----
    The least gap is that of the shapes: the depth by which they overlap is the least motion that parts them.
    Boxes and meshes are compared along the normals of faces and of pairs of edges; the face that is most
    opposed to the best face is clipped by its sides. Where two faces are parallel within 3 mrad and both
    axes separate alike, within 0.5 ‰ of the smaller radius, the larger face is chosen, so that small
    moves do not change the points; so are flat ends and sides of cylinders against others.

    Examples
    --------
    >>> from treefactor.constraints import Box, Plane, contact_points
    >>> contact_points(Plane(), Box(0, [0.2, 0.4, 0.6], p=[0, 0, 0.29])).gaps.round(6)
    array([-0.01, -0.01, -0.01, -0.01])
    """
    kinds = _kind(first, "first"), _kind(second, "second")
    if not can_touch(*kinds):
        raise InvalidModelError(cannot_touch(first, second))
    pose = _pose(first, first_placement, "first_placement")
    second_pose = _pose(second, second_placement, "second_placement")
    points = touching_points(collider(first), pose, collider(second), second_pose, as_size(margin, "margin"))
    return ContactPoints(*(points[name].copy() for name in ("point", "normal", "gap", "identity")))


def cannot_touch(first: Shape, second: Shape) -> str:
    """Return why there are no points of two shapes."""
    return "two planes cannot touch: put a box on the body of one of them"


@lru_cache(maxsize=256)
def collider(shape: Shape) -> Collider:
    """Return a shape for the kernels, about its own origin; the last ones are kept."""
    radius, half_length = getattr(shape, "radius", 0.0), 0.5 * getattr(shape, "length", 0.0)
    half, center, extent = np.zeros(3), np.zeros(3), np.full(3, radius)
    hull: tuple[np.ndarray, ...] = ()
    size = radius + half_length
    if isinstance(shape, Cylinder):
        size = float(np.hypot(radius, half_length))
    extent[2] = half_length if isinstance(shape, Cylinder) else size
    if isinstance(shape, Box | Mesh):
        hull = tuple(np.ascontiguousarray(x) for x in vars(shape.hull).values())
        corners = hull[0]
        center = 0.5 * (corners.max(axis=0) + corners.min(axis=0))
        extent = corners.max(axis=0) - center
        size = np.linalg.norm(corners - center, axis=1).max()
    if isinstance(shape, Box):
        half = extent
    return Collider(KINDS.index(type(shape)), radius, half_length, half, center, extent, size, hull)


def placement_of(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Return axes and origin of a shape in the frame of its body; the normal of a plane is the third axis."""
    if isinstance(shape, Sphere):
        return np.eye(3), shape.center
    if not isinstance(shape, Plane):
        return shape.R, shape.p
    x, y, z = shape.normal
    sign = np.copysign(1.0, z)
    a, b = -1.0 / (sign + z), -x * y / (sign + z)
    axes = [[1.0 + sign * x * x * a, sign * b, -sign * x], [b, sign + y * y * a, -y], [x, y, z]]
    return np.array(axes).T, shape.point


def _kind(shape, name: str) -> int:
    """Return the kind of a shape for the kernels, or raise InvalidModelError."""
    if type(shape) not in KINDS:
        known = ", ".join(kind.__name__ for kind in KINDS)
        raise InvalidModelError(f"{name} must be one of {known}, got {shape!r}")
    return KINDS.index(type(shape))


def _pose(shape: Shape, placement, name: str) -> np.ndarray:
    """Return R by rows and p of a shape whose body is placed."""
    R, p = placement_of(shape)
    if placement is not None:
        frame = as_real(placement, name)
        if frame.shape != (3, 4):
            raise ShapeError(f"{name} must have shape (3, 4), got {frame.shape}", frame.shape, (3, 4))
        require_finite(frame, name)
        R, p = frame[:, :3] @ R, frame[:, :3] @ p + frame[:, 3]
    return np.concatenate([R.ravel(), p])
