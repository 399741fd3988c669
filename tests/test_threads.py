"""What may be shared by threads is shared by hundreds; kernels let other threads run; processes; pickles."""

import copy
import multiprocessing
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from dynamics_cases import MODELS, arguments
from strategies import spd_matrix

import treefactor as tf
from treefactor import _chain

THREADS = 200
MODEL = MODELS["freeflyer"]
PROGRAM = tf.generate(MODEL, ["crba", "aba"], variants=["plain"])
TREE = MODEL.tree


def fresh(thing):
    """Equal object that nobody has asked for anything: what it computes when asked is not computed yet."""
    return pickle.loads(pickle.dumps(thing))


def at_once(work, count=THREADS):
    """Results of work(k) in as many threads as there are k, which all begin at the same moment."""
    barrier = threading.Barrier(count)

    def begin(k):
        barrier.wait()
        return work(k)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


def of_tree(tree, k):
    H = spd_matrix(tree, k % 5, (3,))
    return [tree.order, tree.columns, tree.mask(), tf.solve(H, tree, np.ones(tree.n)), tree.pack(H), tree.D2]


def of_model(model, k):
    q, v, x, fext = arguments(model, k % 5, (3,))
    H = tf.crba(model, q)
    return [H, tf.rnea(model, q, v, x, fext), tf.forward_dynamics(model, q, v, x), tf.integrate(model, q, v)]


def of_program(program, k):
    return of_kernels(tf.compile(program, ["crba", "aba"]), k)


def of_kernels(kernels, k):
    q, v, x, _ = arguments(MODEL, k % 5, (3,))
    return [kernels.crba(q), kernels.aba(q, v, x), kernels.aba(q[0], v[0], x[0])]


SHARED = {
    "tree": (TREE, of_tree, THREADS),
    "model": (MODEL, of_model, THREADS),
    "program": (PROGRAM, of_program, 20),
    "kernels": (tf.compile(PROGRAM, ["crba", "aba"]), of_kernels, THREADS),
}


@pytest.mark.parametrize("name", SHARED)
def test_hundreds_of_threads_share_it(name):
    thing, work, count = SHARED[name]
    alone = [work(thing, k) for k in range(5)]
    shared = fresh(thing)
    for k, found in enumerate(at_once(lambda k: work(shared, k), count)):
        for own, expected in zip(found, alone[k % 5], strict=True):
            np.testing.assert_array_equal(own, expected)


def test_a_factor_for_every_thread():
    def work(k):
        f = tf.factor(spd_matrix(TREE, k % 5), TREE)
        for _ in range(10):
            f.refactor(spd_matrix(TREE, k % 5))
        return f.inverse()

    alone = [work(k) for k in range(5)]
    for k, found in enumerate(at_once(work)):
        np.testing.assert_array_equal(found, alone[k % 5])


def test_one_factor_is_read_by_hundreds_of_threads():
    f = tf.factor(spd_matrix(TREE, 1), TREE)
    b = np.random.default_rng(0).normal(size=(THREADS, TREE.n))
    for k, found in enumerate(at_once(lambda k: f.solve(b[k]))):
        np.testing.assert_array_equal(found, f.solve(b[k]))


@pytest.mark.parametrize("name", tf.__all__)
def test_every_class_says_what_threads_may_do(name):
    thing = getattr(tf, name)
    if isinstance(thing, type) and not issubclass(thing, Exception):
        said = [
            word
            for word in ("immutable", "thread-safe", "thread-compatible")
            if word in thing.__doc__.lower()
        ]
        assert said, f"{name} does not say whether it is immutable, thread-safe or thread-compatible"


# ------------------------------------------------------------------------------------------ without the GIL

ROUNDS = 1000
TRIES = 20  # a busy machine may wake this thread too late


def heavy_kernels():
    """Kernels with enough work that a thread that waits for the GIL wakes up meanwhile."""
    chain, batch = tf.families.chain(2000), np.broadcast_to(spd_matrix(TREE, 0), (8000, TREE.n, TREE.n))
    single = tf.factor(np.eye(2000), chain)
    inverted = tf.factor(np.eye(600), tf.families.chain(600))
    many, x = tf.factor(batch, TREE), np.ones((8000, TREE.n, 4))
    q, v, a, _ = arguments(MODEL, 0, (8000,))
    kernels = tf.compile(PROGRAM, ["aba"])
    routine, results = kernels._found["aba", "dense"]
    out, failed = np.empty((8000, MODEL.nv)), np.empty(8000, dtype=np.intp)
    parts = [
        np.ones((1, 50, 3)),
        np.ones((1, 50, 3)),
        np.ones((1, 50)),
        np.ones((1, 50, 3)),
        np.ones((1, 50, 3, 3)),
    ]
    chains = _chain.Chains(*(np.repeat(part, 2000, axis=0) for part in parts), np.zeros(50, dtype=bool))
    A = np.empty((2000, 50, 50))
    return {
        "factor of one": lambda: single._kernel.refactor(np.eye(2000), "dense", False),
        "solve of one": lambda: single._kernel.apply(0, np.ones((1, 2000, 50)), 0, 1),
        "inverse of one": lambda: inverted._kernel.invert(np.empty((600, 600))),
        "factor": lambda: many._kernel.refactor(batch, "dense", False, None),
        "solve": lambda: many._kernel.apply(0, x),
        "inverse": lambda: many._kernel.invert(np.empty((8000, TREE.n, TREE.n))),
        "dynamics": lambda: MODEL.bodies.batch(3, 8000, (q, v, a, None), out, "dense", failed, 0, 1000),
        "program": lambda: routine.batch((q, v, a), out, results, 0, 8000),
        "chain": lambda: chains.inertia(A),
    }


def lets_others_run(kernel):
    """Whether this thread counts to ROUNDS between the beginning of the kernel in another one and its end."""
    log = []

    def work():
        log.append("begin")
        kernel()
        log.append("end")

    thread = threading.Thread(target=work)
    thread.start()
    log.extend(range(ROUNDS))
    thread.join()
    return log == ["begin", *range(ROUNDS), "end"]


@pytest.mark.skipif(
    not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="this interpreter runs without a GIL"
)
def test_kernels_let_other_threads_run():
    """Threads change places only where one of them waits or lets go: one that did not would end first."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    try:
        for name, kernel in heavy_kernels().items():
            assert any(lets_others_run(kernel) for _ in range(TRIES)), name
    finally:
        sys.setswitchinterval(usual)


# ------------------------------------------------------------------------------------- processes and pickles


def solved(factor, model, kernels):
    """What another process makes of these."""
    q, v, x, _ = arguments(MODEL, 1, (3,))
    found = [
        factor.solve(np.ones(TREE.n)),
        tf.forward_dynamics(model, q, v, x, num_threads=2),
        kernels.crba(q),
    ]
    return [array.tobytes() for array in found]


SHARED_BY_PROCESSES = tf.factor(spd_matrix(TREE, 1), TREE), MODEL, SHARED["kernels"][0]


def test_a_spawned_process_computes_the_same():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(solved, SHARED_BY_PROCESSES) == solved(*SHARED_BY_PROCESSES)


FORKING = """
import os, sys
sys.path[:0] = {path!r}
from test_threads import SHARED_BY_PROCESSES, solved
before = solved(*SHARED_BY_PROCESSES)
child = os.fork()
if child == 0:
    os._exit(0 if solved(*SHARED_BY_PROCESSES) == before else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="this system does not fork")
def test_a_forked_process_computes_the_same():
    run = subprocess.run(
        [sys.executable, "-c", FORKING.format(path=sys.path)], capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr


STEP = tf.bind(tf.crba, MODEL, tf.neutral(MODEL), out=np.empty((MODEL.nv, MODEL.nv)))
PICKLED = {  # an object of every public class that has a state
    "Factor": SHARED_BY_PROCESSES[0],
    "Inertia": MODEL.joints[0].inertia,
    "Joint": MODEL.joints[0],
    "Kernels": SHARED["kernels"][0],
    "Loop": tf.Loop("loop", "weld", 0, 1),
    "Mimic": tf.Mimic(0, 2.0, 1.0),
    "Model": MODEL,
    "OperationCount": TREE.cost("LTDL"),
    "Program": PROGRAM,
    "Tree": TREE,
}
NOT_PICKLED = {"BoundFactor": tf.BoundFactor(np.eye(2), tf.Tree([-1, 0])), "what bind returns": STEP}


def plain(thing):
    """All that makes an object, as nested tuples."""
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, thing.tobytes()
    if isinstance(thing, tf.Kernels):
        return plain((thing.program, thing.backend, thing.crba(tf.neutral(MODEL))))
    if isinstance(thing, tf.Factor):
        return plain((thing.tree, thing.L(), thing.D()))
    if isinstance(thing, tf.Tree):
        return plain((thing.parent, thing.names))
    if isinstance(thing, tf.Model):
        return plain((thing.joints, thing.gravity, thing.name, thing.loops))
    if isinstance(thing, (tuple, list)):
        return tuple(map(plain, thing))
    if isinstance(thing, dict):
        return tuple((key, plain(value)) for key, value in thing.items())
    if hasattr(thing, "__dataclass_fields__"):
        return tuple(plain(getattr(thing, name)) for name in thing.__dataclass_fields__)
    return thing


def test_every_public_class_is_tried():
    classes = {name for name in tf.__all__ if isinstance(getattr(tf, name), type)}
    errors = {name for name in classes if issubclass(getattr(tf, name), Exception)}
    assert classes - errors == {*PICKLED, "BoundFactor"}


@pytest.mark.parametrize("name", PICKLED)
@pytest.mark.parametrize("again", [fresh, copy.copy, copy.deepcopy])
def test_copies_are_equal(name, again):
    assert plain(again(PICKLED[name])) == plain(PICKLED[name])


@pytest.mark.parametrize("name", NOT_PICKLED)
def test_what_refers_to_memory_of_others_says_so(name):
    with pytest.raises(TypeError, match="memory of"):
        pickle.dumps(NOT_PICKLED[name])
