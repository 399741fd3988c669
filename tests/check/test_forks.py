"""The process that forks the workers' processes: what they see, how they end, and that nothing is left."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from treefactor.check import forks
from treefactor.check.workers import CrashedError, TimedOutError, Worker

pytestmark = pytest.mark.skipif(not forks.POSSIBLE or not Path("/proc/self/stat").exists(), reason="no fork")

SCRIPT = """
import os, sys, time
sys.path.append({folder!r})
from test_forks import family
from treefactor.check import forks
from treefactor.check.workers import Worker
worker = Worker()
worker.submit(family, (), 60.0)
print(*worker.result(), forks._servers[0]._process.pid, os.getpid(), flush=True)
if sys.argv[1:]:
    worker.submit(time.sleep, (600.0,), 600.0)
    time.sleep(600.0)
"""


def family():
    """Start a process that outlives the call; return its number and that of this one."""
    child = subprocess.Popen(["sleep", "600"])
    return child.pid, os.getpid()


def leave(status):
    sys.exit(status)


def threads():
    np.ones((500, 500)) @ np.ones((500, 500))
    return len(os.listdir("/proc/self/task"))


def is_there(number, zombies=True):
    try:
        state = Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return zombies or state != "Z"


def ends(number, zombies=False, seconds=30.0):
    """Return whether a process ends in time; orphans may stay as zombies where nothing collects them."""
    end = time.monotonic() + seconds
    while is_there(number, zombies) and time.monotonic() < end:
        time.sleep(0.01)
    return not is_there(number, zombies)


def call(worker, function, *arguments, timeout=60.0):
    worker.submit(function, arguments, timeout)
    return worker.result()


@pytest.fixture
def worker():
    worker = Worker()
    yield worker
    worker.close()


def test_a_call_sees_the_environment_of_the_moment(worker, monkeypatch, tmp_path):
    assert call(worker, os.getenv, "TREEFACTOR_TEST_OF_FORKS") is None
    monkeypatch.setenv("TREEFACTOR_TEST_OF_FORKS", "ä\udcff")
    (tmp_path / "module_of_the_moment.py").write_text("def seven():\n    return 7\n")
    monkeypatch.syspath_prepend(tmp_path)
    import module_of_the_moment

    worker.close()
    assert call(worker, os.getenv, "TREEFACTOR_TEST_OF_FORKS") == "ä\udcff"
    assert call(worker, module_of_the_moment.seven) == 7
    monkeypatch.delenv("TREEFACTOR_TEST_OF_FORKS")
    worker.close()
    assert call(worker, os.getenv, "TREEFACTOR_TEST_OF_FORKS") is None


def test_a_fork_has_one_thread(worker, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    forks.close()
    assert call(worker, os.getenv, "OPENBLAS_NUM_THREADS") == "1"
    assert call(worker, threads) == 1


def test_an_exit_within_a_call_is_a_crash_with_its_status(worker):
    with pytest.raises(CrashedError, match="exit status 3"):
        call(worker, leave, 3)


def test_what_a_call_has_started_ends_with_its_process(worker):
    child, own = call(worker, family)
    assert is_there(child)
    with pytest.raises(TimedOutError):
        call(worker, time.sleep, 600.0, timeout=0.5)
    assert not is_there(own)
    assert ends(child)


def test_a_server_that_dies_is_replaced(worker):
    child, own = call(worker, family)
    server = forks._servers[0]._process
    worker.submit(time.sleep, (600.0,), 600.0)
    server.kill()
    server.wait()
    with pytest.raises(CrashedError, match="SIGKILL"):
        worker.result()
    assert ends(own)
    assert ends(child)
    assert call(worker, divmod, 7, 2) == (3, 1)
    assert forks._servers[0]._process.pid != server.pid


def test_without_a_server_interpreters_are_started(worker, monkeypatch):
    monkeypatch.setattr(forks, "POSSIBLE", False)
    assert call(worker, divmod, 7, 2) == (3, 1)
    assert isinstance(worker._process, subprocess.Popen)


def test_a_server_that_does_not_start_is_done_without(worker, monkeypatch):
    forks.close()
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert forks.fork(0, "", {}) is None
    assert forks._servers == []


@pytest.mark.parametrize("killed", [False, True])
def test_nothing_is_left(killed):
    script = SCRIPT.format(folder=str(Path(__file__).parent))
    command = [sys.executable, "-c", script, *(["killed"] if killed else [])]
    path = {"PYTHONPATH": os.pathsep.join(filter(None, (os.getcwd(), *sys.path)))}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **path}) as process:
        *others, main = map(int, process.stdout.readline().split())
        assert main == process.pid
        if killed:
            assert all(map(is_there, others))
            process.send_signal(signal.SIGKILL)
    assert all(map(ends, others))
