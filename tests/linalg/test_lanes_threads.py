"""Test batches on threads: the same bits, several callers at once, forked processes, failing parts."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers.batch_results import DTYPES, TREES, assert_same, matrices, results, right_sides
from helpers.strategies import vectors

import treefactor as tf
from treefactor._util import threads as spreading
from treefactor._util.threads import spread

pytestmark = pytest.mark.wheel

kinds = pytest.mark.parametrize("kind", ["LTDL", "LTL"])
dtypes = pytest.mark.parametrize("dtype", DTYPES)
COUNTS = (0, 1, 9, 50)


def batch(name, count, dtype):
    """Return matrices of which half fail, right-hand sides and Jacobians."""
    tree = TREES[name]
    H = matrices(tree, count, dtype)
    H[count // 2 :, 0, 0] = -1
    return tree, H, right_sides(tree, count, None, dtype), vectors(3, count, 5, tree.n)


@pytest.mark.isa
@kinds
@dtypes
@pytest.mark.parametrize("num_threads", [2, 3, 5, 100, -1])
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", ["one", "random"])
def test_threads_change_no_bit(kind, dtype, num_threads, count, name):
    tree, H, b, J = batch(name, count, dtype)
    alone = tf.factor(H, tree, kind, shift=0.5, dtype=dtype)
    shared = tf.factor(H, tree, kind, shift=0.5, num_threads=num_threads, dtype=dtype)
    np.testing.assert_array_equal(shared.status, alone.status)
    assert_same(results(shared, b, J), results(alone, b, J))
    many = np.repeat(b[..., None], 3, axis=-1)
    assert_same(results(shared, many), results(alone, many))


@kinds
@dtypes
def test_several_callers_share_a_factor(kind, dtype):
    tree, H, b, J = batch("random", 50, dtype)
    f = tf.factor(H, tree, kind, num_threads=3, dtype=dtype)
    alone = results(f, b, J)
    with ThreadPoolExecutor(6) as pool:
        for shared in pool.map(lambda _: results(f, b, J), range(24)):
            assert_same(shared, alone)


def test_several_callers_make_factors():
    tree, H, b, J = batch("random", 50, float)
    alone = results(tf.factor(H, tree), b, J)
    with ThreadPoolExecutor(6) as pool:
        for own in pool.map(lambda _: results(tf.factor(H, tree, num_threads=3), b, J), range(24)):
            assert_same(own, alone)


FORKING = """
import os, numpy as np, treefactor as tf
tree = tf.families.random_tree(30, 1)
H = np.eye(30) * np.linspace(1, 2, 200)[:, None, None]
f = tf.factor(H, tree, num_threads=4)
before = f.inverse()
def same():
    return (f.inverse() == before).all() and (f.refactor(H).inverse() == before).all()
child = os.fork()
if child == 0:
    os._exit(0 if same() else 3)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0
assert same()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_has_threads_of_its_own():
    run = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("count", [0, 1, 2, 7, 64])
@pytest.mark.parametrize("threads", [1, 2, 3, 7, 100])
def test_parts_cover_everything_once(count, threads):
    seen = []
    spread(lambda first, stop: seen.extend(range(first, stop)), count, threads, 100)
    assert sorted(seen) == list(range(count))


@pytest.mark.parametrize("count", [1, 2, 7, 1000])
@pytest.mark.parametrize("threads", [1, 2, 16])
@pytest.mark.parametrize("entries", [1, 10**3, 10**8])
def test_parts_get_no_larger_and_are_worth_a_thread(count, threads, entries, monkeypatch):
    monkeypatch.setattr(spreading, "ENOUGH", 1000)
    parts = list(spreading.parts(count, threads, entries))
    sizes = [stop - first for first, stop in parts]
    assert [first for first, _ in parts] == [0, *np.cumsum(sizes)[:-1]]
    assert sum(sizes) == count
    assert sizes == sorted(sizes, reverse=True)
    least = min(1000 * count // entries, -(-count // threads))
    assert min(sizes[:-1], default=count) >= least
    assert max(sizes) <= max(1, least, count // threads)


@pytest.mark.parametrize("bad", [0, 3, 9])
def test_no_thread_works_after_a_failing_part_raises(bad):
    seen = []

    def work(first, stop):
        if bad in range(first, stop):
            raise MemoryError("no room")
        time.sleep(0.02)
        seen.extend(range(first, stop))

    with pytest.raises(MemoryError, match="no room"):
        spread(work, 10, 5, 100)
    ended = list(seen)
    time.sleep(0.1)
    assert seen == ended
    assert bad not in seen


def test_a_thread_that_does_not_wake_up_is_not_waited_for(monkeypatch):
    busy = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(busy.wait)
        monkeypatch.setattr(spreading, "_pool", lambda: pool)
        seen = []
        spread(lambda first, stop: seen.extend(range(first, stop)), 100, 4, 1000)
        assert sorted(seen) == list(range(100))
        busy.set()


ENDING = """
import atexit, threading, time, numpy as np, treefactor as tf
tree, b = tf.families.random_tree(30, 1), np.ones((2000, 30))
H = np.eye(30) * np.linspace(1, 2, 2000)[:, None, None]
alone = tf.solve(H, tree, b)
def late():
    threading.main_thread().join()
    time.sleep(0.2)
    print((tf.solve(H, tree, b, num_threads=4) == alone).all())
threading.Thread(target=late).start()
atexit.register(lambda: print((tf.solve(H, tree, b, num_threads=4) == alone).all()))
"""


def test_calls_work_while_the_interpreter_ends():
    run = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, timeout=300)
    assert run.stdout.split() == ["True", "True"], run.stderr
