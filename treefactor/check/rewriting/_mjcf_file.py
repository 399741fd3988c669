"""Read the XML of an MJCF with the lines of its elements, its included files in their places."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..._util.xml import NOT_WELL_FORMED, as_path, elements_with_lines, file_error

FOLDERS = ("assetdir", "meshdir", "texturedir")
MOST = 1000


@dataclass(frozen=True)
class MjcfFile:
    """XML of an MJCF; the names of folders are absolute.

    Attributes
    ----------
    path : pathlib.Path
    top : xml.etree.ElementTree.Element
        The ``<mujoco>``.
    lines : dict
        Line of the file on which each element begins, counted from one; of an included element that of the
        ``<include>``.
    includes : tuple of int
        Lines of the ``<include>`` elements.
    """

    path: Path
    top: ET.Element
    lines: dict[ET.Element, int]
    includes: tuple[int, ...]

    def bodies(self) -> list[ET.Element]:
        """Return the bodies, depth first, as MuJoCo numbers them."""
        return [body for world in self.top.iterfind("worldbody") for body in world.iter("body")]

    def joints(self) -> list[ET.Element]:
        """Return the joints as MuJoCo numbers them."""
        return joints_of(self.top)

    def compilers(self, attribute: str) -> Iterator[ET.Element]:
        """Yield the ``<compiler>`` elements that set an attribute."""
        yield from self.top.iterfind(f"compiler[@{attribute}]")


def joints_of(top: ET.Element) -> list[ET.Element]:
    """Return the joints of an MJCF as MuJoCo numbers them."""
    worlds = top.iterfind("worldbody")
    return [element for world in worlds for element in world.iter() if element.tag in ("joint", "freejoint")]


def read(path) -> MjcfFile:
    """Read an MJCF.

    Raises
    ------
    AdapterError
        If the file or one that it includes cannot be read.
    """
    path = as_path(path, None)
    top, lines = _parse(path, path)
    if top.tag != "mujoco":
        raise file_error(path, None, f"not an MJCF: the root element is <{top.tag}>")
    included = _include(path, top, lines)
    folder = path.resolve().parent
    for compiler in top.iterfind("compiler"):
        for key in FOLDERS:
            if key in compiler.attrib:
                compiler.set(key, str(folder / compiler.get(key, "")))
    missing = ("meshdir", "texturedir")
    if any(top.iterfind("compiler[@assetdir]")):
        missing = ()
    unset = {key: str(folder) for key in missing if not any(top.iterfind(f"compiler[@{key}]"))}
    if unset and any("file" in element.attrib for element in top.iter()):
        top.insert(0, ET.Element("compiler", unset))
        lines[top[0]] = 1
    return MjcfFile(path, top, lines, tuple(included))


def _parse(path: Path, main: Path) -> tuple[ET.Element, dict[ET.Element, int]]:
    try:
        return elements_with_lines(path.read_bytes())
    except OSError as error:
        raise file_error(main, None, f"cannot read {path.name}: {error.strerror}") from None
    except NOT_WELL_FORMED as error:
        raise file_error(main, None, f"{path.name} is not well-formed XML: {error}") from None


def _include(path: Path, top: ET.Element, lines: dict) -> list[int]:
    """Replace every ``<include>`` by what the file contains; return their lines."""
    included: list[int] = []
    while (pair := next(_includes(top), None)) is not None:
        if len(included) == MOST:
            raise file_error(path, None, f"it includes more than {MOST} files, or one that includes itself")
        parent, element = pair
        at, line = list(parent).index(element), lines[element]
        part, _ = _parse(path.parent / element.get("file", ""), path)
        lines.update(dict.fromkeys(part.iter(), line))
        parent[at : at + 1] = list(part)
        included.append(line)
    return included


def _includes(top: ET.Element) -> Iterator[tuple[ET.Element, ET.Element]]:
    for parent in top.iter():
        for child in parent:
            if child.tag == "include":
                yield parent, child
