"""Cost of trajectories of a robot in PyTorch, the same for treefactor and its peers.

A problem has the arrays q0, hold and scale (nv,), x (B, T, nv) and goals (B, 3), and the numbers h, rate and
effort. The forces are hold + scale x.
"""

import torch
from peers.serve import serve

STATE = ("q", "v", "tau")


def tensors(problem: dict) -> dict:
    """Return the numbers of a problem as tensors."""
    return {name: torch.as_tensor(array) for name, array in problem.items() if array.dtype.kind == "f"}


def cost(rollout, tool, problem: dict, x):
    """Return the costs (B,) of trajectories: distance from the goal in the end, velocities and forces.

    Parameters
    ----------
    rollout : callable
        Of q0, v0 (B, nv), tau (B, T, nv) and h; returns q and v (B, T + 1, nv).
    tool : callable
        Of q (B, nv); returns the positions of the tool (B, 3), in m.
    """
    q0, h = problem["q0"].expand(len(x), -1), float(problem["h"])
    q, v = rollout(q0, torch.zeros_like(q0), problem["hold"] + problem["scale"] * x, h)
    miss = tool(q[:, -1]) - problem["goals"]
    spent = problem["rate"] * (v**2).sum((1, 2)) + problem["effort"] * (x**2).sum((1, 2))
    return 0.5 * (miss**2).sum(-1) + h * spent


def looped(forward_dynamics):
    """Return the rollout by steps of semi-implicit Euler with the accelerations of a peer."""

    def rollout(q0, v0, tau, h):
        q, v = [q0], [v0]
        for force in tau.unbind(1):
            v.append(v[-1] + h * forward_dynamics(q[-1], v[-1], force))
            q.append(q[-1] + h * v[-1])
        return torch.stack(q, 1), torch.stack(v, 1)

    return rollout


def compete(load) -> None:
    """Serve a problem; ``load(problem)`` returns forward_dynamics, rollout and tool of many trajectories."""

    def prepare(problem):
        torch.set_num_threads(1)
        forward_dynamics, rollout, tool = load(problem)
        known = tensors(problem)
        x = known["x"].requires_grad_()

        def gradient():
            costs = cost(rollout, tool, known, x)
            return costs.detach().numpy(), torch.autograd.grad(costs.sum(), x)[0].numpy()

        return lambda: forward_dynamics(*(known[name] for name in STATE)).numpy(), lambda: gradient

    serve(prepare)
