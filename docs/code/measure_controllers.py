"""Measure the examples of controllers beside their peers.

The functions are those of examples/: sampling MPC beside MuJoCo, inverse kinematics beside Pinocchio and
Pink, differential dynamic programming beside Crocoddyl, and gradients of trajectories in JAX and PyTorch
beside MJX, frax and adam. Each peer is stored with our time from the same run.
"""

from __future__ import annotations

import sys
from pathlib import Path

from measure import output_of, python_of

import treefactor as tf

EXAMPLES = Path(__file__).parents[2] / "examples"
VARIABLES = {
    "Pink": "PINK_PYTHON",
    "Crocoddyl": "TREEFACTOR_CROCODDYL_PYTHON",
    "mjx": "TREEFACTOR_MJX_PYTHON",
    "frax": "TREEFACTOR_FRAX_PYTHON",
    "adam": "TREEFACTOR_ADAM_PYTHON",
}
PACKAGES = {  # of a peer, whose versions are stored
    "Pink": ("pin-pink", "daqp", "pin"),
    "Crocoddyl": ("crocoddyl", "pin"),
    "mjx": ("mujoco-mjx", "mujoco", "jax"),
    "frax": ("frax", "jax"),
    "adam": ("adam-robotics", "torch"),
}
FULL = {
    "mppi": {"samples": 1024, "horizon": 50, "steps": 150, "turns": 9},
    "ik_batch": {"targets": 1000, "compared": 20},
    "ddp_batch": {"problems": 64, "steps": 100, "iterations": 100, "repeats": 3},
    "trajectories": {"trajectories": 64, "steps": 50, "turns": 3},
}
SMALL = {
    "mppi": {"samples": 32, "horizon": 16, "steps": 4, "turns": 1},
    "ik_batch": {"targets": 20, "compared": 2},
    "ddp_batch": {"problems": 4, "steps": 20, "iterations": 20, "repeats": 1},
    "trajectories": {"trajectories": 2, "steps": 3, "turns": 1},
}


def measured(before: dict, mppi: dict, ik_batch: dict, ddp_batch: dict, trajectories: dict) -> dict:
    """Return the figures of all examples; those of absent peers are taken from `before`."""
    sys.path.insert(0, str(EXAMPLES))
    peers = dict(before.get("peers", {}))
    figures = {
        "mppi": sampling(**mppi),
        "ik_batch": inverse_kinematics(peers, **ik_batch),
        "ddp_batch": dynamic_programming(peers, **ddp_batch),
    }
    for name in ("trajectory_in_jax", "trajectory_in_torch"):
        figures[name] = gradients(name, peers, **trajectories)
    return figures | {"peers": peers}


def sampling(samples: int, horizon: int, steps: int, turns: int) -> dict:
    """Return the figures of sampling MPC, robot by robot."""
    import mppi

    figures = {}
    for task in (mppi.panda(), mppi.solo12()):
        _, run = mppi.run(task, samples, horizon, steps)
        figures[task.robot] = {"run": run, "rollout": mppi.compare(task, samples, horizon, turns)}
    return figures


def inverse_kinematics(peers: dict, targets: int, compared: int) -> dict:
    """Return the figures of inverse kinematics; store those of Pink."""
    import ik_batch

    path, model, placements = ik_batch.problem(targets)
    run = ik_batch.solve_timed(model, placements)[-1]
    own = run["seconds"] / targets
    beside = ik_batch.compare_with_pinocchio(model, path, placements, compared, own)
    python = named("Pink", peers)
    if python:
        figures = ik_batch.compare_with_pink(path, model, placements[:compared], python)
        store(peers, "Pink", python, figures | {"ours": own})
    return {"run": run, "beside": beside}


def dynamic_programming(peers: dict, problems: int, steps: int, iterations: int, repeats: int) -> dict:
    """Return the figures of differential dynamic programming; store those of Crocoddyl."""
    import ddp_batch

    problem = ddp_batch.problems(problems, steps)
    result, figures = ddp_batch.measure(problem, iterations, repeats)
    python = named("Crocoddyl", peers)
    figures["alone"], alone = ddp_batch.measure_alone(problem, iterations, repeats, python)
    if python:
        theirs = ddp_batch.crocoddyl(python, problem, iterations, repeats)
        beside = ddp_batch.compare(theirs, result)
        store(peers, "Crocoddyl", python, beside | {"alone": alone, "ours": figures["seconds"]})
    return figures


def gradients(name: str, peers: dict, trajectories: int, steps: int, turns: int) -> dict:
    """Return the figures of an example in JAX or PyTorch; store those of its peers."""
    import reach

    script = __import__(name)
    task = script.problem(trajectories, steps)
    figures = reach.figures(script.compare(task, turns))
    own = figures.pop(name.replace("trajectory", "treefactor"))
    for peer in script.PEERS:
        python = named(peer, peers)
        if python:
            store(peers, peer, python, figures[peer] | {"ours": own["seconds"]})
    return {"robot": task.path.stem, "nv": task.model.nv} | own


def named(peer: str, peers: dict) -> str | None:
    """Return the Python of a peer; None where its variable is not set."""
    return python_of(peer, VARIABLES[peer], peer in peers)


def store(peers: dict, peer: str, python: str, figures: dict) -> None:
    """Store the figures of a peer with its versions and the instruction set of our own code."""
    peers[peer] = figures | {"versions": versions(python, peer), "used": tf.show_config("dicts")["used"]}


def versions(python: str, peer: str) -> dict[str, str]:
    """Return the versions of the packages of a peer in its Python."""
    code = "import sys, importlib.metadata as m\nprint(*map(m.version, sys.argv[1:]))"
    return dict(zip(PACKAGES[peer], output_of(python, code, *PACKAGES[peer]).split(), strict=True))
