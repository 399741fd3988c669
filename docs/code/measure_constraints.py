"""Measure loops, contacts and time steps, for the page on choosing an algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

import treefactor as tf
from treefactor import bench, constraints, mechanisms, mlcp
from treefactor.bench.comparisons import loops as loops_times
from treefactor.bench.comparisons import mlcp as mlcp_times
from treefactor.bench.comparisons import piles
from treefactor.bench.comparisons.mlcp_peers import CLARABEL, DANTZIG, DAQP, PROXQP, PeerInput
from treefactor.mlcp.families import FAMILIES

LOOPED = ("four-bar", "five-bar", "stewart")
TOUCHING = {"robot": "legs on one base", "spheres": "spheres"}
ROWS = (10, 20, 50, 100, 200, 500)
PATIENCE = 1.0  # seconds
RUN = 20  # steps in a run


def measured(_: dict) -> dict:
    """Return the figures of loops, contacts and a pile."""
    with threadpool_limits(1):
        return {
            "loops": {name: bench.median_times(closing(name), patience=PATIENCE) for name in LOOPED},
            "contacts": {status: list(touching(family)) for family, status in TOUCHING.items()},
            "pile": stepping(),
        }


def closing(name: str) -> dict:
    """Return the ways to compute accelerations of a mechanism in one state."""
    mechanism = mechanisms.MECHANISMS[name]()
    model = mechanism.model
    (q,), (tau,) = loops_times.states(mechanism, 1)
    v, out = np.zeros(model.nv), np.empty(model.nv)
    ways = {
        "Pinocchio constraintDynamics": partial(loops_times.peer(model), q, v, tau),
        "loops over bodies": partial(constraints.forward_dynamics, model, q, v, tau),
    }
    program = tf.generate(model, ["loops"])
    for backend, status in (("interp", "interpreter"), ("cc", "cc")):
        ways[f"program, {status}"] = tf.compile(program, backend=backend).bind("loops", q, v, tau, out=out)
    return ways


def touching(family: str) -> Iterator[dict]:
    """Yield seconds for problems of a family against their number of rows."""
    for m in ROWS:
        problem = FAMILIES[family](m, mlcp_times.SEED)
        copied, later = PeerInput(problem), mlcp_times.changed(problem)
        ways = {
            "mlcp.solve": partial(mlcp.solve, problem),
            "mlcp.solve, warm": partial(mlcp.solve, later, mlcp.solve(problem)),
        }
        for peer in (DANTZIG, DAQP, CLARABEL, PROXQP):
            if peer.available():
                ways[f"{peer.name}, A given" if peer is DANTZIG else peer.name] = peer.prepare(copied)
        yield {"count": problem.m, "seconds": bench.median_times(ways, patience=PATIENCE)}


def stepping() -> dict[str, dict[str, float]]:
    """Return seconds per step of a settled pile, and how deep its spheres are in each other afterwards, m."""
    pile = piles.Pile()
    mujoco, pybullet = piles.mujoco_pile(pile.q), piles.pybullet_pile(pile.q)
    ways = {
        "Stepper.step": bench.Call(partial(pile.step, RUN), RUN),
        "Stepper.run, states only": bench.Call(partial(pile.run, RUN), RUN),
        "MuJoCo": mujoco[0],
        "PyBullet": pybullet[0],
    }
    times = bench.median_times(ways, patience=PATIENCE)
    reached = [pile.step(RUN), pile.run(RUN), mujoco[1](), pybullet[1]()]
    return {
        way: {"seconds": time, "overlap": max(pile.overlap(q), 0.0)}
        for way, time, q in zip(ways, times.values(), reached, strict=True)
    }
