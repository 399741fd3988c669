"""Compare chain_inertia and chain_forces with the papers' sums, the textbooks and Pinocchio."""

from collections import deque
from fractions import Fraction

import numpy as np
import pytest
from helpers.array_forms import FORMS, GUARD, guarded
from helpers.chains import chains, in_base_frame, pinocchio_chain, random_chain
from helpers.tolerances import assert_close
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor._util.threads import ENOUGH
from treefactor.dynamics import _chain
from treefactor.dynamics import chain_on_scalars as composite
from treefactor.papers.textbook import kane_sum, kosynka, stepanenko

pin = pytest.importorskip("pinocchio", reason="the reference")


NAMES = ("axis", "r", "mass", "c", "inertia")
SLIDES = np.array([True, False, False, True, False])


def loads(n, seed=1, batch=()):
    """Return rate, force, moment and torque."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((*batch, *shape)) for shape in ((n,), (n, 3), (n, 3), (n,))]


# ------------------------------------------------------------------------------------- the inertia matrix


@settings(max_examples=40)
@given(chains())
def test_all_recursions_give_the_sums_of_kanes_equations(case):
    arrays, slides = case
    expected = kosynka.inertia(*arrays, slides).astype(float)
    n = len(slides)
    for recursion in (kane_sum, stepanenko, composite):
        assert_close(recursion.inertia(*arrays, slides).astype(float), expected, n)
    A = tf.chain_inertia(*arrays, prismatic=slides)
    assert_close(A, expected, n)
    np.testing.assert_array_equal(A, A.T)


def test_the_paper_and_kanes_equations_are_exactly_equal_on_fractions():
    slides = [False, True, False, False]
    rounded = np.vectorize(lambda x: Fraction(round(64 * x), 64), otypes=[object])
    arrays = [rounded(x) for x in random_chain(4)]
    expected = kosynka.inertia(*arrays, slides)
    for recursion in (kane_sum, stepanenko):
        assert (recursion.inertia(*arrays, slides) == expected).all()
    turning = [False] * 4  # a sliding column of ours relies on a unit axis
    assert (composite.inertia(*arrays, turning) == kosynka.inertia(*arrays, turning)).all()


@settings(max_examples=40)
@given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(0, 2**32 - 1))
def test_inertia_agrees_with_pinocchio(slides, seed):
    model, q = pinocchio_chain(slides, seed)
    A = tf.chain_inertia(*in_base_frame(model, q), prismatic=np.array(slides))
    expected = pin.crba(model, model.createData(), q, pin.Convention.WORLD)
    assert_close(A, np.triu(expected) + np.triu(expected, 1).T, 10 * len(slides))


def test_the_first_vector_does_not_enter():
    axis, r, *rest = random_chain(4)
    A = tf.chain_inertia(axis, r, *rest)
    r[0] += 1.0
    np.testing.assert_array_equal(tf.chain_inertia(axis, r, *rest), A)


# -------------------------------------------------------------------------------------------- the forces


@settings(max_examples=40)
@given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(0, 2**32 - 1))
def test_forces_agree_with_pinocchio(slides, seed):
    model, q = pinocchio_chain(slides, seed)
    n, data = len(slides), model.createData()
    arrays = in_base_frame(model, q)
    rate, force, moment, torque = loads(n, seed)
    pin.forwardKinematics(model, data, q)
    local = pin.StdVec_Force()
    local.append(pin.Force.Zero())
    for k in range(n):
        R = data.oMi[k + 1].rotation
        local.append(pin.Force(R.T @ force[k], R.T @ moment[k]))
    weight = arrays[2][:, None] * model.gravity.linear
    tumble = np.cross(arrays[3], model.gravity.linear)
    b = tf.chain_forces(*arrays, rate, force + weight, moment + tumble, torque, prismatic=np.array(slides))
    expected = torque - pin.rnea(model, data, q, rate, np.zeros(n), local)
    assert_close(b, expected, 100 * n)


@settings(max_examples=40)
@given(chains())
def test_forces_agree_with_the_textbooks(case):
    arrays, slides = case
    n = len(slides)
    rate, force, moment, torque = loads(n)
    b = tf.chain_forces(*arrays, rate, force, moment, torque, prismatic=slides)
    assert_close(b, composite.forces(*arrays, rate, force, moment, torque, slides).astype(float), 10 * n)
    f, m = (np.array(x) for x in composite.inertial(*arrays, rate, slides))
    paper = kane_sum.forces(arrays[0], arrays[1], force + f, moment + m, torque, slides)
    assert_close(b, paper.astype(float), 10 * n)


def test_forces_at_rest_are_those_of_the_drives():
    torque = np.array([1.0, -2.0, 3.0])
    np.testing.assert_array_equal(tf.chain_forces(*random_chain(3), torque=torque), torque)
    np.testing.assert_array_equal(tf.chain_forces(*random_chain(3)), np.zeros(3))


# ------------------------------------------------------------------------------------ batches and arrays


@pytest.mark.parametrize("batch", [(0,), (1,), (7,), (2, 3)], ids=str)
def test_a_batch_is_its_chains(batch):
    arrays, given_loads = random_chain(5, batch=batch), loads(5, batch=batch)
    A = tf.chain_inertia(*arrays, prismatic=SLIDES)
    b = tf.chain_forces(*arrays, *given_loads, prismatic=SLIDES)
    assert A.shape == (*batch, 5, 5)
    assert b.shape == (*batch, 5)
    for e in np.ndindex(batch):
        one = [x[e] for x in arrays]
        np.testing.assert_array_equal(A[e], tf.chain_inertia(*one, prismatic=SLIDES))
        alone = tf.chain_forces(*one, *[x[e] for x in given_loads], prismatic=SLIDES)
        np.testing.assert_array_equal(b[e], alone)


@pytest.mark.parametrize("batched", NAMES)
def test_arrays_without_leading_axes_serve_the_whole_batch(batched):
    many, one = random_chain(4, batch=(3,)), random_chain(4, seed=2)
    mixed = [m if name == batched else o for name, m, o in zip(NAMES, many, one, strict=True)]
    A = tf.chain_inertia(*mixed)
    full = [np.broadcast_to(x, y.shape) for x, y in zip(mixed, many, strict=True)]
    np.testing.assert_array_equal(A, tf.chain_inertia(*full))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("batch", [(), (3,)], ids=str)
def test_arrays_of_any_form(form, batch):
    arrays, given_loads = random_chain(5, batch=batch), loads(5, batch=batch)
    A, b = tf.chain_inertia(*arrays), tf.chain_forces(*arrays, *given_loads)
    formed = [FORMS[form](x) for x in arrays]
    np.testing.assert_array_equal(tf.chain_inertia(*formed), A)
    np.testing.assert_array_equal(tf.chain_forces(*formed, *[FORMS[form](x) for x in given_loads]), b)


@pytest.mark.parametrize("n", [0, 1, 64, 65, 130])
def test_short_long_and_empty_chains(n):
    arrays = random_chain(n)
    A = tf.chain_inertia(*arrays)
    np.testing.assert_array_equal(A, tf.chain_inertia(*arrays, out=np.empty((n, n))))
    assert tf.chain_forces(*arrays).shape == (n,)
    assert_close(A, stepanenko.inertia(*arrays).astype(float), 10 * n)


@pytest.mark.parametrize("batch", [(), (3,)], ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_nothing_around_an_out_is_written(order, batch):
    arrays = random_chain(5, batch=batch)
    for call in (tf.chain_inertia, tf.chain_forces):
        expected = call(*arrays)
        inner, outer, guard = guarded(expected.shape, 2, order)
        assert call(*arrays, out=inner) is inner
        np.testing.assert_array_equal(inner, expected)
        assert (outer[guard] == GUARD).all()


def embedded(x, around):
    """Return a copy of x inside a longer array, and that array."""
    line = np.full(x.size + 2 * 37, around)
    inner = line[37 : 37 + x.size].reshape(x.shape)
    inner[...] = x
    return inner, line


@pytest.mark.parametrize("batch", [(), (5,)], ids=str)
def test_nothing_around_the_arrays_is_read_or_written(batch):
    arrays, given_loads = random_chain(5, batch=batch), loads(5, batch=batch)
    within = [embedded(x, np.nan)[0] for x in arrays]
    np.testing.assert_array_equal(tf.chain_inertia(*within), tf.chain_inertia(*arrays))
    b = tf.chain_forces(*arrays, *given_loads)
    np.testing.assert_array_equal(tf.chain_forces(*within, *[embedded(x, np.nan)[0] for x in given_loads]), b)
    chains, size = _chain.Chains(*within, np.zeros(5, np.uint8)), max(1, *batch, 1)
    A, line = embedded(np.zeros((size, 5, 5)), GUARD)
    chains.inertia(A, 0, size)
    assert (line == GUARD).sum() == 2 * 37
    b, line = embedded(np.zeros((size, 5)), GUARD)
    chains.forces(*given_loads, b)
    assert (line == GUARD).sum() == 2 * 37


@pytest.mark.parametrize(
    ("batch", "n"), [((), 1), ((), 65), ((), 300), ((2,), 200), ((9,), 70), ((0,), 5)], ids=str
)
@pytest.mark.parametrize("num_threads", [2, 3, 7, -1])
def test_threads_change_no_bit(batch, n, num_threads, monkeypatch):
    monkeypatch.setattr("treefactor._util.threads.ENOUGH", 64)  # short chains on several threads
    slides = np.arange(n) % 5 == 3
    arrays = random_chain(n, batch=batch)
    expected = tf.chain_inertia(*arrays, prismatic=slides)
    np.testing.assert_array_equal(
        tf.chain_inertia(*arrays, prismatic=slides, num_threads=num_threads), expected, strict=True
    )
    out = np.empty_like(expected)
    assert tf.chain_inertia(*arrays, prismatic=slides, out=out, num_threads=num_threads) is out
    np.testing.assert_array_equal(out, expected)


def test_threads_share_a_long_chain():
    arrays = random_chain(1100)
    np.testing.assert_array_equal(tf.chain_inertia(*arrays, num_threads=2), tf.chain_inertia(*arrays))


@settings(max_examples=20)
@given(st.integers(1, 150), st.integers(0, 2**32 - 1))
def test_long_chains_are_computed_like_short_ones(n, seed):
    """Tiles of columns, for chains longer than 64, change no bit: the end of a chain is a chain."""
    arrays = random_chain(n + 64, seed)
    slides = np.random.default_rng(seed).random(n + 64) < 0.3
    A = tf.chain_inertia(*arrays, prismatic=slides)
    np.testing.assert_array_equal(A, A.T)
    expected = composite.inertia(*arrays, slides).astype(float)
    assert_close(A, expected, n + 64)
    last = [x[-64:] for x in arrays]
    assert_close(A[-64:, -64:], tf.chain_inertia(*last, prismatic=slides[-64:]), n + 64)


@pytest.mark.parametrize("num_threads", [0, -2])
def test_numbers_of_threads_that_make_no_sense(num_threads):
    with pytest.raises(ValueError, match="num_threads must be positive, or -1"):
        tf.chain_inertia(*random_chain(3), num_threads=num_threads)


@pytest.mark.parametrize("num_threads", [2.0, None, "2"])
def test_numbers_of_threads_are_whole(num_threads):
    with pytest.raises(tf.DtypeError, match="num_threads must be a whole number, got"):
        tf.chain_inertia(*random_chain(3), num_threads=num_threads)


@pytest.mark.parametrize(
    ("batch", "n", "shared"),
    [((), 1023, False), ((), 1024, True), ((2,), 900, False), ((3,), 209, False), ((3,), 210, True)],
)
def test_small_chains_use_fewer_threads(batch, n, shared, monkeypatch):
    """The figures of the docstring."""
    used = []
    monkeypatch.setattr("treefactor._util.threads.ENOUGH", ENOUGH)
    monkeypatch.setattr("treefactor._util.threads.deque", lambda parts: used.append(0) or deque(parts))
    tf.chain_inertia(*random_chain(n, batch=batch), num_threads=3)
    assert bool(used) == shared


def test_an_out_of_any_form_holds_the_result():
    arrays = random_chain(70)
    expected = tf.chain_inertia(*arrays)
    for out in (np.empty((70, 70)), np.empty((70, 70), order="F"), np.empty((70, 140))[:, ::2]):
        assert tf.chain_inertia(*arrays, out=out) is out
        np.testing.assert_array_equal(out, expected)


def test_an_out_may_be_an_argument():
    axis, r, mass, c, inertia = random_chain(3)
    A = tf.chain_inertia(axis, r, mass, c, inertia)
    np.testing.assert_array_equal(tf.chain_inertia(axis, r, mass, c, inertia, out=r), A)


# ------------------------------------------------------------------------------------------------ errors


def changed(name, change, batch=()):
    """Return the arrays of a chain, one of them changed."""
    arrays = dict(zip(NAMES, random_chain(3, batch=batch), strict=True))
    arrays[name] = change(arrays[name])
    return arrays


def put(index, value):
    """Return a function that sets one entry."""

    def change(x):
        x[index] = value
        return x

    return change


@pytest.mark.parametrize("call", [tf.chain_inertia, tf.chain_forces])
@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_shape_is_named(name, call):
    with pytest.raises(tf.ShapeError, match=r"must have shape \(\.\.\., ") as caught:
        call(**changed(name, lambda x: x[..., :-1]))
    assert caught.value.received == changed(name, lambda x: x[..., :-1])[name].shape
    with pytest.raises(tf.ShapeError):
        call(**changed(name, lambda x: x[0, 0] if x.ndim > 1 else x[0]))
    with pytest.raises(tf.ShapeError, match="leading axes"):
        call(**changed(name, lambda x: x[:2], batch=(3,)))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("axis", put(1, [1.0, 1.0, 0.0]), "axis of joint 1 is not a unit vector"),
        ("axis", put(1, 0.0), "axis of joint 1 is not a unit vector"),
        ("mass", put(1, -1e-9), "body 1 has a negative mass"),
        ("inertia", put((1, 0, 1), 1e-3), "inertia of body 1 is not symmetric"),
        ("inertia", put(1, -np.eye(3)), "inertia of body 1 is not positive semidefinite"),
        ("inertia", put(1, np.eye(3) - 0.6), "inertia of body 1 is not positive semidefinite"),
        ("inertia", put(1, 1.2 - 0.2 * np.eye(3)), "inertia of body 1 is not positive semidefinite"),
    ],
)
@pytest.mark.parametrize("call", [tf.chain_inertia, tf.chain_forces])
def test_an_impossible_chain_names_the_joint(name, change, message, call):
    with pytest.raises(tf.InvalidChainError, match=message) as caught:
        call(**changed(name, change))
    assert caught.value.joint == 1
    assert caught.value.element == ()

    def change_one(x):
        change(x[1, 2])
        return x

    with pytest.raises(tf.InvalidChainError, match=r"chain \(1, 2\) of the batch") as caught:
        call(**changed(name, change_one, batch=(2, 3)))
    assert caught.value.element == (1, 2)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", NAMES)
def test_a_number_that_is_not_finite_raises_or_marks_its_chain(name, bad):
    index = (1,) if name == "mass" else (1,) + (0,) * (2 if name == "inertia" else 1)
    for call in (tf.chain_inertia, tf.chain_forces):
        with pytest.raises(tf.NonFiniteError, match="joint 1 ") as caught:
            call(**changed(name, put(index, bad)))
        assert caught.value.row == 1
        result = call(**changed(name, put((2, *index), bad), batch=(4,)))
        assert np.isnan(result[2]).all()
        assert np.isfinite(np.delete(result, 2, axis=0)).all()


@pytest.mark.parametrize("which", range(4))
def test_a_load_that_is_not_finite_raises_or_marks_its_chain(which):
    arrays, single, batch = random_chain(3), loads(3), loads(3, batch=(4,))
    single[which][1] = np.nan
    with pytest.raises(tf.NonFiniteError, match=r"rate|force|moment|torque"):
        tf.chain_forces(*arrays, *single)
    batch[which][2, 1] = np.nan
    result = tf.chain_forces(*arrays, *batch)
    assert np.isnan(result[2]).all()
    assert np.isfinite(np.delete(result, 2, axis=0)).all()


def test_bodies_without_mass_are_possible():
    axis, r, mass, c, inertia = random_chain(3)
    A = tf.chain_inertia(axis, r, 0 * mass, 0 * c, 0 * inertia)
    np.testing.assert_array_equal(A, np.zeros((3, 3)))


def test_prismatic_must_be_booleans_for_every_joint():
    with pytest.raises(tf.DtypeError, match="booleans"):
        tf.chain_inertia(*random_chain(3), prismatic=[0, 1, 0])
    with pytest.raises(tf.ShapeError, match="prismatic"):
        tf.chain_inertia(*random_chain(3), prismatic=[True])


def test_numbers_must_be_real():
    axis, *rest = random_chain(3)
    with pytest.raises(tf.DtypeError, match="axis"):
        tf.chain_inertia(axis.astype(complex), *rest)
    with pytest.raises(tf.DtypeError, match="mass"):
        tf.chain_forces(axis, rest[0], None, *rest[2:])


@pytest.mark.parametrize("out", [np.empty((3, 4)), np.empty((3, 3), np.float32), [0.0]])
def test_an_out_that_does_not_fit(out):
    with pytest.raises((tf.ShapeError, tf.DtypeError)):
        tf.chain_inertia(*random_chain(3), out=out)
