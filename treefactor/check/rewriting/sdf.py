"""Write the dynamics of a URDF as SDF: links with inertias, joints with axes and limits."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np

from ..._util.xml import as_path, file_error, numbers
from ...model import _urdf
from ...model.joints import Inertia
from ._xml_parts import INERTIA, matrix, words

VERSIONS = ("1.6", "1.9")  # poses of links in the frame of the model; poses relative to joints and parents
TYPES = {"revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "spherical": "ball"}
UNLIMITED = "1e16"  # SDF's own default
LIMITS = ("lower", "upper", "effort", "velocity")


def to_sdf(source, version: str = "1.9", floating: bool = False) -> str:
    """Return an SDF with the dynamics of a URDF.

    A link that is called "world", or has the name of a joint, gets another name: `sdf_of` returns it.
    Damping, friction, mimic couplings and shapes are left out.

    Parameters
    ----------
    source : str or os.PathLike
        URDF: its path, or its text.
    version : {"1.9", "1.6"}
        "1.6" has the poses of all links in the frame of the model, "1.9" those of joints relative to their
        parents.
    floating : bool
        Whether the root moves freely; otherwise a fixed joint connects it with the world.

    Raises
    ------
    AdapterError
        If the file cannot be read, is not a URDF, or has a joint of a type that SDF lacks.
    ValueError
        If the version is another one.
    """
    text = source if isinstance(source, str) and source.lstrip().startswith("<") else None
    path = Path("<string>") if text is not None else as_path(source, None)
    return sdf_of(_urdf.read(path, None, {*TYPES, "fixed"}, text), path, version, floating)[0]


def sdf_of(robot: _urdf.Robot, path: Path, version: str, floating: bool) -> tuple[str, dict[str, str]]:
    """Return the text of an SDF, and the new names of links that cannot keep theirs.

    Raises
    ------
    AdapterError
        If a name contains "::", which separates names in SDF.
    ValueError
        If the version is another one.
    """
    if version not in VERSIONS:
        raise ValueError(f"version must be one of {', '.join(VERSIONS)}, got {version!r}")
    names = _names(robot, path)
    top = ET.Element("sdf", version=version)
    model = ET.SubElement(top, "model", name=robot.name or "robot")
    absolute = version == "1.6"
    poses = {robot.root: np.eye(4)}
    joints = {joint.child: joint for joint in robot.joints}
    _link(model, names[robot.root], robot.links[robot.root], None, "")
    if not floating:
        world = ET.SubElement(model, "joint", name=robot.unused("world_joint"), type="fixed")
        ET.SubElement(world, "parent").text = "world"
        ET.SubElement(world, "child").text = names[robot.root]
    for link in _depth_first(robot):
        joint = joints[link]
        place = matrix(joint.R, joint.r)
        poses[link] = poses[joint.parent] @ place
        pose, relative = (poses[link], "") if absolute else (None, joint.name)
        _link(model, names[link], robot.links[link], pose, relative)
        element = _joint(model, joint, names, absolute, path)
        if not absolute:
            _pose(element, place, names[joint.parent])
    ET.indent(top)
    return ET.tostring(top, encoding="unicode"), {link: name for link, name in names.items() if link != name}


def _names(robot: _urdf.Robot, path: Path) -> dict[str, str]:
    """Return the names of links in an SDF, whose links and joints share their names."""
    joints = {joint.name for joint in robot.joints}
    for name in (*robot.links, *joints):
        if "::" in name or (name.startswith("__") and name.endswith("__")):
            raise file_error(path, None, f"SDF reserves names like {name!r}", name)
    taken = {link for link in robot.links if link == "world" or link in joints}
    return {link: robot.unused(link) if link in taken else link for link in robot.links}


def _depth_first(robot: _urdf.Robot) -> list[str]:
    """Return all links but the root, parents before their children."""
    return [joint.child for joint, *_ in _urdf.carried_joints(robot)]


def _link(model: ET.Element, name: str, own: Inertia, pose: np.ndarray | None, relative: str) -> None:
    link = ET.SubElement(model, "link", name=name)
    if pose is not None or relative:
        _pose(link, np.eye(4) if pose is None else pose, relative)
    inertial = ET.SubElement(link, "inertial")
    _pose(inertial, matrix(np.eye(3), own.com), "")
    ET.SubElement(inertial, "mass").text = words([own.mass])
    tensor = ET.SubElement(inertial, "inertia")
    for key, value in zip(INERTIA, own.tensor[np.triu_indices(3)], strict=True):
        ET.SubElement(tensor, key).text = words([value])


def _joint(
    model: ET.Element, joint: _urdf.Joint, names: dict[str, str], older: bool, path: Path
) -> ET.Element:
    """Add a joint; before SDF 1.7 one without bounds is a revolute joint without limits."""
    kind = TYPES.get(joint.type, joint.type)
    kind = "revolute" if older and kind == "continuous" else kind
    element = ET.SubElement(model, "joint", name=joint.name, type=kind)
    ET.SubElement(element, "parent").text = names[joint.parent]
    ET.SubElement(element, "child").text = names[joint.child]
    if _urdf.FREEDOMS[joint.type] == 1:
        axis = ET.SubElement(element, "axis")
        ET.SubElement(axis, "xyz").text = words(joint.axis)
        limit = ET.SubElement(axis, "limit")
        for key, value in _bounds(joint, path).items():
            ET.SubElement(limit, key).text = value
    return element


def _bounds(joint: _urdf.Joint, path: Path) -> dict[str, str]:
    """Return the limits of a joint; SDF has its own numbers for none."""
    written = joint.limit or {}
    bounds = {key: written[key] for key in LIMITS if key in written}
    for key, value in bounds.items():
        if len(numbers(value) or []) != 1:
            reason = f"the limit {key} of joint {joint.name!r} is not a number: {value!r}"
            raise file_error(path, None, reason, joint.name)
    if joint.type == "continuous" or joint.limit is None:
        return bounds | {"lower": f"-{UNLIMITED}", "upper": UNLIMITED}
    return {"lower": "0", "upper": "0"} | bounds


def _pose(element: ET.Element, pose: np.ndarray, relative: str) -> None:
    """Add a ``<pose>`` as the first element: position, and angles roll, pitch and yaw."""
    written = ET.Element("pose", {"relative_to": relative} if relative else {})
    written.text = f"{words(pose[:3, 3])} {words(_urdf.roll_pitch_yaw(pose[:3, :3]))}"
    element.insert(0, written)
