"""Spread work over a pool of threads; the kernels run without the GIL."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from threading import main_thread
from typing import TYPE_CHECKING

from ..exceptions import TreefactorError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


@cache
def _pool() -> ThreadPoolExecutor:
    """Return the thread pool of this process, which starts threads when they are first needed."""
    from concurrent.futures import ThreadPoolExecutor  # here, because it takes 5 ms

    return ThreadPoolExecutor(max(64, os.cpu_count() or 1), "treefactor")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a forked child does not inherit threads


ENOUGH = 2**17  # least entries of matrices for one thread: about 50 microseconds of work


def parts(count: int, threads: int, entries: int) -> Iterator[tuple[int, int]]:
    """Yield contiguous parts of 0 .. count-1, of falling size: threads then finish at the same time."""
    least = min(count * ENOUGH // entries, -(-count // threads))
    first = 0
    while first < count:
        stop = min(count, first + max(1, least, (count - first) // (2 * threads)))
        yield first, stop
        first = stop


def spread(work: Callable[[int, int], object], count: int, threads: int, entries: int) -> None:
    """Run work(first, stop) over 0 .. count-1, in parts that threads take as they become free.

    The calling thread takes part; few entries of matrices use fewer threads. Results must not depend on the
    bounds of the parts.
    """
    if threads > 1:
        threads = min(threads, count, 1 + entries // ENOUGH)
    if threads > 1 and not main_thread().is_alive():
        threads = 1  # the interpreter is ending: a pool accepts no work
    if threads <= 1:
        work(0, count)
        return
    from concurrent.futures import wait

    left = deque(parts(count, threads, entries))

    def take_parts() -> None:
        while left:
            try:
                part = left.popleft()
            except IndexError:  # another thread took the last part
                return
            work(*part)

    helpers: list[Future] = []
    try:
        for _ in range(threads - 1):
            helpers.append(_pool().submit(take_parts))
        take_parts()
    finally:
        left.clear()
        helpers = [helper for helper in helpers if not helper.cancel()]  # those that did not start
        wait(helpers)  # no thread writes after this returns or raises
    for helper in helpers:
        helper.result()


def one_blas_thread() -> AbstractContextManager:
    """Return a context in which the linear algebra of NumPy and SciPy uses one thread, as ours does.

    Raises
    ------
    TreefactorError
        If threadpoolctl is not installed.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError as error:
        reason = f"fair times need threadpoolctl ({error}): pip install 'treefactor[bench]'"
        raise TreefactorError(reason) from None
    return threadpool_limits(1)
