"""Test the pytest plugin with engines in files: tests of cells, expectations, markers, xdist, reports."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest
import scipy.spatial.transform  # noqa: F401  here, as it cannot be imported again in the sessions of the tests
from helpers.stand_in_engines import IN_PROCESS, write_project

from treefactor.check.cells import EXPLAINED, Cell
from treefactor.check.judge import ALL_QUANTITIES
from treefactor.check.matrix import Matrix
from treefactor.check.plugin import marker
from treefactor.check.plugin.items import description
from treefactor.check.project import selection
from treefactor.check.robots import bundled
from treefactor.exceptions import AdapterError

with suppress(AdapterError):  # here, as it cannot be imported again in the sessions of the tests
    from treefactor.adapters import _pinocchio_engine  # noqa: F401

pytest_plugins = "pytester"
GRAVITY = ("--treefactor-quantities", "H", "gravity,com")


@pytest.fixture
def project(pytester, monkeypatch):
    """Return a function that runs pytest in a folder with robots and engines, which run in this process."""
    monkeypatch.setattr(selection, "Matrix", partial(Matrix, processes=False))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    write_project(pytester.path, "good", "damps", "wrong", "refuses", "missing")

    def run(*arguments, **files):
        for name, text in files.items():
            (pytester.path / name.replace("__", ".")).write_text(text)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments)

    run.path = pytester.path
    return run


def engines(*names):
    return ("--treefactor-engines", *(f"{name}.py" for name in names))


def test_a_link_that_cannot_exist_is_a_test_that_fails(project):
    text = (project.path / "arm.urdf").read_text().replace('ixx="0.2"', 'ixx="-1"')
    result = project("--treefactor", "odd.urdf", *engines("good"), *GRAVITY, odd__urdf=text)
    result.assert_outcomes(passed=3, failed=1)
    line = 1 + text[: text.index('<link name="upper"')].count("\n")
    result.stdout.fnmatch_lines([f"odd.urdf: impossible: link 'upper', line {line}: principal moment -1*"])
    result = project(
        "--treefactor", "odd.urdf", "--treefactor-fail-on", "disagrees", *engines("good"), *GRAVITY
    )
    result.assert_outcomes(passed=3, xfailed=1)
    expected = '[[expect]]\nrobot = "odd.urdf"\ncause = "negative"\n'
    result = project("--treefactor", "odd.urdf", *engines("good"), *GRAVITY, treefactor__toml=expected)
    assert result.parseoutcomes()["xfailed"] == 1
    assert "failed" not in result.parseoutcomes()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('<mass value="', '<mass value="-', "impossible: line *has a negative mass*"),
        ("</robot>", "", "unreadable: not well-formed XML*"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_test_that_fails(project, old, new, expected):
    text = (project.path / "arm.urdf").read_text().replace(old, new)
    only = "--treefactor-fail-on", "impossible"
    result = project("--treefactor", "odd.urdf", *only, *engines("good"), *GRAVITY, odd__urdf=text)
    result.assert_outcomes(skipped=3, failed=1)
    result.stdout.fnmatch_lines([f"odd.urdf: {expected}"])
    assert result.ret == 1


def test_every_cell_is_a_test(project):
    result = project("--treefactor", "arm.urdf", *engines("good"), "-v")
    result.assert_outcomes(passed=len(ALL_QUANTITIES) - 1, skipped=1)
    for name in ("H", "qdd", "centre_of_mass", "Jdotv"):
        result.stdout.fnmatch_lines([f"arm.urdf::arm-good-{name} PASSED*"])
    assert all(line.isascii() for line in result.outlines if "::" in line)
    assert result.ret == 0


def test_an_explained_failure_shows_the_error_with_and_without_the_causes():
    cell = Cell("arm", "fixed", "dart", "H", EXPLAINED, 2e-16, 1e-14, 0.5)
    shown = "arm (fixed), dart: H explained, the file as it is: {}, without the causes: error 2.0e-16, "
    shown += "1.0e-14 is rounding"
    assert description(cell) == shown.format("error 5.0e-01")
    assert description(replace(cell, ordinary=None)) == shown.format("refused")


def test_failures_show_figures(project):
    result = project("--treefactor", "arm.urdf", "damped.urdf", *engines("damps", "wrong"), *GRAVITY)
    result.assert_outcomes(passed=10, failed=2)
    result.stdout.fnmatch_lines(
        [
            "arm.urdf (fixed), wrong: centre of mass disagrees, error 1.0e-01, 1.4e-14 is rounding",
            "FAILED arm.urdf::arm-wrong-centre_of_mass*",
            "FAILED damped.urdf::damped-wrong-centre_of_mass*",
        ]
    )
    assert result.ret == 1


def test_refusals_fail_and_missing_engines_are_skipped(project):
    arguments = (
        "--treefactor",
        "arm.urdf",
        *engines("refuses", "missing"),
        "--treefactor-quantities",
        "H",
        "-rs",
    )
    result = project(*arguments)
    result.assert_outcomes(failed=1, skipped=1)
    result.stdout.fnmatch_lines(["*it has elbows", "SKIPPED*arm.urdf: not installed*no_such_engine*"])
    project(*arguments, "--treefactor-require").assert_outcomes(failed=2)


def test_a_missing_engine_names_the_call_of_pip(project, monkeypatch):
    monkeypatch.setattr("treefactor.check.matrix.engine_task", no_mujoco)
    result = project("--treefactor", "arm.urdf", "--treefactor-engines", "mujoco", "-rs", *GRAVITY)
    result.assert_outcomes(skipped=3)
    result.stdout.fnmatch_lines(["SKIPPED*not installed: * pip install 'treefactor[[]mujoco]'"])


def no_mujoco(chosen):
    return "MuJoCo cannot be imported: pip install 'treefactor[mujoco]'"


@pytest.mark.parametrize(
    ("extra", "outcomes"),
    [
        ((), {"passed": 1, "failed": 1, "xfailed": 1}),
        (("-k", "gravity"), {"xfailed": 1, "deselected": 2}),
        (("-m", "treefactor(quantity='H')"), {"passed": 1, "deselected": 2}),
        (("--deselect", "damped.urdf::damped-damps-H"), {"failed": 1, "xfailed": 1, "deselected": 1}),
    ],
)
def test_expected_cells_are_expected_failures(project, extra, outcomes):
    configuration = """
        robots = ["damped.urdf"]
        engines = ["damps.py"]
        quantities = ["H", "gravity", "com"]
        fail_on = ["explained", "stale"]
        [[expect]]
        robot = "damped"
        engine = "damps"
        quantity = "gravity"
        cause = "friction"
        link = "https://example.org/7"
        [[expect]]
        robot = "damped"
        engine = "damps"
        quantity = "com"
    """
    result = project("--treefactor", "-rx", *extra, treefactor__toml=configuration)
    result.assert_outcomes(**outcomes)
    if "xfailed" in outcomes:
        result.stdout.fnmatch_lines(
            ["XFAIL*gravity - explained, as expected: friction https://example.org/7"]
        )
    if "failed" in outcomes:
        result.stdout.fnmatch_lines(
            ["[[]XPASS(strict)] robot = damped, engine = damps, quantity = centre of mass*"]
        )


def test_another_cause_fails(project):
    configuration = """
        robots = ["damped.urdf"]
        engines = ["damps.py"]
        quantities = ["gravity"]
        fail_on = ["explained", "stale"]
        expect = [{engine = "damps", quantity = "gravity", cause = "armature"}]
    """
    result = project("--treefactor", treefactor__toml=configuration)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["[[]XPASS(strict)]*cause = armature*"])


@pytest.mark.parametrize(
    ("robot", "outcomes", "line"),
    [
        ("*", {"xfailed": 1, "passed": 2}, "*pyproject.toml*"),
        ("arm*", {"passed": 2}, "*explained*"),
        ("dog", {"passed": 2, "failed": 1}, "stale: nothing differs as robot = dog, engine = d* describes"),
    ],
)
def test_an_expectation_about_many_cells_is_a_test(project, robot, outcomes, line):
    configuration = f"""
        [tool.treefactor]
        robots = ["*.urdf"]
        engines = ["damps.py"]
        quantities = ["gravity"]
        fail_on = ["stale"]
        expect = [{{robot = "{robot}", engine = "d*"}}]
    """
    result = project("--treefactor", "-v", pyproject__toml=configuration)
    if robot == "arm*":  # one cell: tested with it
        result.assert_outcomes(passed=1, failed=1)
        return
    result.assert_outcomes(**outcomes)
    result.stdout.fnmatch_lines([line])


def test_crashes_are_failures(pytester):
    write_project(pytester.path, "crashes")
    result = pytester.runpytest_inprocess(
        *("--treefactor", "arm.urdf", *engines("crashes")),
        "--treefactor-quantities",
        "H",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["arm.urdf (fixed), crashes: H crashed", "its process died: SIGABRT*"])


TESTS = """
import pytest

def test_plain():
    pass

@pytest.mark.treefactor(engine="good.py", quantity="H")
def test_marked(treefactor_engines):
    robot = treefactor_engines("good.py", "arm.urdf")
    assert robot.mass_matrix([0.3, 0.2]).shape == (2, 2)

@pytest.mark.treefactor(engine="frax", quantity="bias")
def test_of_frax():
    assert False
"""


@pytest.fixture
def without_frax(monkeypatch):
    """Have frax count as not installed."""
    version = marker.engine_version
    monkeypatch.setattr(marker, "engine_version", lambda name: "" if name == "frax" else version(name))


@pytest.mark.parametrize(
    ("arguments", "outcomes"),
    [
        ((), {"passed": 2, "skipped": 1}),
        (("--treefactor-require",), {"passed": 2, "failed": 1}),
        (("--treefactor-quantities", "H"), {"passed": 2, "deselected": 1}),
        (engines("good"), {"passed": 2, "deselected": 1}),
        (("-m", "treefactor"), {"passed": 1, "skipped": 1, "deselected": 1}),
    ],
)
def test_marked_tests(project, without_frax, arguments, outcomes):
    result = project("-rs", "--strict-markers", *arguments, test_own__py=TESTS)
    result.assert_outcomes(**outcomes)
    if "skipped" in outcomes:
        result.stdout.fnmatch_lines(["SKIPPED*frax is not installed: pip install 'treefactor[[]frax]'"])


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        (("--treefactor", "arm.urdf"), 1),  # the robot alone
        (("test_own.py", "--treefactor", "arm.urdf"), 2),
        (("-o", "addopts=--treefactor=arm.urdf"), 2),
        (("arm.urdf", "--treefactor"), 1),
        (("arm.urdf", "damped.urdf::damped-good-H", "--treefactor"), 2),
        ((".", "--treefactor"), 3),
        (("--treefactor", "."), 2),
        (("--treefactor", "*.urdf", "double_pendulum"), 3),
    ],
)
def test_selections(project, arguments, passed):
    if "double_pendulum" in arguments and "double_pendulum" not in bundled():
        pytest.skip("double_pendulum is a robot of example-robot-data, which is not installed")
    options = (*engines("good"), "--treefactor-quantities", "H")
    result = project(*arguments, *options, test_own__py="def test_plain():\n    pass\n")
    result.assert_outcomes(passed=passed)


def test_both_bases_of_a_file(project):
    configuration = """
        engines = ["good.py"]
        quantities = ["H"]
        [[robots]]
        path = "arm.urdf"
        [[robots]]
        path = "arm.urdf"
        base = "floating"
    """
    result = project("--treefactor", "-v", treefactor__toml=configuration)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["arm.urdf::arm-fixed-good-H *", "arm.urdf::arm-floating-good-H *"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--treefactor", "arn.urdf"), "ERROR: arn.urdf: no such file*"),
        (("--treefactor", "arm.urdf", "--treefactor-engines", "mujocco"), "*did you mean 'mujoco'*"),
        (("--treefactor", "arm.urdf", "--treefactor-config", "no.toml"), "*cannot read no.toml*"),
        (("--treefactor", "arm.urdf", "--treefactor-quantities", "mass"), "*quantities must be*"),
    ],
)
def test_wrong_options_end_the_session(project, arguments, message):
    result = project(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


def test_reports_that_cannot_be_written_do_not_cost_the_others(project):
    (project.path / "folder.json").mkdir()
    (project.path / "old.md").write_text("old")
    reports = [f"--treefactor-report={name}" for name in ("folder.json", "absent/a.md", "old.md")]
    result = project("--treefactor", "arm.urdf", *engines("good"), *GRAVITY, *reports)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["ERROR: cannot write folder.json: it is a folder"])
    result.stdout.fnmatch_lines(["ERROR: cannot write absent/a.md: No such file or directory"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "good" in (project.path / "old.md").read_text()


def test_a_file_that_changes_fails_every_test_of_its_comparison(project):
    text = "\ndef base(body):\n    Path('arm.urdf').write_text('<robot/>')\n    return own.base(body)\n"
    good = (project.path / "good.py").read_text()
    result = project("--treefactor", "arm.urdf", *engines("changes"), *GRAVITY, changes__py=good + text)
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(["*arm.urdf changed while it was compared: compare it again"] * 3)
    result.stdout.no_fnmatch_line("*Traceback*")


def test_figures_are_properties(project):
    project("--treefactor", "damped.urdf", *engines("damps"), *GRAVITY, "--junitxml", "out.xml")
    cases = ElementTree.parse(project.path / "out.xml").iter("testcase")
    properties = {
        case.get("name"): {one.get("name"): one.get("value") for one in case.iter("property")}
        for case in cases
    }
    gravity = properties["damped-damps-gravity"]
    assert gravity["state"] == "explained"
    assert float(gravity["error"]) < float(gravity["allowed"]) < float(gravity["ordinary"])
    assert gravity["causes"] == "includes joint damping or friction (shoulder), by 9.8e-02"


def run_apart(folder, *arguments):
    """Run pytest in a process of its own; return its result."""
    command = [sys.executable, "-m", "pytest", "--junitxml", "out.xml", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def outcomes_in(folder):
    """Return names of tests and what JUnit's XML has of each, but for properties."""
    cases = ElementTree.parse(folder / "out.xml").iter("testcase")
    return sorted((case.get("name").partition("@")[0], [part.tag for part in case]) for case in cases)


@pytest.mark.slow
@pytest.mark.parametrize("dist", [(), ("--dist", "worksteal")])
def test_processes_of_xdist_find_the_same(project, dist):
    pytest.importorskip("xdist", reason="pytest-xdist runs tests in several processes")
    arguments = ("--treefactor", "arm.urdf", "damped.urdf", *engines("good", "damps", "wrong"), *GRAVITY)
    one = project(*arguments, "--treefactor-report", "one.json", "--junitxml", "out.xml")
    alone = outcomes_in(project.path)
    (project.path / "conftest.py").write_text(IN_PROCESS)
    two = run_apart(project.path, *arguments, "--treefactor-report", "two.json", "-n", "2", *dist)
    assert (one.ret, two.returncode) == (1, 1), two.stdout + two.stderr
    assert outcomes_in(project.path) == alone
    assert len(alone) == 18
    assert (project.path / "one.json").read_text() == (project.path / "two.json").read_text()
    states = [cell["state"] for cell in json.loads((project.path / "one.json").read_text())["cells"]]
    assert states.count("disagrees") == 2


def test_nothing_is_imported_without_the_option(tmp_path):
    (tmp_path / "conftest.py").write_text(
        "import sys\ndef pytest_unconfigure():\n"
        "    assert not {'treefactor.check', 'treefactor.exceptions', 'numpy'} & set(sys.modules)\n"
    )
    (tmp_path / "test_plain.py").write_text("def test_plain():\n    pass\n")
    done = run_apart(tmp_path)
    assert (done.returncode, outcomes_in(tmp_path)) == (0, [("test_plain", [])]), done.stdout + done.stderr
