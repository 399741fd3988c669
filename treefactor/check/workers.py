"""Run calls in other processes: one that crashes, hangs or floods its output loses its own result only."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path

from .._util.files import cache_folder
from ..exceptions import TreefactorError
from . import forks

KEPT = 4000  # bytes at the end of a call's output that are kept
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


class WorkerError(TreefactorError):
    """Raised when a call crashes its process, does not return in time, or raises."""


class TimedOutError(WorkerError):
    """Raised when a call does not return in time."""


class CrashedError(WorkerError):
    """Raised when a call ends its process."""


class Worker:
    """Process that executes one call at a time; a new process replaces one that fails or takes much memory.

    Parameters
    ----------
    python : str
        Interpreter, "" for this one. Another one must have treefactor installed.

    Attributes
    ----------
    busy : bool
        Whether a call has been submitted and not yet been answered.
    used : bool
        Whether the process of the last call had answered others before.
    output : str
        Last bytes that the last call printed, C code included.

    Notes
    -----
    Nothing is inherited but the interpreter, and scripts need no ``if __name__ == "__main__"``: processes of
    this interpreter are forked from one that has imported treefactor (``forks``). Calls run in an empty
    folder, with one thread for linear algebra and XLA.
    """

    def __init__(self, python: str = ""):
        self._python = python
        self._process: subprocess.Popen | forks.Fork | None = None
        self.busy = self.used = False
        self.output = ""

    def submit(self, function: Callable, arguments: Sequence, timeout: float) -> None:
        """Start a call; function, arguments and result must pickle.

        Raises
        ------
        CrashedError
            If the interpreter cannot be started.
        """
        self.used = self._process is not None
        if not self.used:
            self._start()
        self._tail, self._end, self._timeout, self.busy = b"", time.monotonic() + timeout, timeout, True
        with suppress(ConnectionError):  # noticed by `result`
            self._connection.send((function, tuple(arguments)))

    @property
    def sources(self) -> list:
        """What `multiprocessing.connection.wait` waits for: the answer and the output."""
        return [self._connection, self._process.stdout] if self.busy else []

    @property
    def seconds_left(self) -> float:
        """Time until the call is late."""
        return max(0.0, self._end - time.monotonic())

    def poll(self) -> bool:
        """Read what the process has printed; return whether `result` would return or raise immediately."""
        self._drain()
        return self._connection.poll() or self._process.poll() is not None or not self.seconds_left

    def result(self):
        """Wait for the call, and return its result.

        Raises
        ------
        TimedOutError, CrashedError
            If the time is up, or the process has died.
        WorkerError
            If the call raised an exception.
        """
        while not self.poll():
            wait(self.sources, self.seconds_left)
        self.busy = False
        try:
            if self._connection.poll():
                good, answer, large = self._connection.recv()
                self._drain()
                self.output = self._tail.decode(errors="replace")
                if large:
                    self.close()
                if not good:
                    raise WorkerError(answer)
                return answer
        except (EOFError, ConnectionError):
            pass
        late = self._process.poll() is None and not self.seconds_left
        status = self._process.wait(5.0) if not late else 0
        self._drain()
        self.output = self._tail.decode(errors="replace")
        self.close()
        if late:
            raise TimedOutError(f"no answer within {self._timeout:g} s")
        raise CrashedError(f"its process died: {_signal(status)}")

    def close(self) -> None:
        """Kill the process, also while it is busy, and the processes that it has started."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process.stdout.close()
            self._connection.close()
            self._folder.cleanup()
            self._process, self.busy = None, False

    def _start(self) -> None:
        self._connection, far_end = Pipe()
        self._folder = tempfile.TemporaryDirectory(prefix="treefactor-")
        environment = _environment(self._python)
        forked = None if self._python else forks.fork(far_end.fileno(), self._folder.name, environment)
        command = [self._python or sys.executable, "-m", "treefactor.check.worker", str(far_end.fileno())]
        try:
            self._process = forked or Group(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=[far_end.fileno()],
                cwd=self._folder.name,
                env=environment,
            )
        except OSError as error:
            self._connection.close()
            far_end.close()
            self._folder.cleanup()
            raise CrashedError(f"cannot start {command[0]}: {error.strerror}") from error
        os.set_blocking(self._process.stdout.fileno(), False)
        far_end.close()

    def _drain(self) -> None:
        """Read what the process has printed so far, at most some megabytes at a time."""
        for _ in range(64):
            try:
                chunk = os.read(self._process.stdout.fileno(), 1 << 16)
            except BlockingIOError:
                return
            if not chunk:
                return
            self._tail = (self._tail + chunk)[-KEPT:]


class Group(subprocess.Popen):
    """Process that is killed with those that it has started."""

    def __init__(self, command: Sequence[str], **options):
        super().__init__(command, start_new_session=True, **options)

    def kill(self) -> None:
        """Kill the process and those that it has started, also after its end."""
        with suppress(ProcessLookupError, PermissionError):  # none is left
            os.killpg(self.pid, signal.SIGKILL)


class InProcess:
    """Executes a call in this process, at the call of `result`; without limit of time."""

    output, used = "", False

    def __init__(self):
        self.busy = False

    def submit(self, function: Callable, arguments: Sequence, timeout: float) -> None:
        """Keep a call."""
        self._call, self.busy = (function, arguments), True

    def poll(self) -> bool:
        """Return True: `result` executes the call."""
        return True

    def result(self):
        """Execute the call and return its result."""
        function, arguments = self._call
        self.busy = False
        try:
            return function(*arguments)
        except (Exception, SystemExit) as error:  # of a process of its own, `exit` costs one result only
            raise WorkerError(described(error)) from error

    def close(self) -> None:
        """Do nothing."""


def prepare() -> None:
    """Start the process that workers are forked from, before the first one needs it."""
    forks.start(_environment(""))


def next_of(workers: Sequence[Worker]) -> list[Worker]:
    """Wait until at least one of the busy workers has a result or has failed; return those that have."""
    busy = [worker for worker in workers if worker.busy]
    while busy:
        ready = [worker for worker in busy if worker.poll()]
        if ready:
            return ready
        sources: list[Connection] = [source for worker in busy for source in worker.sources]
        wait(sources, min(worker.seconds_left for worker in busy))
    return []


def described(error: BaseException) -> str:
    """Return type, message and place of an exception, without the folder of the file."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in last)
    return f"{type(error).__name__}: {' '.join(str(error).split())}{place}"


def _environment(python: str) -> dict[str, str]:
    """Return the environment of a process: one thread, no GPU, JAX with 64 bits and a cache of its own.

    Where nothing can be written into the user's cache, the process has a temporary one. Memory that is freed
    is kept: returning it to the kernel takes a third of the time spent there.
    """
    own = {} if python else {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    kept = {key: value for key, value in os.environ.items() if not python or key != "PYTHONPATH"}
    compiled = cache_folder() / "jax"
    try:
        compiled.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=compiled).close()
    except OSError:
        compiled = Path(_temporary_cache().name)
        kept["XDG_CACHE_HOME"] = str(compiled)
    jax = {
        "JAX_ENABLE_X64": "1",
        "JAX_PLATFORMS": "cpu",
        "JAX_COMPILATION_CACHE_DIR": str(compiled),
        "XLA_FLAGS": " ".join(filter(None, [os.environ.get("XLA_FLAGS"), ONE_THREAD])),
    }
    # settings of glibc's malloc
    memory = {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(256 << 20)}
    return {**memory, **kept, **own, **threads, **jax, "PYTHONUNBUFFERED": "1"}


@cache
def _temporary_cache() -> tempfile.TemporaryDirectory:
    """Return a folder that is deleted at the end of this process."""
    return tempfile.TemporaryDirectory(prefix="treefactor-cache-")


def _signal(status: int) -> str:
    """Return the name of the signal, or the exit status, that ended a process."""
    return signal.Signals(-status).name if status < 0 else f"exit status {status}"
