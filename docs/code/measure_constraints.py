"""Measure the times of loops, contacts and time steps for the page on choosing an algorithm: `make measure`.

Processor times, taken in turns; no path and no name of the machine is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

import treefactor as tf
from treefactor import bench, constraints, mechanisms, mlcp, report
from treefactor.bench.comparisons import loops as loops_times
from treefactor.bench.comparisons import mlcp as mlcp_times
from treefactor.bench.comparisons import piles
from treefactor.bench.comparisons.mlcp_peers import CLARABEL, DANTZIG, DAQP, PROXQP, PeerInput
from treefactor.mlcp_families import FAMILIES

FILE = Path(__file__).parents[1] / "measured" / "constraints.json"
LOOPED = ("four-bar", "five-bar", "stewart")
TOUCHING = {"robot": "legs on one base", "spheres": "spheres"}
ROWS = (10, 20, 50, 100, 200, 500)
PATIENCE = 1.0  # seconds
RUN = 20  # steps in a run


def main() -> None:
    """Measure and write constraints.json."""
    with threadpool_limits(1):
        loops = {name: seconds(closing(name)) for name in LOOPED}
        contacts = {status: list(touching(family)) for family, status in TOUCHING.items()}
        pile = stepping()
    content = {"config": tf.show_config("dicts"), "loops": loops, "contacts": contacts, "pile": pile}
    report.write_json(FILE, content)


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
        given, later = PeerInput(problem), mlcp_times.changed(problem)
        ways = {
            "mlcp.solve": partial(mlcp.solve, problem),
            "mlcp.solve, warm": partial(mlcp.solve, later, mlcp.solve(problem)),
        }
        for peer in (DANTZIG, DAQP, CLARABEL, PROXQP):
            if peer.available():
                ways[f"{peer.name}, A given" if peer is DANTZIG else peer.name] = peer.prepare(given)
        yield {"count": problem.m, "seconds": seconds(ways)}


def stepping() -> dict[str, dict[str, float]]:
    """Return seconds per step of a settled pile, and how deep its spheres are in each other afterwards, m."""
    pile = piles.Pile()
    mujoco, pybullet = piles.mujoco_pile(pile.q), piles.pybullet_pile(pile.q)
    ways = {
        "Stepper.step": bench.Call(partial(pile.step, RUN), RUN),
        "Stepper.run, states only": bench.Call(partial(pile.run, RUN), RUN),
        "MuJoCo": bench.Call(mujoco[0]),
        "PyBullet": bench.Call(pybullet[0]),
    }
    times = np.median(bench.times_in_turns(list(ways.values()), process_time, PATIENCE), axis=0)
    reached = [pile.step(RUN), pile.run(RUN), mujoco[1](), pybullet[1]()]
    return {
        way: {"seconds": time, "overlap": max(pile.overlap(q), 0.0)}
        for way, time, q in zip(ways, times.tolist(), reached, strict=True)
    }


def seconds(ways: dict) -> dict[str, float]:
    """Return median seconds of each way, taken in turns."""
    times = bench.times_in_turns([bench.Call(run) for run in ways.values()], process_time, PATIENCE)
    return dict(zip(ways, np.median(times, axis=0).tolist(), strict=True))


if __name__ == "__main__":
    main()
