"""Reduce a URDF to its dynamics: links with their inertias, joints, and what else an engine reads.

Collision shapes are left out, or all of them except meshes. Engines then load no mesh, and neither fail
at nor warn about limits, calibrations and extensions. Numbers are copied as written, so that the engine
parses them; a number that is not finite is refused here, because some engines ignore it.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from .._util.urdf_numbers import INERTIAL, SEVERAL, dropped
from .._util.urdf_numbers import plain as plain_numbers
from .._util.xml import NOT_WELL_FORMED, elements, file_error, numbers, part_error, require_numbers

JOINT_PARTS = {"origin", "parent", "child", "axis", "dynamics"}
AXIAL = {"revolute", "continuous", "prismatic"}


def require_complete(path: Path, engine: str | None) -> None:
    """Raise AdapterError for a URDF whose inertias or axes Pinocchio silently drops or reads as zero.

    Other faults are left to the engine.
    """
    with suppress(OSError, *NOT_WELL_FORMED):
        top = elements(path.read_bytes())
        require_numbers(top, path, engine)
        if top.tag == "robot":
            _require_inertias(top, path, engine)
            _require_axes(top, path, engine)


def _require_inertias(top: ET.Element, path: Path, engine: str | None) -> None:
    for link in top.iterfind("link[inertial]"):
        name, inertial = link.get("name", ""), link.find("inertial")
        lost = dropped(inertial)
        for tag, key in INERTIAL:
            element = inertial.find(tag)
            value = None if element is None else element.get(key)
            if value is None and tag == "origin":
                continue
            values = numbers(value or "") or []
            if len(values) != (3 if key in SEVERAL else 1) or (tag, key, value) == lost:
                wrong = "lacks" if value is None else f"holds {value!r} for"
                hint = f", which is read as zero: write {plain_numbers(value)!r}" if value and values else ""
                reason = f"<inertial> of link {name!r} {wrong} <{tag} {key}>{hint}"
                raise part_error(path, engine, reason, name)
            if tag == "mass" and values[0] < 0.0:
                raise part_error(path, engine, f"link {name!r} has a negative mass, {values[0]}", name)


def _require_axes(top: ET.Element, path: Path, engine: str | None) -> None:
    for joint in top.iterfind("joint[axis]"):
        axis = numbers(joint.find("axis").get("xyz", "")) or []
        if joint.get("type") in AXIAL and (len(axis) != 3 or not any(axis)):
            name = joint.get("name", "")
            raise part_error(path, engine, f"the axis of joint {name!r} is not a direction", name)
        # the squares of these lengths neither vanish nor overflow
        if joint.get("type") in AXIAL and not 1e-150 < max(map(abs, axis)) < 1e150:
            name, length = joint.get("name", ""), max(map(abs, axis))
            reason = f"the axis of joint {name!r} has entries of {length:g}: write one of unit length"
            raise part_error(path, engine, reason, name)


def plain(
    top: ET.Element, path: Path, engine: str, parts: Collection[str] = JOINT_PARTS, shapes: bool = False
) -> tuple[ET.Element, str]:
    """Return a reduced copy of a ``<robot>``, and the name of its root link.

    MuJoCo and Drake take a link called "world" for the world itself; it gets another name.

    Raises
    ------
    AdapterError
        If the element is not a robot, does not have exactly one root link, or has two links of one name.
    """
    if top.tag != "robot":
        raise file_error(path, engine, f"not a URDF: the root element is <{top.tag}>, expected <robot>")
    robot = ET.Element("robot", name=top.get("name", "robot"))
    for link in top.iterfind("link"):
        copy = ET.SubElement(robot, "link", name=link.get("name", ""))
        copy.extend(link.findall("inertial"))
        copy.extend(_primitives(link) if shapes else [])
    for joint in top.iterfind("joint"):
        copy = ET.SubElement(robot, "joint", name=joint.get("name", ""), type=joint.get("type", ""))
        copy.extend(part for part in joint if part.tag in parts)
    twice = [name for name, count in Counter(links(robot)).items() if count > 1]
    if twice:
        raise file_error(path, engine, f"two links are called {twice[0]!r}", twice[0])
    _rename_world(robot)
    children = {child.get("link") for child in robot.iterfind("joint/child")}
    roots = [name for name in links(robot) if name not in children]
    if len(roots) != 1:
        names = f": {', '.join(roots[:5])}" if roots else ""
        raise file_error(path, engine, f"a URDF has one root link, this one has {len(roots)}{names}")
    return robot, roots[0]


def _primitives(link: ET.Element) -> list[ET.Element]:
    return [shape for shape in link.iterfind("collision") if shape.find("geometry/mesh") is None]


def write(robot: ET.Element) -> str:
    """Return the text with a line for every element."""
    ET.indent(robot)
    return ET.tostring(robot, encoding="unicode")


def name_at(text: str, line: int) -> str | None:
    """Return the name of the link or joint on that line of a text, counted from one."""
    for before in reversed(text.splitlines()[:line]):
        match = re.match(r"\s*<(link|joint) name=\"([^\"]*)\"", before)
        if match:
            return match[2]
    return None


def links(robot: ET.Element) -> list[str]:
    """Return the names of the links."""
    return [link.get("name", "") for link in robot.iterfind("link")]


def _rename_world(robot: ET.Element) -> None:
    if "world" not in links(robot):
        return
    name = "world_"
    while name in links(robot):
        name += "_"
    for key, where in (("name", "link"), ("link", "joint/parent"), ("link", "joint/child")):
        for element in robot.iterfind(f"{where}[@{key}='world']"):
            element.set(key, name)
