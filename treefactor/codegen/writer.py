"""From a model to the program with the fewest operations: steps, recursions, dead rows, for each variant."""

from __future__ import annotations

import numpy as np

from ..dynamics.bodies import coupling_of
from ..exceptions import CodegenError
from ..tree.tree import Tree
from .algorithms import matrices
from .algorithms.closures import Closure
from .algorithms.factors import delassus, factor, following, half_solve, inverse_of, solve
from .algorithms.frames import SNAP
from .algorithms.recursions import Recursions
from .algorithms.reduction import Reduction
from .choices import VARIANTS, Choice
from .program import passes
from .program.expressions import Table
from .program.program import ARGUMENTS, COLUMNS, Function, Program, shape_of


def generate(
    model, functions=None, tips=(), variants=tuple(VARIANTS), snap: float = SNAP, independent=None
) -> Program:
    """Straight-line code of functions of a model, with the fewest operations of all variants.

    Parameters
    ----------
    model : Model
    functions : sequence of str, optional
        Among "crba", "rnea", "bias", "aba", "forward_dynamics", "minv", "jacobian" and "delassus"; "aba" not
        for models with joints that follow others. Of models with loops also "loops", the accelerations of all
        coordinates with loops closed; "loop_velocity", v with the velocities that follow computed from the
        others; "loop_step", the step in v, to be integrated, by which Newton's method closes the loops; and
        "loop_gap", the residual of `treefactor.constraints.loop_rows`. By default all that need no tips.
    tips : sequence of str or int
        Joints by their names, their bodies' or their numbers: "jacobian" is J, the velocities of their frames
        in their own axes for unit v, linear before angular, one joint below the other; "delassus" is
        J H^-1 J^T.
    variants : sequence of str
        Among "plain", "frames", "regroup", "both" and "meeting": the model as it is, in canonical frames,
        with inertias regrouped, or both, at last with origins where axes meet. All compute the same to
        rounding; ``Function.variant`` names the one that was taken.
    snap : float
        Constant angles that are so close to a number of quarters become so, and lengths that are so short,
        relative to the longest, 0. With more than rounding the program is one of a slightly different robot:
        ``Program.snapped`` is the largest change.
    independent : sequence of str, optional
        Joints, or freedoms as ``Tree.names`` has them, from which the others on loops follow. By default the
        coordinates that follow are those far from the base that move few loops; ``Program.independent`` says
        which do not.

    Returns
    -------
    Program

    Raises
    ------
    TypeError, ValueError
        Where the model is not a Model, or snap is negative.
    CodegenError
        Where a function or variant is unknown or cannot be had for the model, a freedom moves no mass, or a
        constant overflows; where loops cannot be closed, some of their rows say the same, or they do not
        determine what is not independent. Names the loop.

    Notes
    -----
    Golubev & Yaskevich (2020), with the tables of ``expressions`` and the steps of ``frames``.
    """
    choice = Choice.of(model, functions, tips, variants, snap, independent)
    best: dict[str, Function] = {}
    for variant, bodies in choice.stepped.items():
        writer = Writer(model, bodies, choice.tips, choice.dependent)
        for name, method in choice.ways:
            found = writer.function(name, method, variant)
            if name not in best or found.operations.total < best[name].operations.total:
                best[name] = found
    best = {name: passes.gather(function) for name, function in best.items()}
    parent, loops = np.array(model.tree.parent), tuple((loop.name, loop.kind) for loop in model.loops)
    return Program(
        model.name, parent, model.nq, model.nv, choice.tips, choice.snapped, best, loops, choice.independent
    )


class Writer:
    """The functions of a model on one table.

    Parameters
    ----------
    model : Model
    bodies : list of Body
    tips : sequence of str
    named : dict of str to scalars, or None
        Receives intermediate matrices.
    """

    def __init__(self, model, bodies, tips, dependent=(), named: dict | None = None):
        self.model, self.table, self.tips, self.dependent = model, Table(), tips, dependent
        self.sizes = {"q": model.nq, "v": model.nv, "a": model.nv, "tau": model.nv}
        self.recursions = Recursions(bodies, model.gravity, model.extended, self.input("q"), named)
        self.named = named
        self.reductions: dict[str, Reduction] = {}

    def input(self, name: str) -> list:
        """Scalars of an argument; every name has its own number."""
        number = list(self.sizes).index(name)
        return [self.table.input(number, entry) for entry in range(self.sizes[name])]

    def function(self, name: str, method: str | None, variant: str) -> Function:
        """One function, its dead rows removed."""
        loops = tuple((loop.name, loop.kind) for loop in self.model.loops)
        shape = shape_of(name, self.model.tree, len(self.tips), loops)
        return self.extract(
            name, self.result(name, method), shape, f"{variant}, {method}" if method else variant
        )

    def result(self, name: str, method: str | None) -> list:
        """Scalars of the result; a pivot that is a number, and not positive, is the model's fault."""
        try:
            return getattr(self, name)(method) if method else getattr(self, name)()
        except ZeroDivisionError as error:
            raise CodegenError(f"{name}: a pivot is not positive whatever q is: {error}") from None

    def extract(self, name: str, result: list, shape: tuple[int, ...], variant: str) -> Function:
        """The rows that a result needs."""
        names = ARGUMENTS[name]
        columns = passes.extract(self.table, result, [list(self.sizes).index(x) for x in names])
        inputs = tuple((x, self.sizes[x]) for x in names)
        function = Function(
            name, inputs, **dict(zip(COLUMNS, columns, strict=True)), shape=shape, variant=variant
        )
        if not np.isfinite(function.value).all():
            raise CodegenError(f"{name}: a constant of the model overflows")
        return function

    def rates(self, name: str) -> list:
        """An argument for the freedoms of all joints, v = G w where joints follow others."""
        given, G = self.input(name), self.model.coupling and self.model.coupling.G
        return given if G is None else [matrices.weighted(row, given) for row in G.tolist()]

    def reduced(self, tau) -> list:
        """Forces G^T tau."""
        G = self.model.coupling and self.model.coupling.G
        return tau if G is None else [matrices.weighted(column, tau) for column in G.T.tolist()]

    def crba(self) -> list:
        """Packed rows of H, G^T H G where joints follow others."""
        coupling = coupling_of(self.model)
        self._name_rows("H", self.model.extended, self.recursions.H)
        if coupling is None:
            return self.recursions.H
        _, _, fold, ratio = coupling
        H = [0.0] * self.model.tree.nnz
        for entry, place, factor_ in zip(self.recursions.H, fold.tolist(), ratio.tolist(), strict=True):
            H[place] = H[place] + entry * factor_
        self._name_rows("G^T H G", self.model.tree, H)
        return H

    def rnea(self) -> list:
        """Forces for accelerations."""
        v, a = self.rates("v"), self.rates("a")
        return self.reduced(self.recursions.project(self.recursions.forces(self.recursions.states(v, a)), a))

    def bias(self) -> list:
        """Forces at rest."""
        return self._bias(self._states(self.input("v")))

    def _bias(self, states) -> list:
        return self.reduced(self.recursions.project(self.recursions.forces(states)))

    def _states(self, v) -> list:
        """How the bodies move without accelerations."""
        G = self.model.coupling and self.model.coupling.G
        return self.recursions.states(
            v if G is None else [matrices.weighted(row, v) for row in G.tolist()], None
        )

    def loops(self, axes: str) -> list:
        """Accelerations of all coordinates with all loops closed, the velocities that follow computed."""
        tree, reduction = self.model.tree, self.reduction(axes)
        v = self._loop_velocity(reduction)
        self._name(v=v)
        states = self._states(v)
        H: list = [[0.0] * tree.n for _ in range(tree.n)]
        for i, j, x in zip(tree.rows.tolist(), tree.columns.tolist(), self.crba(), strict=True):
            H[i][j] = H[j][i] = x
        u = [t - h for t, h in zip(self.input("tau"), self._bias(states), strict=True)]
        rates = reduction.rates(states)
        free = reduction.eliminate(H, u, rates)
        chain = Tree(np.arange(-1, len(free) - 1))
        packed, a = [H[i][j] for i in free for j in free if j <= i], [None] * tree.n
        L, inverse = factor(chain, packed, is_inertia=False)
        y = half_solve(chain, L, [u[k] for k in free])
        self._name_rows("H_x", chain, packed)
        self._name_rows("L_x", chain, L, strictly=True)
        self._name(**{"u_x": [u[k] for k in free], "1/D_x": inverse, "y_x": y})
        for k, x in zip(free, solve(chain, L, inverse, y), strict=True):
            a[k] = x
        return reduction.complete(a, rates)

    def loop_velocity(self, axes: str) -> list:
        """Velocities, those computed that follow."""
        return self._loop_velocity(self.reduction(axes))

    def loop_step(self, axes: str) -> list:
        """Newton's step of the coordinates that follow towards closed loops."""
        reduction = self.reduction(axes)
        return reduction.complete([0.0] * self.model.nv, reduction.gaps())

    def loop_gap(self) -> list:
        """Residuals of all loops."""
        return [x for loop in self.model.loops for x in Closure(self.recursions, loop).residual()]

    def reduction(self, axes: str) -> Reduction:
        """The loops, their rows in the axes of a method."""
        if axes not in self.reductions:
            loops, n = self.model.loops, self.model.nv
            self.reductions[axes] = Reduction(self.recursions, loops, n, self.dependent, self.reduced, axes)
        return self.reductions[axes]

    def _loop_velocity(self, reduction: Reduction) -> list:
        return reduction.complete(self.input("v"), [[0.0] * len(group.J) for group in reduction.groups])

    def aba(self) -> list:
        """Accelerations, by articulated bodies."""
        return self.recursions.aba(self.input("v"), self.input("tau"))

    def forward_dynamics(self, method: str) -> list:
        """Accelerations."""
        if method == "aba":
            return self.aba()
        net = [t - h for t, h in zip(self.input("tau"), self.bias(), strict=True)]
        L, inverse = self.factor(method)
        y = half_solve(self.model.tree, L, net)
        self._name(y=y)
        return solve(self.model.tree, L, inverse, y)

    def minv(self, method: str) -> list:
        """H^-1."""
        L, inverse = self.factor(method)
        P = following(self.model.tree, L)
        self._name(P=P)
        return inverse_of(self.model.tree, P, inverse)

    def delassus(self, method: str) -> list:
        """J H^-1 J^T."""
        L, inverse = self.factor(method)
        Y = [half_solve(self.model.tree, L, row) for row in self._jacobian()]
        self._name(Y=Y)
        return delassus(inverse, Y)

    def factor(self, method: str) -> tuple[list, list]:
        """Packed rows of L, and 1 / D."""
        L, inverse = self.recursions.factor() if method == "aba" else factor(self.model.tree, self.crba())
        self._name_rows("L", self.model.tree, L, strictly=True)
        self._name(**{"1/D": inverse})
        return L, inverse

    def jacobian(self) -> list:
        """Velocities of the tips, row by row."""
        return [entry for row in self._jacobian() for entry in row]

    def _jacobian(self) -> list:
        numbers = {joint.name: i for i, joint in enumerate(self.model.joints)}
        return [self.reduced(row) for tip in self.tips for row in self.recursions.jacobian(numbers[tip])]

    def _name(self, **matrices) -> None:
        """Keep matrices by their names, where they are asked for."""
        if self.named is not None:
            self.named.update(matrices)

    def _name_rows(self, name: str, tree, packed, strictly: bool = False) -> None:
        """Keep packed rows by row and column, all entries or those below the diagonal."""
        if self.named is None:
            return
        start = tree.row_start.tolist()
        columns = [tree.ancestors(k).tolist() + [k] * (not strictly) for k in range(tree.n)]
        self.named[name] = {
            k: dict(zip(js, packed[start[k] :], strict=False)) for k, js in enumerate(columns)
        }
