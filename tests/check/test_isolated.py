"""Test engines in separate processes."""

import os
import signal
import time

import pytest

from treefactor import check, robots
from treefactor.check.isolated import Worker, WorkerError

NAME = "double_pendulum"


def die():
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def worker():
    worker = Worker(timeout=60.0)
    yield worker
    worker.close()


def test_a_process_that_dies_is_replaced(worker):
    first = worker.result(worker.submit(os.getpid))
    assert worker.result(worker.submit(os.getpid)) == first != os.getpid()
    with pytest.raises(WorkerError, match="SIGKILL"):
        worker.result(worker.submit(die))
    assert worker.result(worker.submit(os.getpid)) not in (first, os.getpid())


def test_a_call_that_hangs_is_ended():
    worker = Worker(timeout=2.0)
    with pytest.raises(WorkerError, match="no answer within 2 s"):
        worker.result(worker.submit(time.sleep, 3600))
    worker.close()
    worker.close()


def test_errors_of_a_call_are_its_own(worker):
    with pytest.raises(ZeroDivisionError):
        worker.result(worker.submit(divmod, 1, 0))


def test_what_a_call_prints_is_kept_and_not_seen(worker, capfd):
    worker.result(worker.submit(os.system, "seq 30; echo last >&2"))
    assert worker.output.split() == [*map(str, range(12, 31)), "last"]
    assert worker.result(worker.submit(os.getpid))
    assert worker.output == ""
    assert capfd.readouterr() == ("", "")


# ------------------------------------------------------------------------- in a check; sent to the workers

answer = check.run._check_robot


def dying_mujoco(robot, engines, *arguments):
    if "mujoco" in engines:
        die()
    return answer(robot, engines, *arguments)


def dying_pinocchio(robot, engines, samples, seed, missing=""):
    if not missing:
        die()
    return answer(robot, engines, samples, seed, missing)


def rows(monkeypatch, stand_in, names=(NAME,)):
    monkeypatch.setattr(check.run, "_check_robot", stand_in)
    found = check.check([robots.find(name) for name in names], ("pinocchio", "mujoco"), timeout=60)
    return [row for rows in found for row in rows]


@pytest.fixture(autouse=True)
def _engines():
    pytest.importorskip("pinocchio", reason="Pinocchio is the reference of every check")
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    if NAME not in robots.bundled():
        pytest.skip("example-robot-data is not installed")


@pytest.mark.uncovered
def test_processes_of_their_own_find_the_same(monkeypatch):
    names = (NAME, "panda")
    expected = [row for rows in check.check(map(robots.find, names), ("pinocchio", "mujoco")) for row in rows]
    assert rows(monkeypatch, answer, names) == expected


def test_an_engine_that_crashes_loses_its_row_only(monkeypatch):
    own, other = rows(monkeypatch, dying_mujoco)
    assert own.verdict == check.AGREES
    assert (own.engine, other.engine) == ("pinocchio", "mujoco")
    assert other.verdict == check.CANNOT_LOAD
    assert "SIGKILL" in other.reason


def test_without_pinocchio_the_others_are_checked_against_themselves(monkeypatch):
    own, other = rows(monkeypatch, dying_pinocchio)
    assert (own.verdict, other.verdict) == (check.CANNOT_LOAD, check.AGREES)
    assert "SIGKILL" in own.reason
    assert "itself only" in other.reason
