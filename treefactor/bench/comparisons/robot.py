"""Compare times of one robot with its peers, for `treefactor bench`."""

from __future__ import annotations

from functools import cached_property, partial
from itertools import chain

import numpy as np

from ...check.robots import Robot, model_of, refuse_sdf
from ...exceptions import AdapterError, TreefactorError
from ...model.configuration import neutral
from ...quantities.functions import crba, integrate
from ..timing import Call, Comparison
from . import factor as factor_times
from .derivatives import derivatives
from .dynamics import Moving, dynamics
from .factor import batches, cached, parallel, single
from .programs import compiled, interpreted, threaded
from .rollouts import rollouts

WHOLE_BODY = 18  # freedoms from which a target for legged robots and humanoids holds


def robot_comparisons(robot: Robot, threads: int = 2) -> list[Comparison]:
    """Return all comparisons of `treefactor bench` for a robot.

    Parameters
    ----------
    robot : Robot
    threads : int
        Threads to compare with one.

    Raises
    ------
    AdapterError
        If the robot cannot be loaded.

    Notes
    -----
    Without Pinocchio the comparisons with it are left out.
    """
    return case_comparisons(Case(robot), threads)


def case_comparisons(case: Case, threads: int = 2) -> list[Comparison]:
    """Return all comparisons for a robot with its matrices."""
    measured = (single, batches, cached, dynamics, interpreted, compiled, rollouts, derivatives)
    found = chain.from_iterable(comparisons(case) for comparisons in measured)
    return [*found, *parallel(case, threads), *threaded(case, threads)]


robot_duels, case_duels = robot_comparisons, case_comparisons  # the names in release 0.1


class Case:
    """A robot, and a batch of its inertia matrices at random configurations.

    Parameters
    ----------
    robot : Robot
    count : int, optional
        Matrices, ``factor.LARGE`` by default.

    Attributes
    ----------
    model : pinocchio.Model or None
        None where Pinocchio is missing.
    ours : Model
    tree : Tree
    """

    def __init__(self, robot: Robot, count: int | None = None):
        refuse_sdf(robot)
        self.count = factor_times.LARGE if count is None else count
        self.name, self.path, self.floating = robot.name, robot.path, robot.floating
        try:
            from ...adapters import pinocchio_
        except AdapterError:
            self.model, self.ours = None, model_of(robot)
            self.tree = self.ours.tree
        else:
            self.model = pinocchio_.load(robot.path, robot.floating)
            self.ours, self.tree = pinocchio_.model(self.model), pinocchio_.tree(self.model)
        if not self.ours.nv:
            raise TreefactorError(f"{robot.name}: no joint moves, there is nothing to factorize")
        self.data = self.model.createData() if self.model else None
        self.rng = np.random.default_rng(0)

    @cached_property
    def H(self) -> np.ndarray:
        """(count, n, n) inertia matrices."""
        moves = self.rng.normal(size=(self.count, self.ours.nv))
        if self.model is None:
            return crba(self.ours, integrate(self.ours, neutral(self.ours), moves))
        import pinocchio as pin

        from ...adapters import pinocchio_

        rest = pin.neutral(self.model)
        q = np.array([pin.integrate(self.model, rest, v) for v in moves])
        return pinocchio_.mass_matrix(self.model, self.data, q)

    @cached_property
    def b(self) -> np.ndarray:
        """(count, n) right-hand sides."""
        return self.rng.normal(size=(self.count, self.ours.nv))

    @cached_property
    def moving(self) -> Moving:
        """The robot with random states."""
        return Moving(self)

    def goal(self, ratio: float, below: float | None = None) -> float | None:
        """Return the goal for robots of this size: another one below WHOLE_BODY freedoms."""
        return ratio if self.ours.nv >= WHOLE_BODY else below

    def decompose(self) -> Call:
        """Return Pinocchio's factorization of one matrix as a call."""
        import pinocchio as pin

        return Call(partial(pin.cholesky.decompose, self.model, self.data))
