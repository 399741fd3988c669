"""Compare the triangles of least-squares problems with NumPy's QR factorization."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treefactor.identification import _least_squares
from treefactor.identification._triangles import update

pytestmark = pytest.mark.isa


def in_lanes(rows):
    """Return columns in lanes of rows whose number is a multiple of 8."""
    return np.ascontiguousarray(rows.reshape(len(rows) // 8, 8, rows.shape[1]).transpose(0, 2, 1))


@st.composite
def problems(draw):
    """Draw two tables of columns and several problems on them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    blocks, widths = draw(st.integers(0, 20)), (draw(st.integers(0, 9)), draw(st.integers(2, 9)))
    tables = [rng.normal(size=(8 * blocks, width)) for width in widths]
    uses = np.array([0, 1], dtype=np.intp)
    tables[1][:, :2] = rng.random((8 * blocks, 2)) < 0.7
    columns = [rng.permutation(np.arange(-widths[1], widths[0]))[: draw(st.integers(1, 12))] for _ in uses]
    return tables, columns, uses


def flat(columns):
    """Return the number of columns of every problem, and all columns."""
    counts = np.array([len(own) for own in columns], dtype=np.intp)
    return counts, np.concatenate(columns).astype(np.intp)


@given(problems())
def test_triangles_are_those_of_the_rows(problem):
    """The products R^T R and A^T A agree, and R is a triangle, however many blocks there are."""
    tables, columns, uses = problem
    counts, places = flat(columns)
    triangles = np.zeros((counts**2).sum())
    update(*map(in_lanes, tables), counts, places, uses, triangles)
    for own, use, R in zip(columns, uses, np.split(triangles, np.cumsum(counts**2)[:-1]), strict=True):
        rows = [tables[1][:, ~c] if c < 0 else tables[0][:, c] for c in own]
        A = np.stack(rows, axis=-1) * tables[1][:, use, None]
        R = R.reshape(len(own), len(own))
        assert np.array_equal(R, np.triu(R))
        np.testing.assert_allclose(R.T @ R, A.T @ A, atol=1e-13 * max(np.abs(A.T @ A).max(initial=1.0), 1.0))


def test_triangles_equal_those_of_numpy():
    """Each entry agrees, not only the product: 100 eps of the norm of its column."""
    A = np.random.default_rng(0).normal(size=(640, 40))
    ones = np.ones((640, 1))
    R = np.zeros(1600)
    columns = np.arange(40, dtype=np.intp)
    update(in_lanes(A), in_lanes(ones), np.array([40]), columns, np.array([0]), R)
    expected = np.linalg.qr(A, mode="r")
    sign = np.sign(np.diagonal(expected)) * np.sign(R[::41])
    difference = np.abs(sign[:, None] * R.reshape(40, 40) - expected)
    assert (difference <= 100 * np.finfo(float).eps * np.linalg.norm(A, axis=0)).all()


@pytest.mark.parametrize("size", [1e-150, 1e-9, 1e120])
def test_sizes_of_numbers_do_not_matter(size):
    """Columns of very different norms keep their relative accuracy."""
    A = np.random.default_rng(1).normal(size=(64, 6)) * np.where(np.arange(6) % 2, size, 1.0)
    R = np.zeros(36)
    update(in_lanes(A), in_lanes(np.ones((64, 1))), np.array([6]), np.arange(6), np.array([0]), R)
    norms = np.linalg.norm(A, axis=0)
    np.testing.assert_allclose(np.linalg.norm(R.reshape(6, 6) / norms, axis=0), 1.0, rtol=1e-14)


@given(st.integers(1, 8), st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_dependent_columns_are_found(p, rows, seed):
    """The rank, the minimizer's fit and the unfelt directions agree with the singular value decomposition."""
    rng = np.random.default_rng(seed)
    kernel = rng.integers(-1, 2, (p, p)) * rng.integers(0, 2, p)
    A, b = rng.normal(size=(rows, p)) @ kernel, rng.normal(size=rows)
    found = _least_squares.solve(_least_squares.triangle_of([np.column_stack([A, b])]), 1e-9)
    least, _, rank, s = np.linalg.lstsq(A, b, rcond=1e-10)
    assert found.rank == rank
    np.testing.assert_allclose(found.residual, np.linalg.norm(A @ least - b), atol=1e-9)
    np.testing.assert_allclose(A @ found.values, A @ least, atol=1e-8)
    assert np.abs(A @ found.unfelt.T).max(initial=0.0) < 1e-8
    inverse = np.linalg.pinv(A, rcond=1e-10)
    own = np.abs(inverse @ A - np.eye(p)).max(axis=1, initial=0.0) < 1e-6 if rows else np.zeros(p, bool)
    assert np.array_equal(found.determined, own)
    np.testing.assert_allclose(found.values[own], least[own], atol=1e-7)
    np.testing.assert_allclose(found.deviations[own], np.linalg.norm(inverse, axis=1)[own], rtol=1e-6)
    assert np.isnan(found.deviations[~own]).all()
