"""Print the results of `treefactor check --derivatives`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from ..check.cells import GOOD
from ..check.derivatives import DerivativeRow
from .console import COLOURS, DETAILED, console, counted

QUANTITIES = (("∂τ", ("∂τ",)), ("∂q̈", ("∂q̈",)), ("∂V, ∂A", ("∂V", "∂A")), ("∂h, ∂ḣ", ("∂h", "∂ḣ")))
DERIVATIVES_CAPTION = (
    "Largest deviation of the derivatives of inverse dynamics (τ), forward dynamics (q̈), a frame's velocity "
    "and acceleration (V, A) and the momentum (h) over the largest entry, worst sample, forces and motions "
    "scaled by √H_ii. treefactor: from differences of its own values; the engines: from treefactor. "
    "Explained: each error was corrected, and the matrix then agrees."
)


def print_derivative_rows(rows: Sequence[DerivativeRow]) -> None:
    """Print the table of a comparison of derivatives, then the reason for every verdict that has one."""
    out = console()
    table = Table(header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("robot", overflow="fold")
    for title in ("base", "engine"):
        table.add_column(title, no_wrap=True)
    for title in ("n", *(title for title, _ in QUANTITIES)):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    last = None
    for row in rows:
        robot = Path(row.robot).name if Path(row.robot).is_file() else row.robot
        case = (row.robot, row.base)
        table.add_row(
            Text("" if case == last else robot),
            row.base,
            row.engine,
            "" if row.n is None else str(row.n),
            *(_largest(row, names) for _, names in QUANTITIES),
            Text(row.verdict, style=COLOURS[row.verdict]),
        )
        last = case
    out.print(table)
    many = len({row.robot for row in rows}) > DETAILED
    for row in rows:
        if row.reason and not (many and row.verdict in GOOD):
            line = Text(f"{row.robot}, {row.base} base, {row.engine} ")
            line.append(row.verdict, style=COLOURS[row.verdict])
            out.print(line.append(f": {row.reason}", style="default"))
    if many:
        out.print(_causes_table(rows))
    out.print(Text(DERIVATIVES_CAPTION, style="dim"))
    out.print(counted([row.verdict for row in rows], COLOURS))


def _largest(row: DerivativeRow, names: tuple[str, ...]) -> str:
    """Return the largest deviation of the derivatives of some quantities as text, or ""."""
    deviations = [error for label, error in row.errors.items() if label.startswith(names)]
    return f"{max(deviations):.0e}" if deviations else ""


def _causes_table(rows: Sequence[DerivativeRow]) -> Table:
    """Return the table of causes: how many robots show each, and which one most."""
    table = Table(header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for title in ("engine", "cause"):
        table.add_column(title, overflow="fold")
    table.add_column("robots", justify="right", no_wrap=True)
    table.add_column("largest deviation", justify="right")
    by_cause: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for row in rows:
        for cause in row.causes:
            by_cause.setdefault((row.engine, cause.name), []).append((cause.effect or 0.0, row.robot))
    for key, cases in sorted(by_cause.items(), key=lambda item: -len(item[1])):
        effect, robot = max(cases)
        table.add_row(*key, str(len({name for _, name in cases})), f"{effect:.0e} ({robot})")
    return table
