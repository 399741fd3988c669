"""Factorization and solution for one matrix, against Pinocchio's sparse and SciPy's dense Cholesky."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pinocchio as pin
from scipy.linalg import cho_factor, cho_solve

from treefactor.adapters.pinocchio_ import Accelerator, tree

from .common import ROBOTS, case, ratios, times_in_turns

PEERS = ("pinocchio", "scipy")


def factor_calls(robot: str) -> dict[str, Callable[[], object]]:
    """Factorization of ``data.M`` by everybody, each the fastest way it offers."""
    c = case(robot)
    return {
        "treefactor": Accelerator(c.model, c.data).factor,
        "pinocchio": partial(pin.cholesky.decompose, c.model, c.data),
        "scipy": partial(cho_factor, c.H, check_finite=False),
    }


def solve_calls(robot: str) -> dict[str, Callable[[], object]]:
    """Solution of H x = b by everybody."""
    c = case(robot)
    accelerator = Accelerator(c.model, c.data).factor()
    pin.cholesky.decompose(c.model, c.data)
    dense, out = cho_factor(c.H, check_finite=False), np.empty(c.nv)
    return {
        "treefactor": partial(accelerator.solve, c.b, out),
        "pinocchio": partial(pin.cholesky.solve, c.model, c.data, c.b),
        "scipy": partial(cho_solve, dense, c.b, check_finite=False),
    }


class Times:
    params = (ROBOTS, ("treefactor", *PEERS))
    param_names = ("robot", "library")
    unit = "us"

    def track_factor(self, robot, library):
        return float(times_in_turns({library: factor_calls(robot)[library]})[library].min())

    def track_solve(self, robot, library):
        return float(times_in_turns({library: solve_calls(robot)[library]})[library].min())


class Ratios:
    params = (ROBOTS, PEERS)
    param_names = ("robot", "peer")
    unit = "times faster"

    def track_factor(self, robot, peer):
        return float(np.median(ratios(times_in_turns(factor_calls(robot)), peer)))

    def track_solve(self, robot, peer):
        return float(np.median(ratios(times_in_turns(solve_calls(robot)), peer)))


class Counts:
    """Exact numbers, which no machine makes noisy."""

    params = (ROBOTS,)
    param_names = ("robot",)
    unit = "operations"

    def track_ltdl(self, robot):
        return tree(case(robot).model).cost("LTDL").total

    def track_solve(self, robot):
        return tree(case(robot).model).cost("solve").total
