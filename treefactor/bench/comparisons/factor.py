"""Compare a robot's linear algebra with Pinocchio, NumPy and the processor's peak."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from ..._util.threads import spread
from ...linalg.factorization import Factor
from ...linalg.solve_multiply import solve
from .. import _peak
from .. import case as robots
from ..case import Case
from ..timing import Call, Comparison

SMALL = 512  # matrices in a batch, beside robots.MATRICES
CACHE = 3 * 2**18  # bytes: a batch in the second-level cache, H and factors together
ROUNDS = 20_000  # of the peak in one call
PEAK_ROUNDS = 200  # of the peak in place of a matrix


def single(case: Case) -> Iterator[Comparison]:
    """Factorize and solve one matrix in Pinocchio's ``data.M``; yield nothing without Pinocchio."""
    if case.model is None:
        return
    goal, solved = case.goal(2.0, 1.0), partial(pinocchios_solve, case)
    yield Comparison("S1", case.name, "factor", "Pinocchio", partial(factor, case), case.decompose, goal)
    for what, out in (("solve", True), ("solve without out=", False)):
        ours = partial(accelerated_solve, case, out)
        yield Comparison("S2", case.name, what, "Pinocchio", ours, solved, goal)


def factor(case: Case) -> Call:
    """Return the factorization of one matrix by `Accelerator`."""
    return Call(case.factored[1].factor)


def accelerated_solve(case: Case, out: bool) -> Call:
    """Return a solution by `Accelerator`, into a preallocated array or a new one."""
    return Call(partial(case.factored[1].solve, case.b[0], *[np.empty(case.ours.nv)] * out))


def pinocchios_solve(case: Case) -> Call:
    """Return a solution by Pinocchio."""
    return Call(partial(case.pin.cholesky.solve, case.model, case.factored[0], case.b[0]))


def batches(case: Case) -> Iterator[Comparison]:
    """Solve batches of dense matrices, compared with NumPy."""
    for dtype in (np.float64, np.float32):
        for count in (SMALL, robots.MATRICES):
            ours, theirs = (partial(make, case, count, dtype) for make in (dense_solve, numpys_solve))
            what = f"solve {count} {dtype.__name__}"
            yield Comparison("S4", case.name, what, "NumPy", ours, theirs, case.goal(10.0))


def dense_solve(case: Case, count: int, dtype: type) -> Call:
    """Return our solution of a batch into a preallocated array."""
    H, b = (array[:count].astype(dtype, copy=False) for array in (case.H, case.b))
    return Call(partial(solve, H, case.tree, b, dtype=dtype, out=np.empty_like(b)), count)


def numpys_solve(case: Case, count: int, dtype: type) -> Call:
    """Return NumPy's solution of a batch."""
    H, b = (array[:count].astype(dtype, copy=False) for array in (case.H, case.b))
    return Call(partial(np.linalg.solve, H, b[..., None]), count)


def cached(case: Case) -> Iterator[Comparison]:
    """Factorize batches that stay in the caches, compared with Pinocchio and the processor's peak."""
    count = min(SMALL, CACHE // (16 * case.tree.nnz * 8) * 8)
    for dtype in (np.float64, np.float32):
        for layout, goal in (("lanes", 12.0), ("packed", 8.0)):
            ours = partial(refactorization, case, layout, count, dtype)
            what = f"factor in cache {dtype.__name__}, {layout}"
            compared = partial(Comparison, "S5", case.name, what, ours=ours)
            if case.model is not None:
                yield compared("Pinocchio", theirs=case.decompose, goal=case.goal(goal))
            if (dtype, layout) == (np.float64, "lanes"):
                theirs = partial(peak, max(case.tree.cost("LTDL").total, 1))  # a single freedom takes none
                yield compared("FMA peak", theirs=theirs, goal=case.goal(0.4))


def peak(operations: int) -> Call:
    """Return multiply-adds at the processor's peak; an item takes so many operations."""
    return Call(partial(_peak.multiply_adds, ROUNDS), _peak.multiply_adds(ROUNDS) / operations)


def refactorization(case: Case, layout: str, count: int, dtype: type = np.float64) -> Call:
    """Return a call that factorizes a batch in a layout, in preallocated memory."""
    H = case.tree.pack(case.H[:count], layout, dtype=dtype)
    return Call(partial(Factor(case.tree, (count,), layout=layout, dtype=dtype).refactor, H), count)


def parallel(case: Case) -> Iterator[Comparison]:
    """Compare several threads with one, also for computing and reading alone."""
    for what, (work, scales) in WORKS.items():
        ours, one = (partial(on_threads, case, work, number) for number in (case.threads, 1))
        name = f"{what} {robots.MATRICES} float64, {case.threads} threads"
        yield Comparison(
            "S8", case.name, name, "one thread", ours, one, 0.9 * case.threads if scales else None
        )


def on_threads(case: Case, work: Callable[[Case, int], Callable], threads: int) -> Call:
    """Return work on all matrices by several threads."""
    return Call(work(case, threads), robots.MATRICES)


def solving(case: Case, threads: int) -> Callable[[], object]:
    """Solve all matrices, into a preallocated array."""
    return partial(solve, case.H, case.tree, case.b, num_threads=threads, out=np.empty_like(case.b))


def refactoring(case: Case, threads: int) -> Callable[[], object]:
    """Factorize all matrices and solve, in preallocated memory."""
    H, b, out = case.H, case.b, np.empty_like(case.b)
    f = Factor(case.tree, (len(H),), num_threads=threads, dtype=H.dtype)
    return lambda: f.refactor(H).solve(b, out)


def computing(case: Case, threads: int) -> Callable[[], object]:
    """Multiply and add at the processor's peak in place of every matrix."""
    return partial(spread, compute, robots.MATRICES, threads, case.H.size)


def compute(first: int, stop: int) -> None:
    """Multiply and add in place of some matrices."""
    _peak.multiply_adds((stop - first) * PEAK_ROUNDS)


def reading(case: Case, threads: int) -> Callable[[], object]:
    """Read all matrices."""
    return partial(spread, lambda first, stop: case.H[first:stop].max(), len(case.H), threads, case.H.size)


WORKS: dict[str, tuple[Callable[[Case, int], Callable], bool]] = {  # and whether it has a goal
    "solve": (solving, True),
    "factor and solve": (refactoring, True),
    "compute": (computing, False),
    "read": (reading, False),
}
