"""Measure single precision: errors of accelerations on all robots, and configurations per second.

Errors are those of programs of float32 relative to programs of float64 with the same arguments, rounded to
float32 before. Beside them stands what half a unit in the last place of every argument does in float64.
Rates are those of one thread, of calls from Python with all checks and `out=`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from time import process_time

import numpy as np
from rich.progress import track

import treefactor as tf
from treefactor import bench, robots
from treefactor.bench.case import Case

FULL = {"samples": 10_000, "batch": 1024, "robots": ("ur5_robot", "panda", "solo12", "talos_reduced")}
SMALL = {"samples": 64, "batch": 32, "robots": ("ur5_robot",)}
SHARES = (0.5, 0.99, 1.0)  # median, 99 %, largest
PATIENCE = 2.0  # seconds


def measured(_: dict, samples: int, batch: int, robots: tuple[str, ...]) -> dict:
    """Return the figures of every robot."""
    return {
        "errors": dict(errors(samples)),
        "rates": {name: rates(name, batch) for name in robots},
    }


def states(model: tf.Model, count: int) -> list[np.ndarray]:
    """Return configurations, velocities and forces, rounded to float32."""
    rng = np.random.default_rng(0)
    q = tf.random_configuration(model, rng, size=count)
    arrays = q, rng.normal(size=(count, model.nv)), 10 * rng.normal(size=(count, model.nv))
    return [x.astype(np.float32) for x in arrays]


def errors(samples: int) -> Iterator[tuple[str, dict]]:
    """Yield the errors of accelerations by the name of each bundled robot."""
    for robot in track(robots.default_robots(), "comparing"):
        model = robots.model_of(robot)
        arguments = states(model, samples)
        exact_arguments = [x.astype(float) for x in arguments]
        program = tf.generate(model, ["forward_dynamics"])
        double = tf.compile(program, "forward_dynamics", "interp")
        single = tf.compile(program, "forward_dynamics", "interp", dtype=np.float32)
        exact = double.forward_dynamics(*exact_arguments)
        rng = np.random.default_rng(1)
        moved = [x + rng.choice([-0.5, 0.5], x.shape) * np.spacing(np.abs(x)) for x in arguments]
        moved[0] = tf.normalize(model, moved[0])
        of_kernel = relative(single.forward_dynamics(*arguments), exact)
        yield (
            robot.name,
            {
                "nv": model.nv,
                "method": program.functions["forward_dynamics"].variant.split(", ")[-1],
                "kernel": quantiles(of_kernel),
                "arguments": quantiles(relative(double.forward_dynamics(*moved), exact)),
                "not finite": int(np.isnan(of_kernel).sum()),
            },
        )


def relative(computed: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Return the norm of the error of every row relative to the norm of the row."""
    return np.linalg.norm(computed - exact, axis=-1) / np.linalg.norm(exact, axis=-1)


def quantiles(errors: np.ndarray) -> list[float]:
    """Return median, 99 % and largest of the errors that are numbers."""
    return [float(f"{x:.2e}") for x in np.quantile(errors[~np.isnan(errors)], SHARES)]


def rates(name: str, batch: int) -> dict[str, float]:
    """Return configurations per second of each way to compute forward dynamics."""
    case = Case(robots.find(name))
    single = states(case.ours, batch)
    double = [x.astype(float) for x in single]
    ways = {}
    for backend in ("interp", "cc"):
        for dtype, arguments in ((np.float64, double), (np.float32, single)):
            kernels = tf.compile(case.ours, ["forward_dynamics"], backend, dtype=dtype)
            run = partial(kernels.forward_dynamics, *arguments, out=np.empty_like(arguments[1]))
            ways[f"{backend}, {np.dtype(dtype)}"] = run
    ways["recursions, float64"] = partial(tf.aba, case.ours, *double, out=np.empty_like(double[1]))
    ways["Pinocchio aba"] = partial(in_pinocchio, case.model, case.data, *double)
    calls = {way: bench.Call(run, batch) for way, run in ways.items()}
    return {
        way: round(1 / seconds) for way, seconds in bench.median_times(calls, process_time, PATIENCE).items()
    }


def in_pinocchio(model, data, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
    """Call Pinocchio once for every configuration."""
    import pinocchio as pin

    for state in zip(q, v, tau, strict=True):
        pin.aba(model, data, *state)
