"""Tolerances of the tests, each with its meaning, and the comparison that uses them."""

import numpy as np

ROUNDING = 1e-14  # per row, relative to the norm of what was rounded
SYMMETRY = 1e-14  # relative to the largest entry

SOLVE_BYTES = 400  # Python's own objects in one call that allocates no array; below 60 doubles
REFACTOR_BYTES = 4000  # the same with views of H; below 60 x 60 doubles
FLAT_BYTES = 200  # noise in traced memory that does not grow with n or with the calls


SINGLE = np.finfo(np.float32).eps / np.finfo(np.float64).eps  # the roundings of float32 in those of float64


def assert_batch_close(actual, expected, n: int, cond: float, dtype=np.float64, scale=None) -> None:
    """Assert that every matrix of a batch is that close, relative to its norm or to the scale given."""
    assert actual.shape == expected.shape, f"shape {actual.shape}, expected {expected.shape}"
    assert actual.dtype == dtype, f"dtype {actual.dtype}"

    def norm(a):
        return np.sqrt(np.square(a, dtype=np.float64).sum(axis=tuple(range(1, a.ndim))))

    unit = ROUNDING * (SINGLE if dtype == np.float32 else 1.0)
    bound = unit * max(n, 1) * cond * (norm(expected) if scale is None else scale)
    error = norm(actual - expected)
    assert (error <= bound).all(), f"error {error} exceeds {bound}"


def assert_close(actual, expected, n: int, cond: float = 1.0) -> None:
    """Assert that norm(actual - expected) <= ROUNDING n cond norm(expected), and equal shapes."""
    actual, expected = np.asarray(actual), np.asarray(expected, dtype=float)
    assert actual.shape == expected.shape, f"shape {actual.shape}, expected {expected.shape}"
    assert actual.dtype == np.float64, f"dtype {actual.dtype}"
    error = np.linalg.norm(actual - expected)
    bound = ROUNDING * max(n, 1) * cond * np.linalg.norm(expected)
    assert error <= bound, f"error {error:.3e} exceeds {bound:.3e}"
