"""Surfaces of triangles: edges, normals, neighbours, and a tree of boxes around the triangles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._util.validation import ReadOnly
from ..exceptions import InvalidModelError
from ..tolerances import THIN_TRIANGLE

SIDES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))  # corners of a side of a triangle, and the opposite one


@dataclass(frozen=True, eq=False)
class Triangles(ReadOnly):
    """Surface of triangles, solid behind them; corners are counterclockwise, seen from outside.

    Attributes
    ----------
    corners : ndarray, shape (corners, 3)
    triangles, sides : ndarray of int, shape (triangles, 3)
        Corners, and edges from these to the next ones; in the order of the leaves of the tree.
    normals : ndarray, shape (triangles, 3)
    edge_normals, corner_normals : ndarray, shapes (edges, 3) and (corners, 3)
        Sums of those of the triangles beside an edge, and around a corner, by their angles: a point whose
        closest point is there is outside where it is along this sum (Bærentzen and Aanæs, 2005).
    edge_borders, corner_borders : ndarray of int
        Whether an edge has one triangle, or a corner such an edge.
    beside_start, beside : ndarray of int
        Corners opposite to edge e are ``beside[beside_start[e]:beside_start[e + 1]]``.
    around_start, around : ndarray of int
        Corners that edges connect with a corner.
    bounds : ndarray, shape (2^(levels + 1) - 1, 6)
        Lower and upper corners of boxes: box k holds those 2 k + 1 and 2 k + 2. Node i of level m has the
        triangles from T i / 2^m to T (i + 1) / 2^m, rounded down, of all T.
    """

    corners: np.ndarray
    triangles: np.ndarray
    sides: np.ndarray
    normals: np.ndarray
    edge_normals: np.ndarray
    corner_normals: np.ndarray
    edge_borders: np.ndarray
    corner_borders: np.ndarray
    beside_start: np.ndarray
    beside: np.ndarray
    around_start: np.ndarray
    around: np.ndarray
    bounds: np.ndarray

    def __post_init__(self):
        self.__setstate__(dict(vars(self)))


def surface_of(points: np.ndarray, faces: np.ndarray) -> Triangles:
    """Return the surface of triangles with these corners; equal points are one corner."""
    corners, number = np.unique(points, axis=0, return_inverse=True)
    triangles = number.reshape(-1)[faces]
    across = np.cross(*(corners[triangles[:, k]] - corners[triangles[:, 0]] for k in (1, 2)))
    length = np.linalg.norm(across, axis=1)
    longest = max(
        np.square(corners[triangles[:, a]] - corners[triangles[:, b]]).sum(1).max() for a, b, _ in SIDES
    )
    has_area = length > THIN_TRIANGLE * longest
    if not has_area.any():
        raise InvalidModelError("these triangles have no area")
    kept = np.flatnonzero(has_area)[_once(triangles[has_area])]
    used, number = np.unique(triangles[kept], return_inverse=True)
    corners, triangles = corners[used], number.reshape(-1, 3)
    normals = across[kept] / length[kept, None]
    order, bounds = box_tree(corners[triangles])
    triangles, normals = triangles[order], normals[order]
    ends = np.stack([np.sort(triangles[:, [a, b]]) for a, b, _ in SIDES], axis=1).reshape(-1, 2)
    edges, side = np.unique(ends, axis=0, return_inverse=True)
    side = side.reshape(-1)
    count = np.bincount(side)
    edge_normals, corner_normals = np.zeros((len(edges), 3)), np.zeros((len(corners), 3))
    np.add.at(edge_normals, side, np.repeat(normals, 3, axis=0))
    for a, b, c in SIDES:
        u, w = (corners[triangles[:, k]] - corners[triangles[:, a]] for k in (b, c))
        angle = np.arctan2(np.linalg.norm(np.cross(u, w), axis=1), (u * w).sum(axis=1))
        np.add.at(corner_normals, triangles[:, a], angle[:, None] * normals)
    corner_borders = np.zeros(len(corners), np.intc)
    corner_borders[edges[count == 1]] = 1
    opposite = triangles[:, [c for _, _, c in SIDES]].reshape(-1)
    both = np.concatenate([edges, edges[:, ::-1]])
    return Triangles(
        corners,
        triangles.astype(np.intc),
        side.reshape(-1, 3).astype(np.intc),
        normals,
        edge_normals,
        corner_normals,
        (count == 1).astype(np.intc),
        corner_borders,
        *items_of(side, opposite, len(edges)),
        *items_of(both[:, 0], both[:, 1], len(corners)),
        bounds,
    )


def _once(triangles: np.ndarray) -> np.ndarray:
    """Return which triangles to keep, of several equal ones the first, or raise InvalidModelError."""
    turn = (triangles.argmin(axis=1)[:, None] + np.arange(3)) % 3
    _, kept = np.unique(np.take_along_axis(triangles, turn, axis=1), axis=0, return_index=True)
    if len(np.unique(np.sort(triangles[kept], axis=1), axis=0)) < len(kept):
        raise InvalidModelError(
            "two triangles with the same corners face opposite ways, as of a sheet that is drawn from both "
            "sides: leave out those of one side"
        )
    return np.sort(kept)


def items_of(owner: np.ndarray, item: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where the items of every owner begin, and all items, owner by owner."""
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=count))])
    return start.astype(np.intc), item[np.argsort(owner, kind="stable")].astype(np.intc)


def box_tree(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of items with points (T, k, 3), and the boxes of a tree that halves them."""
    count, middle = len(corners), corners.mean(axis=1)
    low, high, order, bounds = corners.min(axis=1), corners.max(axis=1), np.arange(len(corners)), []
    for level in range(max(1, count // 2).bit_length()):
        start = count * np.arange(2**level) >> level
        sizes = np.diff(np.append(start, count))
        ranges = [f.reduceat(x[order], start, axis=0) for f, x in ((np.minimum, low), (np.maximum, high))]
        bounds.append(np.hstack(ranges))
        axis = np.repeat((ranges[1] - ranges[0]).argmax(axis=1), sizes)
        node = np.repeat(np.arange(2**level), sizes)
        order = order[np.lexsort((middle[order, axis], node))]
    return order, np.concatenate(bounds)
