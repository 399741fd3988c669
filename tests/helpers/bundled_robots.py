"""Find bundled robots, and skip tests of those that come with PyBullet where it is not installed."""

from importlib.util import find_spec

import pytest

from treefactor import robots

NO_WHEEL = "pybullet_data is not installed: PyBullet has no wheels after Python 3.11"


def bundled_robot(name):
    """Return the path of a bundled robot; skip where PyBullet, which it comes with, is not installed."""
    if name.startswith("pybullet_data/") and find_spec("pybullet_data") is None:
        pytest.skip(NO_WHEEL)
    return robots.find(name).path
