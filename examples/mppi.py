"""Control a panda and a solo12 in flight by sampling (MPPI), and time the rollouts beside MuJoCo's.

In every control step random changes of the forces of the next half second are rolled out, and the forces are
averaged with weights exp(-cost). The arm moves its tool to a pose. The quadruped has no ground to push off
from: it turns level by swinging its legs, within the torques of its motors. The forces are linear between
knots, so that few random numbers make smooth forces within the limits; costs look at the states at the knots.
"""

import argparse
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

import treefactor as tf
from treefactor import robots

FLIGHT = 80  # control steps until the quadruped lands
H, KNOT = 0.01, 8  # s; steps between knots, about
SHARPNESS = 10.0  # of the weights: -log of that of the median sample
PARTS = ("samples", "rollouts", "costs", "average")


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
    weights : tuple of float or ndarray
        Of the squared distance, rotation matrix, velocities of the driven joints, distances to their start.
    """

    robot: str
    model: tf.Model
    frame: str
    start: np.ndarray
    v: np.ndarray
    goal: np.ndarray
    limits: np.ndarray
    spread: np.ndarray
    weights: tuple


def panda() -> Task:
    """Return the task to move the tool of a panda across to a pose; the fingers stay."""
    model = tf.Model.from_urdf(robots.find("panda").path)
    start = np.array([-0.6, 0.2, 0.0, -2.2, 0.0, 2.4, 0.8, 0.02, 0.02])
    turn = np.array([1.2, 0.5, 0.0, 0.6, 0.0, -0.1, -0.3, 0.0, 0.0])
    goal = tf.frame_placement(model, start + turn, "panda_hand_tcp")
    limits, spread = np.repeat([87.0, 12.0, 20.0], [4, 3, 2]), np.repeat([16.0, 0.2], [7, 2])
    fingers = np.repeat([0.0, 1.0], [7, 2])
    weights = 100.0, 2.0, 0.02 + fingers, np.array([0, 0, 1.0, 0, 1.0, 0, 0, 0, 0]) + 1e3 * fingers
    return Task("panda", model, "panda_hand_tcp", start, np.zeros(9), goal, limits, spread, weights)


def solo12() -> Task:
    """Return the task to turn a solo12 level that was thrown up, pitched and rolled."""
    model = tf.Model.from_urdf(robots.find("solo12").path, floating=True)
    start = tf.neutral(model)
    start[7:] = np.tile([0.0, 0.8, -1.6], 4)
    turned = tf.integrate(model, start, np.r_[0, 0, 1.0, 0.3, 0.6, 0, np.zeros(12)])
    v = np.r_[0, 0, 3.0, np.zeros(15)]
    goal = np.eye(3, 4)
    limits, spread = np.full(12, 2.7), np.full(12, 20.0)
    return Task("solo12", model, "base_link", turned, v, goal, limits, spread, (0.0, 4.0, 1e-4, 1e-3))


class Controller:
    """Model predictive path integral control of a task: forces at knots, averaged over samples.

    Parameters
    ----------
    task : Task
    samples, horizon : int
        Trajectories of a control step, and steps of each.
    """

    def __init__(self, task: Task, samples: int, horizon: int):
        self.task, self.model, self.samples = task, task.model, samples
        self.kernels = tf.compile(task.model, ["forward_dynamics"], backend="cc")
        self.rng, n = np.random.default_rng(0), task.model.nv
        self.passive = n - len(task.limits)
        self.places = places = np.linspace(0, horizon - 1, max(2, horizon // KNOT))  # of the knots, in steps
        self.seen = np.unique(np.round(places).astype(int)) + 1
        self.tau = np.empty((horizon, samples, n))
        self.out = tuple(np.empty((samples, horizon + 1, size)) for size in (task.model.nq, n))
        self.plan = np.zeros((len(places), len(task.limits)))  # accelerations at the knots
        self.spent = np.zeros(len(PARTS))

    def resting(self, q) -> tuple[np.ndarray, np.ndarray]:
        """Return forces that keep the driven joints at rest, and their inertia with a free base."""
        H, g, k = tf.crba(self.model, q), tf.generalized_gravity(self.model, q), self.passive
        free = np.linalg.solve(H[:k, :k], np.column_stack([g[:k], H[:k, k:]]))
        return g[k:] - H[k:, :k] @ free[:, 0], H[k:, k:] - H[k:, :k] @ free[:, 1:]

    def control(self, q, v) -> np.ndarray:
        """Return generalized forces for the next step, and prepare those after it."""
        clock = [time.thread_time()]
        accelerations = self.sample(q)
        clock.append(time.thread_time())
        motions = self.kernels.rollout(q, v, self.tau.swapaxes(0, 1), H, out=self.out)
        clock.append(time.thread_time())
        cost = self.cost(*motions)
        clock.append(time.thread_time())
        weight = np.exp(-SHARPNESS * (cost - cost.min()) / (np.median(cost) - cost.min()))
        plan = np.tensordot(weight / weight.sum(), accelerations, (0, 1))
        self.plan = np.array([np.interp(self.places + 1, self.places, a, right=0.0) for a in plan.T]).T
        clock.append(time.thread_time())
        self.spent += np.diff(clock)
        return self.force(q, plan[0])

    def force(self, q, accelerations) -> np.ndarray:
        """Return forces (..., nv), within the limits, for accelerations (..., driven) of a robot at rest."""
        resting, inertia = self.resting(q)
        force = np.zeros((*accelerations.shape[:-1], self.model.nv))
        driven, limits = resting + accelerations @ inertia, self.task.limits
        np.clip(driven, -limits, limits, out=force[..., self.passive :])
        return force

    def sample(self, q) -> np.ndarray:
        """Fill tau with the forces of all samples; return their accelerations at the knots.

        The first sample is the plan; the others differ more and more from it.
        """
        count = len(self.plan)
        accelerations = self.rng.standard_normal((count, self.samples, len(self.task.limits)))
        accelerations *= np.linspace(0.0, 1.0, self.samples)[:, None] * self.task.spread
        accelerations += self.plan[:, None]
        knots = self.force(q, accelerations)
        for at, tau in zip(np.linspace(0, count - 1, len(self.tau)), self.tau, strict=True):
            k = min(int(at), count - 2)
            np.multiply(knots[k], k + 1 - at, out=tau)
            tau += (at - k) * knots[k + 1]
        return accelerations

    def cost(self, q, v) -> np.ndarray:
        """Return the costs of trajectories; infinite where a number is not finite."""
        q, v, task = q[:, self.seen], v[:, self.seen, self.passive :], self.task
        pose = tf.frame_placement(self.model, q, task.frame) - task.goal
        bend = q[..., -v.shape[2] :] - task.start[-v.shape[2] :]
        position, rotation, speed, posture = task.weights
        parts = zip((position, rotation, speed, posture), (pose[..., 3], pose[..., :3], v, bend), strict=True)
        cost = sum((weight * x**2).reshape(len(x), -1).sum(axis=1) for weight, x in parts)
        return np.where(np.isfinite(cost), cost, np.inf)


def simulate(controller: Controller, steps: int) -> np.ndarray:
    """Return the configurations (steps + 1, nq) of the controlled robot."""
    q, v = controller.task.start, controller.task.v
    found = [q]
    for _ in range(steps):
        q, v = tf.step(controller.model, q, v, controller.control(q, v), H)
        found.append(q)
    return np.array(found)


def misses(task: Task, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distances, m, and angles, degrees, from the frame's pose to its goal."""
    pose = tf.frame_placement(task.model, q, task.frame)
    cosine = ((pose[..., :3] * task.goal[:, :3]).sum(axis=(-1, -2)) - 1) / 2
    return np.linalg.norm(pose[..., 3] - task.goal[:, 3], axis=-1), np.degrees(
        np.arccos(np.clip(cosine, -1, 1))
    )


def in_world_axes(model: tf.Model) -> tf.Model:
    """Return the model with three sliding joints and a spherical one as its base: MuJoCo's velocities."""
    base, *others = model.joints
    slides = [tf.Joint(f"base{k}", "prismatic", k - 1, axis=np.eye(3)[k]) for k in range(3)]
    moved = [tf.Joint("turn", "spherical", 2, inertia=base.inertia)]
    moved += [replace(joint, parent=joint.parent + 3) for joint in others]
    return tf.Model(slides + moved, model.gravity, strict=False)


class Peer:
    """MuJoCo's rollout of the samples of a controller's first step, without contacts, and ours of the same.

    Parameters
    ----------
    controller : Controller
    """

    def __init__(self, controller: Controller):
        import mujoco
        from mujoco import rollout

        from treefactor.adapters import mujoco_

        task, self.samples, self.horizon = controller.task, controller.samples, len(controller.tau)
        controller.sample(task.start)
        self.model, self.free = task.model, controller.passive > 0
        self.tau = np.ascontiguousarray(controller.tau.swapaxes(0, 1))
        self.out = controller.out
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
        q, found = control(task, options.samples, options.horizon, options.steps)
        far, turned = misses(task, q)
        samples = f"{options.samples} samples of {options.horizon} steps"
        print(f"{task.robot}: {found['steps']} control steps, {samples}")
        if "distance" in found:
            print(f"distance      {1e3 * far[0]:8.1f} mm in the beginning, {1e3 * far[-1]:.1f} mm in the end")
        print(f"angle         {turned[0]:8.1f} degrees in the beginning, {turned[-1]:.1f} in the end")
        total = sum(found["seconds"].values())
        shares = ", ".join(f"{part} {spent / total:.0%}" for part, spent in found["seconds"].items())
        print(f"control step  {1e3 * total:8.2f} ms: {shares}")
        show(compare(task, options.samples, options.horizon))
        runs.append((task, q, far, turned))
    if options.out:
        draw(options.out, runs)


def control(task: Task, samples: int, horizon: int, steps: int) -> tuple[np.ndarray, dict]:
    """Return the configurations of a controlled robot, and figures of the run.

    These are its control steps, the first and last distance, m, and angle, degrees, from the frame to its
    goal, and the processor time of the parts of a control step, s. Robots in flight land after FLIGHT steps.
    """
    controller = Controller(task, samples, horizon)
    steps = min(steps, FLIGHT) if controller.passive else steps
    q = simulate(controller, steps)
    far, turned = (array[[0, -1]].tolist() for array in misses(task, q))
    found = {"steps": steps, "angle": turned} | ({} if controller.passive else {"distance": far})
    return q, found | {"seconds": dict(zip(PARTS, (controller.spent / steps).tolist(), strict=True))}


def compare(task: Task, samples: int, horizon: int, turns: int = 5) -> dict | None:
    """Return the times of a step of rollouts, and deviations from MuJoCo's; None where it is absent."""
    try:
        task = replace(task, spread=task.spread / 4)  # MuJoCo's motions stay finite
        peer = Peer(Controller(task, samples, horizon))
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
