"""Test the examples of identification: on measured data where they are present, and on simulated ones."""

import runpy
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from treefactor import robots

EXAMPLES = Path(__file__).parents[1] / "examples"
ABSENT = "tx40.npz is not in ../shared/data/identification"


@pytest.fixture
def arm(monkeypatch):
    """Return the example that identifies an arm."""
    monkeypatch.syspath_prepend(EXAMPLES)
    return import_module("identify_arm")


@pytest.fixture
def payload(monkeypatch):
    """Return the example that finds a payload."""
    if "panda" not in robots.bundled():
        pytest.skip("example-robot-data is not installed")
    monkeypatch.syspath_prepend(EXAMPLES)
    return import_module("payload")


@pytest.mark.parametrize("data", ["measured", "simulated"])
def test_an_arm_is_identified(arm, data):
    folder = arm.FOLDER if data == "measured" else arm.FOLDER / "absent"
    if data == "measured" and not (folder / "tx40.npz").is_file():
        pytest.skip(ABSENT)
    given = arm.recording(folder)
    samples = arm.prepared(given)
    test = arm.held_out(len(samples.q), given.step)
    assert 0.45 < test.mean() < 0.55
    fit, unseen = arm.identifications(given.model, samples, test)
    estimate, bodies = fit.solve(), fit.physical(strength=arm.STRENGTH)
    assert estimate.rank == len(fit.names) == 61
    limits = {"measured": (0.065, 0.075), "simulated": (0.015, 0.02)}[data]
    assert arm.shares_of_model(given.model, samples)[-1] > 3 * limits[1]
    for solution in (estimate, bodies):
        assert arm.shares(solution.residuals)[-1] < limits[0]
        assert arm.shares(unseen.residuals(solution))[-1] < limits[1]
    assert not bodies.model.faults()
    values = estimate.values[: fit.base.count]
    near = arm.nearest(given.model, fit.base, values)
    np.testing.assert_allclose(fit.base.values(arm.known_parameters(near)), values, rtol=0, atol=1e-12)
    assert len(near.faults()) == (6 if data == "measured" else 0)


def test_a_simulated_arm_has_the_friction_that_was_put_in(arm):
    given = arm.simulated()
    samples = arm.prepared(given)
    estimate = arm.identifications(given.model, samples, np.zeros(len(samples.q), dtype=bool))[0].solve()
    for kind, expected in (("viscous friction", 2.0), ("dry friction", 1.0)):
        friction = [estimate.value_of(f"{kind} of joint_{k}") for k in range(1, 7)]
        np.testing.assert_allclose(friction, expected, rtol=0.05)
    np.testing.assert_allclose(estimate.values[-3:], [0.05, 0.5, 0.3], rtol=0.05)


@pytest.mark.parametrize("data", ["measured", "simulated"])
def test_the_identification_of_an_arm_prints_and_draws(arm, data, monkeypatch, capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="Matplotlib draws the pictures")
    if data == "measured" and not (arm.FOLDER / "tx40.npz").is_file():
        pytest.skip(ABSENT)
    monkeypatch.setenv(arm.VARIABLE, str(arm.FOLDER if data == "measured" else tmp_path))
    monkeypatch.setattr(sys, "argv", ["identify_arm", "--out", str(tmp_path / "arm.png")])
    runpy.run_path(str(EXAMPLES / "identify_arm.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert ("tx40.npz is absent" in printed) == (data == "simulated")
    assert all(word in printed for word in ("held out", "rank 61 of 61", "viscous friction of joint_6"))
    assert "fit of bodies: 0 cannot exist" in printed
    assert (tmp_path / "arm.png").read_bytes().startswith(b"\x89PNG")


def test_a_payload_is_found_within_two_seconds(payload):
    history = payload.run(seed=1)
    last = history.payloads[-1]
    true = payload.CARRIED.parameters
    assert history.t[len(history.payloads) * payload.BLOCK - 1] < 2.0
    assert last.rank == 10
    assert (np.abs(last.parameters - true) < 5 * last.standard_deviations).all()
    assert abs(last.parameters[0] / true[0] - 1) < 0.01
    assert np.abs(last.inertia.com - payload.CARRIED.com).max() < 2e-3
    sizes = np.array([one.standard_deviations.max() for one in history.payloads])
    assert sizes[-1] < 0.01 * sizes[0]
    before, after = (
        np.sqrt(np.mean(history.errors[side] ** 2, axis=0)) for side in (history.t < 2, history.t >= 2)
    )
    assert before[[1, 3]].min() > 5.0
    assert after.max() < 3 * payload.TORQUE_NOISE


def test_the_payload_prints_and_draws(payload, monkeypatch, capsys, tmp_path):
    pytest.importorskip("matplotlib", reason="Matplotlib draws the pictures")
    monkeypatch.setattr(sys, "argv", ["payload", "--out", str(tmp_path / "payload.png")])
    runpy.run_path(str(EXAMPLES / "payload.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("rank is 10", "can exist: yes", "panda_joint7"))
    assert (tmp_path / "payload.png").read_bytes().startswith(b"\x89PNG")
