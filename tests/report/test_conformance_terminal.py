"""Test what `treefactor check` prints of a comparison."""

import re
from io import StringIO

import pytest
from helpers.conformance_reports import HOSTILE, META, ROBOTS, VERSIONS, only, reports, sample
from hypothesis import given
from rich.cells import cell_len
from rich.console import Console

from treefactor.check.cells import (
    AGREES,
    DISAGREES,
    EXCLUDED,
    EXPLAINED,
    NOT_INSTALLED,
    REFUSED,
    STATES,
    Cause,
    Cell,
    CheckedRobot,
    Report,
    UsedEngine,
)
from treefactor.report.conformance import print_report, terminal
from treefactor.report.conformance.summary import LETTERS

PAIRS = re.compile(r"( +[A-Z–]{2}){2}")


@pytest.fixture
def printed(monkeypatch):
    """Print a report on a terminal of some width; returns the text."""

    def printed(report, width=180, **options):
        out = Console(width=width, highlight=False, record=True, file=StringIO(), **options)
        monkeypatch.setattr(terminal, "console", lambda width: out)
        print_report(report)
        return out.export_text()

    return printed


def test_matrix_shows_the_worst_state_of_every_robot_and_engine(printed):
    text = printed(sample())
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if PAIRS.search(line)}
    assert rows["panda"] == ["AA", "AA", "AE", "EE", "AA", "AA", "EE", "EE", "DE", "EE", "AA"]
    assert rows["icub"] == ["AA", "AA", "AE", "EE", "AA", "AA", "EE", "XX", "EE", "TT", "AA"]
    assert "two_links.urdf" in rows
    assert "mjx is not installed: pip install mujoco-mjx" in text
    for said in (
        *("talos_reduced, floating base, dart crashed (every quantity): the process ended with signal 11",),
        *(
            "tiago_dual, fixed base, adam refused",
            "prismatic joint 'torso'",
            "icub, floating base, newton timed out",
        ),
        *(
            "panda, fixed base, rtb disagrees: differs by 31% in bias, 31% in q̈",
            "stale expectation",
            "engine = dart, quantity = q̈",
        ),
        *("https://github.com/bulletphysics/bullet3/issues/1671", "130% (panda)", "D 2 disagrees"),
    ):
        assert said in text, said


def test_one_robot_is_a_table_of_engines_and_quantities(printed):
    text = printed(sample(ROBOTS[1:2]))
    (row,) = (line for line in text.splitlines() if line.strip().startswith("adam 0.5.0"))
    assert len(re.findall(r"[A-Z–](?= |$)", row)) == 15
    assert "newton 1.8.0 (float32)" in text
    text = " ".join(text.split())
    for said in (
        "inertias are recomputed from collision shapes (link7, line 120; link6, line 98; link5, line 77",
        "1 more): by 78% in all but tree, placements, Jacobians https://github.com/bulletphysics",
        "damping of joints acts within the time step: by 3e-05 in simulation",
    ):
        assert said in text, said


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@pytest.mark.parametrize("robots", [ROBOTS, ROBOTS[1:2]], ids=["many", "one"])
def test_narrow_terminals_show_numbers_for_names(printed, width, robots):
    lines = printed(sample(robots), width).splitlines()
    assert max(map(cell_len, lines)) <= width
    text = " ".join(lines)
    if len(robots) == 1:
        letters = [re.findall(r" ([A-Z–])(?= |$)", line) for line in lines]
        assert sum(len(row) == 15 for row in letters) == len(VERSIONS) - 1
        assert "15 simulation" in text
        return
    pairs = [re.findall(r" ([A-Z–]{2})(?= |$)", line) for line in lines]
    assert sum(len(row) == len(VERSIONS) - 1 for row in pairs) == len(robots)
    assert ("11 frax" in " ".join(text.split())) == (width < 100)


def test_the_first_sentence_names_the_engines_that_agree(printed):
    quantities = ["H", "bias", "q̈", "momentum"]

    def cells(engine, states, errors=(3e-13, 2e-13)):
        for robot, state, error in zip("ab", states, errors, strict=True):
            for quantity in quantities:
                differs = state if quantity == "bias" or state == REFUSED else AGREES
                yield Cell(robot, "fixed", engine, quantity, differs, error, 1e-11)

    def first(engines):
        robots = [CheckedRobot(name, "fixed", name, "urdf", "", 3) for name in "ab"]
        used = [UsedEngine(engine, "1") for engine in engines]
        listed = [cell for engine, states in engines.items() for cell in cells(engine, states)]
        return " ".join(
            printed(Report(META, used, robots, quantities, listed)).split("H, bias and q̈ agree", 2)[1].split()
        )

    ours = {"pinocchio": (AGREES, AGREES)}
    as_they_are = "to 3e-13 on 2 of 2 robots in pinocchio, as the files are"
    assert first(ours) == f"{as_they_are}."
    assert first({**ours, "dart": (AGREES, EXPLAINED)}) == (
        f"{as_they_are}; to 3e-13 on every robot that they read in dart, once the causes below are removed."
    )
    assert first({**ours, "dart": (AGREES, DISAGREES)}) == f"{as_they_are}."
    assert first({**ours, "dart": (AGREES, REFUSED)}) == f"{as_they_are}."
    assert first({**ours, "adam": (AGREES, AGREES)}).startswith(
        "to 3e-13 on 2 of 2 robots in pinocchio and adam,"
    )


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_shown_with_its_letter(printed, state):
    text = printed(only(state))
    if state == NOT_INSTALLED:
        assert text.splitlines() == ["nothing was compared", "mujoco is not installed: why"]
    else:
        assert f"{LETTERS[state]} 1 {state}: " in text
    assert text.count("Cell") == 0


def test_few_robots_have_their_causes_one_by_one(printed):
    text = printed(sample(ROBOTS[1:3], ["pinocchio", "rtb", "adam"]))
    assert "panda, fixed base, adam explained:" in text
    assert "an <inertial> without an <origin> is refused (base, line 3)" in text
    assert "largest effect" not in text


def test_nothing_compared(printed):
    assert "nothing was compared" in printed(Report(META))
    assert "nothing was compared" in printed(sample(ROBOTS[:1], ["mjx"]))


@given(report=reports())
def test_hostile_names_are_printed_as_they_are(report):
    out = Console(width=100, highlight=False, record=True, file=StringIO())
    kept, terminal.console = terminal.console, lambda width: out
    try:
        print_report(report)
    finally:
        terminal.console = kept


def test_markup_in_names_is_text(printed):
    cause = Cause("step", f"[red]{HOSTILE}", (HOSTILE, "b"), 0.5, HOSTILE, (1,))
    cell = Cell(HOSTILE, "fixed", "mujoco", "H", EXPLAINED, 0.1, 1.0, 0.5, (cause,))
    robot = CheckedRobot(HOSTILE, "fixed", "a", "urdf", "", 3)
    text = printed(Report(META, [UsedEngine("mujoco")], [robot], ["H"], [cell]), 900)
    assert text.count(HOSTILE) >= 4
    assert f"[red]{HOSTILE} ({HOSTILE}, line 1; b): by 50% in H" in text


def test_a_quantity_refused_as_the_file_is_shows_no_error(printed):
    cells = [
        Cell("arm", "fixed", "adam", "H", EXPLAINED, 3e-16, 1e-14, None),
        Cell("arm", "fixed", "dart", "H", AGREES, 3e-16, 1e-14, 4e-16),
    ]
    robot = CheckedRobot("arm", "fixed", "arm", "urdf", "", 3)
    text = printed(Report(META, [UsedEngine("adam", "1"), UsedEngine("dart", "1")], [robot], ["H"], cells))
    assert re.search(r"adam 1 +E +\n", text)
    assert re.search(r"dart 1 +A 4e-16", text)


def test_a_robot_without_reference_is_named_with_the_reason(printed):
    cells = [
        Cell("a/arm.urdf", "fixed", engine, quantity, EXCLUDED, reason="no reference: unclosed token")
        for engine in ("adam", "dart")
        for quantity in ("H", "bias")
    ]
    robot = CheckedRobot("a/arm.urdf", "fixed", "arm", "urdf", "")
    text = printed(Report(META, [UsedEngine("adam", "1"), UsedEngine("dart", "1")], [robot], ["H"], cells))
    assert "arm.urdf, fixed base is not compared: no reference: unclosed token" in text


def test_an_engine_of_a_user_needs_no_version(printed):
    cell = Cell("arm", "fixed", "mine", "H", AGREES, 3e-16, 1e-14)
    robot = CheckedRobot("arm", "fixed", "arm", "urdf", "", 3)
    text = printed(Report(META, [UsedEngine("mine", python="3.11.7")], [robot], ["H"], [cell]))
    assert "mine" in text
    assert "not installed" not in text
