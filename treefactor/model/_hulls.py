"""Compute convex hulls: corners, faces of any number of corners, and the edges between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from .._util.validation import ReadOnly
from ..exceptions import InvalidModelError
from ..tolerances import FLAT_FACE, THIN_HULL

MOST_CORNERS, MOST_NUMBERED = 200, 1 << 14  # of a face, and of a hull: those of kernels/contacts/shapes.h
DIRECTIONS = 5000  # in which a hull with too many edges keeps its corners: three edges each fit into the most
TRIANGLE = 3  # corners
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

    def __post_init__(self):
        self.__setstate__(dict(vars(self)))


def box_hull(half: np.ndarray) -> Hull:
    """Return the hull of a box with these half sides; its edges are in the order of the kernels."""
    corners, edges = SIGNS * half, []
    for axis in range(3):
        first, second = 1 << (axis + 1) % 3, 1 << (axis + 2) % 3
        edges += [(at, at | 1 << axis) for at in (0, first, second, first | second)]
    areas = np.repeat(4.0 * half[[1, 2, 0]] * half[[2, 0, 1]], 2).tolist()
    return _hull(corners, BOX_FACES, edges, np.kron(np.eye(3), [[-1.0], [1.0]]), areas)


def convex_hull(points: np.ndarray) -> Hull:
    """Return the convex hull of points, or raise InvalidModelError if they enclose nothing."""
    return _convex_hull(np.ascontiguousarray(points).tobytes())


@lru_cache(maxsize=64)
def _convex_hull(coordinates: bytes) -> Hull:
    """Compute a hull; the last ones are kept, as a robot has some meshes several times."""
    from scipy.spatial import ConvexHull, QhullError

    points = np.frombuffer(coordinates).reshape(-1, 3)
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False) if len(points) > 3 else np.zeros(3)
    if spread[2] <= THIN_HULL * spread[0]:
        raise InvalidModelError(
            f"{len(points)} points in one plane enclose no volume: a hull needs four that are not, so give a "
            "flat part a thickness, or take a box"
        )
    try:
        hull = ConvexHull(points)
    except QhullError as error:
        raise InvalidModelError(f"these points have no convex hull: {str(error).splitlines()[0]}") from None
    corners = points[hull.simplices]
    areas = 0.5 * _cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    is_clockwise = (areas * hull.equations[:, :3]).sum(axis=1) < 0.0
    triangles = np.where(is_clockwise[:, None], hull.simplices[:, ::-1], hull.simplices).tolist()
    sizes = np.linalg.norm(areas, axis=1)
    regions = _flat_regions(corners, sizes, hull, FLAT_FACE * np.ptp(points, axis=0).max())
    faces = {region[0]: _boundary([triangles[k] for k in region]) for region in regions}
    loops = {seed: loop for seed, loop in faces.items() if loop}
    wide = [loop for loop in loops.values() if len(loop) > MOST_CORNERS]
    if wide:
        least = np.concatenate([_flattest(points, loop) for loop in wide])
        return convex_hull(np.delete(points, least, axis=0))
    if sum(map(len, loops.values())) > 2 * MOST_NUMBERED:  # twice the edges
        return convex_hull(points[_outermost(points)])
    used, numbers = np.unique(np.concatenate(list(loops.values())), return_inverse=True)
    ends, order = np.cumsum([0, *map(len, loops.values())]).tolist(), numbers.tolist()
    parts = [order[start:end] for start, end in pairwise(ends)]
    totals = [sizes[region].sum() for region in regions if region[0] in loops]
    return _hull(points[used], parts, None, hull.equations[[*loops], :3], totals)


def _flat_regions(corners: np.ndarray, sizes: np.ndarray, hull, tolerance: float) -> list[list[int]]:
    """Group the triangles of a hull by planes, from large ones to their neighbours in the same plane."""
    triangles, planes, neighbors = corners.tolist(), hull.equations.tolist(), hull.neighbors.tolist()
    free, regions = [True] * len(triangles), []
    for seed in np.argsort(-sizes, kind="stable").tolist():
        if not free[seed]:
            continue
        a, b, c, offset = planes[seed]
        free[seed], region, waiting = False, [seed], [seed]
        while waiting:
            for other in neighbors[waiting.pop()]:
                x, y, z, _ = planes[other]
                if (
                    free[other]
                    and a * x + b * y + c * z > 0.0
                    and all(abs(a * p + b * q + c * r + offset) <= tolerance for p, q, r in triangles[other])
                ):
                    free[other] = False
                    region.append(other)
                    waiting.append(other)
        regions.append(region)
    return regions


def _boundary(triangles: list[list[int]]) -> list[int] | None:
    """Return the corners around a region of triangles in their direction; None if it is not one polygon."""
    if len(triangles) == 1:
        return triangles[0]
    sides = {(x[k - 1], x[k]) for x in triangles for k in range(TRIANGLE)}
    onward = dict(side for side in sides if side[::-1] not in sides)
    loop = [min(onward)] if onward else []
    while loop and onward[loop[-1]] != loop[0]:
        loop.append(onward[loop[-1]])
        if len(loop) > len(onward) or loop[-1] not in onward:
            return None
    return loop if loop and len(loop) == len(onward) else None


def _flattest(points: np.ndarray, loop: list[int]) -> np.ndarray:
    """Return the corners beyond the most of a face, no two of them neighbours, that stick out least."""
    x, excess = points[loop], len(loop) - MOST_CORNERS
    before, along = np.roll(x, 1, axis=0), np.roll(x, -1, axis=0) - np.roll(x, 1, axis=0)
    height = np.linalg.norm(_cross(x - before, along), axis=1) / np.linalg.norm(along, axis=1)
    is_out = np.zeros(len(loop), dtype=bool)
    for k in np.argsort(height, kind="stable").tolist():
        if not (is_out[k - 1] or is_out[(k + 1) % len(loop)]) and is_out.sum() < excess:
            is_out[k] = True
    return np.array(loop)[is_out]


def _outermost(points: np.ndarray) -> np.ndarray:
    """Return the points that are farthest out in one of many directions, which a spiral spreads evenly."""
    k = np.arange(DIRECTIONS) + 0.5
    z, angle = 1.0 - 2.0 * k / DIRECTIONS, np.pi * (1.0 + np.sqrt(5.0)) * k
    across = np.sqrt(1.0 - z * z)
    directions = np.column_stack([across * np.cos(angle), across * np.sin(angle), z])
    parts = np.array_split(directions / np.ptp(points, axis=0), DIRECTIONS // 100)
    return np.unique(np.concatenate([(points @ part.T).argmax(axis=0) for part in parts]))


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a × b along the last axis."""
    return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]


def _hull(
    corners: np.ndarray, faces: Sequence, edges: Sequence | None, normals: np.ndarray, areas: Sequence[float]
) -> Hull:
    """Return a hull of faces that are loops of corners; edges in any order, by ascending corners."""
    beside: dict[tuple[int, int], list[int]] = {}
    for f, loop in enumerate(faces):
        for first, second in zip(loop, [*loop[1:], loop[0]], strict=True):
            beside.setdefault((min(first, second), max(first, second)), []).append(f)
    if any(len(two) != 2 for two in beside.values()):
        raise InvalidModelError(
            "these points are too close to each other for the faces of a convex hull: use fewer points"
        )
    edges = sorted(beside) if edges is None else edges
    number = {pair: e for e, pair in enumerate(edges)}
    side = [
        number[min(pair), max(pair)]
        for loop in faces
        for pair in zip(loop, [*loop[1:], loop[0]], strict=True)
    ]
    counts, loop = [len(face) for face in faces], np.array([corner for face in faces for corner in face])
    start = np.cumsum([0, *counts])
    heights = (corners[loop] * np.repeat(normals, counts, axis=0)).sum(axis=1)
    return Hull(
        *(np.array(x, dtype=float) for x in (corners, normals)),
        np.maximum.reduceat(heights, start[:-1]),
        np.array(areas),
        start.astype(np.intc),
        loop.astype(np.intc),
        np.array(side, np.intc),
        np.array([(*pair, *beside[pair]) for pair in edges], np.intc),
        np.array(
            [_footing(corners, list(loop), normal) for loop, normal in zip(faces, normals, strict=True)],
            np.intc,
        ),
    )


def _footing(corners: np.ndarray, loop: list[int], normal: np.ndarray) -> list[int]:
    """Return four corners of a face that span a large area, two of them equal for a triangle.

    The two that are farthest apart, and the farthest from their line on both sides.
    """
    if len(loop) == TRIANGLE:
        return [*loop, loop[-1]]
    x = corners[loop]
    apart = np.linalg.norm(x[:, None] - x, axis=2)
    first, second = sorted(divmod(int(apart.argmax()), len(loop)))
    beyond = _cross(x - x[first], x[second] - x[first]) @ normal
    left, right = int(beyond.argmax()), int(beyond.argmin())
    third, fourth = (k if k not in (first, second) else None for k in (left, right))
    third = fourth if third is None else third
    return [loop[k] for k in (first, second, third, third if fourth is None else fourth)]
