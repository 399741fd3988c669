"""Streams write files block by block, with executors, on full disks and in killed processes."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS, arguments

import treefactor as tf

MODEL = MODELS["freeflyer"]
ROWS = 103
KERNELS = tf.compile(tf.generate(MODEL, ["rnea"], variants=["plain"]))
Q, V, A, _ = arguments(MODEL, 0, (ROWS,))
EXPECTED = KERNELS.rnea(Q, V, A)


@pytest.mark.parametrize("rows", [1, 7, 64, ROWS, 1000])
def test_blocks_change_no_bit(tmp_path, rows):
    tau = tf.stream(tmp_path / "tau.npy", KERNELS.rnea, Q, V, A, rows=rows)
    assert isinstance(tau, np.memmap)
    assert not tau.flags.writeable
    np.testing.assert_array_equal(tau, EXPECTED)
    np.testing.assert_array_equal(np.load(tmp_path / "tau.npy"), EXPECTED)
    assert os.listdir(tmp_path) == ["tau.npy"]


@pytest.mark.parametrize("function", [partial(tf.crba, MODEL), partial(tf.crba, MODEL, layout="packed")])
def test_results_of_any_shape(tmp_path, function):
    np.testing.assert_array_equal(tf.stream(tmp_path / "H.npy", function, Q, rows=10), function(Q))


def test_rollouts_and_steps_take_two_files(tmp_path):
    files = tmp_path / "q.npy", tmp_path / "v.npy"
    tau = 0.1 * np.stack([A, -A, A], axis=1)
    expected = tf.rollout(MODEL, Q, V, tau, 0.01)
    for pool in (None, ThreadPoolExecutor(2)):
        motion = tf.stream(files, partial(tf.rollout, MODEL, h=0.01), Q, V, tau, rows=16, executor=pool)
        for own, wanted in zip(motion, expected, strict=True):
            np.testing.assert_array_equal(own, wanted)
    kernels = tf.compile(MODEL, ["forward_dynamics"])
    states = tf.stream(files, partial(kernels.step, h=0.01), Q, V, A, rows=16)
    for own, wanted in zip(states, kernels.step(Q, V, A, 0.01), strict=True):
        np.testing.assert_array_equal(own, wanted)
    assert sorted(os.listdir(tmp_path)) == ["q.npy", "v.npy"]


@pytest.mark.parametrize("workers", [None, ThreadPoolExecutor, ProcessPoolExecutor])
def test_kinematics_take_their_frames_by_name(tmp_path, workers):
    jacobian = partial(tf.frame_jacobian, MODEL, frame="j6", reference="WORLD", layout="packed")
    velocity = partial(tf.frame_velocity, MODEL, frame=["j6", "j2"])
    request = tf.Kinematics(MODEL, velocities=["j6"], center_of_mass=True)
    with workers(2) if workers else nullcontext() as pool:
        for function, arrays in ((jacobian, (Q,)), (velocity, (Q, V))):
            streamed = tf.stream(tmp_path / "x.npy", function, *arrays, rows=40, executor=pool)
            np.testing.assert_array_equal(streamed, function(*arrays))
        for many in (request, partial(tf.all_terms, MODEL)):
            expected = many(Q, V)
            files = tuple(tmp_path / f"{k}.npy" for k in range(len(expected)))
            streamed = tf.stream(files, many, Q, V, rows=40, executor=pool)
            for own, wanted in zip(streamed, expected, strict=True):
                np.testing.assert_array_equal(own, wanted)


@pytest.mark.parametrize("workers", [None, ThreadPoolExecutor])
def test_inertias_are_passed_block_by_block(tmp_path, workers):
    rng = np.random.default_rng(0)
    pi = MODEL.parameters * rng.uniform(0.5, 2.0, (ROWS, MODEL.njoints, 1))
    rotors = rng.uniform(0.1, 0.2, (ROWS, MODEL.nv))
    np.save(tmp_path / "pi.npy", pi)
    forms = (
        *(pi, pi[0], np.load(tmp_path / "pi.npy", mmap_mode="r")),
        *(tf.Inertias(MODEL, pi, rotors), tf.Inertias(MODEL, pi, rotors[0]), tf.Inertias(MODEL, pi[0])),
        tf.Inertias(MODEL, pi[:7], rotors[:7], rng.integers(0, 7, ROWS)),
    )
    with workers(2) if workers else nullcontext() as pool:
        for inertias in forms:
            expected = tf.aba(MODEL, Q, V, A, inertias=inertias)
            function = partial(tf.aba, MODEL)
            qdd = tf.stream(tmp_path / "a.npy", function, Q, V, A, rows=12, executor=pool, inertias=inertias)
            np.testing.assert_array_equal(qdd, expected)


def test_inertias_of_other_lengths_are_refused(tmp_path):
    pi = np.stack([MODEL.parameters] * (ROWS - 1))
    for inertias in (pi, tf.Inertias(MODEL, pi)):
        with pytest.raises(tf.ShapeError, match="differ in length"):
            tf.stream(tmp_path / "H.npy", partial(tf.crba, MODEL), Q, inertias=inertias)


def test_numbers_of_files(tmp_path):
    files = tmp_path / "q.npy", tmp_path / "v.npy"
    step = partial(tf.step, MODEL, h=0.01)
    with pytest.raises(ValueError, match="returned 2 arrays: path must be a tuple"):
        tf.stream(files[0], step, Q, V, A)
    with pytest.raises(ValueError, match="must return a tuple of 2 arrays, one for each file; got a ndarray"):
        tf.stream(files, KERNELS.rnea, Q, V, A)
    with pytest.raises(ValueError, match="tuple of different files"):
        tf.stream((files[0], files[0]), step, Q, V, A)
    with pytest.raises(ValueError, match="tuple of different files"):
        tf.stream((), step, Q, V, A)
    assert os.listdir(tmp_path) == []


def test_no_rows(tmp_path):
    tau = tf.stream(tmp_path / "tau.npy", KERNELS.rnea, Q[:0], V[:0], A[:0])
    assert tau.shape == (0, MODEL.nv)


def test_arguments_may_be_files(tmp_path):
    for name, array in {"q": Q, "v": V, "a": A}.items():
        np.save(tmp_path / f"{name}.npy", array)
    given = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "qva"]
    np.testing.assert_array_equal(tf.stream(tmp_path / "tau.npy", KERNELS.rnea, *given, rows=20), EXPECTED)


def test_executors(tmp_path):
    for pool in (ThreadPoolExecutor(3), ProcessPoolExecutor(2, mp_context=get_context("spawn"))):
        with pool:
            tau = tf.stream(tmp_path / "tau.npy", KERNELS.rnea, Q, V, A, rows=10, executor=pool)
        np.testing.assert_array_equal(tau, EXPECTED)


def test_no_more_blocks_are_under_way_than_are_needed(tmp_path):
    begun, written = [], []

    def work(x):
        begun.append(len(x))
        written.append((tmp_path / "x.npy").exists())
        return x

    class Lazy(ThreadPoolExecutor):
        most = 0

        def submit(self, *arguments):
            future = super().submit(*arguments)
            self.under_way.append(future)
            self.most = max(self.most, sum(not f.done() for f in self.under_way))
            return future

    with Lazy(1) as pool, pytest.MonkeyPatch.context() as patch:
        pool.under_way = []
        patch.setattr("treefactor.streams.ship", lambda function: function)
        patch.setattr("treefactor.streams.call", lambda function, *blocks: function(*blocks))
        patch.setattr("treefactor.streams.available_cores", lambda: 2)
        tf.stream(tmp_path / "x.npy", work, np.zeros((50, 1)), rows=1, executor=pool)
    assert begun == [1] * 50
    assert pool.most <= 5
    assert not any(written)


def test_a_bar(tmp_path, capsys):
    tf.stream(tmp_path / "tau.npy", KERNELS.rnea, Q, V, A, rows=10, progress=True)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "100%" in printed.err


class BrokenError(Exception):
    pass


def failing(x):
    if x[0, 0] >= 5:
        raise BrokenError
    return x


def growing(x):
    return x if x[0, 0] < 5 else x[:, :1]


@pytest.mark.parametrize(
    ("function", "options", "error"),
    [
        (failing, {}, BrokenError),
        (growing, {}, tf.ShapeError),
        (lambda x: x.sum(), {}, tf.ShapeError),
        (lambda x: x.astype(np.float32 if x[0, 0] else float), {}, tf.ShapeError),
        (failing, {"rows": 0}, ValueError),
    ],
)
@pytest.mark.parametrize("threads", [0, 2])
def test_what_fails_leaves_the_older_file(tmp_path, monkeypatch, function, options, error, threads):
    (tmp_path / "x.npy").write_bytes(b"older")
    x = np.arange(20.0).reshape(10, 2)
    options = {"rows": 1, **options}
    monkeypatch.setattr("treefactor.streams.ship", lambda function: function)
    monkeypatch.setattr("treefactor.streams.call", lambda function, *blocks: function(*blocks))
    with ThreadPoolExecutor(2) as pool, pytest.raises(error):
        tf.stream(tmp_path / "x.npy", function, x, executor=pool if threads else None, **options)
    assert os.listdir(tmp_path) == ["x.npy"]
    assert (tmp_path / "x.npy").read_bytes() == b"older"


def test_arguments_of_different_lengths(tmp_path):
    with pytest.raises(tf.ShapeError, match="differ in length"):
        tf.stream(tmp_path / "x.npy", KERNELS.rnea, Q, V[:5], A)
    with pytest.raises(tf.ShapeError, match="differ in length"):
        tf.stream(tmp_path / "x.npy", KERNELS.rnea)


# --------------------------------------------------------------------------------------- disks and processes

LIMITED = """
import resource, sys, numpy as np, treefactor as tf
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    tf.stream(sys.argv[1], lambda x: x, np.zeros((1000, 10)), rows=10)
except tf.TreefactorError as error:
    print(error.__cause__.errno)
"""
SLOW = """
import sys, time, numpy as np, treefactor as tf
def slow(x):
    print("block", flush=True)
    time.sleep(0.05)
    return x + float(sys.argv[2])
tf.stream(sys.argv[1], slow, np.zeros((100, 10)), rows=int(sys.argv[3]))
"""


def start(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )


def test_a_full_disk(tmp_path):
    (tmp_path / "x.npy").write_bytes(b"older")
    printed, _ = start(LIMITED, tmp_path / "x.npy").communicate(timeout=100)
    assert int(printed) == errno.EFBIG
    assert os.listdir(tmp_path) == ["x.npy"]
    assert (tmp_path / "x.npy").read_bytes() == b"older"


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(tf.TreefactorError, match=r"cannot write .*No such file"):
        tf.stream(tmp_path / "no" / "x.npy", failing, np.zeros((1, 1)))


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for the superuser")
def test_a_folder_that_is_read_only(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(tf.TreefactorError, match=r"cannot write .*denied"):
        tf.stream(tmp_path / "x.npy", failing, np.zeros((1, 1)))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize("kind", ["device", "link to a device", "full device", "pipe"])
def test_a_path_that_is_not_a_regular_file(tmp_path, kind):
    """A pipe is refused: its result could not be read back, and it would wait for a reader forever."""
    path = {"device": Path(os.devnull), "full device": Path("/dev/full")}.get(kind, tmp_path / "x")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link to a device":
        path.symlink_to(os.devnull)
    if not path.exists():
        pytest.skip("this system has no /dev/full")
    called = []
    with pytest.raises(tf.TreefactorError, match=f"cannot write {path}: not a regular file"):
        tf.stream(path, called.append, Q)
    assert called == []
    assert len(os.listdir(tmp_path)) == (not path.is_absolute() or path.parent == tmp_path)


def test_a_process_that_is_killed_leaves_the_older_file(tmp_path):
    (tmp_path / "x.npy").write_bytes(b"older")
    with start(SLOW, tmp_path / "x.npy", 1, 1) as process:
        for _ in range(3):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    assert (tmp_path / "x.npy").read_bytes() == b"older"
    assert all(name == "x.npy" or name.startswith(".x.") for name in os.listdir(tmp_path))
    np.testing.assert_array_equal(tf.stream(tmp_path / "x.npy", failing, np.zeros((3, 1))), np.zeros((3, 1)))


def test_two_processes_at_once_leave_one_whole_file(tmp_path):
    path = tmp_path / "x.npy"
    seen = set()
    with start(SLOW, path, 1, 20) as one, start(SLOW, path, 2, 20) as other:
        while one.poll() is None or other.poll() is None:
            if path.exists():
                seen |= set(np.unique(np.load(path)).tolist())
            time.sleep(0.01)
    assert (one.returncode, other.returncode) == (0, 0)
    content = np.load(path)
    assert content.shape == (100, 10)
    assert np.unique(content).tolist() in ([1.0], [2.0])
    assert seen <= {1.0, 2.0}
    assert os.listdir(tmp_path) == ["x.npy"]
