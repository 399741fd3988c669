"""Draw trees, the pattern of H and growing costs; needs Matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..bench.scaling import Growth
from ..exceptions import TreefactorError
from ..papers.tables.table import PaperRow
from ..tree.tree import Tree

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
        If Matplotlib is missing or does not know the format.
    """
    side = min(4 + 0.14 * tree.n, 14)
    figure, left, right = _two_panels(side)
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
    _save(figure, file)


def draw_growth(grown: Sequence[Growth], file: Path) -> None:
    """Draw exact operations and measured times against the size of the trees, one line for every family.

    Parameters
    ----------
    grown : sequence of Growth
    file : path-like
        The ending chooses the format.

    Raises
    ------
    TreefactorError
        As for `draw_tree`.

    Notes
    -----
    Shimanovsky, figure 4.
    """
    figure, left, right = _two_panels(6)
    for family in dict.fromkeys(entry.family for entry in grown):
        mine = [entry for entry in grown if entry.family == family]
        n = [entry.tree.n for entry in mine]
        left.plot(n, [entry.operations for entry in mine], marker="o", markersize=3, label=family)
        right.plot(n, [entry.seconds for entry in mine], marker="o", markersize=3, label=family)
    left.set(title="exact cost", ylabel="operations N1 + 2 N2")
    right.set(title="measured", ylabel="seconds of a factorization")
    _logarithmic(left, right)
    _save(figure, file)


def draw_curves(curves: Mapping[str, Mapping[int, PaperRow]], file: BinaryIO) -> None:
    """Draw counted operations on the paper's formulas, and times, as SVG with a transparent background.

    Parameters
    ----------
    curves : mapping
        Of every family or method, rows by n; where they were timed, against LAPACK, times are drawn, too.
    file : binary file

    Raises
    ------
    TreefactorError
        If Matplotlib is missing.

    Notes
    -----
    Shimanovsky, figure 4; the Kane-sum paper, figure 2.
    """
    figure, left, right = _two_panels(5)
    for family, rows in curves.items():
        n = list(rows)
        (line,) = left.plot(n, [row.paper for row in rows.values()], label=family)
        left.plot(n, [row.ours for row in rows.values()], "o", markersize=4, color=line.get_color())
    left.set(title="operations: formulas and, as dots, counts", ylabel="operations")
    _logarithmic(left)
    if all(row.timed for rows in curves.values() for row in rows.values()):
        _draw_times(right, curves)
    else:
        figure.delaxes(right)
        left.set_subplotspec(figure.add_gridspec(1, 1)[0])
        figure.set_size_inches(6, 5)
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})


def _draw_times(axes, curves: Mapping[str, Mapping[int, PaperRow]]) -> None:
    """Draw our times and LAPACK's against n."""
    for family, rows in curves.items():
        axes.plot(list(rows), [row.timed[0].ours for row in rows.values()], "o-", markersize=4, label=family)
    dense = {n: row.timed[-1].theirs for rows in curves.values() for n, row in rows.items()}
    axes.plot(*zip(*sorted(dense.items()), strict=True), "--", color="grey", label="LAPACK, dense")
    axes.set(title="measured", ylabel="seconds of a factorization")
    _logarithmic(axes)


def _logarithmic(*panels) -> None:
    """Set up logarithmic axes of a plot against n."""
    for axes in panels:
        axes.set(xscale="log", yscale="log", xlabel="nodes n")
        axes.grid(alpha=0.3)
        axes.legend(loc="upper left")


def _two_panels(side: float) -> tuple:
    """Return a figure with two square panels; side in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise TreefactorError(f"plots need Matplotlib ({error}): pip install 'treefactor[plot]'") from None
    figure = Figure(figsize=(2 * side, side), layout="constrained")
    return figure, *figure.subplots(1, 2)


def _save(figure, file: Path) -> None:
    """Write the figure in the format that the suffix names."""
    try:
        figure.savefig(file, dpi=110)
    except ValueError:
        known = ", ".join(sorted(figure.canvas.get_supported_filetypes()))
        raise TreefactorError(
            f"no plot can be written as {file.suffix or 'a file without ending'}: {known}"
        ) from None


def _draw_nodes(axes, tree: Tree) -> None:
    """Draw nodes by depth: leaves side by side, every parent above the middle of its children."""
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
    """Return the abscissas: leaves at 0, 1, 2 ... depth first, parents at the middle of their children."""
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
