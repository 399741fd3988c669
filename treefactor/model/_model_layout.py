"""Find the entries of kinds of joints in q and v, and the coupling of joints that follow others."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType

import numpy as np

from ..tree.tree import Tree, freedom_names
from .joints import SIZES, Joint
from .mimic import Coupling


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
