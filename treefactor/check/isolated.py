"""Run calls in a separate process: a call that crashes or hangs loses only its own result."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as OutOfTimeError  # its own class before Python 3.11
from tempfile import TemporaryFile

from loky import ProcessPoolExecutor
from loky.process_executor import TerminatedWorkerError

from ..exceptions import TreefactorError

LINES = 20  # last lines of a call's output that are kept


class WorkerError(TreefactorError):
    """Raised when a call crashes its process or does not return in time."""


class Worker:
    """Process that executes calls one after another; a new process replaces one that fails.

    Parameters
    ----------
    timeout : float
        Seconds a call may take, the start of the process included.

    Attributes
    ----------
    output : str
        Last lines that the last call printed, C code included; nothing of it is seen.

    Notes
    -----
    Not fork but fork and exec: engines and threads of this process are not inherited, and scripts need no
    ``if __name__ == "__main__"``.
    """

    def __init__(self, timeout: float):
        self._timeout = timeout
        self._executor = None
        self.output = ""

    def submit(self, function: Callable, *arguments) -> Future:
        """Start a call; function, arguments and result must pickle."""
        if self._executor is None:
            self._executor = ProcessPoolExecutor(max_workers=1)
        return self._executor.submit(_recorded, function, *arguments)

    def result(self, future: Future):
        """Return the result of the last call submitted.

        Raises
        ------
        WorkerError
            If the process died or the time is up.
        """
        try:
            result, self.output = future.result(self._timeout)
            return result
        except OutOfTimeError as error:
            self.close()
            raise WorkerError(f"no answer within {self._timeout:g} s") from error
        except TerminatedWorkerError as error:
            self.close()
            code = re.search(r"\{(.*)\}", str(error))  # {SIGSEGV(-11)}
            raise WorkerError(f"its process died: {code[1] if code else error}") from error

    def close(self) -> None:
        """Kill the process, also while it is busy."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, kill_workers=True)
            self._executor = None


def flush() -> None:
    """Flush the buffers of C's standard streams."""
    ctypes.CDLL(None).fflush(None)


def _recorded(function: Callable, *arguments) -> tuple[object, str]:  # pragma: no cover - killed at the end
    """Return the result of a call and the last lines that it printed."""
    kept = {fd: os.dup(fd) for fd in (1, 2)}
    with TemporaryFile() as file:
        for fd in kept:
            os.dup2(file.fileno(), fd)
        try:
            result = function(*arguments)
        finally:
            flush()
            for fd, own in kept.items():
                os.dup2(own, fd)
                os.close(own)
        file.seek(0)
        lines = file.read().decode(errors="replace").splitlines()
    return result, "\n".join(lines[-LINES:])
