"""Small results are recycled only where no caller can see it: not while something refers to one."""

import ctypes
import pickle
import sysconfig
import threading
import warnings
import weakref

import numpy as np
import pytest
from helpers.machines import SEEDS
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import treefactor as tf

N = 5
ROD = tf.Inertia(1.0, [0.1, 0, 0.2], np.diag([0.1, 0.2, 0.15]))
AXES = ([0, 0, 1], [1, 0, 0])
JOINTS = [tf.Joint(f"{k}", "revolute", axis=AXES[k % 2], parent=k - 1, inertia=ROD) for k in range(N)]
ARM = tf.Model(JOINTS)
FACTOR = tf.factor(tf.crba(ARM, np.zeros(N)), ARM.tree)
CALLS = {  # of a vector x
    "solve": FACTOR.solve,
    "multiply": FACTOR.multiply,
    "rnea": lambda x, out=None: tf.rnea(ARM, x, x, x, out=out),
    "integrate": lambda x, out=None: tf.integrate(ARM, x, x, out=out),
    "crba": lambda x, out=None: tf.crba(ARM, x, out=out),
    "frame_jacobian": lambda x, out=None: tf.frame_jacobian(ARM, x, "0", out=out),
}
VECTORS = ["solve", "multiply", "rnea", "integrate"]


def from_pointer(x):
    """Return a reader of the data of x that keeps only what `ctypes` gives."""
    pointer, shape = x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), x.shape
    return lambda: np.array([pointer[k] for k in range(int(np.prod(shape)))]).reshape(shape)


def from_iterator(x):
    """Return a reader that keeps only the flat iterator of x."""
    flat, shape = x.flat, x.shape
    return lambda: np.array(flat[:]).reshape(shape)


def from_c_array(x):
    """Return a reader that keeps an array of ctypes in the memory of x."""
    array, shape = (ctypes.c_double * x.size).from_buffer(x.reshape(-1)), x.shape
    return lambda: np.array(array[:]).reshape(shape)


class Interface:
    """Owner of an array that shows it by ``__array_struct__`` alone."""

    def __init__(self, x):
        self.__array_struct__ = x.__array_struct__


def from_array(other):
    """Return a reader of an array."""
    return lambda: other


def from_reshaped(x):
    """Return a reader that keeps a view of another shape."""
    view, shape = x.reshape(-1), x.shape
    return lambda: view.reshape(shape)


def from_buffer(x):
    """Return a reader that keeps a memoryview."""
    view = memoryview(x)
    return lambda: np.asarray(view)


def from_pickle_buffer(x):
    """Return a reader that keeps a pickle buffer."""
    kept = pickle.PickleBuffer(x)
    return lambda: np.asarray(kept.raw()).view(float)


KEEPERS = {  # each returns a function that reads the entries, and refers to the array in one way only
    "array": from_array,
    "transposed": lambda x: from_array(x.T.T),
    "subclass": lambda x: from_array(x.view(np.matrix)),
    "dlpack": lambda x: from_array(np.from_dlpack(x)),
    "array struct": lambda x: from_array(np.asarray(Interface(x))),
    "reshaped": from_reshaped,
    "memoryview": from_buffer,
    "pickle buffer": from_pickle_buffer,
    "iterator": from_iterator,
    "pointer": from_pointer,
    "ctypes array": from_c_array,
    "weak reference": weakref.ref,
}


def reshape_in_place(x):
    x.shape = (1, *x.shape)


def reinterpret(x):
    x.dtype = np.int64


def stride(x):
    x.strides = (0,) * x.ndim


def lock(x):
    x.flags.writeable = False


def resize(x):
    x.resize(2 * x.size, refcheck=False)


CHANGES = (reshape_in_place, reinterpret, stride, lock, resize)


class Results(RuleBasedStateMachine):
    """Make, keep, change and drop results in any order; those that are kept never change."""

    def __init__(self):
        super().__init__()
        self.kept = []  # readers, and copies of what they read

    @rule(name=st.sampled_from(sorted(CALLS)), how=st.sampled_from(sorted(KEEPERS)), seed=SEEDS)
    def make(self, name, how, seed):
        x = np.random.default_rng(seed).normal(size=N)
        result = CALLS[name](x)
        assert type(result) is np.ndarray
        assert result.dtype == np.float64
        assert result.flags.c_contiguous
        assert result.flags.owndata
        assert result.flags.writeable
        expected = CALLS[name](x, out=np.full(result.shape, np.nan))
        assert result.strides == expected.strides
        np.testing.assert_array_equal(result, expected)
        self.kept.append((KEEPERS[how](result), expected))

    @rule(
        name=st.sampled_from(sorted(CALLS)), change=st.sampled_from(CHANGES), keep=st.booleans(), seed=SEEDS
    )
    def change_in_place(self, name, change, keep, seed):
        x = np.random.default_rng(seed).normal(size=N)
        result = CALLS[name](x)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy, that in-place changes go
            change(result)
        if keep:
            self.kept.append((lambda: result, result.copy()))

    @rule(data=st.data())
    def drop(self, data):
        if self.kept:
            self.kept.pop(data.draw(st.integers(0, len(self.kept) - 1)))

    @rule(data=st.data())
    def write(self, data):
        """Writing into one result changes no other."""
        if self.kept:
            read, expected = self.kept[data.draw(st.integers(0, len(self.kept) - 1))]
            result = read()
            if result is not None and result.flags.writeable and result.flags.owndata and result.strides[-1]:
                result[...] = expected[...] = 7

    @invariant()
    def nothing_kept_has_changed(self):
        for read, expected in self.kept:
            result = read()
            if result is not None:
                np.testing.assert_array_equal(np.asarray(result).reshape(expected.shape), expected)


TestResults = Results.TestCase
TestResults.settings = settings(max_examples=40, stateful_step_count=25)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("how", KEEPERS)
def test_what_refers_to_a_result_keeps_its_entries(name, how):
    x = np.linspace(0.1, 0.4, N)
    expected = CALLS[name](x).copy()
    read = KEEPERS[how](CALLS[name](x))
    for k in range(9):
        CALLS[name](x + k)
    result = read()
    assert result is None if how == "weak reference" else result is not None
    if result is not None:
        np.testing.assert_array_equal(np.asarray(result).reshape(expected.shape), expected)


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_in_place_is_not_returned_again(change):
    b = np.ones(N)
    for _ in range(9):
        x = FACTOR.solve(b)
        assert (x.shape, x.strides, x.dtype, x.flags.writeable) == ((N,), (8,), np.float64, True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            change(x)


def test_results_are_resized_without_the_check_of_references():
    """NumPy counts the reference by which a small result is kept; the message says what to write instead."""
    for name in CALLS:
        x = np.linspace(0.1, 0.4, N)
        result = CALLS[name](x)
        expected = result.copy()
        result.resize(result.size + 3, refcheck=False)
        np.testing.assert_array_equal(result[:-3], expected.ravel())
        others = [CALLS[name](x + k) for k in range(9)]
        np.testing.assert_array_equal(result[:-3], expected.ravel())
        assert not any(np.may_share_memory(result, other) for other in others)


@pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="only where there is a GIL")
@pytest.mark.parametrize("name", VECTORS)
def test_a_loop_that_drops_its_results_needs_the_memory_of_few(name):
    x, places = np.ones(N), set()
    for _ in range(50):
        result = CALLS[name](x)
        places.add(result.ctypes.data)
    assert len(places) <= 4


def test_large_results_are_not_kept():
    model = tf.Model([tf.Joint(f"hinge {k}", "revolute", axis=[0, 0, 1], parent=k - 1) for k in range(40)])
    gone = weakref.ref(tf.crba(model, np.zeros(40)))
    assert gone() is None


def test_threads_do_not_see_each_others_results():
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        kept = []
        for _ in range(400):
            x = rng.normal(size=N)
            name = VECTORS[rng.integers(len(VECTORS))]
            kept.append((CALLS[name](x), CALLS[name](x, out=np.empty(N))))
            if len(kept) > 6:
                del kept[rng.integers(len(kept))]
            wrong.extend(result for result, expected in kept if not np.array_equal(result, expected))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
