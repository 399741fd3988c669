"""Drawings of trees and of the pattern of H; needs Matplotlib."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .exceptions import TreefactorError
from .tree import Tree

LABELLED = 60  # trees up to this size get their joints' names


def draw_tree(tree: Tree, title: str, file: Path) -> None:
    """Draw the tree beside the pattern of its H.

    Parameters
    ----------
    tree : Tree
    title : str
    file : path-like
        The ending chooses the format: png, pdf, svg ...

    Raises
    ------
    TreefactorError
        Where Matplotlib is missing or does not know the format.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise TreefactorError(f"plots need Matplotlib ({error}): pip install 'treefactor[plot]'") from None

    side = min(4 + 0.14 * tree.n, 14)
    figure = Figure(figsize=(2 * side, side), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_nodes(left, tree)
    left.set_title(title)
    size = max(1.0, 0.8 * 72 * side * 0.85 / max(tree.n, 1))
    right.scatter(tree.columns, tree.rows, s=size**2, marker="s", color="tab:blue", linewidths=0)
    above = tree.rows != tree.columns
    right.scatter(
        tree.rows[above], tree.columns[above], s=size**2, marker="s", color="lightsteelblue", linewidths=0
    )
    n = max(tree.n, 1)
    right.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
    right.set_title(f"H: {tree.nnz} entries in the lower triangle, density {tree.density:.2f}")
    try:
        figure.savefig(file, dpi=110)
    except ValueError:
        known = ", ".join(sorted(figure.canvas.get_supported_filetypes()))
        raise TreefactorError(
            f"no plot can be written as {file.suffix or 'a file without ending'}: {known}"
        ) from None


def _draw_nodes(axes, tree: Tree) -> None:
    """Nodes by depth, leaves side by side, every parent above the middle of its children."""
    x = leaf_positions(tree)
    for k, i in enumerate(tree.parent):
        if i >= 0:
            axes.plot([x[i], x[k]], [-tree.depth[i], -tree.depth[k]], color="grey", linewidth=1, zorder=1)
    axes.scatter(x, -tree.depth, s=30, color="tab:blue", zorder=2)
    if tree.n <= LABELLED:
        for k in range(tree.n):
            axes.annotate(
                f"{k} {tree.name(k) or ''}",
                (x[k], -tree.depth[k]),
                (5, 0),
                textcoords="offset points",
                fontsize=7,
            )
    axes.set_axis_off()
    axes.margins(x=0.2)


def leaf_positions(tree: Tree) -> np.ndarray:
    """Abscissa of every node: leaves at 0, 1, 2 ... depth first, parents at the middle of their children."""
    x = np.zeros(tree.n)
    children = np.bincount(tree.parent + 1, minlength=tree.n + 1)[1:]
    leaves = [k for k in tree.order if not children[k]]
    x[leaves] = np.arange(len(leaves))
    low, high = np.full(tree.n, np.inf), np.full(tree.n, -np.inf)
    for k in tree.order[::-1]:
        if children[k]:
            x[k] = (low[k] + high[k]) / 2
        i = tree.parent[k]
        if i >= 0:
            low[i], high[i] = min(low[i], x[k]), max(high[i], x[k])
    return x
