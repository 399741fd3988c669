"""The handler of XLA's calls runs maps on any batch, and its errors name the argument."""

import gc
import subprocess
import sys
import threading

import numpy as np
import pytest
from helpers.jax_cases import jax, precision
from helpers.xla_cases import caller

import treefactor as tf
from treefactor import xla

jnp = jax.numpy


@pytest.fixture(autouse=True, scope="module")
def _float64():
    with precision(True):
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(19)


class Map:
    """Map with the attributes that the handler reads, around a function of NumPy arrays."""

    def __init__(self, name, inputs, outputs, compute):
        self.name = self.key = name
        self.inputs, self.outputs = inputs, outputs
        self.compute = compute
        self.calls = []

    def run(self, inputs, outputs):
        self.calls.append([x.shape for x in inputs])
        assert not any(x.flags.writeable for x in inputs) or inputs[0].flags.owndata
        results = self.compute(*inputs)
        for output, result in zip(outputs, results, strict=True):
            assert output.dtype == np.float64
            assert output.flags.c_contiguous
            output[...] = result


def remembered(name, inputs, outputs, compute):
    """Return a new map and the function that calls it through XLA."""
    made = Map(name, inputs, outputs, compute)
    number = xla.number_of("tests", name)
    xla.remember(number, made)
    return made, caller(number, inputs, outputs)


def twice(x, y):
    return 2 * x, x[:, :, None] * y[:, None, :]


@pytest.fixture(scope="module")
def double():
    return remembered("double", ((3,), (2,)), ((3,), (3, 2)), twice)


def arrays_of(rng, *lead, dtype=float):
    return rng.normal(size=(*lead, 3)).astype(dtype), rng.normal(size=(*lead, 2)).astype(dtype)


@pytest.mark.parametrize("lead", [(), (1,), (5,), (4, 3), (2, 1, 7)])
@pytest.mark.parametrize("wrapper", [lambda f: f, lambda f: jax.jit(f)])
def test_any_leading_axes_reach_the_map_as_one_batch(double, rng, lead, wrapper):
    x, y = arrays_of(rng, *lead)
    results = wrapper(double[1])(x, y)
    assert [z.shape for z in results] == [(*lead, 3), (*lead, 3, 2)]
    np.testing.assert_array_equal(results[0], 2 * x)
    np.testing.assert_array_equal(results[1], x[..., :, None] * y[..., None, :])
    assert double[0].calls[-1] == [(max(1, int(np.prod(lead))), 3), (max(1, int(np.prod(lead))), 2)]


@pytest.mark.parametrize("lead", [(0,), (3, 0), (0, 2)])
def test_an_empty_batch_does_not_run_the_map(double, rng, lead):
    before = len(double[0].calls)
    results = jax.jit(double[1])(*arrays_of(rng, *lead))
    assert [z.shape for z in results] == [(*lead, 3), (*lead, 3, 2)]
    assert len(double[0].calls) == before


@pytest.mark.parametrize("batch", [1, 255, 256, 1000])
def test_float32_is_computed_in_float64(rng, batch):
    _, call = remembered(f"third {batch}", ((3,), (2,)), ((3,), (3, 2)), lambda x, y: (x / 3, twice(x, y)[1]))
    x, y = arrays_of(rng, batch, dtype=np.float32)
    results = jax.jit(call)(x, y)
    assert {z.dtype for z in results} == {np.dtype(np.float32)}
    np.testing.assert_array_equal(results[0], (x.astype(float) / 3).astype(np.float32))


def test_float32_results_out_of_range_become_infinite():
    _, call = remembered("large", ((1,),), ((1,),), lambda x: (x * 1e300,))
    assert jax.jit(call)(np.ones((2, 1), np.float32))[0].tolist() == [[np.inf], [np.inf]]


def test_nested_vmap_with_different_axes_is_one_call(double, rng):
    x, y = rng.normal(size=(3, 4)), rng.normal(size=(5, 2))
    before = len(double[0].calls)
    inner = jax.vmap(lambda a, b: double[1](a, b)[1], in_axes=(1, None))
    products = jax.jit(jax.vmap(inner, in_axes=(None, 0)))(x, y)
    np.testing.assert_array_equal(products, np.einsum("ia,bj->baij", x, y))
    assert len(double[0].calls) == before + 1


def test_jit_within_scan(double):
    @jax.jit
    def roll(x):
        return jax.lax.scan(lambda x, _: (double[1](x, jnp.ones(2))[0], x), x, length=10)

    last, path = roll(jnp.ones(3))
    np.testing.assert_array_equal(last, np.full(3, 1024.0))
    np.testing.assert_array_equal(path[:, 0], 2.0 ** np.arange(10))


def test_a_row_that_is_not_finite_leaves_the_others_alone(double, rng):
    x, y = arrays_of(rng, 9)
    x[4] = np.nan
    results = jax.jit(double[1])(x, y)
    assert np.isnan(results[0][4]).all()
    assert np.isfinite(np.delete(results[0], 4, axis=0)).all()


def test_transposed_operands(double, rng):
    x, y = rng.normal(size=(3, 6)), rng.normal(size=(2, 6))
    doubled = jax.jit(lambda x, y: double[1](x.T, y.T)[0])(x, y)
    np.testing.assert_array_equal(doubled, 2 * x.T)


def test_threads_may_call_one_function_at_a_time(double, rng):
    run = jax.jit(double[1])
    inputs = [arrays_of(rng, 64) for _ in range(4)]
    bad = []

    def work(x, y):
        for _ in range(50):
            if not np.array_equal(run(x, y)[0], 2 * x):
                bad.append(1)

    threads = [threading.Thread(target=work, args=pair) for pair in inputs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not bad


def test_threads_may_remember_and_call_at_a_time():
    bad = []

    def work(k):
        for j in range(15):
            name = f"shift {j}"  # all threads the same
            made = Map(name, ((2,),), ((2,),), lambda x, j=j: (x + j,))
            made.key = name
            xla.remember(xla.number_of("tests", name), made)
            results = caller(xla.number_of("tests", name), made.inputs, made.outputs)(
                np.full((1, 2), float(k))
            )
            if not np.array_equal(results[0], [[k + j, k + j]]):
                bad.append((k, j))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not bad


def test_a_map_lives_on_after_its_model():
    inertia = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    model = tf.Model(
        [tf.Joint("shoulder", "revolute", axis=[0, 1, 0], inertia=inertia)], gravity=[0, 0, -1.5]
    )
    expected = tf.crba(model, [[0.3]])
    made = Map("inertia", ((1,),), ((1, 1),), lambda q, model=model: (tf.crba(model, q),))
    number = xla.digest(model)
    xla.remember(number, made)
    call = jax.jit(caller(number, made.inputs, made.outputs))
    del model, made
    gc.collect()
    np.testing.assert_array_equal(call(np.array([[0.3]]))[0], expected)


def error_of(call, *arrays):
    """Return the message of the error that a call raises, eager and compiled."""
    texts = set()
    for run in (call, jax.jit(call)):
        with pytest.raises(Exception, match="treefactor") as error:
            jax.block_until_ready(run(*arrays))
        texts.add(str(error.value).splitlines()[0])
    assert len(texts) == 1
    return texts.pop()


def test_an_unknown_number_is_a_failed_precondition():
    text = error_of(caller(-123456789, ((1,),), ((1,),)), np.ones((2, 1)))
    assert text.startswith("FAILED_PRECONDITION: treefactor: this model is not known in this process")
    assert "call the function of treefactor.adapters.jax_ with an equal model once" in text


def test_a_wrong_shape_names_the_argument(double):
    x, y = np.ones((4, 3)), np.ones((4, 5))
    text = error_of(double[1], x, y)
    assert text.startswith(
        "INVALID_ARGUMENT: treefactor: expected argument 1 of double to have shape (..., 2) with the leading"
        " axes (4,) of argument 0, got (4, 5)"
    )


def test_a_batch_of_another_size_names_the_argument(double):
    text = error_of(double[1], np.ones((2, 4, 3)), np.ones((2, 5, 2)))
    assert "leading axes (2, 4) of argument 0, got (2, 5, 2)" in text


def test_too_few_axes_name_the_argument():
    remembered("matrix", ((2, 2),), ((2, 2),), lambda x: (x,))
    types = [jax.ShapeDtypeStruct((2, 2), float)]
    number = np.int64(xla.number_of("tests", "matrix"))
    text = error_of(lambda x: jax.ffi.ffi_call("treefactor", types)(x, function=number), np.ones(2))
    assert "expected argument 0 of matrix to have shape (..., 2, 2)" in text
    assert "got (2,)" in text


@pytest.mark.parametrize("types", [("f8", "f4"), ("i8", "i8"), ("f4", "f8")])
def test_wrong_types_are_invalid_arguments(double, types):
    x, y = np.ones((4, 3), types[0]), np.ones((4, 2), types[1])
    text = error_of(double[1], x, y)
    number = 0 if types[0] == "i8" else 1
    assert text.startswith("INVALID_ARGUMENT")
    assert f"argument {number} has another type" in text


def test_a_wrong_number_of_arguments_is_an_invalid_argument(double):
    text = error_of(double[1], np.ones((4, 3)))
    assert text == "INVALID_ARGUMENT: treefactor: expected 2 arguments and 2 results of double, got 1 and 2"


@pytest.mark.parametrize(
    "attributes", [{}, {"function": np.int32(3)}, {"function": "three"}, {"functions": 3}]
)
def test_a_call_without_the_number_is_an_invalid_argument(attributes):
    def call(x):
        return jax.ffi.ffi_call("treefactor", jax.ShapeDtypeStruct((1,), float))(x, **attributes)

    assert "expected an attribute function=np.int64(number)" in error_of(call, np.ones(1))


@pytest.mark.parametrize(
    ("exception", "code"),
    [(ValueError("no ß today"), "INTERNAL"), (MemoryError("full"), "RESOURCE_EXHAUSTED")],
)
def test_an_exception_of_a_map_becomes_an_error(exception, code):
    def fail(x):
        raise exception

    _, call = remembered(f"fails {code}", ((1,),), ((1,),), fail)
    kind = type(exception).__name__
    assert error_of(call, np.ones((2, 1))) == f"{code}: treefactor: fails {code} raised {kind}: {exception}"


EXIT = """
import jax, numpy as np, treefactor as tf
from treefactor.adapters import jax_

model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=tf.Inertia(1.0))])
call = jax.jit(jax.grad(lambda q: jax_.joint_placements(model, q).sum()))
q = np.zeros((200000, 1), np.float32)
call(q).block_until_ready()
result = [call(q) for _ in range(3)]
"""


def test_the_interpreter_exits_while_calls_are_in_progress():
    completed = subprocess.run([sys.executable, "-c", EXIT], capture_output=True, text=True, timeout=60)
    assert completed.returncode == 0, completed.stderr


def test_attributes_of_other_names_do_not_matter(double, rng):
    x, y = arrays_of(rng, 2)
    types = [jax.ShapeDtypeStruct((2, 3), float), jax.ShapeDtypeStruct((2, 3, 2), float)]
    number = np.int64(xla.number_of("tests", "double"))
    results = jax.ffi.ffi_call("treefactor", types)(x, y, a="text", function=number, z=np.arange(3))
    np.testing.assert_array_equal(results[0], 2 * x)
