"""Verify generated functions: every named intermediate is compared with numeric matrix algorithms.

This is the verification variant of Golubev & Yaskevich: the intermediates become results of the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._util.validation import as_count, as_size
from ...model.joints import Inertia
from ...model.model import Model, require_model
from ...quantities.functions import integrate
from ...tolerances import SNAP
from ..algorithms.partition import OPEN as OPEN
from ..algorithms.partition import nearest, sample_configurations
from ..algorithms.reduction import Reduction
from ..backends.numpy_ import evaluate
from ..choices import VARIANTS, Choice, default_functions, groups_of
from ..program import passes
from ..program._table import Scalar, use_counts
from ..program.names import AXES, CLOSURES, DERIVATIVES, KINEMATICS, LOOP_FUNCTIONS, ORDER, PI
from ..program.program import Function
from ..writer import Writer
from .numeric import Numeric
from .numeric_derivatives import NumericDerivatives
from .numeric_kinematics import NumericKinematics
from .numeric_loops import NumericLoops

CLOSED = ("loops", "loop_velocity")  # functions that need configurations with closed loops
NEAR = 0.02  # random distance of configurations on one branch, in m and radian
# deviation allowed of an element, relative to the largest element of that matrix of all bodies
TOLERANCE = 1e-11


@dataclass(frozen=True, eq=False)
class Verifiable:
    """Function that returns its named intermediates, including its result.

    Attributes
    ----------
    model : Model
    tips : tuple of str
    function : Function
    names : tuple of str
        Names of the matrix elements it computes, in order of computation.
    method : str or None
    bodies : list of Body
        Bodies of the variant.
    reduction : Reduction or None
        Loop reduction of a function that closes loops.
    start : ndarray, shape (nq,), or None
        Closed configuration on the branch of "position_closure".
    pi : ndarray, shape (p,), or None
        Inertial parameters that are inputs, and for which `bodies` are.
    """

    model: Model
    tips: tuple[str, ...]
    function: Function
    names: tuple[str, ...]
    method: str | None
    bodies: list
    reduction: Reduction | None
    start: np.ndarray | None
    pi: np.ndarray | None = None


@dataclass(frozen=True)
class Verdict:
    """Result of a comparison.

    Attributes
    ----------
    function, variant : str
    elements : int
        Number of elements compared.
    error : float
        Largest deviation, relative to the largest element of that matrix of all bodies.
    worst : str or None
        Name of the element with that deviation.
    first : str or None
        First element, in order of computation, that exceeds the tolerance; None if all agree.

    Notes
    -----
    Immutable.
    """

    function: str
    variant: str
    elements: int
    error: float
    worst: str | None
    first: str | None


def verify(
    model,
    functions=None,
    tips=(),
    variants=tuple(VARIANTS),
    snap: float = SNAP,
    samples: int = 3,
    tolerance: float = TOLERANCE,
    parameters=None,
    zeros=None,
) -> list[Verdict]:
    """Compare every named intermediate of generated functions with numeric matrix algorithms.

    Parameters
    ----------
    model : Model
    functions, tips, variants, snap, parameters, zeros
        See `treefactor.generate`; every variant and every method is verified, not only the cheapest.
        Parameters that are inputs are those of another robot.
    samples : int
        Number of random states; those of "loops" and "loop_velocity" have closed loops.
    tolerance : float
        Largest deviation of an element, relative to the largest element of that matrix of all bodies.

    Returns
    -------
    list of Verdict

    Raises
    ------
    CodegenError
        If a function, variant or joint does not exist.
    TypeError, ValueError
        If the model is not a Model, or a number is out of range.

    Notes
    -----
    Golubev & Yaskevich (2020), the verification variant; Featherstone (2008), tables 5.1, 6.2, 6.3 and 7.1.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> from treefactor.codegen import verify
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    >>> [verdict.first for verdict in verify(model, "rnea", variants="plain")]
    [None]
    """
    samples, tolerance = as_count(samples, "samples", 1), as_size(tolerance, "tolerance")
    cases = verifiable(model, functions, tips, variants, snap, parameters, zeros)
    return [compare(case, samples, tolerance) for case in cases]


def verifiable(
    model, functions, tips=(), variants=tuple(VARIANTS), snap: float = SNAP, parameters=None, zeros=None
) -> Iterator[Verifiable]:
    """Yield the verification form of every function, for every method and every variant."""
    require_model(model)
    if functions is None:
        functions = default_functions(model, tips, parameters)
    single = [name for parts in groups_of(functions) for name in parts]
    given = single, tips, variants, snap
    choice = Choice.of(model, *given, parameters=parameters, zeros=zeros)
    robot = _other_robot(model, alike=bool(zeros)) if parameters else model
    bodies = Choice.of(robot, *given, parameters=parameters).stepped if parameters else choice.stepped
    for variant in choice.stepped:
        for (name,), (method,) in choice.ways_of(variant):
            case = _verifiable(Writer(model, choice, variant, {}), name, method, variant)
            pi = choice.inputs[variant].values(robot) if parameters else None
            yield replace(case, model=robot, bodies=bodies[variant], pi=pi)


def _other_robot(model, alike: bool):
    """Return a model with other masses, tensors and armature, and centres of mass unless bodies are alike."""
    rng, joints = np.random.default_rng(0), []
    for joint in model.joints:
        factor, shift = (1.25, 0.0) if alike else (rng.uniform(0.5, 2.0), rng.normal(scale=0.1, size=3))
        own = joint.inertia
        inertia = Inertia(own.mass * factor, own.com + shift, own.tensor * factor)
        joints.append(replace(joint, inertia=inertia, armature=joint.armature * factor))
    return Model(joints, model.gravity, model.name, loops=model.loops)


def _verifiable(writer: Writer, name: str, method: str | None, variant: str) -> Verifiable:
    """Return a function whose results are all elements that its own result depends on."""
    result = writer.result(name, method)
    targets = writer.table.codes(result)  # also adds constants to the table
    used = use_counts(*writer.table.columns(), targets)
    matrices = {**(writer.named or {}), name: result}
    elements = {
        f"{matrix}{at}": x
        for matrix, content in matrices.items()
        for at, x in _elements(content)
        if isinstance(x, Scalar) and used[abs(x.code)]
    }
    variant = f"{variant}, {method}" if method else variant
    function = passes.gather(writer.extract((name,), list(elements.values()), (len(elements),), variant))
    order = np.argsort(function.output, kind="stable")
    function = replace(function, output=function.output[order], sign=function.sign[order])
    names = tuple(np.array(list(elements), object)[order])
    loops = writer.loop_functions
    reduction = loops.reduction(method or AXES[0]) if name in LOOP_FUNCTIONS else None
    start, bodies = loops.closing.start if loops.closing else None, writer.recursions.bodies
    return Verifiable(writer.model, writer.tips, function, names, method, bodies, reduction, start)


def _elements(matrix, at: str = "") -> Iterator[tuple[str, Any]]:
    """Yield index and value of the elements of nested lists, dicts and arrays."""
    if isinstance(matrix, dict):
        matrix = list(matrix.items())
    elif isinstance(matrix, (list, tuple, np.ndarray)):
        matrix = list(enumerate(matrix))
    else:
        yield at, matrix
        return
    for k, part in matrix:
        yield from _elements(part, f"{at}[{k}]")


def compare(case: Verifiable, samples: int = 3, tolerance: float = TOLERANCE) -> Verdict:
    """Compare all elements in random states with their reference values."""
    rng = np.random.default_rng(0)
    values = {"q": _configurations(case, rng, samples)}
    values |= dict(zip(ORDER[1:], rng.normal(size=(len(ORDER) - 1, samples, case.model.nv)), strict=True))
    given = values | {PI: case.pi}
    own = evaluate(case.function, *(given[argument] for argument, _ in case.function.inputs))
    if "a" not in dict(case.function.inputs):
        values["a"] = np.zeros_like(values["a"])
    expected, scale = zip(
        *(_expected(case, *state) for state in zip(*values.values(), strict=True)), strict=True
    )
    error = np.abs(own - expected) / np.maximum(np.max(scale, axis=0), np.finfo(float).tiny)
    error = error.max(axis=0, initial=0.0)
    wrong = np.flatnonzero(~(error <= tolerance))
    worst = int(np.argmax(error)) if error.size else None
    return Verdict(
        case.function.name,
        case.function.variant,
        len(case.names),
        0.0 if worst is None else float(error[worst]),
        None if worst is None else case.names[worst],
        case.names[wrong[0]] if wrong.size else None,
    )


def _configurations(case: Verifiable, rng, samples: int) -> np.ndarray:
    """Return configurations on one branch, with closed loops, near them, or random, as the function needs."""
    if case.function.name in CLOSURES:
        return np.array(list(_on_branch(case, rng, samples)))
    dependent = None if case.reduction is None else case.reduction.dependent
    on_loops = samples if case.function.name in CLOSED else 0
    return sample_configurations(case.model, dependent, rng, samples, on_loops)


def _on_branch(case: Verifiable, rng, samples: int) -> Iterator[np.ndarray]:
    """Yield closed configurations near one on the default branch; angles from -pi to pi."""
    model, bodies, start = case.model, case.bodies, case.start
    assert start is not None  # of functions with an analytic closure, which alone have a branch
    angles = [body.q for body in bodies if body.kind == "revolute"]
    while samples:
        q = nearest(model, bodies, integrate(model, start, rng.normal(scale=NEAR, size=model.nv)))
        if q is not None:
            q[angles] = np.arctan2(np.sin(q[angles]), np.cos(q[angles]))
            samples -= 1
            yield q


def _expected(case: Verifiable, q, v, a, tau, *others) -> tuple[list, list]:
    """Return reference values of the elements, and the largest element of each kind of matrix."""
    numeric = Numeric(case.model, case.bodies, case.tips, q, v, a, tau)
    with np.errstate(all="ignore"):  # freedoms that move no mass divide by 0
        if case.function.name in DERIVATIVES:
            matrices = NumericDerivatives(numeric, *others).of(case.function.name, case.method)
        elif case.function.name in KINEMATICS or ":" in case.function.name:
            matrices = NumericKinematics(numeric).of(case.function.name, case.method)
        elif case.reduction is None:
            matrices = numeric.of(case.function.name, case.method)
        else:
            matrices = NumericLoops(numeric, case.reduction, v).of(case.function.name)
    elements: dict = {}
    largest: dict = {}
    for matrix, content in matrices.items():
        values = {f"{matrix}{at}": x for at, x in _elements(content)}
        elements |= values
        kind = matrix.split("[")[0]
        largest[kind] = max([largest.get(kind, 0.0), *map(abs, values.values())])
    return [elements[name] for name in case.names], [largest[name.split("[")[0]] for name in case.names]
