"""Steps and rollouts in float32: accuracy, equal bits wherever a motion stands, and what they refuse."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from helpers.generated_models import robot
from helpers.interp_cases import MODELS
from helpers.precisions import BACKENDS, states

import treefactor as tf
from treefactor.exceptions import ConfigurationError, DtypeError, NotPositiveDefiniteError, ShapeError

METHODS = ("semi_implicit_euler", "rk4")
H, STEPS = 1e-3, 50

pytestmark = pytest.mark.isa


@pytest.fixture(params=BACKENDS)
def backend(request):
    return request.param


def assert_same(own, expected) -> None:
    for motion, wanted in zip(own, expected, strict=True):
        assert motion.dtype == np.float32
        np.testing.assert_array_equal(motion, wanted)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["ur5_robot", "solo12"])
def test_errors_after_fifty_steps_are_those_of_rounding(name, method, backend):
    if (name, backend) == ("solo12", "numpy"):
        pytest.skip("slow")
    model, _ = robot(name)
    q, v, tau = states(model, 20 if backend == "numpy" else 150, steps=(STEPS,))
    exact = tf.rollout(model, q.astype(float), v.astype(float), tau.astype(float), H, method=method)
    computed = tf.compile(model, ["forward_dynamics"], backend, dtype=np.float32).rollout(
        q, v, tau, H, method=method
    )
    for motion, wanted, median, most in zip(computed, exact, (2.5e-7, 8e-7), (1e-6, 4e-5), strict=True):
        assert motion.dtype == np.float32
        assert motion.shape == wanted.shape
        error = np.linalg.norm(motion - wanted, axis=-1) / np.linalg.norm(wanted, axis=-1)
        assert np.median(error[:, -1]) < median
        assert error.max() < most
    if model.nq > model.nv:
        assert np.abs(np.linalg.norm(computed[0][..., 3:7].astype(float), axis=-1) - 1.0).max() < 1.5e-7


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["all kinds", "freeflyer", "followers", "one"])
def test_every_kind_of_joint(name, method, backend):
    model = MODELS[name]
    q, v, tau = states(model, 21, steps=(4,))
    v *= np.float32(0.3)
    exact = tf.rollout(model, q.astype(float), v.astype(float), tau.astype(float), 0.01, method=method)
    computed = tf.compile(model, ["forward_dynamics"], backend, dtype=np.float32).rollout(
        q, v, tau, 0.01, method=method
    )
    for motion, wanted in zip(computed, exact, strict=True):
        assert motion.dtype == np.float32
        np.testing.assert_allclose(motion, wanted, rtol=0, atol=3e-6 * max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize("method", METHODS)
def test_a_motion_has_the_same_bits_wherever_it_stands(method, backend):
    if backend == "numpy":
        pytest.skip("NumPy's sines may differ by the place in an array")
    model = MODELS["all kinds"]
    q, v, tau = states(model, 131, steps=(3,))
    kernels = tf.compile(model, ["forward_dynamics"], backend, dtype=np.float32)
    whole = kernels.rollout(q, v, tau, H, method=method)
    for first, count in ((0, 1), (3, 8), (1, 15), (5, 16), (2, 17), (40, 33), (0, 64)):
        part = slice(first, first + count)
        some = kernels.rollout(q[part], v[part], tau[part], H, method=method, num_threads=2)
        assert_same(some, [x[part] for x in whole])
    assert_same(kernels.rollout(q, v, tau, H, method=method, num_threads=2), whole)
    strided = [np.asfortranarray(q), np.repeat(v, 2, axis=1)[:, ::2], tau.transpose(1, 2, 0).copy()]
    assert_same(kernels.rollout(*strided[:2], strided[2].transpose(2, 0, 1), H, method=method), whole)
    assert_same(kernels.rollout(q[77], v[77], tau[77], H, method=method), [x[77] for x in whole])
    state = q.copy(), v.copy()
    for t in range(3):
        assert kernels.step(*state, tau[:, t], H, method, out=state) is state
    assert_same(state, [x[:, -1] for x in whole])
    alike = kernels.rollout(q, v, tau[:, 0], H, 3, method)
    assert_same(alike, kernels.rollout(q, v, np.repeat(tau[:, :1], 3, axis=1), H, method=method))
    copied = pickle.loads(pickle.dumps(kernels))
    assert_same(copied.rollout(q, v, tau, H, method=method), whole)
    assert_same(kernels.rollout(q.tolist(), v, tau, H, method=method), whole)


def test_bound_calls_write_into_arrays_of_float32():
    model = MODELS["freeflyer"]
    q, v, tau = (x[0].copy() for x in states(model, 1, steps=(4,)))
    kernels = tf.compile(model, ["forward_dynamics"], dtype=np.float32)
    expected = kernels.rollout(q, v, tau, H)
    out = tuple(map(np.empty_like, expected))
    assert kernels.bind("rollout", q, v, tau, H, out=out)() is out
    memory = np.concatenate([q, v])  # positions and velocities side by side
    state, force = (memory[: model.nq], memory[model.nq :]), np.empty(model.nv, np.float32)
    call = kernels.bind("step", *state, force, H, out=state)
    for t in range(4):
        force[:] = tau[t]
        call()
    assert_same(out, expected)
    assert_same(state, [x[-1] for x in expected])
    assert_same(kernels.step(q, v, tau[0], H), [x[1] for x in expected])
    with pytest.raises(ValueError, match=r"NumPy array of float32 to be bound, got float64"):
        kernels.bind("step", q.astype(float), v, force, H, out=state)


def test_what_is_not_finite_stays_in_its_motion(backend):
    model = MODELS["freeflyer"]
    q, v, tau = states(model, 70, steps=(4,))
    kernels = tf.compile(model, ["aba"], backend, dtype=np.float32)
    expected = kernels.rollout(q, v, tau, H)
    spoiled = {3: 2, 18: 1, 65: 0, 69: 0}
    tau[3, 2, 1], tau[18, 1, 0], q[65, 4], v[69, 0] = np.nan, np.inf, 3.0, np.inf
    for own, wanted in zip(kernels.rollout(q, v, tau, H), expected, strict=True):
        for k in range(len(q)):
            good = spoiled.get(k, 4)
            np.testing.assert_array_equal(own[k, 1 : good + 1], wanted[k, 1 : good + 1])
            assert np.isnan(own[k, good + 1 :]).all()
    with pytest.raises(ConfigurationError):
        kernels.step(q[65], v[65], tau[65, 0], H)


def test_a_pivot_that_fails_is_named_with_its_step(backend):
    box = tf.Inertia(1.0, [0, 0, 0], np.zeros((3, 3)))
    slide = tf.Joint("slide", "prismatic", 0, axis=[1, 0, 0], inertia=box)
    model = tf.Model([tf.Joint("turn", "revolute", axis=[0, 0, 1]), slide], (0.0, 0.0, 0.0))
    kernels = tf.compile(model, ["forward_dynamics"], backend, dtype=np.float32)
    with pytest.raises(NotPositiveDefiniteError, match=r"^step 4: freedom 0 \(turn\) moves no mass"):
        kernels.rollout([0.3, -0.5], [0.0, 1.0], None, 0.125, 6)
    q, _ = kernels.rollout([[0.3, -0.5], [0.3, -2.0]], [0.0, 1.0], None, 0.125, 6)
    np.testing.assert_array_equal(np.isnan(q).any(-1), [[False] * 5 + [True] * 2, [False] * 7])


@pytest.mark.parametrize("name", ["q0", "v0", "tau"])
def test_other_dtypes_are_refused_with_the_remedy(name):
    model = MODELS["freeflyer"]
    given = dict(zip(("q0", "v0", "tau"), states(model, 4, steps=(3,)), strict=True))
    kernels = tf.compile(model, ["forward_dynamics"], dtype=np.float32)
    for dtype in (np.float64, np.float16, np.int64):
        with pytest.raises(
            DtypeError, match=rf"{name} must have dtype float32, got {np.dtype(dtype)}: convert"
        ):
            kernels.rollout(*(given | {name: given[name].astype(dtype)}).values(), H)
    out = np.empty((4, 4, model.nq)), np.empty((4, 4, model.nv), np.float32)
    with pytest.raises(DtypeError, match=r"out\[0\] must have dtype float32, got float64"):
        kernels.rollout(*given.values(), H, out=out)
    with pytest.raises(ShapeError):
        kernels.rollout(*(given | {name: given[name][..., :-1]}).values(), H)
    double = tf.compile(model, ["forward_dynamics"]).rollout(*given.values(), H)
    assert double[0].dtype == double[1].dtype == np.float64


def test_subnormal_numbers_are_zero_inside_and_as_before_outside():
    rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.01]))
    floating = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)], (0.0, 0.0, 0.0))
    q, tiny = np.ones((20, 1), np.float32), np.full((20, 1), 1e-40, np.float32)
    for backend in ("interp", "cc"):
        kernels = tf.compile(floating, ["forward_dynamics"], backend, dtype=np.float32)
        for start in (slice(None), 0):  # a batch, and one motion
            _, v = kernels.rollout(q[start], tiny[start], None, H, 2)
            assert not v.any()
            assert not kernels.step(q[start], tiny[start], np.zeros(1, np.float32), H)[1].any()
        assert tiny[0, 0] * np.float32(0.5) > 0
