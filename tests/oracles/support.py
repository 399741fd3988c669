"""Measure how far convex shapes overlap by their support functions, from their definitions."""

import numpy as np

from treefactor.constraints import Box, Cone, Cylinder, Ellipsoid, Mesh, Plane, Sphere


def support(shape, n):
    """Return how far a shape reaches along directions n (k, 3), from its own origin in its own axes."""
    if isinstance(shape, Sphere):
        return np.full(len(n), shape.radius)
    if isinstance(shape, Box):
        return np.abs(n) @ (shape.size / 2)
    if isinstance(shape, Mesh):
        return (n @ shape.vertices.T).max(axis=1)
    if isinstance(shape, Ellipsoid):
        return np.linalg.norm(n * shape.radii, axis=1)
    if isinstance(shape, Cone):
        half, across = shape.length / 2, np.hypot(n[:, 0], n[:, 1])
        return np.maximum(n[:, 2] * half, shape.radius * across - n[:, 2] * half)
    along, across = np.abs(n[:, 2]) * shape.length / 2, np.hypot(n[:, 0], n[:, 1])
    return along + shape.radius * (across if isinstance(shape, Cylinder) else 1.0)


def surfaces(first, second, first_placement, second_placement, n):
    """Return where the first shape ends and the second begins along directions n (k, 3) of the world.

    A plane has one direction only. The largest difference is the signed distance where shapes overlap.
    """
    R1, p1, R2, p2 = (x for frame in (first_placement, second_placement) for x in (frame[:, :3], frame[:, 3]))
    if isinstance(first, Plane):
        n = np.tile(R1[:, 2], (len(n), 1))
    end = 0.0 if isinstance(first, Plane) else support(first, n @ R1)
    return n @ p1 + end, n @ p2 - support(second, -n @ R2)
