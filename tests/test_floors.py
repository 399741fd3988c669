"""Imports of Python and Cython point downwards, without circles."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FLOORS = [  # from the ground up; a module imports from its own folder and from what stands before it
    *("_version", "exceptions", "tolerances", "_util", "_moved", "streams"),
    *("tree", "families", "model", "config"),
    "linalg",
    *("dynamics", "kinematics"),
