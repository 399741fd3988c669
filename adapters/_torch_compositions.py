"""Derivatives of integrate, difference, normalize, step and rollout in PyTorch, by composition.

Values come from one call of a kernel. Derivatives are those of the same formulas in functions of PyTorch: of
the manifold of configurations, and of forward dynamics. They exist to the order that forward dynamics has.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch

from ._manifold import Manifold, runge_kutta
from ._maps import ArrayFunction
from ._programs import find_function
from ._rules import Motion
from ._torch_adjoints import Adjoint
from ._torch_transforms import is_transformed


def composition_rules(function: ArrayFunction, find: Callable):
    """Return the rules of a function that has only values; for ``find`` see `_torch_rules.rules_of`."""
    manifold = Manifold(function.model, torch)
    if isinstance(function, Motion):
        one_step = Step(function, manifold, find)
        return TrajectoryRules(one_step) if function.name == "rollout" else CompositionRules(one_step)
    return CompositionRules(_Plain(getattr(manifold, function.name)))


class Pair(NamedTuple):
    """Value and its change along a direction; sums and multiples are those of both."""

    value: torch.Tensor
    change: torch.Tensor

    def __add__(self, other: Pair) -> Pair:  # type: ignore[override]
        return Pair(self.value + other.value, self.change + other.change)

    def __rmul__(self, factor: float) -> Pair:  # type: ignore[override]
        return Pair(factor * self.value, factor * self.change)


class Step:
    """A step as a function of q, v, tau and, if the function has them, external forces and inertias."""

    def __init__(self, function: Motion, manifold: Manifold, find: Callable):
        options = dict(function.options)
        extras = tuple((name, True) for name in ("fext", "inertias") if options.get(name))
        self.manifold, self.h = manifold, options["h"]
        self.dynamics = find("forward_dynamics", function.dynamics, extras)
        self.count = 4 if options.get("fext") else 3  # of the inputs that differ between steps
        self.compute = self._semi_implicit_euler
        self.adjoint: Adjoint | None = None  # of trajectories, where nothing else is to be differentiated
        if options.get("method") == "rk4":
            self.compute = self._rk4
        elif function.name == "rollout":
            pull = find_function("forward_dynamics", function.dynamics, **dict(extras)).map("vjp")
            self.adjoint = Adjoint(function.model, pull, manifold, self.h)

    def __call__(self, *state):
        return self.compute(*state)

    def push(self, state, changes) -> list:
        """Return the changes of the next q and v."""
        return [each.change for each in self.compute(*map(Pair, state, changes))]

    def _semi_implicit_euler(self, q, v, *forces):
        after = v + self.h * self._acceleration(q, v, forces)
        return self._integrate(q, self.h * after), after

    def _rk4(self, q, v, *forces):
        accelerate = partial(self._acceleration, forces=forces)
        return runge_kutta(self.h, q, v, accelerate, self._integrate, self._bracket)

    def _acceleration(self, q, v, forces):
        state = q, v, *forces
        if not isinstance(q, Pair):
            return self.dynamics("value", *state)[0]
        values, (dq, *changes) = zip(*state, strict=True)
        tangent = self.manifold.to_tangent(values[0], dq)
        return Pair(self.dynamics("value", *values)[0], self.dynamics("jvp", *values, tangent, *changes)[0])

    def _integrate(self, q, v):
        if not isinstance(q, Pair):
            return self.manifold.integrate(q, v)
        if self.manifold.trivial:
            return q + v
        values, changes = zip(q, v, strict=True)
        return Pair(self.manifold.integrate(*values), pushed(self.manifold.integrate, values, changes))

    def _bracket(self, a, b):
        bracket = self.manifold.bracket
        if not isinstance(a, Pair):
            return bracket(a, b)
        return Pair(bracket(a.value, b.value), bracket(a.change, b.value) + bracket(a.value, b.change))


class _Plain:
    """Function with one result, in operations of PyTorch."""

    def __init__(self, compute: Callable):
        self.compute = compute

    def __call__(self, *arrays):
        return (self.compute(*arrays),)

    def push(self, arrays, changes) -> list:
        """Return the change of the result."""
        return [pushed(self.compute, arrays, changes)]


def pulled(composition: Callable, arrays, weights) -> list:
    """Return the gradients of a composition for weights of its results."""
    if torch.is_grad_enabled() or is_transformed((*arrays, *weights)):
        return list(torch.func.vjp(composition, *arrays)[1](tuple(weights)))
    with (
        torch.enable_grad()
    ):  # the same in less than half the time, where nothing else is to be differentiated
        leaves = [x.detach().requires_grad_() for x in arrays]
        return list(torch.autograd.grad(composition(*leaves), leaves, tuple(weights)))


def pushed(function: Callable, arrays, changes) -> torch.Tensor:
    """Return the change of the result of a function: the gradient of its gradient by weights.

    This needs reverse mode only: forward mode of PyTorch does not nest.
    """
    value, pull = torch.func.vjp(function, *arrays)
    return torch.func.vjp(pull, torch.zeros_like(value))[1](tuple(changes))[0]


class CompositionRules:
    """Derivatives of a function as a composition of others."""

    keeps_outputs = False

    def __init__(self, composition):
        self.composition = composition

    def pull(self, kind, arrays, outputs, weights, needs) -> list:
        """Return gradients by the inputs."""
        return pulled(self.composition, arrays, weights)

    def push(self, kind, arrays, outputs, changes) -> list:
        """Return changes of the outputs."""
        return self.composition.push(arrays, changes)


class TrajectoryRules:
    """Derivatives of trajectories: those of the steps, one after the other, at the states that were kept."""

    keeps_outputs = True

    def __init__(self, one_step: Step):
        self.one_step, self.first = one_step, _Plain(one_step.manifold.normalize)

    def pull(self, kind, arrays, outputs, weights, needs) -> list:
        """Return gradients by the initial state and all forces, from the last step to the first."""
        n, (q, v) = self.one_step.count, outputs
        forces, inertias = arrays[2:n], arrays[n:]
        adjoint = self.one_step.adjoint
        if adjoint and not (torch.is_grad_enabled() or is_transformed((*arrays, *outputs, *weights))):
            return adjoint.gradients(q, v, forces, inertias, weights)
        by_q, by_v = (list(w.unbind(1)) for w in weights)
        if not self.one_step.manifold.trivial:
            by_q[:1] = pulled(self.first, (q[:, 0],), (by_q[0],))
        dq, dv, by_steps, total = by_q[-1], by_v[-1], [], [torch.zeros_like(x) for x in inertias]
        for k in reversed(range(q.shape[1] - 1)):
            state = (q[:, k], v[:, k], *(each[:, k] for each in forces), *inertias)
            dq, dv, *others = pulled(self.one_step, state, (dq, dv))
            dq, dv = dq + by_q[k], dv + by_v[k]
            by_steps.append(others[: n - 2])
            total = [x + y for x, y in zip(total, others[n - 2 :], strict=True)]
        if not by_steps:
            return [dq, dv, *map(torch.zeros_like, forces), *total]
        return [dq, dv, *(torch.stack(each[::-1], dim=1) for each in zip(*by_steps, strict=True)), *total]

    def push(self, kind, arrays, outputs, changes) -> list:
        """Return changes of all states, from the first step to the last."""
        n, (q, v) = self.one_step.count, outputs
        forces, inertias = arrays[2:n], arrays[n:]
        dq, dv, *by_forces = changes[:n]
        if not self.one_step.manifold.trivial:
            (dq,) = self.first.push((q[:, 0],), (dq,))
        changed = [(dq, dv)]
        for k in range(q.shape[1] - 1):
            state = (q[:, k], v[:, k], *(each[:, k] for each in forces), *inertias)
            moved = (dq, dv, *(each[:, k] for each in by_forces), *changes[n:])
            dq, dv = self.one_step.push(state, moved)
            changed.append((dq, dv))
        return [torch.stack(each, dim=1) for each in zip(*changed, strict=True)]
