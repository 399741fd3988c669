"""Solve 64 reaching problems of a panda at once by `control.ilqr`, and time Crocoddyl.

A motion has 100 steps of semi-implicit Euler. Its cost is the distance of the tool to a placement, of the
state to a posture at rest, and of the efforts to those that hold this posture. Step lengths, regularization
and the end are those of Crocoddyl's SolverDDP, which solves the same problems one by one where
TREEFACTOR_CROCODDYL_PYTHON names a Python that has it (see peers/crocoddyl_requirements.txt).
"""

import argparse
import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import treefactor as tf
from treefactor import control, robots

FRAME, H = "panda_hand_tcp", 0.01  # s
GOAL, END, STATE, EFFORT = 1.0, 1000.0, 0.1, 1e-3  # weights; all but END are integrated over time
POSTURE = np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8, 0.02, 0.02])  # rad, m
TOLERANCE = 1e-9  # of the expected fall of costs
TURNS = 5  # of one problem alone and its peer
PEER = Path(__file__).parent / "peers" / "crocoddyl_ddp.py"
REQUIREMENTS = "crocoddyl_requirements.txt"  # beside it


class PeerError(RuntimeError):
    """A signal ended the process of the peer."""


@dataclass
class Problems:
    """Arms that start at rest, and placements for their tools.

    Parameters
    ----------
    model : Model
    goal : ndarray, shape (B, 3, 4)
    q0 : ndarray, shape (B, 9)
    u : ndarray, shape (B, T, 9)
        First efforts: those that hold the arms.
    effort : ndarray, shape (9,)
        Efforts that cost nothing.
    """

    model: tf.Model
    goal: np.ndarray
    q0: np.ndarray
    u: np.ndarray
    effort: np.ndarray

    def solve(self, iterations: int = 100) -> control.ILQRResult:
        """Return the best motions."""
        steps = self.u.shape[1]
        cost = [
            control.FrameCost(FRAME, self.goal[:, None], at=np.r_[np.full(steps, GOAL), END]),
            control.StateCost(POSTURE, weight_q=STATE, weight_v=STATE),
            control.ControlCost(self.effort, weight=EFFORT),
        ]
        return control.ilqr(
            self.model, self.q0, np.zeros(9), self.u, cost, H, iterations=iterations, tolerance=TOLERANCE
        )

    def first(self) -> "Problems":
        """Return the first problem alone."""
        return replace(self, goal=self.goal[:1], q0=self.q0[:1], u=self.u[:1])


def problems(count: int = 64, steps: int = 100) -> Problems:
    """Return panda arms that start from random postures and hold them, with random placements to reach."""
    model = tf.Model.from_urdf(robots.find("panda").path)
    rng = np.random.default_rng(0)
    moving = np.r_[np.ones(7), 0.0, 0.0]
    start, end = (POSTURE + amount * moving * rng.normal(size=(count, 9)) for amount in (0.3, 0.5))
    goal = tf.frame_placement(model, end, FRAME)
    u = np.repeat(tf.generalized_gravity(model, start)[:, None], steps, axis=1)
    return Problems(model, goal, start, u, tf.generalized_gravity(model, POSTURE))


def measure(given: Problems, iterations: int, repeats: int):
    """Return the best motions, and figures of the shortest of some runs.

    These are the average and largest number of iterations, the average cost before and after, and the
    processor time per problem, s.
    """
    spent, (count, steps) = [], given.u.shape[:2]
    for _ in range(repeats):
        start = time.process_time()
        result = given.solve(iterations)
        spent.append(time.process_time() - start)
    used = result.iterations
    figures = {"problems": count, "steps": steps, "iterations": float(used.mean())}
    figures |= {"most": int(used.max()), "cost": [float(result.costs[k].mean()) for k in (0, -1)]}
    return result, figures | {"seconds": min(spent) / count}


def crocoddyl(python: str, given: Problems, iterations: int, repeats: int):
    """Return the costs, iterations and processor times of SolverDDP, run by another Python.

    Raises
    ------
    PeerError
        If a signal ends its process, as a segmentation fault does.
    """
    with tempfile.TemporaryDirectory() as folder:
        problem, solution = Path(folder) / "problems.npz", Path(folder) / "solutions.npz"
        np.savez(
            problem,
            **{"urdf": str(robots.find("panda").path), "frame": FRAME, "goal": given.goal},
            **{"q0": given.q0, "u": given.u[:, 0], "steps": given.u.shape[1], "h": H, "posture": POSTURE},
            **{"effort": given.effort, "goal_weight": GOAL, "end_weight": END, "state_weight": STATE},
            **{"effort_weight": EFFORT, "tolerance": TOLERANCE, "iterations": iterations, "repeats": repeats},
        )
        code = subprocess.run([python, str(PEER), str(problem), str(solution)]).returncode
        if code < 0:
            raise PeerError(f"its process ended with {signal.Signals(-code).name}, with {versions(python)}")
        if code:
            raise subprocess.CalledProcessError(code, python)
        return dict(np.load(solution))


def versions(python: str) -> str:
    """Return the versions of the peer's packages, and where those stand that work together."""
    code = (
        "from importlib.metadata import version as v; print('crocoddyl', v('crocoddyl'), 'and pin', v('pin'))"
    )
    run = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return f"{run.stdout.strip()}; versions that work together are in examples/peers/{REQUIREMENTS}"


def measure_alone(given: Problems, iterations: int, repeats: int, python: str | None):
    """Return the figures of the first problem alone, and those of SolverDDP or None, measured in turns."""
    first, own, theirs = given.first(), [], []
    for _ in range(TURNS):
        own.append(measure(first, iterations, repeats)[1])
        if python:
            theirs.append(crocoddyl(python, first, iterations, repeats))
    figures = min(own, key=lambda one: one["seconds"])
    if not python:
        return figures, None
    seconds = min(float(one["seconds"][0]) for one in theirs)
    return figures, {
        "seconds": seconds,
        "iterations": int(theirs[0]["iterations"][0]),
        "ours": figures["seconds"],
    }


def compare(theirs: dict, result: control.ILQRResult) -> dict:
    """Return the figures of SolverDDP beside our costs and iterations."""
    return {
        "seconds": float(theirs["seconds"].mean()),
        "iterations": float(theirs["iterations"].mean()),
        "difference": int(abs(result.iterations - theirs["iterations"]).max()),
        "deviation": float(abs(result.cost / theirs["cost"] - 1.0).max()),
        "version": str(theirs["version"]),
    }


def draw(path: Path, given: Problems, result: control.ILQRResult):
    """Draw the costs over the iterations and the ways of the tool."""
    import matplotlib.pyplot as plt

    costs = result.costs
    figure = plt.figure(figsize=(10.0, 4.5))
    left = figure.add_subplot(1, 2, 1, yscale="log", xlabel="iteration", ylabel="cost above the least")
    left.plot(np.where(costs > costs[-1], costs - costs[-1], np.nan), linewidth=0.8)
    left.locator_params(axis="x", integer=True)
    right = figure.add_subplot(1, 2, 2, projection="3d", xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    tool = tf.frame_placement(given.model, result.q, FRAME)[..., 3]
    for way, goal in zip(tool, given.goal[..., 3], strict=True):
        (line,) = right.plot(*way.T, linewidth=0.8)
        right.plot(*goal[:, None], marker="x", markersize=4, color=line.get_color())
    right.locator_params(nbins=4)
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=64)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3, help="the shortest of so many runs counts")
    parser.add_argument("--out", type=Path, help="write a picture of costs and motions (.png)")
    options = parser.parse_args()
    given = problems(options.problems, options.steps)
    result, figures = measure(given, options.iterations, options.repeats)
    own, used, costs = 1e3 * figures["seconds"], result.iterations, result.costs
    print(result)
    print(
        f"{options.problems} problems of {options.steps} steps: {used.mean():.1f} iterations, "
        f"at most {used.max()}"
    )
    print(f"cost        {costs[0].mean():8.3f} on average, {costs[-1].mean():.3f} in the end")
    print(f"treefactor  {own:8.2f} ms of processor time per problem, {own / used.mean():.2f} per iteration")
    python = os.environ.get("TREEFACTOR_CROCODDYL_PYTHON")
    missing = "TREEFACTOR_CROCODDYL_PYTHON does not name a Python that has it"
    try:
        alone, beside = measure_alone(given, options.iterations, options.repeats, python)
    except PeerError as error:
        missing, python = str(error), None
        alone, beside = measure_alone(given, options.iterations, options.repeats, python)
    print(f"alone       {1e3 * alone['seconds']:8.2f} ms for the first problem")
    if options.out:
        draw(options.out, given, result)
    if not python:
        print(f"Crocoddyl is left out: {missing}")
        return
    theirs = compare(crocoddyl(python, given, options.iterations, options.repeats), result)
    peer, rounds = 1e3 * theirs["seconds"], theirs["iterations"]
    print(f"Crocoddyl   {peer:8.2f} ms of processor time per problem, {peer / rounds:.2f} per iteration")
    print(f"iterations  {rounds:8.1f} on average, largest difference {theirs['difference']}")
    print(f"deviation   {theirs['deviation']:8.1e} of costs at most, relative")
    print(f"ratio       {peer / own:8.1f}, alone {beside['seconds'] / beside['ours']:.1f}")


if __name__ == "__main__":
    main()
