"""Work spread over threads that are kept; the kernels run without the GIL."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise


@cache
def _pool() -> ThreadPoolExecutor:
    """Threads of this process; those that nobody asks for are never started."""
    return ThreadPoolExecutor(max(64, os.cpu_count() or 1), "treefactor")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of its parent's threads


ENOUGH = 2**17  # entries of matrices that a thread is worth waking for: about 50 microseconds


def spread(work: Callable[[int, int], object], count: int, threads: int, entries: int) -> None:
    """Run work(first, stop) over 0 .. count-1, in as many contiguous parts as there are threads.

    Fewer threads take part where there are few entries of matrices to work on. The calling thread takes the
    last part. What a part computes may not depend on where it begins.
    """
    threads = min(threads, count, 1 + entries // ENOUGH)
    if threads <= 1:
        work(0, count)
        return
    bounds = [count * t // threads for t in range(threads + 1)]
    begun: list[Future] = []
    try:
        for part in pairwise(bounds[:-1]):
            begun.append(_pool().submit(work, *part))
        work(*bounds[-2:])
    finally:
        wait(begun)  # nobody writes any more once this returns or raises
    for part in begun:
        part.result()
