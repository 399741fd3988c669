"""Compute the drawings of the HTML page as plain numbers and paths, and the colours of errors."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ..papers.tables.table import Picture
from ..tree.tree import Tree

# log10 of an error and its colour: the worse, the darker, and no green as dark as a red
SCALE = (
    (-17, (223, 244, 235)),
    (-13, (160, 219, 185)),
    (-10, (214, 230, 140)),
    (-8, (243, 212, 88)),
    (-5, (238, 160, 60)),
    (-2, (208, 72, 45)),
    (0, (112, 8, 44)),
)
NO_NUMBER = (123, 79, 190)  # NaN
TICKS = (-16, -12, -8, -4, 0)  # decades written at the scale
LEVELS_PER_DECADE = 4  # of a heat map
PIXELS = 256  # rows and columns of a heat map at most
NAME_LENGTH = 40  # characters of a joint's name in a drawing
LINE, INDENT, CHARACTER = 17, 16, 6.8  # of the drawn tree, in pixels
FREEDOM = re.compile(r"(.*)\[(\d{1,6})\]", re.DOTALL)  # as Tree.from_joints names them


def colour(power: float) -> tuple[int, ...]:
    """Return the colour of the error 10**power."""
    powers, colours = zip(*SCALE, strict=True)
    return tuple(round(np.interp(power, powers, channel)) for channel in zip(*colours, strict=True))


def hex_colour(rgb: Sequence[int]) -> str:
    """Return the colour in CSS notation."""
    return "#" + bytes(rgb).hex()


def tree_drawing(tree: Tree) -> dict:
    """Lay the tree out as lines of text: a chain goes straight down, branches are indented.

    Freedoms of one joint share a line. Positions are in pixels.
    """
    children = np.bincount(tree.parent + 1, minlength=tree.n + 1)  # of the base, then of every node
    nodes = [{"x": INDENT / 2, "y": LINE / 2, "number": "", "name": "base", "label": "base"}]
    lines, at = [], {-1: nodes[0]}
    for run in _joints(tree, children):
        first, last = run[0], run[-1]
        number, name = str(first), tree.name(first) or ""
        if last > first:
            number, name = f"{first}–{last}", FREEDOM.fullmatch(name)[1]
        i = int(tree.parent[first])
        x, y = at[i]["x"] + INDENT * (children[i + 1] > 1), len(nodes) * LINE + LINE / 2
        at[last] = {"x": x, "y": y, "number": number, "name": name, "label": _short(name)}
        nodes.append(at[last])
        bend = f"V{y - 6:g}q0 6 6 6H{x:g}" if x > at[i]["x"] else f"V{y:g}"
        lines.append(f"M{at[i]['x']:g} {at[i]['y']:g}{bend}")
    width = max(node["x"] + CHARACTER * len(node["number"] + node["label"]) for node in nodes) + 2 * INDENT
    return {"nodes": nodes, "lines": "".join(lines), "width": round(width), "height": len(nodes) * LINE}


def _joints(tree: Tree, children: np.ndarray) -> list[list[int]]:
    """Group the freedoms by joint, depth first."""
    runs: list[list[int]] = []
    for k in map(int, tree.order):
        only_child = k > 0 and tree.parent[k] == k - 1 and children[k] == 1
        above = FREEDOM.fullmatch(tree.name(k - 1) or "") if only_child else None
        if above and tree.name(k) == f"{above[1]}[{int(above[2]) + 1}]":
            runs[-1].append(k)
        else:
            runs.append([k])
    return runs


def _short(name: str) -> str:
    """Return a long name without its middle."""
    half = NAME_LENGTH // 2
    return name if len(name) <= NAME_LENGTH else f"{name[:half]}…{name[-half + 1 :]}"


def pattern(tree: Tree) -> dict:
    """Return SVG paths of the non-zeros of H, in units of one entry: lower triangle and mirror image."""
    mask = tree.mask()
    return {"lower": _runs(np.tril(mask)), "upper": _runs(np.triu(mask, 1)), "frame": _frame(tree)}


def _frame(tree: Tree) -> dict:
    """Return the size of a drawn matrix, and the rows that get their number."""
    return {"n": tree.n, "ticks": range(0, tree.n, max(1, 5 * -(-tree.n // 40)))}


def _runs(mask: np.ndarray) -> str:
    """Return an SVG path with one rectangle for every horizontal run of true entries."""
    step = np.diff(mask.astype(np.int8), axis=1, prepend=0, append=0)
    starts, ends = np.argwhere(step == 1), np.argwhere(step == -1)
    return "".join(
        f"M{left} {row}h{right - left}v1h{left - right}z"
        for (row, left), (_, right) in zip(starts, ends, strict=True)
    )


def picture(drawn: Picture) -> dict:
    """Return SVG paths, circles and lines of a picture."""
    return {
        "title": drawn.title,
        "size": drawn.size,
        "paths": {style: _runs(mask) for style, mask in drawn.cells.items()},
        "discs": [(style, *map(float, disc)) for style, discs in drawn.discs.items() for disc in discs],
        "lines": [tuple(map(float, line)) for line in drawn.lines],
    }


def heat_map(delta: np.ndarray, tree: Tree) -> dict:
    """Return a heat map of a matrix of errors as one SVG path for each colour, and its largest entry."""
    delta, low = np.asarray(delta, dtype=float), SCALE[0][0]
    levels = (SCALE[-1][0] - low) * LEVELS_PER_DECADE + 1
    with np.errstate(divide="ignore"):
        position = np.rint((np.log10(delta) - low) * LEVELS_PER_DECADE)
    code = np.where(np.isnan(delta), levels, np.clip(position, 0, levels - 1)) + 1
    code[~tree.mask() & (delta == 0)] = 0  # transparent
    cells = _reduced(code)
    colours = [(0, 0, 0), *(colour(low + level / LEVELS_PER_DECADE) for level in range(levels)), NO_NUMBER]
    largest = np.where(np.isnan(delta), np.inf, delta)
    row, column = (int(p) for p in np.unravel_index(np.argmax(largest), delta.shape))
    return {
        "cells": [(hex_colour(colours[int(k)]), _runs(cells == k)) for k in np.unique(cells) if k],
        "scale": 100 / len(cells),
        "largest": float(delta[row, column]),
        "at": {k: tree.name(k) or "" for k in (row, column)},
        "position": f"({row}, {column})",
        "frame": _frame(tree),
    }


def _reduced(code: np.ndarray) -> np.ndarray:
    """Return at most PIXELS rows and columns; blocks of entries are reduced to the worst."""
    first = np.arange(0, len(code), -(-len(code) // PIXELS))
    return np.maximum.reduceat(np.maximum.reduceat(code, first, axis=0), first, axis=1)
