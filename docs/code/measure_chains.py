"""Measure the inertia matrix of chains: the Kane-sum recursion as printed, composites, and CRBA.

For each number of bodies the operations of one chain, and seconds for one chain of a batch. The recursion as
printed and the composites of `chain_inertia` are compiled from chain_recursions.c with the package's flags,
for one chain at a time and, for this machine, for several in SIMD lanes; beside them the package's own
kernel, without its validation, and `tf.crba` of chains of as many joints, with its kinematics and in lanes.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import treefactor as tf
from treefactor import bench
from treefactor.dynamics import _chain
from treefactor.model.arms import general_inertia
from treefactor.papers.tables.sample_chains import chain, counted
from treefactor.papers.textbook import kane_sum, kosynka, stepanenko

FULL = {"bodies": (6, 7, 20, 100), "batch": 512}
SMALL = {"bodies": (3,), "batch": 16}
SOURCE = Path(__file__).with_name("chain_recursions.c")
LANES = {"avx512": 8, "avx2": 4}.get(tf.show_config("dicts")["used"], 2)
FLAGS = ("-O3", "-Wno-psabi", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared")  # as setup.py
WORKSPACE = 24  # doubles for each body, in each lane
RECURSIONS = {"printed": "as printed", "composite": "composites"}


def measured(_: dict, bodies: tuple[int, ...], batch: int) -> dict:
    """Return the figures of all chains."""
    with TemporaryDirectory() as folder:
        libraries = {lanes: compiled(Path(folder), lanes) for lanes in (1, LANES)}
        return {"lanes": LANES, "chains": [of_chains(libraries, n, batch) for n in bodies]}


def compiled(folder: Path, lanes: int) -> ctypes.CDLL:
    """Compile both recursions for one chain or for several in lanes."""
    compiler = shlex.split(os.environ.get("CC") or shutil.which("cc") or "gcc")
    library = folder / f"chains{lanes}.so"
    flags = (*FLAGS, f"-DLANES={lanes}", *(("-march=native",) if lanes > 1 else ()))
    subprocess.run((*compiler, *flags, str(SOURCE), "-o", str(library)), check=True)
    return ctypes.CDLL(str(library))


def of_chains(libraries: dict[int, ctypes.CDLL], n: int, batch: int) -> dict:
    """Return operations, differences and seconds for chains of n bodies."""
    arrays = [np.repeat(array[None], batch, 0) for array in chain(n)]
    expected = tf.chain_inertia(*(array[0] for array in arrays))
    ways: dict[str, Callable[[], object]] = {}
    difference = 0.0
    for name, title in RECURSIONS.items():
        for lanes, library in libraries.items():
            call, A = bound(getattr(library, name), arrays, n, lanes)
            call()
            difference = max(difference, float(np.abs(A - expected).max() / np.abs(expected).max()))
            ways[f"{title}, in lanes" if lanes > 1 else title] = call
    chains, A = _chain.Chains(*arrays, np.zeros(n, np.uint8)), np.empty((batch, n, n))
    ways["chain_inertia"] = partial(chains.inertia, A, 0, batch)
    q = np.random.default_rng(0).normal(size=(batch, n))
    ways["crba"] = partial(tf.crba, model(n), q)
    seconds = {name: time / batch for name, time in bench.median_times(ways).items()}
    figures = {"bodies": n, "operations": operations(n), "difference": difference, "seconds": seconds}
    print(figures, flush=True)
    return figures


def bound(function, arrays: list[np.ndarray], n: int, lanes: int) -> tuple[Callable[[], object], np.ndarray]:
    """Return a call on a batch, and its result as matrices: a view, in lanes one of the transposed array."""
    batch = len(arrays[0])
    packed = [np.ascontiguousarray(np.moveaxis(x.reshape(-1, lanes, *x.shape[1:]), 1, -1)) for x in arrays]
    A, workspace = np.empty((batch // lanes, n, n, lanes)), np.empty((WORKSPACE * n, lanes))
    return partial(run, function, n, (*packed, A, workspace)), np.moveaxis(A, -1, 1)


def run(function, n: int, arrays: tuple[np.ndarray, ...]) -> None:
    """Call a compiled recursion on packed arrays, the last but one of which is A."""
    pointers = (ctypes.c_void_p(array.ctypes.data) for array in arrays)
    function(ctypes.c_long(len(arrays[0])), ctypes.c_long(n), *pointers)


def model(n: int) -> tf.Model:
    """Return a chain of revolute joints at random."""
    rng = np.random.default_rng(n)
    return tf.Model(list(joints(n, rng)))


def joints(n: int, rng: np.random.Generator) -> Iterator[tf.Joint]:
    """Yield joints about z in frames at random."""
    for k in range(n):
        Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        R, p, body = Q * np.linalg.det(Q), rng.normal(size=3), general_inertia(rng)
        yield tf.Joint(f"joint{k}", "revolute", k - 1, R, p, (0, 0, 1), inertia=body)


def operations(n: int) -> dict[str, int]:
    """Count the multiplications and additions of one chain, by running each method on counting scalars."""
    _, ours = tf.chain_inertia(*chain(n), count=True)
    methods = {"as printed": kane_sum, "Stepanenko": stepanenko, "kosynka": kosynka}
    return {name: counted(module, chain(n)).total for name, module in methods.items()} | {
        "chain_inertia": ours.total
    }
