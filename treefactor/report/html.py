"""Write self-contained HTML pages, such as that of the papers' tables.

Drawings come as plain numbers and are printed by the template, so that every name passes its escaping.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path

from ..check.cells import EXPLAINED
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
from .console import speed
from .drawings import pattern, picture, tree_drawing

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape
except ImportError as error:
    raise TreefactorError(f"pages need Jinja2 ({error}): pip install 'treefactor[html]'") from None

__all__ = ["table_html", "write_tables"]

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
    environment.filters |= {"breakable": _breakable, "shown": shown, "speed": speed}
    environment.globals |= {"MARKS": MARKS, "CLOSE": CLOSE}
    return environment


def _breakable(name: str) -> Markup:
    """Return the name with possible line breaks after its separators."""
    text = escape(name)
    for separator in "/_.":
        text = text.replace(separator, Markup(f"{separator}<wbr>"))
    return text
