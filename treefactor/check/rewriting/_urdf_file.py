"""Hold the XML of a URDF, or of an SDF as a URDF, with its robot and the lines of its elements."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..._util.xml import as_path, content_of, elements_with_lines, file_error, numbers
from ...exceptions import AdapterError
from ...model import _urdf
from ...model._urdf_joints import KINDS
from ._xml_parts import inertial, rotation
from .sdf_reader import read_sdf

__all__ = ["UrdfFile", "inertial", "read"]

MARKUP = re.compile(  # what an XML file may hold besides elements, comments and its declaration
    rb"<!(?!--)|<\?(?!xml\s)|\xef\xbb\xbf|\xff\xfe|\xfe\xff|<\?xml[^>]*encoding=.(?!utf-8|us-ascii)",
    re.IGNORECASE,
)
URIS = ("package://", "model://")


@dataclass(frozen=True)
class UrdfFile:
    """XML of a URDF as written, prefixes of names included, and the robot it describes.

    Attributes
    ----------
    path : pathlib.Path
    top : xml.etree.ElementTree.Element
        The ``<robot>``.
    lines : dict
        Line on which each element begins, counted from one.
    robot : Robot
        Files of the same content share it.
    has_markup : bool
        Whether readers that do not know all of XML may read another text: it has a document type,
        instructions or sections of text, or is not UTF-8.
    """

    path: Path
    top: ET.Element
    lines: dict[ET.Element, int]
    robot: _urdf.Robot
    has_markup: bool = False

    def error(self, reason: str, name: str) -> AdapterError:
        """Return an error about a link or joint."""
        return file_error(self.path, None, reason, name)

    def names(self, tag: str) -> dict[str, ET.Element]:
        """Return the links or the joints by name."""
        return {element.get("name", ""): element for element in self.top.iterfind(tag)}

    def place(self, part: ET.Element) -> tuple[np.ndarray, np.ndarray]:
        """Return rotation and position of the ``<origin>`` of an inertial or a shape."""
        origin = part.find("origin")
        words = {} if origin is None else origin.attrib
        xyz, rpy = (numbers(words.get(key, "0 0 0")) for key in ("xyz", "rpy"))
        if xyz is None or rpy is None or (len(xyz), len(rpy)) != (3, 3):
            reason = f"the <origin> on line {self.lines[part]} does not hold three numbers each"
            raise self.error(reason, part.get("name", ""))
        return rotation(*rpy), np.array(xyz)

    def first_uri(self) -> int:
        """Return the line of the first mesh or texture that is named by ``package://``, 0 for none."""
        lines = [
            self.lines[element]
            for tag in ("mesh", "texture")
            for element in self.top.iter(tag)
            if element.get("filename", "").startswith(URIS)
        ]
        return min(lines, default=0)

    def use_absolute_paths(self) -> None:
        """Replace the names of files that exist by absolute paths."""
        folders = [str(folder) for folder in self.path.resolve().parents]
        known: dict[str, str] = {}
        for tag in ("mesh", "texture"):
            for element in self.top.iter(tag):
                name = element.get("filename", "")
                if name not in known:
                    known[name] = _absolute(name, folders)
                if name:
                    element.set("filename", known[name])


def read(path) -> UrdfFile:
    """Read a URDF, or an SDF as `read_sdf` does.

    Raises
    ------
    AdapterError
        As `treefactor.Model.from_urdf`: if the file is not a URDF of one tree of links.
    """
    path = as_path(path, None)
    content = content_of(path, None)
    urdf, robot = _parsed(path, content)
    top, lines = elements_with_lines(urdf)
    if urdf != content:
        _, written = elements_with_lines(content)
        known = {(element.tag, element.get("name")): line for element, line in written.items()}
        for element in top:
            lines[element] = known.get((element.tag, element.get("name")), 1)  # 1: it is not in the SDF
    return UrdfFile(path, top, lines, robot, MARKUP.search(content) is not None)


@lru_cache(maxsize=4)
def _parsed(path: Path, content: bytes) -> tuple[bytes, _urdf.Robot]:
    """Return the text of a URDF, or that made of an SDF, and its robot."""
    if path.suffix == ".sdf":
        content = read_sdf(path).text.encode()
    return content, _urdf.read(path, None, {*KINDS, "fixed"}, content)


def _absolute(name: str, folders: list[str]) -> str:
    """Return the path of an existing file, ``package://NAME`` in a folder that contains the URDF, or name."""
    scheme = next((scheme for scheme in URIS if name.startswith(scheme)), "")
    inside = name.removeprefix(scheme or "file://")
    tried = (os.path.join(folder, inside) for folder in (folders if scheme else folders[:1]))
    return next(filter(os.path.isfile, tried), name)
