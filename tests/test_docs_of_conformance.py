"""The pages of the comparison show the stored results, and every upstream report has its minimal file."""

import importlib
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from helpers.conformance_reports import AXES, ROBOTS, only, sample
from rich.cells import cell_len

from treefactor.check.cells import (
    AGREES,
    DISAGREES,
    EXPECTED,
    EXPLAINED,
    NOT_INSTALLED,
    REFUSED,
    Cell,
    Report,
    UsedEngine,
)
from treefactor.check.engines import ENGINES, ChosenEngine, engine_version
from treefactor.check.matrix import Matrix, compare
from treefactor.check.traps import trap_robots
from treefactor.exceptions import TreefactorError
from treefactor.report.conformance import WIDTH, print_report, read_json, write_json
from treefactor.report.conformance.summary import causes_by_engine

DOCS = Path(__file__).parents[1] / "docs"
LARGEST = 1_000_000  # bytes of the stored results


@pytest.fixture
def pages(monkeypatch):
    """Return the module that makes the pages."""
    pytest.importorskip("matplotlib", reason="exhibits draws with it")
    monkeypatch.syspath_prepend(DOCS / "code")
    return importlib.import_module("conformance_pages")


@pytest.fixture
def with_report(pages, monkeypatch):
    """Let the pages show another report."""
    return lambda report: monkeypatch.setattr(pages, "stored", lambda: report)


def trapped(defect, *cells):
    """Return a report of the file of one defect."""
    name = f"traps/{defect.trap}"
    report = sample([(name, "fixed", 2)])
    report.cells[:] = [Cell(name, "fixed", *cell) for cell in cells]
    return report


def test_the_stored_results_are_small_and_complete(pages):
    report = pages.stored()
    assert pages.STORED.stat().st_size < LARGEST
    assert report.meta["schema"] == 1
    assert {engine.name for engine in report.engines} <= set(ENGINES)
    assert {cell.engine for cell in report.cells} == {engine.name for engine in report.engines}
    assert all(engine.version for engine in report.engines)
    for shown in (pages.scores(), pages.causes(), pages.meanings(), pages.reports()):
        ElementTree.fromstring(f"<main>{shown}</main>")


def test_the_pages_show_counts_causes_and_links(pages, with_report, capsys):
    with_report(sample())
    pages.facts()
    assert "7 robots and 0 traps\n12 engines, 1260 results" in capsys.readouterr().out
    assert "<td>newton 1.8.0 (float32)</td><td>27</td>" in pages.scores()
    causes = pages.causes()
    assert "inertias are recomputed from collision shapes" in causes
    assert '<a href="https://github.com/bulletphysics/bullet3/issues/1671">bulletphysics/' in causes
    assert "6 robots, such as panda" in causes
    assert "links without &lt;inertial&gt; are given 1 kg" in causes


def test_results_of_several_runs_are_joined_and_stored(pages, tmp_path, monkeypatch, capsys):
    light, heavy = sample(ROBOTS[:2], ["pinocchio", "rtb"]), sample(ROBOTS[1:3], ["rtb", "frax"])
    for name, report in (("light", light), ("heavy", heavy)):
        write_json(tmp_path / f"{name}.json", report)
    monkeypatch.setattr(pages, "STORED", tmp_path / "stored.json")
    pages.main([str(tmp_path / "light.json"), str(tmp_path / "heavy.json")])
    stored = read_json(tmp_path / "stored.json")
    assert [robot.name for robot in stored.robots] == ["ur5", "panda", "tiago_dual"]
    assert [engine.name for engine in stored.engines] == ["pinocchio", "rtb", "frax"]
    assert len(stored.cells) == (2 * 2 + 2 * 2 - 1) * len(stored.quantities)
    assert "MB" in capsys.readouterr().out


def test_a_cause_of_an_engine_is_listed_once(pages):
    causes = [(one.engine, one.text) for one in causes_by_engine(pages.stored())]
    assert len(set(causes)) == len(causes)
    assert len([text for engine, text in causes if engine == "dart" and "effort" in text]) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"meta": {"seed": 8}}, "expected runs with one seed, got 7 and 8"),
        ({"meta": {"samples": 9}}, "expected runs with one samples, got 3 and 9"),
        ({"meta": {"treefactor": "9.9"}}, "expected runs with one treefactor"),
        ({"meta": {"schema": 2}}, "expected a report of schema 1, got 2"),
        ({"robots": {"sha256": "other"}}, "expected runs of ur5, fixed base, with one sha256"),
        ({"engines": {"version": "0.0.1"}}, "expected runs of pinocchio with one version"),
        ({"cells": {"state": "fine"}}, "unknown state 'fine'"),
        ({"cells": {"colour": "red"}}, "colour"),
    ],
)
def test_runs_that_do_not_belong_together_are_not_joined(pages, tmp_path, monkeypatch, change, message):
    paths = [tmp_path / "one.json", tmp_path / "other.json"]
    for path in paths:
        write_json(path, sample(ROBOTS[:1], ["pinocchio", "rtb"]))
    content = json.loads(paths[1].read_text())
    ((part, values),) = change.items()
    (content[part] if part == "meta" else content[part][0]).update(values)
    paths[1].write_text(json.dumps(content))
    monkeypatch.setattr(pages, "STORED", tmp_path / "stored.json")
    with pytest.raises(SystemExit) as caught:
        pages.main(map(str, paths))
    assert message in str(caught.value)
    assert not pages.STORED.exists()


def test_a_run_without_an_engine_replaces_none_of_its_results(pages):
    report = sample(ROBOTS[:1], ["pinocchio", "rtb"])
    lacking = replace(
        report,
        engines=[report.engines[1], UsedEngine("pinocchio")],
        cells=[replace(cell, state=NOT_INSTALLED, error=None) for cell in report.cells],
    )
    joined = pages.joined([report, lacking])
    assert joined.engines == report.engines
    assert sorted(map(repr, joined.cells)) == sorted(map(repr, report.cells))
    with pytest.raises(TreefactorError, match="got none"):
        pages.joined([])


def test_every_defect_has_a_file_and_an_engine(pages):
    assert len(pages.DEFECTS) >= 10
    for defect in pages.DEFECTS:
        assert defect.engine in ENGINES
        assert pages.trap_of(defect).text if defect.trap else defect.code
        assert not defect.code or bool(defect.trap) == bool(re.search(r"\bpath\b", defect.code)), defect.title
        assert defect.link == "" or defect.link.startswith("https://")
        compile(defect.code, defect.title, "exec")


def test_the_stored_results_show_every_defect_or_its_lines_do(pages):
    report = pages.stored()
    engines = {engine.name for engine in report.engines}
    for defect in pages.DEFECTS:
        if defect.engine in engines and not defect.code:
            assert pages.NOTHING not in pages.evidence(defect, report), defect.title


def test_a_report_to_upstream_has_versions_numbers_and_the_file(pages):
    (defect,) = (one for one in pages.DEFECTS if one.trap == "axis_negative")
    cells = [
        ("pinocchio", "H", AGREES, 1e-16, 1e-14, 1e-16),
        ("treefactor", "H", AGREES, 1e-16, 1e-14, 1e-16),
        ("mujoco", "H", DISAGREES, 0.1, 1e-14, 0.1),
        ("rtb", "H", EXPLAINED, 1e-16, 1e-14, 0.49, (AXES,)),
        ("rtb", "placements", AGREES, 1e-16, 1e-14, 1e-16),
    ]
    text = pages.paste(defect, trapped(defect, *cells))
    for said in (
        *(
            f"### {defect.title}",
            "rtb 1.5.0.",
            "Deviations from Pinocchio, relative to the size of the quantity: H 49%.",
        ),
        *("these engines agree with each other: pinocchio 4.1.0, treefactor 0.2.0.", "Python 3.11.2"),
        *("`axis_negative.urdf`, a joint axis along -z:", 'xyz="0 0 -1"', "--engine rtb` repeats it"),
    ):
        assert said in text, said


def test_all_causes_of_the_deviations_are_named(pages):
    (defect,) = (one for one in pages.DEFECTS if (one.engine, one.trap) == ("pybullet", "no_inertial"))
    text = " ".join(pages.evidence(defect, pages.stored()))
    assert "They have these causes together: " in text
    assert "gives links without <inertial> 1 kg" in text
    assert "computes inertias from collision shapes" in text


def test_a_refusal_is_quoted(pages):
    (defect,) = (one for one in pages.DEFECTS if one.trap == "prismatic")
    report = trapped(
        defect, ("adam", "H", REFUSED, None, None, None, (), "ValueError: shapes (3,3) and (1,)")
    )
    assert "The file as it is: ValueError: shapes (3,3) and (1,)." in pages.paste(defect, report)
    assert "does not have it" in pages.paste(defect, Report(report.meta))


def test_expectations_of_ours_are_not_in_reports_to_upstream(pages):
    (defect,) = (one for one in pages.DEFECTS if one.trap == "prismatic")
    reason = "ValueError: shapes; timed out, as expected: shapes https://a.b/1"
    report = trapped(defect, ("adam", "H", EXPECTED, None, None, None, (), reason))
    assert "The file as it is: ValueError: shapes." in pages.paste(defect, report)
    assert "as expected" not in pages.paste(defect, report)


def test_what_lines_of_code_show_is_not_said_of_the_comparison(pages):
    (defect,) = (one for one in pages.DEFECTS if one.title.startswith("The default gravity"))
    text = pages.paste(
        defect,
        trapped(
            defect,
            ("adam", "centre of mass", EXPLAINED, 1e-16, 1e-14, 0.1, (AXES,)),
            ("drake", "centre of mass", AGREES, 1e-16, 1e-14, 1e-16),
        ),
    )
    assert re.search(rf"\*\*Observed:\*\* adam.*\. {re.escape(pages.BY_CODE)}\n", text)
    assert "`plain.urdf`" in text
    assert "treefactor check" not in text


def test_a_defect_without_a_file_is_shown_by_its_lines_alone(pages, monkeypatch, with_report):
    (defect,) = (one for one in pages.DEFECTS if not one.trap)
    monkeypatch.setattr(pages, "DEFECTS", (defect,))
    with_report(only(AGREES))
    text = pages.paste(defect, pages.stored())
    assert pages.BY_CODE in text
    assert "xml" not in text
    assert ".urdf" not in text
    shown = ElementTree.fromstring(f"<main>{pages.reports()}</main>")
    assert [one.text for one in shown.iter("summary")] == ["Lines of Python", "Text to paste"]
    assert "JointModelUniversal(x, y)" in "".join(shown.itertext())


def test_hostile_text_is_escaped(pages, with_report, monkeypatch):
    defect = replace(pages.DEFECTS[0], text="<script>&", title="]]>", link="https://a.b/\"'<>")
    monkeypatch.setattr(pages, "DEFECTS", (defect,))
    with_report(only(AGREES))
    shown = ElementTree.fromstring(f"<main>{pages.reports()}</main>")
    assert "<script>&" in "".join(shown.itertext())
    assert shown.find(".//script") is None


def test_sphinx_writes_the_matrix(pages, with_report, tmp_path):
    with_report(sample(ROBOTS[:1]))
    connected = {}
    pages.setup(SimpleNamespace(connect=connected.__setitem__))
    builder = SimpleNamespace(format="html")
    app = SimpleNamespace(builder=builder, outdir=tmp_path)
    connected["build-finished"](app, None)
    assert "ur5" in (tmp_path / pages.MATRIX).read_text(encoding="utf-8")
    (tmp_path / pages.MATRIX).unlink()
    connected["build-finished"](app, ValueError("failed"))
    builder.format = "latex"
    connected["build-finished"](app, None)
    assert not (tmp_path / pages.MATRIX).exists()
    assert "conformance_pages" in sys.modules


@pytest.mark.parametrize(
    "title", ["The default gravity", "Derivatives of inverse", "ModelLoader", "getFrame", "Robot.accel"]
)
def test_the_lines_of_a_report_show_its_defect(pages, title, tmp_path):
    (defect,) = (one for one in pages.DEFECTS if one.code and one.title.startswith(title))
    if not engine_version(defect.engine):
        pytest.skip(f"{defect.engine} is not installed")
    code = defect.code
    if defect.trap:
        path = tmp_path / pages.file_of(defect)
        path.write_text(pages.trap_of(defect).text, encoding="utf-8")
        code = f"path = {str(path)!r}\n{code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    shown = re.findall(r"print\(.*#(.*)", defect.code)
    assert done.returncode == (0 if shown else -signal.SIGSEGV)
    for text in shown:
        assert text.strip() in done.stdout


SHOWN = re.compile(r"^    \$ (treefactor check .*)\n((?:    .+\n|\n(?=    ))*)", re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/commands.md"])
def test_the_pages_show_what_the_command_prints(page):
    pytest.importorskip("pybullet", reason="the pages show PyBullet")
    pytest.importorskip("idyntree", reason="the pages show iDynTree")
    ((command, shown),) = SHOWN.findall((DOCS.parent / page).read_text(encoding="utf-8"))
    environment = {**os.environ, "COLUMNS": "140"}
    done = subprocess.run(
        [sys.executable, "-m", *command.split()],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
        check=True,
    )

    def lines(text):
        """Return the lines without spaces and the digits that machines and versions of engines change."""
        lines = (re.sub(r"[\d.]+(e-\d+|%|×)|\s+", " ", line).strip() for line in text.splitlines())
        return [line for line in lines if line and line[0] != "─"]

    printed = lines(done.stdout)
    assert [line for line in lines(shown) if line not in printed] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine", sorted({"dart", "adam", "rtb", "newton", "drake", "pinocchio", "mujoco", "pybullet"})
)
def test_every_defect_is_found_by_the_comparison(pages, engine, tmp_path):
    if not engine_version(engine):
        pytest.skip(f"{engine} is not installed")
    defects = [one for one in pages.DEFECTS if one.engine == engine and not one.code]
    names = {f"traps/{one.trap}" for one in defects}
    chosen = [robot for robot in trap_robots(tmp_path) if robot.name in names]
    report = compare(Matrix(chosen, [ChosenEngine(engine)], samples=1))
    for defect in defects:
        assert pages.NOTHING not in pages.evidence(defect, report), defect.title


def test_the_stored_report_is_at_most_100_columns_wide(pages, capsys):
    print_report(pages.stored())
    assert max(map(cell_len, capsys.readouterr().out.splitlines())) <= WIDTH == 100
