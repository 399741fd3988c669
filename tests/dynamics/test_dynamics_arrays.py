"""Check the dynamics on batches, and on arrays of any layout."""

import numpy as np
import pytest
from helpers.array_forms import FORMS, GUARD, guarded
from helpers.dynamics_cases import CALLS, MODELS, TAKES, arguments, names_of, results

import treefactor as tf

pytestmark = [pytest.mark.wheel, pytest.mark.isa]

BATCHES = (0, 1, 7, 8, 9, 100)
PAIRS = [(which, name) for which, model in MODELS.items() for name in names_of(model)]
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
each = pytest.mark.parametrize(("which", "name"), PAIRS)
batches = pytest.mark.parametrize("count", BATCHES)
ALL_KINDS = MODELS["all kinds"]
ROUNDING = 1e-13  # relative to the largest entry; of accelerations, to what H's condition makes of it


def assert_same(own, expected):
    assert own.keys() == expected.keys()
    for name in own:
        np.testing.assert_array_equal(own[name], expected[name], err_msg=name, strict=True)


def one_by_one(model, name, given):
    """Return results of single calls."""
    return np.array([CALLS[name](model, *each) for each in zip(*given, strict=True)])


@batches
@each
def test_a_batch_is_its_elements(which, name, count):
    model = MODELS[which]
    given = arguments(model, 1, count)
    own = CALLS[name](model, *given)
    if name == "lanes":
        own = model.tree.unpack(own, layout="lanes")[:count]
        name = "crba"
    assert own.shape[0] == count
    if not count:
        return
    expected = one_by_one(model, name, given)
    condition = 1.0
    if name in ("aba", "factor", "inverse") and model.nv:
        condition = np.linalg.cond(tf.crba(model, given[0])).max()
    assert np.abs(own - expected).max(initial=0) <= ROUNDING * condition * np.abs(expected).max(initial=0)


@models
def test_leading_axes(model):
    given = arguments(model, 1, (2, 3))
    flat = [x.reshape(6, *x.shape[2:]) for x in given]
    own, expected = results(model, given), results(model, flat)
    for name in own:
        shape = own[name].shape if name == "lanes" else (2, 3, *expected[name].shape[1:])
        np.testing.assert_array_equal(own[name], expected[name].reshape(shape), err_msg=name, strict=True)


@models
@pytest.mark.parametrize("shared", ["q", "v", "x", "fext"])
def test_an_argument_without_batch_axes_holds_for_all(model, shared):
    given = dict(zip(("q", "v", "x", "fext"), arguments(model, 1, 9), strict=True))
    one = given[shared][0].copy()
    expected = results(model, (given | {shared: np.repeat(one[None], 9, axis=0)}).values())
    own = results(model, (given | {shared: one}).values())
    for name in own:
        if TAKES[name] != [shared]:
            np.testing.assert_array_equal(own[name], expected[name], err_msg=name, strict=True)


@each
@pytest.mark.parametrize("size", [(), (9,)], ids=["single", "batch"])
def test_forms_of_arrays_change_no_bit(which, name, size):
    model = MODELS[which]
    if not model.nv:
        return  # arrays without entries have one form
    given = arguments(model, 1, size)
    expected = CALLS[name](model, *given)
    for form, make in FORMS.items():
        own = CALLS[name](model, *[None if x is None else make(x) for x in given])
        if size:
            np.testing.assert_array_equal(own, expected, err_msg=form, strict=True)
        else:
            np.testing.assert_allclose(own, expected, rtol=1e-9, atol=1e-9, err_msg=form)


@each
@pytest.mark.parametrize("size", [(), (9,), (2, 3)], ids=str)
@pytest.mark.parametrize(("stride", "order"), [(1, "C"), (2, "C"), (1, "F")])
def test_out_receives_the_result_and_nothing_around_it(which, name, size, stride, order):
    model = MODELS[which]
    given = [*arguments(model, 1, size)[:3], None]
    expected = CALLS[name](model, *given)
    out, big, guards = guarded(expected.shape, stride, order)
    assert CALLS[name](model, *given, out=out) is out
    tolerance = {} if size else {"rtol": 1e-9, "atol": 1e-9}  # a single call takes another way for such outs
    np.testing.assert_allclose(out, expected, **({"rtol": 0, "atol": 0} | tolerance))
    assert (big[guards] == GUARD).all()


@each
@pytest.mark.parametrize("size", [(), (9,)], ids=["single", "batch"])
def test_an_out_within_a_line_of_guards(which, name, size):
    model = MODELS[which]
    given = [*arguments(model, 1, size)[:3], None]
    expected = CALLS[name](model, *given)
    line = np.full(expected.size + 34, GUARD)
    out = line[17 : 17 + expected.size].reshape(expected.shape)
    assert CALLS[name](model, *given, out=out) is out
    np.testing.assert_array_equal(out, expected)
    assert (np.delete(line, np.arange(17, 17 + expected.size)) == GUARD).all()


@pytest.mark.parametrize("size", [(), (9,)], ids=["single", "batch"])
@pytest.mark.parametrize("name", ["rnea", "bias", "h_times", "factor", "aba"])
def test_an_out_that_is_an_argument_or_overlaps_one(name, size):
    model = ALL_KINDS
    q, v, x, _ = arguments(model, 1, size)
    expected = CALLS[name](model, q, v, x, None)
    for shift in (0, 1, model.nv - 1):
        for which in range(2):
            line = np.zeros(v.size + shift)
            given = [v.copy(), x.copy()]
            overlapped = line[shift:].reshape(v.shape)
            overlapped[...] = given[which]
            given[which] = overlapped
            out = line[: v.size].reshape(v.shape)
            CALLS[name](model, q, *given, None, out=out)
            np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-9)


def test_h_over_its_configuration():
    model = MODELS["one"]
    q = np.array([0.3])
    expected = tf.crba(model, q)
    tf.crba(model, q, out=q.reshape(1, 1))
    np.testing.assert_array_equal(q.reshape(1, 1), expected)


@models
@batches
def test_layouts_hold_the_same_numbers(model, count):
    q = arguments(model, 1, count)[0]
    H = tf.crba(model, q)
    np.testing.assert_array_equal(tf.crba(model, q, layout="packed"), model.tree.pack(H), strict=True)
    lanes = tf.crba(model, q, layout="lanes")
    np.testing.assert_array_equal(lanes, model.tree.pack(H, layout="lanes"), strict=True)
    assert lanes.ctypes.data % 64 == 0


@batches
def test_lanes_are_what_factor_takes(count):
    model = ALL_KINDS
    q, _, x, _ = arguments(model, 1, count)
    f = tf.factor(tf.crba(model, q, layout="lanes"), model.tree, layout="lanes")
    direct = tf.factor(tf.crba(model, q), model.tree)
    np.testing.assert_array_equal(f.status[:count], direct.status)
    padded = np.zeros((len(f.status), model.nv))
    padded[:count] = x
    np.testing.assert_array_equal(f.solve(padded)[:count], direct.solve(x))


@models
@pytest.mark.parametrize("num_threads", [2, 3, 100, -1])
@pytest.mark.parametrize("count", [0, 1, 9, 50])
def test_threads_change_no_bit(model, num_threads, count):
    given = arguments(model, 1, count)
    assert_same(results(model, given, num_threads=num_threads), results(model, given))


BOUND = {
    tf.crba: "q",
    tf.rnea: "qvx",
    tf.bias: "qv",
    tf.h_times: "qx",
    tf.aba: "qvx",
    tf.forward_dynamics: "qvx",
    tf.generalized_gravity: "q",
    tf.static_torque: "qf",
    tf.coriolis_matrix: "qv",
    tf.inverse_inertia: "q",
}


@pytest.mark.parametrize("function", BOUND, ids=lambda function: function.__name__)
def test_a_bound_call_reads_its_arrays_each_time(function):
    first, second = (dict(zip("qvxf", arguments(ALL_KINDS, seed), strict=True)) for seed in (1, 2))
    arrays = [first[name] for name in BOUND[function]]
    out = np.empty_like(function(ALL_KINDS, *arrays))
    call = tf.bind(function, ALL_KINDS, *arrays, out=out)
    for given in (first, second):
        for name, array in zip(BOUND[function], arrays, strict=True):
            array[...] = given[name]
        assert call() is out
        np.testing.assert_array_equal(out, function(ALL_KINDS, *arrays))
    arrays[0][0] = np.nan
    with pytest.raises(tf.NonFiniteError, match="q is not finite"):
        call()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("forces", [False, True])
def test_a_batch_and_strides_change_no_bit(name, forces):
    """Left out: other kernels factorize one state than a batch, and C is added up in another order."""
    model = MODELS[name]
    batch = [*arguments(model, size=(9,))[: 3 + forces], *[None] * (not forces)]
    one = [x if x is None else x[4] for x in batch]
    spaced = [x if x is None else np.repeat(x[..., None], 2, axis=-1)[..., 0] for x in one]
    for function in set(names_of(model)) - {"packed", "lanes"}:
        own = CALLS[function](model, *one)
        np.testing.assert_array_equal(CALLS[function](model, *spaced), own)
        out = np.zeros((*own.shape, 2))[..., 0]
        np.testing.assert_array_equal(CALLS[function](model, *one, out=out), own)
        if function not in ("factor", "inverse", "coriolis", "packed coriolis"):
            np.testing.assert_array_equal(CALLS[function](model, *batch)[4], own)
