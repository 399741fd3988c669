"""Test short runs of the example of domain randomization."""

import runpy
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from treefactor import robots

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def script(monkeypatch):
    """Import the example, or skip where its robot is not installed."""
    if "solo12" not in robots.bundled():
        pytest.skip("example-robot-data is not installed")
    monkeypatch.syspath_prepend(EXAMPLES)
    return import_module("domain_randomization")


def test_robots_with_different_bodies_stand_at_different_heights(script):
    herd = script.Herd(40)
    assert not herd.inertias.faults()
    height, angle = herd.run(300)
    mass = herd.inertias.parameters[..., 0].sum(axis=1)
    assert (height[-1] > 0.12).all()
    assert np.degrees(angle).max() < 30.0
    assert np.corrcoef(mass, height[-1])[0, 1] < -0.7
    one = script.Herd(40)
    one.inertias = None
    assert np.ptp(one.run(20)[0], axis=1).max() == 0.0


def test_domain_randomization_prints_figures_beside_pinocchios_and_draws(
    script, monkeypatch, capsys, tmp_path
):
    pytest.importorskip("pinocchio", reason="the example compares with it")
    pytest.importorskip("matplotlib", reason="Matplotlib draws the pictures")
    picture = tmp_path / "robots.png"
    sizes = ["--robots", "20", "--steps", "100", "--few", "6", "--out", str(picture)]
    monkeypatch.setattr(sys, "argv", ["domain_randomization", *sizes])
    runpy.run_path(str(EXAMPLES / "domain_randomization.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("20 robots", "shared inertias", "extrapolated from 6 robots"))
    (deviation,) = (line.split()[1] for line in printed.splitlines() if line.startswith("deviation"))
    assert float(deviation) < 1e-12
    assert picture.read_bytes().startswith(b"\x89PNG")
