"""Compare times of all robots of example-robot-data and of three MJCF models with Pinocchio's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import process_time

import numpy as np

from ...check import robots
from ...exceptions import AdapterError, NotPositiveDefiniteError
from ..case import Case
from ..timing import Comparison, Result
from . import dynamics, factor

COUNT = 256  # matrices in a batch
FUNCTIONS = ("crba", "rnea", "aba")
PATIENCE = 0.5  # seconds of one comparison
MJCF = ("dm_control/cheetah", "dm_control/fish", "dm_control/humanoid")
OTHER_WHEELS = "pybullet_data/"
# robots that stand on a free-flyer here, besides robots.FLOATING
MOBILE = (
    *("alex_nub_hands", "alex_psyonic_hands", "alex_sake_hands", "alexander_v1.lowerBodyOnly"),
    *("anymal-kinova", "b1-z1", "borinot_flying_arm_2", "centauro", "g1_29dof_with_hand_rev_1_0"),
    *("human", "icub_reduced", "iris", "iris_simple", "laikago", "quadrotor_base", "quadruped"),
    *("romeo", "romeo_laas_small", "romeo_small", "simple_humanoid_classical", "solo"),
    *("talos_full_v2", "talos_full_v2_box", "talos_reduced_box", "talos_reduced_corrected"),
)
TITLES = {  # of what is timed, a short title and Pinocchio's function
    "factor": ("factor", "cholesky.decompose"),
    "solve": ("solve out=", "cholesky.solve"),
    "solve without out=": ("solve", "cholesky.solve"),
    "factor batch, lanes": ("lanes batch", "cholesky.decompose"),
    "factor batch, packed": ("packed batch", "cholesky.decompose"),
    "crba": ("crba", "crba"),
    "rnea": ("rnea", "rnea"),
    "aba": ("aba", "aba"),
    "crba batch": ("crba batch", "crba"),
    "rnea batch": ("rnea batch", "rneaInParallel"),
    "aba batch": ("aba batch", "abaInParallel"),
    "forward dynamics batch, interpreter": ("interpreter batch", "abaInParallel"),
}


@dataclass(frozen=True)
class Measured:
    """Results of one robot.

    Attributes
    ----------
    robot, base : str
    nv : int
    density : float
        Of the lower triangle of H.
    results : sequence of Result
        Empty if the robot is left out.
    missing : str
        Why the robot is left out, or "".

    Notes
    -----
    Immutable.
    """

    robot: str
    base: str = ""
    nv: int = 0
    density: float = 0.0
    results: Sequence[Result] = ()
    missing: str = ""


@dataclass(frozen=True)
class Distribution:
    """Ratios of one quantity over all robots.

    Attributes
    ----------
    what : str
        A key of ``TITLES``.
    least, low, median, high, most : float
        Smallest ratio, quartiles and largest ratio of times faster than Pinocchio.
    worst : str
        The robot with the smallest ratio.
    robots : int
    goal : float or None
        The largest goal of a robot.
    reached, goals : int
        Robots that reach their goal, and robots that have one.

    Notes
    -----
    Immutable.
    """

    what: str
    least: float
    low: float
    median: float
    high: float
    most: float
    worst: str
    robots: int
    goal: float | None = None
    reached: int = 0
    goals: int = 0


def names() -> list[str]:
    """Return the names of all robots of example-robot-data, and of the MJCF models of dm_control."""
    return [*(name for name in robots.bundled() if not name.startswith(OTHER_WHEELS)), *MJCF]


def measure(chosen: Iterable[str]) -> Iterator[Measured]:
    """Measure robots one after the other.

    Parameters
    ----------
    chosen : iterable of str
        Names as in `names`.

    Yields
    ------
    Measured
    """
    for name in chosen:
        try:
            yield measure_one(name)
        except AdapterError:
            yield Measured(name, missing="not installed, or not loaded by Pinocchio")
        except NotPositiveDefiniteError as error:
            yield Measured(name, missing=str(error))


def measure_one(name: str) -> Measured:
    """Measure one robot; raises AdapterError or NotPositiveDefiniteError if its H cannot be factorized."""
    case = case_of(name)
    results = [comparison.measure() for comparison in comparisons(case)]
    base = robots.find(name, case.floating).base
    return Measured(name, base, case.ours.nv, case.tree.density, results)


def case_of(name: str) -> Case:
    """Return a robot on the base it is meant to stand on."""
    return Case(robots.find(name, True if name in MOBILE else None), COUNT)


def comparisons(case: Case) -> Iterator[Comparison]:
    """Yield the comparisons of one robot, one for each key of `TITLES`, by processor time in one thread.

    Batches that take longer than what a scheduler gives at a time would lose to short calls otherwise,
    wherever something else runs.
    """
    listed = (
        *factor.single(case),
        *_factorizations(case),
        *dynamics.single(case, "S6", FUNCTIONS, "", 1.0),
        *dynamics.batches(case, "S6", FUNCTIONS, "", 9.0),
        *dynamics.batches(case, "S6", ["forward_dynamics"], "interpreter", 9.0),
    )
    for what, comparison in zip(TITLES, listed, strict=True):
        yield replace(comparison, what=what, patience=PATIENCE, clock=process_time)


def _factorizations(case: Case) -> Iterator[Comparison]:
    """Factorize batches of COUNT matrices in both layouts."""
    for layout, goal in (("lanes", 12.0), ("packed", 8.0)):
        ours = partial(factor.refactorization, case, layout, COUNT)
        yield Comparison("S5", case.name, layout, "Pinocchio", ours, case.decompose, case.goal(goal))


def distributions(measured: Iterable[Measured]) -> list[Distribution]:
    """Summarize every quantity over all robots."""
    by_what: dict[str, list[Result]] = {}
    for one in measured:
        for result in one.results:
            by_what.setdefault(result.what, []).append(result)
    return [distribution(results) for results in by_what.values()]


def distribution(results: Sequence[Result]) -> Distribution:
    """Summarize the results of one quantity, one for each robot."""
    ratios = [one.ratio for one in results]
    goals = [one for one in results if one.goal is not None]
    return Distribution(
        results[0].what,
        *map(float, np.quantile(ratios, (0.0, 0.25, 0.5, 0.75, 1.0))),
        worst=min(results, key=lambda one: one.ratio).model,
        robots=len(results),
        goal=max((one.goal for one in goals), default=None),
        reached=sum(bool(one.reached) for one in goals),
        goals=len(goals),
    )
