"""Convert matrices between the dense, packed and lanes layouts of a tree."""

from __future__ import annotations

import numpy as np

from .._util.validation import as_float, as_real, check_choice, flatten, lane_count
from ..exceptions import ShapeError

LAYOUTS = ("dense", "packed", "lanes")


def pack(tree, H, layout: str, triangle: str, dtype) -> np.ndarray:
    """Return the packed rows of dense or sparse H, as packed rows or lanes; see `Tree.pack`."""
    check_choice("triangle", triangle, ("lower", "upper"))
    check_choice("layout", layout, LAYOUTS[1:])
    if hasattr(H, "tocsr"):
        from .sparse import packed_rows

        batch_of(tree, H, "dense")
        packed = as_real(packed_rows(tree, H, triangle == "upper"), "H", as_float(dtype))
    else:
        H = as_real(H, "H", as_float(dtype))
        batch_of(tree, H, "dense")
        read = (tree.rows, tree.columns) if triangle == "lower" else (tree.columns, tree.rows)
        packed = np.ascontiguousarray(H[(..., *read)])
    return packed if layout == "packed" else to_lanes(tree, packed)


def unpack(tree, packed, layout: str) -> np.ndarray:
    """Return dense symmetric matrices of packed rows or lanes; see `Tree.unpack`."""
    check_choice("layout", layout, LAYOUTS[1:])
    single = getattr(packed, "dtype", None) == np.float32
    packed = as_real(packed, "packed", np.float32 if single else np.float64)
    batch_of(tree, packed, layout)
    if layout == "lanes":
        packed = from_lanes(packed)
    H = np.zeros((*packed.shape[:-1], tree.n, tree.n), packed.dtype)
    H[..., tree.rows, tree.columns] = packed
    H[..., tree.columns, tree.rows] = packed
    return H


def to_lanes(tree, packed: np.ndarray) -> np.ndarray:
    """Return packed rows (..., nnz) as lanes (blocks, nnz, lanes), padded with identity matrices."""
    flat = flatten(packed, 1)
    lanes = lane_count(packed.dtype)
    blocks = -(-len(flat) // lanes)
    padded = np.zeros((blocks * lanes, tree.nnz), packed.dtype)
    padded[len(flat) :, tree.row_start[1:] - 1] = 1.0
    padded[: len(flat)] = flat
    return np.ascontiguousarray(padded.reshape(blocks, lanes, tree.nnz).swapaxes(1, 2))


def from_lanes(lanes: np.ndarray) -> np.ndarray:
    """Return lanes (blocks, nnz, lanes) as packed rows (blocks * lanes, nnz)."""
    return lanes.swapaxes(1, 2).reshape(lanes.shape[0] * lanes.shape[2], lanes.shape[1])


def batch_of(tree, H: np.ndarray, layout: str) -> tuple[int, ...]:
    """Return the leading axes of an array of matrices in one of LAYOUTS, or raise ShapeError."""
    n, nnz, lanes = tree.n, tree.nnz, lane_count(H.dtype)
    tail = (n, n) if layout == "dense" else (nnz,) if layout == "packed" else (nnz, lanes)
    lead = H.ndim - len(tail)
    if lead < 0 or H.shape[lead:] != tail or (layout == "lanes" and lead != 1):
        expected = ("blocks" if layout == "lanes" else "...", *tail)
        raise ShapeError(
            f"H must have shape ({', '.join(map(str, expected))}) in the {layout} layout of a tree of "
            f"{n} nodes, got {H.shape}",
            H.shape,
            expected,
        )
    return (H.shape[0] * lanes,) if layout == "lanes" else H.shape[:lead]


def pack_pair(tree, matrix) -> np.ndarray:
    """Return the packed entries of both triangles; see `Tree.pack_pair`."""
    matrix = as_real(matrix, "matrix")
    _require_tail(tree, matrix, (tree.n, tree.n), "matrix")
    left, above = _pair(tree)
    return np.concatenate([matrix[(..., *left)], matrix[(..., *above)]], axis=-1)


def unpack_pair(tree, packed, layout: str) -> np.ndarray:
    """Return dense matrices of packed entries of both triangles, or of lanes; see `Tree.unpack_pair`."""
    check_choice("layout", layout, LAYOUTS[1:])
    packed = as_real(packed, "packed")
    size, lanes = 2 * tree.nnz - tree.n, lane_count(packed.dtype)
    _require_tail(tree, packed, (size,) if layout == "packed" else (size, lanes), "packed")
    if layout == "lanes":
        packed = from_lanes(flatten(packed, 2))
    matrix = np.zeros((*packed.shape[:-1], tree.n, tree.n))
    left, above = _pair(tree)
    matrix[(..., *left)] = packed[..., : tree.nnz]
    matrix[(..., *above)] = packed[..., tree.nnz :]
    return matrix


def _pair(tree) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return rows and columns of the entries on and left of the diagonal, and of those above it."""
    rows, columns = tree.rows, tree.columns
    off = rows != columns
    return (rows, columns), (columns[off], rows[off])


def _require_tail(tree, array: np.ndarray, tail: tuple[int, ...], name: str) -> None:
    """Raise ShapeError unless the last axes of an array have a shape."""
    if array.shape[max(array.ndim - len(tail), 0) :] != tail:
        raise ShapeError(
            f"{name} must have shape (..., {', '.join(map(str, tail))}) for a tree of {tree.n} nodes, got "
            f"{array.shape}",
            array.shape,
            ("...", *tail),
        )
