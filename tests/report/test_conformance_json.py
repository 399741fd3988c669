"""Test the JSON files of a comparison."""

import json
from dataclasses import replace

import pytest
from helpers.conformance_reports import QUANTITIES, ROBOTS, reports, sample
from hypothesis import given

from treefactor.check.cells import AGREES, STATES, Cell, Report
from treefactor.exceptions import TreefactorError
from treefactor.report.conformance import read_json, write_json
from treefactor.report.conformance.summary import LETTERS, ordered


def written(tmp_path, report, **options):
    file = tmp_path / "report.json"
    write_json(file, report, **options)
    return file


def plain(report):
    """Return a report's values with NaN equal to itself, and its cells in order."""
    return repr({**report.as_dict(), "cells": [cell.as_dict() for cell in ordered(report)]})


@given(report=reports())
def test_a_report_is_read_back_exactly(tmp_path_factory, report):
    again = read_json(written(tmp_path_factory.mktemp("json"), report))
    assert plain(again) == plain(replace(report, meta=dict(sorted(report.meta.items()))))


@given(report=reports())
def test_a_compact_report_keeps_all_but_digits(tmp_path_factory, report):
    folder = tmp_path_factory.mktemp("json")
    again = read_json(written(folder, report, compact=True))
    texts = [(c.robot, c.base, c.engine, c.quantity, c.state, c.reason) for c in again.cells]
    cells = ordered(report)
    assert texts == [(c.robot, c.base, c.engine, c.quantity, c.state, c.reason) for c in cells]
    for one, cell in zip(again.cells, cells, strict=True):
        rounded = [
            None if x is None else float(f"{x:.2e}") + 0.0  # a zero has no sign
            for x in (cell.error, cell.allowed, cell.ordinary)
        ]
        assert repr([one.error, one.allowed, one.ordinary]) == repr(rounded)
        for cause, given_cause in zip(one.causes, cell.causes, strict=True):
            effect = given_cause.effect
            expected = replace(given_cause, effect=None if effect is None else float(f"{effect:.2e}") + 0.0)
            assert repr(cause) == repr(expected)
    assert written(folder, again, compact=True).read_bytes() == (folder / "report.json").read_bytes()


def test_the_same_run_gives_the_same_bytes_in_any_order(tmp_path):
    report = sample()
    first = written(tmp_path, report).read_bytes()
    report.cells.reverse()
    report = replace(report, meta=dict(reversed(report.meta.items())))
    assert written(tmp_path, report).read_bytes() == first


def test_every_cell_is_one_line_of_the_file(tmp_path):
    report = sample(ROBOTS[:2])
    text = written(tmp_path, report).read_text(encoding="utf-8")
    assert json.loads(text)["meta"]["schema"] == 1
    lines = [line for line in text.splitlines() if line.startswith('{"robot"') and '"state"' in line]
    assert len(lines) == len(report.cells)
    assert json.loads(lines[0].rstrip(","))["engine"] == "pinocchio"


def test_a_compact_file_of_9000_cells_is_small(tmp_path):
    robots = [(f"robot_{k}", "floating", 30) for k in range(60)]
    robots += [(name, base, n) for name, base, n in ROBOTS]
    report = sample(robots)
    assert len(report.cells) > 9000
    size = written(tmp_path, report, compact=True).stat().st_size
    assert size < 600_000, size


@pytest.mark.parametrize("problem", ["twice", "quantity", "robot", "engine"])
def test_a_report_with_cells_of_no_place_cannot_be_compact(tmp_path, problem):
    report = sample(ROBOTS[:1])
    if problem == "twice":
        report.cells.append(report.cells[0])
    else:
        report.cells.append(replace(report.cells[0], **{problem: "other"}))
    with pytest.raises(TreefactorError, match=r"twice|does not list"):
        written(tmp_path, report, compact=True)
    assert len(read_json(written(tmp_path, report)).cells) == len(report.cells)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("{", "is not a report"),
        ("[]", "is not a report"),
        ('{"rows": []}', "is not a report"),
        ('{"meta": {"schema": 2}}', "expected a report of schema 1, got 2"),
        ('{"meta": {"schema": 1}, "engines": [{"no": 1}]}', "is not a report"),
    ],
)
def test_other_files_are_refused(tmp_path, text, match):
    file = tmp_path / "other.json"
    file.write_text(text)
    with pytest.raises(TreefactorError, match=match):
        read_json(file)
    with pytest.raises(TreefactorError, match="cannot read"):
        read_json(tmp_path / "nothing.json")


def test_letters_are_distinct():
    assert set(LETTERS) == set(STATES)
    assert len(set(LETTERS.values())) == len(STATES)


def test_a_report_without_a_schema_gets_it(tmp_path):
    report = Report({}, [], [], QUANTITIES, [])
    assert read_json(written(tmp_path, report)).meta == {"schema": 1}
    assert Cell("a", "b", "c", "d", AGREES).error is None
