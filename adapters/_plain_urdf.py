"""A URDF reduced to its dynamics: links with their inertias, joints, and what else an engine is to read.

No mesh is looked for then, and no engine stumbles over, or warns about, limits, calibrations and extensions.
Numbers are passed on as they are written, so the engine itself says what it makes of them.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from ..exceptions import AdapterError

JOINT_PARTS = {"origin", "parent", "child", "axis", "dynamics"}


def parse(path: Path, engine: str) -> ET.Element:
    """Root element of an XML file, tags without the namespaces that no reader of URDF heeds.

    Raises
    ------
    AdapterError
        Where the file cannot be read or is not well-formed.
    """
    try:
        top = ET.fromstring(path.read_bytes().strip())
    except OSError as error:
        raise _error(path, engine, f"cannot read it: {error.strerror}") from None
    except (ET.ParseError, ValueError, LookupError) as error:  # the last two: an encoding nobody knows
        raise _error(path, engine, f"not well-formed XML: {error}") from None
    for element in top.iter():
        if isinstance(element.tag, str):
            element.tag = element.tag.rpartition("}")[2]
    return top


def plain(
    top: ET.Element, path: Path, engine: str, parts: Collection[str] = JOINT_PARTS
) -> tuple[ET.Element, str]:
    """Reduced copy of a ``<robot>``, and the name of its root link.

    MuJoCo and Drake take a link called "world" for the world itself; it gets another name.

    Raises
    ------
    AdapterError
        Where the element is no robot, or has no root link, or several, or two links of one name.
    """
    if top.tag != "robot":
        raise _error(path, engine, f"no URDF: the root element is <{top.tag}>, not <robot>")
    robot = ET.Element("robot", name=top.get("name", "robot"))
    for link in top.iterfind("link"):
        ET.SubElement(robot, "link", name=link.get("name", "")).extend(link.findall("inertial"))
    for joint in top.iterfind("joint"):
        copy = ET.SubElement(robot, "joint", name=joint.get("name", ""), type=joint.get("type", ""))
        copy.extend(part for part in joint if part.tag in parts)
    twice = [name for name, count in Counter(links(robot)).items() if count > 1]
    if twice:
        raise _error(path, engine, f"two links are called {twice[0]!r}", twice[0])
    _rename_world(robot)
    children = {child.get("link") for child in robot.iterfind("joint/child")}
    roots = [name for name in links(robot) if name not in children]
    if len(roots) != 1:
        names = f": {', '.join(roots[:5])}" if roots else ""
        raise _error(path, engine, f"a URDF has one root link, this one has {len(roots)}{names}")
    return robot, roots[0]


def write(robot: ET.Element) -> str:
    """Text with a line for every element."""
    ET.indent(robot)
    return ET.tostring(robot, encoding="unicode")


def name_at(text: str, line: int) -> str | None:
    """Name of the link or joint on that line of a text, counted from one."""
    for before in reversed(text.splitlines()[:line]):
        found = re.match(r"\s*<(link|joint) name=\"([^\"]*)\"", before)
        if found:
            return found[2]
    return None


def links(robot: ET.Element) -> list[str]:
    """Names of the links."""
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


def _error(path: Path, engine: str, reason: str, name: str | None = None) -> AdapterError:
    return AdapterError(f"{path}: {reason}", engine, path, name)
