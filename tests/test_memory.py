"""Memory that is not to be had: every allocation of the compiled modules fails once, and nothing else."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory):
    """A library that fails allocations."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if sys.platform != "linux" or compiler is None or "LD_PRELOAD" in os.environ:
        pytest.skip("allocations fail on Linux, with a C compiler, where nothing else is preloaded")
    library = tmp_path_factory.mktemp("memory") / "nomalloc.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", library, HERE / "nomalloc.c", "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "__libc_malloc" in done.stderr:
        pytest.skip("the C library is not glibc")
    assert done.returncode == 0, done.stderr
    return library


def test_allocations_that_fail_are_told_and_leave_everything_as_it_was(preloaded):
    done = subprocess.run(
        [sys.executable, HERE / "memory_cases.py"],
        env={**os.environ, "LD_PRELOAD": str(preloaded), "PYTHONMALLOC": "malloc", "PYTHONFAULTHANDLER": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    counts = {name: int(count) for name, _, count in (line.rpartition(" ") for line in lines)}
    assert len(counts) == 40
    on_the_stack = {"kernel", "native kernel"}
    assert {name for name, count in counts.items() if not count} == on_the_stack


IN_A_THREAD = """
import threading

from memory_cases import CALLS

def run():
    for call in CALLS.values():
        call()
    print("done")

threading.stack_size(1 << 17)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


def test_stacks_of_128_kilobytes_are_enough():
    """As threads have that run on musl."""
    command = [sys.executable, "-c", IN_A_THREAD]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout == "done\n", done.stderr[-2000:]
