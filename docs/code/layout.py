"""Draw the packed layout: a tree, the pattern of its H, and the rows in memory."""

from html import escape

from treefactor import Tree
from treefactor.report.plots import leaf_positions

CELL = 26
COLOURS = ("#33659c", "#b5651d", "#2f7d4f", "#8e3b8e", "#a3122f", "#5f6b13", "#00707f", "#6a4fb3")
LEGIBLE = "#fff"


def draw(tree: Tree) -> str:
    """Make three drawings, side by side where the window is wide enough."""
    return (
        '<div class="drawings layout">'
        f"{figure(*_tree(tree), 'the tree: every node in its own colour')}"
        f"{figure(*_pattern(tree), 'H: column i has the colour of node i')}"
        f"</div>{figure(*_rows(tree), 'packed rows in memory: ancestors root first, diagonal last')}"
    )


def figure(body: str, width: float, height: float, caption: str) -> str:
    """Make an SVG of that size with a caption."""
    return (
        f'<figure><svg width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'role="img" aria-label="{escape(caption)}">{body}</svg>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _tree(tree: Tree) -> tuple[str, float, float]:
    """Draw nodes by depth, parents above the middle of their children."""
    x, y = (leaf_positions(tree) + 0.6) * 2 * CELL, (tree.depth + 0.6) * 1.7 * CELL
    lines = "".join(
        f'<line x1="{x[i]}" y1="{y[i]}" x2="{x[k]}" y2="{y[k]}" stroke="var(--soft)" stroke-width="1.5"/>'
        for k, i in enumerate(tree.parent)
        if i >= 0
    )
    nodes = "".join(
        f'<circle cx="{x[k]}" cy="{y[k]}" r="{CELL * 0.45}" fill="{_colour(k)}"/>{_text(x[k], y[k], k)}'
        for k in range(tree.n)
    )
    return lines + nodes, x.max() + CELL, y.max() + CELL


def _pattern(tree: Tree) -> tuple[str, float, float]:
    """Draw the lower triangle; entries that are never stored are dots."""
    mask, body = tree.mask(), ""
    for k in range(tree.n):
        for i in range(k + 1):
            x, y = (i + 0.5) * CELL, (k + 0.5) * CELL
            body += (
                _entry(x, y, k, i)
                if mask[k, i]
                else f'<circle cx="{x}" cy="{y}" r="1.5" fill="var(--soft)"/>'
            )
    return body, tree.n * CELL, tree.n * CELL


def _rows(tree: Tree) -> tuple[str, float, float]:
    """Draw one row under another, entry by entry, with the index at which each begins."""
    body = ""
    for k in range(tree.n):
        y, path = (k + 0.5) * CELL, [*tree.ancestors(k), k]
        body += f'<text x="0" y="{y + 4}" style="fill:var(--soft)">row {k} at {tree.row_start[k]}</text>'
        body += "".join(_entry((3.6 + depth) * CELL + CELL, y, k, i) for depth, i in enumerate(path))
    return body, (5.2 + tree.depth.max()) * CELL, tree.n * CELL


def _entry(x: float, y: float, k: int, i: int) -> str:
    """Draw H(k, i) as a cell."""
    side = CELL - 2
    return (
        f'<rect x="{x - side / 2}" y="{y - side / 2}" width="{side}" height="{side}" rx="3" '
        f'fill="{_colour(i)}"/>'
        f"{_text(x, y, f'{k},{i}')}"
    )


def _text(x: float, y: float, text) -> str:
    """Write text in the middle of a cell."""
    return f'<text x="{x}" y="{y + 3.5}" text-anchor="middle" style="fill:{LEGIBLE}">{text}</text>'


def _colour(i: int) -> str:
    """Return the colour of a column."""
    return COLOURS[i % len(COLOURS)]
