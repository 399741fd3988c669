"""Compare times of a robot's dynamics with Pinocchio's and MuJoCo's: single calls and batches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from importlib.util import find_spec

import numpy as np

from ...codegen.program.program import ARGUMENTS
from ...dynamics.recursions import bind
from ...exceptions import TreefactorError
from ...model.configuration import neutral
from ...quantities.functions import aba, bias, crba, forward_dynamics, integrate, rnea
from ..timing import Call, Comparison

COUNT = 1024  # configurations in a batch
THEIRS = {"crba": "crba", "bias": "nle", "rnea": "rnea", "aba": "aba", "forward_dynamics": "aba"}


class Moving:
    """A robot as Pinocchio's model, where Pinocchio is installed, and as ours, with random states.

    Parameters
    ----------
    case : Case
    """

    def __init__(self, case):
        self.name, self.theirs, self.data = case.name, case.model, case.data
        if case.model is None:
            self.ours = case.ours
        else:
            import pinocchio as pin

            from ...adapters import pinocchio_

            self.pin, self.ours = pin, pinocchio_.model(case.model)
        rng, n = np.random.default_rng(0), self.ours.nv
        self.q = integrate(self.ours, neutral(self.ours), rng.normal(size=(COUNT, n)))
        self.v, self.a, self.tau = rng.normal(size=(3, COUNT, n))

    @cached_property
    def pool(self):
        """Pool of models for Pinocchio's parallel functions."""
        return self.pin.ModelPool(self.theirs)

    def states(self, name: str) -> list[np.ndarray]:
        """Return the arguments of a function for COUNT configurations."""
        return [getattr(self, argument) for argument in ARGUMENTS[name]]

    def first(self, name: str) -> list[np.ndarray]:
        """Return the arguments of a function for one configuration."""
        return [array[0] for array in self.states(name)]

    def result_array(self, name: str) -> np.ndarray:
        """Allocate the result of one configuration."""
        return np.empty((self.ours.nv,) * (2 if name == "crba" else 1))

    def result_arrays(self, name: str) -> dict:
        """Allocate the results of COUNT configurations, and name their layout."""
        if name == "crba":
            return {"out": np.empty((len(self.q) // 8, self.ours.tree.nnz, 8)), "layout": "lanes"}
        return {"out": np.empty_like(self.v)}

    def peer(self, name: str) -> Call:
        """Return Pinocchio's function for one configuration."""
        return Call(partial(getattr(self.pin, THEIRS[name]), self.theirs, self.data, *self.first(name)))

    def peers(self, name: str) -> Call:
        """Return Pinocchio's C++ loop over COUNT configurations on one thread, or one call without it."""
        loop = getattr(self.pin, f"{THEIRS[name]}InParallel", None)
        if loop is None:
            return self.peer(name)
        columns = [np.asfortranarray(array.T) for array in self.states(name)]
        return Call(partial(loop, 1, self.pool, *columns), len(self.q))


def dynamics(case) -> Iterator[Comparison]:
    """Compare single calls on bound arrays and batches on one thread with Pinocchio and MuJoCo."""
    moving = case.moving
    if moving.theirs is not None:
        yield from single(moving)
        yield from batches(moving)
    if find_spec("mujoco"):
        yield from _mujoco(moving, case)


def single(moving: Moving, functions=(crba, bias, rnea, aba, forward_dynamics)) -> Iterator[Comparison]:
    """Compare calls for one configuration that write into preallocated arrays."""
    for function in functions:
        name = function.__name__
        ours = Call(bind(function, moving.ours, *moving.first(name), out=moving.result_array(name)))
        yield Comparison("S6", moving.name, spoken(name), "Pinocchio", ours, moving.peer(name), 1.0)


def batches(moving: Moving, functions=(crba, rnea, aba, forward_dynamics)) -> Iterator[Comparison]:
    """Compare calls for many configurations on one thread."""
    for function in functions:
        name, count = function.__name__, len(moving.q)
        ours = Call(partial(function, moving.ours, *moving.states(name), **moving.result_arrays(name)), count)
        yield Comparison(
            "S6", moving.name, f"{spoken(name)} {count}", "Pinocchio", ours, moving.peers(name), 9.0
        )


def spoken(name: str) -> str:
    """Return a function's name in words."""
    return name.replace("_", " ")


def _mujoco(moving: Moving, case) -> Iterator[Comparison]:
    """Compare CRBA with MuJoCo's, poses included; yield nothing where MuJoCo cannot load the robot."""
    import mujoco

    from ...adapters import mujoco_

    try:
        body = mujoco_.load(case.path, case.floating)
    except TreefactorError:
        return

    def theirs() -> None:
        mujoco.mj_kinematics(body.model, body.data)
        mujoco.mj_comPos(body.model, body.data)
        mujoco.mj_crb(body.model, body.data)

    ours = bind(crba, moving.ours, moving.q[0], out=np.empty((moving.ours.nv, moving.ours.nv)))
    yield Comparison("S6", moving.name, "crba", "MuJoCo", Call(ours), Call(theirs), 1.0)
