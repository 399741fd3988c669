"""The page on domain randomization shows the stored figures, and measuring keeps those of absent peers."""

import importlib
import json
import re
from pathlib import Path

import pytest

from treefactor import robots
from treefactor.report import duration

pytestmark = pytest.mark.unsanitized

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGE = (DOCS / "tutorials" / "domain_randomization.md").read_text(encoding="utf-8")


@pytest.fixture
def parameters(monkeypatch):
    """Return the module that makes the tables."""
    pytest.importorskip("matplotlib", reason="exhibits draws with it")
    monkeypatch.syspath_prepend(DOCS / "code")
    return importlib.import_module("parameters")


@pytest.fixture
def measure(monkeypatch):
    """Return the module that measures, where its robots are installed."""
    pytest.importorskip("pinocchio", reason="it is compared with Pinocchio")
    if "ur5_robot" not in robots.bundled():
        pytest.skip("example-robot-data is not installed")
    monkeypatch.syspath_prepend(DOCS / "code")
    return importlib.import_module("measure_parameters")


@pytest.fixture
def stored():
    return json.loads((DOCS / "measured" / "parameters.json").read_text(encoding="utf-8"))


def cells(table):
    return re.findall(r"<td[^>]*>([^<]*)</td>", table)


def test_the_page_shows_every_table_once(parameters):
    made = {name for name, one in vars(parameters).items() if getattr(one, "__module__", "") == "parameters"}
    shown = re.findall(r"parameters\.(\w+)\(\)", PAGE)
    assert sorted(shown) == sorted(made)
    assert (DOCS / "images" / "domain_randomization.png").stat().st_size < 150_000
    assert "domain_randomization" in (DOCS / "tutorials" / "index.md").read_text(encoding="utf-8")


def test_tables_have_the_stored_figures(parameters, stored):
    for table, times in (
        (parameters.inertias(), [x["seconds"]["shared"] for one in of(stored, "inertias") for x in one]),
        (parameters.loops(), [x for one in of(stored, "loop") for x in one.values()]),
        (parameters.regressors(), [one["cache"]["packed"] for one in of(stored, "regressors")]),
        (parameters.base_parameters(), [one["seconds"] for one in of(stored, "base parameters")]),
        (parameters.samples(), stored["identification"].values()),
    ):
        assert {duration(seconds) for seconds in times} <= set(cells(table))
    shares = {f"{x['base'] / x['folded']:.2f}" for one in of(stored, "operations") for x in one.values()}
    assert shares <= set(cells(parameters.operations()))


def of(stored, what):
    return [one[what] for one in stored["robots"].values()]


def test_stored_sizes_are_the_full_ones(measure, stored):
    assert stored["sizes"] == measure.FULL
    assert list(stored["robots"]) == list(measure.ROBOTS)
    assert "parameters" in importlib.import_module("measure").NAMES
    assert "docs/code/measure.py" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_stored_figures_meet_the_targets(stored):
    """Sizes and operations do not depend on the machine; own inertias in the cache cost little on any."""
    counts = {name: one["base parameters"]["count"] for name, one in stored["robots"].items()}
    assert counts == {"ur5_robot": 40, "panda": 58, "solo12": 106, "talos_reduced": 266}
    for name, most in (("panda", 1.15), ("solo12", 1.30), ("talos_reduced", 1.05)):
        rnea = stored["robots"][name]["operations"]["rnea"]
        assert rnea["base"] <= most * rnea["folded"]


def test_a_robot_is_measured(measure, monkeypatch):
    monkeypatch.setattr(measure, "PATIENCE", 0.0)
    monkeypatch.setattr(measure, "PROGRAMS", ("crba",))
    figures = measure.of_robot("ur5_robot", measure.SMALL)
    assert {row["function"] for row in figures["inertias"]} == set(measure.FUNCTIONS)
    seconds = [x for row in figures["inertias"] for x in row["seconds"].values()]
    seconds += [*figures["loop"].values(), *figures["regressors"]["cache"].values()]
    assert min(seconds) > 0.0
    assert min(measure.identification(16, 4).values()) > 0.0


def test_absent_peers_keep_their_figures(measure, monkeypatch, capsys):
    monkeypatch.delenv(measure.VARIABLE, raising=False)
    assert measure.figaroh(4, {"seconds": {"figaroh": 1.0}}) == {"seconds": {"figaroh": 1.0}}
    assert "FIGAROH_PYTHON is not set; its stored figures are kept" in capsys.readouterr().out
    assert measure.figaroh(4, None) is None
