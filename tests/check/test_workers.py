"""Calls in other processes: a crash, a hang, a flood of output or an exception costs one result only."""

import os
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from treefactor.check import worker as module
from treefactor.check.workers import CrashedError, InProcess, TimedOutError, Worker, WorkerError, next_of


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def leave():
    os._exit(7)


def flood():
    while True:
        os.write(1, b"x" * 65536)


def start_other(place):
    """Start a process that keeps a pipe open."""
    subprocess.Popen(["sh", "-c", f"exec > {shlex.quote(place)}; echo; exec sleep 1000"])


def set_limit(megabytes):
    module.LARGE = megabytes << 20
    return os.getpid()


@pytest.fixture(scope="module")
def worker():
    worker = Worker()
    yield worker
    worker.close()


def call(worker, function, *arguments, timeout=60.0):
    worker.submit(function, arguments, timeout)
    return worker.result()


def test_a_process_that_takes_much_memory_is_replaced(worker):
    first = call(worker, set_limit, 0)
    assert call(worker, os.getpid) not in (first, os.getpid())


def test_the_memory_of_the_calling_process_does_not_count():
    taken, worker = b"x" * (500 << 20), Worker()
    try:
        first = call(worker, set_limit, 400)
        assert call(worker, os.getpid) == first
    finally:
        worker.close()
    assert taken


def test_a_process_that_dies_is_replaced(worker):
    first = call(worker, os.getpid)
    assert call(worker, os.getpid) == first != os.getpid()
    with pytest.raises(CrashedError, match="SIGKILL"):
        call(worker, die)
    with pytest.raises(CrashedError, match="exit status 7"):
        call(worker, leave)
    assert call(worker, os.getpid) not in (first, os.getpid())


def test_a_call_that_hangs_is_ended(worker):
    start = time.monotonic()
    with pytest.raises(TimedOutError, match="no answer within 1 s"):
        call(worker, time.sleep, 3600, timeout=1.0)
    assert time.monotonic() - start < 20.0
    worker.close()
    worker.close()


def test_a_flood_of_output_is_bounded_and_ends_in_time(worker):
    call(worker, os.getpid)  # the process runs
    with pytest.raises(TimedOutError):
        call(worker, flood, timeout=2.0)
    assert len(worker.output) == 4000


def test_errors_of_a_call_are_reported(worker):
    with pytest.raises(WorkerError, match="ZeroDivisionError"):
        call(worker, divmod, 1, 0)
    assert call(worker, divmod, 7, 2) == (3, 1)


def test_what_a_call_prints_is_kept_and_not_seen(worker, capfd):
    call(worker, os.system, "seq 3; echo last >&2")
    assert worker.output.split() == ["1", "2", "3", "last"]
    assert call(worker, os.getpid)
    assert worker.output == ""
    assert capfd.readouterr() == ("", "")


def test_files_that_a_call_leaves_are_not_in_the_working_directory(worker):
    folder = call(worker, os.getcwd)
    assert folder != os.getcwd()
    worker.close()
    assert not os.path.exists(folder)


def test_another_interpreter(tmp_path):
    link = tmp_path / "python"
    link.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    link.chmod(0o755)
    worker = Worker(str(link))
    try:
        assert call(worker, divmod, 7, 2) == (3, 1)
    finally:
        worker.close()


def test_an_interpreter_without_treefactor_says_so(tmp_path):
    link = tmp_path / "python"
    link.write_text("#!/bin/sh\necho no such module >&2\nexit 1\n")
    link.chmod(0o755)
    worker = Worker(str(link))
    with pytest.raises(CrashedError, match="exit status 1"):
        call(worker, divmod, 7, 2)
    assert worker.output == "no such module\n"
    worker.close()


def test_the_first_that_is_ready_is_returned():
    slow, fast = Worker(), Worker()
    try:
        slow.submit(time.sleep, (30.0,), 60.0)
        fast.submit(divmod, (7, 2), 60.0)
        assert next_of([slow, fast]) == [fast]
        assert fast.result() == (3, 1)
        assert slow.busy
        assert not fast.busy
    finally:
        slow.close()
        fast.close()
    assert next_of([]) == []


@pytest.mark.parametrize(
    ("end", "error"),
    [(leave, CrashedError), (flood, TimedOutError), (None, None)],
    ids=["crashed", "timed out", "closed"],
)
def test_processes_that_a_call_has_started_end_with_its_own(tmp_path, end, error):
    worker, pipe = Worker(), tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    call(worker, os.getpid)  # the process runs
    call(worker, start_other, str(pipe))
    while not select.select([reader], [], [], 20.0)[0] or os.read(reader, 1) != b"\n":
        time.sleep(0.01)  # there is an end before the first process writes
    if end is not None:
        with pytest.raises(error):
            call(worker, end, timeout=1.0)
    worker.close()
    assert select.select([reader], [], [], 20.0)[0]
    assert os.read(reader, 1) == b""  # once no process can write any more
    os.close(reader)


@pytest.mark.parametrize("kind", ["missing", "not executable", "a folder", "without interpreter"])
def test_an_interpreter_that_cannot_be_started_says_so(tmp_path, kind):
    link = tmp_path / "python"
    if kind == "a folder":
        link.mkdir()
    elif kind != "missing":
        link.write_text("#!/no/such/interpreter\n")
        link.chmod(0o755 if kind == "without interpreter" else 0o644)
    worker = Worker(str(link))
    with pytest.raises(CrashedError, match=f"cannot start {link}: (No such file|Permission denied)"):
        worker.submit(divmod, (7, 2), 60.0)
    assert not worker.busy
    worker.close()


def test_a_cache_that_cannot_be_written_is_replaced(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "cache"))
    worker = Worker()
    try:
        places = [call(worker, os.getenv, name) for name in ("XDG_CACHE_HOME", "JAX_COMPILATION_CACHE_DIR")]
    finally:
        worker.close()
    assert all(Path(place).is_dir() and os.access(place, os.W_OK) for place in places)


def test_an_engine_that_exits_in_this_process_costs_its_own_call_only():
    worker = InProcess()
    worker.submit(sys.exit, (3,), 60.0)
    with pytest.raises(WorkerError, match="SystemExit: 3"):
        worker.result()
