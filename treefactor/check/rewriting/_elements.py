"""Change single elements of a URDF: steps 1 to 4 of the rewriting, which move no frame."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator

import numpy as np

from ..._util.rotations import unit
from ..._util.urdf_numbers import plain
from ..._util.xml import numbers
from ...model.joints import Inertia
from . import _xml_parts

WIDE = "1000.0"  # limits of a position, in rad or m: far beyond all states of a comparison
AMPLE = "1000000000.0"  # limits of effort and velocity
LIMITED = ("revolute", "prismatic")  # joint types for which URDF requires <limit>
AXIAL = ("revolute", "continuous", "prismatic")
SAME_LENGTH = 4 * np.finfo(float).eps  # deviation of an axis from unit length within rounding
KNOWN = {  # elements of the format, by their parents
    "robot": {"link", "joint", "material", "transmission", "gazebo"},
    "link": {"inertial", "visual", "collision"},
    "inertial": {"origin", "mass", "inertia"},
    "joint": {
        *("origin", "parent", "child", "axis", "dynamics", "limit", "mimic", "calibration"),
        "safety_controller",
    },
}
# child elements whose attributes are numbers
NUMBERS = {"inertial": KNOWN["inertial"], "joint": KNOWN["joint"] - {"parent", "child"}}
SINGLE = {"link": {"inertial"}, "inertial": KNOWN["inertial"], "joint": KNOWN["joint"]}  # at most one of each

# changes an element of the robot and returns whether it did
Change = Callable[[ET.Element, ET.Element], bool]


def _without(tag: str, parent: str) -> Change:
    """Return the change that removes the elements of a tag from a link or joint."""

    def change(robot: ET.Element, part: ET.Element) -> bool:
        removed = part.findall(tag) if part.tag == parent else []
        for element in removed:
            part.remove(element)
        return bool(removed)

    return change


def _removed(tag: str) -> Change:
    """Return the change that removes an element of a tag from the robot."""

    def change(robot: ET.Element, part: ET.Element) -> bool:
        if part.tag == tag:
            robot.remove(part)
        return part.tag == tag

    return change


def _without_materials(robot: ET.Element, part: ET.Element) -> bool:
    """Remove a material of the robot, or those of the shapes of a link."""
    if part.tag == "material":
        robot.remove(part)
        return True
    visuals = part.findall("visual[material]") if part.tag == "link" else []
    for visual in visuals:
        for material in visual.findall("material"):
            visual.remove(material)
    return bool(visuals)


def _without_others(robot: ET.Element, part: ET.Element) -> bool:
    """Remove an element that the format lacks, or such elements, and attributes with a prefix, of a part."""
    if part.tag not in KNOWN["robot"]:
        robot.remove(part)
        return True
    parts = list(part.iter()) if part.tag in KNOWN else []
    unknown = [(parent, child) for parent in parts for child in parent if not _is_known(child, parent)]
    for parent, child in unknown:
        parent.remove(child)
    prefixed = [(element, key) for element in part.iter() for key in element.attrib if ":" in key and parts]
    for element, key in prefixed:
        del element.attrib[key]
    return bool(unknown or prefixed)


def _is_known(element: ET.Element, parent: ET.Element) -> bool:
    return ":" not in element.tag and element.tag in KNOWN.get(parent.tag, (element.tag,))


def _without_repetitions(robot: ET.Element, part: ET.Element) -> bool:
    """Keep the first of several elements of which a link, an inertial or a joint has one."""
    changed = False
    for parent in (part, *part.findall("inertial")) if part.tag in SINGLE else ():
        for tag in SINGLE[parent.tag]:
            for element in parent.findall(tag)[1:]:
                parent.remove(element)
                changed = True
    return changed


def _with_possible_limits(robot: ET.Element, part: ET.Element) -> bool:
    """Write limits in their order, and ample ones for negative ones of effort and velocity."""
    changed = False
    for limit in part.findall("limit") if part.tag == "joint" else ():
        values = {key: (numbers(text) or [0.0])[0] for key, text in limit.items()}
        written = {key: AMPLE for key in ("effort", "velocity") if values.get(key, 0.0) < 0.0}
        if values.get("lower", 0.0) > values.get("upper", 0.0):
            written |= {"lower": limit.get("upper", "0"), "upper": limit.get("lower", "0")}
        limit.attrib |= written
        changed |= bool(written)
    return changed


def _with_plain_numbers(of: str, parent: str) -> Change:
    """Return the change that writes all numbers of an inertial or joint as every engine reads them."""

    def change(robot: ET.Element, part: ET.Element) -> bool:
        owners = [] if part.tag != parent else [part] if of == parent else part.findall(of)
        changed = False
        for element in (child for owner in owners for child in owner if child.tag in NUMBERS[of]):
            implied = dict.fromkeys(_xml_parts.INERTIA, "0") if element.tag == "inertia" else {}
            texts = {key: text if key == "joint" else plain(text) for key, text in element.items()}
            written = {**implied, **texts}
            changed |= written != element.attrib
            element.attrib = written
        return changed

    return change


def _with_inertial(robot: ET.Element, part: ET.Element) -> bool:
    if part.tag != "link" or part.find("inertial") is not None:
        return False
    part.insert(0, _xml_parts.inertial(Inertia()))
    return True


def _with_origin(of: str, parent: str) -> Change:
    """Return the change that writes the default origin, or the missing half of one."""

    def change(robot: ET.Element, part: ET.Element) -> bool:
        owner = None if part.tag != parent else part if of == parent else part.find(of)
        if owner is None:
            return False
        origin = owner.find("origin")
        if origin is None:
            origin = ET.Element("origin")
            owner.insert(0, origin)
        missing = {"xyz", "rpy"} - origin.attrib.keys()
        origin.attrib |= dict.fromkeys(sorted(missing), "0 0 0")
        return bool(missing)

    return change


def _with_limits(robot: ET.Element, part: ET.Element) -> bool:
    """Write the limits that URDF demands, wide ones, or the missing attributes of those written."""
    if part.tag != "joint" or part.get("type") not in LIMITED:
        return False
    limit = part.find("limit")
    implied = {"lower": "0", "upper": "0"} if limit is not None else {"lower": f"-{WIDE}", "upper": WIDE}
    implied |= {"effort": AMPLE, "velocity": AMPLE}
    limit = ET.SubElement(part, "limit") if limit is None else limit
    missing = implied.keys() - limit.attrib.keys()
    limit.attrib = {**implied, **limit.attrib}
    return bool(missing)


def _with_gain(robot: ET.Element, part: ET.Element) -> bool:
    """Write the gain that URDF demands of a safety controller."""
    controllers = part.findall("safety_controller") if part.tag == "joint" else []
    missing = [element for element in controllers if "k_velocity" not in element.attrib]
    for element in missing:
        element.set("k_velocity", "0")
    return bool(missing)


def _without_dynamics(robot: ET.Element, part: ET.Element) -> bool:
    """Remove damping, friction and other entries that are not zero."""
    elements = part.findall("dynamics") if part.tag == "joint" else []
    if not any(numbers(value) != [0.0] for element in elements for value in element.attrib.values()):
        return False
    return _without("dynamics", "joint")(robot, part)


def _with_wide_limits(robot: ET.Element, part: ET.Element) -> bool:
    kind, limits = part.get("type"), part.findall("limit")
    if part.tag != "joint" or not limits:
        return False
    wide = {"effort": AMPLE, "velocity": AMPLE}
    if kind in LIMITED:
        wide |= {"lower": f"-{WIDE}", "upper": WIDE}
    if [limit.attrib for limit in limits] == [wide]:
        return False
    _without("limit", "joint")(robot, part)
    if kind != "fixed":
        ET.SubElement(part, "limit", wide)
    return True


def _with_unit_axis(robot: ET.Element, part: ET.Element) -> bool:
    """Write the axis with unit length, or the default one; a joint without an axis loses a wrong one."""
    if part.tag != "joint" or part.get("type") == "planar":
        return False
    axis = part.find("axis")
    if axis is None:
        if part.get("type") in AXIAL:
            ET.SubElement(part, "axis", xyz="1 0 0")
        return part.get("type") in AXIAL
    direction = np.array(numbers(axis.get("xyz", "")) or [0.0])
    if abs(np.linalg.norm(direction) - 1.0) <= SAME_LENGTH and direction.size == 3:
        return False
    if part.get("type") in AXIAL:
        axis.attrib = {"xyz": _xml_parts.words(unit(direction))}
    else:
        part.remove(axis)
    return True


CHANGES: dict[str, tuple[int, Change]] = {  # step and change, by kind, in the order in which they are made
    "repeated element": (1, _without_repetitions),
    "inertial number": (1, _with_plain_numbers("inertial", "link")),
    "joint number": (1, _with_plain_numbers("joint", "joint")),
    "impossible limit": (1, _with_possible_limits),
    "material": (1, _without_materials),
    "visual": (1, _without("visual", "link")),
    "collision": (1, _without("collision", "link")),
    "transmission": (1, _removed("transmission")),
    "gazebo": (1, _removed("gazebo")),
    "other": (1, _without_others),
    "inertial": (2, _with_inertial),
    "inertial origin": (2, _with_origin("inertial", "link")),
    "joint origin": (2, _with_origin("joint", "joint")),
    "joint limit": (2, _with_limits),
    "safety controller": (2, _with_gain),
    "mimic": (3, _without("mimic", "joint")),
    "dynamics": (3, _without_dynamics),
    "limit": (3, _with_wide_limits),
    "axis": (4, _with_unit_axis),
}


def owner(part: ET.Element) -> str:
    """Return the link or joint that an element of the robot describes or refers to, "" for none."""
    if part.tag in _xml_parts.PARTS:
        return part.get("name", "")
    joint = part.find("joint")
    name = part.get("reference") or ("" if joint is None else joint.get("name"))
    return name or ""


def defined_materials(robot: ET.Element) -> set[str]:
    """Return the names of materials with a colour or a texture."""
    return {material.get("name", "") for material in robot.iter("material") if len(material)}


def remove_undefined_materials(robot: ET.Element, names: set[str]) -> None:
    """Remove the uses of materials, except of those names."""
    for visual in robot.iterfind("link/visual"):
        for material in visual.findall("material"):
            if not len(material) and material.get("name", "") in names:
                visual.remove(material)


def changed_parts(robot: ET.Element, wanted=None) -> Iterator[tuple[str, str, ET.Element]]:
    """Make the changes of all kinds, or those ``wanted``; yield kind, name and element of each.

    ``wanted`` has pairs of kind and name.
    """
    defined = defined_materials(robot)
    kinds = CHANGES if wanted is None else {kind for kind, _ in wanted}
    for kind, (_, change) in CHANGES.items():
        for part in list(robot) if kind in kinds else ():
            name = owner(part)
            if (wanted is None or (kind, name) in wanted) and change(robot, part):
                yield kind, name, part
    remove_undefined_materials(robot, defined - defined_materials(robot))
