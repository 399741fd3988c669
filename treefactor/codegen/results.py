"""Locate the results of generated functions: the slots of their entries, by layout, and their parts."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from .._util.validation import aligned, as_output
from ..tree.tree import Tree
from .backends._results import Results
from .program.names import MATRICES
from .program.program import Function, Program

Part = tuple[slice, tuple[int, ...]]  # entries of the result, and their shape


def layouts_of(program: Program, function: Function, slot, sign, zero: int) -> dict[str, tuple]:
    """Return by layout the locations of the result of a function, and of its parts if it has several.

    Parameters
    ----------
    program : Program
    function : Function
    slot, sign : ndarray
        Of the entries that the function computes.
    zero : int
        Slot of a 0.

    Returns
    -------
    dict of str to (Results, list of (Results, Part))
    """
    shapes = program.shapes_of(function)
    layouts = {"dense": _split(slot, sign, shapes)}
    if function.name in MATRICES:
        tree = Tree(program.parent)
        entry = np.concatenate(_entries(tree, function.name)).ravel()  # 0: structural zero
        dense = np.append(zero, slot)[entry], np.append(1.0, sign)[entry]
        layouts = {
            "dense": _split(*dense, [(tree.n, tree.n)] * MATRICES[function.name]),
            "packed": layouts["dense"],
        }
    if function.name == "crba":
        layouts["lanes"] = Results(slot, sign, function.shape, True), []
    return layouts


def _entries(tree: Tree, name: str) -> list[np.ndarray]:
    """Return for every matrix of a function where its entries are in the packed result, counted from 1."""
    below = tree.unpack(np.arange(1.0, tree.nnz + 1)).astype(int)
    if name == "crba":
        return [below]
    pair, strict = below.copy(), tree.rows != tree.columns
    size = 2 * tree.nnz - tree.n
    pair[tree.columns[strict], tree.rows[strict]] = np.arange(tree.nnz + 1, size + 1)
    return [np.where(A, A + k * size, 0) for k, A in enumerate((pair, pair, below))]


def _split(slot, sign, shapes) -> tuple[Results, list[tuple[Results, Part]]]:
    """Return the locations of a result, and those of its parts if it has several."""
    if len(shapes) == 1:
        return Results(slot, sign, shapes[0]), []
    ends = np.cumsum([0, *map(math.prod, shapes)]).tolist()
    parts = [(slice(*at), shape) for at, shape in zip(pairwise(ends), shapes, strict=True)]
    whole = Results(slot, sign, (ends[-1],))
    return whole, [(Results(slot[at], sign[at], shape), (at, shape)) for at, shape in parts]


def result_array(out, shape: tuple[int, ...], flat: tuple[int, ...], arrays) -> np.ndarray:
    """Return an array of the flat shape: a view of out unless an argument overlaps it, or a new array."""
    if out is not None:
        view = as_output(out, shape).reshape(flat)
        apart = not any(np.may_share_memory(view, x) for x in arrays)
        if apart and view.flags.aligned and np.shares_memory(view, out):
            return view
    return aligned(flat) if len(flat) == 3 else np.empty(flat)  # layout "lanes", or vectors
