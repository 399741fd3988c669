"""Measure what derivatives cost in multiples of the dynamics: `python docs/measure_derivatives.py`.

Times are processor times per state of batches on one thread, taken in turns in one process; operations are
those of generated programs. No path and no name of the machine is stored.
"""

from __future__ import annotations

from pathlib import Path
from time import process_time

import numpy as np
from rich.progress import track

import treefactor as tf
from treefactor import bench, report, robots
from treefactor.bench.comparisons import derivatives as times
from treefactor.bench.comparisons import robot as robot_times

FILE = Path(__file__).parent / "measured" / "derivatives.json"
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
    robot = times.Derived(robot_times.Case(robots.find(name)).moving)
    calls = {base: dynamics(robot, base) for base in BASES}
    calls |= {way: robot.batch(function, times.COUNTS[0], **options) for way, (function, options) in WAYS.items()}
    taken = np.median(bench.times_in_turns(list(calls.values()), process_time, PATIENCE), axis=0)
    seconds = dict(zip(calls, taken.tolist(), strict=True))
    return {"nv": robot.model.nv, "seconds": seconds, "operations": operations(robot.model)}


def dynamics(robot: times.Derived, base: str) -> bench.Call:
    """Return what the multiples are of, as a call of a batch."""
    count = times.COUNTS[0]
    last = {"rnea": "a", "forward_dynamics": "tau"}[base]
    states = [robot.arrays[argument][:count] for argument in ("q", "v", last)]
    out = np.empty_like(states[1])
    return bench.Call(lambda: getattr(tf, base)(robot.model, *states, out=out), count)


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
