"""Test the crossings, polynomials and force counts of the Kane-sum paper, and the list of exhibits."""

import importlib
import json
import shutil
from io import BytesIO
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from helpers.few_turns import few_turns

from treefactor import OperationCount
from treefactor.dynamics.chain import chain_inertia
from treefactor.dynamics.flexible_chain import FlexibleChain
from treefactor.papers.exhibits.exhibit import NOT_EXECUTABLE, contradicted
from treefactor.papers.exhibits.kane_sum import EXHIBITS
from treefactor.papers.tables import (
    differing,
    kane_sum,
    kane_sum_extensions,
    kane_sum_growth,
    kane_sum_kinematics,
    kane_sum_numbers,
)
from treefactor.papers.tables.sample_chains import chain
from treefactor.papers.tables.table import DERIVED, DIFFERS, EXPLAINED, HOLDS
from treefactor.report.plots import draw_curves

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def measure(monkeypatch):
    """Return the script that measures chains."""
    monkeypatch.syspath_prepend(DOCS / "code")
    return importlib.import_module("measure_chains")


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Return all tables, with hardly any time to measure."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        few_turns(patch.setattr)
        yield {make.__name__: make() for make in kane_sum.TABLES}


def test_only_quoted_counts_differ(tables):
    assert differing(list(tables.values())) == []
    rows = [row for table in tables.values() for row in table.rows if row.verdict == DIFFERS]
    about = ("kosynka", "Stepanenko", "cheaper", "body by body")
    assert rows
    assert all(any(name in row.what for name in about) for row in rows)


def test_every_exhibit_has_its_rows_and_its_verdict(tables):
    listed = list(tables.values())
    assert contradicted(EXHIBITS, listed) == []
    assert [one.name for one in EXHIBITS if one.table and not one.shown_by(listed)] == []
    assert {one.verdict for one in EXHIBITS if not one.table} == {NOT_EXECUTABLE}
    assert {table.title for table in listed} == {one.table for one in EXHIBITS} - {""}


def test_the_printed_figures_of_the_arm_are_derived(tables):
    rows = [row for row in tables["ssrms"].rows if row.case == "table 1 at N = 6"]
    assert [row.ours[2] for row in rows] == [2514, 7314, 2898]
    assert {row.verdict for row in rows} == {DERIVED}
    counted = [row for row in tables["ssrms"].rows if row.case == "first six joints"][:3]
    assert [row.ours.total for row in counted] == [2904, 1713, 1064]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (kane_sum_growth.RECURSION, kane_sum_growth.STEPANENKO, (9, 2)),
        (kane_sum_growth.KOSYNKA, kane_sum_growth.RECURSION, (1, 29)),
    ],
)
def test_crossings(first, second, expected):
    for cost, n in zip((kane_sum_growth.printed, kane_sum_growth.as_run), expected, strict=True):
        a, b = cost(first), cost(second)
        assert kane_sum_growth.crossing(a, b) == n
        assert n == 1 or b(n - 1) > a(n - 1)
        assert all(b(m) <= a(m) for m in range(n, 60))


def test_functions_that_do_not_cross():
    assert kane_sum_growth.crossing(lambda n: 0.0, lambda n: 1.0) == "none"


def test_another_crossing_is_found(monkeypatch):
    monkeypatch.setitem(kane_sum_growth.TOTALS, kane_sum_growth.STEPANENKO, (60, 69, 0))
    verdicts = {(row.case, row.what): row.verdict for row in kane_sum_growth.figure_2().rows}
    assert verdicts["polynomials", "N from which Stepanenko's method is cheaper"] == DIFFERS
    assert kane_sum_growth.totals().rows[2].verdict == DIFFERS


def test_force_counts():
    for n in (1, 2, 7):
        pairs = n * (n - 1) // 2
        distances = 3 * (n - 1) * (n - 2) // 2  # (12)
        expected = OperationCount(3 * n + 6 * pairs, 3 * n + 6 * (n - 1) + 6 * pairs + distances)
        assert kane_sum_growth.printed_forces(n) == expected
        assert kane_sum_growth.own_forces(n) == OperationCount(9 * n - 6, 21 * n - 12)


def test_curves_without_times_are_drawn(tables):
    pytest.importorskip("matplotlib", reason="plots need Matplotlib")
    file = BytesIO()
    draw_curves(tables["figure_2"].curves, file)
    drawn = file.getvalue().decode()
    assert drawn.count("<svg") == 1
    assert "measured" not in drawn


def test_executed_counts_are_explained_by_polynomials(tables):
    rows = [row for row in tables["figure_2"].rows if row.case.startswith("N = ")]
    assert {row.verdict for row in rows if row.what == kane_sum_growth.RECURSION} == {EXPLAINED}
    assert {row.verdict for row in rows if row.what in kane_sum_growth.QUOTED} == {DIFFERS}
    assert all(row.is_known for row in rows)
    assert len(rows) == 3 * len(kane_sum_growth.PLOTTED)


@pytest.mark.parametrize("name", ["tilde", "about_origin"])
def test_wrong_kinematics_are_found(monkeypatch, name):
    right = getattr(kane_sum_kinematics, name)
    monkeypatch.setattr(kane_sum_kinematics, name, lambda *given: 1.01 * right(*given))
    assert DIFFERS in {row.verdict for row in kane_sum_kinematics.kinematics().rows}


@pytest.mark.skipif(not shutil.which("cc"), reason="compiles C")
def test_recursions_that_are_measured_compute_the_inertia_matrix(measure, monkeypatch, tmp_path):
    few_turns(monkeypatch.setattr)
    (one,) = measure.measured({}, **measure.SMALL)["chains"]
    assert one["difference"] < 1e-14
    assert min(one["seconds"].values()) > 0
    text = measure.SOURCE.read_text(encoding="utf-8")
    for n, (right, wrong) in enumerate(
        (
            ("M[1] -= y[0] * x[1]", "M[1] -= y[1] * x[0]"),
            ("s[x] += mass[k] * r_ik[x]", "s[x] += mass[k]"),
            ("add_product(s, r + 3 * k, m2)", "add_product(s, r_ik, m2)"),
            ("m3[3 + x]) * a[1]", "m3[x + 1]) * a[1]"),
            ("I[5] -= s[1] * h[2] + s[2] * shifted[1]", "I[5] -= s[1] * h[2] + s[2] * h[1]"),
        )
    ):
        assert text.count(right) == 1
        source = tmp_path / f"wrong{n}.c"
        source.write_text(text.replace(right, wrong), encoding="utf-8")
        monkeypatch.setattr(measure, "SOURCE", source)
        (one,) = measure.measured({}, **measure.SMALL)["chains"]
        assert one["difference"] > 1e-6


def test_stored_counts_of_chains_are_those_of_today(measure):
    stored = json.loads((DOCS / "measured" / "chains.json").read_text(encoding="utf-8"))
    assert [one["bodies"] for one in stored["chains"]] == list(measure.FULL["bodies"])
    for one in stored["chains"][:3]:
        assert one["operations"] == measure.operations(one["bodies"])
        assert one["seconds"]["chain_inertia"] < one["seconds"]["as printed"]


@pytest.mark.parametrize("slides", [False, True])
@pytest.mark.parametrize("method", ["inertia", "forces", "forward_dynamics", "energy"])
def test_wrong_motions_of_flexible_links_are_found(monkeypatch, method, slides):
    right = getattr(FlexibleChain, method)
    monkeypatch.setattr(FlexibleChain, method, lambda *given: 1.01 * np.array(right(*given)))
    assert DIFFERS in {row.verdict for row in kane_sum_extensions.of_points(slides)}


def test_every_column_is_computed_once_and_by_every_thread():
    arrays = chain(1500)
    with kane_sum_extensions.recorded(3) as parts:
        chain_inertia(*arrays, num_threads=3)
    columns = sorted((first, stop) for _, first, stop in parts)
    assert len({thread for thread, *_ in parts}) == 3
    assert all(stop == first for (_, stop), (first, _) in pairwise(columns))


def test_all_methods_compute_one_matrix():
    rows = kane_sum_numbers.numbers().rows
    assert {row.verdict for row in rows} == {HOLDS}
    assert len(rows) == 5 * (len(kane_sum_numbers.MATRICES) + 3)
