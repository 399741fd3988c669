"""Describe the entries of joints in q and v, for `treefactor info` and the headers of generated C."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .joints import SIZES

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
            leader, sign = model.joints[joint.mimic.leader].name, "-" if joint.mimic.offset < 0.0 else "+"
            of_q, of_v = f"follows {leader}: {joint.mimic.ratio:g} q {sign} {abs(joint.mimic.offset):g}", ""
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
