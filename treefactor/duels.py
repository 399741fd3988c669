"""A robot's duels with its peers: what `treefactor bench` measures."""

from __future__ import annotations

from functools import cached_property, partial
from itertools import chain

import numpy as np

from . import duels_factor
from .bench import Call, Duel
from .duels_dynamics import Moving, dynamics
from .duels_factor import batches, cached, parallel, single
from .duels_programs import compiled, interpreted, threaded
from .exceptions import TreefactorError
from .robots import Robot

WHOLE_BODY = 18  # freedoms from which a target for legged robots and humanoids holds


def robot_duels(robot: Robot, threads: int = 2) -> list[Duel]:
    """Everything that `treefactor bench` measures of a robot.

    Parameters
    ----------
    robot : Robot
    threads : int
        Threads to compare with one.

    Raises
    ------
    AdapterError
        Where Pinocchio is missing, or cannot load the robot.
    """
    return case_duels(Case(robot), threads)


def case_duels(case: Case, threads: int = 2) -> list[Duel]:
    """Everything that is measured of a robot."""
    measured = (single, batches, cached, dynamics, interpreted, compiled)
    found = chain.from_iterable(duels(case) for duels in measured)
    return [*found, *parallel(case, threads), *threaded(case, threads)]


class Case:
    """A robot, and a batch of its inertia matrices at random configurations."""

    def __init__(self, robot: Robot):
        from .adapters import pinocchio_

        self.name, self.path, self.floating = robot.name, robot.path, robot.floating
        self.model = pinocchio_.load(robot.path, robot.floating)
        if not self.model.nv:
            raise TreefactorError(f"{robot.name}: no joint moves, there is nothing to factorize")
        self.data = self.model.createData()
        self.tree = pinocchio_.tree(self.model)
        self.rng = np.random.default_rng(0)

    @cached_property
    def H(self) -> np.ndarray:
        """(duels_factor.LARGE, n, n) inertia matrices."""
        import pinocchio as pin

        from .adapters import pinocchio_

        rest, moves = pin.neutral(self.model), self.rng.normal(size=(duels_factor.LARGE, self.model.nv))
        q = np.array([pin.integrate(self.model, rest, v) for v in moves])
        return pinocchio_.mass_matrix(self.model, self.data, q)

    @cached_property
    def b(self) -> np.ndarray:
        """(duels_factor.LARGE, n) right-hand sides."""
        return self.rng.normal(size=(duels_factor.LARGE, self.model.nv))

    @cached_property
    def moving(self) -> Moving:
        """The robot with states at random."""
        return Moving(self)

    def goal(self, ratio: float, below: float | None = None) -> float | None:
        """The goal for robots like this one: another one below WHOLE_BODY freedoms."""
        return ratio if self.model.nv >= WHOLE_BODY else below

    def decompose(self) -> Call:
        """Pinocchio's factorization of one matrix."""
        import pinocchio as pin

        return Call(partial(pin.cholesky.decompose, self.model, self.data))
