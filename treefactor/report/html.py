"""Write self-contained HTML pages of a cross-validation and of the papers' tables.

Every error on the page, in tables and heat maps, has its colour from one logarithmic scale. Drawings
come as plain numbers and are printed by the template, so that every name passes its escaping.
"""

from __future__ import annotations

import base64
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ..check.differences import REFUSED
from ..check.run import AGREES, CANNOT_LOAD, DISAGREES, EXPLAINED, Row, listed
from ..exceptions import TreefactorError
from ..papers.exhibits import Exhibit
from ..papers.tables import differing
from ..papers.tables.table import (
    ABOUT,
    CLOSE,
    DERIVED,
    DIFFERS,
    EQUAL,
    HOLDS,
    NOT_ABOVE,
    NOT_BELOW,
    NOT_IN_PAPER,
    Table,
    shown,
)
from ..tree.tree import Tree
from .console import speed
from .drawings import NO_NUMBER, SCALE, TICKS, colour, heat_map, hex_colour, pattern, picture, tree_drawing

__all__ = ["table_html", "write_html", "write_tables"]

GLYPHS = {AGREES: "✓", EXPLAINED: "≈", DISAGREES: "✗", CANNOT_LOAD: "∅"}
MARKS = {
    EQUAL: "✓",
    ABOUT: "≈",
    NOT_ABOVE: "≤",
    NOT_BELOW: "≥",
    HOLDS: "✓",
    EXPLAINED: "!",
    DIFFERS: "✗",
    DERIVED: "=",
    NOT_IN_PAPER: "–",
}
FIGURES = {  # attributes of a row that are errors, and how they are called
    "error_h": "ΔH",
    "error_bias": "Δbias",
    "error_factor": "LᵀDL",
    "error_ld": "ΔL, ΔD",
    "error_qdd": "Δq̈",
    "error_own": "own Δq̈",
    "error_plain": "plain ΔH",
}
IN_CELL = ("error_qdd", "error_own", "error_h")  # the matrix shows the worst of them

PERCENT = 1e-4, 1e3  # effects between these are percentages
DARK = 1e-2  # the colours of larger errors are so dark that white text is more legible on them
LISTED = 8  # links shown of a cause, more are folded


def write_html(path: Path, rows: Sequence[Row], meta: dict) -> None:
    """Write the page of a cross-validation.

    Parameters
    ----------
    path : path-like
    rows : sequence of Row
        As `treefactor.check.check` yields them; a row without `detail` gets no drawings.
    meta : dict
        ``treefactor`` (version), ``engines`` (versions by name), ``samples`` and ``seed``.
    """
    sections, engines = _sections(rows), list(dict.fromkeys(row.engine for row in rows))
    render(
        path,
        "check.html",
        meta=meta,
        engines=engines,
        sections=sections,
        counts=Counter(row.verdict for row in rows),
        troubles={
            verdict: [(s, row) for s in sections for row in s["rows"].values() if row.verdict == verdict]
            for verdict in (DISAGREES, CANNOT_LOAD)
        },
        causes=_cause_table(sections),
    )


def write_tables(
    path: Path, tables: Sequence[Table], meta: dict, exhibits: Mapping[str, Sequence[Exhibit]] | None = None
) -> None:
    """Write the page of `treefactor tables`.

    Parameters
    ----------
    path : path-like
    tables : sequence of Table
    meta : dict
        As `treefactor.show_config` returns it.
    exhibits : mapping, optional
        Exhibits by paper.
    """
    render(
        path,
        "tables.html",
        meta=meta,
        exhibits={paper: listed for paper, listed in (exhibits or {}).items() if listed},
        sections=[{"id": f"t{number}", **_section(table)} for number, table in enumerate(tables)],
        counts=Counter(row.verdict for table in tables for row in table.rows),
        differing=differing(tables),
    )


def table_html(table: Table) -> str:
    """Render one table and its drawings for other pages; styled by templates/drawings.css."""
    return _environment().get_template("table.html").render(section=_section(table))


def _section(table: Table) -> dict:
    """Return the template variables of a table and its drawings."""
    return {
        "table": table,
        "timed": any(row.timed for row in table.rows),
        "tree": table.tree and tree_drawing(table.tree),
        "pattern": table.tree and pattern(table.tree),
        "plot": table.curves and _plot(table),
        "pictures": [picture(drawn) for drawn in table.pictures],
    }


def _plot(table: Table) -> str | None:
    """Return the URI of the plotted curves; None where Matplotlib is missing."""
    from .plots import draw_curves

    file = BytesIO()
    try:
        draw_curves(table.curves, file)
    except TreefactorError:
        return None
    return "data:image/svg+xml;base64," + base64.b64encode(file.getvalue()).decode()


def render(path: Path, template: str, **values) -> None:
    """Render a template to a file."""
    text = _environment().get_template(template).render(values)
    # file names may hold bytes that are not text
    Path(path).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": _number,
        "effect": _effect,
        "breakable": _breakable,
        "paint": _paint,
        "worst": _worst,
        "remark": _remark,
        "by_way": _by_way,
        "shown": shown,
        "speed": speed,
    }
    environment.globals |= {
        "GLYPHS": GLYPHS,
        "MARKS": MARKS,
        "CLOSE": CLOSE,
        "FIGURES": FIGURES,
        "LISTED": LISTED,
        "TICKS": [(t, 100 * (t - SCALE[0][0]) / (SCALE[-1][0] - SCALE[0][0])) for t in TICKS],
        "NO_NUMBER": hex_colour(NO_NUMBER),
        "GRADIENT": ", ".join(hex_colour(colour(power)) for power in range(SCALE[0][0], SCALE[-1][0] + 1)),
    }
    return environment


def _sections(rows: Iterable[Row]) -> list[dict]:
    """Group the results by robot and base, with their drawings; robots of the same name stay apart."""
    seen: Counter[tuple] = Counter()
    found: dict[tuple, dict[str, Row]] = {}
    for row in rows:
        key = row.robot, row.base, row.engine
        found.setdefault((row.robot, row.base, seen[key]), {})[row.engine] = row
        seen[key] += 1
    return [
        {
            "id": f"r{number}",
            "robot": robot,
            "base": base,
            "rows": by_engine,
            "n": next((row.n for row in by_engine.values() if row.n is not None), None),
            "verdicts": {row.verdict for row in by_engine.values()},
            **_drawings(by_engine),
        }
        for number, ((robot, base, _), by_engine) in enumerate(found.items())
    ]


def _drawings(rows: dict[str, Row]) -> dict:
    """Return tree, pattern and heat maps of one robot, as far as its results have details."""
    details = {engine: row.detail for engine, row in rows.items() if row.detail and row.detail.parent}
    if not details:
        return {"tree": None, "maps": []}
    trees = {engine: Tree(detail.parent, detail.names or None) for engine, detail in details.items()}
    tree = next(iter(trees.values()))
    maps = [
        (engine, load, heat_map(delta, trees[engine]))
        for engine, detail in details.items()
        for load, delta in (("careful", detail.delta), ("plain", detail.delta_plain))
        if np.shape(delta) == (trees[engine].n,) * 2
    ]
    return {
        "tree": tree_drawing(tree),
        "pattern": pattern(tree),
        "entries": f"{tree.nnz} entries in the lower triangle, density {tree.density:.2f}",
        "maps": maps,
    }


def _cause_table(sections: list[dict]) -> dict[tuple[str, str], list[dict]]:
    """Count every cause, and find where its effect is largest, by engine and way of loading."""
    found: dict[tuple, dict[tuple, list]] = {}
    for section in sections:
        for engine, row in section["rows"].items():
            for cause in row.causes:
                name = REFUSED if cause.name.startswith(REFUSED) else cause.name
                cases = found.setdefault((engine, cause.way), {}).setdefault((name, cause.quantity), [])
                cases.append((cause.effect, section))
    return {key: _most_frequent(causes) for key, causes in found.items()}


def _most_frequent(causes: dict[tuple, list]) -> list[dict]:
    """Return an entry of the table of causes: number of robots, largest effect and its section."""
    entries = []
    for (name, quantity), cases in causes.items():
        effect, section = max(cases, key=lambda case: _size(case[0]))
        count = len({section["id"] for _, section in cases})
        entries.append(
            {"name": name, "quantity": quantity, "count": count, "effect": effect, "section": section}
        )
    return sorted(entries, key=lambda entry: (-entry["count"], entry["name"]))


def _size(effect: float | None) -> float:
    """Return an effect as a sort key: missing first, NaN last."""
    if effect is None:
        return -1.0
    return math.inf if math.isnan(effect) else effect


def _number(value: float | None) -> str:
    """Format a number with two digits, or an en dash for None."""
    if value is None:
        return "–"
    if math.isnan(value):
        return "NaN"
    return "0" if value == 0 else f"{value:.1e}".replace("e-0", "e-").replace("e+0", "e+")


def _effect(value: float | None) -> str:
    """Format an effect as a percentage, or as a power of ten where it is small."""
    if value is None or not PERCENT[0] <= value < PERCENT[1]:  # also for NaN
        return _number(value)
    digits = ".2g" if value < 0.1 else ".0f"
    return f"{100 * value:{digits}}\N{NO-BREAK SPACE}%"


def _breakable(name: str) -> Markup:
    """Return the name with possible line breaks after its separators."""
    text = escape(name)
    for separator in "/_.":
        text = text.replace(separator, Markup(f"{separator}<wbr>"))
    return text


def _worst(row: Row) -> float | None:
    """Return the largest error of a result from its adapter, NaN if one is NaN, None without errors."""
    errors = [value for name in IN_CELL if (value := getattr(row, name)) is not None]
    return float(np.max(errors)) if errors else None  # NaN if any value is NaN


def _remark(row: Row) -> str:
    """Return the reason of a result without the list of its causes."""
    return row.reason.removesuffix(listed(row.causes)).rstrip(" .") if row.causes else row.reason


def _by_way(row: Row) -> dict[str, list]:
    """Group the causes of a result by way of loading."""
    ways = dict.fromkeys(cause.way for cause in row.causes)
    return {way: [cause for cause in row.causes if cause.way == way] for way in ways}


def _paint(error: float | None) -> str:
    """Return the style of an element that shows an error: background and a legible text colour."""
    if error is None:
        return ""
    rgb = NO_NUMBER if math.isnan(error) else colour(math.log10(error) if error > 0 else -math.inf)
    text = "#000" if error <= DARK else "#fff"  # the colour of NaN is dark
    return f"background:{hex_colour(rgb)};color:{text}"
