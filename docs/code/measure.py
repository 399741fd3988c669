"""Measure the times for the page on choosing an algorithm: `make measure`.

The times of every sweep are taken in turns; no path and no name of the machine is stored.
"""

import os
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import pinocchio as pin
from rich.progress import track

import treefactor as tf
from treefactor import bench, report, robots
from treefactor.bench.comparisons import dynamics as dynamics_times
from treefactor.bench.comparisons import robot as robot_times

DOCS = Path(__file__).parents[1]
ROBOTS = ("panda", "solo12", "talos_reduced")
BATCHES = [4**k for k in range(6)]
COLUMNS = [2**k for k in range(8)]
BACKENDS = ("interp", "cc")

bench.timing.PATIENCE = 1.0


def main() -> None:
    """Measure every robot and write choosing.json."""
    steps = [(name, sweep) for name in ROBOTS for sweep in (programs, batches, columns)]
    found: dict[str, dict] = {name: {} for name in ROBOTS}
    with TemporaryDirectory() as cache:  # nothing is compiled yet
        os.environ["XDG_CACHE_HOME"] = cache
        for name, sweep in track(steps, "timing"):
            case = robot_times.Case(robots.find(name))
            found[name] |= {"nv": case.model.nv, sweep.__name__: list(sweep(case.moving))}
    versions = {name: version(name) for name in ("pin", "numpy")}
    content = {"config": tf.show_config("dicts"), "versions": versions, "robots": found}
    report.write_json(DOCS / "measured" / "choosing.json", content)


def batches(moving: dynamics_times.Moving) -> Iterator[dict]:
    """Yield seconds per configuration of forward dynamics against the size of the batch, with `out=`."""
    kernels = dict(compiled(moving.ours, "forward_dynamics"))
    for count in BATCHES:
        states = [array[:count] for array in moving.states("forward_dynamics")]
        out = np.empty_like(states[1])
        ways = {
            "Pinocchio aba, a loop in Python": partial(loop, moving.theirs, moving.data, *states),
            "aba": partial(tf.aba, moving.ours, *states, out=out),
            "forward_dynamics": partial(tf.forward_dynamics, moving.ours, *states, out=out),
        }
        for backend, kernel in kernels.items():
            ways[f"program, {backend}"] = partial(kernel.forward_dynamics, *states, out=out)
        yield {"count": count, "seconds": seconds(ways, count)}


def loop(model: pin.Model, data: pin.Data, q, v, tau) -> None:
    """Call Pinocchio in a loop, as a script without batches does."""
    for state in zip(q, v, tau, strict=True):
        pin.aba(model, data, *state)


def columns(moving: dynamics_times.Moving) -> Iterator[dict]:
    """Yield seconds for accelerations at one configuration against the number of forces."""
    q, v = moving.first("bias")
    model, data = moving.theirs, moving.data
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
        yield {"count": count, "seconds": seconds(ways, 1)}


def every(model: pin.Model, data: pin.Data, q, v, forces) -> None:
    """Call a function once for each force."""
    for tau in forces:
        pin.aba(model, data, q, v, tau)


def programs(moving: dynamics_times.Moving) -> Iterator[dict]:
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


def seconds(ways: dict[str, Callable[[], object]], count: int) -> dict[str, float]:
    """Return median seconds per item of each way, taken in turns."""
    times = bench.times_in_turns([bench.Call(run, count) for run in ways.values()])
    return dict(zip(ways, np.median(times, axis=0).tolist(), strict=True))


if __name__ == "__main__":
    main()
