"""Find the points at which two shapes touch, with identities that last while the same features do."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from .._util.messages import COAL
from .._util.validation import as_real, as_size, require_finite
from ..exceptions import AdapterError, InvalidModelError, ShapeError
from ..model._triangles import Triangles
from ..model.frames import Frame
from ..model.geometry import SHAPES as KINDS
from ..model.geometry import Shape
from ..model.shapes import Box, Cone, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere
from ._hull_trees import hull_trees
from ._touching import Collider, can_touch, touching_points


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
    first, second : shapes
        Plane, Sphere, Capsule, Cylinder, Box, Mesh, Cone, Ellipsoid or HeightField.
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
        For two planes, two surfaces, or a plane and a surface.
    AdapterError
        If the pair needs coal, which is not installed; names the extra.
    ValueError, ShapeError, NonFiniteError

    Notes
    -----
    The least gap is that of the shapes: the depth by which they overlap is the least motion that parts them.
    Boxes and meshes are compared along the normals of faces and of pairs of edges; the face that is most
    opposed to the best face is clipped by its sides. Where two faces are parallel within 3 mrad and both
    axes separate alike, within 0.5 ‰ of the smaller radius, the larger face is chosen, so that small
    moves do not change the points; so are flat ends and sides of cylinders against others.

    Height fields and meshes with ``convex=False`` are surfaces: each point of them that is locally closest to
    the axis of a sphere or capsule is one, so that inner edges of flat parts make none.

    Compiled code finds the points of all pairs of planes, spheres, capsules, cylinders, boxes and meshes, of
    cones and ellipsoids against planes, and of spheres and capsules against surfaces. The other pairs need
    coal, from the extra ``collision``: their gaps are within 1e-5 m, or 2 ‰ of a deep overlap, and their
    normals within some mrad.

    Examples
    --------
    >>> from treefactor.constraints import Box, Plane, contact_points
    >>> contact_points(Plane(), Box(0, [0.2, 0.4, 0.6], p=[0, 0, 0.29])).gaps.round(6)
    array([-0.01, -0.01, -0.01, -0.01])
    """
    for name, shape in (("first", first), ("second", second)):
        if type(shape) not in KINDS:
            known = ", ".join(kind.__name__ for kind in KINDS)
            raise InvalidModelError(f"{name} must be one of {known}, got {shape!r}")
    require_points(first, second)
    pose = _pose(first, first_placement, "first_placement")
    second_pose = _pose(second, second_placement, "second_placement")
    margin, finder = as_size(margin, "margin"), slow_finder(first, second)
    if finder is None:
        points = touching_points(collider(first), pose, collider(second), second_pose, margin)
    else:
        points = finder(pose, second_pose, margin)
    return ContactPoints(*(points[name].copy() for name in ("point", "normal", "gap", "identity")))


def require_points(first: Shape, second: Shape, names: tuple[str, str] | None = None) -> None:
    """Raise InvalidModelError or AdapterError if points of two shapes cannot be found; names are theirs."""
    where = f"shapes {names[0]!r} and {names[1]!r}: " if names else ""
    if isinstance(first, Plane) and isinstance(second, Plane):
        raise InvalidModelError(f"{where}two planes cannot touch: put a box on the body of one of them")
    if all(isinstance(shape, Plane) or surface_of(shape) for shape in (first, second)):
        kinds = " and a ".join(type(shape).__name__.lower() for shape in (first, second))
        raise InvalidModelError(f"{where}a {kinds} cannot touch: surfaces touch solid shapes")
    if has_kernel(first, second) or find_spec("coal"):
        return
    first_name, second_name = names or (f"on body {shown(shape.body)}" for shape in (first, second))
    texts = [
        f"{type(shape).__name__.lower()} {repr(name) if names else name}"
        for shape, name in ((first, first_name), (second, second_name))
    ]
    raise AdapterError(f"{texts[0]} against {texts[1]} needs coal: {COAL}", "coal")


def has_kernel(first: Shape, second: Shape) -> bool:
    """Return whether compiled code finds the points of two shapes; coal finds those of others."""
    return can_touch(kind_of(first), kind_of(second))


def surface_of(shape: Shape) -> Triangles | None:
    """Return the triangles of a height field or of a mesh that is a surface; None for other shapes."""
    return shape.surface if isinstance(shape, Mesh | HeightField) else None


def kind_of(shape: Shape) -> int:
    """Return the kind of a shape in the kernels; all surfaces are of one."""
    return KINDS.index(HeightField if surface_of(shape) is not None else type(shape))


def slow_finder(first: Shape, second: Shape) -> Callable | None:
    """Return the function by which coal finds the points of two shapes; None if they have a kernel."""
    if has_kernel(first, second):
        return None
    return import_module("treefactor.adapters._coal").CoalPair(first, second)


def shown(body: int | str | Frame) -> str:
    """Return the text for a body in messages."""
    return repr(body.name if isinstance(body, Frame) else body)


@lru_cache(maxsize=256)
def collider(shape: Shape) -> Collider:
    """Return a shape for the kernels, about its own origin; the last ones are kept."""
    radius, half_length = getattr(shape, "radius", 0.0), 0.5 * getattr(shape, "length", 0.0)
    half, center, extent = np.zeros(3), np.zeros(3), np.full(3, radius)
    hull: tuple[np.ndarray, ...] = ()
    trees: tuple = ()
    surface: tuple[np.ndarray, ...] = ()
    size = radius + half_length
    if isinstance(shape, Cylinder | Cone):
        size = float(np.hypot(radius, half_length))
    extent[2] = half_length if isinstance(shape, Cylinder | Cone) else size
    if isinstance(shape, Box | Mesh) and shape.hull is not None:
        hull = tuple(np.ascontiguousarray(x) for x in vars(shape.hull).values())
        trees = hull_trees(shape.hull)
    triangles = surface_of(shape)
    if triangles is not None:
        surface = tuple(np.ascontiguousarray(x) for x in vars(triangles).values())
    if hull or surface:
        corners = (hull or surface)[0]
        center = 0.5 * (corners.max(axis=0) + corners.min(axis=0))
        extent = corners.max(axis=0) - center
        size = np.linalg.norm(corners - center, axis=1).max()
    if isinstance(shape, Ellipsoid):
        extent, size = shape.radii, float(shape.radii.max())
    if isinstance(shape, Box | Ellipsoid):
        half = extent
    return Collider(kind_of(shape), radius, half_length, half, center, extent, size, hull, trees, surface)


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
