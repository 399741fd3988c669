"""Find and describe the entries of joints in q and v, and the coupling of joints that follow others."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..tree.tree import Tree, freedom_names
from .joints import SIZES, Joint
from .mimic import Coupling

if TYPE_CHECKING:
    from .model import Model

ENTRIES = {  # what the entries of a kind are, in q and in v
    "revolute": ("angle", "its rate"),
    "continuous": ("cos, sin of the angle", "rate of the angle"),
    "prismatic": ("distance", "its rate"),
    "helical": ("angle", "its rate"),
    "universal": ("two angles", "their rates"),
    "spherical": ("quaternion x y z w", "angular velocity, axes of the body"),
    "planar": ("x, y, cos, sin", "linear and angular velocity, axes of the body"),
    "translation": ("x, y, z", "their rates"),
    "freeflyer": ("position x y z, quaternion x y z w", "linear, then angular velocity, axes of the body"),
}


class JointEntries(NamedTuple):
    """Entries of one joint, as texts such as "q[3:7]" and "quaternion x y z w"."""

    name: str
    kind: str
    q: str
    v: str
    of_q: str
    of_v: str


def described(model: Model) -> list[JointEntries]:
    """Return what the entries of every joint are; those of a mimic joint are its leader's."""
    listed = []
    for joint, q, v in zip(model.joints, model.idx_q, model.idx_v, strict=True):
        nq, nv = SIZES[joint.kind] if joint.mimic is None else SIZES[model.joints[joint.mimic.leader].kind]
        of_q, of_v = ENTRIES[joint.kind]
        if joint.mimic is not None:
            leader = model.joints[joint.mimic.leader].name
            of_q, of_v = f"follows {leader}: {joint.mimic.ratio:g} q + {joint.mimic.offset:g}", ""
        listed.append(
            JointEntries(joint.name, joint.kind, _entries("q", q, nq), _entries("v", v, nv), of_q, of_v)
        )
    return listed


def entry_lines(model: Model) -> tuple[str, ...]:
    """Return a line for every joint with its entries and what these are."""
    joints = described(model)
    q, v = (max((len(getattr(joint, part)) for joint in joints), default=0) for part in "qv")
    return tuple(
        f"{joint.q:{q}}  {joint.v:{v}}  {joint.name}, {joint.kind}: {'; '.join(filter(None, joint[4:]))}"
        for joint in joints
    )


def _entries(letter: str, first: int, count: int) -> str:
    """Return a text for entries of an array, as Python writes it."""
    return f"{letter}[{first}]" if count == 1 else f"{letter}[{first}:{first + count}]"


def coupling_of(joints: tuple[Joint, ...], idx_v: tuple[int, ...], extended: Tree) -> Coupling | None:
    """Return the mimic coupling of all joints to v; None without mimic joints."""
    if not any(joint.mimic for joint in joints):
        return None
    free = [joint for joint in joints if not joint.mimic]
    G, k = np.zeros((extended.n, sum(joint.nv for joint in free))), 0
    for joint, v in zip(joints, idx_v, strict=True):
        count = SIZES[joint.kind][1]
        G[k : k + count, v : v + count] = np.eye(count) * (joint.mimic.ratio if joint.mimic else 1.0)
        k += count
    return Coupling(extended, G, freedom_names([joint.name for joint in free], [joint.nv for joint in free]))


def entries_of(
    joints: tuple[Joint, ...], idx_q: tuple[int, ...], idx_v: tuple[int, ...]
) -> Mapping[str, tuple[np.ndarray, np.ndarray]]:
    """Return by kind the entries of the free joints in q and in v, read-only."""
    ranges_of: dict[str, list] = {}
    for joint, q, v in zip(joints, idx_q, idx_v, strict=True):
        if not joint.mimic:
            ranges_of.setdefault(joint.kind, []).append((range(q, q + joint.nq), range(v, v + joint.nv)))
    made = {
        kind: [np.array(part) for part in zip(*ranges, strict=True)] for kind, ranges in ranges_of.items()
    }
    for part in chain.from_iterable(made.values()):
        part.flags.writeable = False
    return MappingProxyType({kind: (q, v) for kind, (q, v) in made.items()})
