"""Measure forward dynamics against the size of a batch and the number of forces, for the page on choosing.

Wall-clock times, since a script waits for these.
"""

import os
import warnings
from collections.abc import Iterator
from functools import partial
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import pinocchio as pin
from rich.progress import track

import treefactor as tf
from treefactor import bench, robots
from treefactor.bench.case import Case, Moving

ROBOTS = ("panda", "solo12", "talos_reduced")
BATCHES = [4**k for k in range(6)]
COLUMNS = [2**k for k in range(8)]
BACKENDS = ("interp", "cc")
PATIENCE = 1.0  # seconds


def measured(_: dict) -> dict:
    """Return the figures of every robot."""
    steps = [(name, sweep) for name in ROBOTS for sweep in (programs, batches, columns)]
    figures: dict[str, dict] = {name: {} for name in ROBOTS}
    with TemporaryDirectory() as cache:  # nothing is compiled yet
        os.environ["XDG_CACHE_HOME"] = cache
        for name, sweep in track(steps, "timing"):
            case = Case(robots.find(name))
            figures[name] |= {"nv": case.model.nv, sweep.__name__: list(sweep(case))}
    return {"robots": figures}


def batches(moving: Moving) -> Iterator[dict]:
    """Yield seconds per configuration of forward dynamics against the size of the batch, with `out=`."""
    kernels = dict(compiled(moving.ours, "forward_dynamics"))
    for count in BATCHES:
        states = [array[:count] for array in moving.states("forward_dynamics")]
        out = np.empty_like(states[1])
        ways = {
            "Pinocchio aba, a loop in Python": partial(loop, moving.model, moving.data, *states),
            "aba": partial(tf.aba, moving.ours, *states, out=out),
            "forward_dynamics": partial(tf.forward_dynamics, moving.ours, *states, out=out),
        }
        for backend, kernel in kernels.items():
            ways[f"program, {backend}"] = partial(kernel.forward_dynamics, *states, out=out)
        calls = {way: bench.Call(run, count) for way, run in ways.items()}
        yield {"count": count, "seconds": bench.median_times(calls, perf_counter, PATIENCE)}


def loop(model: pin.Model, data: pin.Data, q, v, tau) -> None:
    """Call Pinocchio in a loop, as a script without batches does."""
    for state in zip(q, v, tau, strict=True):
        pin.aba(model, data, *state)


def columns(moving: Moving) -> Iterator[dict]:
    """Yield seconds for accelerations at one configuration against the number of forces."""
    q, v = moving.first("bias")
    model, data = moving.model, moving.data
    H, h = np.empty((model.nv, model.nv)), np.empty(model.nv)
    crba, bias = tf.bind(tf.crba, moving.ours, q, out=H), tf.bind(tf.bias, moving.ours, q, v, out=h)
    crba()
    f = tf.BoundFactor(H, moving.ours.tree)
    inverses = {name: kernels.bind("minv", q, out=H) for name, kernels in compiled(moving.ours, "minv")}
    for count in COLUMNS:
        tau = np.resize(moving.tau.T, (model.nv, count)).copy()
        a = np.empty_like(tau)

        def solve(tau=tau, a=a) -> None:
            crba()
            f.factor().solve(tau - bias()[:, None], a)

        def multiply(minv, tau=tau, a=a) -> None:
            minv()
            np.matmul(H, tau - bias()[:, None], out=a)

        def pinocchio(tau=tau, a=a) -> None:
            h = pin.nle(model, data, q, v)
            np.matmul(pin.computeMinverse(model, data, q), tau - h[:, None], out=a)

        ways = {
            "Pinocchio aba for every force": partial(every, model, data, q, v, np.ascontiguousarray(tau.T)),
            "Pinocchio computeMinverse, then a product": pinocchio,
            "crba, factor, solve": solve,
        }
        for backend, minv in inverses.items():
            ways[f"program minv, {backend}, then a product"] = partial(multiply, minv)
        yield {"count": count, "seconds": bench.median_times(ways, perf_counter, PATIENCE)}


def every(model: pin.Model, data: pin.Data, q, v, forces) -> None:
    """Call a function once for each force."""
    for tau in forces:
        pin.aba(model, data, q, v, tau)


def programs(moving: Moving) -> Iterator[dict]:
    """Return seconds from a model to a program that can be called."""
    begin = perf_counter()
    program = tf.generate(moving.ours, ["forward_dynamics"])
    yield {"what": "generate", "seconds": perf_counter() - begin}
    for backend in BACKENDS:
        begin = perf_counter()
        kernels = tf.compile(program, backend=backend)
        if kernels.backend == backend:
            yield {"what": backend, "seconds": perf_counter() - begin}


def compiled(model: tf.Model, function: str) -> Iterator[tuple[str, tf.Kernels]]:
    """Compile a function by every backend that works here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for backend in BACKENDS:
            kernels = tf.compile(model, [function], backend)
            if kernels.backend == backend:
                yield backend, kernels
