"""Optimize trajectories of a Panda in JAX, with the gradient through treefactor, and time MJX and frax.

Every trajectory reaches for a goal of its own; see `reach` for the problem. `adapters.jax_` is differentiated
by jax.value_and_grad through a rollout of 50 steps, mapped over trajectories by jax.vmap, and compiled by
jax.jit together with Adam. The peers compute the same gradient in processes of their own.
"""

import sys
import time
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import reach
from peers.cost_in_jax import value_and_gradient

import treefactor as tf
from treefactor.adapters import jax_

Q0 = (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785, 0.02, 0.02)  # rad, rad, ..., m, m
FRAME, PEERS = "panda_hand_tcp", ("frax", "mjx")
ADAM = (0.9, 0.999, 1e-8)


def problem(trajectories: int, steps: int):
    """Return the problem of a Panda."""
    return reach.problem("panda", FRAME, Q0, trajectories, steps, 0.01)


def functions(model: tf.Model, frame):
    """Return rollout and tool as functions of one trajectory; jax.vmap maps them over many."""
    return partial(jax_.rollout, model), lambda q: jax_.frame_placement(model, q, frame)[..., 3]


def optimize(evaluate, x, iterations: int, rate: float = 0.5):
    """Return the costs (iterations, B) and the last controls of Adam."""
    decay, decay2, tiny = ADAM

    @jax.jit
    def advance(x, mean, square, k):
        costs, by_x = evaluate(x)
        mean = decay * mean + (1 - decay) * by_x
        square = decay2 * square + (1 - decay2) * by_x**2
        size = jnp.sqrt(square / (1 - decay2**k)) + tiny
        return costs, x - rate * mean / (1 - decay**k) / size, mean, square

    history, mean, square = [], jnp.zeros_like(x), jnp.zeros_like(x)
    for k in range(1, iterations + 1):
        costs, x, mean, square = advance(x, mean, square, float(k))
        history.append(costs)
    return np.array(history), np.asarray(x)


def compare(task, turns: int) -> list:
    """Return the contestants of the gradient: treefactor, and the peers whose Pythons are named."""
    from treefactor.adapters._mjcf import mjcf

    names = {"treefactor_in_jax": sys.executable} | reach.pythons(PEERS)
    extra = {"mjcf": mjcf(Path(task.path), False)[0], "frame": task.frame}
    return task.contest(names, extra, turns)


def main():
    jax.config.update("jax_enable_x64", True)
    options = reach.arguments(__doc__.splitlines()[0], 64, 300)
    task = problem(options.trajectories, options.steps)
    model, arrays = task.model, task.arrays
    evaluate = value_and_gradient(*functions(model, task.frame), arrays)
    start = time.perf_counter()
    costs, x = optimize(evaluate, jnp.asarray(arrays["x"]), options.iterations)
    spent = time.perf_counter() - start
    task.report(costs, x, spent)
    if options.turns:
        reach.show(compare(task, options.turns), options.trajectories)
    if options.out:
        reach.draw(options.out, task, costs, x)


if __name__ == "__main__":
    main()
