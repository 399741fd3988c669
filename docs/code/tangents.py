"""Draw the figure of tangents of a (cos, sin) or a quaternion: `python docs/code/tangents.py`."""

from __future__ import annotations

from math import atan2, cos, hypot, radians, sin
from pathlib import Path

from speed import DARK, GREY, INK, text

FILE = Path(__file__).parents[1] / "images" / "tangents.svg"
RADIUS, PANEL, HEIGHT, BASE = 220, 400, 355, 320  # px
RED, LEFT = "#b4452f", 40
ANGLE, STEP, CHANGE = radians(28), 0.62, (0.16, 0.62)  # of q; of integrate; of the entries of q
Q = cos(ANGLE), sin(ANGLE)
TANGENT = -sin(ANGLE), cos(ANGLE)


def draw() -> str:
    """Draw both panels as SVG."""
    width = 2 * PANEL
    marks = "".join(
        f'<marker id="{name}" markerWidth="9" markerHeight="9" refX="8" refY="4.5" orient="auto">'
        f'<path d="M0,1 L9,4.5 L0,8 z" fill="{colour}"/></marker>'
        for name, colour in (("dark", DARK), ("red", RED), ("ink", INK))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" '
        f'height="{HEIGHT}" font-family="system-ui, sans-serif" fill="{INK}">\n<defs>{marks}</defs>\n'
        f'<rect width="{width}" height="{HEIGHT}" rx="8" fill="#fff"/>\n'
        + "\n".join(along_integrate() + entry_by_entry())
        + "\n</svg>\n"
    )


def along_integrate() -> list[str]:
    """Draw q, its tangent G v, and the arc to integrate(q, v)."""
    tip = Q[0] + STEP * TANGENT[0], Q[1] + STEP * TANGENT[1]
    end = cos(ANGLE + STEP), sin(ANGLE + STEP)
    return [
        *circle(0, "Along integrate: q stays on the circle"),
        arc(0, ANGLE, ANGLE + STEP),
        arrow(0, Q, tip, DARK, "dark"),
        *point(0, Q, "q", (12, 14)),
        label(0, tip, "dq = G(q) v", (10, 2), DARK),
        *point(0, end, "integrate(q, v)", (2, 26), "end"),
    ]


def entry_by_entry() -> list[str]:
    """Draw q with changed entries, its projection onto the circle, and the tangent P dq."""
    moved = Q[0] + CHANGE[0], Q[1] + CHANGE[1]
    length = hypot(*moved)
    back = moved[0] / length, moved[1] / length
    along = CHANGE[0] * TANGENT[0] + CHANGE[1] * TANGENT[1]
    tip = Q[0] + along * TANGENT[0], Q[1] + along * TANGENT[1]
    return [
        *circle(1, "Entry by entry: P projects onto the tangent"),
        line(1, (0.0, 0.0), moved, INK, "4 4"),
        line(1, tip, moved, INK, "4 4"),
        arc(1, ANGLE, atan2(moved[1], moved[0])),
        arrow(1, Q, moved, RED, "red"),
        arrow(1, Q, tip, DARK, "dark"),
        *point(1, Q, "q", (12, 14)),
        label(1, moved, "q + dq", (10, 4), RED),
        label(1, tip, "v = P(q) dq", (6, -26), DARK, "end"),
        *point(1, back, "normalize(q + dq)", (-26, 10), "end"),
    ]


def place(panel: int, x: tuple[float, float]) -> tuple[float, float]:
    """Return a point of the plane in pixels."""
    return panel * PANEL + LEFT + RADIUS * x[0], BASE - RADIUS * x[1]


def circle(panel: int, title: str) -> list[str]:
    """Draw the axes, a quarter of the unit circle and the title."""
    (x, y), (right, _), (_, top) = (place(panel, point) for point in ((0, 0), (1.3, 0), (0, 1.2)))
    return [
        text(panel * PANEL + 16, 28, title, 14, bold=True),
        f'<path d="M{x},{top:.1f} V{y} H{right:.1f}" stroke="{GREY}" fill="none"/>',
        f'<path d="M{x + RADIUS},{y} A{RADIUS},{RADIUS} 0 0 0 {x},{y - RADIUS}" stroke="{INK}" '
        'stroke-width="1.5" fill="none"/>',
        text(x + RADIUS, y + 18, "cos", 12, "middle"),
        text(x - 8, y - RADIUS + 4, "sin", 12, "end"),
    ]


def arc(panel: int, start: float, end: float) -> str:
    """Draw a thick piece of the unit circle."""
    (x, y), (u, w) = (place(panel, (cos(angle), sin(angle))) for angle in (start, end))
    shape = f"M{x:.1f},{y:.1f} A{RADIUS},{RADIUS} 0 0 0 {u:.1f},{w:.1f}"
    return f'<path d="{shape}" stroke="{DARK}" stroke-width="4" stroke-opacity="0.35" fill="none"/>'


def line(panel: int, start, end, colour: str, dashes: str = "", mark: str = "") -> str:
    """Draw a straight line."""
    (x, y), (u, w) = place(panel, start), place(panel, end)
    more = f' stroke-dasharray="{dashes}"' if dashes else ' stroke-width="2"'
    more += f' marker-end="url(#{mark})"' if mark else ""
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{w:.1f}" stroke="{colour}"{more}/>'


def arrow(panel: int, start, end, colour: str, mark: str) -> str:
    """Draw an arrow."""
    return line(panel, start, end, colour, mark=mark)


def point(panel: int, at, content: str, shift, anchor: str = "start") -> list[str]:
    """Draw a point with its name."""
    x, y = place(panel, at)
    return [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>', label(panel, at, content, shift, INK, anchor)]


def label(panel: int, at, content: str, shift, colour: str, anchor: str = "start") -> str:
    """Write a name beside a point."""
    x, y = place(panel, at)
    written = text(x + shift[0], round(y + shift[1], 1), content, 13, anchor)
    return f'<g fill="{colour}">{written}</g>'


if __name__ == "__main__":
    FILE.write_text(draw(), encoding="utf-8")
