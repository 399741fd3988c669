"""Compare the triangles of least-squares problems with NumPy's QR factorization."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treefactor.identification import _least_squares
from treefactor.identification._triangles import update

pytestmark = pytest.mark.isa


@st.composite
def problems(draw):
    """Draw a table of columns in two parts and several problems on it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    samples, widths = draw(st.integers(0, 200)), (draw(st.integers(0, 9)), draw(st.integers(2, 9)))
    parts = [rng.normal(size=(samples, width)) for width in widths]
    parts[1][:, :2] = rng.random((samples, 2)) < 0.7
    columns = [rng.permutation(sum(widths))[: draw(st.integers(1, 12))] for _ in range(2)]
    return parts, columns


def triangles_of(parts, columns, uses):
    """Return the triangles of problems on columns of the second table."""
    counts = np.array([len(own) for own in columns], dtype=np.intp)
    triangles, entries = np.zeros((counts**2).sum()), ~np.concatenate(columns).astype(np.intp)
    status = update(
        None, (), tuple(parts), len(parts[0]), counts, entries, np.asarray(uses, np.intp), triangles
    )
    assert status == -1
    split = np.split(triangles, np.cumsum(counts**2)[:-1])
    return [R.reshape(count, count) for R, count in zip(split, counts, strict=True)]


@given(problems())
def test_triangles_are_those_of_the_rows(problem):
    """The products R^T R and A^T A agree, and R is a triangle, however many samples there are."""
    parts, columns = problem
    table, uses = np.hstack(parts), [parts[0].shape[1], parts[0].shape[1] + 1]
    for own, use, R in zip(columns, uses, triangles_of(parts, columns, uses), strict=True):
        A = table[:, own] * table[:, use, None]
        assert np.array_equal(R, np.triu(R))
        np.testing.assert_allclose(R.T @ R, A.T @ A, atol=1e-13 * max(np.abs(A.T @ A).max(initial=1.0), 1.0))


def test_triangles_equal_those_of_numpy():
    """Each entry agrees, not only the product: 100 eps of the norm of its column."""
    A = np.random.default_rng(0).normal(size=(637, 40))
    (R,) = triangles_of([A, np.ones((637, 1))], [np.arange(40)], [40])
    expected = np.linalg.qr(A, mode="r")
    sign = np.sign(np.diagonal(expected)) * np.sign(np.diagonal(R))
    difference = np.abs(sign[:, None] * R - expected)
    assert (difference <= 100 * np.finfo(float).eps * np.linalg.norm(A, axis=0)).all()


@pytest.mark.parametrize("size", [1e-150, 1e-9, 1e120])
def test_sizes_of_numbers_do_not_matter(size):
    """Columns of very different norms keep their relative accuracy."""
    A = np.random.default_rng(1).normal(size=(64, 6)) * np.where(np.arange(6) % 2, size, 1.0)
    (R,) = triangles_of([A, np.ones((64, 1))], [np.arange(6)], [6])
    norms = np.linalg.norm(A, axis=0)
    np.testing.assert_allclose(np.linalg.norm(R / norms, axis=0), 1.0, rtol=1e-14)


@given(st.integers(1, 8), st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_dependent_columns_are_found(p, rows, seed):
    """The rank, the minimizer's fit and the null space agree with the singular value decomposition."""
    rng = np.random.default_rng(seed)
    kernel = rng.integers(-1, 2, (p, p)) * rng.integers(0, 2, p)
    A, b = rng.normal(size=(rows, p)) @ kernel, rng.normal(size=rows)
    solution = _least_squares.solve(_least_squares.triangle_of([np.column_stack([A, b])]), 1e-9, np.zeros(p))
    least, _, rank, _ = np.linalg.lstsq(A, b, rcond=1e-10)
    assert solution.rank == rank
    np.testing.assert_allclose(solution.residual, np.linalg.norm(A @ least - b), atol=1e-9)
    np.testing.assert_allclose(A @ solution.values, A @ least, atol=1e-8)
    assert np.abs(A @ solution.null.T).max(initial=0.0) < 1e-8
    inverse = np.linalg.pinv(A, rcond=1e-10)
    own = np.abs(inverse @ A - np.eye(p)).max(axis=1, initial=0.0) < 1e-6 if rows else np.zeros(p, bool)
    assert np.array_equal(solution.determined, own)
    np.testing.assert_allclose(solution.values[own], least[own], atol=1e-7)
    np.testing.assert_allclose(solution.deviations[own], np.linalg.norm(inverse, axis=1)[own], rtol=1e-6)
    assert np.isnan(solution.deviations[~own]).all()
