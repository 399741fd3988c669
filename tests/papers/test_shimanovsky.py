"""Test the tables on Shimanovsky's bounds, spanning trees and half zeros, and the list of exhibits."""

import numpy as np
import pytest
from helpers.few_turns import few_turns

from treefactor import Tree, families
from treefactor.papers.exhibits.exhibit import NOT_EXECUTABLE, contradicted
from treefactor.papers.exhibits.shimanovsky import EXHIBITS
from treefactor.papers.tables import shimanovsky, shimanovsky_bounds
from treefactor.papers.tables.table import ABOUT, DIFFERS


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Return all tables, with small trees and hardly any time to measure."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        few_turns(patch.setattr)
        patch.setattr(shimanovsky, "NODES", 64)
        small = {case: paper for case, paper in shimanovsky.SAVINGS.items() if case[1] == 4}
        patch.setattr(shimanovsky, "SAVINGS", small)
        yield {make.__name__: make() for make in shimanovsky.TABLES}


def test_no_row_differs(tables):
    assert [row.what for table in tables.values() for row in table.rows if row.verdict == DIFFERS] == []


def test_every_exhibit_has_its_rows_and_its_verdict(tables):
    listed = list(tables.values())
    assert contradicted(EXHIBITS, listed) == []
    assert [one.name for one in EXHIBITS if one.table and not one.shown_by(listed)] == []
    assert {one.verdict for one in EXHIBITS if not one.table} == {NOT_EXECUTABLE}
    assert {table.title for table in listed} == {one.table for one in EXHIBITS} - {""}


def test_spanning_trees_are_shortest_paths():
    for m in (1, 2, 5):
        for choose in shimanovsky_bounds.CHOICES.values():
            tree = shimanovsky_bounds.spanning_tree(m, choose())
            row, column = np.divmod(np.arange(m**2), m)
            np.testing.assert_array_equal(tree.depth, row + column + 1)
    by_rows = shimanovsky_bounds.spanning_tree(4, shimanovsky_bounds.CHOICES["rows"]())
    assert by_rows == families.lattice(4)
    assert (
        len({shimanovsky_bounds.spanning_tree(4, choose()) for choose in shimanovsky_bounds.CHOICES.values()})
        == 5
    )


def test_all_sixteen_trees_of_a_small_lattice_cost_the_same():
    assert shimanovsky_bounds.all_counts(3) == {(18, 33): 16}


def test_half_zeros_save_about_four_times(tables):
    rows = tables["half_zeros"].rows
    assert len({row.case for row in rows}) > 2
    assert all(abs(row.ours - 0.5) < 0.01 for row in rows if row.what == "share of non-zeros")
    saved = [row for row in rows if row.what.startswith("factorization")]
    assert {row.verdict for row in saved} == {ABOUT}
    assert all(3.5 < row.ours < 4.5 and row.timed for row in saved)


def test_a_tree_that_is_not_one_of_shortest_paths_costs_more(monkeypatch):
    monkeypatch.setitem(shimanovsky_bounds.CHOICES, "rows", lambda: lambda row, column: True)
    monkeypatch.setattr(shimanovsky_bounds, "spanning_tree", lambda m, left: families.chain(m**2))
    assert DIFFERS in {row.verdict for row in shimanovsky_bounds.spanning_trees().rows}


def test_a_wrong_count_breaks_a_bound(monkeypatch):
    count = shimanovsky_bounds.counted(families.chain(9))
    monkeypatch.setattr(shimanovsky_bounds, "counted", lambda tree: count)
    assert DIFFERS in {row.verdict for row in shimanovsky_bounds.within("", Tree([-1] * 9))}


def test_patterns_of_tree_1_are_computed(monkeypatch):
    monkeypatch.setattr(shimanovsky, "P", (0, 1, 2, 2, 3, 4, 3))  # the last body on another branch
    rows = {row.what: row.verdict for row in shimanovsky.tree_1().rows}
    assert rows["row 9 of M"] == DIFFERS
