"""Compare times of derivatives with Pinocchio's, with its central differences, and with our own dynamics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from ...codegen import Kernels, compile
from ...derivatives.first_order import forward_dynamics_derivatives, rnea_derivatives
from ...derivatives.kinematics import (
    centroidal_derivatives,
    com_derivatives,
    frame_derivatives,
)
from ...derivatives.products import (
    forward_dynamics_jvp,
    forward_dynamics_vjp,
    rnea_jvp,
    rnea_vjp,
)
from ...derivatives.second_order import (
    forward_dynamics_hessian,
    forward_dynamics_hvp,
    rnea_hessian,
    rnea_hvp,
)
from ...dynamics.recursions import bind
from ...quantities.functions import (
    difference_derivatives,
    forward_dynamics,
    integrate_derivatives,
    rnea,
)
from ..timing import Call, Comparison
from .derivative_peers import Peers
from .dynamics import Moving, spoken
from .programs import MANY, compile_c

TARGET = "Derivatives"
COUNTS = 256, 1024  # configurations in a batch
PATIENCE = 2.0  # seconds
PINOCCHIO, DIFFERENCES = "Pinocchio", "differences"
ARGUMENTS: dict[Callable, str] = {
    rnea_derivatives: "q v a",
    forward_dynamics_derivatives: "q v tau",
    rnea_vjp: "q v a w",
    forward_dynamics_vjp: "q v tau w",
    rnea_jvp: "q v a dq dv da",
    forward_dynamics_jvp: "q v tau dq dv dtau",
    rnea_hvp: "q v a w dq dv da",
    forward_dynamics_hvp: "q v tau w dq dv dtau",
    rnea_hessian: "q v a w",
    forward_dynamics_hessian: "q v tau w",
    frame_derivatives: "q v a",
    com_derivatives: "q v a",
    centroidal_derivatives: "q v a",
    integrate_derivatives: "q v",
    difference_derivatives: "q q1",
}
FUNCTIONS = {function.__name__: function for function in ARGUMENTS}
MATRICES = ("rnea_derivatives", "forward_dynamics_derivatives")
PRODUCTS = ("rnea_vjp", "rnea_jvp", "rnea_hvp", "forward_dynamics_vjp", "forward_dynamics_jvp")  # programs
OWN: dict[
    str, tuple[Callable, tuple[float, ...]]
] = {  # compared with these, and at most this many times as long
    "rnea_derivatives": (rnea, (4.0, 4.0, 6.0, 8.0)),
    "rnea_vjp": (rnea, (3.0,) * 4),
    "forward_dynamics_vjp": (forward_dynamics, (2.5,) * 4),
}
ONE_CALL = {"interpreter": (3.0, 3.0, 3.0, 1.5), "cc": (5.0, 5.0, 5.0, 3.0)}
BATCHES = {"interpreter": (30.0, 15.0, 12.0, 4.0), "cc": (60.0, 30.0, 20.0, 10.0)}
OF_FORWARD = (20.0, 10.0, 10.0, 8.0)
BOUNDS = (7, 18, MANY)  # freedoms: the goals above are for robots below these, and for larger ones


class TimedDerivatives:
    """A robot with random states, directions and weights.

    Parameters
    ----------
    moving : Moving
    """

    def __init__(self, moving: Moving):
        self.name, self.model, self.peers = moving.name, moving.ours, None
        count, rng = max(COUNTS), np.random.default_rng(1)
        self.arrays = {name: repeated(getattr(moving, name), count) for name in ("q", "v", "a", "tau")}
        for name in ("w", "dq", "dv", "da", "dtau"):
            self.arrays[name] = rng.normal(size=(count, self.model.nv))
        self.arrays["q1"] = self.arrays["q"][::-1].copy()
        self.frame = self.model.frames[-1]
        if moving.theirs is not None and self.model.coupling is None:  # Pinocchio refuses mimic joints
            depths = [len(moving.theirs.supports[frame.parentJoint]) for frame in moving.theirs.frames]
            number = int(np.argmax(depths))
            self.frame, self.peers = self.model.frames[number], Peers(moving.theirs, number)

    def of_size(self, values: tuple[float, ...]) -> float:
        """Return the value for robots of this size."""
        return values[sum(self.model.nv >= bound for bound in BOUNDS)]

    def arguments(self, name: str, count: int | None = None) -> list:
        """Return the arguments of a function of ours: of one configuration, or of several."""
        found = self.states(name, count)
        return [*found, self.frame] if name == "frame_derivatives" else found

    def states(self, name: str, count: int | None = None) -> list[np.ndarray]:
        """Return the arrays among the arguments of a function."""
        index = 0 if count is None else slice(count)
        return [self.arrays[argument][index] for argument in ARGUMENTS[FUNCTIONS[name]].split()]

    def peer(self, name: str) -> Call:
        """Return Pinocchio's way for one configuration; it has none for several."""
        return Call(partial(getattr(self.peers, name), *self.states(name)))

    def compared(self, name: str, how: str, ours: Call, goal: float) -> Comparison:
        """Return a comparison with Pinocchio, in single calls."""
        what, peer = f"{spoken(name)}{how}", peer_of(name)
        return Comparison(TARGET, self.name, what, peer, ours, self.peer(name), goal, patience=PATIENCE)

    def call(self, name: str, count: int | None = None, **options) -> Call:
        """Return a function of ours: bound to one configuration, or of several with preallocated arrays."""
        if count is not None:
            return self.batch(name, count, **options)
        function, given = FUNCTIONS[name], self.arguments(name)
        return Call(
            bind(function, self.model, *given, **options, out=function(self.model, *given, **options))
        )

    def batch(self, name: str, count: int, **options) -> Call:
        """Return a function of several configurations, which writes into preallocated arrays."""
        run = partial(FUNCTIONS[name], self.model, *self.arguments(name, count), **options)
        return Call(partial(run, out=run()), count)


def repeated(array: np.ndarray, count: int) -> np.ndarray:
    """Return so many rows: those of the array, again and again."""
    return np.resize(array, (count, array.shape[1]))


def peer_of(name: str) -> str:
    """Return the name of Pinocchio's way to compute a derivative."""
    return DIFFERENCES if name.endswith(("hvp", "hessian")) else PINOCCHIO


def measured(functions: tuple[str, ...], ways: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield what is measured of a robot, and the peer: programs of these matrices, run in these ways."""
    few, many = COUNTS
    forms = {name: ["", f" {few}"] for name in FUNCTIONS}
    forms[MATRICES[0]] += [f" {few}, packed", f" {few}, lanes"]
    for name in MATRICES:
        forms[name].append(f" {many}")
    for name in (*functions, *PRODUCTS):
        forms[name] += [f"{size}, {way}" for size in ("", f" {few}") for way in ways]
    for name, hows in forms.items():
        yield from ((f"{spoken(name)}{how}", peer_of(name)) for how in hows)
    yield from ((own_name(name), f"our {spoken(function.__name__)}") for name, (function, _) in OWN.items())


def own_name(name: str) -> str:
    """Return the name of what is compared with our own dynamics."""
    return f"{spoken(name)} {COUNTS[0]}{', lanes' * (name == MATRICES[0])}"


def derivatives(case) -> Iterator[Comparison]:
    """Compare derivatives by loops over bodies and by programs with Pinocchio's, and with our dynamics."""
    robot = TimedDerivatives(case.moving)
    if robot.peers is not None:
        yield from _single(robot)
        yield from _batches(robot)
        yield from _programs(robot)
    yield from _own(robot)


def _single(robot: TimedDerivatives) -> Iterator[Comparison]:
    """Compare calls for one configuration that write into preallocated arrays."""
    for name in FUNCTIONS:
        yield robot.compared(name, "", robot.call(name), 1.0)


def _batches(robot: TimedDerivatives) -> Iterator[Comparison]:
    """Compare calls for many configurations on one thread with single calls."""
    few, many = COUNTS
    for layout in ("packed", "lanes"):
        goal = 12.0 if robot.model.nv >= BOUNDS[1] else 1.0
        ours = robot.batch("rnea_derivatives", few, layout=layout)
        yield robot.compared("rnea_derivatives", f" {few}, {layout}", ours, goal)
    for name in MATRICES:
        goal = robot.of_size(OF_FORWARD) if name == MATRICES[1] else 1.0
        yield robot.compared(name, f" {many}", robot.batch(name, many), goal)
    for name in FUNCTIONS:
        goal = robot.of_size(OF_FORWARD) if name == MATRICES[1] else 1.0
        yield robot.compared(name, f" {few}", robot.batch(name, few), goal)


def program_functions(nv: int) -> tuple[str, ...]:
    """Return the matrices that programs are generated for; those of forward dynamics grow long."""
    return MATRICES if nv < MANY else MATRICES[:1]


def _programs(robot: TimedDerivatives) -> Iterator[Comparison]:
    """Compare programs in the interpreter, and compiled as C where there is a compiler."""
    names = [*program_functions(robot.model.nv), *PRODUCTS]
    program = compile(robot.model, names)
    for how, kernels in (("interpreter", program), ("cc", compile_c(robot.model, names))):
        if kernels is not None:
            yield from _of_kernels(robot, kernels, names, how)


def _of_kernels(
    robot: TimedDerivatives, kernels: Kernels, names: list[str], how: str
) -> Iterator[Comparison]:
    """Compare single calls and batches of a program."""
    for name in names:
        function, few = getattr(kernels, name), COUNTS[0]
        bound = kernels.bind(name, *robot.states(name), out=function(*robot.states(name)))
        goal = robot.of_size(ONE_CALL[how]) if name in MATRICES else 1.0
        yield robot.compared(name, f", {how}", Call(bound), goal)
        if name in MATRICES:
            goal = robot.of_size(OF_FORWARD if name == MATRICES[1] else BATCHES[how])
        states = robot.states(name, few)
        ours = Call(partial(function, *states, out=function(*states)), few)
        yield robot.compared(name, f" {few}, {how}", ours, goal)


def _own(robot: TimedDerivatives) -> Iterator[Comparison]:
    """Compare batches with those of the dynamics that are differentiated; the ratios are below 1."""
    count = COUNTS[0]
    for name, (function, most) in OWN.items():
        layout = {"layout": "lanes"} if name == MATRICES[0] else {}
        ours, states = robot.batch(name, count, **layout), robot.states(name, count)[:3]
        theirs = Call(partial(function, robot.model, *states, out=np.empty((count, robot.model.nv))), count)
        peer, goal = f"our {spoken(function.__name__)}", 1.0 / robot.of_size(most)
        yield Comparison(TARGET, robot.name, own_name(name), peer, ours, theirs, goal, patience=PATIENCE)
