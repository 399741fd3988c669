"""Let 4096 quadruped robots with different bodies fall onto their feet, and time the steps of the batch.

Every solo12 has masses and inertias of its own, a payload of up to 0.5 kg on its back, and rotors of its
own: one `tf.Inertias` for the batch. Springs and dampers are the ground, and a PD controller that knows
nothing of the changes holds the posture. The times of a step are compared with those of the same batch
with shared inertias, and with a loop over models of Pinocchio, one for each of a few elements.
"""

import argparse
import time
from functools import partial
from pathlib import Path

import numpy as np

import treefactor as tf
from treefactor import robots
from treefactor.identification import moved_parameters

FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
H = 0.002  # s
KP, KD = 6.0, 0.2  # N m / rad, N m s / rad
STIFFNESS, DAMPING, FRICTION = 3000.0, 15.0, 0.8  # N/m, N s/m, of a foot


def randomized(model: tf.Model, count: int, seed: int = 0) -> tf.Inertias:
    """Return inertias for a batch: bodies of 0.75 to 1.25 times the mass, payloads and rotors."""
    rng = np.random.default_rng(seed)
    rotors = np.zeros((count, model.nv))
    rotors[:, 6:] = rng.uniform(0.002, 0.006, (count, model.nv - 6))  # kg m^2
    pi = np.broadcast_to(model.parameters, (count, model.njoints, 10))
    inertias = tf.Inertias(model, pi, armature=rotors)
    inertias.scale(None, None, rng.uniform(0.75, 1.25, (count, model.njoints)))
    box = tf.Inertia(1.0, [0, 0, 0.08], np.diag([4e-4, 8e-4, 1e-3])).parameters
    moved = moved_parameters(box, p=rng.uniform([-0.15, -0.05, 0], [0.15, 0.05, 0], (count, 3)))
    inertias.add(None, "root_joint", rng.uniform(0.0, 0.5, (count, 1)) * moved)
    return inertias


class Herd:
    """States of a batch of robots above the ground, with a PD controller.

    Parameters
    ----------
    count : int
    """

    def __init__(self, count: int):
        model = tf.Model.from_urdf(robots.find("solo12").path, floating=True)
        self.model, self.inertias = model, randomized(model, count)
        self.posture = tf.neutral(model)
        self.posture[7:] = np.tile([0.0, 0.8, -1.6], 4)
        lowest = tf.frame_placement(model, self.posture, FEET[0])[2, 3]
        self.posture[2] = 0.05 - lowest  # the feet are 50 mm above the ground
        self.q, self.v = np.tile(self.posture, (count, 1)), np.zeros((count, model.nv))
        self.tau, self.fext = np.zeros((count, model.nv)), np.zeros((count, model.njoints, 6))
        frames = [model.frame(name) for name in FEET]
        self.legs, self.at = [frame.joint for frame in frames], np.array([frame.p for frame in frames])
        self.feet = tf.Kinematics(model, FEET, [(name, "LOCAL_WORLD_ALIGNED") for name in FEET])
        self.seen = self.feet.empty(count)

    def control(self) -> None:
        """Compute the torques of the controller, and the forces of the ground on the lower legs."""
        self.tau[:, 6:] = KP * (self.posture[7:] - self.q[:, 7:]) - KD * self.v[:, 6:]
        placements, velocities = self.feet(self.q, self.v, out=self.seen)
        depth, v = -placements[..., 2, 3], velocities[..., :3]
        force = -DAMPING * v
        force[..., 2] = np.where(depth > 0.0, np.maximum(STIFFNESS * depth + force[..., 2], 0.0), 0.0)
        along = np.linalg.norm(force[..., :2], axis=-1)
        force[..., :2] *= np.minimum(1.0, FRICTION * force[..., 2] / np.maximum(along, 1e-12))[..., None]
        inside = np.einsum("...ji,...j->...i", placements[..., :3], force)
        self.fext[:, self.legs, :3] = inside
        self.fext[:, self.legs, 3:] = np.cross(self.at, inside)

    def step(self, inertias: tf.Inertias | None) -> None:
        """Take one step of all robots, in place; None: all have the inertias of the model."""
        out = self.q, self.v
        tf.step(self.model, self.q, self.v, self.tau, H, fext=self.fext, out=out, inertias=inertias)

    def run(self, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the heights (steps + 1, B) of the bases, m, and the angles that they lean, rad."""
        seen = [self.pose()]
        for _ in range(steps):
            self.control()
            self.step(self.inertias)
            seen.append(self.pose())
        heights, angles = zip(*seen, strict=True)
        return np.array(heights), np.array(angles)

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the heights of the bases, m, and the angles between their z axes and the vertical, rad."""
        x, y = self.q[:, 3], self.q[:, 4]
        return self.q[:, 2].copy(), 2.0 * np.arcsin(np.minimum(np.hypot(x, y), 1.0))


def pinocchio_loop(herd: Herd, count: int):
    """Return a function that steps the first robots by Pinocchio, a model for each, and returns q and v."""
    import pinocchio as pin

    theirs, made = pin.buildModelFromUrdf(str(robots.find("solo12").path), pin.JointModelFreeFlyer()), []
    pi, rotors = herd.inertias.parameters, herd.inertias.armature
    for k in range(count):
        model = theirs.copy()
        for joint in range(1, model.njoints):
            model.inertias[joint] = pin.Inertia.FromDynamicParameters(pi[k, joint - 1])
        model.armature = rotors[k]
        forces = pin.StdVec_Force()
        forces.extend([pin.Force.Zero(), *map(pin.Force, herd.fext[k])])
        made.append(
            (model, model.createData(), forces, herd.q[k].copy(), herd.v[k].copy(), herd.tau[k].copy())
        )

    def steps():
        states = []
        for model, data, forces, q, v, tau in made:
            v = v + H * pin.aba(model, data, q, v, tau, forces)
            states.append((pin.integrate(model, q, H * v), v))
        return states

    return steps


def compare(herd: Herd, few: int, turns: int = 9) -> dict:
    """Return processor times of a step, s: medians of calls in turns; deviations from Pinocchio's step."""
    out = np.empty_like(herd.q), np.empty_like(herd.v)
    step = partial(tf.step, herd.model, herd.q, herd.v, herd.tau, H, fext=herd.fext, out=out)
    calls = {"own": partial(step, inertias=herd.inertias), "shared": step}
    try:
        calls["Pinocchio"] = pinocchio_loop(herd, few)
    except ImportError:
        few = 0
    spent = {name: [] for name in calls}
    for _ in range(turns):
        for name, call in calls.items():
            start = time.process_time()
            call()
            spent[name].append(time.process_time() - start)
    comparison = {"seconds": {name: float(np.median(x)) for name, x in spent.items()}}
    if few:
        comparison["seconds"]["Pinocchio"] *= len(herd.q) / few
        calls["own"]()
        q, v = map(np.array, zip(*calls["Pinocchio"](), strict=True))
        comparison["deviation"] = max(np.abs(out[0][:few] - q).max(), np.abs(out[1][:few] - v).max())
    return comparison


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--robots", type=int, default=4096)
    parser.add_argument("--steps", type=int, default=500, help="steps of 2 ms")
    parser.add_argument("--few", type=int, default=64, help="robots that Pinocchio steps")
    parser.add_argument("--out", type=Path, help="write a picture (.png)")
    options = parser.parse_args()
    herd = Herd(options.robots)
    mass = herd.inertias.parameters[..., 0].sum(axis=1)
    start = time.process_time()
    height, angle = herd.run(options.steps)
    spent = time.process_time() - start
    print(
        f"{options.robots} robots of {mass.min():.2f} to {mass.max():.2f} kg, {options.steps} steps of 2 ms"
    )
    print(f"whole loop        {1e3 * spent / options.steps:7.2f} ms per step, with controller and ground")
    for name, array, unit in (("height", 1e3 * height, "mm"), ("leaning", np.degrees(angle), "degrees")):
        low, middle, high = np.percentile(array[-1], [5, 50, 95])
        print(f"{name:12}      {middle:7.2f} {unit} in the end; 5 % below {low:.2f}, 5 % above {high:.2f}")
    show(compare(herd, min(options.few, options.robots)), options)
    if options.out:
        draw(options.out, herd, mass, height, np.degrees(angle))


def show(comparison: dict, options) -> None:
    """Print what `compare` returns."""
    times = comparison["seconds"]
    own, slower = times["own"], times["own"] / times["shared"]
    print(f"step              {1e3 * own:7.2f} ms, {slower:.2f} times that with shared inertias")
    if "Pinocchio" not in times:
        print("Pinocchio is not installed")
        return
    theirs, ratio = 1e3 * times["Pinocchio"], times["Pinocchio"] / own
    print(f"Pinocchio, loop   {theirs:7.2f} ms, {ratio:.1f} times: extrapolated from {options.few} robots")
    print(f"deviation         {comparison['deviation']:7.1e} from its step")


def draw(path: Path, herd: Herd, mass: np.ndarray, height: np.ndarray, angle: np.ndarray) -> None:
    """Draw the height and the angle of the bases against time, and the last height against the mass."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), dpi=100)
    t = H * np.arange(len(height))
    for plane, array, label in zip(
        axes, (1e3 * height, angle), ("height, mm", "leaning, degrees"), strict=False
    ):
        for inner, shade in ((0, 0.12), (5, 0.2), (25, 0.35)):
            low, high = np.percentile(array, [inner, 100 - inner], axis=1)
            plane.fill_between(t, low, high, color="tab:blue", alpha=shade, linewidth=0)
        plane.plot(t, np.median(array, axis=1), color="black", linewidth=1)
        plane.set(xlabel="time, s", title=f"base: {label}")
    axes[2].plot(mass, 1e3 * height[-1], ".", markersize=1.5, color="tab:blue")
    axes[2].set(xlabel="mass, kg", title=f"height after {t[-1]:.1f} s, mm")
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


if __name__ == "__main__":
    main()
