"""Calls in a process of their own: one that crashes or hangs loses its answer and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as OutOfTimeError  # its own class before Python 3.11

from loky import ProcessPoolExecutor
from loky.process_executor import TerminatedWorkerError

from .exceptions import TreefactorError


class WorkerError(TreefactorError):
    """A call that crashed its process, or did not return in time."""


class Worker:
    """A process that answers calls one after another; a new one takes the place of one that fails.

    Parameters
    ----------
    timeout : float
        Seconds a call may take, the start of the process included.

    Notes
    -----
    Not fork but fork and exec: engines and threads of this process are not inherited, and scripts need no
    ``if __name__ == "__main__"``.
    """

    def __init__(self, timeout: float):
        self._timeout = timeout
        self._executor = None

    def submit(self, function: Callable, *arguments) -> Future:
        """Begin a call; function, arguments and result must pickle."""
        if self._executor is None:
            self._executor = ProcessPoolExecutor(max_workers=1)
        return self._executor.submit(function, *arguments)

    def result(self, future: Future):
        """Result of the call begun last.

        Raises
        ------
        WorkerError
            Where the process died or the time is up.
        """
        try:
            return future.result(self._timeout)
        except OutOfTimeError as error:
            self.close()
            raise WorkerError(f"no answer within {self._timeout:g} s") from error
        except TerminatedWorkerError as error:
            self.close()
            code = re.search(r"\{(.*)\}", str(error))  # {SIGSEGV(-11)}
            raise WorkerError(f"its process died: {code[1] if code else error}") from error

    def close(self) -> None:
        """End the process, whatever it is doing."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, kill_workers=True)
            self._executor = None
