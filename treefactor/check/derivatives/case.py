"""Compare the derivatives of one robot by treefactor, Pinocchio and MuJoCo at random states."""

from __future__ import annotations

import warnings
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from ... import tolerances
from ...dynamics import crba, rnea
from ...exceptions import AdapterError
from ...model.configuration import neutral
from ...model.model import Model
from ...quantities.functions import integrate
from ..engines import has_pinocchio
from ..reference import random_of
from ..robots import Robot, model_of, refuse_sdf
from . import by_treefactor
from .causes import Corrections, DerivativeCause
from .errors import Key, Matrices, State, allowed, deviation, differences, labels

FRAME = "frame of the derivative check"
# rotation of the frame in the frame of its joint
TURN = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
OFFSET = np.array([0.1, -0.2, 0.3])  # m
NO_PINOCCHIO = "Pinocchio is not installed"
REFUSED = "it has no derivatives and is differenced"


@dataclass
class Sample:
    """One state with treefactor's derivatives there."""

    state: State
    size: np.ndarray  # roots of the diagonal of H
    condition: float  # of H
    own: Matrices
    values: dict[str, float]  # largest entries of the quantities that are differentiated

    def error(self, key: Key, actual: np.ndarray, expected: np.ndarray) -> float:
        """Return the deviation of a matrix."""
        return deviation(key, actual, expected, self.size, self.values.get(key[0], 0.0))

    def close(self, key: Key, actual: np.ndarray, expected: np.ndarray) -> bool:
        """Return whether two analytic matrices agree within the tolerance."""
        return self.error(key, actual, expected) <= allowed(key, self.condition)


@dataclass
class Errors:
    """Largest deviations of an engine's matrices.

    ``from_treefactor`` has the deviations from treefactor's matrices, ``apart`` those from differences of the
    engine's own values. ``explained`` has the matrices with their deviations by cause and joints;
    ``unexplained`` has those without a cause.
    """

    from_treefactor: dict[Key, float] = field(default_factory=dict)
    apart: dict[Key, float] = field(default_factory=dict)
    explained: dict[tuple[str, tuple[str, ...]], dict[Key, float]] = field(default_factory=dict)
    unexplained: dict[Key, float] = field(default_factory=dict)

    @staticmethod
    def worst(errors: dict[Key, float], key: Key, error: float) -> None:
        """Keep the larger error; a NaN stays."""
        errors[key] = float(np.maximum(errors.get(key, 0.0), error))

    def compare(self, key: Key, error: float, tolerance: float) -> bool:
        """Keep a deviation from treefactor's matrix; return whether it is beyond the tolerance, or NaN."""
        self.worst(self.from_treefactor, key, error)
        return not error <= tolerance

    def explain(self, names: tuple[str, ...], where, key: Key, error: float) -> None:
        """Keep the causes of a deviation; without any it is unexplained."""
        for name in names:
            self.worst(self.explained.setdefault((name, where(name)), {}), key, error)
        if not names:
            self.worst(self.unexplained, key, error)

    def causes(self) -> tuple[DerivativeCause, ...]:
        """Return the causes, each with the matrices that it concerns."""
        return tuple(
            DerivativeCause(
                name, max(keys.values(), default=0.0) or None, where, quantity=f"({labels(keys)})"
            )
            for (name, where), keys in self.explained.items()
        )


class Case:
    """Model of a robot with a frame on the body that most freedoms move, and random states."""

    def __init__(self, theirs, model: Model | None, count: int, rng, robot: Robot | None = None):
        self.robot, self.theirs, self.refused = robot, theirs, ""
        self.refusal: AdapterError | None = None
        if theirs is not None:
            self.theirs = _functions("pinocchio").with_frame(theirs, FRAME, TURN, OFFSET)
            model = adapter_of("pinocchio").model(self.theirs)
        else:
            names = [joint.name for joint in model.joints]
            last = max(names, key=lambda name: len(model.support(name)), default=-1)
            model = model.add_frame(FRAME, last, TURN, OFFSET)
        self.model = model
        self.samples = [self._sample(rng) for _ in range(count if model.nv else 0)]

    @classmethod
    def of_robot(cls, robot: Robot, mimic: bool, samples: int, seed: int) -> Case:
        """Load a robot by Pinocchio where that is installed and reads the file, or else by treefactor."""
        refuse_sdf(robot)
        theirs = refusal = None
        refused = NO_PINOCCHIO
        if has_pinocchio():
            try:
                theirs = adapter_of("pinocchio").load(robot.path, robot.floating, mimic)
            except AdapterError as error:
                refused, refusal = str(error), error
        with warnings.catch_warnings():  # the refusal says what Pinocchio reads otherwise
            warnings.simplefilter("ignore", UserWarning)
            model = model_of(robot, mimic) if theirs is None else None
        case = cls(theirs, model, samples, random_of(robot.path, seed), robot)
        case.refused, case.refusal = refused, None if mimic else refusal  # it knows not all leaders
        return case

    def _sample(self, rng: np.random.Generator) -> Sample:
        """Return a random state with treefactor's derivatives."""
        model = self.model
        move, *rest = rng.normal(size=(4, model.nv))
        state = State(integrate(model, neutral(model), move), *rest)
        H = filled(crba(model, state.q))
        own = by_treefactor.derivatives(model, *state, FRAME)
        if not condition(H) <= tolerances.REGULAR:
            own = {key: matrix for key, matrix in own.items() if key[0] != "q̈"}
        values = {name: float(np.abs(x).max()) for name, x in _values(by_treefactor, model, state).items()}
        return Sample(state, np.sqrt(np.diag(H)), condition(H), own, values)

    def own(self) -> Errors:
        """Compare treefactor's derivatives with differences of its own values, and with its products."""
        errors, model = Errors(), self.model
        values, move = partial(_values, by_treefactor, model), partial(integrate, model)
        for s in self.samples:
            w = s.state.tau / s.size
            expected = differences(values, move, s.state)
            expected |= differences(lambda x, w=w: by_treefactor.gradients(model, *x[:3], w), move, s.state)
            own = s.own | by_treefactor.hessian(model, *s.state[:3], w)
            for key, matrix in own.items():
                error = s.error(key, matrix, expected[key])
                errors.worst(errors.apart, key, error)
                if errors.compare(key, error, allowed(key, s.condition, by_differences=True)):
                    errors.worst(errors.unexplained, key, error)
            for product, matrices in by_treefactor.by_products(model, *s.state, s.own):
                for key, matrix in matrices.items():
                    error, name = s.error(key, matrix, s.own[key]), (key[0], f"{key[1]} by {product}")
                    if errors.compare(name, error, allowed(key, s.condition)):
                        errors.worst(errors.unexplained, name, error)
        return errors

    def pinocchio(self) -> Errors:
        """Compare Pinocchio's derivatives with treefactor's, and explain what differs."""
        if self.refusal is not None:
            raise self.refusal
        if self.theirs is None:
            return Errors(explained={(self.refused, ()): {}})
        adapter, errors = _functions("pinocchio"), Errors()
        values, move = partial(_values, adapter, self.theirs), partial(adapter.pin.integrate, self.theirs)
        for s in self.samples:
            theirs, refused = adapter.derivatives(self.theirs, *s.state, FRAME)
            expected = differences(values, move, s.state)
            corrections = Corrections(adapter, self.theirs, s.state, FRAME, theirs)
            for key, own in s.own.items():
                if key in theirs:
                    errors.worst(errors.apart, key, s.error(key, theirs[key], expected[key]))
                    error = s.error(key, theirs[key], own)
                    if errors.compare(key, error, allowed(key, s.condition)):
                        names = corrections.causes(key, partial(s.close, key), own)
                        errors.explain(names, corrections.where, key, error)
                elif key in expected:
                    error = s.error(key, expected[key], own)
                    beyond = errors.compare(key, error, allowed(key, s.condition, by_differences=True))
                    names = () if beyond else (f"{REFUSED} ({refused[key[0]]})",)
                    errors.explain(names, lambda name: (), key, error)
        return errors

    def mujoco(self) -> Errors:
        """Compare MuJoCo's differences of inverse dynamics with treefactor's derivatives."""
        if self.robot.is_mjcf and self.theirs is not None:  # Pinocchio's reader makes other joints of some
            model, rng = model_of(self.robot), random_of(self.robot.path, 0)
            return Case(None, model, len(self.samples), rng, self.robot).mujoco()
        adapter, errors = adapter_of("mujoco"), Errors()
        gravity = None if self.robot.is_mjcf else self.model.gravity
        with closing(adapter.load(self.robot.path, self.robot.floating, gravity)) as body:
            for s in self.samples:
                q, v, a, _ = s.state
                tau = rnea(self.model, q, v, a)
                theirs, expected, T = _functions("mujoco").derivatives(body, self.model, q, v, a, tau, s.own)
                size = np.sqrt(np.diag(T.T @ np.diag(s.size**2) @ T))
                for key, matrix in theirs.items():
                    error = deviation(key, matrix, expected[key], size, s.values["τ"])
                    if errors.compare(key, error, tolerances.MUJOCO_DIFFERENCES):
                        errors.worst(errors.unexplained, key, error)
        return errors


def _functions(engine: str) -> Any:
    """Return the functions of an engine's adapter that compute derivatives."""
    return import_module(f"treefactor.adapters._{engine}_derivatives")


def _values(engine, model, state: State) -> dict[str, np.ndarray]:
    """Return the values that an engine's derivatives belong to."""
    return engine.values(model, *state, FRAME)


def adapter_of(engine: str):
    """Import the adapter of an engine."""
    return import_module(f"treefactor.adapters.{engine}_")


def filled(H: np.ndarray) -> np.ndarray:
    """Return H with an armature of 1 on the freedoms that move no inertia."""
    return H + np.diag((np.diag(H) == 0.0).astype(float))


def condition(H: np.ndarray) -> float:
    """Return the condition number; infinite where H is not finite."""
    return float(np.linalg.cond(H)) if np.isfinite(H).all() else float("inf")
