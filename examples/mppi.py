"""Control a panda and a solo12 in flight by sampling (MPPI), and time the rollouts beside MuJoCo's.

In every control step random changes of the forces of the next half second are rolled out, and the forces are
averaged with weights exp(-cost). The arm moves its tool to a pose. The quadruped has no ground to push off
from: it turns level by swinging its legs, within the torques of its motors. The forces are linear between
knots, so that few random numbers make smooth forces; their covariance is that of random accelerations.
"""

import argparse
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

import treefactor as tf
from treefactor import control, robots

FLIGHT = 80  # control steps until the quadruped lands
H, KNOTS = 0.01, 6  # s; knots of the forces of a horizon


@dataclass(frozen=True)
class Task:
    """Robot, start, and what the cost counts: the pose of a frame, speeds and a posture.

    Parameters
    ----------
    robot : str
    model : Model
    frame : str
    start, v : ndarray, shapes (nq,), (nv,)
    goal : ndarray, shape (3, 4)
        Pose of the frame.
    limits, spread : ndarray, shape (driven,)
        Largest forces of the driven joints, the last ones, N m or N; standard deviations of their
        accelerations, rad/s^2 or m/s^2.
    hold : ndarray, shape (driven,)
        Forces that hold the robot at the start.
    weights : tuple of float or ndarray
        Of half the squared distance, angle, velocities of the driven joints, distances to their start.
    """

    robot: str
    model: tf.Model
    frame: str
    start: np.ndarray
    v: np.ndarray
    goal: np.ndarray
    limits: np.ndarray
    spread: np.ndarray
    hold: np.ndarray
    weights: tuple


def panda() -> Task:
    """Return the task to move the tool of a panda across to a pose; the fingers stay."""
    model = tf.Model.from_urdf(robots.find("panda").path)
    start = np.array([-0.6, 0.2, 0.0, -2.2, 0.0, 2.4, 0.8, 0.02, 0.02])
    turn = np.array([1.2, 0.5, 0.0, 0.6, 0.0, -0.1, -0.3, 0.0, 0.0])
    goal = tf.frame_placement(model, start + turn, "panda_hand_tcp")
    limits, spread = np.repeat([87.0, 12.0, 20.0], [4, 3, 2]), np.repeat([4.0, 0.05], [7, 2])
    fingers = np.repeat([0.0, 1.0], [7, 2])
    weights = 200.0, 8.0, 0.04 + 2 * fingers, np.array([0, 0, 2.0, 0, 2.0, 0, 0, 0, 0]) + 2e3 * fingers
    hold = tf.generalized_gravity(model, start)
    return Task("panda", model, "panda_hand_tcp", start, np.zeros(9), goal, limits, spread, hold, weights)


def solo12() -> Task:
    """Return the task to turn a solo12 level that was thrown up, pitched and rolled."""
    model = tf.Model.from_urdf(robots.find("solo12").path, floating=True)
    start = tf.neutral(model)
    start[7:] = np.tile([0.0, 0.8, -1.6], 4)
    turned = tf.integrate(model, start, np.r_[0, 0, 1.0, 0.3, 0.6, 0, np.zeros(12)])
    v = np.r_[0, 0, 3.0, np.zeros(15)]
    limits, spread, hold = np.full(12, 2.7), np.full(12, 10.0), np.zeros(12)
    weights = 0.0, 16.0, 2e-4, 2e-3
    return Task("solo12", model, "base_link", turned, v, np.eye(3, 4), limits, spread, hold, weights)


def cost(task: Task, horizon: int) -> list:
    """Return the terms of the cost, which count at the knots."""
    at = np.zeros(horizon + 1)
    at[np.round(np.linspace(1, horizon, KNOTS)).astype(int)] = 1.0 / H  # running weights are multiplied by H
    at[-1] = 1.0
    passive = np.zeros(task.model.nv - len(task.limits))
    position, angle, *driven = task.weights
    speed, posture = (np.r_[passive, np.broadcast_to(weight, len(task.limits))] for weight in driven)
    return [
        control.FrameCost(task.frame, task.goal, weight=np.repeat([position, angle], 3), at=at),
        control.StateCost(task.start, weight_q=posture, weight_v=speed, at=at),
    ]


def controller_of(task: Task, samples: int, horizon: int, dtype=np.float64, **options):
    """Return the controller of a task, with compiled forward dynamics in a precision."""
    model, passive = task.model, task.model.nv - len(task.limits)
    M = tf.crba(model, task.start)
    free = np.linalg.solve(M[:passive, :passive], M[:passive, passive:])
    inertia = M[passive:, passive:] - M[passive:, :passive] @ free  # of the driven joints, with a free base
    return control.SamplingController(
        tf.compile(model, ["forward_dynamics"], backend="cc", dtype=dtype),
        cost(task, horizon),
        horizon=horizon,
        dt=H,
        samples=samples,
        knots=KNOTS,
        noise=inertia * task.spread,
        idle=task.hold,
        control_limits=(-task.limits, task.limits),
        actuated=np.eye(model.nv)[:, passive:],
        **options,
    )


def simulate(task: Task, controller: control.SamplingController, steps: int) -> tuple[np.ndarray, float]:
    """Return configurations (steps + 1, nq) of the controlled robot, and the time of a control step, s."""
    q, v = task.start, task.v
    force, passed, spent = np.zeros(task.model.nv), [q], 0.0
    for _ in range(steps):
        start = time.thread_time()
        force[-len(task.limits) :] = controller.command(q, v)
        spent += time.thread_time() - start
        q, v = tf.step(task.model, q, v, force, H)
        passed.append(q)
    return np.array(passed), spent / steps


def misses(task: Task, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distances, m, and angles, degrees, from the frame's pose to its goal."""
    pose = tf.frame_placement(task.model, q, task.frame)
    cosine = ((pose[..., :3] * task.goal[:, :3]).sum(axis=(-1, -2)) - 1) / 2
    return np.linalg.norm(pose[..., 3] - task.goal[:, 3], axis=-1), np.degrees(
        np.arccos(np.clip(cosine, -1, 1))
    )


def forces(task: Task, samples: int, horizon: int) -> np.ndarray:
    """Return the forces (samples, horizon, driven) that the controller tries first."""
    tried = []

    def keep(motions: control.SampledMotions) -> np.ndarray:
        tried.append(motions.u)
        return np.zeros(samples)

    controller = controller_of(task, samples, horizon, at="steps")
    controller.set_cost(keep)
    controller.plan(task.start, task.v)
    return tried[0]


def in_world_axes(model: tf.Model) -> tf.Model:
    """Return the model with three sliding joints and a spherical one as its base: MuJoCo's velocities."""
    base, *others = model.joints
    slides = [tf.Joint(f"base{k}", "prismatic", k - 1, axis=np.eye(3)[k]) for k in range(3)]
    moved = [tf.Joint("turn", "spherical", 2, inertia=base.inertia)]
    moved += [replace(joint, parent=joint.parent + 3) for joint in others]
    return tf.Model(slides + moved, model.gravity, strict=False)


class Peer:
    """MuJoCo's rollout of random forces, without contacts, and ours of the same.

    Parameters
    ----------
    task : Task
    samples, horizon : int
    """

    def __init__(self, task: Task, samples: int, horizon: int):
        import mujoco
        from mujoco import rollout

        from treefactor.adapters import mujoco_

        self.samples, self.horizon, self.model = samples, horizon, task.model
        self.free = len(task.limits) < task.model.nv
        self.tau = np.zeros((samples, horizon, task.model.nv))
        self.tau[..., -len(task.limits) :] = forces(task, samples, horizon)
        self.out = tuple(np.empty((samples, horizon + 1, size)) for size in (task.model.nq, task.model.nv))
        self.start, self.v0, self.v = task.start, task.v, task.v.copy()
        self.order = np.arange(self.model.nq)  # of the entries of q, in MuJoCo
        if self.free:
            self.order[3:7] = 6, 3, 4, 5
            self.v[:3] = tf.frame_placement(self.model, self.start, task.frame)[:, :3] @ self.v[:3]
        theirs = mujoco_.load(robots.find(task.robot).path, self.free).model
        theirs.opt.timestep = H
        theirs.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        state = np.concatenate([[0.0], self.start[self.order], self.v])
        self.state = np.empty((self.samples, self.horizon, len(state)))
        self.run = partial(
            *(rollout.rollout, theirs, mujoco.MjData(theirs), np.tile(state, (self.samples, 1)), self.tau),
            control_spec=int(mujoco.mjtState.mjSTATE_QFRC_APPLIED),
            state=self.state,
        )

    def deviations(self) -> tuple[float, float]:
        """Return the largest deviations after the first and the last step, of positions and velocities."""
        self.run()
        times = H * np.arange(1, self.horizon + 1)
        if not np.allclose(self.state[..., 0], times):
            raise RuntimeError("MuJoCo started diverged motions anew: take smaller forces")
        model = in_world_axes(self.model) if self.free else self.model
        q, v = tf.rollout(model, self.start, self.v, self.tau, H)
        off = np.abs(np.concatenate([q[:, 1:, self.order], v[:, 1:]], axis=-1) - self.state[..., 1:])
        return off[:, 0].max(), off[:, -1].max()

    def times(self, turns: int) -> dict[str, float]:
        """Return processor times of a step, s: the medians of calls in turns, on one thread."""
        functions = {"tf.rollout": partial(tf.rollout, self.model)}
        for backend in ("interp", "cc"):
            kernels = tf.compile(self.model, ["forward_dynamics"], backend=backend)
            functions[f"program, {kernels.backend}"] = kernels.rollout
        calls = {"mujoco.rollout": self.run}
        calls |= {k: partial(f, self.start, self.v0, self.tau, H, out=self.out) for k, f in functions.items()}
        spent = {name: [] for name in calls}
        for _ in range(turns):
            for name, call in calls.items():
                start = time.thread_time()
                call()
                spent[name].append(time.thread_time() - start)
        return {name: float(np.median(x)) / (self.samples * self.horizon) for name, x in spent.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1024)
    parser.add_argument("--horizon", type=int, default=50, help="steps of 10 ms of each sample")
    parser.add_argument("--steps", type=int, default=150, help="control steps of 10 ms of the panda")
    parser.add_argument("--out", type=Path, help="write a picture (.png)")
    options = parser.parse_args()
    runs = []
    for task in (panda(), solo12()):
        q, figures = run(task, options.samples, options.horizon, options.steps)
        far, turned = misses(task, q)
        samples = f"{options.samples} samples of {options.horizon} steps"
        print(f"{task.robot}: {figures['steps']} control steps, {samples}")
        if "distance" in figures:
            print(f"distance      {1e3 * far[0]:8.1f} mm in the beginning, {1e3 * far[-1]:.1f} mm in the end")
        print(f"angle         {turned[0]:8.1f} degrees in the beginning, {turned[-1]:.1f} in the end")
        for precision, spent in figures["seconds"].items():
            print(f"control step  {1e3 * spent:8.2f} ms with motions in {precision}")
        show(compare(task, options.samples, options.horizon))
        runs.append((task, q, far, turned))
    if options.out:
        draw(options.out, runs)


def run(task: Task, samples: int, horizon: int, steps: int) -> tuple[np.ndarray, dict]:
    """Return the configurations of a controlled robot, and figures of the run.

    These are its control steps, the first and last distance, m, and angle, degrees, from the frame to its
    goal, and the processor time of a control step in both precisions, s. Robots in flight land after FLIGHT
    steps.
    """
    in_flight = task.model.nv > len(task.limits)
    steps = min(steps, FLIGHT) if in_flight else steps
    seconds = {}
    for dtype in (np.float32, np.float64):
        controller = controller_of(task, samples, horizon, dtype)
        q, seconds[np.dtype(dtype).name] = simulate(task, controller, steps)
    far, turned = (array[[0, -1]].tolist() for array in misses(task, q))
    figures = {"steps": steps, "angle": turned} | ({} if in_flight else {"distance": far})
    return q, figures | {"seconds": seconds}


def compare(task: Task, samples: int, horizon: int, turns: int = 5) -> dict | None:
    """Return the times of a step of rollouts, and deviations from MuJoCo's; None where it is absent."""
    try:
        task = replace(task, spread=task.spread / 4)  # MuJoCo's motions stay finite
        peer = Peer(task, samples, horizon)
    except (ImportError, tf.AdapterError):
        return None
    deviations = [float(deviation) for deviation in peer.deviations()]
    return {"deviations": deviations, "seconds": peer.times(turns)}


def show(compared: dict | None) -> None:
    """Print what `compare` has found."""
    if compared is None:
        print("MuJoCo is not installed")
        return
    first, last = compared["deviations"]
    print(f"deviation     {first:8.1e} after the first step, {last:.1e} after the last")
    times = compared["seconds"]
    for name, spent in times.items():
        print(
            f"{name:16} {1e9 * spent:5.0f} ns per step and core, ratio {times['mujoco.rollout'] / spent:.1f}"
        )


def draw_legs(space, task: Task, q: np.ndarray) -> None:
    """Draw the base and the legs at five times, each one moved aside."""
    for number, k in enumerate(np.linspace(0, len(q) - 1, 5).astype(int)):
        for leg in ("FL", "FR", "HL", "HR"):
            names = ["base_link", *(f"{leg}_{part}" for part in ("HAA", "HFE", "KFE", "FOOT"))]
            x, _, z = np.array([tf.frame_placement(task.model, q[k], name)[:, 3] for name in names]).T
            colour = 0.2, 0.3 + 0.1 * number, 0.9 - 0.15 * number
            space.plot(x - q[k, 0] + 0.8 * number, z - q[k, 2], color=colour)
    space.set(title=f"base and legs every {H * (len(q) - 1) / 4:.2f} s", aspect="equal")


def draw(path: Path, runs: list) -> None:
    """Draw the path of the tool, the legs at several times, and how far the robots are from their goals."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 2, figsize=(8, 6), dpi=100)
    for (space, plane), (task, q, far, turned) in zip(axes, runs, strict=True):
        time = H * np.arange(len(q))
        if task.robot == "panda":
            tool = tf.frame_placement(task.model, q, task.frame)[..., 3]
            space.plot(tool[:, 1], tool[:, 2], color="tab:blue")
            space.plot(*task.goal[1:, 3], "o", color="tab:red")
            space.set(xlabel="y, m", ylabel="z, m", title="path of the tool", aspect="equal")
            plane.plot(time, 1e3 * far, label="distance, mm")
        else:
            draw_legs(space, task, q)
        plane.plot(time, turned, color="tab:orange", label="angle, degrees")
        plane.set(xlabel="time, s", ylim=(0, None), title=f"{task.robot}: from the frame to its goal")
        plane.legend()
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


if __name__ == "__main__":
    main()
