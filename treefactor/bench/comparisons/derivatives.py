"""Compare times of derivatives with Pinocchio's, with its central differences, and with our own dynamics."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ... import dynamics
from ...dynamics.recursions import bind
from ...quantities import functions
from ..case import Moving, program_backends, spoken
from ..timing import Call, Comparison
from .derivative_peers import Peers
from .dynamics import MANY

COUNTS = 256, 1024  # configurations in a batch
PATIENCE = 2.0  # seconds
ARGUMENTS = {
    "rnea_derivatives": "q v a",
    "forward_dynamics_derivatives": "q v tau",
    "rnea_vjp": "q v a w",
    "forward_dynamics_vjp": "q v tau w",
    "rnea_jvp": "q v a dq dv da",
    "forward_dynamics_jvp": "q v tau dq dv dtau",
    "rnea_hvp": "q v a w dq dv da",
    "forward_dynamics_hvp": "q v tau w dq dv dtau",
    "rnea_hessian": "q v a w",
    "forward_dynamics_hessian": "q v tau w",
    "frame_derivatives": "q v a",
    "com_derivatives": "q v a",
    "centroidal_derivatives": "q v a",
    "integrate_derivatives": "q v",
    "difference_derivatives": "q q1",
}
FUNCTIONS = {name: getattr(functions, name) for name in ARGUMENTS}
MATRICES = ("rnea_derivatives", "forward_dynamics_derivatives")
PRODUCTS = ("rnea_vjp", "rnea_jvp", "rnea_hvp", "forward_dynamics_vjp", "forward_dynamics_jvp")  # programs
OWN = {  # compared with these functions, and at most this many times as long
    "rnea_derivatives": ("rnea", (4.0, 4.0, 6.0, 8.0)),
    "rnea_vjp": ("rnea", (3.0,) * 4),
    "forward_dynamics_vjp": ("forward_dynamics", (2.5,) * 4),
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
        self.moving, self.name, self.model, self.peers = moving, moving.name, moving.ours, None
        count, rng = max(COUNTS), np.random.default_rng(1)
        self.arrays = {name: repeated(getattr(moving, name), count) for name in ("q", "v", "a", "tau")}
        for name in ("w", "dq", "dv", "da", "dtau"):
            self.arrays[name] = rng.normal(size=(count, self.model.nv))
        self.arrays["q1"] = self.arrays["q"][::-1].copy()
        self.frame = self.model.frames[-1]
        if moving.model is not None and self.model.coupling is None:  # Pinocchio refuses mimic joints
            depths = [len(moving.model.supports[frame.parentJoint]) for frame in moving.model.frames]
            number = int(np.argmax(depths))
            self.frame, self.peers = self.model.frames[number], Peers(moving.model, number)

    def of_size(self, values: tuple[float, ...]) -> float:
        """Return the value for robots of this size."""
        return values[sum(self.model.nv >= bound for bound in BOUNDS)]

    def states(self, name: str, count: int | None = None) -> list[np.ndarray]:
        """Return the arrays among the arguments of a function: of one configuration, or of several."""
        index = 0 if count is None else slice(count)
        return [self.arrays[argument][index] for argument in ARGUMENTS[name].split()]

    def peer(self, name: str) -> Call:
        """Return Pinocchio's way for one configuration; it has none for several."""
        return Call(partial(getattr(self.peers, name), *self.states(name)))

    def call(self, name: str, count: int | None = None, **options) -> Call:
        """Return a function of ours: bound to one configuration, or of several with preallocated arrays."""
        function = FUNCTIONS[name]
        given = [self.model, *self.states(name, count), *[self.frame] * (name == "frame_derivatives")]
        out = function(*given, **options)
        if count is None:
            return Call(bind(function, *given, **options, out=out))
        return Call(partial(function, *given, **options, out=out), count)

    def program(self, name: str, how: str, count: int | None = None, **options) -> Call:
        """Return a program: bound to one configuration, or for several with preallocated arrays."""
        kernels, states = self.moving.kernels(how, name), self.states(name, count)
        out = kernels.call(name, *states, **options)
        if count is None:
            return Call(kernels.bind(name, *states, out=out))
        return Call(partial(kernels.call, name, *states, **options, out=out), count)

    def dynamics(self, name: str, count: int) -> Call:
        """Return the dynamics that are differentiated, for several configurations."""
        states = [self.arrays[x][:count] for x in ("q", "v", "a" if name == "rnea" else "tau")]
        out = np.empty((count, self.model.nv))
        return Call(partial(getattr(dynamics, name), self.model, *states, out=out), count)

    def compared(self, name: str, how: str, ours, goal: float) -> Comparison:
        """Return a comparison with Pinocchio, or with central differences of it, in single calls."""
        peer = "differences" if name.endswith(("hvp", "hessian")) else "Pinocchio"
        what, theirs = f"{spoken(name)}{how}", partial(self.peer, name)
        return Comparison("Derivatives", self.name, what, peer, ours, theirs, goal, patience=PATIENCE)


def repeated(array: np.ndarray, count: int) -> np.ndarray:
    """Return so many rows: those of the array, again and again."""
    return np.resize(array, (count, array.shape[1]))


def derivatives(case: Moving) -> Iterator[Comparison]:
    """Compare derivatives by loops over bodies and by programs with Pinocchio's, and with our dynamics."""
    robot = TimedDerivatives(case)
    if robot.peers is not None:
        yield from _loops(robot)
        for how in program_backends():
            yield from _programs(robot, how)
    yield from _own(robot)


def _loops(robot: TimedDerivatives) -> Iterator[Comparison]:
    """Compare calls for one configuration, and batches on one thread."""
    few, many = COUNTS
    for name in ARGUMENTS:
        yield robot.compared(name, "", partial(robot.call, name), 1.0)
    for layout in ("packed", "lanes"):
        goal = 12.0 if robot.model.nv >= BOUNDS[1] else 1.0
        ours = partial(robot.call, MATRICES[0], few, layout=layout)
        yield robot.compared(MATRICES[0], f" {few}, {layout}", ours, goal)
    for names, count in ((MATRICES, many), (ARGUMENTS, few)):
        for name in names:
            goal = robot.of_size(OF_FORWARD) if name == MATRICES[1] else 1.0
            yield robot.compared(name, f" {count}", partial(robot.call, name, count), goal)


def program_functions(nv: int) -> tuple[str, ...]:
    """Return the matrices that programs are generated for; those of forward dynamics grow long."""
    return MATRICES if nv < MANY else MATRICES[:1]


def _programs(robot: TimedDerivatives, how: str) -> Iterator[Comparison]:
    """Compare single calls and batches of programs."""
    few = COUNTS[0]
    for name in (*program_functions(robot.model.nv), *PRODUCTS):
        one = several = 1.0
        if name in MATRICES:
            one = robot.of_size(ONE_CALL[how])
            several = robot.of_size(OF_FORWARD if name == MATRICES[1] else BATCHES[how])
        yield robot.compared(name, f", {how}", partial(robot.program, name, how), one)
        yield robot.compared(name, f" {few}, {how}", partial(robot.program, name, how, few), several)


def _own(robot: TimedDerivatives) -> Iterator[Comparison]:
    """Compare batches with those of the dynamics that are differentiated; the ratios are below 1."""
    few = COUNTS[0]
    for name, (base, most) in OWN.items():
        layout = {"layout": "lanes"} if name == MATRICES[0] else {}
        what = f"{spoken(name)} {few}{', lanes' * bool(layout)}"
        calls = partial(robot.call, name, few, **layout), partial(robot.dynamics, base, few)
        peer, goal = f"our {spoken(base)}", 1.0 / robot.of_size(most)
        yield Comparison("Derivatives", robot.name, what, peer, *calls, goal, patience=PATIENCE)
