"""Measure what derivatives cost in multiples of the dynamics.

Times are per state of batches; operations are those of generated programs. Matrices are also timed by
programs, with Pinocchio's beside them; those of inverse dynamics are packed in batches.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.progress import track

import treefactor as tf
from treefactor import bench, robots
from treefactor.bench.case import Case, program_backends
from treefactor.bench.comparisons import derivatives as times
from treefactor.bench.comparisons.dynamics import MANY

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


def measured(_: dict) -> dict:
    """Return the figures of every robot."""
    return {"robots": {name: of_robot(name) for name in track(ROBOTS, "timing")}}


def of_robot(name: str) -> dict:
    """Return the freedoms of a robot, seconds per state of every way, and operations of programs."""
    robot = times.TimedDerivatives(Case(robots.find(name)))
    calls = {base: robot.dynamics(base, times.COUNTS[0]) for base in BASES}
    calls |= {
        way: robot.call(function, times.COUNTS[0], **options) for way, (function, options) in WAYS.items()
    }
    seconds = bench.median_times(calls, patience=PATIENCE)
    of_programs = {"operations": operations(robot.model), "ways": list(ways(robot))}
    return {"nv": robot.model.nv, "seconds": seconds, **of_programs}


def ways(robot: times.TimedDerivatives) -> Iterator[dict]:
    """Yield seconds of the matrices by Pinocchio, by loops over bodies and by programs, for one and many."""
    for name in times.MATRICES:
        for how, count in (("one call", None), (f"batch of {times.COUNTS[0]}", times.COUNTS[0])):
            layout = {"layout": "packed"} if count and name == "rnea_derivatives" else {}
            calls = {"Pinocchio": robot.peer(name), "loops over bodies": robot.call(name, count, **layout)}
            if name in times.program_functions(robot.model.nv):
                calls |= {way: robot.program(name, way, count, **layout) for way in program_backends()}
            yield {"function": name, "how": how, "seconds": bench.median_times(calls, patience=PATIENCE)}


def operations(model: tf.Model) -> dict[str, int]:
    """Return the operations of programs, without trigonometric functions."""
    counts = {}
    for name in (*BASES, *PROGRAMS):
        if name == "forward_dynamics_derivatives" and model.nv >= MANY:
            continue
        count = tf.generate(model, [name]).operations[name]
        counts[name] = count.total - count.trig
    return counts
