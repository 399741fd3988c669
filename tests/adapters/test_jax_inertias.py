"""Inertias as inputs of functions inside JAX: values, derivatives, maps, types, errors."""

import numpy as np
import pytest
from helpers.sweeps import sweep

pytest.importorskip("pinocchio", reason="Pinocchio is not installed")

from helpers.derivative_cases import random_case
from helpers.inertia_cases import ARGUMENTS, FLOATING, bodies, gradient, loaded, state, value
from helpers.jax_cases import ARM, TURNING, H, as_tuple, compiled_fast, jax, jax_, precision
from jax.test_util import check_grads

import treefactor as tf
from treefactor.model import parameters


@pytest.fixture(autouse=True)
def _float64():
    with precision(True), compiled_fast():
        yield


def scaled(model, rng, size=()):
    """Return the model's parameters, each body's times a number of its own."""
    return model.parameters * rng.uniform(0.8, 1.2, (*size, model.njoints, 1))


@pytest.mark.parametrize("robot", FLOATING)
@pytest.mark.parametrize("name", ARGUMENTS)
def test_gradients_are_differences_of_pinocchio(name, robot):
    robot, model = loaded(robot)
    rng = np.random.default_rng(1)
    x, pi = state(model, name, rng), bodies(model, rng)
    w, change = (
        rng.normal(size=(model.nv, model.nv) if name == "crba" else model.nv),
        rng.normal(size=pi.shape),
    )

    def function(pi):
        result = getattr(jax_, name)(model, *x, inertias=pi)
        return (w * result).sum(), result

    (_, result), by_inertias = jax.jit(jax.value_and_grad(function, has_aux=True))(pi)
    wanted = value(name, robot, x, pi)
    np.testing.assert_allclose(result, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())
    wanted = gradient(name, robot, x, pi, w)
    np.testing.assert_allclose(by_inertias, wanted, rtol=0, atol=1e-6 * np.abs(wanted).max())
    along = jax.jvp(lambda pi: function(pi)[0], (pi,), (change,))[1]
    np.testing.assert_allclose(along, (by_inertias * change).sum(), rtol=1e-9)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_mapped_axis_of_inertias_is_a_batch(name):
    _, model = loaded("solo12")
    rng = np.random.default_rng(2)
    x, pi = state(model, name, rng), bodies(model, rng, (5,))
    own, plain = getattr(jax_, name), getattr(tf, name)
    wanted = plain(model, *(np.stack([each] * 5) for each in x), inertias=pi)
    result = jax.jit(jax.vmap(lambda pi: own(model, *x, inertias=pi)))(pi)
    assert np.array_equal(result, wanted)
    assert np.array_equal(own(model, *x, inertias=pi), wanted)
    shared = plain(model, *(np.stack([each] * 2) for each in x), inertias=pi[0])
    assert np.array_equal(own(model, *(np.stack([each] * 2) for each in x), inertias=pi[0]), shared)


def test_gradients_under_vmap_are_those_of_each_element():
    _, model = loaded("panda")
    rng = np.random.default_rng(3)
    x, pi = state(model, "forward_dynamics", rng, (4,)), bodies(model, rng, (3,))
    each = jax.grad(lambda pi, *x: (jax_.forward_dynamics(model, *x, inertias=pi) ** 2).sum())
    gradients = jax.jit(jax.vmap(jax.vmap(each, (None, 0, 0, 0)), (0, None, None, None)))(pi, *x)
    wanted = np.array([[each(one, *(a[k] for a in x)) for k in range(4)] for one in pi])
    np.testing.assert_allclose(gradients, wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())
    total = jax.grad(lambda pi: (jax_.forward_dynamics(model, *x, inertias=pi) ** 2).sum())(pi[0])
    np.testing.assert_allclose(total, wanted[0].sum(0), rtol=0, atol=1e-10 * np.abs(wanted).max())


CALLS = {
    "forward_dynamics": lambda d, v, a, fext, pi: jax_.forward_dynamics(TURNING, d, v, a, fext, inertias=pi),
    "rnea": lambda d, v, a, fext, pi: jax_.rnea(TURNING, d, v, a, fext, pi),
    "crba": lambda d, v, a, fext, pi: jax_.crba(TURNING, d, pi),
    "step": lambda d, v, a, fext, pi: jax_.step(TURNING, d, v, a, H, "rk4", fext, inertias=pi),
    "rollout": lambda d, v, a, fext, pi: jax_.rollout(TURNING, d, v, a, H, 3, fext=fext, inertias=pi),
}


@pytest.mark.parametrize("name", sweep(CALLS, ("forward_dynamics", "rollout").__contains__))
def test_derivatives_by_all_arguments(name):
    """Of motions, too, which pass the inertias on to all their steps."""
    q, v, a, _, fext = random_case(TURNING, 3)
    pi = scaled(TURNING, np.random.default_rng(4))

    def function(d, v, a, fext, scale):
        moved = jax_.integrate(TURNING, q, d)
        results = as_tuple(CALLS[name](moved, v, a, fext, pi * scale))
        return sum((np.cos(np.arange(x.size)).reshape(x.shape) * x).sum() for x in results)

    arrays = np.zeros(TURNING.nv), v, a, fext, np.ones(pi.shape)
    check_grads(jax.jit(function), arrays, 1, modes=("fwd", "rev"), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4"])
def test_motions_have_the_bits_of_treefactor(method):
    q, v, _, tau, _ = random_case(TURNING, 5, (3,))
    pi = scaled(TURNING, np.random.default_rng(5), (3,))
    states = jax_.rollout(TURNING, q, v, tau, H, 4, method, inertias=pi)
    wanted = tf.rollout(TURNING, q, v, tau, H, 4, method, inertias=pi)
    assert all(map(np.array_equal, states, wanted))
    next_state = jax_.step(TURNING, q, v, tau, H, method, inertias=pi)
    assert all(map(np.array_equal, next_state, tf.step(TURNING, q, v, tau, H, method, inertias=pi)))


def test_float32_stays_float32():
    q, v, _, tau, _ = random_case(ARM, 6, (3,))
    pi = scaled(ARM, np.random.default_rng(6))
    short = [x.astype(np.float32) for x in (q, v, tau, pi)]
    by_inertias = jax.grad(lambda pi: jax_.forward_dynamics(ARM, *short[:3], inertias=pi).sum())(short[3])
    wanted = jax.grad(lambda pi: jax_.forward_dynamics(ARM, q, v, tau, inertias=pi).sum())(pi)
    assert by_inertias.dtype == np.float32
    np.testing.assert_allclose(by_inertias, wanted, atol=1e-4 * np.abs(wanted).max())
    with pytest.raises(tf.DtypeError, match="expected arrays of one type"):
        jax_.forward_dynamics(ARM, *short[:3], inertias=pi)


def test_impossible_inertias_are_nan_in_their_element():
    q, v, _, tau, _ = random_case(ARM, 7, (3,))
    pi = scaled(ARM, np.random.default_rng(7), (3,))
    wanted = tf.forward_dynamics(ARM, q, v, tau, inertias=pi)
    pi[1, -1, 0] = np.nan
    qdd = np.asarray(jax_.forward_dynamics(ARM, q, v, tau, inertias=pi))
    assert np.isnan(qdd[1]).all()
    assert np.array_equal(qdd[::2], wanted[::2])


def test_errors():
    q, v, _, tau, _ = random_case(ARM, 8)
    pi = ARM.parameters

    def twice(pi):
        return jax_.rnea(ARM, q, v, tau, inertias=pi).sum()

    with pytest.raises(
        NotImplementedError, match="second derivatives of rnea with inertias are not available"
    ):
        jax.hessian(twice)(pi)
    with pytest.raises(tf.ShapeError, match=rf"expected inertias of shape \(\.\.\., {ARM.njoints}, 10\)"):
        jax_.rnea(ARM, q, v, tau, inertias=pi[:, :9])
    kernels = tf.compile(ARM, ["rnea"], backend="interp")
    with pytest.raises(tf.CodegenError, match="programs have no inertias as inputs inside JAX and PyTorch"):
        jax_.rnea(kernels, q, v, tau, inertias=pi)
    free = tf.compile(ARM, ["rnea"], backend="interp", parameters="base")
    with pytest.raises(tf.CodegenError, match="'rnea' was generated with parameters as inputs"):
        jax_.rnea(free, q, v, tau)


def test_log_cholesky_coordinates():
    theta = np.random.default_rng(9).normal(size=(4, 3, 10))
    wanted = parameters.from_log_cholesky(theta)
    pi = jax.jit(jax.vmap(jax_.from_log_cholesky))(theta)
    scale = np.abs(wanted).max(-1, keepdims=True)
    assert (np.abs(pi - wanted) <= 1e-15 * scale).all()
    jacobians = jax.vmap(jax.jacrev(jax_.from_log_cholesky))(theta[0])
    np.testing.assert_allclose(jacobians, parameters.log_cholesky_jacobian(theta[0]), rtol=1e-14, atol=1e-14)
    check_grads(jax_.from_log_cholesky, (theta[0, 0],), 2, modes=("rev",), atol=1e-5, rtol=1e-5)
    with pytest.raises(tf.ShapeError, match=r"expected theta of shape \(\.\.\., 10\), got \(9,\)"):
        jax_.from_log_cholesky(theta[0, 0, :9])
