"""Generate programs: run the recursions for every variant of a model and keep the fewest operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..dynamics.bodies import coupling_of
from ..exceptions import CodegenError
from ..tolerances import SNAP
from ..tree.tree import Tree
from .algorithms import matrices
from .algorithms.closing import Closing
from .algorithms.closures import Closure
from .algorithms.factors import delassus, factor, following, half_solve, inverse_of, solve
from .algorithms.recursions import Recursions
from .algorithms.reduction import Reduction
from .choices import VARIANTS, Choice
from .derivatives import Derivatives, compared
from .outputs import Outputs
from .program import passes
from .program.expressions import Table
from .program.names import (
    DERIVATIVES,
    JOINED,
    KINEMATICS,
    argument_sizes,
    arguments_of,
    joint_shape,
    shapes_of,
)
from .program.program import COLUMNS, Function, Program


def generate(
    model,
    functions=None,
    tips=(),
    variants=tuple(VARIANTS),
    snap: float = SNAP,
    independent=None,
    branch=None,
) -> Program:
    """Generate straight-line code of functions of a model: the cheapest of all variants and methods.

    Parameters
    ----------
    model : Model
    functions : sequence of (str or tuple of str), optional
        Among "crba", "rnea", "bias", "aba", "forward_dynamics", "minv", "joint_forces", "base_force",
        "jacobian" and "delassus"; "aba" not for models with mimic joints. For models with loops also
        "loops", all accelerations with loops closed; "loop_velocity", v with the dependent velocities
        computed from the others; "loop_step", the Newton step in v, to be integrated, that closes the loops;
        and "loop_gap", the residual of `treefactor.constraints.loop_rows`. Default: all that need no tips,
        without "joint_forces" and "base_force". "position_closure", only if it is named: q with closed loops,
        the dependent positions computed from the others by square roots and arc tangents, NaN if the loops
        cannot be closed. It exists for loops whose dependent joints are two joints of a plane (four-bar and
        five-bar linkages, sliders) or a leg: two revolute joints with intersecting axes, and a third joint
        (platforms on legs). Functions of the kinematics and functions of a frame, which are only generated if
        they are named, are listed in the notes. A tuple of names, or names joined by " + ", is a group: one
        function that computes all results and shares what they have in common; `Kernels.call` returns them.
    tips : sequence of str, int or Frame
        Joints, by name, by body name or by number, or frames that lie at joints. "jacobian" is J: velocities
        of the joints' frames in their own axes for unit v, linear before angular, joints stacked; "delassus"
        is J H^-1 J^T.
    variants : sequence of str
        Model transformations to try: "plain" (none), "frames" (canonical frames), "regroup" (base inertial
        parameters), "both", and "meeting" (both, with origins where axes meet). Results agree to rounding;
        ``Function.variant`` names the cheapest one, which is kept. Fewer variants generate faster.
    snap : float
        Tolerance: constant angles this close to multiples of 90 degrees are rounded to them, and lengths this
        short, relative to the longest, to 0. A larger value generates code of a slightly different robot:
        ``Program.snapped`` is the largest change.
    independent : sequence of str, optional
        Joints or bodies by name, or freedoms as in ``Tree.names``, from which the others on loops are
        computed. By default the dependent coordinates are those far from the base that move few loops;
        ``Program.independent`` lists the others.
    branch : mapping of str to {1, -1}, or array_like of shape (nq,), optional
        For "position_closure": the signs of its square roots, by names of dependent freedoms, or a closed
        configuration that has these signs. Where no sign is given it is that of `treefactor.neutral` if that
        closes the loops; otherwise that of the larger displacement or smaller angle, at the independent
        positions that Newton's method finds from there. ``Program.branch`` lists the signs.

    Returns
    -------
    Program

    Raises
    ------
    TypeError, ValueError
        If the model is not a Model, or snap is negative.
    CodegenError
        If a function or variant is unknown or not available for the model, a freedom moves no mass, or a
        constant overflows; if loops cannot be closed, have redundant equations, or do not determine the
        dependent coordinates, or have no analytic closure (the message names the loop).

    Notes
    -----
    Functions of the kinematics, with Pinocchio's conventions; vectors are in axes of the base, linear before
    angular:

    - "joint_placements" (njoints, 3, 4), rows [R | p];
    - "center_of_mass", "center_of_mass_velocity", "center_of_mass_acceleration" (3), without gravity;
      "center_of_mass_jacobian" (3, nv);
    - "centroidal_map" and its time derivative "centroidal_map_dot" (6, nv), "centroidal_momentum" and
      "centroidal_momentum_rate" (6), about the centre of mass;
    - "kinetic_energy" (armature included) and "potential_energy", scalars; "generalized_gravity" (nv).

    Derivatives of the dynamics, by q along `integrate`; rows of matrices are forces or accelerations:

    - "rnea_derivatives" of (q, v, a): the derivatives of inverse dynamics by q, v and a, the last one H;
    - "rnea_jvp" of (q, v, a, dq, dv, da): the derivative along dq, dv, da; "rnea_vjp" of (q, v, a, w): the
      gradients of w^T tau by q, v and a; "rnea_hvp" of (q, v, a, w, dq, dv, da): the symmetric Hessian of
      w^T tau times (dq, dv, da);
    - "forward_dynamics_derivatives" of (q, v, tau), the last one the inverse of H; "forward_dynamics_jvp" of
      (q, v, tau, dq, dv, dtau) and "forward_dynamics_vjp" of (q, v, tau, w), alike.

    Functions of a frame, joint or body by its name, for example "frame_jacobian:tool:WORLD:packed"; options
    follow the name, the first of each list is the default:

    - "frame_placement:NAME" (3, 4), rows [R | p];
    - "frame_velocity:NAME" (6), in LOCAL, WORLD or LOCAL_WORLD_ALIGNED;
    - "frame_acceleration:NAME" (6), the same, then spatial or classical; without gravity;
    - "frame_jacobian:NAME" (6, nv), the same references, then dense or packed: (6, n) for the n columns in
      ``Program.frames``;
    - "frame_jacobian_dot:NAME", its time derivative, alike.

    Golubev & Yaskevich (2020), with the tables of ``program.expressions`` and the transformations of
    ``algorithms.frames``. Derivatives: pairs of freedoms (Carpentier & Mansard 2018, Singh, Russell & Wensing
    2022), and forward and reverse differentiation of the statements (Griewank & Walther 2008).
    """
    choice = Choice.of(model, functions, tips, variants, snap, independent, branch)
    best: dict[str, Function] = {}
    for _, function in written(model, choice):
        function = compared(function)
        if is_cheaper(function, best.get(function.name)):
            best[function.name] = function
    best = {name: passes.gather(function) for name, function in best.items()}
    parent, loops = np.array(model.tree.parent), tuple((loop.name, loop.kind) for loop in model.loops)
    names = tuple(joint.name for joint in model.joints)
    frames = tuple((name, tuple(columns)) for name, columns in choice.supports.items())
    head = (model.name, parent, model.nq, model.nv, choice.tips, choice.snapped)
    return Program(*head, best, loops, choice.independent, names, choice.branch, frames)


def written(model, choice: Choice, named: bool = False) -> Iterator[tuple[Writer, Function]]:
    """Yield the functions of all variants and methods before common factors are gathered, with their writers.

    With ``named=True`` the writers keep the intermediate matrices by name.
    """
    for variant, bodies in choice.stepped.items():
        names: dict | None = {} if named else None
        writer = Writer(model, bodies, choice.tips, choice.dependent, names, choice.closings.get(variant))
        for parts, methods in choice.ways_of(variant):
            yield writer, writer.function(parts, methods, variant, choice.supports)


def is_cheaper(function: Function, than: Function | None) -> bool:
    """Return whether a function has fewer operations than another one, or there is no other one."""
    return than is None or function.operations.total < than.operations.total


class Writer:
    """Writes functions of a model on one table of expressions.

    Parameters
    ----------
    model : Model
    bodies : list of Body
    tips : sequence of str
    named : dict of str to scalars, or None
        Receives intermediate matrices by name, for verification.
    closing : Closing, optional
        Analytic closure of the loops, for "position_closure".
    """

    def __init__(
        self, model, bodies, tips, dependent=(), named: dict | None = None, closing: Closing | None = None
    ):
        self.model, self.table, self.tips, self.dependent = model, Table(), tips, dependent
        self.sizes = argument_sizes(model.nq, model.nv)
        self.recursions = Recursions(bodies, model.gravity, model.extended, self.input("q"), named)
        self.named = named
        self.closing = closing
        self.outputs = Outputs(self)
        self.derivatives = Derivatives(self)
        self.results: dict[tuple[str, str], list] = {}  # of functions, by name and variant with method
        self.reductions: dict[str, Reduction] = {}

    def input(self, name: str) -> list:
        """Return the scalars of an argument."""
        number = list(self.sizes).index(name)
        return [self.table.input(number, entry) for entry in range(self.sizes[name])]

    def function(self, parts, methods, variant: str, supports: Mapping) -> Function:
        """Write one function, or a group of functions, and remove statements without use."""
        model = self.model
        loops = tuple((loop.name, loop.kind) for loop in model.loops)
        given = (model.tree, len(self.tips), loops, model.njoints, model.nq, supports)
        shape = joint_shape([shape for name in parts for shape in shapes_of(name, *given)])
        result = [x for way in zip(parts, methods, strict=True) for x in self.result(*way)]
        variant = ", ".join([variant, *dict.fromkeys(filter(None, methods))])
        self.results[JOINED.join(parts), variant] = result
        return self.extract(parts, result, shape, variant)

    def result(self, name: str, method: str | None) -> list:
        """Return the scalars of the result; raises CodegenError if a constant pivot is not positive."""
        try:
            if name in DERIVATIVES:
                return self.derivatives.result(name, method)
            if name in KINEMATICS or ":" in name:
                return self.outputs.result(name, method)
            return getattr(self, name)(method) if method else getattr(self, name)()
        except ZeroDivisionError as error:
            raise CodegenError(f"{name}: a pivot is not positive for any q: {error}") from None

    def extract(self, parts, result: list, shape: tuple[int, ...], variant: str) -> Function:
        """Extract the statements that the result of a function, or of a group, needs."""
        name, names = JOINED.join(parts), arguments_of(parts)
        columns = passes.extract(self.table, result, [list(self.sizes).index(x) for x in names])
        inputs = tuple((x, self.sizes[x]) for x in names)
        function = Function(
            name,
            inputs,
            **dict(zip(COLUMNS, columns, strict=True)),
            shape=shape,
            variant=variant,
            group=tuple(parts) if len(parts) > 1 else (),
        )
        if not np.isfinite(function.value).all():
            raise CodegenError(f"{name}: a constant of the model overflows")
        return function

    def rates(self, name: str) -> list:
        """Return an argument for the freedoms of all joints: G times it in models with mimic joints."""
        return self.expanded(self.input(name))

    def expanded(self, x) -> list:
        """Return G x for models with mimic joints, x for others."""
        G = self.model.coupling and self.model.coupling.G
        return x if G is None else [matrices.weighted(row, x) for row in G.tolist()]

    def reduced(self, tau) -> list:
        """Return generalized forces reduced to the coordinates: G^T tau."""
        G = self.model.coupling and self.model.coupling.G
        return tau if G is None else [matrices.weighted(column, tau) for column in G.T.tolist()]

    def crba(self) -> list:
        """Return packed rows of H; of G^T H G in models with mimic joints."""
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
        """Return generalized forces for accelerations."""
        v, a = self.rates("v"), self.rates("a")
        forces = self.recursions.forces(self.recursions.states(v, a))
        return self.reduced(self.recursions.generalized_forces(forces, a))

    def joint_forces(self) -> list:
        """Return force and moment in every joint for accelerations."""
        states = self.recursions.states(self.rates("v"), self.rates("a"))
        return self.recursions.reactions(self.recursions.forces(states), self.model.njoints)

    def base_force(self) -> list:
        """Return force and moment on the base for accelerations."""
        states = self.recursions.states(self.rates("v"), self.rates("a"))
        return self.recursions.base_force(self.recursions.forces(states))

    def bias(self) -> list:
        """Return generalized forces at zero acceleration."""
        return self._bias(self._states(self.input("v")))

    def _bias(self, states) -> list:
        """Return generalized forces at zero acceleration for body motions."""
        return self.reduced(self.recursions.generalized_forces(self.recursions.forces(states)))

    def _states(self, v) -> list:
        """Return the body motions for velocities v and no joint accelerations."""
        return self.recursions.states(self.expanded(v), None)

    def loops(self, axes: str) -> list:
        """Return all accelerations with all loops closed; dependent velocities are computed first."""
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
        """Return velocities, the dependent ones computed."""
        return self._loop_velocity(self.reduction(axes))

    def loop_step(self, axes: str) -> list:
        """Return the Newton step of the dependent coordinates that closes the loops."""
        reduction = self.reduction(axes)
        return reduction.complete([0.0] * self.model.nv, reduction.gaps())

    def loop_gap(self) -> list:
        """Return the residuals of all loops."""
        return [x for loop in self.model.loops for x in Closure(self.recursions, loop).residual()]

    def position_closure(self) -> list:
        """Return q with the loops closed, from the independent positions."""
        return [] if self.closing is None else self.closing.positions(self.recursions, self.input("q"))

    def reduction(self, axes: str) -> Reduction:
        """Return the loop reduction with rows in the axes of a method."""
        if axes not in self.reductions:
            loops, n = self.model.loops, self.model.nv
            self.reductions[axes] = Reduction(self.recursions, loops, n, self.dependent, self.reduced, axes)
        return self.reductions[axes]

    def _loop_velocity(self, reduction: Reduction) -> list:
        """Return velocities, the dependent ones computed."""
        return reduction.complete(self.input("v"), [[0.0] * len(group.J) for group in reduction.groups])

    def aba(self) -> list:
        """Return accelerations by the articulated-body algorithm."""
        return self.recursions.aba(self.input("v"), self.input("tau"))

    def forward_dynamics(self, method: str) -> list:
        """Return accelerations by factorization of H or by articulated bodies."""
        if method == "aba":
            return self.aba()
        net = [t - h for t, h in zip(self.input("tau"), self.bias(), strict=True)]
        L, inverse = self.factor(method)
        y = half_solve(self.model.tree, L, net)
        self._name(y=y)
        return solve(self.model.tree, L, inverse, y)

    def minv(self, method: str) -> list:
        """Return H^-1."""
        L, inverse = self.factor(method)
        P = following(self.model.tree, L)
        self._name(P=P)
        return inverse_of(self.model.tree, P, inverse)

    def delassus(self, method: str) -> list:
        """Return J H^-1 J^T."""
        L, inverse = self.factor(method)
        Y = [half_solve(self.model.tree, L, row) for row in self._jacobian()]
        self._name(Y=Y)
        return delassus(inverse, Y)

    def factor(self, method: str) -> tuple[list, list]:
        """Return packed rows of L, and 1 / D."""
        L, inverse = self.recursions.factor() if method == "aba" else factor(self.model.tree, self.crba())
        self._name_rows("L", self.model.tree, L, strictly=True)
        self._name(**{"1/D": inverse})
        return L, inverse

    def jacobian(self) -> list:
        """Return the Jacobian of the tips, row by row."""
        return [entry for row in self._jacobian() for entry in row]

    def _jacobian(self) -> list:
        """Return the rows of the Jacobian of the tips."""
        numbers = {joint.name: i for i, joint in enumerate(self.model.joints)}
        return [self.reduced(row) for tip in self.tips for row in self.recursions.jacobian(numbers[tip])]

    def _name(self, **matrices) -> None:
        """Store intermediate matrices by name, for verification."""
        if self.named is not None:
            self.named.update(matrices)

    def _name_rows(self, name: str, tree, packed, strictly: bool = False) -> None:
        """Store packed rows by row and column, all entries or those below the diagonal."""
        if self.named is None:
            return
        start = tree.row_start.tolist()
        columns = [tree.ancestors(k).tolist() + [k] * (not strictly) for k in range(tree.n)]
        self.named[name] = {
            k: dict(zip(js, packed[start[k] :], strict=False)) for k, js in enumerate(columns)
        }
