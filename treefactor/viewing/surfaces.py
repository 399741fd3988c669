"""Make triangles of the surfaces of shapes."""

from __future__ import annotations

import numpy as np

from ..exceptions import InvalidModelError
from ..model.geometry import SHAPES, Shape
from ..model.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere

SIDES = 24  # of a circle
SQUARE = 0.5 * np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])


def surface(shape: Shape, side: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return a surface of triangles, for pictures: corners of those of round shapes are on the surface.

    Parameters
    ----------
    shape : shape
        Plane, Sphere, Capsule, Cylinder, Box, Mesh, Cone, Ellipsoid or HeightField.
    side : float
        Length of the sides of the square that shows a plane, m.

    Returns
    -------
    corners : ndarray, shape (corners, 3)
        m, in the axes of the shape about its origin, as `constraints.shape_placements` places them.
    triangles : ndarray of int, shape (triangles, 3)
        Corners, counterclockwise from outside. A point has none.

    Raises
    ------
    InvalidModelError
        If this is not a shape.

    Examples
    --------
    >>> from treefactor.constraints import Box
    >>> from treefactor.viewing import surface
    >>> corners, triangles = surface(Box(0, [0.2, 0.4, 0.6]))
    >>> corners.shape, triangles.shape
    ((8, 3), (12, 3))
    """
    if not isinstance(shape, SHAPES):
        raise InvalidModelError(f"expected a shape, got {shape!r}")
    if isinstance(shape, Plane):
        return side * SQUARE, np.array([[0, 1, 2], [0, 2, 3]])
    if isinstance(shape, HeightField) or (isinstance(shape, Mesh) and shape.surface is not None):
        return np.array(shape.surface.corners), np.array(shape.surface.triangles, dtype=int)
    corners = np.array(shape.hull.corners) if isinstance(shape, Box | Mesh) else _round_corners(shape)
    return corners, _outward_triangles(corners)


def _round_corners(shape) -> np.ndarray:
    """Return points on the surface of a sphere, capsule, cylinder, cone or ellipsoid."""
    if isinstance(shape, Ellipsoid):
        return shape.radii * _round_corners(Sphere(0, radius=1.0))
    if not shape.radius:
        return np.zeros((0, 3))
    around = 2.0 * np.pi * np.arange(SIDES) / SIDES
    ring = np.column_stack([np.cos(around), np.sin(around), np.zeros(SIDES)])
    half = 0.5 * getattr(shape, "length", 0.0)
    if isinstance(shape, Cylinder):
        rings = [shape.radius * ring + [0.0, 0.0, z] for z in (-half, half)]
        return np.concatenate(rings)
    if isinstance(shape, Cone):
        return np.vstack([shape.radius * ring - [0.0, 0.0, half], [0.0, 0.0, half]])
    latitudes = np.pi * (np.arange(SIDES // 2 + 1) / (SIDES // 2) - 0.5)
    parts = [
        shape.radius * (np.cos(angle) * ring + [0.0, 0.0, np.sin(angle)]) + [0.0, 0.0, z]
        for angle in latitudes
        for z in sorted({-half, half} if isinstance(shape, Capsule) else {0.0})
        if not angle * z < 0.0
    ]
    return np.unique(np.concatenate(parts).round(12), axis=0)


def _outward_triangles(corners: np.ndarray) -> np.ndarray:
    """Return the triangles of a convex hull."""
    from scipy.spatial import ConvexHull

    if not len(corners):
        return np.zeros((0, 3), dtype=int)
    hull = ConvexHull(corners)
    a, b, c = (corners[hull.simplices[:, k]] for k in range(3))
    inward = (np.cross(b - a, c - a) * hull.equations[:, :3]).sum(axis=1) < 0.0
    return np.where(inward[:, None], hull.simplices[:, [0, 2, 1]], hull.simplices)
