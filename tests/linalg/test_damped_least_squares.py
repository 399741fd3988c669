"""Damped least squares against NumPy, for one problem and batches."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import treefactor as tf
from treefactor import DtypeError, NonFiniteError, NotPositiveDefiniteError, ShapeError

pytestmark = pytest.mark.isa

SIZES = [(6, 7), (6, 6), (6, 30), (3, 7), (3, 3), (1, 5), (2, 1), (7, 6), (6, 3), (4, 9), (12, 20), (20, 12)]
BATCHES = [1, 7, 8, 9, 16, 37]


def problem(m, n, batch=(), seed=0):
    """Return J, e and dampings."""
    generator = np.random.default_rng(seed)
    shape = (batch,) if isinstance(batch, int) else batch
    J, e = generator.standard_normal((*shape, m, n)), generator.standard_normal((*shape, m))
    return J, e, 10.0 ** generator.uniform(-4, 1, shape)


def expected(J, e, damping):
    """Return the solutions of the stacked systems [J; sqrt(damping) I] x = [e; 0]."""
    m, n = J.shape[-2:]
    lead = np.broadcast_shapes(J.shape[:-2], e.shape[:-1], np.shape(damping))
    J, e, damping = (
        np.broadcast_to(J, (*lead, m, n)),
        np.broadcast_to(e, (*lead, m)),
        np.broadcast_to(damping, lead),
    )
    x = np.empty((*lead, n))
    for k in np.ndindex(*lead):
        stacked = np.vstack([J[k], np.sqrt(damping[k]) * np.eye(n)])
        x[k] = np.linalg.lstsq(stacked, np.concatenate([e[k], np.zeros(n)]), rcond=None)[0]
    return x


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_one_problem_is_that_of_numpy(m, n):
    J, e, damping = problem(m, n)
    x = tf.damped_least_squares(J, e, float(damping))
    assert_allclose(x, expected(J, e, damping), rtol=1e-9, atol=1e-11)
    assert_array_equal(tf.damped_least_squares(J.tolist(), list(e), damping), x)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize(("m", "n"), SIZES)
def test_batches_are_those_of_numpy(m, n, batch):
    J, e, damping = problem(m, n, batch)
    assert_allclose(tf.damped_least_squares(J, e, damping), expected(J, e, damping), rtol=1e-8, atol=1e-9)
    assert_allclose(tf.damped_least_squares(J, e, 0.3), expected(J, e, 0.3), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("m", "n"), SIZES)
def test_without_damping_full_rank_is_enough(m, n):
    J, e, _ = problem(m, n, 9, seed=3)
    J[..., range(min(m, n)), range(min(m, n))] += 8.0  # well conditioned
    x = tf.damped_least_squares(J, e, 0)
    assert_allclose(
        x, np.stack([np.linalg.lstsq(*one, rcond=None)[0] for one in zip(J, e, strict=True)]), rtol=1e-9
    )
    assert_allclose(tf.damped_least_squares(J[0], e[0], 0.0), x[0], rtol=1e-12)


def test_arguments_without_leading_axes_serve_the_batch():
    J, e, damping = problem(6, 7, (4, 3))
    for given in ((J[0, 0], e, damping), (J, e[0, 0], damping), (J[0, 0], e[0, 0], damping), (J, e, 0.1)):
        x = tf.damped_least_squares(*given)
        assert x.shape == (4, 3, 7)
        assert_allclose(x, expected(*given), rtol=1e-9, atol=1e-11)
        flat = [a.reshape(12, *a.shape[2:]) if np.shape(a)[:2] == (4, 3) else a for a in given]
        assert_array_equal(tf.damped_least_squares(*flat), x.reshape(12, 7))


@pytest.mark.parametrize(("m", "n"), [(6, 7), (3, 8), (9, 4)])
def test_strides_and_types_do_not_matter(m, n):
    J, e, damping = problem(m, n, 21)
    x = tf.damped_least_squares(J, e, damping)
    wide = np.zeros((21, m + 1, n + 2))
    wide[:, :m, :n] = J
    for A in (wide[:, :m, :n], np.asfortranarray(J), J[::-1][::-1], np.repeat(J, 2, axis=0)[::2]):
        assert_array_equal(tf.damped_least_squares(A, np.repeat(e, 2, axis=0)[::2], damping), x)
        assert_array_equal(tf.damped_least_squares(A, np.repeat(e, 2, axis=1)[:, ::2], list(damping)), x)
    assert_array_equal(tf.damped_least_squares(J[::-1], e[::-1], damping[::-1]), x[::-1])
    assert_array_equal(tf.damped_least_squares(J, e, np.repeat(damping, 3)[::3]), x)
    single = J.astype(np.float32)
    assert_array_equal(
        tf.damped_least_squares(single, e, damping), tf.damped_least_squares(single.astype(float), e, damping)
    )


def test_out_receives_the_result():
    J, e, damping = problem(6, 7, 21)
    x = tf.damped_least_squares(J, e, damping)
    wide, turned = np.full((21, 9), 5.0), np.empty((7, 21)).T
    for out in (np.empty((21, 7)), wide[:, 1:8], turned, np.empty((21, 7))[::-1]):
        assert tf.damped_least_squares(J, e, damping, out) is out
        assert_array_equal(out, x)
    assert_array_equal(wide[:, [0, 8]], 5.0)
    one = np.empty(7)
    assert tf.damped_least_squares(J[0], e[0], damping[0], out=one) is one
    assert_allclose(one, x[0], rtol=1e-12)
    square, e, damping = problem(6, 6, 21)
    x = tf.damped_least_squares(square, e, damping)
    assert_array_equal(tf.damped_least_squares(square, e, damping, out=e), x)  # in place
    copied = square.copy()
    assert_array_equal(tf.damped_least_squares(copied, problem(6, 6, 21)[1], damping, out=copied[:, 0]), x)


def test_threads_do_not_change_the_result():
    J, e, damping = problem(6, 7, 9001)
    x = tf.damped_least_squares(J, e, damping)
    for threads in (2, 3, -1):
        assert_array_equal(tf.damped_least_squares(J, e, damping, num_threads=threads), x)


@pytest.mark.parametrize(("m", "n"), [(6, 7), (3, 7), (7, 6), (2, 5)])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_problems_that_are_not_finite_are_nan_and_alone(m, n, bad):
    J, e, damping = problem(m, n, 19)
    x = tf.damped_least_squares(J, e, damping)
    J[3, 0, 1] = J[8, m - 1, n - 1] = e[5, m - 1] = e[18, 0] = bad
    damping[11] = abs(bad)
    solved = tf.damped_least_squares(J, e, damping)
    rows = [3, 5, 8, 11, 18]
    assert np.isnan(solved[rows]).all()
    assert_array_equal(np.delete(solved, rows, axis=0), np.delete(x, rows, axis=0))


@pytest.mark.parametrize(("m", "n"), [(6, 7), (3, 7), (7, 6), (2, 5), (4, 4)])
def test_singular_problems_need_a_damping(m, n):
    J, e, damping = problem(m, n, 11)
    rows = J[4] if m <= n else J[4].T
    rows[-1] = rows[0]
    x = tf.damped_least_squares(J, e, 0.0)
    assert_array_equal(np.flatnonzero(np.isnan(x).any(axis=1)), [4])
    assert np.isnan(x[4]).all()
    kind = "row" if m <= n else "column"
    with pytest.raises(NotPositiveDefiniteError, match=rf"{kind} \d of J .* damping") as caught:
        tf.damped_least_squares(J[4], e[4], 0.0)
    assert caught.value.row == min(m, n) - 1
    assert_allclose(tf.damped_least_squares(J, e, 1e-3), expected(J, e, 1e-3), rtol=1e-7, atol=1e-8)
    J[4] = 0.0
    assert_array_equal(tf.damped_least_squares(J, e, damping)[4], 0.0)


@pytest.mark.parametrize(("m", "n"), [(0, 4), (4, 0), (0, 0)])
def test_empty_problems_have_the_solution_zero(m, n):
    assert_array_equal(tf.damped_least_squares(np.ones((m, n)), np.ones(m), 1.0), np.zeros(n))
    assert_array_equal(tf.damped_least_squares(np.ones((9, m, n)), np.ones((9, m)), 1.0), np.zeros((9, n)))
    assert tf.damped_least_squares(np.ones((0, 6, 7)), np.ones((0, 6)), 1.0).shape == (0, 7)


def test_jacobians_in_the_packed_layout_are_taken_as_they_are():
    model = tf.Model(
        [tf.Joint(str(k), "revolute", k - 1, p=[0.1, 0, 0.3], axis=np.eye(3)[k % 3]) for k in range(7)]
    )
    q, e = np.random.default_rng(0).uniform(-1, 1, (2, 20, 7))
    J = tf.frame_jacobian(model, q, "6", layout="packed")
    assert_array_equal(
        tf.damped_least_squares(J, e[:, :6], 0.01),
        tf.damped_least_squares(tf.frame_jacobian(model, q, "6"), e[:, :6], 0.01),
    )


def nearly_singular(m, n, batch=40):
    """Return J with singular values of very different sizes, and e, in float32."""
    generator = np.random.default_rng(5)
    U, _, V = np.linalg.svd(generator.standard_normal((batch, m, n)), full_matrices=False)
    sizes = 10.0 ** generator.uniform(-4, 0, (batch, 1, min(m, n)))
    sizes[:, 0, 0] = 1.0
    J = (50.0 * (U * sizes) @ V).astype(np.float32)
    return J, generator.standard_normal((batch, m)).astype(np.float32)


@pytest.mark.parametrize(("m", "n"), [(6, 7), (3, 8), (1, 5), (12, 20), (9, 4)])
def test_errors_of_float32_have_the_bound_of_the_docstring(m, n):
    J, e = nearly_singular(m, n)
    squares = np.square(J.astype(float)).sum(axis=(1, 2))
    least = 2.0**-19 * (m + n) * squares
    for damping in (np.zeros(40), 0.5 * least, 3 * least, 0.1 * squares):
        damping = damping.astype(np.float32)
        x = tf.damped_least_squares(J, e, damping, dtype=np.float32)
        assert x.dtype == np.float32
        used = np.maximum(damping, least)
        G, by = J.astype(float) @ J.mT, e.astype(float)
        y = np.linalg.solve(G + used[:, None, None] * np.eye(m), by[..., None])[..., 0]
        exact = (y[:, None] @ J)[:, 0]
        part = 0.1 * least / used + 1e-5
        bound = part * np.sqrt(squares) * np.linalg.norm(y, axis=1)
        error = np.linalg.norm(x - exact, axis=1)
        assert (error < bound).all()
        assert np.median(error / np.linalg.norm(exact, axis=1)) < 0.03 * np.median(part)
    relaxed = tf.damped_least_squares(J, e, least)
    assert_allclose(
        tf.damped_least_squares(J, e, 0.0, dtype=np.float32), relaxed, rtol=0, atol=0.02 * abs(relaxed).max()
    )


def test_float32_has_the_same_bits_alone_and_nan_marks_its_own_row():
    J, e = nearly_singular(6, 7)
    damping = np.linspace(1, 2, 40, dtype=np.float32)
    x = tf.damped_least_squares(J, e, damping, dtype=np.float32)
    out = np.empty((7, 40), np.float32).T
    for count in (1, 15, 16, 17):
        rows = J[:count], e[:count], damping[:count]
        assert_array_equal(tf.damped_least_squares(*rows, dtype=np.float32), x[:count])
    assert tf.damped_least_squares(J[::-1], e[::-1], damping[::-1], out, 2, dtype="float32") is out
    assert_array_equal(out, x[::-1])
    shared = tf.damped_least_squares(J[0], e, damping, dtype=np.float32)
    assert_array_equal(shared, tf.damped_least_squares(J[[0] * 40], e, damping, dtype=np.float32))
    J[3, 0, 1], J[20, 5, 6], e[17, 5], damping[33] = np.nan, np.inf, -np.inf, np.nan
    J[39] = 0.0  # solved by 0
    spoiled = tf.damped_least_squares(J, e, damping, dtype=np.float32)
    rows = [3, 17, 20, 33]
    assert np.isnan(spoiled[rows]).all()
    assert_array_equal(spoiled[39], 0.0)
    others = np.setdiff1d(np.arange(39), rows)
    assert_array_equal(spoiled[others], x[others])
    row = np.ones((2, 1, 3), np.float32), np.array([[np.inf], [6.0]], np.float32)
    assert_array_equal(tf.damped_least_squares(*row, 3.0, dtype=np.float32), [[np.nan] * 3, [1.0] * 3])


def test_arrays_of_float32_that_do_not_fit_are_refused_and_results_may_take_their_place():
    J, e = nearly_singular(6, 6)
    for damping in (-1.0, np.linspace(-1, 1, 40, dtype=np.float32)):
        with pytest.raises(ValueError, match=r"damping must not be negative, got -1\.0"):
            tf.damped_least_squares(J, e, damping, dtype=np.float32)
    for given in (
        (J, e[:, :5].copy(), 1.0),
        (J, e[:39], 1.0),
        (J, e, np.ones(39, np.float32)),
        (J, e, 1.0, e[:39]),
    ):
        with pytest.raises(ShapeError):
            tf.damped_least_squares(*given, dtype=np.float32)
    x = tf.damped_least_squares(J, e, 1.0, dtype=np.float32)
    assert tf.damped_least_squares(J, e, 1.0, out=e, dtype=np.float32) is e
    assert_array_equal(e, x)
    end = J.reshape(-1)[-240:].reshape(40, 6)  # written before the last J are read
    overlapping = tf.damped_least_squares(J, nearly_singular(6, 6)[1], 1.0, end, dtype=np.float32)
    assert_array_equal(overlapping, x)


ONES = np.ones((6, 7)), np.ones(6), 1.0
WRONG = [  # arguments, the error and what it says
    ((np.ones(6), ONES[1], 1.0), ShapeError, r"J must have shape \(\.\.\., m, n\), got \(6,\)"),
    ((ONES[0], np.ones(7), 1.0), ShapeError, r"e must have shape \(\.\.\., 6\) for J of 6 rows, got \(7,\)"),
    ((ONES[0], 1.0, 1.0), ShapeError, "e must have shape"),
    ((np.ones((3, 6, 7)), np.ones((4, 6)), 1.0), ShapeError, "leading axes"),
    ((np.ones((3, 6, 7)), np.ones(6), np.ones(4)), ShapeError, "leading axes"),
    ((*ONES[:2], -1.0), ValueError, "damping must not be negative, got -1.0"),
    ((2 * np.eye(2), np.ones(2), -1.0), ValueError, "damping must not be negative"),  # but regular
    ((np.ones((3, 6, 7)), np.ones(6), np.array([1.0, -0.5, 0])), ValueError, "not be negative, got -0.5"),
    ((*ONES[:2], "much"), DtypeError, "damping must hold real numbers"),
    ((*ONES[:2], None), DtypeError, "damping must hold real numbers"),
    ((1j * ONES[0], *ONES[1:]), DtypeError, "J must hold real numbers"),
    ((np.full((6, 7), np.nan), *ONES[1:]), NonFiniteError, r"J is not finite: J\[0, 0\]"),
    ((ONES[0], np.full(6, np.inf), 1.0), NonFiniteError, r"e is not finite: e\[0\]"),
    ((*ONES[:2], np.nan), NonFiniteError, "damping is not finite"),
    ((*ONES, np.empty(6)), ShapeError, r"out must have shape \(7,\), got \(6,\)"),
    ((*ONES, np.empty(7, dtype=np.float32)), DtypeError, "out must have dtype float64"),
    ((*ONES, None, 0), ValueError, "num_threads must be positive"),
    ((*ONES, None, 1, np.float32), DtypeError, "single problem must be float64, .*float32 is for batches"),
    ((*ONES, None, 1, np.float16), DtypeError, "dtype must be float64 or float32, got .*float16"),
    (
        (np.ones((3, 6, 7)), *ONES[1:], np.empty((3, 7)), 1, np.float32),
        DtypeError,
        "out must have dtype float32",
    ),
]


@pytest.mark.parametrize(("given", "error", "message"), WRONG)
def test_errors_name_the_argument(given, error, message):
    with pytest.raises(error, match=message):
        tf.damped_least_squares(*given)
