"""Draw the README's figure from the times in docs/measured: `python docs/code/speed.py`."""

from __future__ import annotations

import json
from pathlib import Path

DOCS = Path(__file__).parents[1]
FILE = DOCS / "images" / "speed.svg"
ROBOTS = {
    "ur5_robot": "UR5, 6 freedoms",
    "panda": "Panda, 9",
    "solo12": "Solo12, 18",
    "talos_reduced": "Talos, 38",
}
WAYS = {  # of a result, what the figure calls it
    "forward dynamics": "bound call",
    "forward dynamics, cc": "bound call, generated C",
    "forward dynamics 1024": "batch of 1024",
    "forward dynamics 1024, cc": "batch, generated C",
}
LABELS, PANEL, GAP, ROW, BAR, TOP = 164, 146, 16, 30, 18, 72  # px
WIDTH = LABELS + len(ROBOTS) * (PANEL + GAP)
HEIGHT = TOP + len(WAYS) * ROW + 30
DARK, LIGHT, GREY, INK = "#33659c", "#7ea6d2", "#b6bec8", "#1c2430"


def ratios() -> dict[str, list[float]]:
    """Return how many times faster than Pinocchio each way is, by robot."""
    by_robot = {}
    for robot in ROBOTS:
        results = json.loads((DOCS / "measured" / f"{robot}.json").read_text(encoding="utf-8"))["results"]
        by_what = {row["what"]: row["ratio"] for row in results if row["peer"] == "Pinocchio"}
        by_robot[robot] = [by_what[what] for what in WAYS]
    return by_robot


def draw() -> str:
    """Draw the figure as SVG: a panel for each robot, a bar for each way, Pinocchio as the line at 1."""
    by_robot = ratios()
    scale = (PANEL - 34) / max(map(max, by_robot.values()))
    parts = [
        text(16, 26, "Forward dynamics: how many times faster than Pinocchio, one thread", 15, bold=True),
        text(
            16,
            HEIGHT - 12,
            "Grey: Pinocchio (aba; for batches abaInParallel). Ratios of runs taken in turns.",
            11,
        ),
    ]
    for k, way in enumerate(WAYS.values()):
        parts.append(text(LABELS - 10, TOP + k * ROW + 14, way, 12, "end"))
    for column, (robot, title) in enumerate(ROBOTS.items()):
        x = LABELS + column * (PANEL + GAP)
        parts.append(text(x, TOP - 14, title, 12, bold=True))
        for k, ratio in enumerate(by_robot[robot]):
            y, width = TOP + k * ROW, ratio * scale
            colour = DARK if "generated" in list(WAYS.values())[k] else LIGHT
            parts.append(f'<rect x="{x}" y="{y}" width="{width:.1f}" height="{BAR}" rx="2" fill="{colour}"/>')
            parts.append(text(x + width + 5, y + 14, f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}", 12))
        height = len(WAYS) * ROW - ROW + BAR
        parts.append(f'<rect x="{x}" y="{TOP}" width="{scale:.1f}" height="{height}" fill="{GREY}"/>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="system-ui, sans-serif" fill="{INK}">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def text(x: float, y: float, content: str, size: int, anchor: str = "start", bold: bool = False) -> str:
    """Write a line of text."""
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y}" font-size="{size}" text-anchor="{anchor}"{weight}>{content}</text>'


if __name__ == "__main__":
    FILE.write_text(draw(), encoding="utf-8")
