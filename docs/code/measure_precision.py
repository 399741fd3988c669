"""Measure single precision: errors of accelerations on all robots, and configurations per second.

Errors are those of programs of float32 relative to programs of float64 with the same arguments, rounded to
float32 before. Beside them stands what half a unit in the last place of every argument does in float64, what
rounding the inertial parameters does, and how well the accelerations satisfy the equation of motion.
Rates are those of one thread, of calls from Python with all checks and `out=`. Pinocchio and MuJoCo are
called once for every configuration; MJX and frax compute a batch of float32 on the same processor, in a
Python of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import mujoco
import numpy as np
import pinocchio as pin
from measure import output_of, python_of
from rich.progress import track

import treefactor as tf
from treefactor import bench, robots
from treefactor.adapters import mujoco_
from treefactor.bench.case import Case

FULL = {
    "samples": 10_000,
    "batch": 1024,
    "steps": 50,
    "robots": ("ur5_robot", "panda", "solo12", "talos_reduced"),
}
SMALL = {"samples": 64, "batch": 32, "steps": 2, "robots": ("ur5_robot",)}
SHARES = (0.5, 0.99, 1.0)  # median, 99 %, largest
PATIENCE = 2.0  # seconds
STEP = 1e-3  # s
PEER_ROBOTS = ("ur5_robot", "panda")  # peers in JAX know no floating base, or take minutes to compile
OFF = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
LOADED = {  # by peer, how its Python makes a function of q, v and tau from sys.argv[1]
    "MJX": """
import mujoco
from mujoco import mjx
model = mjx.put_model(mujoco.MjModel.from_binary_path(sys.argv[1]), impl="jax")
data = mjx.make_data(model, impl="jax")
function = lambda q, v, u: mjx.forward(model, data.replace(qpos=q, qvel=v, qfrc_applied=u)).qacc_smooth
""",
    "frax": """
from frax.core.robot import Robot
robot = Robot(sys.argv[1])
function = lambda q, v, u: robot.forward_dynamics(q, v, u, None)
""",
}
TIMED = """
import sys, time, jax, numpy as np
{loaded}
states = [jax.numpy.asarray(x) for x in np.load(sys.argv[2]).values()]
batch = jax.jit(jax.vmap(function))
seconds = []
for _ in range(8):
    start = time.process_time()
    batch(*states).block_until_ready()
    seconds.append(time.process_time() - start)
print(len(states[0]) / np.median(seconds[1:]))
"""


def measured(before: dict, samples: int, batch: int, steps: int, robots: tuple[str, ...]) -> dict:
    """Return the figures of every robot; those of absent peers are taken from `before`."""
    figures = {
        "errors": dict(errors(samples)),
        "rates": {name: rates(name, batch, steps) for name in robots},
    }
    stored = before.get("peers", {})
    return figures | {"peers": {peer: of_peer(peer, stored.get(peer), batch) for peer in LOADED}}


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
        accelerations = single.forward_dynamics(*arguments)
        of_kernel = relative(accelerations, exact)
        rounded = model.with_parameters(model.parameters.astype(np.float32).astype(float))
        yield (
            robot.name,
            {
                "nv": model.nv,
                "method": single.program.functions["forward_dynamics"].variant.split(", ")[-1],
                "kernel": quantiles(of_kernel),
                "arguments": quantiles(relative(double.forward_dynamics(*moved), exact)),
                "masses": quantiles(relative(tf.forward_dynamics(rounded, *exact_arguments), exact)),
                "backward": quantiles(backward(model, *exact_arguments, accelerations.astype(float))),
                "not finite": int(np.isnan(of_kernel).sum()),
            },
        )


def relative(computed: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Return the norm of the error of every row relative to the norm of the row."""
    return np.linalg.norm(computed - exact, axis=-1) / np.linalg.norm(exact, axis=-1)


def backward(model: tf.Model, q, v, tau, a) -> np.ndarray:
    """Return the residual of H a = tau - b in every row, relative to the norms of its terms."""
    residual = np.linalg.norm(tf.rnea(model, q, v, a) - tau, axis=-1)
    H = np.linalg.norm(tf.crba(model, q), axis=(-2, -1))
    net = np.linalg.norm(tau - tf.bias(model, q, v), axis=-1)
    return residual / (H * np.linalg.norm(a, axis=-1) + net)


def quantiles(errors: np.ndarray) -> list[float]:
    """Return median, 99 % and largest of the errors that are numbers."""
    return [float(f"{x:.2e}") for x in np.quantile(errors[~np.isnan(errors)], SHARES)]


def rates(name: str, batch: int, steps: int) -> dict[str, float]:
    """Return configurations per second of each way to compute forward dynamics."""
    case = Case(robots.find(name))
    single = states(case.ours, batch)
    double = [x.astype(float) for x in single]
    calls = {}
    for backend in ("interp", "cc"):
        for arguments in (double, single):
            dtype = arguments[0].dtype
            kernels = tf.compile(case.ours, ["forward_dynamics"], backend, dtype=dtype)
            run = partial(kernels.forward_dynamics, *arguments, out=np.empty_like(arguments[1]))
            calls[f"{backend}, {dtype}"] = bench.Call(run, batch)
            if backend == "cc":
                lanes = [tf.to_lanes(x, dtype=dtype) for x in arguments]
                run = partial(
                    kernels.forward_dynamics,
                    *lanes,
                    layout="lanes",
                    out=tf.to_lanes(arguments[1], dtype=dtype),
                )
                calls[f"{backend}, {dtype}, lanes"] = bench.Call(run, batch)
                q, v, tau = arguments
                motion = partial(kernels.rollout, q, 0 * v, 0 * tau, STEP, steps=steps)
                calls[f"{backend}, {dtype}, steps of a rollout"] = bench.Call(motion, batch * steps)
    aba = partial(tf.aba, case.ours, *double, out=np.empty_like(double[1]))
    calls["recursions, float64"] = bench.Call(aba, batch)
    calls["Pinocchio aba"] = bench.Call(partial(in_pinocchio, case, *double), batch)
    body = mujoco_.load(case.path, case.floating)
    body.model.opt.disableflags |= OFF
    own = mujoco_.qpos(body, double[0]), mujoco_.qvel(body, *double[:2]), double[2]
    calls["MuJoCo mj_forward"] = bench.Call(
        partial(in_mujoco, body.model, mujoco.MjData(body.model), *own), batch
    )
    seconds = bench.median_times(calls, process_time, PATIENCE)
    return {way: round(1 / spent) for way, spent in seconds.items()}


def in_pinocchio(case: Case, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
    """Call Pinocchio once for every configuration."""
    for state in zip(q, v, tau, strict=True):
        pin.aba(case.model, case.data, *state)


def in_mujoco(model, data, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
    """Call MuJoCo once for every configuration, without contacts and constraints."""
    for data.qpos[:], data.qvel[:], data.qfrc_applied[:] in zip(q, v, tau, strict=True):
        mujoco.mj_forward(model, data)


def of_peer(peer: str, stored: dict | None, batch: int) -> dict | None:
    """Return configurations per second of a peer by robot; the stored ones where its Python is not named."""
    python = python_of(peer, f"TREEFACTOR_{peer.upper()}_PYTHON", stored is not None)
    if not python:
        return stored
    rates = {}
    for name in PEER_ROBOTS:
        robot = robots.find(name)
        with TemporaryDirectory() as folder:
            path, arrays = Path(folder) / "robot.mjb", Path(folder) / "states.npz"
            np.savez(arrays, *states(robots.model_of(robot), batch))
            model = mujoco_.load(robot.path).model
            model.opt.disableflags |= OFF
            mujoco.mj_saveModel(model, str(path))
            code = TIMED.replace("{loaded}", LOADED[peer])
            source = path if peer == "MJX" else robot.path
            rates[name] = round(float(output_of(python, code, str(source), str(arrays)).split()[-1]))
    return rates
