"""Compare one engine with Pinocchio on one robot: H, bias, q̈, tree and factor, worst over random states.

Every engine computes in its own conventions and translated by its adapter's T with v_pin = T v_engine and c
with a_pin = T a_engine + c:

    H_pin = T^-T H T^-1        bias_pin = T^-T bias - H_pin c        q̈_pin = T q̈ + c
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from .._util.engine import Engine
from ..exceptions import AdapterError, NotPositiveDefiniteError, TreefactorError
from ..linalg.factorization import factor
from ..tolerances import REGULAR, SEMIDEFINITE
from ..tree.tree import Tree
from .robots import Robot
from .selfcheck import self_check


class EngineFailedError(TreefactorError):
    """Raised when an engine loads a robot and then fails to answer."""


@contextmanager
def answering() -> Iterator[None]:
    """Turn any exception raised after loading into EngineFailedError; refusals pass through."""
    try:
        yield
    except AdapterError:  # a refusal: the engine cannot represent the robot
        raise
    except UnicodeDecodeError as error:
        raise AdapterError(f"it passes names on as bytes, and one is not UTF-8: {error}") from error
    except Exception as error:
        text = " ".join(str(error).split())
        raise EngineFailedError(f"no answer: {type(error).__name__}: {text}") from error


@dataclass
class Sample:
    """One state and the results of Pinocchio's own algorithms there."""

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    H: np.ndarray
    bias: np.ndarray
    qdd: np.ndarray  # by ABA

    @property
    def scale(self) -> float:
        """Largest entry of H; 1 for a robot without inertia."""
        return float(np.abs(self.H).max(initial=0.0)) or 1.0

    def delta(self, H: np.ndarray) -> np.ndarray:
        """Return the deviations of H over sqrt(H_ii H_jj), so that light joints count like heavy ones."""
        diagonal = np.sqrt(np.abs(np.diag(self.H)))
        size = np.outer(diagonal, diagonal)
        return np.abs(H - self.H) / np.where(size > 0.0, size, self.scale)

    def acceleration_error(self, qdd: np.ndarray) -> float:
        """Return the deviation of q̈ weighted by the roots of the inertias, so that light joints count."""
        weight = np.sqrt(np.abs(np.diag(self.H)))
        return relative(weight * qdd, weight * self.qdd)

    @property
    def force(self) -> float:
        """Scale of the forces in the bias, also where gravity and velocity terms cancel."""
        return largest_force(self.H, self.bias, self.v)


@dataclass
class Comparison:
    """Deviations of one engine, worst over the samples, by name; see `treefactor.check.Row`."""

    tree: Tree
    condition: float
    scaled_condition: float  # of H with a unit diagonal
    same_tree: bool = True
    errors: dict[str, float] = field(default_factory=dict)
    delta: np.ndarray | None = None
    singular: str = ""

    def worst(self, **errors: float) -> None:
        """Keep the larger error of every name; a NaN stays."""
        for name, error in errors.items():
            name = NAMES[name]
            self.errors[name] = float(np.maximum(self.errors.get(name, 0.0), error))


NAMES = {"H": "H", "bias": "bias", "factor": "factor", "ld": "L and D", "qdd": "q̈", "own": "own q̈"}


class Reference:
    """Pinocchio's model of a robot, and random states of it that depend on the seed and the robot's name."""

    def __init__(self, adapter, robot: Robot, count: int, seed: int):
        self.adapter, self.robot, self.count, self.seed = adapter, robot, count, seed
        self.model = adapter.load(robot.path, robot.floating)
        rng = self.random()
        self.states = [self._sample(rng) for _ in range(count if self.model.nv else 0)]

    def _sample(self, rng) -> Sample:
        pin, model = self.adapter.pin, self.model
        q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
        v, tau = rng.normal(size=(2, model.nv))
        data = model.createData()
        H, bias = self.adapter.mass_matrix(model, data, q), np.array(pin.nle(model, data, q, v))
        regular = self.regular(H)
        qdd = np.array(pin.aba(regular, regular.createData(), q, v, tau))
        return Sample(q, v, tau, H, bias, qdd)

    def random(self) -> np.random.Generator:
        """Return random numbers that depend only on the seed and the file's name."""
        return random_of(self.robot, self.seed)

    def regular(self, H: np.ndarray):
        """Return the model with an armature of 1 on the freedoms that move no inertia."""
        model = self.model.copy()
        model.armature = model.armature + unmoved(H)
        return model

    @cached_property
    def condition(self) -> float:
        """Return the largest condition number of H; freedoms that move no inertia are left out."""
        return worst(*(condition(filled(s.H)) for s in self.states))

    @cached_property
    def irregular(self) -> str:
        """Return why H has no inverse even without the freedoms that move no inertia, or ""."""
        try:
            for s in self.states:
                factor(filled(s.H), self.adapter.tree(self.model))
        except NotPositiveDefiniteError as error:
            return f"H is singular: {error}"
        if not self.condition <= REGULAR or not all(np.isfinite(s.qdd).all() for s in self.states):
            return f"H is singular: its condition number is {self.condition:.0e}"
        return ""

    @cached_property
    def singular(self) -> str:
        """Return why H has no inverse, or ""."""
        return self.irregular or without_inertia(self.adapter.tree(self.model), self.states[0].H)

    @cached_property
    def mimic(self) -> dict:
        """Return the mimic joints of the file by name: joint followed, multiplier and offset."""
        return self.adapter.mimic_joints(self.robot.path)

    def comparison(self) -> Comparison:
        """Return an empty comparison with this reference."""
        scaled = worst(*(condition(unit_diagonal(filled(s.H))) for s in self.states))
        return Comparison(self.adapter.tree(self.model), self.condition, scaled, singular=self.singular)

    def on_fixed_base(self) -> Reference:
        """Return the same robot with its root link fixed."""
        return Reference(self.adapter, replace(self.robot, floating=False), self.count, self.seed)

    def changed(self, s: Sample, file: dict, changes: list) -> tuple[np.ndarray, np.ndarray]:
        """Return H and bias at a sample, for a model with other inertias of some links and other changes."""
        inertials = {link: change for link, change in changes if not callable(change)}
        other = self.adapter.with_inertials(self.model, file, inertials)
        for _, change in changes:
            if callable(change):
                change(other)
        data = other.createData()
        H = self.adapter.mass_matrix(other, data, s.q)
        return H, np.array(self.adapter.pin.nle(other, data, s.q, s.v))


def random_of(robot: Robot, seed: int) -> np.random.Generator:
    """Return random numbers that depend only on the seed and the name of the robot's file."""
    return np.random.default_rng([seed, zlib.crc32(robot.path.name.encode(errors="surrogateescape"))])


def compare_pinocchio(reference: Reference) -> Comparison:
    """Compare CRBA with RNEA, our factor with ``data.U`` and ``data.D``, and our q̈ with ABA."""
    pin, model, result = reference.adapter.pin, reference.model, reference.comparison()
    data, zero = model.createData(), np.zeros(model.nv)
    for s in reference.states:
        still = pin.rnea(model, data, s.q, zero, zero)
        columns = [pin.rnea(model, data, s.q, zero, e) - still for e in np.eye(model.nv)]
        result.worst(H=relative(s.H, np.transpose(columns)))
        result.delta = s.delta(np.transpose(columns))
        if reference.irregular:
            continue
        H, regular = filled(s.H), reference.regular(s.H)
        f = factor(H, result.tree)
        pin.crba(regular, data, s.q)
        pin.cholesky.decompose(regular, data)
        result.worst(
            factor=relative(f.reconstruct(), H),
            ld=worst(relative(f.L().T, data.U), relative(f.D(), data.D)),
            qdd=s.acceleration_error(f.solve(s.tau - s.bias)),
        )
    return result


def compare_engine(adapter: Engine, reference: Reference) -> Comparison:
    """Compare H, bias, factor and q̈ of another engine, loaded through its adapter, with Pinocchio's."""
    robot, model, result = reference.robot, reference.model, reference.comparison()
    gravity = None if robot.is_mjcf else model.gravity.linear  # an MJCF has its own
    with closing(adapter.load(robot.path, robot.floating, gravity)) as body, answering():
        tree = adapter.tree(body)
        for s in reference.states:
            T = adapter.transform(body, model, s.q)
            H_pin, bias_pin = translated(adapter, body, model, s)
            result.same_tree &= same_tree(T, tree, result.tree)
            result.worst(H=relative(H_pin, s.H), bias=float(np.abs(bias_pin - s.bias).max() / s.force))
            result.delta = s.delta(H_pin)
            if reference.irregular:
                continue
            c = adapter.acceleration_offset(body, model, s.q, s.v)
            q, v = adapter.from_pinocchio(body, model, s.q, s.v)
            tau, H = T.T @ s.tau, adapter.mass_matrix(body, q) + T.T @ np.diag(unmoved(s.H)) @ T
            f = factor(H, tree)
            qdd = f.solve(tau - adapter.bias(body, q, v))
            result.worst(factor=relative(f.reconstruct(), H), qdd=s.acceleration_error(T @ qdd + c))
            if reference.singular:  # engines have no acceleration, or no factor
                continue
            own = adapter.own_acceleration(body, q, v, tau)
            result.worst(own=s.acceleration_error(T @ own + c))
            if hasattr(adapter, "qld"):
                L, D = adapter.qld(body, q)
                result.worst(ld=worst(relative(f.L(), L), relative(f.D(), D)))
    return result


def compare_alone(adapter: Engine, robot: Robot, count: int, seed: int) -> Comparison:
    """Check an engine without Pinocchio: its H against its inverse dynamics, our q̈ against its own."""
    own = {"gravity": None} if robot.is_mjcf else {}
    with closing(adapter.load(robot.path, robot.floating, **own)) as body, answering():
        tree, rng = adapter.tree(body), np.random.default_rng(seed)
        result = Comparison(tree, 1.0, 1.0)
        for _ in range(count if tree.n else 0):
            q, v, tau = adapter.random_state(body, rng)
            H = adapter.mass_matrix(body, q)
            checked = self_check(H, tree, rnea=partial(adapter.inverse_dynamics, body, q, np.zeros(tree.n)))
            result.worst(H=worst(checked.asymmetry, checked.outside, checked.columns))
            lowest, *_, highest = np.linalg.eigvalsh(H) if tree.n > 1 else (H[0, 0], H[0, 0])
            if checked.failing_row is not None and lowest >= -SEMIDEFINITE * highest:
                result.singular = f"H is singular: {checked.findings[-1]}"
                continue
            if checked.failing_row is None and REGULAR < condition(H) < np.inf:
                result.singular = f"H is singular: its condition number is {condition(H):.0e}"
                continue
            f = factor(H, tree)
            result.condition = worst(result.condition, condition(H))
            result.scaled_condition = worst(result.scaled_condition, condition(unit_diagonal(H)))
            own = adapter.own_acceleration(body, q, v, tau)
            s = Sample(q, v, tau, H, tau, own)
            qdd = f.solve(tau - adapter.bias(body, q, v))
            result.worst(factor=relative(f.reconstruct(), H), own=s.acceleration_error(qdd))
    return result


def translated(adapter: Engine, body, model, s: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Return H and bias of an engine in Pinocchio's conventions."""
    q, v = adapter.from_pinocchio(body, model, s.q, s.v)
    T_inv = np.linalg.inv(adapter.transform(body, model, s.q))
    H = T_inv.T @ adapter.mass_matrix(body, q) @ T_inv
    return H, T_inv.T @ adapter.bias(body, q, v) - H @ adapter.acceleration_offset(body, model, s.q, s.v)


def largest_force(H: np.ndarray, bias: np.ndarray, v: np.ndarray) -> float:
    """Return the scale of the forces in a bias, positive even where gravity and velocity terms cancel."""
    scale = float(np.abs(H).max(initial=0.0)) or 1.0
    return max(float(np.abs(bias).max(initial=0.0)), scale * float(np.square(v).max(initial=1.0)))


def same_tree(T: np.ndarray, tree: Tree, reference: Tree) -> bool:
    """Return whether T maps one tree's freedoms onto the other's."""
    moved = (T != 0).astype(float)
    return np.array_equal(moved @ tree.mask() @ moved.T > 0, reference.mask())


def unmoved(H: np.ndarray) -> np.ndarray:
    """Return an armature of 1 for freedoms that move no inertia; their rows of H are zero."""
    return (np.diag(H) == 0.0).astype(float)


def filled(H: np.ndarray) -> np.ndarray:
    """Return H with an armature of 1 on the freedoms that move no inertia."""
    return H + np.diag(unmoved(H))


def without_inertia(tree: Tree, H: np.ndarray) -> str:
    """Return a message that names the freedoms that move no inertia, or ""."""
    names = ", ".join(tree.name(k) for k in np.flatnonzero(unmoved(H)))
    return names and f"H is singular: no mass moves with {names}; q̈ of the others is compared, no own q̈"


def relative(value: np.ndarray, reference: np.ndarray) -> float:
    """Return the largest deviation over the largest entry of the reference."""
    scale = np.abs(reference).max(initial=0.0)
    deviation = np.abs(value - reference).max(initial=0.0)
    return float(deviation / scale) if scale else float(deviation)


def worst(*values: float) -> float:
    """Return the largest value; NaN if any value is NaN."""
    return float(np.max(values))


def condition(H: np.ndarray) -> float:
    """Return the condition number; infinite where H is not finite."""
    return float(np.linalg.cond(H)) if np.isfinite(H).all() else float("inf")


def unit_diagonal(H: np.ndarray) -> np.ndarray:
    """Return H scaled to ones on its diagonal; a diagonal with zeros is left alone."""
    diagonal = np.sqrt(np.abs(np.diag(H)))
    return H / np.outer(diagonal, diagonal) if diagonal.all() else H
