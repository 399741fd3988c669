"""Print a comparison on the console: a matrix of letters, then the causes and failures in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ...check.cells import (
    AGREES,
    DISAGREES,
    EXPECTED,
    EXPLAINED,
    STATES,
    Cause,
    Cell,
    Report,
)
from ...check.project.expectations import COMPARED
from ..console import COLOURS, DETAILED, console
from .summary import (
    DYNAMICS,
    LETTERS,
    MEANINGS,
    Failure,
    agreements,
    by_robot,
    causes_by_engine,
    causes_on_robot,
    cells_per_engine,
    counts,
    effect,
    expectation_text,
    failures,
    headline,
    in_order,
    missing_engines,
    names_of_engines,
    number,
    offered,
    shown_error,
    stale,
    title,
    total_counts,
    uncompared_robots,
    version_of,
    worst,
)

SHOWN = 4  # links or joints named of a cause
ROBOTS = 3  # robots named of a failure that many share
CAPTION = (
    "First letter: the worst state of H, bias and q̈; second letter: of all other quantities. A cell is one "
    "quantity of one robot; counted are those that agree with the file as it is."
)
WIDTH = 100  # columns in a pipe
ONE_CAPTION = "Numbers: largest deviation over the size of the quantity, worst sample, the file as it is."
REWRITTEN = "--no-ordinary: for “as it is” read “as rewritten”; simulation alone loads the file itself."


def print_report(report: Report) -> None:
    """Print a report: the matrix robots x engines, or engines x quantities of one robot, and why.

    Parameters
    ----------
    report : Report
    """
    out = console(WIDTH)
    missing = missing_engines(report)
    grouped = {
        robot: {engine: cells for engine, cells in engines.items() if engine not in missing}
        for robot, engines in by_robot(report).items()
    }
    if any(grouped.values()):
        if len(grouped) > 1 and (sentence := headline(report)):
            out.print(Text(sentence, style="bold"))
        (_print_one if len(grouped) == 1 else _print_matrix)(out, report, grouped)
        if len(grouped) <= DETAILED:
            _print_causes(out, report, grouped)
        else:
            _print_spread(out, report)
        _print_failures(out, report)
    else:
        out.print("nothing was compared")
    _print_faults(out, report)
    for entry in stale(report):
        line = Text().append("stale expectation, nothing that it describes differs: ", style="bold red")
        out.print(line.append(expectation_text(entry)))
    for engine, reason in missing.items():
        out.print(Text(f"{engine} is not installed{f': {reason}' if reason else ''}"))
    for robot, reason in uncompared_robots(report).items():
        line = Text(title(_short(robot))).append(" is not compared: ").append(reason)
        out.print(line)
    if any(grouped.values()):
        _print_legend(out, report, ONE_CAPTION if len(grouped) == 1 else CAPTION)
        if not any(cell.state in COMPARED for cell in report.cells):
            out.print("nothing was compared")


def _print_one(out: Console, report: Report, grouped: dict) -> None:
    """Print engines x quantities of one robot, with errors where the terminal is wide enough."""
    ((robot, engines),) = grouped.items()
    out.print(Text(title(_short(robot)), style="bold"))
    quantities = offered((cell for cells in engines.values() for cell in cells), report)
    labels = {engine.name: version_of(engine) for engine in report.engines}
    rows = []
    for engine, cells in engines.items():
        by_quantity = {cell.quantity: cell for cell in cells}
        rows.append((Text(labels.get(engine, engine)), [by_quantity.get(name) for name in quantities]))
    table = _table("engine", quantities)
    for label, row_cells in rows:
        table.add_row(label, *map(_figure, row_cells))
    if _fits(out, table):
        out.print(table)
    else:
        letters = [[_letter(cell) for cell in cells] for _, cells in rows]
        _print_numbered(out, "engine", quantities, zip(map(Text, engines), letters, strict=True))


def _print_matrix(out: Console, report: Report, grouped: dict) -> None:
    """Print what agrees in each engine, then robots x engines."""
    _print_agreements(out, report)
    missing = missing_engines(report)
    engines = [name for name in names_of_engines(report) if name not in missing]
    rows, last = [], None
    for robot, cells in grouped.items():
        base, *mimic = robot[1].split(", ")
        if base != last:
            rows.append((Text(title(("", base)).removeprefix(", "), style="dim"), [Text()] * len(engines)))
        label = ", ".join([_short(robot)[0], *mimic])
        rows.append((Text(label), [_letters(cells.get(engine, ())) for engine in engines]))
        last = base
    table = Table(header_style="bold", box=None, padding=(0, 1, 0, 0))
    table.add_column("robot", overflow="fold")
    for name in engines:
        table.add_column(Text(name), no_wrap=True)
    for label, letters in rows:
        table.add_row(label, *letters)
    if not _fits(out, table):
        _print_numbered(out, "robot", engines, rows)
        return
    out.print(table)


def _print_agreements(out: Console, report: Report) -> None:
    """Print for every engine on how many robots H, bias and q̈ agree, and how many cells of all quantities."""
    agreeing, cells = counts(report), cells_per_engine(report)
    table = Table(header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("H, bias and q̈ agree", no_wrap=True)
    columns = ("on robots", "as the file is", "causes removed", "to", f"of all {cells} cells")
    for name in columns:
        table.add_column(name, justify="right")
    for one in agreements(report):
        table.add_row(
            Text(one.engine),
            f"{one.as_it_is + one.explained} of {one.robots}",
            *(str(one.as_it_is), str(one.explained), number(one.error)),
            str(agreeing[one.engine][AGREES]),
        )
    if table.row_count:
        out.print(table)


def _letters(cells: Sequence[Cell]) -> Text:
    """Return the letters of the worst states of H, bias and q̈, and of the other quantities."""
    parts = ([c for c in cells if (c.quantity in DYNAMICS) == dynamics] for dynamics in (True, False))
    return Text().join(_letter(_worst_cell(part)) for part in parts)


def _print_numbered(out: Console, first: str, columns: Sequence[str], rows: Iterable) -> None:
    """Print a table of letters whose columns have numbers, and the names of the numbers."""
    table = Table(header_style="bold", box=None, padding=(0, 1, 0, 0))
    table.add_column(first, overflow="fold")
    for k in range(len(columns)):
        table.add_column(str(k + 1), no_wrap=True)
    for label, states in rows:
        table.add_row(label, *states)
    out.print(table)
    key = ", ".join(f"{k + 1} {name}" for k, name in enumerate(columns))
    out.print(Text(key, style="dim"))


def _table(first: str, columns: Sequence[str]) -> Table:
    table = Table(header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(first, no_wrap=True)
    for name in columns:
        table.add_column(Text(name.replace(" ", "\n")), no_wrap=True)
    return table


def _fits(out: Console, table: Table) -> bool:
    """Return whether the terminal is wide enough for the table without wrapping a cell."""
    return table.__rich_measure__(out, out.options.update(max_width=10_000)).maximum <= out.width


def _short(robot: tuple[str, str]) -> tuple[str, str]:
    """Return name and base, of a path the file's name only, of a bundled robot without its package."""
    name, base = robot
    return (Path(name).name or name) if Path(name).suffix else name.removeprefix("pybullet_data/"), base


def _worst_cell(cells: Iterable[Cell]) -> Cell | None:
    return min(cells, key=lambda cell: STATES.index(cell.state), default=None)


def _letter(cell: Cell | None) -> Text:
    return Text().append(LETTERS[cell.state], style=COLOURS[cell.state]) if cell else Text()


def _figure(cell: Cell | None) -> Text:
    """Return letter and error of a cell."""
    error = number(shown_error(cell)) if cell else ""
    return _letter(cell).append(f" {error}" if error else "")


def _print_causes(out: Console, report: Report, grouped: dict) -> None:
    """Print the causes for every robot and engine that agrees only without them."""
    for robot, engines in grouped.items():
        for engine, cells in engines.items():
            good = [cell for cell in cells if cell.state in (EXPLAINED, EXPECTED)]
            state = worst(cell.state for cell in good)
            if state is None:
                continue
            line = Text(f"{title(_short(robot))}, {engine} " if len(grouped) > 1 else f"{engine} ")
            out.print(line.append(state, style=COLOURS[state]).append(":"))
            names = offered(cells, report)
            for on_robot in causes_on_robot(good):
                size = effect(on_robot.cause.effect)
                where = (f"by {size} in " if size else "in ") + in_order(on_robot.quantities, names)
                _print_item(
                    out, f"{on_robot.cause.text}{_where(on_robot.cause)}: {where}", on_robot.cause.link
                )
            for reason in dict.fromkeys(cell.reason for cell in good if cell.reason):
                _print_item(out, f"the file as it is: {reason}" if state == EXPLAINED else reason, "")


def _print_item(out: Console, text: str, link: str) -> None:
    """Print an entry of a list; an address is dim and last."""
    line = Text(text).append(f"  {link}" if link else "", style="dim")
    out.print(Padding(line, (0, 0, 0, 2), expand=False))


def _where(cause: Cause) -> str:
    """Return the links or joints of a cause, with the lines of the file they begin on."""
    if not cause.where:
        return ""
    lines = cause.lines[: len(cause.where)]
    places = [f"{name}, line {line}" if line else str(name) for name, line in zip_longest(cause.where, lines)]
    more = [f"{len(places) - SHOWN} more"] if len(places) > SHOWN else []
    return f" ({'; '.join([*places[:SHOWN], *more])})"


def _print_spread(out: Console, report: Report) -> None:
    """Print the table of causes: how many robots show each, and which one most."""
    table = Table(header_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("engine", no_wrap=True)
    table.add_column("cause", overflow="fold")
    table.add_column("robots", justify="right", no_wrap=True)
    table.add_column("largest effect", overflow="fold")
    for entry in causes_by_engine(report):
        size, robot = effect(entry.effect), _short(entry.most)[0]
        cause = Text(entry.text).append(f"\n{entry.link}" if entry.link else "", style="dim")
        largest = Text(f"{size} ({robot})" if size else f"({robot})")
        table.add_row(Text(entry.engine), cause, str(len(entry.robots)), largest)
    if table.row_count:
        out.print(table)


def _print_failures(out: Console, report: Report) -> None:
    """Print everything that failed, robots that fail in the same way in one line."""
    groups: dict[tuple, list[Failure]] = {}
    for failure in failures(report):
        key = (failure.engine, failure.state, failure.reason, failure.places)
        groups.setdefault(key, []).append(failure)
    for (engine, state, reason, quantities), alike in groups.items():
        robots = [title(_short((failure.robot, failure.base))) for failure in alike]
        more = [f"{len(robots) - ROBOTS} more"] if len(robots) > ROBOTS else []
        line = Text(f"{'; '.join([*robots[:ROBOTS], *more])}, {engine} ").append(state, style=COLOURS[state])
        line.append(f" ({quantities})" if quantities else "", style="dim")
        out.print(line.append(f": {reason}" if reason else ""))
        causes = {cause.text: cause for failure in alike for cause in failure.causes}
        for cause in causes.values():
            _print_item(out, f"{cause.text}{_where(cause)}", cause.link)


def _print_faults(out: Console, report: Report) -> None:
    """Print the faults of files; of robots whose faults are expected, how many if many."""
    expected: dict[str, int] = {}
    for robot, fault in report.impossible:
        name = _short((robot.name, ""))[0]
        if fault.expected and len(report.robots) > DETAILED:
            expected[name] = expected.get(name, 0) + 1
            continue
        line = Text(f"{name} ").append(fault.word, style="dim" if fault.expected else COLOURS[DISAGREES])
        out.print(line.append(f": {fault}{f' ({fault.expected})' if fault.expected else ''}"))
    if expected:
        names = ", ".join(f"{name} ({count})" for name, count in expected.items())
        text = f"impossible links and joints, or unreadable files, as expected: {names}"
        out.print(Text(text, style="dim"))


def _print_legend(out: Console, report: Report, caption: str) -> None:
    """Print what the letters mean and how many cells have each state."""
    out.print(Text(caption, style="dim"))
    total = total_counts(report)
    for state in STATES:
        if total[state]:
            line = Text().append(f"{LETTERS[state]} {total[state]} {state}", style=COLOURS[state])
            out.print(line.append(f": {MEANINGS[state]}", style="dim"))
    if report.meta.get("files") == "rewritten":
        out.print(Text(REWRITTEN, style="dim"))
