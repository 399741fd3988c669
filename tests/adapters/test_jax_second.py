"""Second derivatives inside JAX: all orders of modes, configurations with quaternions, and their end."""

from functools import partial

import numpy as np
import pytest
from helpers.derivative_cases import random_case
from helpers.jax_cases import ARM, TURNING, calls, compiled_fast, jax, jax_, order_of, precision, scalar
from jax.test_util import check_grads

import treefactor as tf

jnp = jax.numpy
slow = partial(pytest.param, marks=pytest.mark.slow)
MODES = {
    "forward over reverse": lambda f: jax.jacfwd(jax.jacrev(f)),
    "reverse over reverse": lambda f: jax.jacrev(jax.jacrev(f)),
    "reverse over forward": lambda f: jax.jacrev(jax.jacfwd(f)),
    "forward over forward": lambda f: jax.jacfwd(jax.jacfwd(f)),
}
FAST = ("forward_dynamics", "crba")
ORDERS = {order: [name for name in calls(ARM) if order_of(name) == order] for order in (1, 2)}
TWICE = ORDERS[2]


@pytest.fixture(autouse=True)
def _float64():
    with precision(True), compiled_fast():
        yield


def close(result, wanted, tolerance=1e-11):
    np.testing.assert_allclose(result, wanted, rtol=0.0, atol=tolerance * max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize("mode", MODES)
def test_hessians_of_all_modes_are_those_of_treefactor(mode):
    q, v, _, tau, _ = random_case(ARM, 1)
    w = np.cos(np.arange(ARM.nv))
    wanted = tf.forward_dynamics_hessian(ARM, q, v, tau, w)

    def function(x):
        return w @ jax_.forward_dynamics(ARM, *jnp.split(x, 3))

    hessian = np.asarray(jax.jit(MODES[mode](function))(np.concatenate([q, v, tau])))
    n = ARM.nv
    close(hessian[:n, :n], wanted.qq)
    close(hessian[:n, n : 2 * n], wanted.qv)
    close(hessian[n : 2 * n, n : 2 * n], wanted.vv)
    close(hessian[:n, 2 * n :], wanted.qtau)
    close(hessian[n:, 2 * n :], 0.0 * hessian[n:, 2 * n :], 1e-9)
    close(hessian, hessian.T, 1e-9)


@pytest.mark.parametrize("mode", ["forward over reverse", slow("forward over forward")])
def test_hessians_on_the_manifold_are_the_symmetric_ones(mode):
    q, v, _, tau, _ = random_case(TURNING, 2)
    w = np.sin(1.0 + np.arange(TURNING.nv))
    wanted = tf.forward_dynamics_hessian(TURNING, q, v, tau, w).qq

    def function(d):
        return w @ jax_.forward_dynamics(TURNING, jax_.integrate(TURNING, q, d), v, tau)

    close(jax.jit(MODES[mode](function))(np.zeros(TURNING.nv)), wanted)


@pytest.mark.slow
def test_hessians_by_entries_are_symmetric_and_agree_in_all_modes():
    q, v, _, tau, _ = random_case(TURNING, 3)

    def function(q):
        return (jax_.forward_dynamics(TURNING, jax_.normalize(TURNING, q), v, tau) ** 2).sum()

    hessians = [np.asarray(jax.jit(mode(function))(1.2 * q)) for mode in MODES.values()]
    for each in hessians:
        close(each, hessians[0])
        close(each, each.T)


@pytest.mark.parametrize("name", [name if name in FAST else slow(name) for name in [*TWICE, "step"]])
def test_second_derivatives(name):
    function, arrays = scalar(name, ARM, calls(ARM)[name])
    check_grads(jax.jit(function), arrays, 2, atol=1e-3, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["forward_dynamics", "frame_placement", "center_of_mass", "integrate"])
def test_second_derivatives_with_quaternions(name):
    function, arrays = scalar(name, TURNING, calls(TURNING)[name])
    check_grads(jax.jit(function), arrays, 2, atol=1e-3, rtol=1e-3)


def test_hessians_of_rollouts():
    q, v, _, tau, _ = random_case(ARM, 4)
    n = ARM.nv

    def cost(x):
        states = jax_.rollout(ARM, x[:n], x[n : 2 * n], x[2 * n :], 0.02, steps=4)
        return sum((y[-1] ** 2).sum() for y in states)

    x = np.concatenate([q, v, tau])
    check_grads(jax.jit(cost), (x,), 2, atol=1e-3, rtol=1e-3)


def test_mapped_hessians_are_those_of_each_state():
    q, v, _, tau, _ = random_case(ARM, 5, (3,))
    hessian = jax.hessian(lambda q, v, tau: (jax_.forward_dynamics(ARM, q, v, tau) ** 2).sum(), (0, 2))
    together, alone = jax.jit(jax.vmap(hessian, (0, None, 0)))(q, v[0], tau), jax.jit(hessian)
    for k in range(3):
        wanted = alone(q[k], v[0], tau[k])
        jax.tree.map(lambda x, y, k=k: close(x[k], y), together, wanted)


def test_third_derivatives_are_an_error_that_says_so():
    q, v, tau = calls(ARM)["forward_dynamics"]

    def function(q):
        return jax_.forward_dynamics(ARM, q, v, tau).sum()

    for third in (jax.jacfwd(jax.hessian(function)), jax.grad(lambda q: jax.hessian(function)(q).sum())):
        with pytest.raises(NotImplementedError, match="third derivatives of forward_dynamics"):
            jax.jit(third)(q)


@pytest.mark.parametrize("name", ORDERS[1])
def test_functions_with_first_derivatives_only_say_so(name):
    function, arrays = scalar(
        name, ARM, [x if not isinstance(x, list) else ARM.joints[0].name for x in calls(ARM)[name]]
    )
    with pytest.raises(NotImplementedError, match=f"second derivatives of {name}.* are not available"):
        jax.jit(jax.hessian(function))(*arrays)


def test_external_forces_leave_first_derivatives():
    q, v, a, _, fext = random_case(ARM, 6)
    with pytest.raises(NotImplementedError, match="second derivatives of rnea"):
        jax.hessian(lambda v: jax_.rnea(ARM, q, v, a, fext).sum())(v)
