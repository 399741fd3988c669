"""Spread work over a pool of threads; the kernels run without the GIL."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from threading import main_thread


@cache
def _pool() -> ThreadPoolExecutor:
    """Return the threads of this process; they are started at their first use."""
    return ThreadPoolExecutor(max(64, os.cpu_count() or 1), "treefactor")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has none of its parent's threads


ENOUGH = 2**17  # entries of matrices that a thread is worth waking for: about 50 microseconds


def parts(count: int, threads: int, entries: int) -> Iterator[tuple[int, int]]:
    """Split 0 .. count-1 into contiguous parts of falling size, so that a slow thread delays no other."""
    least = min(count * ENOUGH // entries, -(-count // threads))
    first = 0
    while first < count:
        stop = min(count, first + max(1, least, (count - first) // (2 * threads)))
        yield first, stop
        first = stop


def spread(work: Callable[[int, int], object], count: int, threads: int, entries: int) -> None:
    """Run work(first, stop) over 0 .. count-1, in parts that threads take as they become free.

    Fewer threads take part where there are few entries of matrices to work on; the calling thread is one of
    them. What a part computes may not depend on where it begins.
    """
    if threads > 1:
        threads = min(threads, count, 1 + entries // ENOUGH)
    if threads > 1 and not main_thread().is_alive():
        threads = 1  # the interpreter is ending, and no pool starts anything any more
    if threads <= 1:
        work(0, count)
        return
    left = deque(parts(count, threads, entries))

    def take_parts() -> None:
        while left:
            try:
                part = left.popleft()
            except IndexError:  # another thread was quicker
                return
            work(*part)

    helpers: list[Future] = []
    try:
        for _ in range(threads - 1):
            helpers.append(_pool().submit(take_parts))
        take_parts()
    finally:
        left.clear()
        helpers = [helper for helper in helpers if not helper.cancel()]  # some were not even awake
        wait(helpers)  # nobody writes any more once this returns or raises
    for helper in helpers:
        helper.result()
