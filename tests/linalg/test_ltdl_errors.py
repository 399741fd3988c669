"""Test failures of factorizations: refusals, messages, and that no old factor stays in use."""

import pickle
from operator import methodcaller

import numpy as np
import pytest
from helpers.strategies import TREES, spd_matrix
from oracles.dense import OPERATIONS

import treefactor as tf
from treefactor import (
    DtypeError,
    NonFiniteError,
    NotPositiveDefiniteError,
    PatternError,
    ShapeError,
    Tree,
    TreefactorError,
)

pytestmark = [pytest.mark.wheel, pytest.mark.isa_all]

TREE = Tree(TREES["tree_1"].parent, names=[f"joint_{k}" for k in range(9)])
N = TREE.n
kinds = pytest.mark.parametrize("kind", ["LTDL", "LTL"])
operations = pytest.mark.parametrize("operation", OPERATIONS)

SINGLE_RESULTS = {
    **{name: lambda f, name=name: getattr(f, name)(np.ones(N)) for name in (*OPERATIONS, "quadratic")},
    **{name: methodcaller(name) for name in ("inverse", "logdet", "reconstruct", "L", "D", "L_csc")},
    "delassus": lambda f: f.delassus(np.ones((2, N))),
    "many": lambda f: f.solve(np.ones((N, 2))),
    "out": lambda f: f.solve(np.ones(N), out=np.empty(N)),
    "operator": lambda f: f.operator() @ np.ones(N),
    "inverse_operator": lambda f: f.inverse_operator() @ np.ones(N),
}


def good(*batch):
    return spd_matrix(TREE, 1, batch)


def indefinite(row, *batch):
    H = good(*batch)
    H[..., row, row] = -1.0
    return H


# ------------------------------------------------------------------------------------- a single matrix


@kinds
@pytest.mark.parametrize("row", range(N))
def test_an_indefinite_matrix_names_its_row(kind, row):
    with pytest.raises(NotPositiveDefiniteError, match=rf"row {row} \(joint_{row}\)") as caught:
        tf.factor(indefinite(row), TREE, kind)
    assert (caught.value.row, caught.value.name) == (row, f"joint_{row}")


@kinds
@pytest.mark.parametrize("pivot", [0.0, -0.0, -1e-300])
def test_a_pivot_must_be_positive(kind, pivot):
    with pytest.raises(NotPositiveDefiniteError) as caught:
        tf.factor([[1.0, 0.0], [0.0, pivot]], Tree([-1, -1]), kind)
    assert (caught.value.row, caught.value.name) == (1, None)


@kinds
def test_a_singular_matrix_fails_at_its_ancestor(kind):
    with pytest.raises(NotPositiveDefiniteError) as caught:
        tf.factor([[4.0, 2.0], [2.0, 1.0]], Tree([-1, 0]), kind)
    assert caught.value.row == 0


@kinds
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("row", "column"), [(0, 0), (8, 8), (5, 3), (7, 0)])
@pytest.mark.parametrize("form", ["lower", "upper", "packed"])
def test_an_entry_that_is_not_finite_is_named(kind, value, row, column, form):
    H = good()
    H[row, column] = H[column, row] = value
    layout, triangle = ("packed", "lower") if form == "packed" else ("dense", form)
    H = TREE.pack(H) if form == "packed" else H
    read = (column, row) if form == "upper" else (row, column)
    with pytest.raises(NotPositiveDefiniteError, match=rf"not finite.*\({read[0]}, {read[1]}\)") as caught:
        tf.factor(H, TREE, kind, layout, triangle=triangle)
    assert caught.value.name == f"joint_{caught.value.row}"
    assert caught.value.row in (row, column)


@pytest.mark.parametrize("shift", [np.nan, np.inf, [0.0] * 8 + [np.nan]])
def test_a_shift_that_is_not_finite_raises(shift):
    with pytest.raises(TreefactorError):
        tf.factor(good(), TREE, shift=shift)


@kinds
@pytest.mark.parametrize("result", SINGLE_RESULTS.values(), ids=SINGLE_RESULTS)
def test_nothing_stale_is_answered_after_a_failed_refactor(kind, result):
    f = tf.factor(good(), TREE, kind)
    with pytest.raises(NotPositiveDefiniteError):
        f.refactor(indefinite(4))
    assert f.status == 4
    with pytest.raises(NotPositiveDefiniteError) as caught:
        result(f)
    assert caught.value.row == 4


@kinds
def test_a_failed_factor_recovers(kind):
    f = tf.factor(good(), TREE, kind)
    with pytest.raises(NotPositiveDefiniteError):
        f.refactor(indefinite(4))
    f.refactor(2 * good())
    assert f.status == -1
    np.testing.assert_array_equal(f.solve(np.ones(N)), tf.factor(2 * good(), TREE, kind).solve(np.ones(N)))


@pytest.mark.parametrize(
    ("H", "options", "error"),
    [
        (good(1), {}, ShapeError),
        (np.eye(8), {}, ShapeError),
        (np.ones(TREE.nnz), {}, ShapeError),
        (good(), {"layout": "packed"}, ShapeError),
        (good(), {"shift": np.ones(3)}, ShapeError),
        (good() * 1j, {}, DtypeError),
        (good(), {"shift": "a"}, DtypeError),
        (good(), {"layout": "sparse"}, ValueError),
    ],
)
def test_a_refused_refactor_keeps_the_old_factor(H, options, error):
    f = tf.factor(good(), TREE)
    before = f.inverse()
    with pytest.raises(error):
        f.refactor(H, **options)
    np.testing.assert_array_equal(f.inverse(), before)


# ------------------------------------------------------------------------------------- a batch


def test_a_batch_may_fail_altogether():
    f = tf.factor(indefinite(3, 2, 2), TREE)
    assert f.status.tolist() == [[3, 3], [3, 3]]
    assert np.isnan(f.solve(np.ones(N))).all()


# ------------------------------------------------------------------------------------- b


@operations
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("tail", [(), (3,)])
def test_a_b_that_is_not_finite_raises_and_leaves_out_alone(operation, value, tail):
    b, out = np.ones((N, *tail)), np.full((N, *tail), 7.0)
    b[(5, *[1] * len(tail))] = value
    with pytest.raises(NonFiniteError, match=r"\[5") as caught:
        getattr(tf.factor(good(), TREE), operation)(b, out=out)
    assert caught.value.row == 5
    assert (out == 7.0).all()


@pytest.mark.parametrize("name", ["H", "x"])
def test_a_product_with_what_is_not_finite_raises(name):
    H, x = good(), np.ones(N)
    (H if name == "H" else x)[4] = np.inf
    with pytest.raises(NonFiniteError, match=name):
        tf.multiply(H, TREE, x)


def test_an_x_of_quadratic_that_is_not_finite_raises():
    with pytest.raises(NonFiniteError):
        tf.factor(good(), TREE).quadratic([np.nan] * N)


def test_a_jacobian_that_is_not_finite_names_its_row():
    J = np.ones((3, N))
    J[1, 5] = np.nan
    with pytest.raises(NonFiniteError, match=r"J\[1, 5\]") as caught:
        tf.factor(good(), TREE).delassus(J)
    assert caught.value.row == 1


# ------------------------------------------------------------------------------------- check=True


def changed(entries, *batch):
    H = good(*batch)
    for index, value in entries.items():
        H[index] = value
    return H


@pytest.mark.parametrize(
    ("H", "entries"),
    [
        (changed({(3, 1): 9.0}), {(3, 1), (1, 3)}),
        (changed({(8, 3): 1.0, (3, 8): 1.0}), {(8, 3), (3, 8)}),
        (changed({(8, 3): 1.0}), {(8, 3), (3, 8)}),
        (changed({(2, 8, 3): 1.0, (2, 3, 8): 1.0}, 5), {(8, 3), (3, 8)}),
        (changed({(2, 3, 1): 9.0}, 5), {(3, 1), (1, 3)}),
        (changed({(8, 3): np.nan, (3, 8): np.nan}), {(8, 3), (3, 8)}),
        (changed({(8, 3): np.inf, (3, 8): np.inf}), {(8, 3), (3, 8)}),
        (changed({(1, 3): np.nan}), {(3, 1), (1, 3)}),
        (changed({(1, 0, 0): 1e20, (2, 3, 1): 9.0}, 5), {(3, 1), (1, 3)}),
        (changed({(1, 0, 0): np.nan, (2, 3, 1): 9.0}, 5), {(3, 1), (1, 3)}),
    ],
    ids=[
        "skew",
        "outside",
        "outside on one side",
        "outside in a batch",
        "skew in a batch",
        "nan outside",
        "inf outside",
        "nan in the other triangle",
        "skew beside a large matrix",
        "skew beside a nan",
    ],
)
def test_check_finds_matrices_without_the_pattern_of_the_tree(H, entries):
    with pytest.raises(PatternError) as caught:
        tf.factor(H, TREE, check=True)
    row, column = caught.value.row, caught.value.column
    assert (row, column) in entries
    assert f"[{row}, {column}]" in str(caught.value)


@pytest.mark.parametrize("batch", [(), (0,), (5,)])
def test_check_accepts_matrices_of_the_tree(batch):
    assert (tf.factor(good(*batch), TREE, check=True).status == -1).all()


def test_check_accepts_rounding():
    H = good()
    H[3, 1] *= 1 + 1e-15
    H[8, 3] = 1e-15
    assert tf.factor(H, TREE, check=True).status == -1


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_check_leaves_entries_of_the_pattern_that_are_not_finite_to_the_factorization(value):
    with pytest.raises(NotPositiveDefiniteError):
        tf.factor(changed({(0, 0): value}), TREE, check=True)


# ------------------------------------------------------------------------------------- the classes


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (tf.InvalidTreeError("m", row=3), ValueError),
        (ShapeError("m", received=(1,), expected=("...", 2)), ValueError),
        (DtypeError("m", received=np.dtype(complex)), TypeError),
        (NonFiniteError("m", row=3), ValueError),
        (PatternError("m", row=3, column=1), ValueError),
        (NotPositiveDefiniteError("m", row=3, name="hip"), np.linalg.LinAlgError),
        (tf.CodegenError("m"), RuntimeError),
        (tf.AdapterError("m", engine="e", file="f", joint="j"), RuntimeError),
    ],
    ids=lambda e: type(e).__name__,
)
def test_exceptions_carry_their_data_through_pickle(error, builtin):
    twin = pickle.loads(pickle.dumps(error))
    assert type(twin) is type(error)
    assert isinstance(twin, builtin)
    assert isinstance(twin, TreefactorError)
    assert str(twin) == "m"
    assert vars(twin) == vars(error)
