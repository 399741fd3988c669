"""Transformations of functions inside JAX: both modes of differentiation, vmap, scan, threads, shards."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers.derivative_cases import random_case
from helpers.jax_cases import (
    ARM,
    MODELS,
    TURNING,
    H,
    as_tuple,
    calls,
    compiled_fast,
    jax,
    jax_,
    precision,
    scalar,
)
from helpers.sweeps import sweep
from jax.test_util import check_grads

import treefactor as tf

FAST = ("forward_dynamics", "integrate", "frame_jacobian", "frame_velocity")
NAMES = sweep(calls(ARM), FAST.__contains__)
ENTRIES = sweep(["forward_dynamics", "frame_placement", "rollout"], FAST.__contains__)
jnp = jax.numpy


@pytest.fixture(autouse=True)
def _float64():
    with precision(True), compiled_fast():
        yield


def close(results, wanted, tolerance=1e-12):
    for mine, theirs in zip(as_tuple(results), as_tuple(wanted), strict=True):
        assert np.shape(mine) == np.shape(theirs)
        np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=tolerance * max(1.0, np.abs(theirs).max()))


@pytest.mark.parametrize("name", NAMES)
def test_first_derivatives_along_integrate(name):
    function, arrays = scalar(name, TURNING, calls(TURNING, fext=True)[name])
    if name == "normalize":
        function, arrays = scalar(name, TURNING, (calls(TURNING)["bias"][0],))
    if name == "difference":  # the other configuration moves on its manifold, too
        q0, q1 = calls(TURNING)[name]
        arrays = (np.zeros(TURNING.nv), np.zeros(TURNING.nv))

        def function(d, e):
            moved = jax_.integrate(TURNING, jnp.stack([q0, q1]), jnp.stack([d, e]))
            return (np.arange(6.0) * jax_.difference(TURNING, moved[0], moved[1])).sum()

    check_grads(jax.jit(function), arrays, 1, modes=("fwd", "rev"), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", ENTRIES)
def test_derivatives_by_entries_are_those_of_the_normalized_configuration(name):
    """They vanish along the length of the quaternion, and check_grads passes through normalize."""
    q, *others = calls(TURNING)[name]
    arrays = [x for x in others if isinstance(x, np.ndarray)]
    fixed = others[len(arrays) :]

    def value(q, *arrays):
        return as_tuple(getattr(jax_, name)(TURNING, q, *arrays, *fixed))[0]

    def function(q, *arrays):
        return value(jax_.normalize(TURNING, q), *arrays)

    check_grads(jax.jit(function), (1.3 * q, *arrays), 1, modes=("fwd", "rev"), atol=1e-4, rtol=1e-4)
    (places,) = tf.Model(TURNING.joints).entries["spherical"][0]
    gradient = jax.jit(jax.grad(lambda q: (value(q, *arrays) ** 2).sum()))(q)
    assert abs(gradient[places] @ q[places]) < 1e-10 * np.abs(gradient).max()


@pytest.mark.parametrize("robot", MODELS)
def test_gradients_are_those_of_the_products(robot):
    model = MODELS[robot]
    q, v, _, tau, _ = random_case(model, 2, (4,))
    w, dv, dtau = np.random.default_rng(0).normal(size=(3, 4, model.nv))
    qdd, pull = jax.vjp(lambda v, tau: jax_.forward_dynamics(model, q, v, tau), v, tau)
    wanted = tf.forward_dynamics_vjp(model, q, v, tau, w)
    assert np.array_equal(qdd, tf.forward_dynamics(model, q, v, tau))
    assert all(map(np.array_equal, pull(w), (wanted.v, wanted.tau)))
    _, change = jax.jvp(lambda *x: jax_.forward_dynamics(model, q, *x), (v, tau), (dv, dtau))
    assert np.array_equal(change, tf.forward_dynamics_jvp(model, q, v, tau, None, dv, dtau))


@pytest.mark.parametrize("fext", [pytest.param(False, marks=pytest.mark.slow), True])
def test_jacobians_of_both_modes_are_the_matrices_of_derivatives(fext):
    q, v, a, _, forces = random_case(TURNING, 4)
    extra = (forces,) * fext
    wanted = tf.rnea_derivatives(TURNING, q, v, a, *extra)

    def function(d, v, a, *extra):
        return jax_.rnea(TURNING, jax_.integrate(TURNING, q, d), v, a, *extra)

    for mode in (jax.jacfwd, jax.jacrev):
        jacobians = jax.jit(mode(function, tuple(range(3 + fext))))
        blocks = jacobians(np.zeros(TURNING.nv), v, a, *extra)
        close(blocks[:3], (wanted.dtau_dq, wanted.dtau_dv, wanted.dtau_da), 1e-12)


def test_linearize_and_its_transpose():
    q, v, tau = calls(TURNING)["forward_dynamics"]
    qdd, linear = jax.linearize(lambda tau: jax_.forward_dynamics(TURNING, q, v, tau), tau)
    inverse = tf.inverse_inertia(TURNING, q)
    close(linear(np.arange(6.0)), inverse @ np.arange(6.0))
    close(jax.linear_transpose(linear, tau)(np.arange(6.0)), (inverse.T @ np.arange(6.0),))
    close(qdd, tf.forward_dynamics(TURNING, q, v, tau))


def test_vmap_with_mixed_and_nested_axes():
    q, v, tau = calls(TURNING, (3, 2))["forward_dynamics"]

    def function(q, v, tau):
        return jax_.forward_dynamics(TURNING, q, v, tau)

    def gradient(q, v, tau):
        return jax.grad(lambda tau: (function(q, v, tau) ** 2).sum())(tau)

    turned = np.moveaxis(tau, 0, -1)  # (2, nv, 3)
    for f in (function, gradient, jax.jit(gradient)):
        one = np.array([f(q[k, 0], v[0, 0], tau[k, 1]) for k in range(3)])
        close(jax.vmap(f, (0, None, 0))(q[:, 0], v[0, 0], tau[:, 1]), one)
        inner = jax.vmap(f, (0, None, 1), 1)  # over the first axis of q and the last of the forces
        nested = jax.vmap(inner, (1, 0, 0))(q, v[0], turned)
        wanted = [[f(q[i, j], v[0, j], tau[i, j]) for i in range(3)] for j in range(2)]
        close(nested, np.swapaxes(wanted, 1, 2))


def test_a_scan_of_steps_is_the_rollout_of_treefactor():
    q, v, _, tau, _ = random_case(TURNING, 5)
    wanted = tf.rollout(TURNING, q[None], v[None], 0.1 * tau[None], H, steps=100)

    def advance(state, _):
        state = jax_.step(TURNING, *state, 0.1 * tau, H)
        return state, state

    def states(q, v):
        return jax.lax.scan(advance, (q, v), None, length=100)[1]

    close(jax.jit(states)(q, v), tuple(x[0, 1:] for x in wanted), 1e-9)


@pytest.mark.parametrize(
    ("method", "model"),
    sweep([("semi_implicit_euler", TURNING), ("rk4", ARM)], lambda case: case[0] == "rk4"),
)
def test_gradients_of_rollouts_are_those_of_scans_of_steps(method, model):
    q, v, _, tau, fext = random_case(model, 6, (2,))
    series = np.stack([tau, 0.5 * tau], axis=-2)
    forces = np.stack([fext] * 2, axis=-3)

    def whole(q, v, series, forces):
        states = jax_.rollout(model, q, v, series, H, method=method, fext=forces)
        return sum((x[:, -1] ** 2).sum() for x in states)

    def stepwise(q, v, series, forces):
        for k in range(2):
            q, v = jax_.step(model, q, v, series[:, k], H, method, forces[:, k])
        return (q**2).sum() + (v**2).sum()

    arguments = (q, v, series, forces)
    (value, slopes), (wanted, gradient) = (
        jax.jit(jax.value_and_grad(function, (0, 1, 2, 3)))(*arguments) for function in (whole, stepwise)
    )
    close(value, wanted)
    close(slopes, gradient, 1e-11)
    directions = [np.ones_like(x) for x in arguments]
    slope = jax.jit(lambda *x: jax.jvp(whole, x, tuple(directions))[1])(*arguments)
    close(slope, sum(float((g * d).sum()) for g, d in zip(slopes, directions, strict=True)), 1e-11)


def test_checkpoint_donation_and_shapes():
    q, v, tau = calls(TURNING, (3,))["forward_dynamics"]

    def function(q, v, tau):
        return jax_.forward_dynamics(TURNING, q, v, tau)

    def total(tau):
        return (function(q, v, tau) ** 2).sum()

    close(jax.grad(jax.checkpoint(total))(tau), jax.grad(total)(tau))
    assert jax.eval_shape(function, q, v, tau).shape == v.shape
    donated = jax.jit(function, donate_argnums=1)(q, jnp.array(v), tau)
    assert np.array_equal(donated, tf.forward_dynamics(TURNING, q, v, tau))


def test_float32_gradients_without_x64():
    q, v, tau = calls(TURNING, (3,))["forward_dynamics"]
    wanted = tf.forward_dynamics_vjp(TURNING, q, v, tau, np.ones_like(v))
    with precision(False):
        gradients = jax.grad(lambda *x: jax_.forward_dynamics(TURNING, *x).sum(), (1, 2))(
            *(jnp.asarray(x) for x in (q, v, tau))
        )
        assert {x.dtype for x in gradients} == {np.dtype(np.float32)}
        close(gradients, (wanted.v, wanted.tau), 1e-4)


def test_derivatives_that_do_not_exist_name_the_function():
    q, v, *_ = random_case(TURNING, 0)
    with pytest.raises(NotImplementedError, match="second derivatives of frame_velocity are not available"):
        jax.hessian(lambda v: jax_.frame_velocity(TURNING, q * v.sum(), v, "j0").sum())(v)


def test_threads_call_one_compiled_function():
    q, v, tau = calls(TURNING, (64,))["forward_dynamics"]
    wanted = tf.forward_dynamics(TURNING, q, v, tau)
    compiled = jax.jit(lambda *x: jax_.forward_dynamics(TURNING, *x))
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: np.asarray(compiled(q, v, tau)), range(200)))
    assert all(np.array_equal(each, wanted) for each in results)


def test_gradients_of_bad_states_are_nan_in_their_rows():
    q, v, tau = calls(TURNING, (3,))["forward_dynamics"]
    tau[1, 0] = np.inf
    gradient = np.asarray(jax.grad(lambda v: jax_.forward_dynamics(TURNING, q, v, tau).sum())(v))
    assert np.isnan(gradient[1]).any()
    assert np.isfinite(gradient[[0, 2]]).all()


SHARDS = """
import jax, numpy as np, treefactor as tf
from jax.sharding import Mesh, PartitionSpec as P
from treefactor.adapters import jax_
jax.config.update("jax_enable_x64", True)
body = tf.Inertia(1.0, [0.1, 0, -0.5], 0.1 * np.eye(3))
joints = [tf.Joint("a", "spherical", inertia=body)]
joints += [tf.Joint("b", "revolute", 0, axis=[0, 1, 0], inertia=body)]
model = tf.Model(joints)
rng = np.random.default_rng(0)
q, (v, tau) = tf.random_configuration(model, rng, size=(4,)), rng.normal(size=(2, 4, 4))
mesh, rows = Mesh(np.array(jax.devices()), ("batch",)), P("batch")
assert len(jax.devices()) == 2

def value(q, v, tau):
    return jax_.forward_dynamics(model, q, v, tau)

def total(q, v, tau):
    return (value(q, v, tau) ** 2).sum()

def sharded(function, *specs):
    return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=specs, out_specs=rows))

def compare(results, wanted):
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9), results, wanted)

wanted = tf.forward_dynamics(model, q, v, tau)
assert np.array_equal(sharded(value, rows, rows, rows)(q, v, tau), wanted)
assert np.array_equal(jax.pmap(value)(q[:2], v[:2], tau[:2]), wanted[:2])
gradient = jax.grad(total, (0, 1, 2))
compare(sharded(gradient, rows, rows, rows)(q, v, tau), jax.jit(gradient)(q, v, tau))
hessian = jax.vmap(jax.jacfwd(jax.grad(total, 1), 1))
compare(sharded(hessian, rows, rows, rows)(q, v, tau), jax.jit(hessian)(q, v, tau))

def shared(v):  # the same velocity in all shards, whose gradients are summed
    return (sharded(lambda q, v, tau: value(q, v, tau), rows, P(), rows)(q, v, tau) ** 2).sum()

compare(jax.jit(jax.grad(shared))(v[0]), jax.jit(gradient)(q, np.broadcast_to(v[0], v.shape), tau)[1].sum(0))

def last(tau):
    return jax_.rollout(model, q, v, tau, 0.01, steps=3)[0][:, -1].sum()

def pushed(q, v, tau):
    return jax.grad(lambda tau: jax_.rollout(model, q, v, tau, 0.01, steps=3)[0][:, -1].sum())(tau)

compare(sharded(pushed, rows, rows, rows)(q, v, tau), jax.jit(jax.grad(last))(tau))
print("equal")
"""


def test_shards_on_two_devices():
    if not hasattr(jax, "shard_map"):
        pytest.skip("this version of JAX has no jax.shard_map")
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "PATH": ""}
    flags["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"
    done = subprocess.run(
        [sys.executable, "-c", SHARDS], env=flags, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.stdout.strip() == "equal", done.stderr
