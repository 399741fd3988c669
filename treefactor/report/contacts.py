"""Print the results of `treefactor check --contacts`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from ..check.cells import GOOD
from ..check.contacts import ContactCheck, ContactRow
from .conformance.summary import LETTERS
from .console import COLOURS, console, counted

DIGITS = {"mm": 4, "N": 4, "mm/s": 4, "deg": 3}  # decimals, by unit
WRAPPER = textwrap.TextWrapper(100, subsequent_indent="  ", break_on_hyphens=False)
RESTING_CAPTION = (
    "All joints are fixed at zero. Height: of the origin of the root link at rest. Support: the sum of the "
    "normal forces. Creep: on an incline of 0.9 times the tangent at which the robot slips. Slip angle: by "
    "the acceleration on one of 1.5 times that tangent, at most its angle. A agrees, E explained: agrees "
    "once the causes are switched off, D disagrees, R refused, O excluded."
)


def print_contacts(compared: Sequence[ContactCheck]) -> None:
    """Print for every robot a table of quantities and engines, then the causes of differences.

    Parameters
    ----------
    compared : sequence of ContactCheck
    """
    out = console()
    for checked in compared:
        name = Path(checked.robot).name if Path(checked.robot).suffix else checked.robot
        out.print(Text(f"{name}, {checked.mass:.4g} kg, friction {checked.mu:g}", style="bold"))
        out.print(_table(checked))
        for engine in dict.fromkeys(row.engine for row in checked.rows):
            for line in _causes([row for row in checked.rows if row.engine == engine]):
                out.print(Text(line), soft_wrap=True)
    out.print(Text("\n".join(textwrap.wrap(RESTING_CAPTION, WRAPPER.width)), style="dim"))
    out.print(counted([row.state for checked in compared for row in checked.rows], COLOURS))


def _table(checked: ContactCheck) -> Table:
    """Return the table quantities x engines."""
    of_engine: dict[str, dict[str, ContactRow]] = {}
    for row in checked.rows:
        of_engine.setdefault(row.engine, {})[row.quantity] = row
    table = Table(header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for title in ("", "exact", *of_engine):
        table.add_column(title, no_wrap=True, justify="right" if title else "left")
    ours = next(iter(of_engine.values()))
    for quantity, own in ours.items():
        cells = [rows.get(quantity, rows.get("")) for rows in of_engine.values()]
        table.add_row(f"{quantity}, {own.unit}", _number(own.exact, own.unit), *map(_cell, cells))
    return table


def _cell(row: ContactRow | None) -> Text:
    """Return value and letter of a row."""
    value = _number(row.value, row.unit)
    return Text(f"{value} " if value else "").append(LETTERS[row.state], style=COLOURS[row.state])


def _number(value: float | None, unit: str) -> str:
    return "" if value is None else f"{round(value, DIGITS[unit]) + 0.0:.{DIGITS[unit]}f}"


def _causes(rows: Sequence[ContactRow]) -> list[str]:
    """Return the lines on one engine: each cause with the deviations that it makes, then other reasons."""
    effects: dict[str, list[str]] = {}
    for row in rows:
        for cause in row.causes:
            size = "" if cause.effect is None else f" by {cause.effect:.2g} {row.unit}"
            effects.setdefault(cause.text, []).append(row.quantity + size)
    lines = [f"{rows[0].engine} {text}: {', '.join(quantities)}" for text, quantities in effects.items()]
    for row in rows:
        if row.reason:
            what = f"{row.quantity}: " if row.quantity else ""
            reason = re.sub(r"\S*/(?=[^\s/]+)", "", row.reason)  # folders of meshes
            lines.append(f"{row.engine} {row.state}: {what}{reason}")
        elif row.state not in GOOD:
            lines.append(f"{row.engine} {row.state}: {row.quantity}, no cause was found")
    return [WRAPPER.fill(line) for line in dict.fromkeys(lines)]
