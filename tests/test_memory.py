"""Every allocation of the compiled modules fails once: MemoryError is raised and nothing else changes."""

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

pytestmark = [pytest.mark.unsanitized, pytest.mark.uncovered]

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory):
    """Build a library that makes allocations fail."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if sys.platform != "linux" or compiler is None or "LD_PRELOAD" in os.environ:
        pytest.skip("allocations fail on Linux, with a C compiler, where nothing else is preloaded")
    library = tmp_path_factory.mktemp("with a space") / "nomalloc.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", library, HERE / "helpers" / "nomalloc.c", "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "__libc_malloc" in done.stderr:
        pytest.skip("the C library is not glibc")
    assert done.returncode == 0, done.stderr
    return library


def counted(preloaded, *cases, **environment):
    """Return how many allocations each case makes, after each of them has failed once."""
    given = {"PYTHONMALLOC": "malloc", "PYTHONFAULTHANDLER": "1", **environment}
    done = subprocess.run(
        [sys.executable, HERE / "helpers" / "memory_cases.py", *cases],
        env={**os.environ, "LD_PRELOAD": f"./{preloaded.name}", **given},  # paths with a space are two there
        cwd=preloaded.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return {
        name: int(count) for name, _, count in (line.rpartition(" ") for line in done.stdout.splitlines())
    }


FAST = (
    "factor",
    "solve batch",
    "model",
    "crba",
    "dynamics",
    "rollouts",
    "bind",
    "loop dynamics",
    "step",
    "warm",
)


def test_allocations_of_some_calls_that_fail_raise_and_change_nothing(preloaded):
    counts = counted(preloaded, *FAST)
    assert [name for name in FAST if counts[name]] == [*FAST]


@pytest.mark.slow
def test_allocations_that_fail_raise_and_change_nothing(preloaded):
    counts = counted(preloaded)
    assert len(counts) == 54
    on_the_stack = {"kernel", "native kernel", "product"}
    without = {name for name, count in counts.items() if not count}
    assert without - {"jacobian"} == on_the_stack  # of that one the version of Python decides


@pytest.mark.parametrize("folder", ["treefactor", "ein Öl/treefactor", "nomalloc-packages/python3"])
def test_the_place_of_the_libraries_does_not_matter(preloaded, tmp_path, folder):
    """The checker tells our modules from others, whatever their folder is called."""
    (tmp_path / folder).mkdir(parents=True)
    for package in ("numpy", "scipy", "treefactor"):
        (tmp_path / folder / package).symlink_to(Path(import_module(package).__file__).parent)
    cases = ("tree", "factor", "solve batch", "crba", "kernel")
    counts = counted(preloaded, *cases, PYTHONPATH=str(tmp_path / folder))
    assert [name for name in cases if counts[name]] == [*cases[:-1]]


IN_A_THREAD = """
import threading

from helpers.memory_cases import CALLS

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
    """Threads on musl have such small stacks."""
    command = [sys.executable, "-c", IN_A_THREAD]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout == "done\n", done.stderr[-2000:]
