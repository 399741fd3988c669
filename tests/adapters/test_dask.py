"""Test that dynamics of dask arrays equal the local call, also when a worker process is killed."""

import os
import pickle
import signal
import time
from functools import partial

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS, arguments

import treefactor as tf

da = pytest.importorskip("dask.array", reason="Dask is not installed")

from treefactor.adapters.dask_ import map_dynamics, map_function, map_rollout, map_step  # noqa: E402

MODEL = MODELS["freeflyer"]
PROGRAM = tf.generate(MODEL, ["forward_dynamics"], variants=["plain"])
Q, V, A, _ = arguments(MODEL, 0, (6, 35))
EXPECTED = tf.compile(PROGRAM).forward_dynamics(Q, V, A)


def chunked(*arrays, chunks=((4, 2), (20, 1, 14))):
    return [da.from_array(x, chunks=(*chunks, 3)) for x in arrays]


@pytest.mark.parametrize("given", [MODEL, PROGRAM], ids=["model", "program"])
def test_it_equals_the_local_call(given):
    lazy = map_dynamics(given, *chunked(Q, V, A))
    assert (lazy.shape, lazy.dtype) == (EXPECTED.shape, EXPECTED.dtype)
    assert lazy.chunks == ((4, 2), (20, 1, 14), (MODEL.nv,))
    expected = tf.compile(given, ["forward_dynamics"]).forward_dynamics(Q, V, A)
    np.testing.assert_array_equal(lazy.compute(scheduler="threads"), expected)


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4"])
def test_motions_equal_the_local_call(method):
    kernels = tf.compile(MODEL, ["forward_dynamics"])
    tau = 0.1 * np.stack([A, -A], axis=2)
    forces = da.from_array(tau, chunks=((4, 2), (20, 1, 14), 1, 12))
    for lazy, expected in (
        (map_step(MODEL, *chunked(Q, V, A), 0.01, method), kernels.step(Q, V, A, 0.01, method)),
        (
            map_rollout(MODEL, *chunked(Q, V), forces, 0.01, method),
            kernels.rollout(Q, V, tau, 0.01, method=method),
        ),
    ):
        for array, wanted in zip(lazy, expected, strict=True):
            assert (array.shape, array.dtype) == (wanted.shape, wanted.dtype)
            assert array.chunks[:2] == ((4, 2), (20, 1, 14))
            np.testing.assert_array_equal(array.compute(scheduler="sync"), wanted)


@pytest.mark.parametrize(
    ("function", "arrays", "options"),
    [
        (tf.frame_placement, 1, {"frame": ["j1", "j6"]}),
        (tf.frame_velocity, 2, {"frame": "j6", "reference": "WORLD"}),
        (tf.frame_acceleration, 3, {"frame": "j6"}),
        (tf.center_of_mass, 1, {"root": "j2"}),
        (tf.kinetic_energy, 2, {}),
        (tf.crba, 1, {"layout": "packed"}),
    ],
)
def test_functions_equal_the_local_call(function, arrays, options):
    expected = function(MODEL, *(Q, V, A)[:arrays], **options)
    lazy = map_function(function, MODEL, *chunked(Q, V, A)[:arrays], **options)
    assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
    assert lazy.chunks[:2] == ((4, 2), (20, 1, 14))
    np.testing.assert_array_equal(lazy.compute(scheduler="threads"), expected)


def different(model, shape, armature=True):
    """Return inertias for a batch, a set for each element."""
    rng = np.random.default_rng(3)
    pi = model.parameters * rng.uniform(0.5, 2.0, (*shape, model.njoints, 1))
    rotors = model.armature + rng.uniform(0.0, 0.1, (*shape, model.nv))
    return tf.Inertias(model, pi, rotors if armature else None)


def inertias_of_every_form():
    sets, one = different(MODEL, (5,)), different(MODEL, ())
    which = np.random.default_rng(4).integers(0, 5, Q.shape[:2])
    each = different(MODEL, Q.shape[:2])
    yield from (each, different(MODEL, Q.shape[:2], armature=False), each.parameters, one, one.parameters)
    yield tf.Inertias(MODEL, sets.parameters, sets.armature, which)
    yield tf.Inertias(MODEL, each.parameters, one.armature)


@pytest.mark.parametrize("inertias", list(inertias_of_every_form()))
def test_inertias_are_chunked_with_the_states(inertias):
    for function, arrays in ((tf.crba, (Q,)), (tf.bias, (Q, V)), (tf.forward_dynamics, (Q, V, A))):
        expected = function(MODEL, *arrays, inertias=inertias)
        array = map_function(function, MODEL, *chunked(*arrays), inertias=inertias)
        assert array.chunks[:2] == ((4, 2), (20, 1, 14))
        np.testing.assert_array_equal(array.compute(scheduler="threads"), expected)
    qdd = map_dynamics(MODEL, *chunked(Q, V, A), inertias=inertias).compute(scheduler="sync")
    np.testing.assert_array_equal(qdd, expected)
    tau = 0.1 * np.stack([A, -A], axis=2)
    for lazy, wanted in (
        (
            map_step(MODEL, *chunked(Q, V, A), 0.01, inertias=inertias),
            tf.step(MODEL, Q, V, A, 0.01, inertias=inertias),
        ),
        (
            map_rollout(MODEL, *chunked(Q, V), tau, 0.01, "rk4", inertias=inertias),
            tf.rollout(MODEL, Q, V, tau, 0.01, method="rk4", inertias=inertias),
        ),
    ):
        for one, own in zip(lazy, wanted, strict=True):
            np.testing.assert_array_equal(one.compute(scheduler="sync"), own)


def test_inertias_may_be_a_dask_array():
    pi = different(MODEL, Q.shape[:2]).parameters
    lazy = map_function(tf.crba, MODEL, *chunked(Q), inertias=da.from_array(pi, chunks=(3, 35, 1, 5)))
    np.testing.assert_array_equal(lazy.compute(scheduler="sync"), tf.crba(MODEL, Q, inertias=pi))


def test_inertias_that_do_not_fit_are_refused():
    pi = different(MODEL, Q.shape[:2]).parameters
    with pytest.raises(tf.ShapeError, match="inertias must have shape"):
        map_function(tf.crba, MODEL, Q, inertias=pi[1:])
    with pytest.raises(TypeError, match=r"model must be a treefactor\.Model, got Program"):
        map_dynamics(PROGRAM, Q, V, A, inertias=pi)


def test_functions_that_cannot_be_mapped_are_refused():
    q, v, _ = chunked(Q, V, A)
    with pytest.raises(ValueError, match="returns 13 arrays"):
        map_function(tf.all_terms, MODEL, q, v)
    with pytest.raises(ValueError, match="expected one to three arrays"):
        map_function(tf.crba, MODEL)
    with pytest.raises(tf.ShapeError, match="v must have shape"):
        map_function(tf.bias, MODEL, q, v[..., :3])
    with pytest.raises(tf.InvalidModelError, match="'tool' is not a frame"):
        map_function(tf.frame_placement, MODEL, q, frame="tool")


def test_kernels_for_gpus_are_refused():
    with pytest.raises(ValueError, match="backend must be one of"):
        map_dynamics(PROGRAM, Q, V, A, backend="cuda")
    with pytest.raises(ValueError, match="backend must be one of"):
        map_step(MODEL, Q, V, A, 0.01, backend="cuda")


def test_motions_that_do_not_fit_are_refused():
    with pytest.raises(tf.ShapeError, match=r"tau must have shape"):
        map_rollout(MODEL, Q, V, A[..., :5], 0.01)
    with pytest.raises(tf.ShapeError, match=r"tau must have shape"):
        map_step(MODEL, Q, V, A[:2], 0.01)
    with pytest.raises(ValueError, match="method must be one of"):
        map_step(MODEL, Q, V, A, 0.01, "euler")


def test_chunks_may_differ():
    q, _, _ = chunked(Q, V, A)
    v = da.from_array(V, chunks=(1, 35, 12))
    np.testing.assert_array_equal(map_dynamics(PROGRAM, q, v, A).compute(scheduler="sync"), EXPECTED)


def test_a_configuration_without_solution_is_nan():
    Q_bad = Q.copy()
    Q_bad[0, 3, 6] = 9.0  # no unit quaternion
    kernels = tf.compile(MODEL, ["forward_dynamics"])
    qdd = map_dynamics(MODEL, *chunked(Q_bad, V, A)).compute(scheduler="sync")
    np.testing.assert_array_equal(qdd, kernels.forward_dynamics(Q_bad, V, A))
    assert np.isnan(qdd[0, 3]).all()


@pytest.mark.parametrize(
    "bad", [(Q[..., :3], V, A), (Q, V[:2], A), (Q, V, A[..., :1]), (Q[0, 0], V[0, 0], A[0, 0])]
)
def test_what_does_not_fit_is_refused(bad):
    with pytest.raises(tf.ShapeError):
        map_dynamics(PROGRAM, *bad)


def test_a_program_without_the_function_is_refused():
    with pytest.raises(tf.CodegenError, match="forward_dynamics"):
        map_dynamics(tf.generate(MODEL, ["crba"], variants=["plain"]), Q, V, A)


def test_a_worker_makes_the_program_ready_once(monkeypatch):
    made = []
    init = tf.Kernels.__init__
    monkeypatch.setattr(tf.Kernels, "__init__", lambda self, *given: made.append(1) or init(self, *given))
    lazy = map_dynamics(tf.generate(MODEL, ["forward_dynamics"], variants=["frames"]), *chunked(Q, V, A))
    made.clear()
    lazy.compute(scheduler="sync")
    assert len(made) == 1


def noted(folder, x):
    """Write a file for the chunk that is computed, wait, and return the same."""
    with open(os.path.join(folder, f"{os.getpid()}-{time.monotonic_ns()}"), "w"):
        time.sleep(0.1)
    return x


@pytest.mark.slow
def test_nothing_is_lost_with_a_worker(tmp_path):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        chunks = ((1,) * 6, (7,) * 5)
        q = chunked(Q, chunks=chunks)[0].map_blocks(partial(noted, str(tmp_path)), meta=np.empty((0, 0, 0)))
        lazy = map_dynamics(PROGRAM, q, *chunked(V, A, chunks=chunks))
        future = client.compute(lazy)
        victims = set()
        while len(victims) < 2 or len(os.listdir(tmp_path)) < 6:  # both at work
            victims = {int(name.partition("-")[0]) for name in os.listdir(tmp_path)}
            time.sleep(0.01)
        os.kill(min(victims), signal.SIGKILL)
        result = future.result(timeout=60)
    np.testing.assert_array_equal(result, EXPECTED)
    assert result.shape == EXPECTED.shape
    assert min(victims) in {int(name.partition("-")[0]) for name in os.listdir(tmp_path)}


def test_what_is_sent_is_small():
    assert len(pickle.dumps(tf.compile(PROGRAM))) < 2 * len(pickle.dumps(PROGRAM))
