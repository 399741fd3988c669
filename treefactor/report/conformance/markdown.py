"""Write a comparison as Markdown for the summary of a GitHub job: one table and what failed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...check.cells import AGREES, EXPECTED, EXPLAINED, STATES, Report
from .summary import (
    FAILURES,
    LETTERS,
    by_robot,
    cells_per_engine,
    counts,
    expectation_text,
    failures,
    missing_engines,
    names_of_engines,
    names_of_quantities,
    stale,
    title,
    total_counts,
    version_of,
    worst,
)

LARGEST = 900_000  # bytes; GitHub refuses summaries of 1 MiB
ROBOTS = 60  # lines of the matrix; for more robots, a table of engines and states
CELL = 2_000  # characters of one reason
SPECIAL = re.compile(r"[^0-9A-Za-z\s,:;/.=()-]", re.ASCII)


def write_markdown(path: Path, report: Report) -> None:
    """Write a comparison as Markdown below 1 MiB: counts, one table, and everything that failed."""
    Path(path).write_text(markdown(report), encoding="utf-8", errors="backslashreplace", newline="\n")


def markdown(report: Report) -> str:
    """Return a comparison as Markdown: counts, one table, and everything that failed."""
    total = total_counts(report)
    counted = ", ".join(f"{total[state]} {state}" for state in STATES[::-1] if total[state])
    lines = ["### treefactor check", "", f"{counted or 'Nothing was compared'}.", ""]
    few = len(by_robot(report)) <= ROBOTS
    lines += _matrix(report) if few else _scores(report)
    return _limited("\n".join(lines) + "\n", _failed(report))


def escaped(text: object) -> str:
    """Return text that Markdown and HTML show as it is, in one line."""
    plain = " ".join(str(text).split())
    plain = plain if len(plain) <= CELL else f"{plain[:CELL]} …"
    return SPECIAL.sub(lambda match: f"&#{ord(match[0])};" if ord(match[0]) < 128 else match[0], plain)


def code(text: object) -> str:
    """Return a name as code, in which nothing is a link or a mention."""
    return f"<code>{escaped(text)}</code>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], aligned: str = ":-:") -> list[str]:
    """Return the lines of a table whose first column is aligned to the left."""
    lines = [head, [":--", *[aligned] * (len(head) - 1)], *rows]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


def _matrix(report: Report) -> list[str]:
    """Return the table robots x engines with the worst states, and what its letters mean."""
    missing = missing_engines(report)
    engines = [name for name in names_of_engines(report) if name not in missing]
    versions = {engine.name: version_of(engine) for engine in report.engines}
    rows = []
    for robot, cells in by_robot(report).items():
        states = [worst(cell.state for cell in cells.get(engine, ())) for engine in engines]
        letters = [LETTERS[state] if state else "" for state in states]
        marks = [
            f"**{letter}**" if state in FAILURES else letter
            for state, letter in zip(states, letters, strict=True)
        ]
        rows.append([code(title(robot)), *marks])
    if not rows or not engines:
        return []
    key = ", ".join(f"{letter} {state}" for state, letter in LETTERS.items())
    return [
        *table(["robot", *(escaped(versions.get(engine, engine)) for engine in engines)], rows),
        f"The worst state over {len(names_of_quantities(report))} quantities: {key}.",
        "",
    ]


def _scores(report: Report) -> list[str]:
    """Return the table engines x states."""
    total, by_engine = total_counts(report), counts(report)
    states = [state for state in dict.fromkeys([AGREES, EXPLAINED, EXPECTED, *STATES]) if total[state]]
    versions = {engine.name: version_of(engine) for engine in report.engines}
    rows = [
        [escaped(versions.get(engine, engine)), *(str(by_engine[engine][state] or "") for state in states)]
        for engine in by_engine
    ]
    caption = f"Cells of {len(by_robot(report))} robots, of {cells_per_engine(report)} for every engine."
    return [*table(["engine", *states], rows, "--:"), caption, ""]


def _failed(report: Report) -> list[str]:
    """Return one line for everything that failed, for faults of files, and for stale expectations."""
    lines = []
    for failure in failures(report):
        reason = f": {escaped(failure.reason)}" if failure.reason else ""
        names = failure.places
        quantities = f" ({escaped(names)})" if names else ""
        causes = "".join(
            f"; {escaped(cause.text)} {code(', '.join(cause.where))}" for cause in failure.causes
        )
        who = f"{code(title((failure.robot, failure.base)))}, {escaped(failure.engine)}"
        lines.append(f"- {who} **{failure.state}**{quantities}{reason}{causes}")
    lines += [
        f"- {code(robot.name)} **{fault.word}**: {escaped(fault)}"
        for robot, fault in report.impossible
        if not fault.expected
    ]
    lines += [
        f"- stale expectation, nothing that it describes differs: {code(expectation_text(entry))}"
        for entry in stale(report)
    ]
    return lines


def _limited(head: str, lines: list[str]) -> str:
    """Return the text with as many of the lines as fit."""
    left = LARGEST - len(head.encode("utf-8", "backslashreplace"))
    kept = []
    for line in lines:
        left -= len(line.encode("utf-8", "backslashreplace")) + 1
        if left < 0:
            kept.append(f"- and {len(lines) - len(kept)} more: see the JSON or HTML report")
            break
        kept.append(line)
    return head + "".join(f"{line}\n" for line in kept)
