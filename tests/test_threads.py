"""Test that hundreds of threads share what may be shared, and that kernels release the GIL."""

import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS, arguments
from helpers.public_objects import (
    LINKAGE,
    MODEL,
    OBJECTS,
    PROBLEM,
    PROGRAM,
    TREE,
    USES,
    classes,
    fresh,
    of_model,
    of_stepper,
    standing,
)
from helpers.strategies import spd_matrix

import treefactor as tf
from treefactor import constraints
from treefactor._functions._entry import kept_function
from treefactor._functions.general_path import compiled_function
from treefactor.constraints._loops import LoopDynamics
from treefactor.dynamics import _chain
from treefactor.mlcp import TARGET
from treefactor.mlcp.families import robotred
from treefactor.quantities.functions import ENTRIES

THREADS = 200
PAGE = Path(__file__).parents[1] / "docs" / "concepts" / "threads.md"  # explains the promises
PROMISES = IMMUTABLE, SAFE, COMPATIBLE = "Immutable.", "Thread-safe.", "Thread-compatible."


# ----------------------------------------------------------------------------------------- what is promised


def promises():
    """Return the promises in every public class's docstring, by the class's name; errors share theirs."""
    errors = (tf.TreefactorError,)
    named = {name: part for name, part in classes().items() if not issubclass(part, errors) or part in errors}
    return {
        name: [line.strip() for line in (part.__doc__ or "").splitlines() if line.strip() in PROMISES]
        for name, part in named.items()
    }


def test_every_public_class_makes_one_promise():
    assert {name: said for name, said in promises().items() if len(said) != 1} == {}


def test_the_page_has_the_same_promises():
    rows = re.findall(
        r"^\| (immutable|thread-safe|thread-compatible) \| (.+) \|$", PAGE.read_text(), re.MULTILINE
    )
    told = {name: kind for kind, names in rows for name in re.findall(r"`([\w.]+)`", names)}
    made = {name: said[0].removesuffix(".").lower() for name, said in promises().items()}
    missing = set(told) - set(made)  # of engines that are not installed
    assert all(name.startswith("adapters.") for name in missing)
    assert {name: told.get(name) for name in made} == made


def arrays_of(thing, seen):
    """Return arrays in public attributes, and in sequences and dictionaries there."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield thing
    elif hasattr(thing, "indptr"):  # SciPy's
        yield from (thing.data, thing.indices, thing.indptr)
    elif isinstance(thing, (tuple, list)):
        for part in thing:
            yield from arrays_of(part, seen)
    elif isinstance(thing, Mapping):
        yield from arrays_of(list(thing.values()), seen)
    elif type(thing).__module__.startswith("treefactor") and hasattr(thing, "__dict__"):
        yield from arrays_of({k: x for k, x in vars(thing).items() if not k.startswith("_")}, seen)


@pytest.mark.parametrize("name", [name for name in OBJECTS if IMMUTABLE in promises()[name]])
def test_what_is_immutable_cannot_be_written(name):
    thing = OBJECTS[name]
    if name in USES:
        USES[name](thing, 0)
    for attribute, kind in vars(type(thing)).items():
        if isinstance(kind, cached_property):
            getattr(thing, attribute)  # attributes that are computed at first use
    for attribute in [name for name in vars(thing) if not name.startswith("_")] or ["value"]:
        with pytest.raises(AttributeError):
            setattr(thing, attribute, None)
    assert [array for array in arrays_of(thing, set()) if array.flags.writeable] == []
    public = {name: value for name, value in vars(thing).items() if not name.startswith("_")}
    assert [name for name, value in public.items() if isinstance(value, (dict, list, set))] == []


# ---------------------------------------------------------------------------------------------- shared


def at_once(work, count=THREADS):
    """Return results of work(k), one thread for each k, all started at the same moment."""
    barrier = threading.Barrier(count)

    def begin(k):
        barrier.wait()
        return work(k)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


SHARED = {  # objects that threads share, what each of them computes, and how many threads there are
    **{name: (OBJECTS[name], use, THREADS) for name, use in USES.items()},
    "Model": (MODEL, of_model, THREADS),
    "Program": (PROGRAM, USES["Program"], 20),
}


@pytest.mark.parametrize("name", SHARED)
def test_hundreds_of_threads_share_it(name):
    thing, work, count = SHARED[name]
    alone = [work(thing, k) for k in range(5)]
    shared = fresh(thing)
    for k, results in enumerate(at_once(lambda k: work(shared, k), count)):
        for own, expected in zip(results, alone[k % 5], strict=True):
            np.testing.assert_array_equal(own, expected)


@pytest.mark.parametrize("made", [fresh, lambda model: model.with_parameters(model.parameters)])
def test_a_model_is_made_with_the_table_that_threads_fill(made):
    """Two threads that both made a table at their first calls would each fill one of their own."""
    model = made(MODEL)
    table = model._requests
    assert not table
    at_once(lambda k: tf.frame_jacobian(model, tf.neutral(model), model.frames[k]), 2)
    assert table
    assert model._requests is table


def test_a_factor_for_every_thread():
    def work(k):
        f = tf.factor(spd_matrix(TREE, k % 5), TREE)
        for _ in range(10):
            f.refactor(spd_matrix(TREE, k % 5))
        return f.inverse()

    alone = [work(k) for k in range(5)]
    for k, inverse in enumerate(at_once(work)):
        np.testing.assert_array_equal(inverse, alone[k % 5])


def test_one_factor_is_read_by_hundreds_of_threads():
    f = tf.factor(spd_matrix(TREE, 1), TREE)
    b = np.random.default_rng(0).normal(size=(THREADS, TREE.n))
    for k, x in enumerate(at_once(lambda k: f.solve(b[k]))):
        np.testing.assert_array_equal(x, f.solve(b[k]))


@pytest.mark.parametrize("backend", ["cc", "llvm"])
def test_threads_compile_at_once(backend, monkeypatch, tmp_path):
    if backend == "llvm":
        pytest.importorskip("llvmlite", reason="llvmlite is not installed")
    elif not shutil.which("cc"):
        pytest.skip("there is no C compiler")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where nothing is compiled yet
    program = tf.generate(MODELS["one"], ["aba"])
    expected = tf.compile(program).aba([0.3], [1.0], [1.0])
    for kernels in at_once(lambda _: tf.compile(program, backend=backend), 4):
        assert kernels.backend == backend
        np.testing.assert_allclose(kernels.aba([0.3], [1.0], [1.0]), expected, rtol=1e-12)


def test_a_stepper_for_every_thread():
    alone = [of_stepper(standing(), k) for k in range(5)]
    for k, results in enumerate(at_once(lambda k: of_stepper(standing(), k))):
        for own, expected in zip(results, alone[k % 5], strict=True):
            np.testing.assert_array_equal(own, expected)


def test_threads_warm_start_their_own_problems():
    """All problems have one pattern, so threads reuse workspaces of each other."""

    def work(k):
        rng, last = np.random.default_rng(k % 5), None
        for _ in range(5):
            g = PROBLEM.g + rng.normal(size=PROBLEM.n)
            last = tf.mlcp.solve(tf.mlcp.Problem(PROBLEM.H, PROBLEM.tree, g, D=PROBLEM.D, d=PROBLEM.d), last)
        return np.concatenate([last.v, last.gamma])

    alone = [work(k) for k in range(5)]
    for k, solution in enumerate(at_once(work)):
        np.testing.assert_array_equal(solution, alone[k % 5])


# --------------------------------------------------------------------------------- used as it should not be


def hammered(work, threads=4, rounds=30):
    """Return errors of work(k), called repeatedly by several threads at once."""
    errors = []

    def begin(k):
        for _ in range(rounds):
            try:
                work(k)
            except Exception as error:
                errors.append(error)

    at_once(begin, threads)
    return errors


@pytest.mark.parametrize("n", [8, 1500])  # kernels let others run where the tree is large
@pytest.mark.parametrize("batch", [(), (20,)])
def test_a_factor_made_by_two_threads_is_good_again_afterwards(n, batch):
    tree = tf.families.random_tree(n, 1)
    H = [np.zeros((*batch, tree.nnz)) for _ in range(4)]
    for k, packed in enumerate(H):
        packed[...] = np.random.default_rng(k).uniform(-0.4, 0.4, tree.nnz) / n
        packed[..., tree.row_start[1:] - 1] = 1.0 + k
    expected = tf.factor(H[0], tree, layout="packed").D()
    shared = tf.factor(H[0], tree, layout="packed")
    errors = hammered(lambda k: shared.refactor(H[k]).solve(np.ones(n)))
    assert all(isinstance(error, tf.TreefactorError) for error in errors), errors
    np.testing.assert_array_equal(shared.refactor(H[0]).D(), expected)


def test_a_stepper_used_by_two_threads_is_good_again_afterwards():
    shared = standing()
    assert hammered(lambda k: of_stepper(shared, k)) == []
    for own, expected in zip(of_stepper(shared, 0), of_stepper(standing(), 0), strict=True):
        np.testing.assert_allclose(own, expected, atol=1e-9)


# ------------------------------------------------------------------------------------------ without the GIL

ROUNDS = 1000
TRIES = 20  # a busy machine may wake this thread too late


def heavy_kernels():
    """Return kernels that run long enough for a thread that waits for the GIL to wake up."""
    chain, batch = tf.families.chain(2000), np.broadcast_to(spd_matrix(TREE, 0), (8000, TREE.n, TREE.n))
    single = tf.factor(np.eye(2000), chain)
    inverted = tf.factor(np.eye(600), tf.families.chain(600))
    many, x = tf.factor(batch, TREE), np.ones((8000, TREE.n, 4))
    q, v, a, _ = arguments(MODEL, 0, (8000,))
    h_times = compiled_function(ENTRIES["h_times"], MODEL, ())
    kernels = OBJECTS["Kernels"]
    routine, results = kernels._routines["aba", "dense"]
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
    problem = robotred(200, 0)
    _, walk = problem._workspace()
    walk.load(problem.packed, problem.g, problem._free, problem._rows[2], problem._right, None, 0)
    loops = kept_function(LINKAGE.model, LoopDynamics, (constraints.loops.loops_of(LINKAGE.model), 0.0))
    states = [np.broadcast_to(x, (9000, x.size)).copy() for x in (LINKAGE.closed, np.ones(4), np.ones(4))]
    states.append(None)
    accelerations, of_loops = (np.empty((9000, 4)), np.empty((9000, 3))), np.empty(9000, dtype=np.intp)
    return {
        "factor of one": lambda: single._kernel.refactor(np.eye(2000), "dense", False),
        "solve of one": lambda: single._kernel.apply(0, np.ones((1, 2000, 50)), 0, 1),
        "inverse of one": lambda: inverted._kernel.invert(np.empty((600, 600))),
        "factor": lambda: many._kernel.refactor(batch, "dense", False, None),
        "solve": lambda: many._kernel.apply(0, x),
        "inverse": lambda: many._kernel.invert(np.empty((8000, TREE.n, TREE.n))),
        "dynamics": lambda: h_times.batch(8000, (q, v), (out,), failed, 0, 1000),
        "program": lambda: routine.batch((q, v, a), out, results, 0, 8000),
        "chain": lambda: chains.inertia(A, 0, len(A)),
        "complementarity": lambda: walk.run(False, None, TARGET, 1000),
        "loops": lambda: loops.batch(9000, states, accelerations, of_loops, 0, 1125),
    }


def lets_others_run(kernel):
    """Return whether this thread counts to ROUNDS while the kernel runs in another one."""
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
    """Threads switch only where one waits or releases the GIL; a kernel that kept it would end first."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    try:
        for name, kernel in heavy_kernels().items():
            assert any(lets_others_run(kernel) for _ in range(TRIES)), name
    finally:
        sys.setswitchinterval(usual)


WITHOUT = """
import pkgutil, sys, treefactor
for module in pkgutil.walk_packages(treefactor.__path__, "treefactor."):
    if "adapters" not in module.name and "__main__" not in module.name:
        __import__(module.name)
print(sys._is_gil_enabled())
"""


@pytest.mark.skipif(
    getattr(sys, "_is_gil_enabled", lambda: True)(), reason="this interpreter runs with a GIL"
)
def test_no_module_brings_the_gil_back():
    done = subprocess.run([sys.executable, "-W", "error", "-c", WITHOUT], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
