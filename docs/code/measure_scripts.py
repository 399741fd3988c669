"""Measure the scripts of the page *From Pinocchio to treefactor*: whole processes, with their imports.

Times are the processor's of a process of Python, from its start to its end, in turns with the script before.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from treefactor import bench

FOLDER = Path(__file__).parents[2] / "examples" / "from_pinocchio"
STEPS = "batch", "fuse", "replace"  # by their gain
IMPORTS = "import numpy, pinocchio"
OURS = f"{IMPORTS}, treefactor; from treefactor.adapters import pinocchio_"
FULL = {"patience": 25.0}  # seconds for each script
SMALL = {"patience": 0.1}


def measured(_: dict, patience: float) -> dict:
    """Return times of the scripts before and after, and of the imports alone."""
    figures = {
        step: in_turns(step, [f"{FOLDER / step / name}.py" for name in ("after", "before")], patience)
        for step in STEPS
    }
    imports = in_turns("imports", [("-c", OURS), ("-c", IMPORTS)], patience)
    return {"scripts": figures, "imports": imports}


def in_turns(what: str, ours_and_theirs: Sequence[str | tuple[str, str]], patience: float) -> dict:
    """Return seconds of two processes in turns, and the median and quartiles of their ratio."""
    calls = [bench.Call(partial(run, one)) for one in ours_and_theirs]
    result = bench.Comparison(
        "whole script", "arm", what, "Pinocchio", *calls, clock=of_children, patience=patience
    ).measure()
    kept = {"after": result.ours, "before": result.theirs}
    return kept | {name: getattr(result, name) for name in ("ratio", "low", "high")}


def run(arguments: str | tuple[str, str]) -> None:
    """Run Python, on one thread."""
    command = [sys.executable, *([arguments] if isinstance(arguments, str) else arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})


def of_children() -> float:
    """Return the processor time of all processes that have ended."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
