"""Write the attributes of an MJCF's default classes into the elements that have them."""

from __future__ import annotations

import xml.etree.ElementTree as ET

PARTS = ("joint", "geom", "site")
MAIN = "main"
ORIENTATIONS = {"quat", "axisangle", "euler", "xyaxes", "zaxis"}  # an element has one of them

Classes = dict[str, dict[str, dict[str, str]]]  # attributes by class and tag


def expand_defaults(top: ET.Element) -> None:
    """Write the defaults of joints, geoms and sites of the world into them, and remove them."""
    classes: Classes = {MAIN: {}}
    for section in top.iterfind("default"):
        _read(section, classes, {}, MAIN)
    for world in top.iterfind("worldbody"):
        _expand(world, classes, MAIN)
    for section in top.iterfind("default"):
        for default in list(section.iter("default")):
            for child in [child for child in default if child.tag in PARTS]:
                default.remove(child)


def _read(section: ET.Element, classes: Classes, inherited: dict, default: str) -> None:
    """Add a class and those within it."""
    own = classes.setdefault(section.get("class", default), dict(inherited))
    for child in section:
        if child.tag != "default":
            own[child.tag] = _over(own.get(child.tag, {}), child.attrib)
    for child in section.iterfind("default"):
        _read(child, classes, own, "")


def _expand(parent: ET.Element, classes: Classes, current: str) -> None:
    current = parent.get("childclass", current)
    for child in parent:
        if child.tag in PARTS:
            defaults = classes.get(child.get("class", current), {}).get(child.tag, {})
            child.attrib.update(_over(defaults, child.attrib))
        else:
            _expand(child, classes, current)


def _over(defaults: dict[str, str], own: dict[str, str]) -> dict[str, str]:
    """Return the attributes of an element with defaults."""
    if ORIENTATIONS & own.keys():
        defaults = {key: value for key, value in defaults.items() if key not in ORIENTATIONS}
    return {**defaults, **own}
