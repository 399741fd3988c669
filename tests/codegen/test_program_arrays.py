"""Check that arrays of every form give the same bits as contiguous arrays."""

import itertools
import shutil
from functools import cache

import numpy as np
import pytest
from helpers.array_forms import FORMS, guarded
from helpers.interp_cases import call, model, states
from helpers.machine_code import deviation
from helpers.sweeps import sweep

import treefactor as tf
from treefactor._util import threads

NAMES = ("dpend", "ur5", "freeflyer")  # 2, 6 and 18 freedoms, the last one with a rotation in q
FUNCTIONS = ("crba", "rnea", "forward_dynamics")
COUNTS = (1, 3, 8, 13, 64, 72, 131)
SIZES = ((), *COUNTS, (2, 5))
PLACES = (1, "C", "rows"), (2, "F", "columns"), (-1, "F", "rows"), (-2, "C", "columns")  # all values occur
BACKENDS = [
    "interp",
    pytest.param("cc", marks=pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")),
    "llvm",
    "numpy",
]


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(params=BACKENDS)
def backend(request):
    if request.param == "llvm":
        pytest.importorskip("llvmlite")
    return request.param


@cache
def kernels(name, backend):
    own = tf.compile(model(name), FUNCTIONS, backend)
    assert own.backend == backend
    return own


def placed(shape, stride, order):
    """Return guarded memory for results, reversed for negative strides."""
    view, big, guard = guarded(shape, abs(stride), order)
    return view[(slice(None, None, -1),) * len(shape)] if stride < 0 else view, big, guard


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", COUNTS)
def test_batches_are_what_numpy_computes(backend, name, count):
    given = states(name, count)
    for function in FUNCTIONS:
        expected = call(kernels(name, "numpy"), function, given)
        assert deviation(call(kernels(name, backend), function, given), expected) < 1e-11


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", [*FORMS, "float32"])
def test_arguments_of_every_form(backend, name, form):
    own = kernels(name, backend)
    for size in SIZES:
        given = states(name, size)
        if form == "float32":
            given = {key: (x * 8).round() / 8 if key != "q" else x for key, x in given.items()}
        changed = {
            key: FORMS[form](x) if form in FORMS else x.astype(np.float32) if key != "q" else x
            for key, x in given.items()
        }
        for function in FUNCTIONS:
            np.testing.assert_array_equal(call(own, function, changed), call(own, function, given))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("stride", "order", "form"),
    sweep(itertools.product((1, 2, -1, -2), "CF", ("rows", "columns")), lambda one: one in PLACES),
)
def test_results_go_where_they_belong_and_nowhere_else(backend, name, stride, order, form):
    own = kernels(name, backend)
    for size in SIZES:
        given = states(name, size)
        if form == "columns":
            given = {key: np.asfortranarray(x) for key, x in given.items()}
        for function in FUNCTIONS:
            expected = call(own, function, given)
            out, big, guard = placed(expected.shape, stride, order)
            before = big[guard].copy()
            assert call(own, function, given, out=out) is out
            np.testing.assert_array_equal(out, expected)
            np.testing.assert_array_equal(big[guard], before)


@pytest.mark.parametrize("stride", [1, 2, -1])
@pytest.mark.parametrize("layout", ["packed", "lanes"])
def test_packed_results_go_where_they_belong(backend, layout, stride):
    own = kernels("freeflyer", backend)
    for size in SIZES:
        given = states("freeflyer", size)
        expected = call(own, "crba", given, layout=layout)
        out, big, guard = placed(expected.shape, stride, "C")
        before = big[guard].copy()
        assert call(own, "crba", given, layout=layout, out=out) is out
        np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(big[guard], before)


@pytest.mark.parametrize("name", NAMES)
def test_valid_vectors_and_rows_take_the_fast_path(backend, name):
    own = kernels(name, backend)
    for size in ((), (20,)):
        given = states(name, size)
        for function in FUNCTIONS:
            fast_path, results = own._fast[function, "dense"]
            arguments = tuple(given[argument] for argument, _ in own.program.functions[function].inputs)
            took_it = fast_path(arguments, None, results, 1) is not None
            assert took_it == (backend != "numpy"), (function, size)  # which has none


def test_a_single_result_in_the_memory_of_an_argument(backend):
    own = kernels("ur5", backend)
    for function, key in {"rnea": "a", "forward_dynamics": "v"}.items():
        given = states("ur5")
        expected = call(own, function, given)
        assert call(own, function, given, out=given[key]) is given[key]
        np.testing.assert_array_equal(given[key], expected)


@pytest.mark.parametrize("shift", [0, 1, 5])
def test_results_in_the_memory_of_arguments(backend, shift):
    own, given = kernels("ur5", backend), states("ur5", 72)
    expected = call(own, "forward_dynamics", given)
    big = np.zeros((72 + shift, 6))
    big[shift:] = given["tau"]
    qdd = call(own, "forward_dynamics", {**given, "tau": big[shift:]}, out=big[:72])
    np.testing.assert_array_equal(qdd, expected)


@pytest.mark.parametrize("shared", ["q", "v", "tau"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_vectors_that_all_configurations_share(backend, shared, order):
    own = kernels("freeflyer", backend)
    for count in COUNTS:
        given = {key: np.array(x, order=order) for key, x in states("freeflyer", count).items()}
        one = given[shared][0].copy()
        expected = call(own, "forward_dynamics", {**given, shared: np.tile(one, (count, 1))})
        qdd = call(own, "forward_dynamics", {**given, shared: one})
        np.testing.assert_array_equal(qdd, expected)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays_in_its_configuration(backend, order, value):
    own, count = kernels("freeflyer", backend), 131
    given = {key: np.array(x, order=order) for key, x in states("freeflyer", count).items()}
    expected = call(own, "forward_dynamics", given)
    bad = {"q": [0, 130], "v": [7, 64], "tau": [8, 127]}
    for k, (key, where) in enumerate(bad.items()):
        given[key][where[0], k], given[key][where[1], -1] = value, value
    given["q"][77, 3:7] *= 1.001
    qdd = call(own, "forward_dynamics", given, out=np.zeros((count, len(expected[0])), order=order))
    bad = sorted([77, *bad["q"], *bad["v"], *bad["tau"]])
    assert np.isnan(qdd[bad]).all()
    good = np.setdiff1d(np.arange(count), bad)
    np.testing.assert_array_equal(qdd[good], expected[good])


@pytest.mark.parametrize("order", ["C", "F"])
def test_threads_give_the_same(backend, order, monkeypatch):
    monkeypatch.setattr(threads, "ENOUGH", 1)
    own = kernels("ur5", backend)
    given = {key: np.array(x, order=order) for key, x in states("ur5", 1000).items()}
    expected = call(own, "forward_dynamics", given)
    out, big, guard = guarded(expected.shape, 1, order)
    before = big[guard].copy()
    np.testing.assert_array_equal(call(own, "forward_dynamics", given, out=out, num_threads=2), expected)
    np.testing.assert_array_equal(big[guard], before)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"out": np.empty((71, 6))}, tf.ShapeError),
        ({"out": np.empty((72, 7))}, tf.ShapeError),
        ({"out": np.empty((72, 6), np.float32)}, tf.DtypeError),
        ({"out": np.broadcast_to(np.empty(6), (72, 6))}, tf.ShapeError),
        ({"out": np.lib.stride_tricks.as_strided(np.empty(6), (72, 6), (0, 8))}, tf.ShapeError),
        ({"out": [0.0]}, tf.DtypeError),
        ({"v": np.zeros((71, 6))}, tf.ShapeError),
        ({"v": np.zeros((72, 5))}, tf.ShapeError),
        ({"v": np.zeros(5)}, tf.ShapeError),
        ({"q": np.zeros((72, 6), complex)}, tf.DtypeError),
        ({"num_threads": 0}, ValueError),
        ({"num_threads": 1.0}, TypeError),
    ],
)
def test_what_batches_refuse(backend, changed, error):
    given = {**states("ur5", 72), "out": np.empty((72, 6)), "num_threads": 1} | changed
    with pytest.raises(error):
        kernels("ur5", backend).forward_dynamics(**{key: x for key, x in given.items() if key != "a"})


def test_a_result_that_cannot_be_written(backend):
    given, out = states("ur5", 72), np.zeros((72, 6))
    out.flags.writeable = False
    with pytest.raises(tf.DtypeError, match="read-only"):
        call(kernels("ur5", backend), "forward_dynamics", given, out=out)
    assert not out.any()
