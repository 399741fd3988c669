"""Fork the workers' processes from one that has imported what their calls need, see ``fork_server``."""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from threading import RLock

POSSIBLE = hasattr(os, "fork") and sys.platform != "darwin"  # frameworks of macOS do not survive a fork


class Fork:
    """Process that the server has forked; methods are those of `subprocess.Popen`.

    Attributes
    ----------
    stdout : file object
        What the process prints, C code included.
    returncode : int or None
        Negative for a signal, None while it runs.
    """

    def __init__(self, control: Connection, output: int):
        self._control, self.stdout = control, os.fdopen(output, "rb", buffering=0)
        self._pid = self.returncode = None

    def poll(self) -> int | None:
        """Return how the process ended, None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0.0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process; return how it ended."""
        while self.returncode is None:
            if not self._control.poll(timeout):
                raise subprocess.TimeoutExpired("fork", timeout)
            try:
                self._pid, self.returncode = self._control.recv()
            except (EOFError, ConnectionError):  # the server has died
                self.returncode = -signal.SIGKILL
                if self._pid:
                    kill(self._pid)
        return self.returncode

    def kill(self) -> None:
        """Have the process killed, and those that it has started."""
        with suppress(OSError):
            self._control.send(None)


class Server:
    """Process that forks others; it ends when `close` is called or this process ends.

    Parameters
    ----------
    environment : mapping of str to str
        Of the server; every fork has its own.
    """

    def __init__(self, environment: Mapping[str, str]):
        self.owner, self._ready = os.getpid(), False
        self._folder = tempfile.TemporaryDirectory(prefix="treefactor-")
        self._socket, far_end = socket.socketpair()
        with far_end:
            self._process = subprocess.Popen(
                [sys.executable, "-m", f"{__package__}.fork_server", str(far_end.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[far_end.fileno()],
                cwd=self._folder.name,  # the first folder in which Python looks for modules
                env=environment,
                start_new_session=True,  # Ctrl-C ends it by the end of this process
            )

    def fork(self, connection: int, folder: str, environment: Mapping[str, str]) -> Fork:
        """Fork a process that answers calls on a connection, in a folder; raise OSError without a server."""
        self._ready = self._ready or bool(self._socket.recv(1))
        control, far_end = Pipe()
        output, printed = os.pipe()
        request = pickle.dumps((folder, dict(environment), sys.path))
        try:
            with far_end:
                descriptors = [connection, far_end.fileno(), printed]
                socket.send_fds(self._socket, [len(request).to_bytes(8, "little")], descriptors)
                self._socket.sendall(request)
        except OSError:
            control.close()
            os.close(output)
            raise
        finally:
            os.close(printed)
        return Fork(control, output)

    def close(self) -> None:
        """End the server and its forks."""
        self._socket.close()
        if self.owner == os.getpid():
            self._process.wait()
            self._folder.cleanup()


_lock, _servers = RLock(), list[Server]()


def start(environment: Mapping[str, str]) -> None:
    """Start the server if it can exist and does not run yet, without waiting until it is ready."""
    with _lock:
        if POSSIBLE and not (_servers and _servers[0].owner == os.getpid()):
            _servers[:] = [Server(environment)]


def fork(connection: int, folder: str, environment: Mapping[str, str]) -> Fork | None:
    """Fork a process that answers calls on a connection; return None where no server can be started.

    Parameters
    ----------
    connection : int
        Descriptor.
    folder : str
        Working directory of the process.
    environment : mapping of str to str
        Of the process. What is read when Python starts and NumPy is imported, it has from the server.
    """
    for _ in range(2 if POSSIBLE else 0):
        with _lock:
            start(environment)
            try:
                return _servers[0].fork(connection, folder, environment)
            except OSError:  # it has died
                _servers.pop().close()
    return None


@atexit.register
def close() -> None:
    """End the server and its forks, if there is one."""
    with _lock:
        while _servers:
            _servers.pop().close()


def kill(group: int) -> None:
    """Kill a process and those that it has started, if any is left."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
