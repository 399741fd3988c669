"""Locate the results of generated functions: the slots of their entries, by layout, and their parts."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from .._util.validation import aligned, as_output
from ..tree.tree import Tree
from .backends._results import Results
from .program.names import ROUTINES
from .program.program import Function, Program

Part = tuple[slice, tuple[int, ...]]  # entries of the result, and their shape


def layouts_of(program: Program, function: Function, slot, sign, zero: int, dtype) -> dict[str, tuple]:
    """Return by layout the locations of the result of a function, and of its parts if it has several.

    Parameters
    ----------
    program : Program
    function : Function
    slot, sign : ndarray
        Of the entries that the function computes.
    zero : int
        Slot of a 0.
    dtype : numpy.dtype
        Of the results.

    Returns
    -------
    dict of str to (Results, list of (Results, Part))
    """
    shapes = program.shapes_of(function)
    layouts = {"dense": _split(slot, sign, shapes, dtype)}
    packed = ROUTINES[function.name].packed if function.name in ROUTINES else ()
    if packed:
        tree = Tree(program.parent)
        entry = np.concatenate(_entries(tree, packed)).ravel()  # 0: structural zero
        dense = np.append(zero, slot)[entry], np.append(1.0, sign)[entry]
        layouts = {
            "dense": _split(*dense, [(tree.n, tree.n)] * len(packed), dtype),
            "packed": layouts["dense"],
        }
    if len(packed) == 1:  # of arguments in rows
        layouts["lanes"] = Results(slot, sign, function.shape, True, dtype), []
    else:
        whole, parts = _split(slot, sign, shapes, dtype)
        layouts["lanes"] = Results(slot, sign, whole.shape, True, dtype, takes_lanes=True), parts
    return layouts


def _entries(tree: Tree, packed: tuple[str, ...]) -> list[np.ndarray]:
    """Return for every matrix where its entries are in the packed result, counted from 1."""
    below = tree.unpack(np.arange(1.0, tree.nnz + 1)).astype(int)
    pair, strict = below.copy(), tree.rows != tree.columns
    pair[tree.columns[strict], tree.rows[strict]] = np.arange(tree.nnz + 1, 2 * tree.nnz - tree.n + 1)
    matrices, first = [], 0
    for size in packed:
        A = below if size == "nnz" else pair
        matrices.append(np.where(A, A + first, 0))
        first += A.max(initial=0)
    return matrices


def _split(slot, sign, shapes, dtype) -> tuple[Results, list[tuple[Results, Part]]]:
    """Return the locations of a result, and those of its parts if it has several."""
    if len(shapes) == 1:
        return Results(slot, sign, shapes[0], dtype=dtype), []
    ends = np.cumsum([0, *map(math.prod, shapes)]).tolist()
    parts = [(slice(*at), shape) for at, shape in zip(pairwise(ends), shapes, strict=True)]
    whole = Results(slot, sign, (ends[-1],), dtype=dtype)
    return whole, [(Results(slot[at], sign[at], shape, dtype=dtype), (at, shape)) for at, shape in parts]


def result_array(out, shape: tuple[int, ...], flat: tuple[int, ...], arrays, dtype) -> np.ndarray:
    """Return an array of the flat shape: a view of out unless an argument overlaps it, or a new array."""
    if out is not None:
        view = as_output(out, shape, dtype).reshape(flat)
        apart = not any(np.may_share_memory(view, x) for x in arrays)
        if apart and view.flags.aligned and np.shares_memory(view, out):
            return view
    return aligned(flat, dtype) if len(flat) == 3 else np.empty(flat, dtype)  # layout "lanes", or vectors
