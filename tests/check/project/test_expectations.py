"""Test expectations: what they describe, when they end, when they are stale, and the exit status."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treefactor.check.cells import AGREES, EXPECTED, EXPLAINED, NOT_INSTALLED, STATES, Cause, Cell, Report
from treefactor.check.engines import ChosenEngine
from treefactor.check.project.configuration import FAIL_ON, Configuration, Expectation
from treefactor.check.project.expectations import (
    COMPARED,
    DIFFERS,
    applied,
    describes,
    exit_status,
    fails,
    is_stale,
    with_expectations,
)

TODAY = date(2026, 6, 1)
ROBOTS, ENGINES, QUANTITIES = ("robots/arm.urdf", "dog"), ("mujoco", "dart"), ("H", "q̈")
STEPS = ("armature", "1 kg", "mimic")
causes = st.builds(Cause, st.sampled_from(STEPS), st.just("The engine does it."))
patterns = st.builds(
    Expectation,
    st.sampled_from((*ROBOTS, "*", "arm", "arm.urdf", "do?", "other")),
    st.sampled_from((*ENGINES, "*", "m*", "other")),
    st.sampled_from((*QUANTITIES, "*")),
    st.sampled_from(("", *STEPS, "arma*ENGINE")),
    until=st.sampled_from((None, TODAY, date(2026, 5, 31), "1", "1.4", "1.5", "2")),
)
VERSIONS = {"mujoco": "1.5.2", "dart": "1.4rc1"}


def cell(robot=ROBOTS[0], engine="mujoco", quantity="H", state=EXPLAINED, steps=("armature",), reason=""):
    return Cell(
        robot,
        "fixed",
        engine,
        quantity,
        state,
        causes=tuple(Cause(one, "It does.") for one in steps),
        reason=reason,
    )


@st.composite
def results(draw):
    """Draw one cell for every robot, engine and quantity."""
    return [
        Cell(
            *(robot, "fixed", engine, quantity, draw(st.sampled_from(STATES))),
            causes=draw(st.tuples() | st.tuples(causes)),
        )
        for robot in ROBOTS
        for engine in ENGINES
        for quantity in QUANTITIES
    ]


def one(cells, *expectations, complete=True):
    return applied(cells, expectations, VERSIONS, TODAY, complete)


@given(results())
def test_without_expectations_nothing_changes(cells):
    assert one(cells) == (cells, [])


@given(results())
def test_everything_that_differs_can_be_expected(cells):
    judged, (entry,) = one(cells, Expectation())
    for before, after in zip(cells, judged, strict=True):
        assert after.state == (EXPECTED if before.state in DIFFERS else before.state)
    assert entry["cells"] == sum(before.state in DIFFERS for before in cells)


@given(results(), st.lists(patterns, max_size=4), st.booleans(), st.randoms())
def test_properties(cells, expectations, complete, random):
    judged, entries = one(cells, *expectations, complete=complete)
    for before, after in zip(cells, judged, strict=True):
        assert replace(after, state="", reason="") == replace(before, state="", reason="")
        assert after == before or (before.state in DIFFERS and after.state == EXPECTED)
        if after != before:  # each cause is described
            assert any(describes(one, before) for one in expectations)
    for entry in entries:
        assert not (entry["stale"] and entry["cells"])
        if entry["stale"] and not complete:  # something concerned was compared
            assert any(before.state in COMPARED for before in cells)
    shuffled = list(cells)
    random.shuffle(shuffled)
    assert one(shuffled, *expectations, complete=complete)[1] == entries
    more, _ = one(cells, *expectations, Expectation("other"), complete=complete)
    assert more == judged


@given(results(), patterns)
def test_what_agrees_makes_an_expectation_stale(cells, expectation):
    good = [replace(one, state=AGREES, causes=()) for one in cells]
    about = [
        one
        for one in good
        if describes(replace(expectation, cause=""), replace(one, state=EXPLAINED, causes=(Cause("", ""),)))
    ]
    assert is_stale(expectation, good, complete=False) == bool(about)
    missing = [replace(one, state=NOT_INSTALLED) for one in good]
    assert is_stale(expectation, missing) == (not about)


def test_every_cause_must_be_expected():
    both = cell(steps=("armature", "mimic"))
    assert one([both], Expectation(cause="armature"))[0] == [both]
    judged, entries = one([both], Expectation(cause="armature"), Expectation(cause="MIM?C"))
    assert judged[0].state == EXPECTED
    assert [entry["stale"] for entry in entries] == [False, False]
    left = cell(state="disagrees", reason="3e-2 unexplained")
    assert one([left], Expectation(cause="armature"))[0] == [left]
    assert (
        one([left], Expectation(cause="armature"), Expectation(cause="unexplained"))[0][0].state == EXPECTED
    )


def test_an_expected_cell_names_the_expectation():
    known = Expectation(engine="mujoco", cause="armature", link="https://example.org/1")
    (after,), _ = one([cell()], known)
    assert after.reason == "explained, as expected: armature https://example.org/1"


@pytest.mark.parametrize(
    ("until", "engine", "holds"),
    [
        (TODAY, "mujoco", True),
        (date(2026, 5, 31), "mujoco", False),
        ("1.5", "mujoco", True),
        ("1.5.1", "mujoco", False),
        ("1.5.2", "mujoco", True),
        ("2", "mujoco", True),
        ("1.4", "mujoco", False),
        ("1.4", "dart", True),
        ("1.3", "unknown", True),
    ],
)
def test_expectations_end_with_a_day_or_a_version(until, engine, holds):
    (after,), (entry,) = one([cell(engine=engine)], Expectation(until=until))
    assert (after.state == EXPECTED) == holds
    assert (entry["ended"], entry["stale"], entry["until"]) == (not holds, False, str(until))


def test_a_crash_leaves_an_expectation_open():
    known = Expectation(engine="mujoco", cause="armature")
    assert is_stale(known, [cell(state=AGREES, steps=())])
    crashed = cell(robot="dog", state="crashed", steps=(), reason="SIGSEGV")
    assert not is_stale(known, [cell(state=AGREES, steps=()), crashed])


@pytest.mark.parametrize(
    ("engine", "compared", "stale"),
    [
        ("jaxsim", "mujoco", False),
        ("[jm][ aj]x*", "mujoco", False),
        ("jaxsim", "jaxsim", True),
        ("mj*", "jaxsim", False),
        ("m*", "jaxsim", True),
        ("jaxsin", "mujoco", True),
    ],
)
def test_heavy_engines_that_were_not_compared_leave_an_expectation_open(engine, compared, stale):
    _, (entry,) = applied([cell("cat")], [Expectation("dog", engine)], {compared: ""}, TODAY)
    assert entry["stale"] == stale


def report(*cells):
    return Report({}, cells=list(cells))


def test_exit_status():
    fail_on = Configuration().failures
    assert exit_status(report(cell(), cell(state=AGREES)), fail_on) == 0
    assert exit_status(report(cell()), FAIL_ON) == 1
    assert exit_status(report(cell(state="crashed"), cell()), ["crashed"]) == 1
    assert exit_status(report(cell(state="timed out"), cell()), ["crashed"]) == 1
    assert exit_status(report(cell(state="crashed"), cell()), ["disagrees"]) == 0
    assert exit_status(report(cell(state="refused")), ["disagrees"]) == 0
    assert exit_status(report(), fail_on) == 3
    assert exit_status(report(cell(state=NOT_INSTALLED)), fail_on) == 3
    chosen = Configuration(expect=(Expectation("dog", cause="mimic"),))
    stale = with_expectations(report(cell("dog")), chosen, TODAY)
    assert exit_status(stale, fail_on) == 1
    assert exit_status(stale, ["disagrees"]) == 0
    assert not with_expectations(report(cell()), replace(chosen, narrowed=True), TODAY).expectations[0][
        "stale"
    ]


@given(results(), st.booleans())
def test_an_engine_that_is_not_named_decides_only_by_a_disagreement(cells, named):
    engines = (ChosenEngine("mujoco"),) if named else ()
    failures = Configuration(engines=engines).failures
    bad = {"disagrees", *(("refused", "crashed", "timed out") if named else ())}
    assert {one.state for one in cells if fails(one, failures)} == {one.state for one in cells} & bad
    own = [replace(one, engine="treefactor") for one in cells]  # what it refuses is a fault of the file
    assert {one.state for one in own if fails(one, failures)} == {one.state for one in cells} & (
        bad | {"refused"}
    )
    assert Configuration(engines=engines, fail_on=()).failures == ()


@given(results(), st.lists(st.sampled_from(FAIL_ON), unique=True))
def test_more_failures_never_improve_the_status(cells, fail_on):
    assert (exit_status(report(*cells), fail_on) == 1) == any(fails(one, fail_on) for one in cells)
    if exit_status(report(*cells), fail_on) == 1:
        assert exit_status(report(*cells), FAIL_ON) == 1
