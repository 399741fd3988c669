"""Compare times of contact problems with other solvers', for `treefactor bench mlcp`.

Times are those of the processor, in one thread. A peer that does not solve a problem is timed nevertheless,
and its status is shown with the residual: some peers stop early or report success without a solution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from time import process_time

import numpy as np
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from ... import mlcp
from ...mlcp.families import FAMILIES
from ...mlcp.problem import Problem
from ..timing import Call, Comparison
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
MADE = "problem made and solved"
AND_A = f"{DANTZIG.name} and its A"
WARM = (("robot", LARGE), ("spheres", LARGE))


def contacts(
    name: str, available: Callable[[Peer], bool] = lambda peer: peer.available()
) -> Iterator[Comparison]:
    """Yield all comparisons of a family and its number of rows, such as "robot 500", with installed peers."""
    family, m = name.split()
    key = family, int(m)
    target, goals = COLD[key]
    first = cache(lambda: PeerInput(FAMILIES[family](int(m), SEED)))
    later = cache(lambda: PeerInput(changed(first().problem)))
    timed = {"clock": process_time, "patience": PATIENCE, "context": partial(threadpool_limits, 1)}
    cold, made = partial(_cold, first), partial(_made, first)
    for peer, goal in goals.items():
        if not available(peer):
            continue
        prepared = cache(partial(_prepared, peer, first))
        result = {"note": partial(_status, first, prepared), **timed}
        yield Comparison(target, name, "cold", peer.name, cold, prepared, goal, **result)
        if peer is DANTZIG and key in WITH_A:
            both = partial(_with_a, first, prepared)
            yield Comparison(target, name, "cold", AND_A, cold, both, WITH_A[key], **result)
            yield Comparison(target, name, MADE, AND_A, made, both, **result)
    yield Comparison(target, name, MADE, "solved", made, cold, **timed)
    if key in WARM:
        warm = partial(_warm, first, later)
        yield Comparison("A5", name, "warm", "cold", warm, partial(_cold, later), 1.0 / 0.7, **timed)
        if available(DAQP):
            prepared = cache(partial(_warm_daqp, first, later))
            note = partial(_status, later, prepared)
            yield Comparison("A5", name, "warm", DAQP.name, warm, prepared, 25.0, note, **timed)


def problems() -> list[str]:
    """Return the names of all families with their numbers of rows."""
    return [f"{family} {m}" for family, m in COLD]


def missing() -> list[str]:
    """Return the names of the peers that are not installed."""
    return [peer.name for peer in PEERS if not peer.available()]


def _cold(given: Callable[[], PeerInput]) -> Call:
    """Return our solution of a problem without a start."""
    return Call(partial(mlcp.solve, given().problem))


def _made(given: Callable[[], PeerInput]) -> Call:
    """Return a problem built from its matrices, and our solution."""
    return Call(partial(anew, given().H, given().problem.D, given().problem))


def _warm(first: Callable[[], PeerInput], later: Callable[[], PeerInput]) -> Call:
    """Return our solution of a problem from that of the one before."""
    return Call(partial(mlcp.solve, later().problem, mlcp.solve(first().problem)))


def _prepared(peer: Peer, given: Callable[[], PeerInput]) -> Call:
    """Return a peer's solution of a problem."""
    return Call(peer.prepare(given()))


def _warm_daqp(first: Callable[[], PeerInput], later: Callable[[], PeerInput]) -> Call:
    """Return DAQP's solution of a problem from that of the one before."""
    return Call(daqp(later(), mlcp.solve(first().problem).gamma))


def _with_a(given: Callable[[], PeerInput], prepared: Callable[[], Call]) -> Call:
    """Return a peer's solution, with A assembled again."""
    run = prepared().run
    return Call(lambda: (given().assembled(), run()))


def _status(given: Callable[[], PeerInput], prepared: Callable[[], Call]) -> str:
    """Return the status that a peer reports, and the residual of its impulses."""
    return reported_status(given(), prepared().run())


def changed(problem: Problem) -> Problem:
    """Return the problem with the free velocities changed by `CHANGE` of their size."""
    free = problem.factor.solve(problem.g)
    noise = np.random.default_rng(SEED).normal(size=problem.n) * CHANGE * np.sqrt(np.mean(free**2))
    return Problem(problem.H, problem.tree, problem.g + problem.H @ noise, D=problem.D, d=problem.d)


def anew(H: np.ndarray, D: csr_array, problem: Problem) -> mlcp.Solution:
    """Build a problem from its matrices again, and solve it."""
    return mlcp.solve(Problem(H, problem.tree, problem.g, D=D, d=problem.d))
