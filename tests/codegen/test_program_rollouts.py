"""Steps and rollouts of generated programs equal those of the recursions, with every backend."""

import pickle
import shutil

import numpy as np
import pytest
from helpers.dynamics_cases import arguments
from helpers.interp_cases import MODELS

import treefactor as tf
from treefactor import Inertia, Joint

H, STEPS = 0.01, 4
METHODS = ("semi_implicit_euler", "rk4")
ROBOTS = ("all kinds", "freeflyer", "followers", "one")

pytestmark = pytest.mark.isa


@pytest.fixture(
    params=[
        "interp",
        pytest.param("cc", marks=pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")),
        "llvm",
        "numpy",
    ]
)
def backend(request):
    if request.param == "llvm":
        pytest.importorskip("llvmlite")
    return request.param


def given(model, count):
    q, v, _, _ = arguments(model, 0, (count,))
    return q, 0.3 * v, 0.3 * np.random.default_rng(1).normal(size=(count, STEPS, model.nv))


def assert_motions(own, expected):
    for states, wanted in zip(own, expected, strict=True):
        assert states.shape == wanted.shape
        scale = 1e-12 * max(1.0, np.abs(wanted).max(initial=0.0))
        np.testing.assert_allclose(states, wanted, rtol=0, atol=scale)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ROBOTS)
def test_rollouts_equal_those_of_the_recursions(name, method, backend):
    model = MODELS[name]
    q, v, tau = given(model, 3 if backend == "numpy" else 93)  # blocks of 64, 16, 8 and fewer
    kernels = tf.compile(model, ["forward_dynamics"], backend)
    expected = tf.rollout(model, q, v, tau, H, method=method)
    own = kernels.rollout(q, v, tau, H, method=method)
    assert_motions(own, expected)
    assert_motions(kernels.rollout(q[2], v[2], tau[2], H, method=method), [x[2] for x in expected])
    for k, count in enumerate((1, 8, 16, 64) if len(q) > 64 else (1, 2)):
        part = slice(k, k + count)
        some = kernels.rollout(q[part], v[part], tau[part], H, method=method, num_threads=2)
        for states, wanted in zip(some, own, strict=True):
            np.testing.assert_array_equal(states, wanted[part])
    state = q.copy(), v.copy()
    for t in range(STEPS):
        kernels.step(*state, tau[:, t], H, method, out=state)
    for states, wanted in zip(state, own, strict=True):
        np.testing.assert_array_equal(states, wanted[:, -1])


def test_what_is_not_finite_stays_in_its_motion(backend):
    model = MODELS["freeflyer"]
    q, v, tau = given(model, 70)
    kernels = tf.compile(model, ["aba"], backend)
    expected = kernels.rollout(q, v, tau, H)
    spoiled = {3: 2, 65: 0}
    tau[3, 2, 1], q[65, 4] = np.nan, 3.0
    for own, wanted in zip(kernels.rollout(q, v, tau, H), expected, strict=True):
        for k in range(len(q)):
            good = spoiled.get(k, STEPS)
            np.testing.assert_array_equal(own[k, 1 : good + 1], wanted[k, 1 : good + 1])
            assert np.isnan(own[k, good + 1 :]).all()


def test_a_pivot_that_fails(backend):
    slide = Joint("slide", "prismatic", 0, axis=[1, 0, 0], inertia=Inertia(1.0, [0, 0, 0], np.zeros((3, 3))))
    model = tf.Model([Joint("turn", "revolute", axis=[0, 0, 1]), slide], (0.0, 0.0, 0.0))
    kernels = tf.compile(model, ["forward_dynamics"], backend)
    with pytest.raises(tf.NotPositiveDefiniteError, match=r"^step 4: freedom 0 \(turn\) moves no mass"):
        kernels.rollout([0.3, -0.5], [0.0, 1.0], None, 0.125, 6)
    q, _ = kernels.rollout([[0.3, -0.5], [0.3, -2.0]], [0.0, 1.0], None, 0.125, 6)
    np.testing.assert_array_equal(np.isnan(q).any(-1), [[False] * 5 + [True] * 2, [False] * 7])


def test_what_programs_need():
    model = MODELS["one"]
    kernels = tf.compile(model, ["bias"])
    with pytest.raises(tf.CodegenError, match="need 'forward_dynamics' or 'aba', got bias"):
        kernels.step([0.0], [0.0], [0.0], H)
    kernels = tf.compile(tf.generate(model, ["aba"]))
    with pytest.raises(tf.CodegenError, match="need the joints of a Model"):
        kernels.rollout([0.0], [0.0], [[0.0]], H)


def test_bound_calls(backend):
    model = MODELS["freeflyer"]
    q, v, tau = (x[0].copy() for x in given(model, 1))
    kernels = tf.compile(model, ["forward_dynamics"], backend)
    expected = kernels.rollout(q, v, tau, H)
    out = np.empty_like(expected[0]), np.empty_like(expected[1])
    assert kernels.bind("rollout", q, v, tau, H, out=out)() is out
    state, force = (q, v), np.empty(model.nv)
    call = kernels.bind("step", *state, force, H, out=state)
    for t in range(STEPS):
        force[:] = tau[t]
        assert call() is state
    for own, last, wanted in zip(out, state, expected, strict=True):
        np.testing.assert_array_equal(own, wanted)
        np.testing.assert_array_equal(last, wanted[-1])
    q[3:7] *= 2.0
    with pytest.raises(tf.ConfigurationError):
        call()


def test_pickled_kernels_roll_out():
    model = MODELS["freeflyer"]
    q, v, tau = given(model, 3)
    kernels = tf.compile(model, ["forward_dynamics"])
    expected = kernels.rollout(q, v, tau, H)
    for own, wanted in zip(pickle.loads(pickle.dumps(kernels)).rollout(q, v, tau, H), expected, strict=True):
        np.testing.assert_array_equal(own, wanted)
