"""Measure what derivatives cost in multiples of the dynamics: `python docs/code/measure_derivatives.py`.

Times are processor times per state of batches on one thread, taken in turns in one process; operations are
those of generated programs. Matrices are also timed by programs, with Pinocchio's beside them; those of
inverse dynamics are packed in batches. No path and no name of the machine is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
from rich.progress import track

import treefactor as tf
from treefactor import bench, report, robots
from treefactor.bench.comparisons import derivatives as times
from treefactor.bench.comparisons import robot as robot_times
from treefactor.bench.comparisons.programs import compile_c

FILE = Path(__file__).parents[1] / "measured" / "derivatives.json"
ROBOTS = ("ur5_robot", "panda", "solo12", "talos_reduced")
BASES = ("rnea", "forward_dynamics")
WAYS = {  # of a row, the function and its options
    "rnea_derivatives, dense": ("rnea_derivatives", {}),
    "rnea_derivatives, packed": ("rnea_derivatives", {"layout": "packed"}),
    "rnea_derivatives, lanes": ("rnea_derivatives", {"layout": "lanes"}),
    "rnea_vjp": ("rnea_vjp", {}),
    "rnea_jvp": ("rnea_jvp", {}),
    "rnea_hvp": ("rnea_hvp", {}),
    "rnea_hessian, dense": ("rnea_hessian", {}),
    "rnea_hessian, packed": ("rnea_hessian", {"layout": "packed"}),
    "forward_dynamics_derivatives": ("forward_dynamics_derivatives", {}),
    "forward_dynamics_vjp": ("forward_dynamics_vjp", {}),
    "forward_dynamics_jvp": ("forward_dynamics_jvp", {}),
    "forward_dynamics_hvp": ("forward_dynamics_hvp", {}),
    "forward_dynamics_hessian": ("forward_dynamics_hessian", {}),
}
PROGRAMS = (  # those of derivatives of forward dynamics as matrices grow long
    *("rnea_derivatives", "rnea_vjp", "rnea_jvp", "rnea_hvp"),
    *("forward_dynamics_derivatives", "forward_dynamics_vjp", "forward_dynamics_jvp"),
)
PATIENCE = 20.0  # seconds


def main() -> None:
    """Measure every robot and write derivatives.json."""
    found = {name: measured(name) for name in track(ROBOTS, "timing")}
    report.write_json(FILE, {"config": tf.show_config("dicts"), "robots": found})


def measured(name: str) -> dict:
    """Return the freedoms of a robot, seconds per state of every way, and operations of programs."""
    robot = times.TimedDerivatives(robot_times.Case(robots.find(name)).moving)
    calls = {base: dynamics(robot, base) for base in BASES}
    calls |= {
        way: robot.batch(function, times.COUNTS[0], **options) for way, (function, options) in WAYS.items()
    }
    taken = np.median(bench.times_in_turns(list(calls.values()), process_time, PATIENCE), axis=0)
    seconds = dict(zip(calls, taken.tolist(), strict=True))
    of_programs = {"operations": operations(robot.model), "ways": list(ways(robot))}
    return {"nv": robot.model.nv, "seconds": seconds, **of_programs}


def dynamics(robot: times.TimedDerivatives, base: str) -> bench.Call:
    """Return what the multiples are of, as a call of a batch."""
    count = times.COUNTS[0]
    last = {"rnea": "a", "forward_dynamics": "tau"}[base]
    states = [robot.arrays[argument][:count] for argument in ("q", "v", last)]
    out = np.empty_like(states[1])
    return bench.Call(lambda: getattr(tf, base)(robot.model, *states, out=out), count)


def ways(robot: times.TimedDerivatives) -> Iterator[dict]:
    """Yield seconds of the matrices by Pinocchio, by loops over bodies and by programs, for one and many."""
    functions = times.program_functions(robot.model.nv)
    kernels = {
        "interpreter": tf.compile(robot.model, functions),
        "cc": compile_c(robot.model, list(functions)),
    }
    for name in times.MATRICES:
        for how, count in (("one call", None), (f"batch of {times.COUNTS[0]}", times.COUNTS[0])):
            layout = {"layout": "packed"} if count and name == "rnea_derivatives" else {}
            calls = {"Pinocchio": robot.peer(name), "loops over bodies": robot.call(name, count, **layout)}
            for way, made in kernels.items():
                if made is not None and name in functions:
                    calls[way] = program_call(robot, made, name, count)
            taken = np.median(bench.times_in_turns(list(calls.values()), process_time, PATIENCE), axis=0)
            yield {"function": name, "how": how, "seconds": dict(zip(calls, taken.tolist(), strict=True))}


def program_call(
    robot: times.TimedDerivatives, kernels: tf.Kernels, name: str, count: int | None
) -> bench.Call:
    """Return a function of a program: bound for one configuration, with out= for several."""
    states = robot.states(name, count)
    if count is None:
        return bench.Call(kernels.bind(name, *states, out=kernels.call(name, *states)))
    run = partial(kernels.call, name, *states, layout="packed" if name == "rnea_derivatives" else "dense")
    return bench.Call(partial(run, out=run()), count)


def operations(model: tf.Model) -> dict[str, int]:
    """Return the operations of programs, without trigonometric functions."""
    found = {}
    for name in (*BASES, *PROGRAMS):
        if name == "forward_dynamics_derivatives" and model.nv >= times.MANY:
            continue
        count = tf.generate(model, [name]).operations[name]
        found[name] = count.total - count.trig
    return found


if __name__ == "__main__":
    main()
