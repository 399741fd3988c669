"""Cross-validation: the same H and q̈ from every engine, or the reason why not.

Pinocchio is the reference. Every other engine is asked in its own conventions and translated by its
adapter's T with v_pin = T v_engine and c with a_pin = T a_engine + c:

    H_pin = T^-T H T^-1        q̈_pin = T q̈ + c
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib import import_module

import numpy as np

from . import tolerances
from .exceptions import AdapterError, NotPositiveDefiniteError
from .ltdl import factor
from .robots import Robot
from .tree import Tree

ENGINES = ("pinocchio", "pybullet")

AGREES, EXPLAINED, DISAGREES, CANNOT_LOAD = "agrees", "explained", "disagrees", "cannot load"
GOOD = (AGREES, EXPLAINED)


@dataclass(frozen=True)
class Row:
    """What one engine says about one robot, worst over the samples.

    Attributes
    ----------
    robot, base, engine : str
    n : int or None
        Freedoms.
    density : float or None
        Share of non-zeros in H.
    condition : float or None
        Largest condition number of H.
    error_h : float or None
        ``max|H - H_ref| / max|H_ref|``; the reference is Pinocchio's H, for Pinocchio itself the columns
        RNEA(e_k) - RNEA(0).
    error_factor : float or None
        ``max|L^T D L - H| / max|H|``.
    error_qdd : float or None
        Our q̈ = H^-1 (tau - bias), from this engine's H and bias, against Pinocchio's ABA, relative.
    error_step : float or None
        The engine's own stepped velocity difference against Pinocchio's ABA, relative.
    verdict : {"agrees", "explained", "disagrees", "cannot load"}
    reason : str
        Why, where the verdict is not "agrees".
    """

    robot: str
    base: str
    engine: str
    n: int | None = None
    density: float | None = None
    condition: float | None = None
    error_h: float | None = None
    error_factor: float | None = None
    error_qdd: float | None = None
    error_step: float | None = None
    verdict: str = CANNOT_LOAD
    reason: str = ""

    def as_dict(self) -> dict:
        """Plain values, for JSON."""
        return asdict(self)


@dataclass
class Sample:
    """One state and what Pinocchio's own algorithms make of it."""

    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    H: np.ndarray
    bias: np.ndarray
    qdd: np.ndarray  # by ABA


@dataclass
class Errors:
    """Deviations of one engine at one sample; see `Row`."""

    H: float
    factor: float
    qdd: float
    step: float | None = None


def check(
    robots: Iterable[Robot], engines: Iterable[str] = ENGINES, samples: int = 3, seed: int = 0
) -> Iterator[list[Row]]:
    """Compare the engines on every robot.

    Parameters
    ----------
    robots : iterable of Robot
    engines : iterable of str
        Among "pinocchio" and "pybullet".
    samples : int
        Random states for each robot.
    seed : int
        The states depend on it and on the robot's name alone.

    Yields
    ------
    list of Row
        For one robot after another, a row for every engine.

    Raises
    ------
    AdapterError
        Where an engine is not installed.
    """
    engines = tuple(engines)
    adapters = {name: import_module(f".adapters.{name}_", __package__) for name in ("pinocchio", *engines)}
    for robot in robots:
        rng = np.random.default_rng([seed, zlib.crc32(robot.name.encode())])
        yield _check_robot(robot, engines, adapters, samples, rng)


def _check_robot(robot: Robot, engines, adapters, samples: int, rng) -> list[Row]:
    """Rows of all engines for one robot; an engine that fails does not touch the others."""
    try:
        model = adapters["pinocchio"].load(robot.path, robot.floating)
        states = _pinocchio_samples(adapters["pinocchio"], model, samples, rng)
    except (AdapterError, NotPositiveDefiniteError) as error:
        reason = f"no reference: {error}"
        rows = [Row(robot.name, robot.base, engine, reason=reason) for engine in engines]
        return [
            Row(robot.name, robot.base, "pinocchio", reason=str(error)) if row.engine == "pinocchio" else row
            for row in rows
        ]
    compare = {"pinocchio": _compare_pinocchio}
    rows = []
    for engine in engines:
        try:
            tree, errors = compare.get(engine, _compare_engine)(adapters[engine], robot, model, states)
        except (AdapterError, NotPositiveDefiniteError) as error:
            rows.append(Row(robot.name, robot.base, engine, reason=str(error)))
        else:
            rows.append(_judge(robot, engine, tree, states, errors))
    return rows


def _pinocchio_samples(adapter, model, count: int, rng) -> list[Sample]:
    """Random states with H, bias and q̈ by Pinocchio."""
    pin = adapter.pin
    if not model.nv:
        raise AdapterError("no moving joint", engine="pinocchio")
    massless = adapter.massless_joints(model)
    if massless:
        raise AdapterError(
            f"H is singular: no mass moves with joint {', '.join(massless)}", "pinocchio", joint=massless[0]
        )
    data = model.createData()
    result = []
    for _ in range(count):
        q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
        v, tau = rng.normal(size=(2, model.nv))
        result.append(
            Sample(
                q,
                v,
                tau,
                H=adapter.mass_matrix(model, data, q),
                bias=np.array(pin.nle(model, data, q, v)),
                qdd=np.array(pin.aba(model, data, q, v, tau)),
            )
        )
    return result


def _compare_pinocchio(adapter, robot: Robot, model, states: list[Sample]) -> tuple[Tree, list[Errors]]:
    """CRBA against RNEA, our q̈ against ABA."""
    pin, tree, data = adapter.pin, adapter.tree(model), model.createData()
    zero = np.zeros(model.nv)
    errors = []
    for s in states:
        still = pin.rnea(model, data, s.q, zero, zero)
        columns = [pin.rnea(model, data, s.q, zero, e) - still for e in np.eye(model.nv)]
        f = factor(s.H, tree)
        errors.append(
            Errors(
                H=relative(s.H, np.transpose(columns)),
                factor=relative(f.reconstruct(), s.H),
                qdd=relative(f.solve(s.tau - s.bias), s.qdd),
            )
        )
    return tree, errors


def _compare_engine(adapter, robot: Robot, model, states: list[Sample]) -> tuple[Tree, list[Errors]]:
    """H and q̈ of another engine, translated, against Pinocchio's."""
    errors = []
    with closing(adapter.load(robot.path, robot.floating, gravity=model.gravity.linear)) as body:
        tree = adapter.tree(body)
        for s in states:
            q, v = adapter.from_pinocchio(body, model, s.q, s.v)
            T = adapter.transform(body, model, s.q)
            c = adapter.acceleration_offset(body, model, s.q, s.v)
            T_inv = np.linalg.inv(T)
            tau = T.T @ s.tau
            H = adapter.mass_matrix(body, q)
            f = factor(H, tree)
            qdd = f.solve(tau - adapter.bias(body, q, v))
            step = adapter.stepped_acceleration(body, q, v, tau)
            errors.append(
                Errors(
                    H=relative(T_inv.T @ H @ T_inv, s.H),
                    factor=relative(f.reconstruct(), H),
                    qdd=relative(T @ qdd + c, s.qdd),
                    step=relative(T @ step + c, s.qdd),
                )
            )
    return tree, errors


def _judge(robot: Robot, engine: str, tree: Tree, states: list[Sample], errors: list[Errors]) -> Row:
    """The row of an engine that answered: its worst errors, and whether they are within tolerance."""
    condition = max(np.linalg.cond(s.H) for s in states)

    def worst(pick: Callable[[Errors], float | None]) -> float | None:
        values = [pick(e) for e in errors]
        return None if None in values else float(max(values))

    found = {
        "H": worst(lambda e: e.H),
        "factor": worst(lambda e: e.factor),
        "q̈": worst(lambda e: e.qdd),
        "step": worst(lambda e: e.step),
    }
    allowed = tolerances.cross_validation(engine, tree.n, condition)
    beyond = [
        f"{what} by {found[what]:.1e}" for what in found if found[what] and not found[what] <= allowed[what]
    ]
    return Row(
        robot.name,
        robot.base,
        engine,
        n=tree.n,
        density=tree.density,
        condition=float(condition),
        error_h=found["H"],
        error_factor=found["factor"],
        error_qdd=found["q̈"],
        error_step=found["step"],
        verdict=DISAGREES if beyond else AGREES,
        reason=", ".join(beyond),
    )


def relative(value: np.ndarray, reference: np.ndarray) -> float:
    """Largest deviation over the largest entry of the reference."""
    scale = np.abs(reference).max(initial=0.0)
    deviation = np.abs(value - reference).max(initial=0.0)
    return float(deviation / scale) if scale else float(deviation)
