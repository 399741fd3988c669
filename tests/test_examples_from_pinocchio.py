"""Scripts with Pinocchio and the same ones with treefactor: equal results, and the ratio that is printed."""

import runpy
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")

from treefactor import robots  # noqa: E402
from treefactor.adapters import pinocchio_  # noqa: E402
from treefactor.advice import advise  # noqa: E402

FOLDER = Path(__file__).parents[1] / "examples" / "from_pinocchio"
SIZES = {  # of the scripts before and after each step: as written, and in tests
    "batch": ("200_000", "200"),
    "fuse": ("60_000", "200"),
    "replace": ("10_000", "50"),
}
SCRIPTS = {"inverse_kinematics": 1, "simulation": 2, "operational_space": 1}  # ratios that each prints


@pytest.fixture
def script(monkeypatch):
    """Import a script by name, or skip where its robot is not installed."""
    monkeypatch.syspath_prepend(FOLDER)

    def load(name):
        if name == "operational_space" and "panda" not in robots.bundled():
            pytest.skip("example-robot-data is not installed")
        return import_module(name)

    return load


def test_the_hand_reaches_its_target(script):
    example = script("inverse_kinematics")
    theirs, ours = example.models()
    q, count = example.with_treefactor(ours)
    other, same = example.with_pinocchio(theirs, theirs.createData())
    assert count == same
    np.testing.assert_allclose(q, other, rtol=0, atol=1e-7)  # the wrist is straight: two axes are one
    data = theirs.createData()
    pin.forwardKinematics(theirs, data, q)
    assert np.linalg.norm(pin.log(data.oMi[example.JOINT].actInv(example.TARGET)).vector) < example.CLOSE


def test_the_simulated_motions_agree(script):
    example = script("simulation")
    theirs, q, v = example.pendulum(), np.full(example.LINKS, 0.1), np.zeros(example.LINKS)
    ours = pinocchio_.model(theirs)
    motions = example.with_treefactor(ours, q, v), example.with_pinocchio(theirs, theirs.createData(), q, v)
    np.testing.assert_allclose(*motions, rtol=0, atol=1e-6)
    arm = pin.buildSampleModelManipulator()
    ends = pin.neutral(arm), np.full(arm.nq, 0.5)
    held = example.held_with_treefactor(pinocchio_.model(arm), *ends)
    np.testing.assert_allclose(
        held, example.held_with_pinocchio(arm, arm.createData(), *ends), rtol=0, atol=1e-9
    )


def test_the_hand_follows_its_circle(script):
    example = script("operational_space")
    theirs = pinocchio_.load(robots.find("panda").path)
    path = example.with_treefactor(pinocchio_.model(theirs))
    np.testing.assert_allclose(path, example.with_pinocchio(theirs, theirs.createData()), rtol=0, atol=1e-9)
    course = path[0] + np.array([example.circle(step * example.H)[0] for step in range(example.STEPS)])
    assert np.abs(path - course).max() < 0.01


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_print_the_ratio_of_their_times(script, name, monkeypatch, capsys):
    script(name)
    monkeypatch.setattr(sys, "argv", [name, "--seconds", "0.1"])
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out.count("\nratio ") == SCRIPTS[name]


@pytest.mark.parametrize("step", SIZES)
def test_scripts_before_and_after_a_step_print_the_same(step, capsys):
    written, small = SIZES[step]
    printed = []
    for name in ("before", "after"):
        text = (FOLDER / step / f"{name}.py").read_text(encoding="utf-8")
        assert text.count(written) == 1
        exec(compile(text.replace(written, small), name, "exec"), {})
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] != ""


@pytest.mark.parametrize("step", SIZES)
def test_the_scripts_after_a_step_have_the_calls_that_are_advised(step):
    report = advise(FOLDER / step / "before.py")
    after = (FOLDER / step / "after.py").read_text(encoding="utf-8").replace('"', "'")
    assert step in {one.step for one in report.advice}
    advised = [one.ours for one in report.advice if "request" not in one.ours and "inverse()" not in one.ours]
    assert advised
    for call in advised:
        assert call in after, call
    assert advise(FOLDER / step / "after.py").advice == []
