"""Compute the drawings of the HTML pages as plain numbers and paths."""

from __future__ import annotations

import re

import numpy as np

from ..papers.tables.table import Picture
from ..tree.tree import Tree

NAME_LENGTH = 40  # characters of a joint's name in a drawing
# height of a line, indentation and width of a character of the drawn tree, in pixels
LINE, INDENT, CHARACTER = 17, 16, 6.8
FREEDOM = re.compile(r"(.*)\[(\d{1,6})\]", re.DOTALL)  # as Tree.from_joints names them


def tree_drawing(tree: Tree) -> dict:
    """Lay the tree out as lines of text: a chain goes straight down, branches are indented.

    Freedoms of one joint share a line. Positions are in pixels.
    """
    # number of children of the base, then of every node
    children = np.bincount(tree.parent + 1, minlength=tree.n + 1)
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
