"""Compute convex hulls: corners, faces of any number of corners, and the edges between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from .._util.validation import ReadOnly
from ..exceptions import InvalidModelError
from ..tolerances import FLAT_FACE, THIN_HULL

MOST_CORNERS, MOST_NUMBERED = 200, 1 << 14  # of a face, and of a hull: those of kernels/contacts/shapes.h
SIGNS = np.array([[x, y, z] for z in (-1.0, 1.0) for y in (-1.0, 1.0) for x in (-1.0, 1.0)])
# corners of a box by the signs above, counterclockwise from outside: -x, x, -y, y, -z, z
BOX_FACES = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))


@dataclass(frozen=True, eq=False)
class Hull(ReadOnly):
    """Convex polytope; the corners of a face are counterclockwise, seen from outside.

    Attributes
    ----------
    corners : ndarray, shape (corners, 3)
    normals, offsets, areas : ndarray, shapes (faces, 3), (faces,), (faces,)
        Outward normals, their products with the points of the faces, and sizes of the faces, m^2.
    start, loop, side : ndarray of int
        Corners of face f are ``loop[start[f]:start[f + 1]]``; sides are the edges to the next corner.
    edges : ndarray of int, shape (edges, 4)
        Two corners and two faces.
    footing : ndarray of int, shape (faces, 4)
        Corners of the face that span a large area; the last two are equal for a triangle.
    """

    corners: np.ndarray
    normals: np.ndarray
    offsets: np.ndarray
    areas: np.ndarray
    start: np.ndarray
    loop: np.ndarray
    side: np.ndarray
    edges: np.ndarray
    footing: np.ndarray


def box_hull(half: np.ndarray) -> Hull:
    """Return the hull of a box with these half sides; its edges are in the order of the kernels."""
    corners, edges = SIGNS * half, []
    for axis in range(3):
        first, second = 1 << (axis + 1) % 3, 1 << (axis + 2) % 3
        edges += [(at, at | 1 << axis) for at in (0, first, second, first | second)]
    return _hull(corners, BOX_FACES, edges, np.kron(np.eye(3), [[-1.0], [1.0]]))


def convex_hull(points: np.ndarray) -> Hull:
    """Return the convex hull of points, or raise InvalidModelError if they enclose nothing."""
    from scipy.spatial import ConvexHull, QhullError

    size = np.ptp(points, axis=0).max(initial=0.0)
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False) if len(points) > 3 else [0.0, 0.0]
    if not size or len(spread) < 3 or spread[2] <= THIN_HULL * spread[0]:
        raise InvalidModelError(
            f"{len(points)} points in one plane enclose no volume: a hull needs four that are not"
        )
    try:
        found = ConvexHull(points)
    except QhullError as error:
        raise InvalidModelError(f"these points have no convex hull: {str(error).splitlines()[0]}") from None
    regions = _flat_regions(points, found, FLAT_FACE * size)
    loops, normals = [], []
    for region in regions:
        loop = _boundary(found.simplices[region])
        if loop is not None:
            loops.append(loop)
            normals.append(found.equations[region[0], :3])
    used, numbers = np.unique(np.concatenate(loops), return_inverse=True)
    parts = np.split(numbers, np.cumsum([len(loop) for loop in loops])[:-1])
    normals = np.array(normals)
    faces = [_turned(points[used], part, normal) for part, normal in zip(parts, normals, strict=True)]
    return _hull(points[used], faces, None, normals)


def _flat_regions(points: np.ndarray, found, tolerance: float) -> list[list[int]]:
    """Group the triangles of a hull by planes: neighbours of a large one that are in its plane."""
    corners = points[found.simplices]
    sizes = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    free, regions = np.ones(len(sizes), dtype=bool), []
    for seed in np.argsort(-sizes, kind="stable"):
        if not free[seed]:
            continue
        normal, offset = found.equations[seed, :3], found.equations[seed, 3]
        flat = free & (np.abs(corners @ normal + offset).max(axis=1) <= tolerance)
        flat &= (found.equations[:, :3] @ normal > 0.0) | (sizes <= tolerance * sizes.max())
        free[seed], region, waiting = False, [int(seed)], [seed]
        while waiting:
            for other in found.neighbors[waiting.pop()]:
                if flat[other] and free[other]:
                    free[other] = False
                    region.append(int(other))
                    waiting.append(other)
        regions.append(region)
    return regions


def _boundary(triangles: np.ndarray) -> list[int] | None:
    """Return the corners around a region of triangles in order; None if it is not one polygon."""
    count: dict[tuple[int, int], int] = {}
    for triangle in triangles.tolist():
        for pair in combinations(sorted(triangle), 2):
            count[pair] = count.get(pair, 0) + 1
    beside: dict[int, list[int]] = {}
    for (first, second), times in count.items():
        if times == 1:
            beside.setdefault(first, []).append(second)
            beside.setdefault(second, []).append(first)
    if any(len(others) != 2 for others in beside.values()):
        return None
    loop = [min(beside)]
    before = -1
    while True:
        here = loop[-1]
        onward = next(other for other in beside[here] if other != before)
        if onward == loop[0]:
            break
        before = here
        loop.append(onward)
    return loop if len(loop) == len(beside) else None


def _turned(corners: np.ndarray, loop: np.ndarray, normal: np.ndarray) -> list[int]:
    """Return a loop of corners in the direction that is counterclockwise about its normal."""
    x = corners[loop]
    area = np.cross(x[1:-1] - x[0], x[2:] - x[0]).sum(axis=0) @ normal
    return [int(k) for k in (loop if area > 0.0 else loop[::-1])]


def _hull(corners: np.ndarray, faces: Sequence, edges: Sequence | None, normals: np.ndarray) -> Hull:
    """Return a hull of faces that are loops of corners; edges in any order, by ascending corners."""
    beside: dict[tuple[int, int], list[int]] = {}
    for f, loop in enumerate(faces):
        for first, second in zip(loop, [*loop[1:], loop[0]], strict=True):
            beside.setdefault((min(first, second), max(first, second)), []).append(f)
    whole = all(len(two) == 2 for two in beside.values())
    if not whole or max(len(loop) for loop in faces) > MOST_CORNERS or len(beside) > MOST_NUMBERED:
        raise InvalidModelError(
            f"the convex hull of these points has {len(beside)} edges and faces of up to "
            f"{max(len(loop) for loop in faces)} corners, expected at most {MOST_NUMBERED} and "
            f"{MOST_CORNERS}: use fewer points"
            if whole
            else "these points are too close to each other for the faces of a convex hull: use fewer points"
        )
    edges = sorted(beside) if edges is None else edges
    number = {pair: e for e, pair in enumerate(edges)}
    side = [
        number[min(pair), max(pair)]
        for loop in faces
        for pair in zip(loop, [*loop[1:], loop[0]], strict=True)
    ]
    areas = [np.linalg.norm(_doubled_area(corners[list(loop)])) / 2.0 for loop in faces]
    return Hull(
        *(np.array(x, dtype=float) for x in (corners, normals)),
        (corners @ normals.T).max(axis=0),
        np.array(areas),
        np.array(np.cumsum([0, *map(len, faces)]), np.intc),
        np.array([corner for loop in faces for corner in loop], np.intc),
        np.array(side, np.intc),
        np.array([(*pair, *beside[pair]) for pair in edges], np.intc),
        np.array([_footing(corners, list(loop)) for loop in faces], np.intc),
    )


def _doubled_area(x: np.ndarray) -> np.ndarray:
    """Return twice the area of a polygon, as a vector along its normal."""
    return np.cross(x[1:-1] - x[0], x[2:] - x[0]).sum(axis=0)


def _footing(corners: np.ndarray, loop: list[int]) -> list[int]:
    """Return four corners of a face that span a large area, two of them equal for a triangle.

    The two that are farthest apart, and the farthest from their line on both sides.
    """
    x = corners[loop]
    apart = np.linalg.norm(x[:, None] - x, axis=2)
    first, second = sorted(divmod(int(apart.argmax()), len(loop)))
    beyond = np.cross(x - x[first], x[second] - x[first]) @ _doubled_area(x)
    left, right = int(beyond.argmax()), int(beyond.argmin())
    third, fourth = (k if k not in (first, second) else None for k in (left, right))
    third = fourth if third is None else third
    return [loop[k] for k in (first, second, third, third if fourth is None else fourth)]
