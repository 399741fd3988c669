"""Compare the kernels' sines and cosines with extended precision."""

import numpy as np
import pytest
from helpers.strategies import vectors

from treefactor.dynamics._recursions import sincos

pytestmark = [pytest.mark.wheel, pytest.mark.isa]

ULPS = 2  # units in the last place that results may be off
LARGEST = 1e5  # beyond it the C library computes them
extended = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="long doubles are no more precise than doubles here"
)


def ulps(own, expected):
    """Return the deviation from an extended result, in units in the last place of the nearest double."""
    return np.abs(own - expected) / np.spacing(np.abs(expected.astype(float))).astype(np.longdouble)


def worst(x):
    """Return the largest deviation of the sines and cosines of x."""
    s, c = sincos(x)
    exact = x.astype(np.longdouble)
    return float(max(ulps(s, np.sin(exact)).max(), ulps(c, np.cos(exact)).max()))


def multiples_of_a_right_angle(largest):
    """Return the doubles nearest to all multiples of pi/2, and their neighbours."""
    count = int(largest / (np.pi / 2))
    x = (np.arange(1, count) * (np.longdouble("3.14159265358979323846264338327950288") / 2)).astype(float)
    return np.concatenate([x, np.nextafter(x, np.inf), np.nextafter(x, 0), -x])


@extended
@pytest.mark.parametrize("largest", [1e-300, 1e-9, np.pi / 4, np.pi, 100.0, LARGEST])
def test_dense_samples(largest):
    rng = np.random.default_rng(0)
    assert worst(rng.uniform(-largest, largest, 200_000)) <= ULPS
    assert worst(np.linspace(-largest, largest, 50_001)) <= ULPS


@extended
def test_all_magnitudes():
    rng = np.random.default_rng(0)
    assert worst(np.exp(rng.uniform(-700, np.log(LARGEST), 100_000))) <= ULPS


@extended
def test_next_to_multiples_of_a_right_angle():
    assert worst(multiples_of_a_right_angle(LARGEST)) <= ULPS


@extended
def test_where_quarters_change():
    x = (np.arange(1, 60_000) - 0.5) * (np.pi / 2)
    assert worst(np.concatenate([x, np.nextafter(x, np.inf), np.nextafter(x, 0)])) <= ULPS


def test_large_arguments_are_the_c_librarys():
    some = [np.nextafter(LARGEST, np.inf), 1e22, -1e300, np.finfo(float).max]
    x = np.concatenate([some, vectors(0, 20) * 1e9])
    expected = [np.array([f(a) for a in x]) for f in (np.sin, np.cos)]
    for own, reference in zip(sincos(x), expected, strict=True):
        np.testing.assert_allclose(own, reference, rtol=4 * np.finfo(float).eps)


def test_what_is_not_finite_has_none_and_leaves_its_neighbours():
    x = vectors(1, 23)
    before = sincos(x)
    bad = [0, 5, 17, 22]
    x[bad] = np.nan, np.inf, -np.inf, np.nan
    for own, expected in zip(sincos(x), before, strict=True):
        assert np.isnan(own[bad]).all()
        np.testing.assert_array_equal(np.delete(own, bad), np.delete(expected, bad))


@pytest.mark.parametrize("size", range(18))
def test_any_number_of_them(size):
    x = vectors(2, 40)
    for own, expected in zip(sincos(x[:size].copy()), sincos(x), strict=True):
        np.testing.assert_array_equal(own, expected[:size])


def test_symmetry():
    x = vectors(3, 1001) * 100
    (s, c), (minus_s, minus_c) = sincos(x), sincos(-x)
    np.testing.assert_array_equal(minus_s, -s)
    np.testing.assert_array_equal(minus_c, c)
