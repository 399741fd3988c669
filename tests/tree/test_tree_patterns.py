"""Test trees from joints, from other numberings and from patterns; packed rows and lanes."""

import numpy as np
import pytest
from helpers.strategies import TREES, joint_trees, parents, poisoned, spd_matrix, trees
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array

import treefactor as tf
from treefactor import InvalidTreeError, ShapeError, Tree
from treefactor.papers.textbook import featherstone

pytestmark = pytest.mark.wheel

# ------------------------------------------------------------------------------------------ from_joints


def test_expansion_of_the_papers_example():
    tree = Tree.from_joints([-1, 0, 0, 1, 1, 2], [1, 3, 1, 1, 1, 1])
    assert (tree.parent + 1).tolist() == [0, 1, 2, 3, 1, 4, 4, 5]


@given(joint_trees())
def test_expansion_equals_table_6_4(joints):
    parent, nv = joints
    expected = featherstone.expand([i + 1 for i in parent], nv)
    assert (Tree.from_joints(parent, nv).parent + 1).tolist() == expected


@pytest.mark.parametrize(
    ("parent", "nv", "expected"),
    [
        ([-1, 0, 0], [0, 1, 1], [-1, -1]),  # a fixed base
        ([-1, 0, 1, 2, 2], [1, 0, 0, 1, 1], [-1, 0, 0]),  # fixed joints in a chain
        ([-1, 0, 0, 1], [2, 0, 1, 0], [-1, 0, 1]),  # fixed leaves
        ([-1, -1, 1], [0, 0, 0], []),
    ],
)
def test_joints_without_freedoms(parent, nv, expected):
    assert Tree.from_joints(parent, nv).parent.tolist() == expected


def test_names_of_joints_are_expanded():
    tree = Tree.from_joints([-1, 0, 1, 2], [1, 3, 0, 1], names=["a", "b", "c", "d"])
    assert tree.names == ("a", "b[0]", "b[1]", "b[2]", "d")


@pytest.mark.parametrize(
    ("parent", "nv", "names", "error", "row"),
    [
        ([-1, 0], [1], None, ShapeError, None),
        ([-1, 0], [1, -1], None, InvalidTreeError, 1),
        ([-1, 1], [1, 1], None, InvalidTreeError, 1),
        ([-1, 1], [1, 0], None, InvalidTreeError, 1),
        ([-1, 0], [1, 1.0], None, InvalidTreeError, None),
        ([-1, 0], [1, 1], ["a"], ShapeError, None),
    ],
)
def test_bad_joints_raise(parent, nv, names, error, row):
    with pytest.raises(error) as caught:
        Tree.from_joints(parent, nv, names)
    assert getattr(caught.value, "row", None) == row


# ------------------------------------------------------------------------------------------ renumber


@st.composite
def shuffled(draw):
    parent = np.array(draw(parents()), dtype=np.intp)
    old = np.random.default_rng(draw(st.integers(0, 999))).permutation(parent.size)
    result = np.empty_like(parent)
    result[old] = np.where(parent >= 0, old[parent], -1) if parent.size else parent
    return result


@given(shuffled())
def test_renumber_maps_every_new_node_to_its_old_number(parent):
    tree, permutation = Tree.renumber(parent)
    assert sorted(permutation.tolist()) == list(range(parent.size))
    back = np.append(permutation, -1)  # parent -1 looks in the last place
    np.testing.assert_array_equal(back[tree.parent], parent[permutation])


@given(shuffled())
def test_renumbered_trees_are_depth_first(parent):
    tree, _ = Tree.renumber(parent)
    assert tree.order.tolist() == list(range(tree.n))


@given(shuffled(), st.data())
def test_a_cycle_is_named(parent, data):
    if not parent.size:
        return
    _, permutation = Tree.renumber(parent)
    top = int(permutation[data.draw(st.integers(0, parent.size - 1))])
    below = [k for k in range(parent.size) if top in _walk(parent, k)]
    parent[top] = data.draw(st.sampled_from(below))
    with pytest.raises(InvalidTreeError) as caught:
        Tree.renumber(parent)
    row = caught.value.row
    assert row in _walk(parent, int(parent[row]))
    assert f"node {row} " in str(caught.value)


def _walk(parent, k):
    """Return the nodes from k towards the base, each once."""
    seen = []
    while k >= 0 and k not in seen:
        seen.append(k)
        k = int(parent[k])
    return seen


@pytest.mark.parametrize("bad", [-2, 3, 10**12])
def test_renumber_names_a_parent_out_of_range(bad):
    with pytest.raises(InvalidTreeError, match=rf"parent\[1\] = {bad}\b") as caught:
        Tree.renumber([2, bad, -1])
    assert caught.value.row == 1


# ------------------------------------------------------------------------------------------ from_pattern


@given(trees(max_n=60))
def test_from_pattern_gives_a_kinematic_tree_back(tree):
    assert Tree.from_pattern(tree.mask()) == tree


@st.composite
def patterns(draw, max_n=14):
    n = draw(st.integers(1, max_n))
    lower = np.tril(np.random.default_rng(draw(st.integers(0, 9999))).random((n, n)), -1)
    pattern = lower > 1 - draw(st.sampled_from([0.0, 0.1, 0.2, 0.5, 1.0]))
    return pattern | pattern.T | np.eye(n, dtype=bool)


@given(patterns())
def test_from_pattern_is_the_elimination_tree(pattern):
    filled = pattern.copy()
    for k in range(len(filled) - 1, 0, -1):  # symbolic elimination, last row first
        above = np.flatnonzero(filled[k, :k])
        filled[np.ix_(above, above)] = True
    tree = Tree.from_pattern(pattern)
    assert not (filled & ~tree.mask()).any()
    nearest = [max(np.flatnonzero(filled[k, :k]), default=-1) for k in range(len(filled))]
    assert tree.parent.tolist() == nearest


@pytest.mark.parametrize("form", [csr_array, csc_array, np.tril, np.ndarray.tolist])
def test_from_pattern_takes_sparse_one_sided_and_listed_patterns(form):
    tree = TREES["lattice"]
    assert Tree.from_pattern(form(tree.mask().astype(float))) == tree


@pytest.mark.parametrize("values", [(1.0, -1.0), (np.nan, np.nan)], ids=repr)
def test_from_pattern_reads_only_which_entries_are_zero(values):
    pattern = np.eye(3)
    pattern[1, 0], pattern[0, 1] = values
    assert Tree.from_pattern(pattern) == Tree([-1, 0, -1])


def test_from_pattern_does_not_overflow_small_integers():
    assert Tree.from_pattern(np.full((3, 3), 128, dtype=np.uint8)) == tf.families.chain(3)


@pytest.mark.parametrize("shape", [(2, 3), (3,), (), (2, 2, 2)])
def test_from_pattern_must_be_square(shape):
    with pytest.raises(ShapeError) as caught:
        Tree.from_pattern(np.ones(shape))
    assert caught.value.received == shape


@pytest.mark.parametrize(
    ("mask", "error"), [("mask", tf.DtypeError), (None, tf.DtypeError), ([[1], [1, 2]], ShapeError)]
)
def test_from_pattern_names_wrong_types(mask, error):
    with pytest.raises(error, match=r"^mask "):
        Tree.from_pattern(mask)


# ------------------------------------------------------------------------------------------ pack, unpack


@given(trees(max_n=60), st.sampled_from(["lower", "upper"]), st.sampled_from([(), (0,), (1,), (9,), (2, 3)]))
@settings(max_examples=40)
def test_pack_reads_one_triangles_pattern(tree, triangle, batch):
    H = np.random.default_rng(0).random((*batch, tree.n, tree.n))
    lower = H if triangle == "lower" else np.swapaxes(H, -1, -2)
    packed = tree.pack(poisoned(H, tree, triangle), triangle=triangle)
    np.testing.assert_array_equal(packed, lower[..., tree.rows, tree.columns])
    assert packed.flags.c_contiguous


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
@pytest.mark.parametrize("batch", [(), (0,), (1,), (2, 3)])
def test_unpack_is_the_inverse_of_pack(tree, batch):
    H = spd_matrix(tree, 0, batch)
    np.testing.assert_array_equal(tree.unpack(tree.pack(H)), H)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9])
def test_lanes_are_padded_with_identity_matrices(count):
    tree = TREES["tree_1"]
    H = spd_matrix(tree, 0, (count,))
    lanes = tree.pack(H, layout="lanes")
    blocks = -(-count // 8)
    assert lanes.shape == (blocks, tree.nnz, 8)
    whole = tree.unpack(lanes, layout="lanes")
    np.testing.assert_array_equal(whole[:count], H)
    np.testing.assert_array_equal(whole[count:], np.broadcast_to(np.eye(9), (8 * blocks - count, 9, 9)))


def test_matrix_b_of_a_batch_is_lane_b_of_its_block():
    tree = TREES["random"]
    H = spd_matrix(tree, 0, (2, 6))
    lanes, packed = tree.pack(H, layout="lanes"), tree.pack(H).reshape(12, -1)
    assert all(np.array_equal(lanes[b // 8, :, b % 8], packed[b]) for b in range(12))


@pytest.mark.parametrize(
    ("call", "received"),
    [
        (lambda t: t.pack(np.eye(8)), (8, 8)),
        (lambda t: t.pack(np.ones(9)), (9,)),
        (lambda t: t.unpack(np.ones(3)), (3,)),
        (lambda t: t.unpack(np.ones((2, t.nnz, 7)), layout="lanes"), (2, 31, 7)),
        (lambda t: t.unpack(np.ones((t.nnz, 8)), layout="lanes"), (31, 8)),
    ],
)
def test_wrong_shapes_raise(call, received):
    with pytest.raises(ShapeError) as caught:
        call(tf.families.tree_1())
    assert caught.value.received == received


@pytest.mark.parametrize("option", [{"layout": "dense"}, {"triangle": "both"}, {"layout": None}])
def test_unknown_options_of_pack_raise(option):
    with pytest.raises(ValueError, match=next(iter(option))):
        Tree([-1]).pack(np.eye(1), **option)
