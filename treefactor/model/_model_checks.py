"""Check that joints, loops and frames form a model, and replace names of joints by numbers."""

from __future__ import annotations

from dataclasses import replace

from .._util.messages import received, similar
from ..exceptions import InvalidModelError
from .joints import LEADERS, Joint, Loop


def numbers_of(joints: tuple[Joint, ...]) -> dict[str, int]:
    """Return the numbers of joints by their own names and, if these differ, by the names of their bodies."""
    bodies = {joint.body: i for i, joint in enumerate(joints) if joint.body}
    return bodies | {joint.name: i for i, joint in enumerate(joints)}


def numbered(joints: tuple[Joint, ...], loops: tuple[Loop, ...]) -> tuple[tuple, tuple]:
    """Return joints and loops with names of other joints replaced by numbers."""
    for what, kind, given in (("joints", Joint, joints), ("loops", Loop, loops)):
        for i, one in enumerate(given):
            if not isinstance(one, kind):
                raise InvalidModelError(f"{what}[{i}] is not a {kind.__name__} but {received(one)}")
    numbers = numbers_of(joints)

    def number(given, what: str, name: str) -> int:
        if isinstance(given, str) and given not in numbers:
            reason = f"{given!r} is not a joint or body of the model{similar(given, numbers)}"
            raise InvalidModelError(f"{what}: {reason}", joint=name)
        return numbers[given] if isinstance(given, str) else given

    def joint_numbered(joint: Joint) -> Joint:
        what, mimic = f"joint {joint.name!r}", joint.mimic
        if mimic and isinstance(mimic.leader, str):
            mimic = replace(mimic, leader=number(mimic.leader, f"{what} follows another", joint.name))
        parent = number(joint.parent, f"{what}, its parent", joint.name)
        same = parent == joint.parent and mimic is joint.mimic
        return joint if same else replace(joint, parent=parent, mimic=mimic)

    def loop_numbered(loop: Loop) -> Loop:
        ends = [number(end, f"loop {loop.name!r}", loop.name) for end in (loop.first, loop.second)]
        return loop if ends == [loop.first, loop.second] else replace(loop, first=ends[0], second=ends[1])

    return tuple(map(joint_numbered, joints)), tuple(map(loop_numbered, loops))


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
