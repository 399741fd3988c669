"""The page on single precision shows the stored figures, and they can be measured."""

import importlib
import json
import re
from pathlib import Path

import pytest

from treefactor import robots

pytestmark = pytest.mark.unsanitized

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGE = (DOCS / "concepts" / "precision.md").read_text(encoding="utf-8")


@pytest.fixture
def made(monkeypatch):
    """Return the module that makes the tables."""
    pytest.importorskip("matplotlib", reason="exhibits draws with it")
    monkeypatch.syspath_prepend(DOCS / "code")
    return importlib.import_module("precision")


@pytest.fixture
def stored():
    return json.loads((DOCS / "measured" / "precision.json").read_text(encoding="utf-8"))


def cells(table):
    return re.findall(r"<td>([^<]*)</td>", table)


def test_the_page_shows_every_table_once(made):
    assert sorted(re.findall(r"precision\.(\w+)\(\)", PAGE)) == ["chart", "errors", "rates"]
    assert "<figure>" in made.chart()


def test_tables_have_the_stored_figures(made, stored):
    assert set(stored["errors"]) <= set(cells(made.errors()))
    rates = [rate for one in stored["rates"].values() for rate in one.values()]
    assert {f"{rate / 1e6:.2g}" for rate in rates} <= set(cells(made.rates()))
    peers = [rate for one in stored["peers"].values() for rate in one.values()]
    assert {f"{rate / 1e6:.2g}" for rate in peers} <= set(cells(made.rates()))


def test_what_the_page_says_of_errors_holds(stored):
    """All robots but those that the page names have errors of the size that it gives."""
    errors = stored["errors"]
    for name, one in errors.items():
        median, rare = {"double_pendulum": (2e-6, 2e-6), "icub": (5e-5, 3e-4)}.get(name, (2.5e-7, 5e-6))
        assert one["kernel"][0] < median, name
        assert one["kernel"][1] < rare, name
        assert not one["not finite"], name
    assert errors["solo12"]["kernel"][1] < 2 * errors["solo12"]["arguments"][1]


def test_what_the_page_says_of_rates_holds(stored):
    """The interpreter in float32 beside twice the recursions, and compiled C on humanoids."""
    for name, one in stored["rates"].items():
        way = "cc, float32" if name == "talos_reduced" else "interp, float32"
        assert one[way] > 2 * one["recursions, float64"], name


def test_figures_are_measured(monkeypatch):
    pytest.importorskip("pinocchio", reason="it is compared with Pinocchio")
    pytest.importorskip("mujoco", reason="it is compared with MuJoCo")
    for peer in ("MJX", "FRAX"):
        monkeypatch.delenv(f"TREEFACTOR_{peer}_PYTHON", raising=False)
    monkeypatch.syspath_prepend(DOCS / "code")
    measure = importlib.import_module("measure_precision")
    monkeypatch.setattr(measure, "PATIENCE", 0.0)
    two = [one for one in robots.default_robots() if one.name in ("ur5_robot", "double_pendulum")]
    monkeypatch.setattr(measure.robots, "default_robots", lambda: two)
    peers = {peer: {"ur5_robot": 1} for peer in measure.LOADED}
    found = measure.measured({"peers": peers}, **measure.SMALL)
    assert found["peers"] == peers
    assert list(found["errors"]) == ["double_pendulum", "ur5_robot"]
    assert min(found["rates"]["ur5_robot"].values()) > 0
    assert "precision" in importlib.import_module("measure").NAMES
