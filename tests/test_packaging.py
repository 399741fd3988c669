"""The package as users get it: its dependencies' direction, and the wheel outside the checkout."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from treefactor.check import ENGINES

ROOT = Path(__file__).parents[1]


def run(code, cwd):
    return subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=cwd, capture_output=True, text=True, check=False, timeout=120
    )


def test_importing_treefactor_imports_no_engine_and_no_adapter(tmp_path):
    done = run(
        "import sys, treefactor, treefactor.cli, treefactor.check\n"
        "engines = {'pinocchio', 'pybullet', 'mujoco', 'pydrake', 'matplotlib', 'treefactor.adapters'}\n"
        "print(sorted(engines & set(sys.modules)))",
        tmp_path,
    )
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("engine", ["pinocchio", "pybullet", "mujoco", "drake"])
def test_a_missing_engine_names_the_extra(tmp_path, engine):
    done = run(
        f"import sys; sys.modules[{ENGINES[engine]!r}] = None\n"
        "import treefactor\n"
        f"try:\n    import treefactor.adapters.{engine}_\n"
        "except treefactor.AdapterError as error:\n    print(error.engine, error)",
        tmp_path,
    )
    assert done.stdout.startswith(engine), done.stderr
    assert f"pip install 'treefactor[{engine}]'" in done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel built in isolation from a copy of the sources, without optimization: that takes minutes."""
    out = tmp_path_factory.mktemp("wheel")
    skip = shutil.ignore_patterns(".*", "build", "dist", "*.so", "_*.c", "*.egg-info", "__pycache__")
    copy = shutil.copytree(ROOT, out / "copy", ignore=skip)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", out, copy],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "TREEFACTOR_DEBUG": "1"},
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    return next(out.glob("treefactor-*.whl"))


def test_the_wheel_holds_both_packages_and_the_kernels(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "treefactor/adapters/pinocchio_.py" in names
    assert "treefactor/templates/page.html" in names
    for name in ("c/real.h", "c/check.c", "c/Makefile", "c/README.md"):
        assert f"treefactor/codegen/{name}" in names
    assert "treefactor/kernels/sincos.h" in names
    assert "treefactor/tables/shimanovsky.py" in names
    assert "treefactor/codegen/writer.py" in names
    assert any(name.startswith("treefactor/codegen/_table.") and not name.endswith(".pyx") for name in names)
    assert any(name.startswith("treefactor/_ltdl.") and not name.endswith(".pyx") for name in names)
    assert not [name for name in names if name.startswith(("adapters/", "tests/"))]


def test_the_wheel_works_outside_the_checkout(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    done = run(
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import treefactor, treefactor.adapters, numpy as np\n"
        "assert treefactor.__file__.startswith(sys.path[0]), treefactor.__file__\n"
        "assert treefactor.adapters.__file__.startswith(sys.path[0]), treefactor.adapters.__file__\n"
        "f = treefactor.factor(np.eye(3), treefactor.Tree([-1, 0, 0]))\n"
        "print(treefactor.adapters.__name__, f.solve(np.ones(3)))",
        tmp_path,
    )
    assert done.stdout.strip() == "treefactor.adapters [1. 1. 1.]", done.stderr
