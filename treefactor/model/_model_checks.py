"""Check that joints, loops and frames form a model, and replace names of joints by numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import NoneType

import numpy as np

from .._util.messages import not_a_sequence, received, similar
from ..exceptions import DtypeError, InvalidModelError
from ._building import are_consistent
from .frames import Frame, checked_frames, frames_by_name, named_frame
from .joints import LEADERS, Joint, Loop


def require_flags(**flags) -> None:
    """Raise DtypeError if one of these arguments is not a bool."""
    for name, value in flags.items():
        if not isinstance(value, bool | np.bool_):
            advice = ": no meshes are read, so leave package directories out" if name == "floating" else ""
            raise DtypeError(f"{name} must be True or False, got {received(value)}{advice}")


def numbers_of(joints: tuple[Joint, ...]) -> dict[str, int]:
    """Return the numbers of joints by their own names and, if these differ, by the names of their bodies."""
    bodies = {joint.body: i for i, joint in enumerate(joints) if joint.body}
    return bodies | {joint.name: i for i, joint in enumerate(joints)}


def parts_of(joints, loops, frames) -> tuple[tuple[Joint, ...], tuple[Loop, ...], tuple[Frame, ...] | None]:
    """Return the joints, loops and frames of a model, checked, with names of joints replaced by numbers."""
    if not loops and type(joints) in (list, tuple) and type(frames) in (list, tuple, NoneType):
        joints, frames = tuple(joints), None if frames is None else tuple(frames)
        if are_consistent(joints, frames):
            return joints, (), frames
    joints = numbered_joints(_sequence_of(Joint, joints, "joints"))
    require_tree(joints)
    numbers = numbers_of(joints)
    if frames is not None:
        frames = checked_frames(_sequence_of(Frame, frames, "frames"), numbers, len(joints))
    loops = numbered_loops(_sequence_of(Loop, loops, "loops"), numbers, frames_by_name(frames or ()))
    require_ends(loops, {joint.name for joint in joints}, len(joints))
    return joints, loops, frames


def numbered_joints(joints: tuple[Joint, ...]) -> tuple[Joint, ...]:
    """Return joints with names of other joints replaced by numbers."""
    numbers = numbers_of(joints)

    def number(given, what: str, name: str) -> int:
        if isinstance(given, str) and given not in numbers:
            reason = f"{given!r} is not a joint or body of the model{similar(given, numbers)}"
            raise InvalidModelError(f"{what}: {reason}", joint=name)
        return numbers[given] if isinstance(given, str) else given

    def one_numbered(joint: Joint) -> Joint:
        what, mimic = f"joint {joint.name!r}", joint.mimic
        if mimic and isinstance(mimic.leader, str):
            mimic = replace(mimic, leader=number(mimic.leader, f"{what} follows another", joint.name))
        parent = number(joint.parent, f"{what}, its parent", joint.name)
        same = parent == joint.parent and mimic is joint.mimic
        return joint if same else replace(joint, parent=parent, mimic=mimic)

    return tuple(map(one_numbered, joints))


def numbered_loops(loops: tuple[Loop, ...], numbers: dict[str, int], frames: dict) -> tuple[Loop, ...]:
    """Return loops with names of joints replaced by numbers, and ends at frames placed on their joints."""

    def end(loop: Loop, given, R: np.ndarray, p: np.ndarray) -> tuple:
        if not isinstance(given, str | Frame):
            return given, R, p
        if isinstance(given, str) and given in numbers:
            return numbers[given], R, p
        try:
            own = (
                given
                if isinstance(given, Frame)
                else named_frame(given, frames, numbers, argument=f"loop {loop.name!r}:")
            )
        except InvalidModelError as error:
            raise InvalidModelError(str(error), joint=loop.name) from None
        joint = numbers.get(own.joint, own.joint) if isinstance(own.joint, str) else own.joint
        if isinstance(joint, str):
            reason = f"frame {own.name!r} is on {joint!r}, not a joint or body of the model"
            raise InvalidModelError(f"loop {loop.name!r}: {reason}{similar(joint, numbers)}", joint=loop.name)
        return joint, own.R @ R, own.p + own.R @ p

    def one_numbered(loop: Loop) -> Loop:
        if not isinstance(loop.first, str | Frame) and not isinstance(loop.second, str | Frame):
            return loop
        first, R1, p1 = end(loop, loop.first, loop.R1, loop.p1)
        second, R2, p2 = end(loop, loop.second, loop.R2, loop.p2)
        return replace(loop, first=first, second=second, R1=R1, p1=p1, R2=R2, p2=p2)

    return tuple(map(one_numbered, loops))


def _sequence_of(kind: type, given, what: str) -> tuple:
    """Return a sequence as a tuple; raise InvalidModelError unless all are of one class."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InvalidModelError(not_a_sequence(what, kind.__name__, given))
    given = tuple(given)
    for i, one in enumerate(given):
        if not isinstance(one, kind):
            raise InvalidModelError(f"{what}[{i}] is not a {kind.__name__} but {received(one)}")
    return given


def require_tree(joints: tuple[Joint, ...]) -> None:
    """Raise InvalidModelError unless parents come first, names differ, and leaders are valid."""
    seen: set[str] = set()
    bodies: set[str] = set()
    for i, joint in enumerate(joints):
        if joint.body in bodies:
            raise InvalidModelError(f"two bodies are called {joint.body!r}", joint=joint.name)
        bodies |= {joint.body} - {""}
        if joint.name in seen:
            raise InvalidModelError(f"two joints are called {joint.name!r}", joint=joint.name)
        seen.add(joint.name)
        if not -1 <= joint.parent < i:
            raise InvalidModelError(
                f"joint {joint.name!r} is number {i} and has parent {joint.parent}: parents come first",
                joint=joint.name,
            )
        if joint.mimic is None:
            continue
        leader = joints[joint.mimic.leader] if 0 <= joint.mimic.leader < len(joints) else None
        if leader is None or leader.mimic or leader.kind not in LEADERS:
            raise InvalidModelError(
                f"joint {joint.name!r} follows joint {joint.mimic.leader}, which must be one of "
                f"{', '.join(LEADERS)} that follows none",
                joint=joint.name,
            )


def require_ends(loops: tuple[Loop, ...], names: set[str], njoints: int) -> None:
    """Raise InvalidModelError if a loop shares its name or ends at a joint that does not exist."""
    seen = set(names)
    for loop in loops:
        if loop.name in seen:
            raise InvalidModelError(f"two joints or loops are called {loop.name!r}", joint=loop.name)
        seen.add(loop.name)
        for joint in (loop.first, loop.second):
            if not -1 <= joint < njoints:
                raise InvalidModelError(
                    f"loop {loop.name!r} ends at joint {joint}, there are {njoints} and the base, -1",
                    joint=loop.name,
                )
