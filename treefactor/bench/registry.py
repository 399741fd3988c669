"""Registry of all comparisons: what `treefactor bench`, `make bench`, asv and the pages measure.

A study declares comparisons that belong together. Their names, peers and goals can be listed before anything
is prepared: `Study.comparisons` returns them for one of its models, `Comparison.measure` prepares and times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from ..check import robots
from . import scaling
from .case import Case
from .comparisons import (
    arms,
    control,
    derivatives,
    dynamics,
    factor,
    frameworks,
    loops,
    mlcp,
    rollouts,
    stepping,
    trees,
)
from .timing import Comparison, Result

ROBOTS = (
    *("double_pendulum", "ur5_robot", "panda", "solo12", "anymal-kinova", "talos_reduced"),
    "talos_full_v2",
)
STANDING = ("anymal-kinova", "talos_full_v2")  # on a free-flyer, unlike in check.robots


@dataclass(frozen=True)
class Study:
    """Comparisons that belong together.

    Attributes
    ----------
    title : str
    listed : callable
        Returns the names of the robots, trees, arms, problems or mechanisms that are measured.
    declare : callable
        Yields the comparisons of a model: of a `Case` if models are robots, else of its name.
    of_robots : bool

    Notes
    -----
    Immutable.
    """

    title: str
    listed: Callable[[], Iterable[str]]
    declare: Callable[[Any], Iterable[Comparison]]
    of_robots: bool = False

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the robots, trees, arms, problems or mechanisms that are measured."""
        return tuple(self.listed())

    def comparisons(self, model: str, load: Callable[[str], Case] | None = None) -> Iterable[Comparison]:
        """Return the comparisons of a model; `load` returns the robot of a name, by default `case`."""
        return self.declare((load or case)(model) if self.of_robots else model)


def of_robots(title: str, *declare: Callable[[Case], Iterable[Comparison]]) -> Study:
    """Return a study of robots."""
    every = lambda case: chain.from_iterable(make(case) for make in declare)  # noqa: E731
    return Study(title, lambda: ROBOTS, every, True)


# in the order in which `treefactor bench ROBOT` measures them
OF_ROBOTS = {
    "one matrix": of_robots("Factor and solve one matrix", factor.single),
    "dense batches": of_robots("Solve batches of dense matrices", factor.batches),
    "cached batches": of_robots("Factor batches in the caches", factor.cached),
    "dynamics": of_robots("Dynamics: recursions and interpreter", dynamics.loops),
    "compiled programs": of_robots("Dynamics: programs compiled as C", dynamics.compiled),
    "rollouts": of_robots("Rollouts", rollouts.rollouts),
    "derivatives": of_robots("Derivatives", derivatives.derivatives),
    "threads": of_robots("Two threads instead of one", factor.parallel, dynamics.threaded),
}
STUDIES: dict[str, Study] = {
    **OF_ROBOTS,
    "frameworks": of_robots("JAX and PyTorch", frameworks.frameworks),
    "packed rows": Study(
        "Factor and solve packed rows of one matrix", trees.SMALL_TREES.keys, trees.packed_rows
    ),
    "sparse solvers": Study("Factor sparse matrices of trees", trees.LARGE_TREES.keys, trees.sparse),
    "chain": Study("Kane-sum recursion of an arm", lambda: ["SSRMS"], arms.chain),
    "arms": Study("Dynamics of an arm without zeros", lambda: ["GENERAL_6R"], arms.compiled),
    "contacts": Study("Contact problems", lambda: mlcp.problems(), mlcp.contacts),
    "steps": Study("Time steps with contacts of shapes", stepping.scenes, stepping.steps),
    "loops": Study("Closed loops", lambda: loops.NAMES, loops.closed_loops),
    "control": Study("Inverse kinematics and iterative LQR", control.TIPS.keys, control.solvers),
}


def case(robot: str) -> Case:
    """Return a robot on the base it is meant to stand on."""
    return Case(robots.find(robot, True if robot in STANDING else None))


def robot_comparisons(case: Case) -> list[Comparison]:
    """Return all comparisons of `treefactor bench` for a robot; without Pinocchio there are fewer."""
    return [one for study in OF_ROBOTS.values() for one in study.declare(case)]


def study_comparisons(name: str) -> list[Comparison]:
    """Return the comparisons of a study for all of its models."""
    study = STUDIES[name]
    return [one for model in study.models for one in study.comparisons(model)]


def everything() -> Iterator[list[Result]]:
    """Yield all results, model by model."""
    for robot in ROBOTS:
        comparisons = [*robot_comparisons(loaded := case(robot)), *STUDIES["frameworks"].declare(loaded)]
        yield [one.measure() for one in comparisons]
    for study in STUDIES.values():
        for model in () if study.of_robots else study.models:
            yield [one.measure() for one in study.comparisons(model)]
    for family in scaling.FAMILIES:
        yield [scaling.steadiness(scaling.growth(family))]


MODELS = (
    len(ROBOTS)
    + sum(len(study.models) for study in STUDIES.values() if not study.of_robots)
    + len(scaling.FAMILIES)
)
