"""Measure what a script pays once: imports, conversion of a model, first calls, the reader of URDFs.

Minima in turns: of the processor time of processes for imports, of the time of calls for the others.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter_ns

import numpy as np
import pinocchio as pin

import treefactor as tf
from treefactor import robots
from treefactor.adapters import pinocchio_

FULL = {
    "names": ("double_pendulum", "ur5_robot", "panda", "solo12", "baxter", "talos_reduced"),
    "turns": 200,
    "processes": 20,
}
ENGINES = ("mujoco", "pybullet")  # whose models are converted, where they are installed
REPEATED = 50  # calls that are timed together
SMALL = {"names": ("double_pendulum",), "turns": 3, "processes": 1}
SCRIPT = """
import treefactor as tf
model = tf.Model.from_urdf({path!r})
q = tf.neutral(model)
tf.rnea(model, q, q, q), tf.forward_dynamics(model, q, q, q), tf.Kinematics
"""
IMPORTS = {  # above NumPy
    "import treefactor": "import treefactor",
    "import treefactor, a URDF and first calls": SCRIPT,
    "import pinocchio": "import pinocchio",
}


def measured(_: dict, names: tuple[str, ...], turns: int, processes: int) -> dict:
    """Return all figures in seconds."""
    return {
        "imports": imports(processes),
        "robots": {name: costs(robots.find(name), turns) for name in names},
    }


def imports(processes: int) -> dict[str, float]:
    """Return the processor time of imports in new processes above that of NumPy."""
    path = str(robots.find("panda").path)
    least = dict.fromkeys(IMPORTS, np.inf)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(processes + 1):  # the first one compiles modules to byte code
        for name, code in IMPORTS.items():
            lines = ("import numpy", "from time import process_time_ns", "start = process_time_ns()")
            text = "\n".join((*lines, code.format(path=path), "print(process_time_ns() - start)"))
            command = (sys.executable, "-c", text)
            run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
            least[name] = min(least[name], 1e-9 * int(run.stdout))
    return least


def costs(robot: robots.Robot, turns: int) -> dict:
    """Return the times of a robot: ours, Pinocchio's for the same, and those of one call."""
    root = (pin.JointModelFreeFlyer(),) if robot.floating else ()
    path = str(robot.path)
    theirs = pin.buildModelFromUrdf(path, *root)
    data, ours = theirs.createData(), pinocchio_.model(theirs)
    q, v = tf.neutral(ours), np.zeros(ours.nv)
    frame = ours.frames[-1]
    stored = pickle.dumps(ours)
    calls: dict[str, Callable] = {
        "Model.from_urdf": partial(tf.Model.from_urdf, path, floating=robot.floating),
        "buildModelFromUrdf": partial(pin.buildModelFromUrdf, path, *root),
        "pinocchio_.model": partial(pinocchio_.model, theirs),
        "with_parameters": partial(ours.with_parameters, ours.parameters),
        "pickle": partial(pickle.loads, stored),
        **conversions(robot),
    }
    repeated: dict[str, Callable] = {
        "rnea": partial(tf.rnea, ours, q, v, v),
        "bound rnea": tf.bind(tf.rnea, ours, q, v, v, out=np.empty(ours.nv)),
        "pin.rnea": partial(pin.rnea, theirs, data, q, v, v),
    }
    first = {
        "first rnea": lambda model: tf.rnea(model, q, v, v),
        "first frame_jacobian": lambda model: tf.frame_jacobian(model, q, frame),
    }
    least = dict.fromkeys((*calls, *repeated, *first), np.inf)
    for _ in range(turns):
        for name, call in calls.items():
            least[name] = min(least[name], seconds(call))
        for name, call in repeated.items():
            least[name] = min(least[name], seconds(call, REPEATED))
        for name, call in first.items():
            least[name] = min(least[name], seconds(partial(call, pinocchio_.model(theirs))))
    return {"joints": ours.njoints, "frames": len(ours.frames), "seconds": least}


def conversions(robot: robots.Robot) -> dict[str, Callable]:
    """Return the conversions of the robot as other engines have it."""
    calls: dict[str, Callable] = {}
    for engine in filter(find_spec, ENGINES):
        adapter = import_module(f"treefactor.adapters.{engine}_")
        calls[f"{engine}_.model"] = partial(adapter.model, adapter.load(robot.path, robot.floating))
    return calls


def seconds(call: Callable, count: int = 1) -> float:
    """Return the time of one call, of which `count` follow each other."""
    start = perf_counter_ns()
    for _ in range(count):
        call()
    return 1e-9 * (perf_counter_ns() - start) / count
