"""Import the modules of heavy engines for tests, which skip where an engine is missing."""

import warnings
from importlib import import_module

import pytest

from treefactor import AdapterError

GRAVITY = (0.0, 0.0, -9.81)


def heavy(name):
    """Return the module of a heavy engine; skip the tests of the file if the engine is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # frax warns of settings that would make it faster
        try:
            return import_module(f"treefactor.adapters.{name}_")
        except AdapterError as error:
            return pytest.skip(f"the engine is not installed: {error}", allow_module_level=True)
