"""Programs of float32 inside JAX: no conversion of arguments, results or gradients, and what is refused."""

import numpy as np
import pytest
from helpers.jax_cases import compiled_fast, jax, precision
from helpers.single_programs import BAD, FLOATING, assert_gradients, program, states

import treefactor as tf
from treefactor.adapters import _jax_calls, jax_
from treefactor.adapters._programs import find_function
from treefactor.model.digests import digest, number_of

KERNELS = program()


@pytest.fixture(autouse=True, scope="module")
def _float64():
    with precision(True):
        yield


def gradients(kernels, q, v, tau, w):
    """Return the gradients of the weighted accelerations."""
    return jax.jit(jax.grad(lambda *x: (w * jax_.forward_dynamics(kernels, *x)).sum(), argnums=(0, 1, 2)))(
        q, v, tau
    )


def test_values_and_gradients_have_the_bits_of_the_program():
    *state, w = states()
    expected = KERNELS.forward_dynamics(*state)
    assert np.isnan(expected).any(axis=1).nonzero()[0].tolist() == [BAD]
    for run in (jax_.forward_dynamics, jax.jit(jax_.forward_dynamics, static_argnums=0)):
        a = run(KERNELS, *state)
        assert a.dtype == np.float32
        np.testing.assert_array_equal(a, expected)
    each = jax.vmap(lambda *x: jax_.forward_dynamics(KERNELS, *x))(*state)
    np.testing.assert_array_equal(each, expected)
    np.testing.assert_array_equal(jax_.crba(KERNELS, state[0]), KERNELS.crba(state[0]))
    wanted = KERNELS.forward_dynamics_vjp(*state, w)
    assert_gradients(gradients(KERNELS, *state, w), wanted)
    by_tau = jax.grad(lambda tau: (w * jax_.aba(KERNELS, *state[:2], tau)).sum())(state[2])
    np.testing.assert_array_equal(by_tau, wanted[2])
    moved = jax.jvp(lambda tau: jax_.forward_dynamics(KERNELS, *state[:2], tau), (state[2],), (w,))[1]
    still = np.zeros_like(w)
    np.testing.assert_array_equal(moved, KERNELS.forward_dynamics_jvp(*state, still, still, w))


def test_single_states_have_the_bits_of_single_states_and_bad_ones_are_nan():
    if _jax_calls._handler() is None:
        pytest.skip("the handler is not there: single states are batches of one")
    *state, w = (x[3] for x in states())
    np.testing.assert_array_equal(jax_.forward_dynamics(KERNELS, *state), KERNELS.forward_dynamics(*state))
    result, wanted = gradients(KERNELS, *state, w), KERNELS.forward_dynamics_vjp(*state, w)
    np.testing.assert_array_equal(result[1], wanted[1])
    np.testing.assert_array_equal(result[2], wanted[2])
    state[0][3:7] *= 1.01
    assert np.isnan(jax_.forward_dynamics(KERNELS, *state)).all()
    assert np.isnan(gradients(KERNELS, *state, w)[2]).all()


def test_single_states_of_long_chains_have_the_bits_of_single_states():
    """One state is solved by the factor, a batch runs the statements."""
    if _jax_calls._handler() is None:
        pytest.skip("the handler is not there: single states are batches of one")
    rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.01]))
    joints = [tf.Joint(f"{k}", "revolute", k - 1, axis=np.eye(3)[k % 3], inertia=rod) for k in range(10)]
    kernels, state = (
        tf.compile(tf.Model(joints), ["forward_dynamics"]),
        np.random.default_rng(0).normal(size=(3, 10)),
    )
    single, batch = kernels.forward_dynamics(*state), kernels.forward_dynamics(*state[:, None])
    assert (single != batch[0]).any()
    np.testing.assert_array_equal(jax_.forward_dynamics(kernels, *state), single)


def test_float64_arrays_are_refused_with_the_remedy():
    *state, _ = states(np.float64)
    with pytest.raises(
        tf.DtypeError, match=r"q must have dtype float32, got float64: .*q\.astype\(np\.float32"
    ):
        jax_.forward_dynamics(KERNELS, *state)
    single = [x.astype(np.float32) for x in state]
    with pytest.raises(tf.DtypeError, match="v must have dtype float32, got float64"):
        jax_.integrate(KERNELS, single[0], state[1])
    number = number_of(digest(FLOATING), find_function("crba", KERNELS).map("value").key)
    jax_.crba(KERNELS, single[0])
    types = jax.ShapeDtypeStruct((len(single[0]), FLOATING.nv, FLOATING.nv), float)
    with pytest.raises(
        Exception, match="expected all arguments and results of crba of a program to be float32; arg"
    ):
        jax.ffi.ffi_call("treefactor", types)(state[0], function=np.int64(number))


def test_programs_of_float64_convert_float32():
    *state, w = states()
    wide = program(dtype=np.float64)
    expected = wide.forward_dynamics(*state).astype(np.float32)
    np.testing.assert_array_equal(jax_.forward_dynamics(wide, *state), expected)
    wanted = wide.forward_dynamics_vjp(*state, w)
    assert_gradients(gradients(wide, *state, w), [x.astype(np.float32) for x in wanted])


def test_derivatives_that_were_not_generated_are_those_of_the_model():
    q, v, tau, w = (x[:5] for x in states())
    bare = program("numpy", ["forward_dynamics"])  # a backend without machine code, too
    np.testing.assert_array_equal(jax_.forward_dynamics(bare, q, v, tau), bare.forward_dynamics(q, v, tau))
    wanted = tf.forward_dynamics_vjp(FLOATING, q.astype(float), v, tau, w)
    np.testing.assert_array_equal(gradients(bare, q, v, tau, w)[1], wanted.v.astype(np.float32))
    other = program(functions=["bias", "rnea_vjp"])  # of other arguments than those of bias
    by_v = jax.grad(lambda v: (w * jax_.bias(other, q, v)).sum())(v)
    wanted = tf.rnea_vjp(FLOATING, q.astype(float), v, np.zeros_like(v), w)
    np.testing.assert_array_equal(by_v, wanted.v.astype(np.float32))


def test_steps_and_their_gradients_are_those_of_the_program():
    q, v, tau, _ = (x[:3] for x in states())
    controls = np.repeat(tau[:, None], 6, axis=1)
    expected = KERNELS.rollout(q, v, controls, 1e-3)
    for own, wanted in zip(jax_.rollout(KERNELS, q, v, controls, 1e-3), expected, strict=True):
        assert own.dtype == np.float32
        np.testing.assert_array_equal(own, wanted)

    def moved(kernels, tau):
        return jax_.step(kernels, q, v, tau, 1e-3)[0].sum()

    without = program(functions=["forward_dynamics"]), program(functions=["aba"])
    with compiled_fast():
        pull = jax.jit(jax.grad(moved, argnums=1), static_argnums=0)
        own, *others = (pull(x, tau) for x in (KERNELS, *without))
    assert own.dtype == np.float32
    assert (own != others[0]).any()  # at the same state, by derivatives of the model
    for other in others:
        np.testing.assert_allclose(own, other, rtol=0, atol=1e-5 * abs(own).max())


def test_callbacks_compute_in_float32(monkeypatch):
    monkeypatch.setattr(_jax_calls, "_handler", lambda: None)
    *state, _ = (x[:4] for x in states())
    kernels = program(functions=["forward_dynamics", "crba"])
    a = jax.jit(lambda *x: jax_.forward_dynamics(kernels, *x))(*state)
    np.testing.assert_array_equal(a, kernels.forward_dynamics(*state))
