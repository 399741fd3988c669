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
    return re.findall(r"<td[^>]*>([^<]*)</td>", table)


def test_the_page_shows_every_table_once(made):
    assert sorted(re.findall(r"precision\.(\w+)\(\)", PAGE)) == ["chart", "errors", "rates"]
    assert "<figure>" in made.chart()


def test_tables_have_the_stored_figures(made, stored):
    kinds = "kernel", "arguments", "masses", "backward"
    rare = {f"{one[kind][1]:.0e}" for one in stored["errors"].values() for kind in kinds}
    assert rare | set(stored["errors"]) <= set(cells(made.errors()))
    rates = [rate for one in stored["rates"].values() for rate in one.values()]
    assert {f"{rate / 1e6:.2g}" for rate in rates} <= set(cells(made.rates()))
    peers = [rate for one in stored["peers"].values() for rate in one.values()]
    assert {f"{rate / 1e6:.2g}" for rate in peers} <= set(cells(made.rates()))


def test_what_the_page_says_of_errors_holds(stored):
    """Errors are at most 3 and 10 times those of the arguments, on all robots but those that it names."""
    errors = stored["errors"]
    assert {one["method"] for one in errors.values()} == {"aba"}
    assert not any(one["not finite"] for one in errors.values())
    times = {
        name: [own / of_arguments for own, of_arguments in zip(one["kernel"], one["arguments"], strict=True)]
        for name, one in errors.items()
    }
    more = {name: ratios for name, ratios in times.items() if ratios[0] > 3 or ratios[1] > 10}
    assert set(more) == {"simple_humanoid", "icub"}
    assert more["simple_humanoid"][0] < 3.3
    assert errors["simple_humanoid"]["backward"][1] < 3e-8
    icub = errors["icub"]
    assert icub["kernel"][0] < 5e-5
    assert icub["kernel"][0] < 1.1 * icub["masses"][0]
    assert icub["kernel"][1] < icub["masses"][1]
    assert icub["backward"][1] < 2e-10


def test_what_the_page_says_of_rates_holds(stored):
    """Single precision beside double, and beside twice the recursions, by compiled C on humanoids."""
    for name, one in stored["rates"].items():
        for backend in ("interp", "cc"):
            assert 1.85 < one[f"{backend}, float32"] / one[f"{backend}, float64"] < 2.25, (name, backend)
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
    figures = measure.measured({"peers": peers}, **measure.SMALL)
    assert figures["peers"] == peers
    assert list(figures["errors"]) == ["double_pendulum", "ur5_robot"]
    errors = figures["errors"]["ur5_robot"]
    assert 1e-9 < errors["masses"][0] < 1e-8
    assert 1e-9 < errors["backward"][0] < errors["backward"][2] < 2e-7
    assert min(figures["rates"]["ur5_robot"].values()) > 0
    assert "precision" in importlib.import_module("measure").NAMES
