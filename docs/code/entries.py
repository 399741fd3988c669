"""Draw the entries of *q* and *v*, joint by joint."""

from __future__ import annotations

from html import escape

from exhibits import Html
from layout import COLOURS, LEGIBLE, figure

from treefactor import Model

CELL, HEIGHT, GAP, LETTER = 40, 24, 6, 7  # px
QUATERNION, RATES = ("x", "y", "z", "w"), ("ω x", "ω y", "ω z")
ENTRIES = {  # by the kind of a joint: names of its entries in q and in v
    "revolute": (("angle",), ("rate",)),
    "continuous": (("cos", "sin"), ("rate",)),
    "prismatic": (("dist.",), ("rate",)),
    "helical": (("angle",), ("rate",)),
    "universal": (("1st", "2nd"), ("rate", "rate")),
    "spherical": (QUATERNION, RATES),
    "planar": (("p x", "p y", "cos", "sin"), ("v x", "v y", "ω")),
    "translation": (("p x", "p y", "p z"), ("v x", "v y", "v z")),
    "freeflyer": (("p x", "p y", "p z", *QUATERNION), ("v x", "v y", "v z", *RATES)),
}


def draw(model: Model) -> Html:
    """Draw the entries of q above those of v, with their numbers; every joint has its own colour."""
    body, right = "", 0.0
    for k, joint in enumerate(model.joints):
        colour, names = COLOURS[k % len(COLOURS)], ENTRIES[joint.kind]
        body += _text(right, HEIGHT - 8, joint.name, "start")
        if joint.mimic:
            body += _text(right, 2 * HEIGHT - 8, f"as {model.joints[joint.mimic.leader].name}", "start")
            right += LETTER * len(joint.name) + GAP
            continue
        for row, (first, cells) in enumerate(zip((model.idx_q[k], model.idx_v[k]), names, strict=True)):
            for i, name in enumerate(cells):
                x, y = right + i * CELL, HEIGHT + row * (2 * HEIGHT + GAP)
                body += f'<rect x="{x}" y="{y}" width="{CELL - 2}" height="{HEIGHT}" rx="3" fill="{colour}"/>'
                body += _text(x + CELL / 2 - 1, y + 16, name, "middle", LEGIBLE)
                body += _text(x + CELL / 2 - 1, y + HEIGHT + 14, f"{'qv'[row]}[{first + i}]", "middle")
        right += max(CELL * joint.nq, LETTER * len(joint.name)) + GAP
    caption = "entries of q, and below them those of v; every joint has a colour"
    return Html(f'<div class="scroll">{figure(body, right, 5 * HEIGHT + GAP, caption)}</div>')


def _text(x: float, y: float, text: str, anchor: str, colour: str = "var(--soft)") -> str:
    """Write text."""
    style = f"fill:{colour};font-size:12px"
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" style="{style}">{escape(text)}</text>'
