"""Compute the reference's values of every quantity once; they are sent to engines as arrays."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .._util.conventions import pairs, translate
from .._util.protocol import EngineJoint
from ..tolerances import LOW_CENTRE, REGULAR
from .files import file_for, spelling_edits
from .quantities import OF_FRAMES, QUANTITIES, Query, largest_force

OF_GRAVITY = ("bias", "gravity", "inverse dynamics")
SOLVED = ("q̈", "LᵀDL", "L and D")  # quantities that need a regular H
FRAMES = 16  # links whose placements and Jacobians are compared in one state; other states take other links


@dataclass(frozen=True, eq=False)
class Sample:
    """State of the reference with its values by quantity and the sizes that errors are relative to.

    ``frames`` are the links whose placements are compared in it.
    """

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    frames: tuple[str, ...] = ()
    values: dict[str, np.ndarray] = field(default_factory=dict)
    sizes: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Reference:
    """What an engine is compared with, without any engine.

    Attributes
    ----------
    engine : str
        Engine that computed it.
    joints : tuple of EngineJoint
        In Pinocchio's conventions.
    nq, nv : int
    samples : tuple of Sample
    condition : float
        How much rounding grows in q̈: see `_condition`.
    excluded : dict of str to str
        Quantities that the reference does not have, with the reason.
    seed : int
    cancellation : dict of str to float
        By quantity how many times larger than the quantity its terms are: see `_cancellation`.
    """

    engine: str
    joints: tuple[EngineJoint, ...]
    nq: int
    nv: int
    samples: tuple[Sample, ...]
    condition: float
    excluded: dict[str, str]
    seed: int = 0
    cancellation: dict[str, float] = field(default_factory=dict)


def random_of(path: Path, seed: int) -> np.random.Generator:
    """Return random numbers that depend only on the seed and the name of a robot's file."""
    return np.random.default_rng([seed, zlib.crc32(path.name.encode(errors="surrogateescape"))])


def opened(body):
    """Return a context manager that closes the robot of an engine at its end."""
    return closing(body) if hasattr(body, "close") else nullcontext(body)


def compute_reference(engine, name: str, robot, count: int, seed: int, options: frozenset = frozenset()):
    """Compute the values of a reference engine at random states of a robot.

    The states depend only on the seed and the name of the robot's file. The engine loads the file with its
    numbers plainly written, so that no peculiarity of its reader counts as right. Raises AdapterError where
    the engine refuses the robot.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(engine.load(_path(engine, robot, folder), robot.floating, robot.gravity, options)) as body,
    ):
        joints, base = tuple(engine.joints(body)), engine.base(body)
        nq = max((joint.q.stop for joint in joints), default=0)
        nv = max((joint.v.stop for joint in joints), default=0)
        frames = tuple(engine.frames(body))
        rng = random_of(robot.path, seed)
        samples, condition, cancellation = [], 1.0, dict[str, float]()
        excluded: dict[str, str] = {}
        joint_pairs = pairs(joints, joints, base)
        for k in range(count):
            sample = _sample(joints, nq, nv, rng, _chosen(frames, k, count))
            translation = translate(joint_pairs, base, (nq, nv, nv), sample.q, sample.v)
            query = Query(engine, body, translation, sample, joints, {})
            _evaluate(query, name, excluded)
            sample.sizes.update(_sizes(sample))
            condition = max(condition, _condition(sample))
            for quantity, ratio in _cancellation(sample).items():
                cancellation[quantity] = max(ratio, cancellation.get(quantity, 1.0))
            samples.append(sample)
    if nv == 0:
        excluded |= dict.fromkeys((*SOLVED, "H", "bias", "gravity"), "no joint moves")
    elif condition > REGULAR:
        excluded |= dict.fromkeys(SOLVED, singular(samples[0].values["H"], joints))
    return Reference(name, joints, nq, nv, tuple(samples), condition, excluded, seed, cancellation)


def _evaluate(query: Query, name: str, excluded: dict[str, str]) -> None:
    """Compute all values at a sample, or put the reason why one is missing among those excluded."""
    for quantity in QUANTITIES.values():
        try:
            value = quantity.ask(query)
        except Exception as error:  # the reference lacks this quantity
            excluded[quantity.name] = f"{name}: {' '.join(str(error).split())}"
            continue
        if value is None:
            excluded[quantity.name] = f"not computed by {name}"
        elif not (np.isfinite(value).all() or quantity.name in OF_FRAMES):  # whose NaN mark unknown links
            excluded[quantity.name] = f"{name} computes a value that is not finite"
        else:
            query.sample.values[quantity.name] = value
    if "centre of mass" in excluded:  # which the angular momentum is about
        excluded.setdefault("momentum", excluded["centre of mass"])


def _path(engine, robot, folder: str) -> Path:
    """Return the file that the reference loads."""
    return file_for(robot, engine.READS, spelling_edits(robot), Path(folder))[0]


def singular(H: np.ndarray, joints: Sequence[EngineJoint]) -> str:
    """Return the reason for which a robot has no acceleration."""
    rows = np.flatnonzero(np.diag(H) == 0.0)
    names = [joint.name for joint in joints if any(joint.v.start <= row < joint.v.stop for row in rows)]
    return f"H is singular: no mass moves with {', '.join(names)}" if names else "H is singular"


def _chosen(frames: Sequence[str], k: int, count: int) -> tuple[str, ...]:
    """Return at most FRAMES names for sample k, spread over the file; all samples take the last one."""
    if len(frames) <= FRAMES:
        return tuple(frames)
    step = (len(frames) - 1) / (FRAMES - 1)
    places = [int(step * (place + k / count)) for place in range(FRAMES - 1)]
    return tuple(frames[place] for place in (*places, len(frames) - 1))


def _sample(
    joints: Sequence[EngineJoint], nq: int, nv: int, rng: np.random.Generator, frames: tuple[str, ...]
) -> Sample:
    """Return a random state: normal positions, velocities, accelerations and forces."""
    q = np.zeros(nq)
    for joint in joints:
        size, x = joint.q.stop - joint.q.start, rng.normal(size=joint.q.stop - joint.q.start)
        unit = {"free": slice(3, 7), "spherical": slice(0, 4), "planar": slice(2, 4)}.get(joint.kind)
        if joint.kind == "revolute" and size == 2:
            unit = slice(0, 2)
        if unit is not None:
            x[unit] /= np.linalg.norm(x[unit])
        q[joint.q] = x
    return Sample(q, *rng.normal(size=(3, nv)), frames)


def _sizes(sample: Sample) -> dict[str, float]:
    """Return the size of every quantity, to which errors are relative."""
    sizes = {}
    H = sample.values.get("H", np.zeros((0, 0)))
    scale = float(np.abs(H).max(initial=0.0)) or 1.0
    for name, value in sample.values.items():
        largest = float(np.abs(value).max(initial=0.0)) if value.size else 1.0
        if QUANTITIES[name].unit == "force":
            largest = largest_force(scale, value, sample.v)
        elif QUANTITIES[name].unit == "position":
            largest = max(largest, 1.0)
        sizes[name] = largest or 1.0
    if "energies" in sizes:  # of opposite signs, they cancel
        sizes["energies"] = max(sizes["energies"], sizes.get("gravity", 0.0))
    return sizes


def _cancellation(sample: Sample) -> dict[str, float]:
    """Return by quantity how many times larger than its size its terms are, at least 1.

    Moments of gravity about an axis cancel where the mass lies on it, and so do the accelerations that the
    joints of a chain cause.
    """
    reach = _reach(sample)
    terms = dict.fromkeys(OF_GRAVITY, _weight(sample) * reach)
    terms["J̇v"] = float(np.abs(sample.v).sum() * np.abs(sample.v).max(initial=0.0) * reach)
    return {name: max(1.0, terms[name] / sample.sizes[name]) for name in terms.keys() & sample.sizes.keys()}


def _reach(sample: Sample) -> float:
    """Return the largest coordinate of the links compared (m), 0 if the reference places none."""
    places = sample.values.get("placements", np.zeros((0, 3, 4)))[:, :, 3]
    return float(np.nanmax(np.abs(places), initial=0.0))


def _weight(sample: Sample) -> float:
    """Return the weight of the robot (N), from its potential energy and the height of its centre of mass.

    0 where that height is 0 or the reference has neither.
    """
    if not {"energies", "centre of mass"} <= sample.values.keys():
        return 0.0
    height = abs(float(sample.values["centre of mass"][2]))
    return abs(float(sample.values["energies"][1])) / height if height > LOW_CENTRE else 0.0


def _condition(sample: Sample) -> float:
    """Return how much rounding of H and of forces grows in q̈, at least 1; infinite where H is singular.

    It is the condition number of H scaled to a unit diagonal or, where forces dwarf the smallest inertias,
    the error of q̈ for an error of 1 of the largest force.
    """
    H = sample.values.get("H")
    if H is None or not H.size:
        return 1.0
    roots = np.sqrt(np.abs(np.diag(H)))
    if not roots.all():
        return np.inf
    condition = float(np.linalg.cond(H / np.outer(roots, roots)))
    if condition > REGULAR or "q̈" not in sample.values:
        return condition
    force = max(sample.sizes["bias"], float(np.abs(sample.tau).max()))
    grown = np.abs(roots[:, None] * np.linalg.inv(H)).sum(axis=1).max() * force
    return max(condition, float(grown / np.abs(roots * sample.values["q̈"][0]).max()))
