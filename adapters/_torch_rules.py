"""Derivatives of the maps of array functions in PyTorch: by each other, and by composition.

With H the symmetric second derivative (map "hvp") and ad the bracket of tangents, the gradient vjp(x, w)
changes along a tangent u by H u + ad_u^T vjp(x, w) / 2, because derivatives along `integrate` do not commute.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from ._manifold import Manifold
from ._maps import SOLVERS, MappedFunction
from ._torch_compositions import composition_rules

THIRD = (
    "treefactor has no third derivatives: a second derivative of {name} cannot be differentiated again; "
    "detach() it if it should count as constant"
)


def rules_of(function: MappedFunction, call: Callable, find: Callable):
    """Return the rules of a function: derivatives of its maps.

    ``pull`` takes the kind of map, its inputs, its outputs if the rules keep them, a gradient for each
    output, and which inputs need gradients; it returns these. ``push`` takes changes of the inputs instead
    and returns those of the outputs. ``call(kind, *arrays)`` calls one of the function's maps, ``find(name,
    model, options)`` returns such a call of another function.
    """
    if function.order or function.name in SOLVERS:
        return ProductRules(function, call)
    return composition_rules(function, find)


class ProductRules:
    """Derivatives of functions with products: of values by jvp and vjp, of jvp and vjp by hvp."""

    keeps_outputs = False

    def __init__(self, function: MappedFunction, call: Callable):
        self.function, self.call = function, call
        self.count = len(function.inputs)
        self.manifold = Manifold(function.model, torch)
        self.turns = function.x[0] != function.dx[0]  # the first input is a configuration with rotations
        self.commutes = not self.turns or self.manifold.commutes

    def pull(self, kind, arrays, outputs, weights, needs) -> list:
        """Return gradients by the inputs of a map."""
        n = self.count
        x, rest = arrays[:n], arrays[n:]
        if kind == "value":
            return self._by_entries(x, self.call("vjp", *x, *weights))
        if kind == "hvp":
            raise NotImplementedError(THIRD.format(name=self.function.name))
        w, u = (rest, weights) if kind == "vjp" else (weights, rest)
        transposed = ("vjp", w) if kind == "jvp" else ("jvp", u)
        linear = self.call(transposed[0], *x, *transposed[1]) if any(needs[n:]) else [None] * len(rest)
        first = self._by_entries(x, self._second(x, w, u, -0.5)) if any(needs[:n]) else [None] * n
        return [*first, *linear]

    def push(self, kind, arrays, outputs, changes) -> list:
        """Return changes of the outputs of a map."""
        n = self.count
        x, rest = arrays[:n], arrays[n:]
        dx = [self.manifold.to_tangent(x[0], changes[0]) if self.turns else changes[0], *changes[1:n]]
        if kind == "value":
            return list(self.call("jvp", *x, *dx))
        if kind == "hvp":
            raise NotImplementedError(THIRD.format(name=self.function.name))
        linear = self.call(kind, *x, *changes[n:])
        moved = self._second(x, rest, dx, 0.5) if kind == "vjp" else self._along_both(x, rest, dx)
        return [a + b for a, b in zip(linear, moved, strict=True)]

    def _by_entries(self, x, gradients) -> list:
        """Return gradients by the entries of q, of those along `integrate`."""
        first = self.manifold.pull(x[0], gradients[0]) if self.turns else gradients[0]
        return [first, *gradients[1:]]

    def _second(self, x, w, u, sign: float) -> list:
        """Return H u + sign ad_u^T g for the gradient g of w . value."""
        second = list(self.call("hvp", *x, *w, *u))
        if not self.commutes:
            gradient = self.call("vjp", *x, *w)[0]
            second[0] = second[0] + sign * self.manifold.co_bracket(u[0], gradient)
        return second

    def _along_both(self, x, u, d) -> list:
        """Return the derivative along d of that along u, by one second derivative for each entry."""
        (shape,) = [one.shape for one in self.function.outputs]
        batch, size = len(x[0]), int(torch.Size(shape).numel())
        unit = torch.eye(size, dtype=x[0].dtype).reshape(1, size, *shape).expand(batch, size, *shape)

        def repeated(y):
            return y.unsqueeze(1).expand(batch, size, *y.shape[1:]).reshape(batch * size, *y.shape[1:])

        rows = self.call("hvp", *map(repeated, x), unit.reshape(batch * size, *shape), *map(repeated, d))
        products = [
            (row.reshape(batch, size, -1) * y.reshape(batch, 1, -1)).sum(-1)
            for row, y in zip(rows, u, strict=True)
        ]
        change = sum(products[1:], products[0]).reshape(batch, *shape)
        if not self.commutes:
            bracket = self.manifold.bracket(d[0], u[0])
            (turned,) = self.call("jvp", *x, bracket, *map(torch.zeros_like, u[1:]))
            change = change + 0.5 * turned
        return [change]
