"""State the problem that the trajectories in JAX and PyTorch solve, compare contestants and draw the result.

A robot at rest reaches with its tool for goals on a circle, one goal per trajectory, in semi-implicit Euler
steps. Its forces are those that hold it at first plus ``scale x``, with a scale that makes x an acceleration
of each joint alone. The cost is half the squared distance to the goal in the end, plus velocities and x on
the way.
"""

import argparse
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from peers.turns import Contestant, contest, variable

import treefactor as tf
from treefactor import robots

RADIUS = 0.25  # m
RATE, EFFORT = 1e-4, 1e-6  # weights of velocities and of x, per second
AGREED = 1e-9  # of the largest entry


@dataclass
class Reach:
    """A robot's model, the path of its file, and the arrays of the problem."""

    path: Path
    model: tf.Model
    frame: str
    arrays: dict

    def tau(self, x) -> np.ndarray:
        """Return the forces of controls."""
        return self.arrays["hold"] + self.arrays["scale"] * x

    def tool_paths(self, x) -> np.ndarray:
        """Return the positions (B, T + 1, 3) of the tool."""
        q0 = np.broadcast_to(self.arrays["q0"], (len(x), self.model.nq))
        q, _ = tf.rollout(self.model, q0, np.zeros_like(q0), self.tau(x), float(self.arrays["h"]))
        return tf.frame_placement(self.model, q, self.frame)[..., 3]

    def report(self, costs, x, spent: float) -> None:
        """Print costs (iterations, B), distances from the goals and the seconds of an optimization."""
        trajectories, steps, nv = x.shape
        miss = 1e3 * np.linalg.norm(self.tool_paths(x)[:, -1] - self.arrays["goals"], axis=-1)
        print(f"{trajectories} trajectories of {steps} steps, {nv} freedoms")
        print(f"Adam   {len(costs)} iterations in {spent:.1f} s")
        print(f"cost   {costs[0].mean():.2e} at first, {costs[-1].mean():.2e} in the end, on average")
        print(f"tool   {miss.mean():.1f} mm from its goal on average, at most {miss.max():.1f} mm")

    def contest(self, names, extra: dict, turns: int) -> list[Contestant]:
        """Compute the gradient by all contestants, check it, and measure in turns.

        Raises
        ------
        RuntimeError
            If a peer's accelerations or gradient differ from those of treefactor.
        """
        joint = self.model.frame(self.frame)
        rng = np.random.default_rng(1)
        states = {name: rng.uniform(-1.0, 1.0, (8, self.model.nv)) for name in ("q", "v", "tau")}
        names_of_joints = [one.name for one in self.model.joints]
        known = {"urdf": str(self.path), "joint": joint.joint, "p": joint.p, "joints": names_of_joints}
        with tempfile.TemporaryDirectory() as folder:
            contestants = contest(names, self.arrays | states | known | extra, Path(folder), turns)
        expected = tf.forward_dynamics(self.model, states["q"], states["v"], states["tau"])
        for one in contestants:
            one.deviations = (
                deviation(one.answer["accelerations"], expected),
                deviation(one.answer["gradient"], contestants[0].answer["gradient"]),
            )
            if max(one.deviations) > AGREED:
                raise RuntimeError(f"{one.name} computes another problem: {one.deviations}")
        return contestants


def problem(robot: str, frame: str, q0, trajectories: int, steps: int, h: float) -> Reach:
    """Return the problem of a robot; the goals are on a circle about its tool, across the x axis."""
    path = robots.find(robot).path
    model = tf.Model.from_urdf(path)
    q0, rest = np.array(q0, dtype=float), np.zeros(model.nv)
    angle = np.linspace(0.0, 2.0 * np.pi, trajectories, endpoint=False)
    circle = RADIUS * np.stack([np.zeros_like(angle), np.cos(angle), np.sin(angle)], axis=-1)
    arrays = {
        "q0": q0,
        "hold": tf.bias(model, q0, rest),
        "scale": np.diag(tf.crba(model, q0)).copy(),
        "x": np.zeros((trajectories, steps, model.nv)),
        "goals": tf.frame_placement(model, q0, frame)[:, 3] + circle,
        "h": h,
        "rate": RATE,
        "effort": EFFORT,
    }
    return Reach(path, model, frame, {name: np.asarray(array) for name, array in arrays.items()})


def deviation(values, expected) -> float:
    """Return the largest difference, divided by the largest entry."""
    return float(np.abs(values - expected).max() / np.abs(expected).max())


def arguments(description: str, trajectories: int, iterations: int) -> argparse.Namespace:
    """Parse the command line of an example."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--trajectories", type=int, default=trajectories)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--iterations", type=int, default=iterations, help="of Adam")
    parser.add_argument("--turns", type=int, default=5, help="in which the peers are measured; 0: not at all")
    parser.add_argument("--out", type=Path, help="picture to write")
    return parser.parse_args()


def pythons(peers) -> dict[str, str | None]:
    """Return the interpreters of peers, and print which variable is not set."""
    interpreters = {name: os.environ.get(variable(name)) for name in peers}
    for name, python in interpreters.items():
        if python is None:
            print(f"{name} is left out: {variable(name)} names no Python with peers/{name}_requirements.txt")
    return interpreters


def figures(contestants: list[Contestant]) -> dict:
    """Return by name the seconds of a gradient, those to compile, and deviations of a and of the gradient."""
    return {
        one.name: {
            "seconds": float(np.median(one.turns)),
            "compile": float(one.answer["compiled"]),
            "deviations": list(one.deviations),
        }
        for one in contestants
    }


def show(contestants: list[Contestant], trajectories: int) -> None:
    """Print gradients per second, the time to compile and deviations."""
    own = np.median(contestants[0].turns)
    print(f"{'':20}{'ms':>10}{'gradients/s':>13}{'ratio':>8}{'compile s':>11}   deviation of a, gradient")
    for one in contestants:
        spent = np.median(one.turns)
        by_a, by_x = one.deviations
        print(
            f"{one.name:20}{1e3 * spent:10.2f}{trajectories / spent:13.0f}{spent / own:8.1f}"
            f"{one.answer['compiled']:11.2f}   {by_a:.1e}, {by_x:.1e}"
        )


def draw(out: Path, reach: Reach, costs: np.ndarray, x: np.ndarray) -> None:
    """Draw the costs (iterations, B) and the paths of the tool."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), constrained_layout=True)
    left.semilogy(costs, color="C0", linewidth=0.3, alpha=0.5)
    left.semilogy(np.median(costs, axis=1), color="C1", label="median")
    left.set(xlabel="iteration", ylabel="cost")
    left.legend()
    paths, goals = reach.tool_paths(x), reach.arrays["goals"]
    right.plot(paths[..., 1].T, paths[..., 2].T, color="C0", linewidth=0.7)
    right.plot(goals[:, 1], goals[:, 2], "x", color="C3", label="goals")
    right.set(xlabel="y of the tool, m", ylabel="z of the tool, m", aspect="equal")
    right.legend()
    figure.savefig(out, dpi=100)
    plt.close(figure)
