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

from ... import mlcp
from ..._util.threads import one_blas_thread
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
    PeerResult,
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
    solution = cache(lambda: mlcp.solve(first().problem))
    timed = {"clock": process_time, "patience": PATIENCE, "context": one_blas_thread}

    def cold() -> Call:
        return Call(partial(mlcp.solve, first().problem))

    def made() -> Call:
        return Call(partial(anew, first().H, first().problem.D, first().problem))

    def warm() -> Call:
        return Call(partial(mlcp.solve, later().problem, solution()))

    for peer, goal in goals.items():
        if not available(peer):
            continue
        run = cache(lambda peer=peer: peer.prepare(first()))
        result = {"note": lambda run=run: reported_status(first(), run()()), **timed}
        yield Comparison(target, name, "cold", peer.name, cold, lambda run=run: Call(run()), goal, **result)
        if peer is DANTZIG and key in WITH_A:
            both = lambda run=run: Call(partial(assembled, first(), run()))  # noqa: E731
            yield Comparison(target, name, "cold", AND_A, cold, both, WITH_A[key], **result)
            yield Comparison(target, name, MADE, AND_A, made, both, **result)
    yield Comparison(target, name, MADE, "solved", made, cold, **timed)
    if key in WARM:
        again = lambda: Call(partial(mlcp.solve, later().problem))  # noqa: E731
        yield Comparison("A5", name, "warm", "cold", warm, again, 1.0 / 0.7, **timed)
        if available(DAQP):
            run = cache(lambda: daqp(later(), solution().gamma))
            result = {"note": lambda: reported_status(later(), run()()), **timed}
            yield Comparison("A5", name, "warm", DAQP.name, warm, lambda: Call(run()), 25.0, **result)


def problems() -> list[str]:
    """Return the names of all families with their numbers of rows."""
    return [f"{family} {m}" for family, m in COLD]


def missing() -> list[str]:
    """Return the names of the peers that are not installed."""
    return [peer.name for peer in PEERS if not peer.available()]


def assembled(given: PeerInput, run: Callable[[], PeerResult]) -> None:
    """Assemble A again, and call a peer."""
    given.assembled()
    run()


def changed(problem: Problem) -> Problem:
    """Return the problem with the free velocities changed by `CHANGE` of their size."""
    free = problem.factor.solve(problem.g)
    noise = np.random.default_rng(SEED).normal(size=problem.n) * CHANGE * np.sqrt(np.mean(free**2))
    return Problem(problem.H, problem.tree, problem.g + problem.H @ noise, D=problem.D, d=problem.d)


def anew(H: np.ndarray, D: csr_array, problem: Problem) -> mlcp.Solution:
    """Build a problem from its matrices again, and solve it."""
    return mlcp.solve(Problem(H, problem.tree, problem.g, D=D, d=problem.d))
