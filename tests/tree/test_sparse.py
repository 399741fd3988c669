"""Test matrices, factors and products in SciPy's sparse forms and as its linear operators."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.strategies import TREES, poisoned, spd_matrix
from scipy.sparse.linalg import cg, spsolve

import treefactor as tf

FORMS = (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.lil_array, sp.bsr_array)
each_tree = pytest.mark.parametrize("tree", TREES.values(), ids=TREES)


@each_tree
def test_packed_rows_go_out_and_come_back(tree):
    H = spd_matrix(tree, 1)
    sparse = tree.csc(tree.pack(H))
    assert sparse.format == "csc"
    assert sparse.nnz == tree.n + 2 * tree.D1
    np.testing.assert_array_equal(sparse.toarray(), H)
    np.testing.assert_array_equal(tree.pack(sparse), tree.pack(H))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("triangle", ["lower", "upper"])
@pytest.mark.parametrize("layout", ["packed", "lanes"])
def test_any_form_is_packed(form, triangle, layout):
    tree = TREES["tree_1"]
    H = poisoned(spd_matrix(tree, 1), tree, triangle)
    expected = tree.pack(H, layout, triangle)
    np.testing.assert_array_equal(tree.pack(form(H), layout, triangle), expected)


def test_entries_that_are_not_stored_are_zero_and_those_stored_twice_are_added():
    tree = tf.Tree([-1, 0, 1])
    H = sp.coo_array(([1.0, 2.0, 3.0, 4.0, 5.0], ([0, 1, 1, 2, 2], [0, 1, 1, 2, 0])), shape=(3, 3))
    np.testing.assert_array_equal(tree.pack(H), [1, 0, 5, 5, 0, 4])
    assert H.nnz == 5
    rows = sp.csr_array(([1, 2], [0, 0], [0, 2, 2, 2]), shape=(3, 3))
    np.testing.assert_array_equal(tree.pack(rows), [3, 0, 0, 0, 0, 0])
    assert rows.nnz == 2  # the caller's matrix stays as it is


def test_what_does_not_fit_is_refused():
    tree = TREES["tree_1"]
    with pytest.raises(tf.ShapeError):
        tree.pack(sp.eye_array(8, format="csr"))
    with pytest.raises(tf.DtypeError):
        tree.pack(sp.csr_array(1j * np.eye(9)))
    with pytest.raises(tf.ShapeError):
        tree.csc(np.ones((2, tree.nnz)))


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize(
    ("index", "start"), [([0, 10**8], [0, 1, 2]), ([0, -1], [0, 1, 2]), ([0, 1], [0, 2, 1])]
)
def test_indices_that_do_not_fit_are_refused(form, index, start):
    """SciPy makes such matrices, and reads and writes beyond its arrays once it converts them."""
    broken = form((np.ones(2), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2))
    broken.indices[:], broken.indptr[:] = index, start
    with pytest.raises(tf.ShapeError, match="H is not a sparse matrix"):
        tf.Tree([-1, 0]).pack(broken)
    with pytest.raises(tf.ShapeError, match="mask is not a sparse matrix"):
        tf.Tree.from_pattern(broken)
    with pytest.raises(tf.ShapeError, match="D is not a sparse matrix"):
        tf.mlcp.Problem(np.eye(2), tf.Tree([-1, 0]), [0.0, 0.0], D=broken, d=[0.0, 0.0])


@pytest.mark.parametrize("place", [10**8, -1])
@pytest.mark.parametrize("form", [sp.coo_array, sp.lil_array])
def test_places_that_do_not_fit_are_refused(form, place):
    """Coordinates and lists of rows are checked in the same way."""
    broken = form(np.eye(2))
    if broken.format == "coo":
        broken.row[0] = place
    else:
        broken.rows[0] = [place]
    with pytest.raises(tf.ShapeError, match="H is not a sparse matrix"):
        tf.Tree([-1, 0]).pack(broken)
    with pytest.raises(tf.ShapeError, match="D is not a sparse matrix"):
        tf.mlcp.Problem(np.eye(2), tf.Tree([-1, 0]), [0.0, 0.0], D=broken, d=[0.0, 0.0])


def test_a_sparse_matrix_is_not_taken_for_an_array():
    tree = TREES["random"]
    with pytest.raises(tf.DtypeError, match=r"H is sparse: Tree\.pack"):
        tf.factor(tree.csc(np.ones(tree.nnz)), tree)


def test_they_are_what_scipys_solvers_take():
    tree = TREES["random"]
    H = spd_matrix(tree, 1)
    b, sparse = np.arange(1.0, tree.n + 1), tree.csc(tree.pack(H))
    f = tf.factor(tree.pack(sparse), tree, layout="packed")
    np.testing.assert_allclose(f.solve(b), spsolve(sparse, b), rtol=1e-10)
    x, info = cg(sparse, b, M=f.inverse_operator(), maxiter=3)
    assert info == 0
    np.testing.assert_allclose(x, f.solve(b), rtol=1e-6)
    L = f.L_csc()
    np.testing.assert_allclose((L.T @ sp.diags_array(f.D()) @ L).toarray(), H, atol=1e-12)
