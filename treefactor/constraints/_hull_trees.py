"""Order corners and edges of a hull into trees of boxes, which kernels search."""

from __future__ import annotations

import numpy as np

from ..model._hulls import Hull
from ..model._triangles import box_tree, items_of

LEAF = 2  # levels of the whole tree that are left out: leaves have four times as many items


def hull_trees(hull: Hull) -> tuple:
    """Return what searches need of a hull.

    Returns
    -------
    beside_start, beside : ndarray of int
        Edges at corner k are ``beside[beside_start[k]:beside_start[k + 1]]``.
    corners, corner_bounds : ndarray
        Corners in the order of the leaves, and least and largest coordinates in every node.
    edges, edge_bounds : ndarray
        The same of edges, by the normals of their faces.
    cosine : float
        Of half the largest angle between the normals at an edge.
    """
    ends, normals = hull.edges[:, :2].ravel(), hull.normals[hull.edges[:, 2:]]
    least = (normals[:, 0] * normals[:, 1]).sum(axis=1).min()
    return (
        *items_of(ends, np.repeat(np.arange(len(hull.edges)), 2), len(hull.corners)),
        *_tree(hull.corners[:, None]),
        *_tree(normals),
        float(np.sqrt(max(0.5 + 0.5 * least, 0.0))),
    )


def _tree(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of items, which have some points each, and the boxes of the upper levels."""
    order, bounds = box_tree(points)
    levels = max(1, len(bounds).bit_length() - LEAF)
    return order.astype(np.intc), np.ascontiguousarray(bounds[: 2**levels - 1])
