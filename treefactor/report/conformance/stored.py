"""Write and read the JSON files of a comparison; every other report can be made from them.

A file holds the report as `Report.as_dict` returns it, one record in a line. Cells are in the order of
robots, engines and quantities, so that the same run writes the same bytes. Numbers have as many digits as
they need to be read back exactly; NaN and infinities are the texts "NaN", "Infinity" and "-Infinity".

A compact file holds the same for the pages of the documentation, with numbers of three digits. ``causes``,
``places`` and ``reasons`` list every text once; ``results`` has one line for a robot and engine:

- ``robot``, ``engine``: positions in the lists of these names;
- ``states``: one letter for each quantity (see ``LETTERS``), a space where there is no cell;
- ``error``, ``allowed``, ``ordinary``: one number for each quantity;
- ``causes``: by the position of the quantity, lists of positions in ``causes`` and ``places``, and effect;
- ``reasons``: by the position of the quantity, a position in ``reasons``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ...check.cells import SCHEMA, Cause, Cell, CheckedRobot, Report, UsedEngine
from ...exceptions import TreefactorError
from .summary import LETTERS, by_robot, ordered

COMPACT = "compact"
DIGITS = 3  # significant digits of numbers in a compact file
NUMBERS = ("error", "allowed", "ordinary")
STATES = {letter: state for state, letter in LETTERS.items()}


def write_json(path: Path, report: Report, compact: bool = False) -> None:
    """Write a report to a file; a compact one keeps three digits of every number.

    Raises
    ------
    TreefactorError
        If the report is to be compact and has two cells of one robot, engine and quantity, or a cell of a
        robot, engine or quantity that it does not list.
    """
    content = _compact(report) if compact else _full(report)
    # file names may hold bytes that are not text: as \udc80, which JSON has, too
    text = _text(content)
    Path(path).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def read_json(path: Path) -> Report:
    """Return the report that a file holds, compact or not.

    Raises
    ------
    TreefactorError
        If the file cannot be read, or is not a report of this schema.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        schema = content["meta"]["schema"]
        if schema == SCHEMA:
            report = _read_compact(content) if content.get("layout") == COMPACT else _read_full(content)
            if unknown := {cell.state for cell in report.cells}.difference(LETTERS):
                raise ValueError(f"unknown state {unknown.pop()!r}")
            return report
    except OSError as error:
        raise TreefactorError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise TreefactorError(f"{path} is not a report of `treefactor check --json`: {what}") from error
    raise TreefactorError(f"{path}: expected a report of schema {SCHEMA}, got {schema!r}")


def _full(report: Report) -> dict:
    cells = [cell.as_dict() for cell in ordered(report)]
    for cell in cells:
        cell |= {name: _written(cell[name]) for name in NUMBERS}
        for cause in cell["causes"]:
            cause["effect"] = _written(cause["effect"])
    return {**_head(report), "cells": cells}


def _read_full(content: dict) -> Report:
    for cell in content["cells"]:
        cell |= {name: _number(cell[name]) for name in NUMBERS}
        for cause in cell["causes"]:
            cause["effect"] = _number(cause["effect"])
    return Report.from_dict(content)


def _head(report: Report) -> dict:
    """Return everything but the cells, with the schema."""
    return {
        "meta": dict(sorted({"schema": SCHEMA, **report.meta}.items())),
        "engines": [asdict(engine) for engine in report.engines],
        "robots": [asdict(robot) for robot in report.robots],
        "quantities": list(report.quantities),
        "expectations": [dict(entry) for entry in report.expectations],
    }


def _text(content: dict) -> str:
    """Return JSON with one line for every entry of a list."""
    lines = []
    for key, value in content.items():
        if isinstance(value, list) and value and not isinstance(value[0], str):
            entries = ",\n".join(_json(entry) for entry in value)
            lines.append(f"{_json(key)}: [\n{entries}\n]")
        else:
            lines.append(f"{_json(key)}: {_json(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _json(value: Any) -> str:
    # dates of expectations are written as text
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)


def _written(value: float | None, digits: int = 0) -> float | str | None:
    """Return a number as JSON holds it, rounded to so many digits unless they are 0."""
    if value is None:
        return None
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    value = float(f"{value:.{digits - 1}e}") if digits else value
    return int(value) if digits and value in (0, 1) else value


def _number(value: float | str | None) -> float | None:
    return None if value is None else float(value)


class _Table:
    """Values, each once; calling it returns the position of a value."""

    def __init__(self) -> None:
        self.positions: dict = {}

    def __call__(self, value) -> int:
        return self.positions.setdefault(value, len(self.positions))

    def __iter__(self):
        return iter(self.positions)


def _compact(report: Report) -> dict:
    """Return the content of a compact file."""
    tables = _Table(), _Table(), _Table()
    robots = {(robot.name, robot.base): k for k, robot in enumerate(report.robots)}
    engines = {engine.name: k for k, engine in enumerate(report.engines)}
    results = []
    for robot, of_engines in by_robot(report).items():
        for engine, cells in of_engines.items():
            if robot not in robots or engine not in engines:
                raise TreefactorError(f"the report has cells of {robot} and {engine}, and does not list both")
            place = {"robot": robots[robot], "engine": engines[engine]}
            results.append(place | _result(_by_quantity(report, cells), *tables))
    causes, places, reasons = tables
    return {
        **_head(report),
        "layout": COMPACT,
        "causes": [{"step": step, "text": text, "link": link} for step, text, link in causes],
        "places": [{"where": where, "lines": lines} for where, lines in places],
        "reasons": list(reasons),
        "results": results,
    }


def _result(row: list[Cell | None], causes: _Table, places: _Table, reasons: _Table) -> dict:
    """Return the cells of one robot and engine, one for each quantity, as one record."""
    result: dict = {"states": "".join(LETTERS[cell.state] if cell else " " for cell in row)}
    for name in NUMBERS:
        numbers = [_written(getattr(cell, name), DIGITS) if cell else None for cell in row]
        if any(number is not None for number in numbers):
            result[name] = numbers
    for k, cell in enumerate(row):
        if cell and cell.causes:
            result.setdefault("causes", {})[str(k)] = [
                [
                    causes((cause.step, cause.text, cause.link)),
                    places((cause.where, cause.lines)),
                    _written(cause.effect, DIGITS),
                ]
                for cause in cell.causes
            ]
        if cell and cell.reason:
            result.setdefault("reasons", {})[str(k)] = reasons(cell.reason)
    return result


def _by_quantity(report: Report, cells: list[Cell]) -> list[Cell | None]:
    """Return the cells of one robot and engine in the order of the quantities, None for absent ones."""
    by_name: dict[str, Cell] = {cell.quantity: cell for cell in cells}
    if len(by_name) < len(cells) or not set(by_name) <= set(report.quantities):
        what = f"{cells[0].robot}, {cells[0].base} base, {cells[0].engine}"
        raise TreefactorError(f"the report has a quantity twice, or one that it does not list: {what}")
    return [by_name.get(quantity) for quantity in report.quantities]


def _read_compact(content: dict) -> Report:
    report = Report(
        content["meta"],
        [UsedEngine(**engine) for engine in content["engines"]],
        [CheckedRobot.from_dict(robot) for robot in content["robots"]],
        list(content["quantities"]),
        expectations=list(content["expectations"]),
    )
    for result in content["results"]:
        report.cells.extend(_cells(result, report, content))
    return report


def _cells(result: dict, report: Report, content: dict) -> Iterable[Cell]:
    """Yield the cells of one robot and engine."""
    robot, engine = report.robots[result["robot"]], report.engines[result["engine"]]
    for k, (quantity, letter) in enumerate(zip(report.quantities, result["states"], strict=True)):
        if letter == " ":
            continue
        cell = Cell(robot.name, robot.base, engine.name, quantity, STATES[letter])
        numbers = {name: _number(result[name][k]) for name in NUMBERS if name in result}
        reason = result.get("reasons", {}).get(str(k))
        yield replace(
            cell,
            **numbers,
            causes=tuple(
                _cause(content["causes"][text], content["places"][place], effect)
                for text, place, effect in result.get("causes", {}).get(str(k), ())
            ),
            reason="" if reason is None else content["reasons"][reason],
        )


def _cause(text: dict, place: dict, effect: float | str | None) -> Cause:
    return Cause(**text, where=tuple(place["where"]), lines=tuple(place["lines"]), effect=_number(effect))
