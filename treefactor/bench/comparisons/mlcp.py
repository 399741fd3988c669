"""Compare times of contact problems with other solvers', for `treefactor bench mlcp`.

Times are those of the processor, in one thread. A peer that does not solve a problem is timed nevertheless,
and its status is shown with the residual: some peers stop early or report success without a solution.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from time import process_time

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from ... import mlcp
from ...mlcp.families import FAMILIES
from ...mlcp.problem import Problem
from ..timing import Call, Comparison, Result
from .mlcp_peers import (
    CLARABEL,
    DANTZIG,
    DAQP,
    MOBY,
    PEERS,
    PROXQP,
    PROXQP_DENSE,
    QUADPROG,
    UNREVISED,
    Peer,
    PeerInput,
    daqp,
    reported_status,
)

SEED = 1
LARGE, MIDDLE, SMALL = 500, 200, 10  # rows
PATIENCE = 0.5  # seconds of one comparison: there are many
CHANGE = 0.02  # of velocities, between a problem and the one it is started from

# by family and number of rows: the target, and by peer how many times faster we should be
COLD: dict[tuple[str, int], tuple[str, dict[Peer, float | None]]] = {
    ("robot", LARGE): ("A2", {DANTZIG: 5.0, MOBY: 500.0, DAQP: 30.0, CLARABEL: 3.0, PROXQP: None}),
    ("spheres", LARGE): ("A3", {DANTZIG: 1.25, PROXQP: 2.0, DAQP: 25.0, MOBY: 500.0, CLARABEL: None}),
    ("robot", MIDDLE): ("A4", dict.fromkeys((DANTZIG, UNREVISED, QUADPROG, PROXQP_DENSE))),
    ("spheres", MIDDLE): ("A4", dict.fromkeys((DANTZIG, UNREVISED, QUADPROG, PROXQP_DENSE))),
    ("robot", SMALL): ("A4", dict.fromkeys((DANTZIG, DAQP))),
    ("spheres", SMALL): ("A4", dict.fromkeys((DANTZIG, DAQP))),
    ("lattice", LARGE): ("A7", {DAQP: 5.0, CLARABEL: 1.0, DANTZIG: None}),
    ("robotred", LARGE): ("A7", {DAQP: 0.5, CLARABEL: None, DANTZIG: None}),
    ("dup", LARGE): ("A7", dict.fromkeys((DAQP, PROXQP, DANTZIG))),
    ("column", LARGE): ("A7", dict.fromkeys((DAQP, CLARABEL, DANTZIG))),
    ("infeas", MIDDLE): ("A8", dict.fromkeys((DAQP, CLARABEL, QUADPROG, MOBY, DANTZIG))),
    ("infeasR", MIDDLE): ("A8", dict.fromkeys((DAQP, CLARABEL, QUADPROG, MOBY, DANTZIG))),
}
WITH_A = {("robot", LARGE): 10.0, ("robot", MIDDLE): 1.0, ("spheres", MIDDLE): 1.0}  # the same with A
AND_A = f"{DANTZIG.name} and its A"
WARM = (("robot", LARGE), ("spheres", LARGE))


def mlcp_comparisons() -> list[Comparison]:
    """Return all comparisons of `treefactor bench mlcp` with the peers that are installed."""
    return [comparison for family, m in COLD for comparison in family_comparisons(family, m)]


def family_comparisons(family: str, m: int) -> Iterator[Comparison]:
    """Yield all comparisons of one family and size."""
    yield from cold(family, m)
    if (family, m) in WARM:
        yield from warm(family, m)


class SingleThread(Comparison):
    """Comparison in one thread, by the processor's time."""

    def measure(self) -> Result:
        """Measure both in turns."""
        with threadpool_limits(1):
            return super().measure()


def missing() -> list[str]:
    """Return the names of the peers that are not installed."""
    return [peer.name for peer in PEERS if not peer.available()]


def cold(family: str, m: int) -> Iterator[Comparison]:
    """Solve a problem of a family without a start, compared with every peer."""
    given = PeerInput(FAMILIES[family](m, SEED))
    target, peers = COLD[family, m]
    comparison = partial(SingleThread, target, f"{family} {m}", clock=process_time, patience=PATIENCE)
    problem = given.problem
    ours, again = Call(partial(mlcp.solve, problem)), Call(partial(anew, given.H, problem.D, problem))
    for peer, goal in peers.items():
        if not peer.available():
            continue
        run = peer.prepare(given)
        note = reported_status(given, run())
        yield comparison("cold", peer.name, ours, Call(run), goal, note)
        if peer is DANTZIG and (family, m) in WITH_A:
            both = Call(lambda run=run: (given.assembled(), run()))
            yield comparison("cold", AND_A, ours, both, WITH_A[family, m], note)
            yield comparison("problem made and solved", AND_A, again, both, None, note)
    yield comparison("problem made and solved", "solved", again, ours)


def warm(family: str, m: int) -> Iterator[Comparison]:
    """Solve a problem with velocities changed by `CHANGE`, from the solution of the one before."""
    first = FAMILIES[family](m, SEED)
    before, later = mlcp.solve(first), changed(first)
    comparison = partial(SingleThread, "A5", f"{family} {m}", "warm", clock=process_time, patience=PATIENCE)
    ours = Call(partial(mlcp.solve, later, before))
    yield comparison("cold", ours, Call(partial(mlcp.solve, later)), 1.0 / 0.7)
    if DAQP.available():
        given = PeerInput(later)
        run = daqp(given, before.gamma)
        yield comparison(DAQP.name, ours, Call(run), 25.0, reported_status(given, run()))


def changed(problem: Problem) -> Problem:
    """Return the problem with the free velocities changed by `CHANGE` of their size."""
    free = problem.factor.solve(problem.g)
    noise = np.random.default_rng(SEED).normal(size=problem.n) * CHANGE * np.sqrt(np.mean(free**2))
    return Problem(problem.H, problem.tree, problem.g + problem.H @ noise, D=problem.D, d=problem.d)


def anew(H: np.ndarray, D: csr_array, problem: Problem) -> mlcp.Solution:
    """Build a problem from its matrices again, and solve it."""
    return mlcp.solve(Problem(H, problem.tree, problem.g, D=D, d=problem.d))
