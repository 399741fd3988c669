"""Convert URDFs into joints and frames of a model, without any engine and without meshes.

`_urdf_events` reads most files sooner. This module reads all, and says what is wrong with a file.

The standard library parses the XML: yourdfpy, urchin and urdf_parser_py reject some bundled URDFs that
Pinocchio accepts, with errors that name neither file nor joint.
"""

from __future__ import annotations

import textwrap
import warnings
from pathlib import Path
from typing import Literal

import numpy as np

from .._util.messages import received
from .._util.urdf_numbers import plain
from .._util.xml import (
    as_path,
    content_of,
    fault_of_number,
    line_of,
    numbers,
    own_entities,
    part_error,
    shown,
)
from ..exceptions import AdapterError, InvalidModelError
from . import _urdf
from ._urdf_events import BOUNDED, DIRECTED, KINDS
from .frames import Frame
from .joints import AXES, Inertia, Joint, Mimic

Parts = tuple[list[Joint], list[Frame], str]  # joints and frames of a robot, and its name


def read(path, floating: bool = False, mimic: bool = False) -> Parts:
    """Read the joints and frames of a URDF file and the name of the robot: see `Model.from_urdf`."""
    return _read(as_path(path, None), None, floating, mimic)


def read_text(text: str, floating: bool = False, mimic: bool = False) -> Parts:
    """Read the joints and frames of a URDF text and the name of the robot: see `Model.from_urdf_string`."""
    if not isinstance(text, str):
        raise AdapterError(f"text must be a str with the XML of a URDF, got {received(text)}")
    if not text.lstrip("\ufeff \t\r\n").startswith("<"):
        shown = textwrap.shorten(text, 60)
        raise AdapterError(
            f"text must be the XML of a URDF, got {shown!r}: Model.from_urdf(path) reads a file"
        )
    return _read(Path("<string>"), text.lstrip("\ufeff"), floating, mimic)


def _read(path: Path, text: str | None, floating: bool, mimic: bool) -> Parts:
    """Return the joints, sorted by name within a parent link, the frames, and the name of the robot."""
    whole = _urdf.read(path, None, {*KINDS, "fixed"}, text)
    _warn_of_other_readings(path, whole, content_of(path, None) if text is None else text)
    whole.joints.sort(key=lambda joint: joint.name)
    robot = _urdf.without_fixed_joints(whole)
    base = Joint("root_joint", "freeflyer", inertia=robot.links[robot.root], body=robot.root)
    joints = [base] if floating else []
    carrier = {robot.root: len(joints) - 1}
    carrier |= {joint.child: k for k, joint in enumerate(robot.joints, len(joints))}
    number = {joint.name: carrier[joint.child] for joint in robot.joints}
    try:
        for joint in robot.joints:
            follows = _mimic(path, joint, number) if mimic and joint.mimic is not None else None
            joints.append(joint_of(path, joint, carrier[joint.parent], robot.links[joint.child], follows))
        return joints, _frames(whole, carrier), robot.name
    except InvalidModelError as error:
        raise InvalidModelError(f"{path}: {error}", error.joint) from None


def _warn_of_other_readings(path: Path, robot: _urdf.Robot, content: str | bytes) -> None:
    """Warn the caller of `Model.from_urdf` where Pinocchio reads other inertias, or knows no entities."""
    for entity, (value, line) in own_entities(content).items():
        warnings.warn(
            f"{path}: line {line}: &{entity}; is read as {shown(value)}, but Pinocchio replaces no entities, "
            "and takes numbers with them as zero or refuses the file: write the text itself",
            stacklevel=6,
        )
    for name, (tag, key, written) in robot.dropped.items():
        words = plain(written or "").split(" ")
        value = " ".join(word if shown(word) == repr(word) else repr(float(word)) for word in words)
        what = f"<{tag}> lacks {key}, which" if written is None else f"<{tag} {key}={shown(written)}>"
        lost = "tensor" if tag == "inertia" else "mass and tensor"
        warnings.warn(
            f"{path}: link {name!r} on line {line_of(content, name, 'link')}: {what} is read as {value}, but "
            f"Pinocchio reads no number there and takes the {lost} of the link as zero: write "
            f'{key}="{value}"',
            stacklevel=6,
        )


def _frames(robot: _urdf.Robot, number: dict[str, int]) -> list[Frame]:
    """Return a frame for the base and every joint and link, in Pinocchio's order.

    ``number`` holds the joint of every link that is carried by none.
    """
    base = number[robot.root]
    named = any(joint.name == "universe" and joint.type == "fixed" for joint in robot.joints)
    frames = [Frame("universe (base)" if named else "universe", -1, type="fixed_joint")]
    if base >= 0:
        frames.append(Frame("root_joint", base, type="joint", parent=frames[0].name))
    frames.append(Frame(robot.root, base, type="body", parent=frames[-1].name))
    for joint, carrier, R, r in _urdf.carried_joints(robot):
        if joint.type == "fixed":
            own = Frame(joint.name, number[carrier], R, r, "fixed_joint", joint.parent)
        else:
            own = Frame(joint.name, number[joint.child], type="joint", parent=joint.parent)
        frames += [own, own.renamed(joint.child, "body", joint.name)]
    return frames


def joint_of(path: Path, joint: _urdf.Joint, parent: int, inertia: Inertia, mimic: Mimic | None) -> Joint:
    """Return a joint of the model for a joint of the URDF."""
    kind, limits = KINDS[joint.type], {}
    if mimic and kind == "continuous":
        kind = "revolute"  # equal, since a mimic joint has no entry in q
    if joint.type in BOUNDED and joint.limit is not None:
        limits = {key: _number(path, joint, "limit", key, "0") for key in ("lower", "upper")}
    if joint.type in DIRECTED and joint.limit is not None:
        limits |= {
            f"{key}_limit": _number(path, joint, "limit", key, "inf") for key in ("effort", "velocity")
        }
    axis = joint.axis if kind in AXES else None
    own = {"inertia": inertia, "mimic": mimic, "body": joint.child}
    return Joint(joint.name, kind, parent, joint.R, joint.r, axis, **own, **limits)


def _mimic(path: Path, joint: _urdf.Joint, number: dict[str, int]) -> Mimic:
    """Return how a joint follows its leader; raise AdapterError unless the leader moves."""
    leader = joint.mimic.get("joint", "")
    if leader not in number:
        reason = f"joint {joint.name!r} follows {leader!r}, which is not a joint that moves"
        raise part_error(path, None, reason, joint.name, tag="joint")
    ratio = _number(path, joint, "mimic", "multiplier", "1")
    return Mimic(number[leader], ratio, _number(path, joint, "mimic", "offset", "0"))


def _number(path: Path, joint: _urdf.Joint, tag: Literal["limit", "mimic"], key: str, default: str) -> float:
    """Return a number among the attributes of an element of a joint."""
    text = getattr(joint, tag).get(key, default)
    values = numbers(text)
    if values is None or len(values) != 1 or np.isnan(values[0]):
        reason = fault_of_number("joint", joint.name, tag, key, text)
        raise part_error(path, None, reason, joint.name, tag="joint")
    return values[0]
