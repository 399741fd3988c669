"""Test that PyBullet's line about its build does not reach standard error, but all else does."""

import subprocess
import sys

import pytest

pytest.importorskip("pybullet", reason="PyBullet is not installed")

WRITING = """
import os, sys, types
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "pybullet":
            os.write(2, b"pybullet build time: now\\nlibGL: a warning\\n")
            sys.stderr.write("of Python\\n")
            {failure}
sys.meta_path.insert(0, Finder())
"""
IMPORT = "import treefactor.adapters.pybullet_"


def run(code, **given):
    return subprocess.run(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        **{"stderr": subprocess.PIPE, **given},
    )


def test_nothing_is_written():
    done = run(f"{IMPORT}; print('done')")
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_warnings_are_written():
    done = run(WRITING.format(failure="") + IMPORT)
    assert done.returncode == 0
    assert done.stderr == "libGL: a warning\nof Python\n"


def test_errors_are_written():
    done = run(WRITING.format(failure="raise ImportError('libGL.so.1 is missing')") + IMPORT)
    assert done.returncode == 1
    assert done.stderr.startswith("libGL: a warning\nof Python\nTraceback")
    assert "pybullet cannot be imported (libGL.so.1 is missing)" in done.stderr


def test_standard_error_may_be_closed():
    code = f"import os; os.close(2); {IMPORT}; print('done')"
    assert run(code, stderr=None).stdout == "done\n"


def test_check_does_not_write_it():
    arguments = ["check", "ur5_robot", "--engine", "pybullet"]
    code = f"import sys; from treefactor.cli import main; sys.exit(main({arguments}))"
    done = run(code)
    assert "ur5_robot" in done.stdout
    assert "build time" not in done.stderr
