"""Write a badge of a comparison: an SVG, or the JSON that shields.io draws."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path

from ...check.cells import AGREES, EXPECTED, EXPLAINED, UNREADABLE, Report
from ...exceptions import TreefactorError
from .summary import FAILURES, missing_engines, names_of_engines, stale, total_counts

LABEL = "treefactor check"
COLOURS: Mapping[str, str] = {
    "brightgreen": "#2e8b57",
    "blue": "#2a6f97",
    "red": "#b3162f",
    "lightgrey": "#8a8f98",
}
BADGES = (".svg", ".json")  # endings
WIDTH, PADDING = 6.6, 10  # mean width of a letter at 11 px; space beside the text


def write_badge(path: Path, report: Report) -> None:
    """Write a badge: an SVG, or for a path that ends in ``.json`` the endpoint of shields.io.

    It counts what failed, or the engines that agree; it is blue if some do so only once causes are taken out.

    Raises
    ------
    TreefactorError
        If the path ends otherwise.
    """
    message, colour = _message(report)
    suffix = Path(path).suffix.lower()
    if suffix == ".json":
        content = {"schemaVersion": 1, "label": LABEL, "message": message, "color": colour}
        text = json.dumps(content | ({"isError": True} if colour == "red" else {})) + "\n"
    elif suffix == ".svg":
        text = _drawing(message, COLOURS[colour])
    else:
        raise TreefactorError(f"expected a badge that ends in {' or '.join(BADGES)}, got {path}")
    Path(path).write_text(text, encoding="utf-8", newline="\n")


def _message(report: Report) -> tuple[str, str]:
    """Return text and colour of the badge."""
    total, old = total_counts(report), len(stale(report))
    failed = sum(total[state] for state in FAILURES)
    good = total[AGREES] + total[EXPLAINED] + total[EXPECTED]
    if failed:
        return f"{failed} of {failed + good} not explained", "red"
    faults = [fault for _, fault in report.impossible if not fault.expected]
    unreadable = sum(fault.word == UNREADABLE for fault in faults)
    if unreadable:
        return f"{unreadable} unreadable file{'s' if unreadable > 1 else ''}", "red"
    if impossible := len(faults):
        joints = sum(bool(fault.joint) for fault in faults)
        parts = "link" if not joints else "joint" if joints == len(faults) else "part"
        return f"{impossible} impossible {parts}{'s' if impossible > 1 else ''}", "red"
    if old:
        return f"{old} stale expectation{'s' if old > 1 else ''}", "red"
    if not good:
        return "nothing compared", "lightgrey"
    engines = len(names_of_engines(report)) - len(missing_engines(report))
    differing = total[EXPLAINED] + total[EXPECTED]
    noun = f"{engines} engine{'s' if engines > 1 else ''}"
    if not differing:
        return f"{noun} agree{'s' if engines == 1 else ''}", "brightgreen"
    return f"{noun}, every difference explained", "blue"


def _drawing(message: str, colour: str) -> str:
    """Return the badge as SVG."""
    left, right = (round(WIDTH * len(text) + 2 * PADDING) for text in (LABEL, message))
    texts = [(LABEL, left / 2), (message, left + right / 2)]
    drawn = "".join(f'<text x="{at:g}" y="14">{escape(text)}</text>' for text, at in texts)
    name = escape(f"{LABEL}: {message}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{name}"><title>{name}</title>'
        f'<clipPath id="r"><rect width="{left + right}" height="20" rx="3"/></clipPath>'
        '<g clip-path="url(#r)">'
        f'<rect width="{left}" height="20" fill="#454b54"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/></g>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f"{drawn}</g></svg>\n"
    )
