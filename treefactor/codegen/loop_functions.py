"""Write the functions that close loops on the table of a `Writer`."""

from __future__ import annotations

import numpy as np

from ..tree.tree import Tree
from .algorithms.closures import Closure
from .algorithms.factors import factor, half_solve, solve
from .algorithms.reduction import Reduction


class LoopFunctions:
    """Functions of models with loops: methods named like them return scalars of results.

    Parameters
    ----------
    writer : Writer
    dependent : sequence of int
        Freedoms that the closed loops determine from the others.
    closing : Closing or None
        Analytic closure of the loops, for "position_closure".
    """

    def __init__(self, writer, dependent, closing):
        self.writer, self.model, self.dependent, self.closing = writer, writer.model, dependent, closing
        self.reductions: dict[str, Reduction] = {}

    def result(self, name: str, method: str | None) -> list:
        """Return the scalars of a function."""
        return getattr(self, name)(method) if method else getattr(self, name)()

    def loops(self, axes: str) -> list:
        """Return all accelerations with all loops closed; dependent velocities are computed first."""
        tree, reduction = self.model.tree, self.reduction(axes)
        v = self._loop_velocity(reduction)
        self.writer.name(v=v)
        states = self.writer.motions_at(v)
        H: list = [[0.0] * tree.n for _ in range(tree.n)]
        for i, j, x in zip(tree.rows.tolist(), tree.columns.tolist(), self.writer.crba(), strict=True):
            H[i][j] = H[j][i] = x
        u = [t - h for t, h in zip(self.writer.input("tau"), self.writer.bias_at(states), strict=True)]
        rates = reduction.rates(states)
        free = reduction.eliminate(H, u, rates)
        chain = Tree(np.arange(-1, len(free) - 1))
        packed, a = [H[i][j] for i in free for j in free if j <= i], [None] * tree.n
        L, inverse = factor(chain, packed, is_inertia=False)
        y = half_solve(chain, L, [u[k] for k in free])
        self.writer.name_rows("H_x", chain, packed)
        self.writer.name_rows("L_x", chain, L, strictly=True)
        self.writer.name(**{"u_x": [u[k] for k in free], "1/D_x": inverse, "y_x": y})
        for k, x in zip(free, solve(chain, L, inverse, y), strict=True):
            a[k] = x
        return reduction.complete(a, rates)

    def loop_velocity(self, axes: str) -> list:
        """Return velocities, the dependent ones computed."""
        return self._loop_velocity(self.reduction(axes))

    def loop_step(self, axes: str) -> list:
        """Return the Newton step of the dependent coordinates that closes the loops."""
        reduction = self.reduction(axes)
        return reduction.complete([0.0] * self.model.nv, reduction.gaps())

    def loop_gap(self) -> list:
        """Return the residuals of all loops."""
        return [x for loop in self.model.loops for x in Closure(self.writer.recursions, loop).residual()]

    def position_closure(self) -> list:
        """Return q with the loops closed, from the independent positions."""
        return (
            []
            if self.closing is None
            else self.closing.positions(self.writer.recursions, self.writer.input("q"))
        )

    def reduction(self, axes: str) -> Reduction:
        """Return the loop reduction with rows in the axes of a method."""
        if axes not in self.reductions:
            loops, n = self.model.loops, self.model.nv
            self.reductions[axes] = Reduction(
                self.writer.recursions, loops, n, self.dependent, self.writer.reduced, axes
            )
        return self.reductions[axes]

    def _loop_velocity(self, reduction: Reduction) -> list:
        """Return velocities, the dependent ones computed."""
        return reduction.complete(
            self.writer.input("v"), [[0.0] * len(group.J) for group in reduction.groups]
        )
