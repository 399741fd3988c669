"""Compare solvers of `treefactor.control` with loops over Pinocchio and with Crocoddyl.

For `treefactor bench control`. Pinocchio's loop is what scripts have: it takes one target after the other,
clips steps at the limits and begins again at a random configuration after `ROUND` of them. Crocoddyl runs in
the Python that an environment variable names, because its wheel needs another Pinocchio; it solves one
problem after the other.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np

from ...check import robots
from ...control import ControlCost, FrameCost, InverseKinematics, StateCost, ilqr
from ...model.configuration import random_configuration
from ...model.model import Model
from ...quantities.functions import frame_placement, generalized_gravity
from ..timing import Call, Comparison

VARIABLE = "TREEFACTOR_CROCODDYL_PYTHON"
TIPS = {"panda": "panda_hand_tcp", "ur5_robot": "tool0"}
RESTS = {
    "panda": [0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8, 0.02, 0.02],
    "ur5_robot": [0, -1.2, 1.5, -0.9, -1.6, 0],
}
TARGETS, FEW = 1000, 20  # of inverse kinematics; of them for loops over single ones
TOLERANCE, ROUND, ROUNDS = 1e-4, 20, 50  # m and rad; steps of an attempt; attempts
MOTIONS, STEPS, H = 16, 100, 0.01
RUNNING, FINAL = (1.0, 0.1, 1e-3), (1000.0, 0.1)  # weights of the goal, the state and the effort
STOP = 1e-9
MANY, ONE = f"inverse kinematics of {TARGETS}", "inverse kinematics of one"
LEAST = f"iterative LQR of {MOTIONS}"
GOALS = {("panda", MANY): 300.0, ("panda", LEAST): 12.0}
MOST = {("panda", ONE): 20e-6}  # seconds


def solvers(name: str) -> Iterator[Comparison]:
    """Compare inverse kinematics of an arm with Pinocchio, and motions of least cost with Crocoddyl."""
    from ...adapters import pinocchio_  # noqa: F401  # AdapterError without Pinocchio

    targets, motions = cache(partial(Targets, name)), cache(partial(Motions, name))
    for what in (MANY, ONE):
        yield Comparison(
            *("control", name, what, "Pinocchio"),
            ours=lambda what=what: targets().ours(what),
            theirs=lambda: targets().theirs(),
            goal=GOALS.get((name, what)),
            most=MOST.get((name, what)),
            note=lambda: targets().note(),
            clock=process_time,
        )
    if crocoddyl_python():
        yield Comparison(
            *("control", name, LEAST, "Crocoddyl"),
            ours=lambda: motions().ours(),
            theirs=lambda: motions().theirs(),
            goal=GOALS.get((name, LEAST)),
            note=lambda: motions().note(),
            clock=perf_counter,  # Crocoddyl is another process
        )


def crocoddyl_python() -> str | None:
    """Return the Python that has Crocoddyl, or None."""
    return os.environ.get(VARIABLE)


class Targets:
    """Reachable targets of an arm.

    Parameters
    ----------
    name : str
        Of a robot in `TIPS`.
    """

    def __init__(self, name: str):
        from ...adapters import pinocchio_

        path, self.frame = robots.find(name).path, TIPS[name]
        self.model = Model.from_urdf(path)
        self.targets = frame_placement(
            self.model, random_configuration(self.model, 0, size=TARGETS), self.frame
        )
        self.few = self.targets[: min(FEW, TARGETS)]
        self.many = InverseKinematics(self.model, self.frame, tolerance=TOLERANCE)
        self.one = InverseKinematics(self.model, self.frame, tolerance=TOLERANCE, starts=8)
        self.peer = PinocchioLoop(pinocchio_.load(path, False), self.frame)
        self.middle = 0.5 * (self.model.lower + self.model.upper)

    def ours(self, what: str) -> Call:
        """Return the search for all targets at once, or for a few one by one, with eight starts."""
        if what == MANY:
            return Call(partial(self.many, self.targets), len(self.targets))
        return Call(lambda: [self.one(target) for target in self.few], len(self.few))

    def theirs(self) -> Call:
        """Return the loop over Pinocchio for a few targets."""
        return Call(self.loop, len(self.few))

    def loop(self) -> list[bool]:
        """Return which of a few targets the loop over Pinocchio reaches."""
        rng = np.random.default_rng(1)
        return [self.peer.solve(self.middle, target, rng) for target in self.few]

    def note(self) -> str:
        """Return a text with the shares of targets that were reached."""
        own, theirs = self.many(self.targets).solved.mean(), np.mean(self.loop())
        return f"{own:.1%} solved, {theirs:.0%} by the peer"


class PinocchioLoop:
    """Damped least squares with Pinocchio's functions and NumPy; steps are clipped at the limits.

    Parameters
    ----------
    model : pinocchio.Model
    frame : str
    """

    def __init__(self, model, frame: str):
        from ...adapters.pinocchio_ import pin

        self.pin, self.model, self.data, self.frame = pin, model, model.createData(), model.getFrameId(frame)
        self.lower, self.upper = model.lowerPositionLimit, model.upperPositionLimit

    def solve(self, q: np.ndarray, target: np.ndarray, rng: np.random.Generator) -> bool:
        """Return whether a target is reached, from a start, then from random ones."""
        pin, model, data, frame = self.pin, self.model, self.data, self.frame
        goal, one = pin.SE3(target[:, :3], target[:, 3]), np.eye(6)
        for _ in range(ROUNDS):
            for _ in range(ROUND):
                pin.computeJointJacobians(model, data, q)
                e = pin.log6(pin.updateFramePlacement(model, data, frame).actInv(goal)).vector
                if max(e[:3] @ e[:3], e[3:] @ e[3:]) < TOLERANCE**2:
                    return True
                J = pin.getFrameJacobian(model, data, frame, pin.LOCAL)
                s = J.T @ np.linalg.solve(J @ J.T + (0.02 * (e @ e) + 1e-7) * one, e)
                q = np.clip(q + s, self.lower, self.upper)
            q = rng.uniform(self.lower, self.upper)
        return False


class Motions:
    """Motions of an arm to random placements of its tool; Crocoddyl waits for them in a process of its own.

    Parameters
    ----------
    name : str
        Of a robot in `TIPS`.
    """

    def __init__(self, name: str):
        path, frame = robots.find(name).path, TIPS[name]
        self.model, rest = Model.from_urdf(path), np.array(RESTS[name], float)
        rng, moving = np.random.default_rng(0), np.arange(self.model.nv) < 7
        q0, ends = (rest + amount * moving * rng.normal(size=(MOTIONS, rest.size)) for amount in (0.3, 0.5))
        goal, hold = frame_placement(self.model, ends, frame), generalized_gravity(self.model, rest)
        u = generalized_gravity(self.model, q0)
        at = np.r_[np.full(STEPS, RUNNING[0]), FINAL[0]]
        self.cost = [
            FrameCost(frame, goal[:, None], at=at),
            StateCost(rest, weight_q=RUNNING[1], weight_v=RUNNING[1]),
            ControlCost(hold, weight=RUNNING[2]),
        ]
        self.start = q0, np.zeros(self.model.nv), np.repeat(u[:, None], STEPS, axis=1)
        self.iterations = int(self.solve().iterations.sum())
        with TemporaryDirectory() as folder:
            file = Path(folder) / "problems.npz"
            np.savez(
                file,
                **{"urdf": str(path), "frame": frame, "goal": goal, "q0": q0, "u": u, "hold": hold, "h": H},
                **{"rest": rest, "steps": STEPS, "running": RUNNING, "final": FINAL, "tolerance": STOP},
                iterations=100,
            )
            script = Path(__file__).with_name("crocoddyl_peer.py")
            self.process = subprocess.Popen(
                [os.environ[VARIABLE], str(script), str(file)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self.their_cost, self.their_iterations = self.ask()[:2]

    def __del__(self):
        process = self.__dict__.get("process")
        if process is not None:
            process.communicate()

    def solve(self):
        """Return our motions of least cost."""
        return ilqr(self.model, *self.start, self.cost, H, tolerance=STOP)

    def ask(self) -> list[float]:
        """Return mean cost, iterations and processor time of Crocoddyl, after it has solved all problems."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return [float(word) for word in self.process.stdout.readline().split()]

    def ours(self) -> Call:
        """Return our search for all motions; an item is an iteration of a problem."""
        return Call(self.solve, self.iterations)

    def theirs(self) -> Call:
        """Return that of Crocoddyl."""
        return Call(self.ask, self.their_iterations)

    def note(self) -> str:
        """Return a text with the difference of costs, and the iterations of both."""
        apart = abs(self.solve().cost.mean() / self.their_cost - 1.0)
        return f"costs differ by {apart:.0e}, {self.iterations} and {self.their_iterations:.0f} iterations"
