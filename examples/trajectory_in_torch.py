"""Optimize trajectories of a UR5 in PyTorch, with the gradient through treefactor, and time adam-robotics.

Every trajectory reaches for a goal of its own; see `reach` for the problem. `adapters.torch_` is
differentiated by torch.autograd through a rollout of 50 steps, for all trajectories at once; torch.optim.Adam
moves the forces. The peer computes the same gradient in a process of its own, on the same robot: adam 0.5.0
loads no prismatic joints, therefore the robot is not a Panda.
"""

import sys
import time
from functools import partial

import numpy as np
import reach
import torch
from peers.cost_in_torch import cost, tensors

import treefactor as tf
from treefactor.adapters import torch_

Q0 = (0.0, -1.2, 1.8, -2.2, -1.57, 0.0)  # rad
FRAME, PEERS = "tool0", ("adam",)


def problem(trajectories: int, steps: int):
    """Return the problem of a UR5."""
    return reach.problem("ur5_robot", FRAME, Q0, trajectories, steps, 0.01)


def functions(model: tf.Model, frame):
    """Return rollout and tool as functions of many trajectories."""
    return partial(torch_.rollout, model), lambda q: torch_.frame_placement(model, q, frame)[..., 3]


def optimize(rollout, tool, problem: dict, iterations: int, rate: float = 0.5):
    """Return the costs (iterations, B) and the last controls of Adam."""
    x = problem["x"].clone().requires_grad_()
    optimizer, history = torch.optim.Adam([x], lr=rate), []
    for _ in range(iterations):
        optimizer.zero_grad()
        costs = cost(rollout, tool, problem, x)
        costs.sum().backward()
        optimizer.step()
        history.append(costs.detach().numpy())
    return np.array(history), x.detach().numpy()


def compare(task, turns: int) -> list:
    """Return the contestants of the gradient: treefactor, and adam where its Python is named."""
    names = {"treefactor_in_torch": sys.executable} | reach.pythons(PEERS)
    return task.contest(names, {"frame": task.frame}, turns)


def main():
    options = reach.arguments(__doc__.splitlines()[0], 64, 300)
    task = problem(options.trajectories, options.steps)
    model, arrays = task.model, task.arrays
    start = time.perf_counter()
    costs, x = optimize(*functions(model, task.frame), tensors(arrays), options.iterations)
    spent = time.perf_counter() - start
    task.report(costs, x, spent)
    if options.turns:
        reach.show(compare(task, options.turns), options.trajectories)
    if options.out:
        reach.draw(options.out, task, costs, x)


if __name__ == "__main__":
    main()
