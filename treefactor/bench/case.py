"""Load a robot once for all of its comparisons: models, states, matrices and calls, made when first used."""

from __future__ import annotations

import warnings
from functools import cached_property, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from .. import dynamics
from ..check.robots import Robot, model_of, refuse_sdf
from ..codegen import Kernels, compile
from ..codegen.backends.build import Compiler
from ..codegen.program.program import ARGUMENTS
from ..dynamics.recursions import bind
from ..exceptions import AdapterError, CodegenError, TreefactorError
from ..model.configuration import neutral
from ..quantities.functions import crba, integrate
from ..quantities.table import QUANTITIES
from .timing import Call

if TYPE_CHECKING:
    from ..model.model import Model

COUNT = 1024  # configurations in a batch
MATRICES = 4096  # in a batch
WHOLE_BODY = 18  # freedoms from which a target for legged robots and humanoids holds


def spoken(name: str) -> str:
    """Return a function's name in words."""
    return name.replace("_", " ")


def program_backends() -> dict[str, str]:
    """Return the backends that run programs here, by their names in the tables."""
    try:
        Compiler.find()
    except CodegenError:
        return {"interpreter": "interp"}
    return {"interpreter": "interp", "cc": "cc"}


class Moving:
    """A robot with random states: our model, and Pinocchio's where it is installed.

    Parameters
    ----------
    name : str
    ours : Model
    model : pinocchio.Model or None

    Attributes
    ----------
    q, v, a, tau : ndarray
        COUNT states.
    """

    def __init__(self, name: str, ours: Model, model=None):
        self.name, self.ours, self.model, self.tree = name, ours, model, ours.tree
        self.data = model.createData() if model else None
        rng, n = np.random.default_rng(0), ours.nv
        self.q = integrate(ours, neutral(ours), rng.normal(size=(COUNT, n)))
        self.v, self.a, self.tau = rng.normal(size=(3, COUNT, n))
        self._kernels: dict[tuple, Kernels] = {}

    @cached_property
    def pin(self):
        """The package pinocchio."""
        import pinocchio

        return pinocchio

    @cached_property
    def pool(self):
        """Pool of models for Pinocchio's parallel functions."""
        return self.pin.ModelPool(self.model)

    def goal(self, ratio: float, below: float | None = None) -> float | None:
        """Return the goal for robots of this size: another one below WHOLE_BODY freedoms."""
        return ratio if self.ours.nv >= WHOLE_BODY else below

    def states(self, name: str) -> list[np.ndarray]:
        """Return the arguments of a function for COUNT configurations."""
        return [getattr(self, argument) for argument in ARGUMENTS[name]]

    def first(self, name: str) -> list[np.ndarray]:
        """Return the arguments of a function for one configuration."""
        return [array[0] for array in self.states(name)]

    def kernels(self, how: str, name: str, dtype=np.float64) -> Kernels:
        """Return the program of a function, interpreted or compiled; it is made once for this robot."""
        if (how, name, dtype) not in self._kernels:
            self._kernels[how, name, dtype] = self._compile(program_backends()[how], name, dtype)
        return self._kernels[how, name, dtype]

    def _compile(self, backend: str, name: str, dtype) -> Kernels:
        """Return the program of a function for a backend."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kernels = compile(self.ours, name, backend, dtype=dtype)
        if kernels.backend != backend:
            raise CodegenError(f"{self.name}: {name} could not be compiled as C")
        return kernels

    def bound(self, name: str, how: str = "") -> Call:
        """Return a function of ours or of a program, bound to one configuration and its result."""
        given, out = self.first(name), np.empty((self.ours.nv,) * (2 if name == "crba" else 1))
        if how:
            return Call(self.kernels(how, name).bind(name, *given, out=out))
        return Call(bind(getattr(dynamics, name), self.ours, *given, out=out))

    def batch(self, name: str, how: str = "") -> Call:
        """Return a function of ours or of a program for COUNT configurations, on preallocated arrays."""
        count = len(self.q)
        results = {"out": np.empty_like(self.v)}
        if name == "crba":
            results = {"out": np.empty((count // 8, self.tree.nnz, 8)), "layout": "lanes"}
        function = self.kernels(how, name) if how else partial(getattr(dynamics, name), self.ours)
        run = getattr(function, name) if how else function
        return Call(partial(run, *self.states(name), **results), count)

    def single_precision(self, name: str, how: str) -> Call:
        """Return a function of a program in float32 for COUNT configurations, on preallocated arrays."""
        run = getattr(self.kernels(how, name, np.float32), name)
        states = [array.astype(np.float32) for array in self.states(name)]
        return Call(partial(run, *states, out=np.empty_like(self.v, np.float32)), len(self.q))

    def peer(self, name: str) -> Call:
        """Return Pinocchio's function for one configuration."""
        function = getattr(self.pin, QUANTITIES[name].counterparts[0].name)
        return Call(partial(function, self.model, self.data, *self.first(name)))

    def peers(self, name: str) -> Call:
        """Return Pinocchio's C++ loop over COUNT configurations on one thread, or one call without it."""
        loop = getattr(self.pin, f"{QUANTITIES[name].counterparts[0].name}InParallel", None)
        if loop is None:
            return self.peer(name)
        columns = [np.asfortranarray(array.T) for array in self.states(name)]
        return Call(partial(loop, 1, self.pool, *columns), len(self.q))


class Case(Moving):
    """A bundled robot or a file, with a batch of its inertia matrices at random configurations.

    Parameters
    ----------
    robot : Robot
    count : int, optional
        Matrices, MATRICES by default.
    threads : int
        Threads to compare with one.

    Attributes
    ----------
    model : pinocchio.Model or None
        None where Pinocchio is missing.
    ours : Model
    tree : Tree

    Raises
    ------
    AdapterError
        If the robot cannot be loaded.
    """

    def __init__(self, robot: Robot, count: int | None = None, threads: int = 2):
        refuse_sdf(robot)
        self.count, self.threads = MATRICES if count is None else count, threads
        self.path, self.floating = robot.path, robot.floating
        try:
            from ..adapters import pinocchio_
        except AdapterError:
            ours, model = model_of(robot), None
        else:
            model = pinocchio_.load(robot.path, robot.floating)
            ours = pinocchio_.model(model)
        if not ours.nv:
            raise TreefactorError(f"{robot.name}: no joint moves, there is nothing to factorize")
        super().__init__(robot.name, ours, model)
        if model is not None:
            self.tree = pinocchio_.tree(model)

    @cached_property
    def H(self) -> np.ndarray:
        """(count, n, n) inertia matrices."""
        moves = np.random.default_rng(0).normal(size=(self.count, self.ours.nv))
        if self.model is None:
            return crba(self.ours, integrate(self.ours, neutral(self.ours), moves))
        from ..adapters import pinocchio_

        rest = self.pin.neutral(self.model)
        q = np.array([self.pin.integrate(self.model, rest, v) for v in moves])
        return pinocchio_.mass_matrix(self.model, self.data, q)

    @cached_property
    def b(self) -> np.ndarray:
        """(count, n) right-hand sides."""
        return np.random.default_rng(1).normal(size=(self.count, self.ours.nv))

    @cached_property
    def factored(self) -> tuple:
        """Pinocchio's data with one matrix and its factor, and our `Accelerator` of it."""
        from ..adapters.pinocchio_ import Accelerator

        data = self.model.createData()
        np.copyto(data.M, self.H[0])
        accelerator = Accelerator(self.model, data).factor()
        self.pin.cholesky.decompose(self.model, data)
        return data, accelerator

    def decompose(self) -> Call:
        """Return Pinocchio's factorization of one matrix as a call."""
        return Call(partial(self.pin.cholesky.decompose, self.model, self.factored[0]))

    @cached_property
    def body(self):
        """The robot in MuJoCo; None where MuJoCo is missing or cannot load the robot."""
        if not find_spec("mujoco"):
            return None
        from ..adapters import mujoco_

        try:
            return mujoco_.load(self.path, self.floating)
        except TreefactorError:
            return None
