"""Fork a process for every request: `python -m treefactor.check.fork_server DESCRIPTOR`, see ``forks``.

This process, the server, has one thread and imports no engine. It reports how its forks end, kills them on
demand, and ends with all of them when the process that started it ends.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import socket
import sys
from contextlib import suppress
from multiprocessing.connection import Connection, wait

import scipy.linalg
import scipy.spatial.transform  # noqa: F401 - what calls need is imported before the forks

from . import tasks, worker  # noqa: F401
from .forks import kill


class Server:  # pragma: no cover - in another process
    """Forks of this process, by process id the connections on which they are controlled.

    Parameters
    ----------
    requests : socket
    """

    def __init__(self, requests: socket.socket):
        self._requests = requests
        self._forks: dict[int, Connection] = {}
        self._ended, self._wakes = socket.socketpair()
        for end in (self._ended, self._wakes):
            end.setblocking(False)
        signal.set_wakeup_fd(self._wakes.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def connection(self) -> Connection | None:
        """Fork for every request; return the connection to serve in a fork, None in the server at its end."""
        try:
            while True:
                ready = wait([self._requests, self._ended, *self._forks.values()])
                if self._ended in ready:
                    self._ended.recv(4096)
                for pid, control in list(self._forks.items()):
                    self._report(pid, control in ready)  # it is to be killed, or has no worker
                if self._requests in ready:
                    length, descriptors, *_ = socket.recv_fds(self._requests, 8, 3)
                    if not length:
                        return None
                    request = self._requests.recv(int.from_bytes(length, "little"), socket.MSG_WAITALL)
                    connection = self._fork(*pickle.loads(request), *descriptors)
                    if connection is not None:
                        return connection
        except ConnectionError:  # the other process has ended before it read
            return None
        finally:
            for pid in list(self._forks):
                self._report(pid, True)

    def _report(self, pid: int, killed: bool) -> None:
        """Report how a fork has ended, if it has or is to be killed; kill what it has started."""
        if killed:
            kill(pid)
        ended, status = os.waitpid(pid, 0 if killed else os.WNOHANG)
        if ended:
            kill(pid)
            with suppress(OSError), self._forks.pop(pid) as control:
                control.send((pid, os.waitstatus_to_exitcode(status)))

    def _fork(
        self, folder: str, environment: dict, path: list, connection: int, control: int, output: int
    ) -> Connection | None:
        """Fork for one request; return the connection in the fork, None in the server."""
        held = Connection(control)
        if pid := os.fork():
            with suppress(OSError):  # the fork has done that itself
                os.setpgid(pid, pid)
            self._forks[pid] = held
            os.close(connection)
            os.close(output)
            with suppress(OSError):
                held.send((pid, None))
            return None
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for inherited in (self._requests, self._ended, self._wakes, held, *self._forks.values()):
            inherited.close()
        self._forks.clear()
        for standard in (1, 2):
            os.dup2(output, standard)
        os.close(output)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:] = [folder, *filter(None, path)]
        return Connection(connection)


def main(descriptor: int) -> None:  # pragma: no cover - in another process
    """Fork for every request, and answer calls in the forks."""
    gc.collect()
    gc.freeze()
    with socket.socket(fileno=descriptor) as requests:
        requests.sendall(b".")
        connection = Server(requests).connection()
    if connection is not None:
        worker.serve(connection)


if __name__ == "__main__":  # pragma: no cover - in another process
    main(int(sys.argv[1]))
