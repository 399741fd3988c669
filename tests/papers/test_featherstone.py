"""Test tables 6.1 and 6.2 of Featherstone (2008) in body coordinates, and the tables that count them."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.few_turns import few_turns
from helpers.tolerances import assert_close

import treefactor as tf
from treefactor import families
from treefactor.papers.exhibits.exhibit import NOT_EXECUTABLE, contradicted
from treefactor.papers.exhibits.featherstone import EXHIBITS
from treefactor.papers.tables import featherstone, featherstone_inertia, sample_bodies
from treefactor.papers.tables.table import DIFFERS, EXPLAINED
from treefactor.papers.textbook import body_coordinates

TREES = [families.chain(1), families.binary_tree(3), families.tree_1(), tf.Tree([-1, -1, 1, 0])]


@pytest.fixture
def impatient(monkeypatch, tmp_path):
    """Take hardly any time to measure."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    few_turns(monkeypatch.setattr)


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_both_tables_compute_the_inertia_matrix(tree):
    H = tf.crba(sample_bodies.model(tree), sample_bodies.configuration(tree))
    assert_close(sample_bodies.inertia(tree)[1], H, tree.n, 10)
    assert_close(featherstone_inertia.columns(tree), H, tree.n, 10)


def test_joints_of_several_freedoms():
    first, *others = sample_bodies.bodies(families.chain(3))
    ball = replace(first, S=np.eye(6)[:3])
    own = [ball, *others]
    H = body_coordinates.composite_rigid_body(own).astype(float)
    columns = [body_coordinates.inverse_dynamics(own, unit)[0] for unit in np.eye(5)]
    assert H.shape == (5, 5)
    assert_close(np.array(columns, dtype=float), H, 5, 10)
    np.testing.assert_allclose(H, H.T, rtol=1e-13)
    assert_close(H[2:, 2:], sample_bodies.inertia(families.chain(3))[1], 5, 10)


def test_operations_of_the_tables():
    per_body, per_pair = 42, 53  # a transform; a transform and a scalar product
    for n in (1, 2, 5):
        chain, star = families.chain(n), tf.Tree([-1] * n)
        assert sample_bodies.inertia(star)[0].total == n * sample_bodies.inertia(families.chain(1))[0].total
        products = [sample_bodies.product(tree, np.ones(n))[0].total for tree in (chain, star)]
        assert products[0] - products[1] == (n - 1) * (
            per_body + 6
        )  # the force that is carried to the parent
    counts = [sample_bodies.inertia(families.chain(n))[0].total for n in range(1, 6)]
    assert set(np.diff(counts, 3)) == {0}
    assert set(np.diff(counts, 2)) == {per_pair}


@pytest.mark.parametrize("make", featherstone.TABLES, ids=lambda make: make.__name__)
def test_no_row_differs(make, impatient):
    rows = make().rows
    assert rows
    assert [row.what for row in rows if row.verdict == DIFFERS] == []


def test_a_wrong_transform_is_found(monkeypatch):
    monkeypatch.setattr(body_coordinates, "transform_force", lambda body, f: f)
    sample_bodies.inertia.cache_clear()
    try:
        assert DIFFERS in {row.verdict for row in featherstone_inertia.table_6_2().rows}
        assert DIFFERS in {row.verdict for row in featherstone_inertia.table_6_1().rows}
    finally:
        sample_bodies.inertia.cache_clear()


def test_the_cost_of_h_falls_less_than_the_density():
    tree = families.binary_tree(6)
    shares = [featherstone.share("", tree, "", cost) for cost in featherstone.RECURSIONS.values()]
    assert all(row.ours > 1.4 * tree.density for row in shares)
    assert shares[1].verdict == EXPLAINED
    assert shares[1].ours == pytest.approx(0.5265, abs=1e-4)
    wrong = featherstone.share("", tree, "", lambda t: int((t.depth**3).sum()))
    assert wrong.verdict == DIFFERS


def test_every_exhibit_has_its_rows_and_its_verdict(impatient):
    tables = [make() for make in featherstone.TABLES]
    assert contradicted(EXHIBITS, tables) == []
    unshown = [one.name for one in EXHIBITS if one.table and not one.shown_by(tables)]
    assert unshown == []
    assert {one.verdict for one in EXHIBITS if not one.table} == {NOT_EXECUTABLE}
    assert {table.title for table in tables} == {one.table for one in EXHIBITS} - {""}
