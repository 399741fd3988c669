"""Couplings of joints that follow others: which columns of G depend on each other, and the smaller matrix."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import treefactor as tf
from treefactor.model.mimic import Coupling

DEPEND = "the columns of G depend on each other"


def rank(G):
    """Return the rank of a matrix of whole numbers, exactly."""
    rows, count = [[Fraction(int(x)) for x in row] for row in G], 0
    for column in range(G.shape[1]):
        pivot = next((row for row in rows[count:] if row[column]), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        rows.insert(count, pivot)
        count += 1
        for row in rows[count:]:
            factor = row[column] / pivot[column]
            row[:] = [x - factor * y for x, y in zip(row, pivot, strict=True)]
    return count


@given(
    G=st.integers(1, 6).flatmap(
        lambda n: st.integers(1, n).flatmap(lambda m: arrays(int, (n, m), elements=st.integers(-1, 2)))
    ),
    exponents=st.lists(st.integers(-9, 9), min_size=6, max_size=6),
)
def test_columns_depend_on_each_other_where_the_exact_rank_says_so(G, exponents):
    """Whatever the unit of each coordinate."""
    chain = tf.families.chain(len(G))
    scaled = G * 10.0 ** np.array(exponents[: G.shape[1]])
    if rank(G) < G.shape[1]:
        with pytest.raises(ValueError, match=DEPEND):
            Coupling(chain, scaled)
    else:
        np.testing.assert_array_equal(Coupling(chain, scaled).G, scaled)


@pytest.mark.parametrize(
    ("G", "independent"),
    [
        ([[1.0, 1.0], [1.0, 1.0]], False),
        ([[1.0, 1.0], [1.0, -1.0]], True),
        ([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]], True),  # each row has two columns
        ([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [-1.0, 0.0, 1.0]], False),  # their sum is 0
        ([[1.0, 0.0], [2.0, 0.0]], False),  # a column of zeros
        ([[1.0, 1.0], [1.0, 1.0], [0.0, 1e-17]], False),  # alone in a row, but rounding only
        ([[1.0, 1e9], [1.0, 1e9], [0.0, 1e-8]], False),  # in any unit
        ([[1.0, 1.0], [1.0, 1.0], [0.0, 1e-3]], True),
        ([[1e-30, 0.0], [0.0, 1e30]], True),
        (np.zeros((2, 0)), True),
    ],
)
def test_columns_of_which_the_answer_is_known(G, independent):
    tree = tf.families.chain(len(G))
    if independent:
        assert Coupling(tree, G).tree.n == np.shape(G)[1]
    else:
        with pytest.raises(ValueError, match=DEPEND):
            Coupling(tree, G)


def test_the_smaller_matrix_has_the_momenta_and_the_energy_of_the_larger_one():
    rng = np.random.default_rng(0)
    tree = tf.Tree([-1, 0, 0, 2])
    G = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -2.0], [0.5, 0.0]])
    coupling, w = Coupling(tree, G, ["hand", "finger"]), rng.normal(size=(3, 2))
    A = rng.normal(size=(3, 4, 4))
    H, v = A @ A.swapaxes(1, 2), coupling.expand(w)
    np.testing.assert_allclose(v, w @ G.T)
    reduced = coupling.reduce(H)
    energy = np.einsum("bi,bij,bj->b", v, H, v)
    np.testing.assert_allclose(np.einsum("bi,bij,bj->b", w, reduced, w), energy)
    momenta = np.einsum("bij,bj->bi", H, v)
    np.testing.assert_allclose(coupling.reduce_force(momenta), np.einsum("bij,bj->bi", reduced, w))
    assert coupling.tree.names == ("hand", "finger")
    assert not coupling.G.flags.writeable


def test_couplings_that_do_not_fit_are_refused():
    tree = tf.families.chain(2)
    with pytest.raises(tf.ShapeError, match=r"G must have shape \(2, m\), got \(3, 1\)"):
        Coupling(tree, np.ones((3, 1)))
    with pytest.raises(tf.ShapeError, match=r"G must have shape \(2, m\), got \(2,\)"):
        Coupling(tree, np.ones(2))
    with pytest.raises(tf.NonFiniteError, match="G"):
        Coupling(tree, [[1.0], [np.nan]])
