"""Cases, and peers timed in turns.

Machines drift by tens of per cent while a benchmark runs, so only ratios taken in turns are compared. asv
calls `setup` before every timed call, which costs as much as a small kernel: cases are cached here instead,
and what is reported are times per call over many calls.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace

import numpy as np
import pinocchio as pin

from treefactor import robots
from treefactor.adapters import pinocchio_

ROBOTS = (
    "double_pendulum",
    "ur5_robot",
    "panda",
    "solo12",
    "anymal-kinova",
    "talos_reduced",
    "talos_full_v2",
)
STANDING = {"solo12", "anymal-kinova", "talos_reduced", "talos_full_v2"}  # on a free-flyer
CALLS = 100  # in one timed run
RUNS = 15


@cache
def case(name: str) -> SimpleNamespace:
    """Model, data with H at a random configuration, and a random right-hand side."""
    model = pinocchio_.load(robots.find(name).path, name in STANDING)
    data = model.createData()
    rng = np.random.default_rng(0)
    pin.crba(model, data, pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv)))
    H = pinocchio_.mass_matrix(model, data, pin.neutral(model))
    return SimpleNamespace(name=name, nv=model.nv, model=model, data=data, H=H, b=rng.normal(size=model.nv))


def times_in_turns(calls: dict[str, Callable[[], object]]) -> dict[str, np.ndarray]:
    """Microseconds per call of every function, RUNS of them, taken in turns."""
    times = {name: np.empty(RUNS) for name in calls}
    for run in range(RUNS):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(CALLS):
                call()
            times[name][run] = (time.perf_counter() - start) / CALLS * 1e6
    return times


def ratios(times: dict[str, np.ndarray], peer: str) -> np.ndarray:
    """How many times faster treefactor was than the peer, turn by turn."""
    return times[peer] / times["treefactor"]
