"""Draw the README's figure from the times in docs/measured, and write its text: `docs/code/speed.py`."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

DOCS = Path(__file__).parents[1]
FILE = DOCS / "images" / "speed.svg"
PAGES = DOCS.parent / "README.md", DOCS / "index.md"
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
SETS = {"avx2": "AVX2", "avx512": "AVX-512"}
COLUMNS = 2  # so that the text is readable at a width of 400 px
LABELS, PANEL, GAP, ROW, BAR, TOP, TITLE = 182, 126, 12, 26, 17, 62, 34  # px
BLOCK = len(WAYS) * ROW + TITLE  # height of a panel and its title
WIDTH = LABELS + COLUMNS * (PANEL + GAP)
HEIGHT = TOP + math.ceil(len(ROBOTS) / COLUMNS) * BLOCK - 10
DARK, LIGHT, GREY, INK = "#33659c", "#7ea6d2", "#b6bec8", "#1c2430"


def stored() -> dict[str, dict]:
    """Return the stored measurements of the robots."""
    return {
        robot: json.loads((DOCS / "measured" / f"{robot}.json").read_text(encoding="utf-8"))
        for robot in ROBOTS
    }


def ratios() -> dict[str, list[float]]:
    """Return how many times faster than Pinocchio each way is, by robot."""
    by_robot = {}
    for robot, measured in stored().items():
        by_what = {row["what"]: row["ratio"] for row in measured["results"] if row["peer"] == "Pinocchio"}
        by_robot[robot] = [by_what[what] for what in WAYS]
    return by_robot


def instructions() -> str:
    """Return the name of the instruction set that all robots were measured with."""
    (used,) = {measured["config"]["used"] for measured in stored().values()}
    return SETS[used]


def ranges() -> str:
    """Return the text of the figure: the least and the largest ratio of each way."""
    single, compiled, _, batch = (
        f"{min(values):.0f} to {max(values):.0f} times" for values in zip(*ratios().values(), strict=True)
    )
    return (
        f"Forward dynamics: on one core with {instructions()}, single bound calls are {single} faster than "
        f"Pinocchio; generated C is {compiled} faster in single calls and {batch} in batches"
    )


def headline() -> str:
    """Return the sentence above the figure: what the robot with the least ratio shows, rounded down."""
    single, compiled, _, batch = (floor(min(values)) for values in zip(*ratios().values(), strict=True))
    return (
        f"At least {single} times faster than Pinocchio in single calls, {compiled} times in single calls of "
        f"generated C, {batch} times in batches of it: forward dynamics of four robots, on one core with "
        f"{instructions()}."
    )


def floor(ratio: float) -> str:
    """Round a ratio down to two digits."""
    return f"{math.floor(10 * ratio) / 10:g}" if ratio < 10 else f"{math.floor(ratio)}"


def write_text() -> None:
    """Replace the headline and the text of the figure in the pages that have them."""
    for page in PAGES:
        content = page.read_text(encoding="utf-8")
        content = re.sub(r"Forward dynamics: on one core with [^\]\n]*", ranges(), content)
        content = re.sub(r"(?m)^At least .* times faster than Pinocchio .*$", headline(), content)
        page.write_text(content, encoding="utf-8")


def draw() -> str:
    """Draw the figure as SVG: a panel for each robot, a bar for each way, Pinocchio as the line at 1."""
    by_robot = ratios()
    scale = (PANEL - 34) / max(map(max, by_robot.values()))
    parts = [
        text(14, 26, "Forward dynamics: times faster than Pinocchio", 15, bold=True),
        text(14, 45, "Grey: Pinocchio (aba, for batches abaInParallel); one thread", 12),
    ]
    for number, (robot, title) in enumerate(ROBOTS.items()):
        block, column = divmod(number, COLUMNS)
        x, top = LABELS + column * (PANEL + GAP), TOP + TITLE - 20 + block * BLOCK
        parts.append(text(x, top - 8, title, 13, bold=True))
        for k, (way, ratio) in enumerate(zip(WAYS.values(), by_robot[robot], strict=True)):
            y, width = top + k * ROW, ratio * scale
            if column == 0:
                parts.append(text(LABELS - 8, y + 13, way, 13, "end"))
            colour = DARK if "generated" in way else LIGHT
            parts.append(f'<rect x="{x}" y="{y}" width="{width:.1f}" height="{BAR}" rx="2" fill="{colour}"/>')
            parts.append(text(x + width + 5, y + 13, f"{ratio:.1f}" if ratio < 10 else f"{ratio:.0f}", 13))
        height = len(WAYS) * ROW - ROW + BAR
        parts.append(f'<rect x="{x}" y="{top}" width="{scale:.1f}" height="{height}" fill="{GREY}"/>')
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
    write_text()
