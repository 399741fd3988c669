"""Cost of trajectories of a robot in JAX, the same for treefactor and its peers.

A problem has the arrays q0, hold and scale (nv,), x (B, T, nv) and goals (B, 3), and the numbers h, rate and
effort. The forces are hold + scale x.
"""

from functools import partial

import jax
import jax.numpy as jnp
from peers.serve import serve

STATE = ("q", "v", "tau")


def cost(rollout, tool, problem: dict, x, goal):
    """Return the cost of one trajectory: distance from the goal in the end, velocities and forces.

    Parameters
    ----------
    rollout : callable
        Of q0, v0 (nv,), tau (T, nv) and h; returns q and v (T + 1, nv).
    tool : callable
        Of q; returns the position of the tool (3,), in m.
    """
    q0, h = problem["q0"], problem["h"]
    q, v = rollout(q0, jnp.zeros_like(q0), problem["hold"] + problem["scale"] * x, h)
    miss = tool(q[-1]) - goal
    return 0.5 * miss @ miss + h * (problem["rate"] * (v**2).sum() + problem["effort"] * (x**2).sum())


def value_and_gradient(rollout, tool, problem: dict):
    """Return a function of x (B, T, nv) that computes the costs (B,) and their gradients."""

    def total(x):
        costs = jax.vmap(partial(cost, rollout, tool, problem))(x, problem["goals"])
        return costs.sum(), costs

    def evaluate(x):
        (_, costs), by_x = jax.value_and_grad(total, has_aux=True)(x)
        return costs, by_x

    return evaluate


def scanned(forward_dynamics):
    """Return the rollout by steps of semi-implicit Euler with the accelerations of a peer."""

    def rollout(q0, v0, tau, h):
        def step(state, force):
            q, v = state
            v = v + h * forward_dynamics(q, v, force)
            return (q + h * v, v), (q + h * v, v)

        _, (q, v) = jax.lax.scan(step, (q0, v0), tau)
        return jnp.concatenate([q0[None], q]), jnp.concatenate([v0[None], v])

    return rollout


def compete(load) -> None:
    """Serve a problem; ``load(problem)`` returns forward_dynamics, rollout and tool of one trajectory."""

    def prepare(problem):
        forward_dynamics, rollout, tool = load(problem)
        problem = {name: array for name, array in problem.items() if array.dtype.kind == "f"}
        x = jnp.asarray(problem["x"])

        def accelerations():
            return jax.jit(jax.vmap(forward_dynamics))(*(problem[name] for name in STATE))

        def build():
            compiled = jax.jit(value_and_gradient(rollout, tool, problem)).lower(x).compile()
            return lambda: jax.block_until_ready(compiled(x))

        return accelerations, build

    serve(prepare)
