"""Every example of the README and of the docstrings prints what it says."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import treefactor
import treefactor.adapters
import treefactor.codegen

ROOT = Path(__file__).parents[1]


def test_readme():
    pytest.importorskip("pinocchio", reason="the README uses Pinocchio")
    done = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert done.attempted > 10
    assert done.failed == 0


def modules():
    for package in (treefactor, treefactor.adapters, treefactor.codegen):
        for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            if not module.ispkg and not module.name.endswith("__main__"):
                yield module.name


@pytest.mark.parametrize("name", list(modules()))
def test_docstrings(name):
    try:
        module = importlib.import_module(name)
    except treefactor.AdapterError as error:
        pytest.skip(f"its engine is not installed: {error}")
    assert doctest.testmod(module).failed == 0
