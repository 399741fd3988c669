"""Compare times of a robot's linear algebra with Pinocchio's, NumPy's and the processor's peak."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from ..._util.threads import spread
from ...linalg.factorization import Factor
from ...linalg.solve_multiply import solve
from .. import _peak
from ..timing import Call, Comparison

SMALL, LARGE = 512, 4096  # matrices in a batch
CACHE = 3 * 2**18  # bytes: a batch in the second-level cache, H and factors together
ROUNDS = 20_000  # of the peak in one call
PEAK_ROUNDS = 200  # of the peak in place of a matrix


def single(case) -> Iterator[Comparison]:
    """Factorize and solve one matrix in Pinocchio's ``data.M``; yield nothing without Pinocchio."""
    if case.model is None:
        return
    import pinocchio as pin

    from ...adapters.pinocchio_ import Accelerator

    b, out = case.b[0], np.empty(case.model.nv)
    np.copyto(case.data.M, case.H[0])
    accelerator = Accelerator(case.model, case.data).factor()
    pin.cholesky.decompose(case.model, case.data)
    solve = Call(partial(pin.cholesky.solve, case.model, case.data, b))
    for target, what, ours, theirs in (
        ("S1", "factor", Call(accelerator.factor), case.decompose()),
        ("S2", "solve", Call(partial(accelerator.solve, b, out)), solve),
        ("S2", "solve without out=", Call(partial(accelerator.solve, b)), solve),
    ):
        yield Comparison(target, case.name, what, "Pinocchio", ours, theirs, case.goal(2.0, 1.0))


def batches(case) -> Iterator[Comparison]:
    """Solve batches of dense matrices, compared with NumPy."""
    for dtype in (np.float64, np.float32):
        for count in (SMALL, LARGE):
            H, b = (array[:count].astype(dtype, copy=False) for array in (case.H, case.b))
            peer = Call(partial(np.linalg.solve, H, b[..., None]), count)
            ours = Call(partial(solve, H, case.tree, b, dtype=dtype, out=np.empty_like(b)), count)
            what = f"solve {count} {dtype.__name__}"
            yield Comparison("S4", case.name, what, "NumPy", ours, peer, case.goal(10.0))


def cached(case) -> Iterator[Comparison]:
    """Factorize batches that stay in the caches, compared with Pinocchio and the processor's peak."""
    flops = max(case.tree.cost("LTDL").total, 1)  # a single freedom takes none
    peak = Call(partial(_peak.multiply_adds, ROUNDS), _peak.multiply_adds(ROUNDS) / flops)
    for dtype in (np.float64, np.float32):
        for layout, goal in (("lanes", 12.0), ("packed", 8.0)):
            count = min(SMALL, CACHE // (16 * case.tree.nnz * 8) * 8)
            ours = refactorization(case, layout, count, dtype)
            what = f"factor in cache {dtype.__name__}, {layout}"
            if case.model is not None:
                yield Comparison("S5", case.name, what, "Pinocchio", ours, case.decompose(), case.goal(goal))
            if (dtype, layout) == (np.float64, "lanes"):
                yield Comparison("S5", case.name, what, "FMA peak", ours, peak, case.goal(0.4))


def refactorization(case, layout: str, count: int, dtype=np.float64) -> Call:
    """Return a call that factorizes a batch in a layout, in preallocated memory."""
    H = case.tree.pack(case.H[:count], layout, dtype=dtype)
    return Call(partial(Factor(case.tree, (count,), layout=layout, dtype=dtype).refactor, H), count)


def parallel(case, threads: int) -> Iterator[Comparison]:
    """Compare several threads with one, also for computing and reading alone."""
    H, b, out = case.H, case.b, np.empty_like(case.b)

    def shared(work: Callable[[int, int], object]) -> Callable[[int], Callable]:
        return lambda count: partial(spread, work, LARGE, count, H.size)

    for what, goal, work in (
        ("solve", 0.9 * threads, lambda count: partial(solve, H, case.tree, b, num_threads=count, out=out)),
        ("factor and solve", 0.9 * threads, lambda count: solver(case, H, b, count)),
        ("compute", None, shared(lambda first, stop: _peak.multiply_adds((stop - first) * PEAK_ROUNDS))),
        ("read", None, shared(lambda first, stop: H[first:stop].max())),
    ):
        ours, one = (Call(work(count), LARGE) for count in (threads, 1))
        yield Comparison(
            "S8", case.name, f"{what} {LARGE} float64, {threads} threads", "one thread", ours, one, goal
        )


def solver(case, H: np.ndarray, b: np.ndarray, threads: int = 1) -> Callable[[], object]:
    """Return a call that factorizes a batch and solves, in preallocated memory."""
    f, out = Factor(case.tree, (len(H),), num_threads=threads, dtype=H.dtype), np.empty_like(b)
    return lambda: f.refactor(H).solve(b, out)
