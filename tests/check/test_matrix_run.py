"""A whole comparison with engines in files: what one of them does costs its own cells only."""

import json
from pathlib import Path

import pytest
from helpers.engine_errors import joint, link

from treefactor.check import cells as states
from treefactor.check import tasks
from treefactor.check.engines import ChosenEngine
from treefactor.check.matrix import Matrix, compare
from treefactor.check.robots import Robot
from treefactor.check.workers import Worker
from treefactor.exceptions import AdapterError, TreefactorError
from treefactor.report.conformance.summary import versions

ENGINE = """
import os, time
from treefactor.check.own import *
from treefactor.check.own import load as own_load
NAME, READS, DTYPE, OPTIONS = "{name}", ("urdf",), "float64", {{}}

def load(path, floating, gravity, options=frozenset()):
    {before}
    return own_load(path, floating, gravity, options)
"""
QUANTITIES = ("tree", "H", "bias")
FIRST = 'if str(path).endswith("one.urdf"): '


@pytest.fixture
def robots(tmp_path):
    """Return two robots."""
    written = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.urdf"
        path.write_text(f'<robot name="{name}">{link("a")}{link("b")}{joint("j", "a", "b")}</robot>')
        written.append(Robot(name, path, False))
    return written


@pytest.fixture
def engine(tmp_path):
    """Return a function that writes an engine which executes something before it loads."""

    def write(name, before="pass"):
        path = Path(tmp_path, f"{name}.py")
        path.write_text(ENGINE.format(name=name, before=before))
        return str(path)

    return write


def run(robots, *engines, quantities=QUANTITIES, **options):
    chosen = [ChosenEngine(one) if isinstance(one, str) else one for one in engines]
    return compare(Matrix(robots, chosen, quantities, 1, **options))


def by_engine(report):
    return {(cell.robot, cell.engine, cell.quantity): cell for cell in report.cells}


@pytest.fixture
def hanging(engine, tmp_path, monkeypatch):
    """Return an engine that hangs with the first robot; its time is up as soon as it hangs."""
    begun, left = tmp_path / "begun", Worker.seconds_left.fget
    hang = f'open({str(begun)!r}, "w").close(); print(flush=True); time.sleep(1000)'
    chosen = ChosenEngine(engine("hangs", f"{FIRST}{hang}"), timeout=600.0)

    def seconds_left(worker):
        if worker._timeout == chosen.timeout and begun.exists():
            begun.unlink()
            worker._end = 0.0
        return left(worker)

    monkeypatch.setattr(Worker, "seconds_left", property(seconds_left))
    return chosen


def test_a_crash_and_a_hang_cost_their_own_cells_only(robots, engine, hanging):
    dies = engine("dies", f"{FIRST}os.kill(os.getpid(), 11)")
    report = run(robots, dies, engine("good"), hanging, processes=True)
    judged = by_engine(report)
    assert judged["one", "dies", "H"].state == states.CRASHED
    assert "SIGSEGV" in judged["one", "dies", "H"].reason
    assert judged["one", "hangs", "H"].state == states.TIMED_OUT
    for key in (("one", "good", "H"), ("two", "dies", "H"), ("two", "hangs", "H"), ("two", "good", "bias")):
        assert judged[key].state == states.AGREES, key
    assert [robot.name for robot in report.robots] == ["one", "two"]
    assert len(report.cells) == 2 * 3 * len(QUANTITIES)


def test_the_same_seed_gives_the_same_report(robots, engine):
    texts = [
        json.dumps(run(robots, engine("good"), seed=seed, processes=processes).as_dict())
        for seed, processes in ((3, True), (3, False), (4, False))
    ]
    assert texts[0] == texts[1] != texts[2]


def test_an_engine_that_is_not_installed(robots, engine):
    path = engine("absent")
    Path(path).write_text("import no_such_engine\n")
    judged = by_engine(run(robots, path, engine("good"), processes=False))
    assert judged["two", "absent", "H"].state == states.NOT_INSTALLED
    assert "no_such_engine" in judged["two", "absent", "H"].reason
    assert judged["two", "good", "H"].state == states.AGREES


def test_an_engine_whose_import_fails_says_so_on_one_line(robots, tmp_path):
    path = tmp_path / "broken.py"
    path.write_text('raise RuntimeError("libcuda.so.1:\\n  not found")')
    report = run(robots[:1], str(path), processes=False)
    assert {cell.state for cell in report.cells} == {states.CRASHED}
    assert {cell.reason for cell in report.cells} == {
        "RuntimeError: libcuda.so.1: not found (broken.py, line 1)"
    }


def test_a_missing_engine_is_installed_by_the_line_that_is_its_reason(monkeypatch):
    def fail(name):
        raise AdapterError("Robotics Toolbox cannot be imported (No module named 'roboticstoolbox')")

    monkeypatch.setattr(tasks, "engine_module", fail)
    monkeypatch.setattr(tasks, "engine_version", lambda name: "")
    assert tasks.engine_task(ChosenEngine("rtb")) == "pip install 'treefactor[rtb]'"


def test_a_simulation_that_fails_costs_its_own_cell_only(robots, engine):
    path = Path(engine("fails"))
    path.write_text(path.read_text() + "\ndef settings(*arguments):\n    raise MemoryError('full')\n")
    report = run(robots[:1], str(path), quantities=("H", "simulation"), processes=False)
    cells = {cell.quantity: cell for cell in report.cells}
    assert cells["H"].state == states.AGREES
    assert cells["simulation"].state == states.DISAGREES
    assert cells["simulation"].reason == "no answer: MemoryError: full"


def test_a_simulation_obeys_the_seed_and_has_the_lines_of_its_joints(robots, engine):
    path = Path(engine("settles"))
    text = "\ndef settings(path, floating, gravity, rng):\n    return [('limits', rng.random(), ('j',))]\n"
    path.write_text(path.read_text() + text)
    options = {"quantities": ("simulation",), "processes": False}
    causes = [run(robots[:1], str(path), seed=k, **options).cells[0].causes[0] for k in (1, 1, 2)]
    assert causes[0] == causes[1]
    assert causes[0].effect != causes[2].effect
    assert causes[0].lines == (1,)


def test_a_crash_that_robots_before_caused_is_repeated_in_a_new_process(robots, engine):
    path = engine("worn", "os.abort() if 'worn' in os.environ else os.environ.update(worn='1')")
    judged = by_engine(run(robots, path))
    assert {judged[name, "worn", "H"].state for name in ("one", "two")} == {states.AGREES}


def test_a_file_that_lacks_a_part_of_the_protocol(robots, engine):
    path = engine("short")
    Path(path).write_text("NAME = 'short'\n")
    judged = by_engine(run(robots, path, processes=False))
    assert "lacks READS" in judged["one", "short", "H"].reason


BROKEN = {  # name: text and reason
    "raises": ("raise RuntimeError('boom')", "RuntimeError: boom (raises.py, line 1)"),
    "parses_not": ("def f(:", "SyntaxError"),
    "short": ("NAME = 'short'", "lacks READS"),
    "aborts": ("import os; os.abort()", "SIGABRT"),
}


@pytest.mark.parametrize(("names", "processes"), [([*BROKEN], True), ([*BROKEN][:3], False)])
def test_a_broken_engine_is_not_taken_for_one_that_is_not_installed(robots, engine, names, processes):
    for name in names:
        Path(engine(name)).write_text(f"{BROKEN[name][0]}\n")
    paths = [str(robots[0].path.with_name(f"{name}.py")) for name in names]
    report = run(robots, *paths, engine("good"), processes=processes)
    judged = by_engine(report)
    assert "not installed" not in " ".join(versions(report))
    for name in names:
        assert judged["two", name, "H"].state == states.CRASHED
        assert BROKEN[name][1] in judged["two", name, "H"].reason
    assert judged["two", "good", "H"].state == states.AGREES


@pytest.mark.parametrize("python", ["missing", "folder", "dies"])
def test_an_interpreter_that_cannot_be_started_costs_one_engine_only(robots, engine, tmp_path, python):
    place = tmp_path / python
    if python == "folder":
        place.mkdir()
    elif python == "dies":
        place.write_text("#!/bin/sh\nexit 3\n")
        place.chmod(0o755)
    report = run(robots, ChosenEngine(engine("apart"), str(place)), engine("good"), processes=True)
    judged = by_engine(report)
    reason = "its process died: exit status 3" if python == "dies" else f"cannot start {place}: "
    for name in ("one", "two"):
        assert judged[name, "apart", "H"].state == states.CRASHED
        assert reason in judged[name, "apart", "H"].reason
        assert judged[name, "good", "H"].state == states.AGREES
    assert "not installed" not in " ".join(versions(report))


@pytest.mark.parametrize("change", ["path.write_text('<robot/>')", "path.unlink()"])
def test_a_file_that_changes_while_it_is_compared_is_an_error(robots, engine, change):
    changing = engine("changes", f"path = type(path)({str(robots[1].path)!r}); path.exists() and {change}")
    with pytest.raises(TreefactorError, match=r"two.urdf changed while it was compared"):
        run(robots, changing, processes=False)


def test_a_file_that_cannot_be_read_is_an_error(robots, engine, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(type(robots[0].path), "read_bytes", refuse)
    with pytest.raises(TreefactorError, match=r"cannot read .*one.urdf: Permission denied"):
        run(robots, engine("good"), processes=False)


def test_engines_of_one_name_are_refused(robots, engine, tmp_path):
    path = engine("good")
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "good.py"
    other.write_text(Path(path).read_text())
    with pytest.raises(TreefactorError, match="several engines are called good"):
        run(robots, path, str(other))
    report = run(robots, path, ChosenEngine(str(other), label="other"), processes=False)
    assert [one.name for one in report.engines] == ["good", "other"]
    assert {cell.state for cell in report.cells} == {states.AGREES}


def test_a_robot_that_no_reference_loads_is_excluded(robots, engine):
    robots[0].path.write_text("<robot")
    judged = by_engine(run(robots, engine("good"), processes=False))
    assert judged["one", "good", "H"].state == states.REFUSED  # by the stand-in, which has the same reader
    fault = "not well-formed XML: unclosed token: line 1, column 0"
    own = f"Pinocchio cannot load it: The file one.urdf does not contain a valid URDF model. ({fault})"
    reason = f"{fault}; no reference: pinocchio: {own}; treefactor: {fault}"
    assert judged["one", "good", "H"].reason == reason
    assert judged["two", "good", "H"].state == states.AGREES
