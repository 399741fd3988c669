"""Test the papers' trees, tables and headline numbers; operations are counted by running the algorithms."""

from collections import Counter

import numpy as np
import pytest
from helpers.strategies import TREES, spd_matrix, trees
from hypothesis import given, settings
from hypothesis import strategies as st

from treefactor import OperationCount, Tree, families
from treefactor._util.counting import counting
from treefactor.papers.textbook import featherstone, shimanovsky

SIZES = [1, 2, 3, 4, 7]


# ------------------------------------------------------------------------- closed forms of table 2


@pytest.mark.parametrize("m", [0, *SIZES, 50])
def test_chain(m):
    tree = families.chain(m)
    assert tree.parent.tolist() == list(range(-1, m - 1))
    assert (tree.n, tree.D1, tree.D2) == (m, (m**2 - m) // 2, (m**3 - m) // 6)


@pytest.mark.parametrize("m", [0, *SIZES, 10])
def test_binary_tree(m):
    tree = families.binary_tree(m)
    D1 = sum(i * 2**i for i in range(1, m))
    D2 = sum(i * (i + 1) * 2 ** (i - 1) for i in range(1, m))
    assert (tree.n, tree.D1, tree.D2) == (2**m - 1, D1, D2)


def test_binary_tree_has_two_children_at_every_inner_node():
    children = Counter(families.binary_tree(5).parent.tolist())
    assert children == {-1: 1, **dict.fromkeys(range(15), 2)}


@pytest.mark.parametrize("m", [0, *SIZES, 16])
def test_lattice(m):
    tree = families.lattice(m)
    assert (tree.n, tree.D1, tree.D2) == (m**2, m**3 - m**2, (7 * m**4 - 6 * m**3 - m**2) // 12)


@pytest.mark.parametrize("m", SIZES)
def test_lattice_nodes_hang_on_a_neighbour_by_a_shortest_path(m):
    tree = families.lattice(m)
    place = [divmod(k, m) for k in range(m * m)]
    assert tree.depth.tolist() == [r + c + 1 for r, c in place]
    for k in range(1, m * m):
        (r, c), (above, left) = place[k], place[tree.parent[k]]
        assert abs(r - above) + abs(c - left) == 1


def test_tree_1_is_the_papers_expansion():
    assert (families.tree_1().parent + 1).tolist() == [0, 1, 2, 3, 2, 4, 5, 7, 5]


# ------------------------------------------------------------------------- headline numbers


@pytest.mark.parametrize(
    ("tree", "n", "saving", "decimals"),
    [
        (families.binary_tree(4), 15, 7.75, 2),
        (families.binary_tree(8), 255, 434, 0),
        (families.lattice(4), 16, 5.29, 2),
        (families.lattice(16), 256, 73.9, 1),
    ],
    ids=["binary-15", "binary-255", "lattice-16", "lattice-256"],
)
def test_saving_against_a_dense_matrix(tree, n, saving, decimals):
    dense = families.chain(n)
    assert round((dense.D1 + 2 * dense.D2) / (tree.D1 + 2 * tree.D2), decimals) == saving


@pytest.mark.parametrize(
    ("tree", "alpha", "saving"),
    [(families.binary_tree(4), 0.37, 7.3), (families.lattice(4), 0.44, 5.2)],
    ids=["binary-15", "lattice-16"],
)
def test_density(tree, alpha, saving):
    assert round(tree.density, 2) == alpha
    # the paper squares the rounded alpha
    assert round(1 / round(tree.density, 2) ** 2, 1) == saving


# ------------------------------------------------------------------------- random trees


@pytest.mark.parametrize("branching", [0.3, 1.0])
def test_random_tree_is_reproducible(branching):
    first, second = (families.random_tree(80, 5, branching) for _ in range(2))
    assert first == second
    assert first != families.random_tree(80, 6, branching)


def test_random_tree_draws_from_the_given_generator():
    rng = np.random.default_rng(5)
    assert families.random_tree(80, rng) == families.random_tree(80, 5)
    assert families.random_tree(80, rng) != families.random_tree(80, 5)


def test_random_tree_without_branching_is_a_chain():
    assert families.random_tree(50, 0, branching=0) == families.chain(50)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_small_random_trees(n):
    assert families.random_tree(n, 0, branching=1.0).n == n


def test_every_earlier_node_and_the_base_are_equally_likely_with_branching_one():
    seen = Counter(int(families.random_tree(4, seed, 1.0).parent[3]) for seed in range(400))
    assert set(seen) == {-1, 0, 1, 2}
    assert min(seen.values()) > 60  # 100 expected, standard deviation 8.7


# ------------------------------------------------------------------------- bad arguments


@pytest.mark.parametrize("family", [families.chain, families.binary_tree, families.lattice])
@pytest.mark.parametrize("size", [-1, 2.5, float("nan")])
def test_a_size_must_be_a_natural_number(family, size):
    with pytest.raises(ValueError, match="integer"):
        family(size)


@pytest.mark.parametrize("family", [families.chain, families.binary_tree, families.lattice])
def test_a_whole_float_is_taken_by_every_family_alike(family):
    assert family(3.0) == family(3)


@pytest.mark.parametrize("n", [-1, 2.5])
def test_random_tree_size_must_be_a_natural_number(n):
    with pytest.raises(ValueError, match="integer"):
        families.random_tree(n, 0)


@pytest.mark.parametrize("branching", [-0.1, 1.1, float("nan")])
def test_branching_must_be_a_probability(branching):
    with pytest.raises(ValueError, match="branching"):
        families.random_tree(5, 0, branching)


# ------------------------------------------------------------------------- costs, by counting


def count(run, tree: Tree, *matrices) -> OperationCount:
    """Tally one run of a textbook algorithm on the tree."""
    tally = Counter()
    run(*(counting(m, tally) for m in matrices), (tree.parent + 1).tolist(), counting(np.ones(tree.n), tally))
    return OperationCount(**tally)


PRODUCTS = {
    "L": featherstone.l_mul,
    "LT": featherstone.lt_mul,
    "L_inv": featherstone.l_inv,
    "LT_inv": featherstone.lt_inv,
    "solve": featherstone.solve,
}


@pytest.mark.parametrize("kind", ["LTL", "LTDL"])
@settings(max_examples=30)
@given(tree=trees(max_n=24))
def test_cost_of_a_factorization_is_what_the_algorithms_do(kind, tree):
    H = spd_matrix(tree, 0)
    slow, upper = {
        "LTL": (featherstone.ltl, shimanovsky.uut),
        "LTDL": (featherstone.ltdl, shimanovsky.udut),
    }[kind]
    assert count(lambda H, lam, _: slow(H, lam), tree, H) == tree.cost(kind)
    assert count(lambda M, p, _: upper(M, p), tree, H) == tree.cost(kind)


@pytest.mark.parametrize("kind", PRODUCTS)
@settings(max_examples=20)
@given(tree=trees(max_n=40), unit=st.booleans())
def test_cost_of_a_product_is_what_the_algorithm_does(kind, tree, unit):
    L = spd_matrix(tree, 0)
    counted = count(lambda L, lam, x: PRODUCTS[kind](L, lam, x, unit), tree, L)
    assert counted == tree.cost(kind, unit=unit)


@settings(max_examples=20)
@given(tree=trees(max_n=40))
def test_cost_of_h_times_a_vector(tree):
    counted = count(lambda H, lam, x: featherstone.h_mul(H, lam, x), tree, spd_matrix(tree, 0))
    assert counted == tree.cost("H")


@settings(max_examples=20)
@given(tree=trees(max_n=40), unit=st.booleans())
def test_cost_of_a_solve_is_shimanovskys_forward_and_backward(tree, unit):
    def both(M, p, Q):
        shimanovsky.backward(M, p, shimanovsky.forward(M, p, Q, unit), unit)

    assert count(both, tree, spd_matrix(tree, 0)) == tree.cost("solve", unit=unit)


def test_total_sums_every_kind():
    assert OperationCount(mul=1, add=20, div=300, sqrt=4000, trig=50000).total == 54321


@pytest.mark.parametrize("kind", ["LTLT", "", None, "h"])
def test_unknown_cost_raises(kind):
    with pytest.raises(ValueError, match="kind"):
        TREES["tree_1"].cost(kind)
