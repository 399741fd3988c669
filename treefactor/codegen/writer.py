"""Generate programs: run the recursions for every variant of a model and keep the fewest operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from inspect import cleandoc

import numpy as np

from ..dynamics.bodies import coupling_of
from ..exceptions import CodegenError
from ..model.joint_entries import entry_lines
from ..tolerances import SNAP
from .algorithms import matrices
from .algorithms.factors import delassus, factor, following, half_solve, inverse_of, solve
from .algorithms.recursions import Recursions
from .choices import MANY, VARIANTS, Choice
from .derivatives import Derivatives, compared
from .loop_functions import LoopFunctions
from .outputs import Outputs
from .program import passes
from .program.expressions import MasslessError, Table
from .program.names import (
    CLOSURES,
    DERIVATIVES,
    JOINED,
    KINEMATICS,
    LOOP_FUNCTIONS,
    PI,
    argument_sizes,
    arguments_of,
    joint_shape,
    listing,
    routine,
    shapes_of,
)
from .program.program import COLUMNS, Function, Program
from .selection import Alternatives, Cheapest, with_used_inputs


def generate(
    model,
    functions=None,
    tips=(),
    variants=tuple(VARIANTS),
    snap: float = SNAP,
    independent=None,
    branch=None,
    parameters=None,
    zeros=None,
) -> Program:
    """Generate straight-line code of functions of a model: the cheapest of all variants and methods.

    Parameters
    ----------
    model : Model
    functions : sequence of (str or tuple of str), optional
        Names in the notes. For models with loops also those of loops, and "position_closure" for loops whose
        dependent joints are two joints of a plane (four-bar and five-bar linkages, sliders) or a leg: two
        revolute joints with intersecting axes, and a third joint (platforms on legs). Default: all of the
        dynamics, of tips and of loops that the model has. A tuple of names, or names joined by " + ", is a
        group: one function that computes all results and shares what they have in common; `Kernels.call`
        returns them.
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
        ``Program.snapped`` is the largest change. With 1e-11 the arms of talos_reduced, whose file rounds
        their numbers differently, become equal limbs: single calls of its forward dynamics in C take 0.8 of
        the time, and accelerations change by 4e-12 of the largest.
    independent : sequence of str, optional
        Joints or bodies by name, or freedoms as in ``Tree.names``, from which the others on loops are
        computed. By default the dependent coordinates are those far from the base that move few loops;
        ``Program.independent`` lists the others.
    branch : mapping of str to {1, -1}, or array_like of shape (nq,), optional
        For "position_closure": the signs of its square roots, by names of dependent freedoms, or a closed
        configuration that has these signs. Where no sign is given it is that of `treefactor.neutral` if that
        closes the loops; otherwise that of the larger displacement or smaller angle, at the independent
        positions that Newton's method finds from there. ``Program.branch`` lists the signs.
    parameters : {"base", "standard"}, optional
        Inertial parameters as inputs instead of constants: functions of the dynamics take a last argument
        ``pi``, shape (..., p), which `Program.parameters` computes. "base" regroups the parameters first,
        which takes fewer inputs and operations; "standard" keeps all ten of every joint, in other frames. One
        variant is kept for all functions: that of the fewest operations. Armature is an input where it is not
        0 in the model.
    zeros : {"model"}, optional
        With ``parameters``: "model" folds the inputs that are 0 for this model. `Program.parameters` then
        refuses parameters for which they are not.

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
    Vectors are linear before angular; derivatives by q are along `integrate`. Functions of the kinematics,
    reactions, derivatives, and functions of a frame, joint or body are only generated if they are named.
    Options of functions of a frame follow its name, for example "frame_jacobian:tool:WORLD:packed"; the first
    of each list is the default, and ``Program.frames`` has the columns of packed Jacobians.

    FUNCTIONS

    Golubev & Yaskevich (2020), with the tables of ``program.expressions`` and the transformations of
    ``algorithms.frames``. Derivatives: pairs of freedoms (Carpentier & Mansard 2018, Singh, Russell & Wensing
    2022), and forward and reverse differentiation of the statements (Griewank & Walther 2008).
    """
    choice = Choice.of(model, functions, tips, variants, snap, independent, branch, parameters, zeros)
    cheapest, alternatives, writers = Cheapest(choice), Alternatives(model), {}
    for writer, function in written(model, choice):
        writers[_variant(function)] = writer
        function = compared(function)
        cheapest.add(function, function)
        alternatives.add(function)
    best = {name: passes.gather(function) for name, function in cheapest.forms().items()}
    if not choice.inputs:
        best = {name: alternatives.attached(function) for name, function in best.items()}
    parent, loops = np.array(model.tree.parent), tuple((loop.name, loop.kind) for loop in model.loops)
    names = tuple(joint.name for joint in model.joints)
    frames = tuple((name, tuple(columns)) for name, columns in choice.supports.items())
    head = (model.name, parent, model.nq, model.nv, choice.tips, choice.snapped)
    forms, equations = dict(best), choice.equations(model.nv)
    for name, groups in equations.items():
        for parts in groups:
            if JOINED.join(parts) not in forms:  # of the variant of the function, by the first method
                variant, methods = _variant(best[name]), tuple(routine(part).methods[0] for part in parts)
                function = writers[variant].function(parts, methods, variant, choice.supports)
                forms[function.name] = passes.gather(function)
    forms, inputs = with_used_inputs(model, choice, forms)
    own = {name: forms[name] for name in best}
    for name, groups in equations.items():
        sources = [replace(forms[JOINED.join(parts)], alternatives=()) for parts in groups]
        own[name] = replace(own[name], equations=tuple(sources))
    fixed = inputs is None and choice.snapped <= SNAP
    computed = {part.name for function in own.values() for part in (function, *function.equations)}
    recursive = model if fixed and model.nv >= MANY and "rnea_derivatives" in computed else None
    last = frames, inputs, recursive, entry_lines(model)
    return Program(*head, own, loops, choice.independent, names, choice.branch, *last)


generate.__doc__ = cleandoc(generate.__doc__ or "").replace("\nFUNCTIONS\n", f"\n{listing()}")


def _variant(function: Function) -> str:
    """Return the model variant of a function, without its method."""
    return function.variant.partition(", ")[0]


def written(model, choice: Choice, named: bool = False) -> Iterator[tuple[Writer, Function]]:
    """Yield the functions of all variants and methods before common factors are gathered, with their writers.

    With ``named=True`` the writers keep the intermediate matrices by name.
    """
    for variant in choice.stepped:
        writer = Writer(model, choice, variant, {} if named else None)
        for parts, methods in choice.ways_of(variant):
            yield writer, writer.function(parts, methods, variant, choice.supports)


class Writer:
    """Writes functions of a model on one table of expressions.

    Parameters
    ----------
    model : Model
    choice : Choice
    variant : str
    named : dict of str to scalars, or None
        Receives intermediate matrices by name, for verification.
    """

    def __init__(self, model, choice: Choice, variant: str, named: dict | None = None):
        self.model, self.table, self.tips, self.named = model, Table(), choice.tips, named
        bodies, inputs = choice.stepped[variant], choice.inputs.get(variant)
        self.sizes = argument_sizes(model.nq, model.nv, len(inputs.rows) if inputs else 0)
        self.with_pi = inputs is not None
        bodies = inputs.placed(bodies, self.input(PI)) if inputs else bodies
        self.recursions = Recursions(bodies, model.gravity, model.extended, self.input("q"), named)
        self.outputs = Outputs(self)
        self.derivatives = Derivatives(self)
        self.loop_functions = LoopFunctions(self, choice.dependent, choice.closings.get(variant))
        self.results: dict[tuple[str, str], list] = {}  # of functions, by name and variant with method

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
            if name in LOOP_FUNCTIONS or name in CLOSURES:
                return self.loop_functions.result(name, method)
            return getattr(self, name)(method) if method else getattr(self, name)()
        except MasslessError as error:
            from ..model._massless import massless  # few models fail

            raise CodegenError(f"{name}: {massless(self.model, error.freedom)[0]}") from None
        except ZeroDivisionError as error:
            raise CodegenError(f"{name}: a pivot is not positive for any q: {error}") from None

    def extract(self, parts, result: list, shape: tuple[int, ...], variant: str) -> Function:
        """Extract the statements that the result of a function, or of a group, needs."""
        name, names = JOINED.join(parts), arguments_of(parts, self.with_pi)
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
        self.name_rows("H", self.model.extended, self.recursions.H)
        if coupling is None:
            return self.recursions.H
        _, _, fold, ratio = coupling
        H = [0.0] * self.model.tree.nnz
        for entry, place, factor_ in zip(self.recursions.H, fold.tolist(), ratio.tolist(), strict=True):
            H[place] = H[place] + entry * factor_
        self.name_rows("G^T H G", self.model.tree, H)
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
        return self.bias_at(self.motions_at(self.input("v")))

    def bias_at(self, states) -> list:
        """Return generalized forces at zero acceleration for body motions."""
        return self.reduced(self.recursions.generalized_forces(self.recursions.forces(states)))

    def motions_at(self, v) -> list:
        """Return the body motions for velocities v and no joint accelerations."""
        return self.recursions.states(self.expanded(v), None)

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
        self.name(y=y)
        return solve(self.model.tree, L, inverse, y)

    def minv(self, method: str) -> list:
        """Return H^-1."""
        L, inverse = self.factor(method)
        P = following(self.model.tree, L)
        self.name(P=P)
        return inverse_of(self.model.tree, P, inverse)

    def delassus(self, method: str) -> list:
        """Return J H^-1 J^T."""
        L, inverse = self.factor(method)
        Y = [half_solve(self.model.tree, L, row) for row in self._jacobian()]
        self.name(Y=Y)
        return delassus(inverse, Y)

    def factor(self, method: str) -> tuple[list, list]:
        """Return packed rows of L, and 1 / D."""
        L, inverse = self.recursions.factor() if method == "aba" else factor(self.model.tree, self.crba())
        self.name_rows("L", self.model.tree, L, strictly=True)
        self.name(**{"1/D": inverse})
        return L, inverse

    def jacobian(self) -> list:
        """Return the Jacobian of the tips, row by row."""
        return [entry for row in self._jacobian() for entry in row]

    def _jacobian(self) -> list:
        """Return the rows of the Jacobian of the tips."""
        numbers = {joint.name: i for i, joint in enumerate(self.model.joints)}
        return [self.reduced(row) for tip in self.tips for row in self.recursions.jacobian(numbers[tip])]

    def name(self, **matrices) -> None:
        """Store intermediate matrices by name, for verification."""
        if self.named is not None:
            self.named.update(matrices)

    def name_rows(self, name: str, tree, packed, strictly: bool = False) -> None:
        """Store packed rows by row and column, all entries or those below the diagonal."""
        if self.named is None:
            return
        start = tree.row_start.tolist()
        columns = [tree.ancestors(k).tolist() + [k] * (not strictly) for k in range(tree.n)]
        self.named[name] = {
            k: dict(zip(js, packed[start[k] :], strict=False)) for k, js in enumerate(columns)
        }
