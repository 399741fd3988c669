"""Merge links on fixed joints into their parents, and turn joint frames: steps 5 and 6 of the rewriting."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator
from functools import reduce

import numpy as np

from ...model import _urdf
from ...model.joints import Inertia
from ._urdf_file import UrdfFile
from ._xml_parts import inertial, matrix, set_place

Frames = dict[str, tuple[str, np.ndarray]]  # maps each link to the link that carries it, and its pose there
SHAPES = ("visual", "collision")
UNMOVED = np.eye(4)
WORLD = "world"  # engines take a link of this name for the world itself


def can_turn(joint: _urdf.Joint) -> bool:
    """Return whether a joint has one axis, other than +z."""
    return _urdf.FREEDOMS.get(joint.type) == 1 and joint.axis.tolist() != [0.0, 0.0, 1.0]


def turn_to(axis: np.ndarray) -> np.ndarray:
    """Return a rotation that takes +z to the axis, of unit length; its pitch angle is zero."""
    x, y, _ = axis
    across = np.hypot(x, y)
    first = np.array([-y / across, x / across, 0.0]) if across else np.array([1.0, 0.0, 0.0])
    return np.column_stack([first, np.cross(axis, first), axis])


def move_frames(file: UrdfFile, merged: Collection[str], turned: Collection[str]) -> Frames:
    """Merge the children of the fixed joints ``merged``, and turn the frames of the joints ``turned``.

    A root called "world" takes the name of the first link that is merged into it.
    """
    frames = _frames(file.robot, merged, turned)
    links, joints = file.names("link"), file.names("joint")
    holders = {carrier: links[link] for link, (carrier, _) in _own(frames)}
    for joint in file.robot.joints:
        element, (carrier, pose) = joints[joint.name], frames[joint.parent]
        if joint.name in merged:
            file.top.remove(element)
            continue
        for parent in element.iterfind("parent"):
            parent.set("link", carrier)
        turn = _turn(joint, turned)
        if pose is not UNMOVED or turn is not None:
            place = pose @ matrix(joint.R, joint.r)
            set_place(element, place[:3, :3] if turn is None else place[:3, :3] @ turn, place[:3, 3])
        if turn is not None:
            axis = element.find("axis")
            axis = ET.SubElement(element, "axis") if axis is None else axis
            axis.attrib = {"xyz": "0 0 1"}
    carried: dict[str, list[str]] = {carrier: [] for carrier in holders}
    for link, (carrier, pose) in frames.items():
        carried[carrier].append(link)
        if pose is not UNMOVED:
            _move_shapes(file, links[link], pose)
    for carrier, members in carried.items():
        _gather(file, holders[carrier], [(links[link], frames[link][1], link) for link in members])
        holders[carrier].set("name", carrier)
    _rename_references(file, {link: carrier for link, (carrier, _) in frames.items() if link != carrier})
    _remove_transmissions(file, merged)
    return frames


def rename_world(file: UrdfFile, frames: Frames) -> Frames:
    """Give a root called "world" another name; return where every link is then."""
    links = file.names("link")
    if WORLD not in links or frames[file.robot.root][0] != WORLD:
        return frames
    taken = links.keys() | file.names("joint").keys()
    name = f"{WORLD}_link"
    while name in taken:
        name += "_"
    links[WORLD].set("name", name)
    for parent in file.top.iterfind(f"joint/parent[@link='{WORLD}']"):
        parent.set("link", name)
    _rename_references(file, {WORLD: name})
    return {link: (name if own == WORLD else own, pose) for link, (own, pose) in frames.items()}


def _frames(robot: _urdf.Robot, merged: Collection[str], turned: Collection[str]) -> Frames:
    """Return where every link is in the rewritten file, a parent before its children."""
    below = _urdf.joints_by_parent(robot.joints)
    root = robot.root
    if root == WORLD:
        root = next((joint.child for joint in below.get(root, []) if joint.name in merged), root)
    frames: Frames = {robot.root: (root, UNMOVED)}
    waiting = [robot.root]
    while waiting:
        link = waiting.pop()
        for joint in below.get(link, []):
            carrier, pose = frames[link]
            turn = _turn(joint, turned)
            if joint.name in merged:
                frames[joint.child] = carrier, pose @ matrix(joint.R, joint.r)
            else:
                own = UNMOVED if turn is None else matrix(turn.T, np.zeros(3))
                frames[joint.child] = joint.child, own
            waiting.append(joint.child)
    return frames


def _turn(joint: _urdf.Joint, turned: Collection[str]) -> np.ndarray | None:
    return turn_to(joint.axis) if joint.name in turned and can_turn(joint) else None


def _own(frames: Frames) -> Iterator[tuple[str, tuple[str, np.ndarray]]]:
    """Yield the first link of every carrier: the one whose element stays."""
    seen = set()
    for link, (carrier, pose) in frames.items():
        if carrier not in seen:
            seen.add(carrier)
            yield link, (carrier, pose)


def _move_shapes(file: UrdfFile, link: ET.Element, pose: np.ndarray) -> None:
    for tag in SHAPES:
        for shape in link.iterfind(tag):
            _move(file, shape, pose)


def _move(file: UrdfFile, part: ET.Element, pose: np.ndarray) -> None:
    """Write the origin of an inertial or shape for axes in which its link has a pose."""
    place = pose @ matrix(*file.place(part))
    set_place(part, place[:3, :3], place[:3, 3])


def _gather(file: UrdfFile, holder: ET.Element, members: list[tuple[ET.Element, np.ndarray, str]]) -> None:
    """Move links into the element that carries them: their shapes, and the sum of their inertias.

    A single inertia keeps its tensor as written, in axes of its own.
    """
    solid = [member for member in members if _has_inertia(file.robot.links[member[2]])]
    if len(solid) > 1:
        moved = [file.robot.links[link].moved(pose[:3, :3], pose[:3, 3]) for _, pose, link in solid]
        _set_inertial(holder, inertial(reduce(Inertia.__add__, moved)))
    elif solid and (solid[0][0] is not holder or solid[0][1] is not UNMOVED):
        element, pose, _ = solid[0]
        for own in element.findall("inertial")[:1]:
            _move(file, own, pose)
            _set_inertial(holder, own)
    for element, _, _ in members:
        if element is not holder:
            holder.extend([child for child in element if child.tag != "inertial"])
            file.top.remove(element)


def _has_inertia(own: Inertia) -> bool:
    return bool(own.mass or own.tensor.any())


def _set_inertial(link: ET.Element, own: ET.Element) -> None:
    for element in link.findall("inertial"):
        link.remove(element)
    link.insert(0, own)


def _remove_transmissions(file: UrdfFile, merged: Collection[str]) -> None:
    """Remove the transmissions of joints that are no more."""
    for part in file.top.findall("transmission"):
        if any(joint.get("name") in merged for joint in part.iterfind("joint")):
            file.top.remove(part)


def _rename_references(file: UrdfFile, names: dict[str, str]) -> None:
    """Let other elements of the robot refer to the links that carry those merged."""
    for part in file.top:
        if part.tag in ("link", "joint") or not names:
            continue
        for element in part.iter():
            for key in {"link", "reference"} & element.attrib.keys():
                element.set(key, names.get(element.attrib[key], element.attrib[key]))
