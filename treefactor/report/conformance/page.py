"""Write the page of a comparison: robots x engines, each robot with its quantities, causes and numbers.

The page is one file that loads nothing. Every robot is a ``<details>`` whose summary is its line of the
matrix, so that it opens without JavaScript. A script adds the filter.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...check.cells import AGREES, EXPECTED, EXPLAINED, STATES, Cell, Report
from .summary import (
    FAILURES,
    LETTERS,
    MEANINGS,
    RobotCause,
    by_robot,
    causes_by_engine,
    causes_on_robot,
    cells_per_engine,
    counts,
    effect,
    expectation_text,
    failures,
    in_order,
    names_of_engines,
    names_of_quantities,
    number,
    offered,
    shown_error,
    stale,
    title,
    total_counts,
    version_of,
    worst,
)

LISTED = 8  # links or joints shown of a cause, more are folded


def write_html(path: Path, report: Report) -> None:
    """Write the page of a comparison.

    Parameters
    ----------
    path : path-like
    report : Report
    """
    from ..html import render  # draws with NumPy what other pages need

    render(Path(path), "conformance.html", **page_values(report))


def page_values(report: Report) -> dict:
    """Return the variables of the template."""
    engines = names_of_engines(report)
    sections = _sections(report, engines)
    places = {section["key"]: section["id"] for section in sections}
    return {
        "meta": {"treefactor": "", **report.meta},
        "title": title,
        "states": {state: {"letter": LETTERS[state], "class": _class(state)} for state in STATES},
        "meanings": MEANINGS,
        "failing": FAILURES,
        "engines": engines,
        "versions": {engine.name: version_of(engine) for engine in report.engines},
        "quantities": names_of_quantities(report),
        "sections": sections,
        "places": places,
        "totals": total_counts(report),
        "scores": counts(report),
        "columns": _columns(report),
        "denominator": cells_per_engine(report),
        "failures": [(shown, places[shown.robot, shown.base], shown.places) for shown in failures(report)],
        "spread": [
            (shown, places[shown.most], in_order(shown.quantities, names_of_quantities(report)))
            for shown in causes_by_engine(report)
        ],
        "impossible": [
            (robot, fault, places[robot.name, robot.base])
            for robot, fault in report.impossible
            if not fault.expected
        ],
        "stale": [expectation_text(entry) for entry in stale(report)],
        "size": effect,
        "LISTED": LISTED,
    }


def _class(state: str) -> str:
    """Return the name of a state in style sheets."""
    return state.replace(" ", "-")


def _columns(report: Report) -> list[str]:
    """Return the states that occur, the good ones first."""
    total = total_counts(report)
    return [state for state in dict.fromkeys([AGREES, EXPLAINED, EXPECTED, *STATES]) if total[state]]


def _sections(report: Report, engines: list[str]) -> list[dict]:
    """Return one entry for every robot: the row of the matrix, and what opens under it."""
    files = {(robot.name, robot.base): robot for robot in report.robots}
    quantities = names_of_quantities(report)
    return [
        {
            "id": f"r{k}",
            "key": key,
            "name": key[0],
            "base": key[1],
            "robot": files.get(key),
            "row": [worst(cell.state for cell in cells.get(engine, ())) for engine in engines],
            "engines": [
                _engine(engine, cells[engine], quantities, report) for engine in engines if engine in cells
            ],
        }
        for k, (key, cells) in enumerate(by_robot(report).items())
    ]


def _engine(engine: str, cells: list[Cell], quantities: list[str], report: Report) -> dict:
    """Return the results of one engine on one robot."""
    by_quantity = {cell.quantity: cell for cell in reversed(cells)}
    return {
        "name": engine,
        "state": worst(cell.state for cell in cells),
        "cells": [_cell(by_quantity.get(quantity)) for quantity in quantities],
        "letters": "".join(
            LETTERS[by_quantity[quantity].state] if quantity in by_quantity else " "
            for quantity in quantities
        ),
        "causes": _causes(cells, report),
        "reasons": _reasons(cells, report),
    }


def _cell(cell: Cell | None) -> dict | None:
    """Return letter, number and tooltip of one cell."""
    if cell is None:
        return None
    numbers = [
        ("as it is", cell.ordinary),
        ("rewritten" if cell.causes else "error", cell.error),
        ("allowed", cell.allowed),
    ]
    facts = [f"{name} {value:.1e}" for name, value in numbers if value is not None]
    return {
        "state": cell.state,
        "class": _class(cell.state),
        "letter": LETTERS[cell.state],
        "figure": number(shown_error(cell)),
        "facts": ", ".join([cell.state, *facts]),
    }


def _causes(cells: Iterable[Cell], report: Report) -> list[tuple[RobotCause, str]]:
    """Return the causes with the names of the quantities that show them."""
    cells = list(cells)
    names = offered(cells, report)
    return [(on_robot, in_order(on_robot.quantities, names)) for on_robot in causes_on_robot(cells)]


def _reasons(cells: list[Cell], report: Report) -> list[tuple[str, str, str]]:
    """Return state, quantities and reason of cells that have one."""
    groups: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        if cell.reason:
            groups.setdefault((cell.state, cell.reason), []).append(cell.quantity)
    names = names_of_quantities(report)
    return [(state, in_order(quantities, names), reason) for (state, reason), quantities in groups.items()]
