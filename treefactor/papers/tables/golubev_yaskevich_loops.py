"""Compare what programs and matrix loops compute for closed loops, and numeric loops, with other methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from ... import dynamics
from ...codegen.backends.numpy_ import evaluate
from ...codegen.writer import written
from ...constraints import MaximalCoordinates, loop_rows
from ...model.configuration import random_configuration
from ...model.joints import Inertia, Joint
from ...model.mechanisms import MECHANISMS
from ...model.model import Model
from ..textbook import closures, recursions
from .golubev_yaskevich_systems import GENERAL, PAPER, ROUND, by_loop, mechanisms, partition, robot, uneven
from .table import Identity, PaperRow, Table

STATES = 2
ASIDE, OFFSET = "origin of the ring aside", np.array([0.3, 0.0, 0.0])
EXACT, LOOPS = Identity(1e-10), Identity(1e-8)
MATRIX_LOOPS = {
    "stewart": 17096,
    "docking": 26211,
    GENERAL: 26211,
}  # operations over matrices; no row depends on others
KINDS = (  # joints of a tree with every kind that numeric loops know
    *("freeflyer", "revolute", "prismatic", "helical", "continuous", "spherical", "planar", "translation"),
    "universal",
)
X, Y, Z = np.eye(3)
AXES: dict[str, dict] = {  # arguments of those that have axes
    **{"revolute": {"axis": X, "armature": 0.3}, "prismatic": {"axis": Y}, "continuous": {"axis": Y}},
    **{"helical": {"axis": Z, "pitch": 0.3}, "universal": {"axis": (X, Y)}},
}
NUMERIC = {"crba": "H", "bias": "bias forces", "rnea": "forces", "aba": "accelerations"}


def loops() -> Table:
    """Compare accelerations of mechanisms with closed loops by three methods."""
    rows = [row for name, model in closed_models().items() for row in closed(name, model)]
    note = (
        "Largest deviations over the largest acceleration, in random states with closed loops. Programs: all "
        "axes of the rows in which the reduction can be written. Matrices: loops over full matrices. Both "
        "against maximal coordinates, where every body has six freedoms, and every joint and loop is a "
        "constraint of two bodies."
    )
    return Table(PAPER, "Closed loops: numbers", note, rows)


@cache
def closed_models() -> dict[str, Model]:
    """Return the mechanisms."""
    named = {name: make().model for name, make in MECHANISMS.items()}
    named["docking"] = mechanisms()[ROUND]
    return {**named, GENERAL: mechanisms()[GENERAL], ASIDE: aside(named["docking"])}


def aside(model: Model) -> Model:
    """Return the docking mechanism with the origin of the ring moved along the axis of its last joint."""
    joints = [replace(joint, p=OFFSET) if joint.name == "roll" else joint for joint in model.joints]
    loops = [replace(loop, p2=loop.p2 - OFFSET) for loop in model.loops]
    return Model(joints, model.gravity, name=ASIDE, loops=loops)


def closed(name: str, model: Model) -> list[PaperRow]:
    """Compare the accelerations of one mechanism."""
    choice = partition(model)
    free = [model.tree.names.index(joint) for joint in choice.independent]
    mechanism = MECHANISMS["docking" if name in (GENERAL, ASIDE) else name]()
    given = [state(model, mechanism.random(seed), free, seed) for seed in range(STATES)]
    expected = [accelerations(model, *x) for x in given]
    case = name if name in MECHANISMS else f"docking, {name}"
    rows = []
    for _, function in written(model, choice):
        computed = evaluate(function, *map(np.array, zip(*given, strict=True)))
        what = f"accelerations, program, axes {function.variant.rpartition(', ')[2]!r}"
        rows.append(PaperRow(case, what, apart(computed, expected), LOOPS))
    if name in MATRIX_LOOPS:
        tally: Counter[str] = Counter()
        by_matrices = closures.evaluate(model, by_loop(model), *given[0], tally)
        total = tally.total()
        rows.append(PaperRow(case, "operations over matrices", total, instead=MATRIX_LOOPS[name]))
        rows.append(PaperRow(case, "accelerations, matrices", apart([by_matrices], expected[:1]), LOOPS))
    return rows


def state(model: Model, q: np.ndarray, free: list[int], seed: int) -> tuple[np.ndarray, ...]:
    """Return q, velocities that keep the loops closed, and forces."""
    v, tau = np.random.default_rng(seed).normal(size=(2, model.nv))
    J = loop_rows(model, q).dense()
    follow = np.setdiff1d(np.arange(model.nv), free)
    v[follow] = np.linalg.lstsq(J[:, follow], -J[:, free] @ v[free], rcond=None)[0]
    return q, v, 10.0 * tau


def accelerations(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Return accelerations of the joints in maximal coordinates."""
    mechanism = MaximalCoordinates.from_model(model)
    forces = np.zeros(int(mechanism.freedoms.sum()))  # those of loops come last
    forces[: model.nv] = tau
    return mechanism.accelerations(mechanism.states(q, v), forces).joints[: model.nv]


def numeric() -> Table:
    """Compare numeric loops over bodies, which the programs are counted against, with our kernels."""
    rows = []
    for case, model in {"every kind of joint": every_kind(), "six-legged robot": robot()}.items():
        q = random_configuration(model, np.random.default_rng(0))
        v, x = np.random.default_rng(1).normal(size=(2, model.nv))
        for function, what in NUMERIC.items():
            ours = recursions.evaluate(model, function, q, v, x, Counter())
            rows.append(
                PaperRow(
                    case, f"{what}, {function}", apart([ours], [kernel(model, function, q, v, x)]), EXACT
                )
            )
    note = (
        "Largest deviations over the largest entry, of one random state. Kernels are compiled, and compute "
        "the same functions in another order."
    )
    return Table(PAPER, "Numeric loops: numbers", note, rows)


def kernel(model: Model, function: str, q, v, x) -> np.ndarray:
    """Return the result of our kernel; accelerations by factorizing H, forces by H a and bias forces."""
    H, b = dynamics.crba(model, q), dynamics.bias(model, q, v)
    if function == "crba":
        return dynamics.crba(model, q, layout="packed")
    return {"bias": b, "rnea": H @ x + b, "aba": np.linalg.solve(H, x - b)}[function]


def every_kind() -> Model:
    """Return a tree with every kind of joint, with bodies and frames without symmetry, and with rotors."""
    rng, joints = np.random.default_rng(5), []
    for k, kind in enumerate(KINDS):
        body = uneven(Inertia(rng.uniform(1, 2), rng.normal(size=3), np.diag([3.0, 4.0, 5.0])), rng)
        R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        parent = k - 1 if k % 4 else k // 2 - 1
        given = {"inertia": body, "p": rng.normal(size=3), "R": R * np.linalg.det(R), **AXES.get(kind, {})}
        joints.append(Joint(kind, kind, parent, **given))
    return Model(joints)


def apart(actual: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> float:
    """Return the largest deviation over the largest expected entry."""
    return max(float(np.abs(x - y).max() / np.abs(y).max()) for x, y in zip(actual, expected, strict=True))
