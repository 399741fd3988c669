"""Measure what inertial parameters cost.

Inertias of every element of a batch beside those of the model, and beside a loop over Pinocchio that sets
``model.inertias``; regressors beside those of Pinocchio and beside inverse dynamics; base parameters; a least
squares problem of samples; operations of programs with parameters as inputs; figaroh, where FIGAROH_PYTHON
names a Python that has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import numpy as np
import pinocchio as pin
from measure import output_of, python_of
from rich.progress import track

import treefactor as tf
from treefactor import bench, robots
from treefactor.bench.case import Case

ROBOTS = ("ur5_robot", "panda", "solo12", "talos_reduced")
FUNCTIONS = {"crba": "q", "rnea": "q v a", "aba": "q v tau", "forward_dynamics": "q v tau"}
PROGRAMS = ("rnea", "crba", "forward_dynamics")
SETS = 16  # that elements share
VARIABLE = "FIGAROH_PYTHON"
FULL = {"counts": [64, 1024, 8192], "loop": 1024, "cache": 256, "samples": 10_000, "calls": 2000}
SMALL = {"counts": [8], "loop": 16, "cache": 16, "samples": 100, "calls": 20}
PATIENCE = 0.2  # seconds of a comparison


def measured(before: dict, **sizes) -> dict:
    """Return all figures; those of figaroh are taken from `before` where it is absent."""
    return {
        "robots": {name: of_robot(name, sizes) for name in track(ROBOTS, "timing")},
        "identification": identification(sizes["samples"], sizes["calls"]),
        "figaroh": figaroh(sizes["calls"], before.get("figaroh")),
    }


def of_robot(name: str, sizes: dict) -> dict:
    """Return the figures of a robot."""
    case = Case(robots.find(name))
    return {
        "nv": case.ours.nv,
        "inertias": [
            {"function": function, "count": count, "seconds": of_inertias(case, function, count)}
            for function in FUNCTIONS
            for count in sizes["counts"]
        ],
        "loop": beside_a_loop(case, sizes["loop"]),
        "regressors": of_regressors(case, sizes["cache"], sizes["loop"]),
        "base parameters": of_base_parameters(case),
        "operations": operations(case.ours),
    }


def seconds(calls: dict[str, tuple[Callable, int]]) -> dict[str, float]:
    """Return processor times per element of calls with their numbers of elements."""
    return bench.median_times({way: bench.Call(*call) for way, call in calls.items()}, patience=PATIENCE)


def states(case: Case, names: str, count: int) -> list[np.ndarray]:
    """Return arrays of a batch."""
    arrays = (getattr(case, name) for name in names.split())
    return [np.resize(x, (count, x.shape[1])) for x in arrays]


def varied(model: tf.Model, count: int) -> np.ndarray:
    """Return parameters of a batch, each body a multiple of the model's."""
    rng = np.random.default_rng(0)
    return model.parameters * rng.uniform(0.8, 1.2, (count, model.njoints, 1))


def of_inertias(case: Case, function: str, count: int) -> dict[str, float]:
    """Return seconds per element with the model's inertias, own ones, and chosen ones."""
    model, arrays = case.ours, states(case, FUNCTIONS[function], count)
    run = partial(getattr(tf, function), model, *arrays)
    run = partial(run, out=run())
    which = np.random.default_rng(1).integers(0, SETS, count)
    forms = {
        "shared": None,
        "own": tf.Inertias(model, varied(model, count)),
        "chosen, sorted": tf.Inertias(model, varied(model, SETS), which=np.sort(which)),
        "chosen": tf.Inertias(model, varied(model, SETS), which=which),
    }
    return seconds({form: (partial(run, inertias=one), count) for form, one in forms.items()})


def beside_a_loop(case: Case, count: int) -> dict[str, float]:
    """Return seconds per element of aba with own inertias, and of a loop that sets Pinocchio's."""
    model, data, ours = case.model.copy(), case.model.createData(), case.ours
    q, v, tau = states(case, "q v tau", count)
    pi = varied(ours, count)
    inertias, out = tf.Inertias(ours, pi), np.empty_like(v)

    def loop():
        for k in range(count):
            for joint in range(1, model.njoints):
                model.inertias[joint] = pin.Inertia.FromDynamicParameters(pi[k, joint - 1])
            pin.aba(model, data, q[k], v[k], tau[k])

    def without():
        for k in range(count):
            pin.aba(model, data, q[k], v[k], tau[k])

    run = partial(tf.aba, ours, q, v, tau, inertias=inertias, out=out)
    calls = {"treefactor": run, "Pinocchio": loop, "Pinocchio, inertias not set": without}
    return seconds({name: (call, count) for name, call in calls.items()})


def of_regressors(case: Case, few: int, many: int) -> dict[str, dict[str, float]]:
    """Return seconds per sample of regressors in the cache and in memory, of rnea, and of Pinocchio's."""
    model, data, ours = case.model, case.model.createData(), case.ours
    times = {}
    for where, count, layouts in (("cache", few, ("lanes", "packed", "dense")), ("memory", many, ("dense",))):
        q, v, a, lam = states(case, "q v a tau", count)
        ways = {layout: partial(tf.regressor, ours, q, v, a, layout=layout) for layout in layouts}
        ways["transpose"] = partial(tf.regressor_transpose_times, ours, q, v, a, lam)
        ways["rnea"] = partial(tf.rnea, ours, q, v, a)
        calls = {name: (partial(run, out=run()), count) for name, run in ways.items()}
        calls["Pinocchio"] = partial(pinocchio_loop, model, data, q[:few], v[:few], a[:few]), few
        times[where] = seconds(calls)
    return times


def pinocchio_loop(model, data, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
    """Compute Pinocchio's regressor of every sample."""
    for k in range(len(q)):
        pin.computeJointTorqueRegressor(model, data, q[k], v[k], a[k])


def of_base_parameters(case: Case) -> dict:
    """Return the number of base parameters with armature, and seconds of finding them."""
    model = case.ours
    taken = seconds({"base": (partial(tf.base_parameters, model), 1)})
    return {"count": tf.base_parameters(model).count, "seconds": taken["base"]}


def operations(model: tf.Model) -> dict[str, dict[str, int]]:
    """Return the operations of programs with inertias folded and as inputs, without trigonometric ones."""
    forms = {
        "folded": {},
        "base": {"parameters": "base"},
        "base, zeros": {"parameters": "base", "zeros": "model"},
    }
    counts: dict[str, dict[str, int]] = {name: {} for name in PROGRAMS}
    for form, options in forms.items():
        for name in PROGRAMS:
            count = tf.generate(model, [name], **options).operations[name]
            counts[name][form] = count.total - count.trig
    return counts


def identification(samples: int, calls: int) -> dict[str, float]:
    """Return seconds for all samples of an arm, and for calls of Pinocchio's regressor."""
    case = Case(robots.find("ur5_robot"))
    model, data, ours = case.model, case.model.createData(), case.ours
    rng = np.random.default_rng(2)
    q, v, a = (rng.uniform(-1.0, 1.0, (samples, ours.nv)) for _ in range(3))
    tau = tf.rnea(ours, q, v, a)

    fit = tf.Identification(ours, columns=("inertia",))
    return seconds(
        {
            "samples": (partial(fit.add, q, v, a, tau), 1),
            "calls": (partial(pinocchio_loop, model, data, q[:calls], v[:calls], a[:calls]), 1),
        }
    )


FIGAROH = """
import json, sys, time, types
import numpy as np, pinocchio as pin
from figaroh.tools.regressor import build_regressor_basic
model = pin.buildModelFromUrdf(sys.argv[1])
robot = types.SimpleNamespace(model=model, data=model.createData(), nv=model.nv, nq=model.nq)
q, v, a = np.random.default_rng(2).uniform(-1.0, 1.0, (3, int(sys.argv[2]), model.nv))
names = "has_friction has_actuator_inertia has_joint_offset is_external_wrench".split()
config = dict.fromkeys(names, False) | {"is_joint_torques": True, "force_torque": None}
config["act_idxv"] = list(range(model.nv))
def theirs(): build_regressor_basic(robot, q, v, a, config)
def loop():
    for k in range(len(q)): pin.computeJointTorqueRegressor(model, robot.data, q[k], v[k], a[k])
spent = {"figaroh": [], "Pinocchio": []}
for _ in range(5):
    for name, call in (("figaroh", theirs), ("Pinocchio", loop)):
        start = time.process_time(); call(); spent[name].append((time.process_time() - start) / len(q))
medians = {name: float(np.median(x)) for name, x in spent.items()}
from importlib.metadata import version
print(json.dumps({"seconds": medians, "versions": {name: version(name) for name in ("figaroh", "pin")}}))
"""


def figaroh(count: int, before: dict | None) -> dict | None:
    """Return seconds per sample of figaroh's regressor of an arm, and of Pinocchio's in the same process."""
    python = python_of("figaroh", VARIABLE, bool(before))
    if not python:
        return before
    path = str(robots.find("ur5_robot").path)
    return json.loads(output_of(python, FIGAROH, path, str(count)).splitlines()[-1])
