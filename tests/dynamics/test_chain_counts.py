"""Compare counted operations of the recursions for chains with the papers' tables."""

from collections import Counter

import numpy as np
import pytest
from helpers.chains import random_chain

import treefactor as tf
from treefactor._util.counting import counting
from treefactor.dynamics import chain_on_scalars as composite
from treefactor.papers.textbook import kane_sum, kosynka, stepanenko

SIZES = range(2, 31)

# coefficients of N^2, N, 1 (of N^3 before them): multiplications, additions
EXECUTED = {
    kane_sum: ((34.5, -22.5, 0), (58.5, -52.5, 6)),
    kosynka: ((1, 18, 11, 0), (1, 14.5, 7.5, 0)),
    stepanenko: ((4.5, 70.5, -57), (4, 77, -70)),
    composite: ((3, 36, -33), (2.5, 45.5, -49)),
}


def counted(recursion, n) -> tf.OperationCount:
    """Count the operations of one run on a revolute chain."""
    tally = Counter()
    recursion.inertia(*[counting(x, tally) for x in random_chain(n)])
    return tf.OperationCount(**tally)


@pytest.mark.parametrize("recursion", EXECUTED, ids=lambda module: module.__name__.split(".")[-1])
def test_every_recursion_takes_its_polynomial(recursion):
    sizes = SIZES if recursion in (composite, stepanenko) else [*range(2, 13), 20, 30]
    for n in sizes:
        assert counted(recursion, n) == kane_sum.evaluate(EXECUTED[recursion], n), n


@pytest.mark.parametrize("n", SIZES)
def test_the_lines_of_the_papers_table(n):
    lines = kane_sum.executed(*random_chain(n))
    assert lines.keys() == kane_sum.TABLE_1.keys()
    nothing = ((0,), (0,))
    for name, own in lines.items():
        printed = kane_sum.evaluate(kane_sum.TABLE_1[name], n)
        difference = kane_sum.evaluate(kane_sum.DIFFERENCES.get(name, nothing), n)
        assert own == tf.OperationCount(printed.mul + difference.mul, printed.add + difference.add), name
    total = kane_sum.evaluate(EXECUTED[kane_sum], n)
    assert sum(own.mul for own in lines.values()) == total.mul
    assert sum(own.add for own in lines.values()) == total.add


def test_14b_as_printed_does_not_hold():
    _, r, m, *_ = random_chain(3)
    r = kane_sum.distances(dict(enumerate(r, 1)))
    tilde = {ij: kane_sum.tilde(x).astype(float) for ij, x in r.items()}
    M2_11 = m[1] * tilde[1, 2] @ tilde[1, 2].T + m[2] * tilde[1, 3] @ tilde[1, 3].T
    printed = m[1] * tilde[1, 2] @ tilde[1, 2].T + m[2] * tilde[1, 3] @ tilde[2, 3].T
    mr = kane_sum.moments(r, dict(enumerate(m, 1)))
    own = kane_sum.m2(kane_sum.outboard(mr, 3), r, 3)[1, 1].astype(float)
    np.testing.assert_allclose(own, M2_11, rtol=1e-12)
    assert abs(printed - M2_11).max() > 0.1


@pytest.mark.parametrize("n", SIZES)
def test_the_papers_totals_are_the_sums_of_its_lines_but_for_19_n_additions(n):
    lines = [kane_sum.evaluate(line, n) for line in kane_sum.TABLE_1.values()]
    total = kane_sum.evaluate(kane_sum.TOTAL, n)
    assert total.mul == sum(line.mul for line in lines)
    assert total.add == sum(line.add for line in lines) - 19 * n


def test_six_moving_joints_as_in_the_paper():
    assert kane_sum.evaluate(kane_sum.TOTAL, 6) == tf.OperationCount(1071, 1443)
    assert kane_sum.evaluate(kosynka.QUOTED, 6) == tf.OperationCount(1458, 5856)
    assert kane_sum.evaluate(stepanenko.QUOTED, 6) == tf.OperationCount(1596, 1302)
    assert kane_sum.evaluate(kane_sum.TOTAL, 6).total == 2514
    assert counted(kane_sum, 6) == tf.OperationCount(1107, 1797)
    assert counted(composite, 6) == tf.OperationCount(291, 314)


@pytest.mark.parametrize("n", SIZES)
def test_ours_takes_fewer_operations_than_any_other(n):
    own = tf.chain_inertia(*random_chain(n), count=True)[1]
    others = [kane_sum.evaluate(x, n) for x in (kane_sum.TOTAL, kosynka.QUOTED, stepanenko.QUOTED)]
    others += [kane_sum.evaluate(EXECUTED[x], n) for x in (kane_sum, kosynka, stepanenko)]
    assert own == kane_sum.evaluate(EXECUTED[composite], n)
    assert own.total < min(other.total for other in others)


def test_the_count_is_that_of_one_chain_and_of_its_joints():
    many = random_chain(5, batch=(3,))
    A, own = tf.chain_inertia(*many, count=True)
    np.testing.assert_array_equal(A, tf.chain_inertia(*many))
    assert own == tf.chain_inertia(*random_chain(5), count=True)[1]
    assert tf.chain_inertia(*many, prismatic=[True] * 5, count=True)[1].total < own.total
    assert tf.chain_inertia(*random_chain(0), count=True)[1] == tf.OperationCount()


def test_the_count_of_the_forces():
    assert tf.chain_forces(*random_chain(0), count=True)[1] == tf.OperationCount()
    for n in (1, 2, 3, 10, 30):
        expected = tf.OperationCount(mul=75 * n - 15, add=81 * n - 21)
        assert tf.chain_forces(*random_chain(n), count=True)[1] == expected
