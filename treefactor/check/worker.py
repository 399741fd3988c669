"""Serve calls in a process of its own: `python -m treefactor.check.worker DESCRIPTOR`, see ``workers``."""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
from multiprocessing.connection import Connection
from pathlib import Path

from .workers import described

LARGE = 2 << 30  # bytes


def serve(connection: Connection) -> None:  # pragma: no cover - in another process
    """Answer calls, (function, arguments): whether it returned, its result or error, and `is_large`."""
    imported = False
    while True:
        try:
            function, arguments = connection.recv()
        except (EOFError, ConnectionError):
            return
        try:
            answer = True, function(*arguments)
        except Exception as error:
            answer = False, described(error)
        flush()
        connection.send((*answer, is_large()))
        if not imported:
            gc.freeze()  # an engine has been imported: a million objects of Newton that stay
            imported = True


def is_large() -> bool:
    """Return whether this process takes much memory: JAX keeps all that it compiles.

    Linux counts the largest size of the process that started this one into ``ru_maxrss``.
    """
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize() > LARGE
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit > LARGE


def flush() -> None:
    """Flush the buffers of Python's and of C's standard streams."""
    sys.stdout.flush()
    sys.stderr.flush()
    ctypes.CDLL(None).fflush(None)


if __name__ == "__main__":  # pragma: no cover - in another process
    serve(Connection(int(sys.argv[1])))
