"""Check what an engine makes of a URDF, and hold back what it writes meanwhile for reasons of refusals."""

from __future__ import annotations

import os
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from tempfile import TemporaryFile

from .._util.xml import NOT_WELL_FORMED, content_of, elements, file_error, root_tag


def elements_of(path: Path, engine: str) -> ET.Element:
    """Return the root element of a file, an empty one if it is not well-formed: the engine may read it.

    Raises AdapterError if the file cannot be read.
    """
    with suppress(*NOT_WELL_FORMED):
        return elements(content_of(path, engine))
    return ET.Element(root_tag(path) or "robot")


def require_one_parent(top: ET.Element, path: Path, engine: str) -> None:
    """Raise AdapterError if a link of a URDF is the child of two joints, which engines do not survive."""
    children = Counter(child.get("link", "") for child in top.iterfind("joint/child"))
    for link, count in children.items():
        if count > 1:
            raise file_error(path, engine, f"link {link!r} has {count} parent joints: not a tree", link)


def require_joints(
    top: ET.Element, names: Collection[str], path: Path, engine: str, reason: str = ""
) -> None:
    """Raise AdapterError if an engine's robot lacks a joint of a URDF that is not fixed."""
    for joint in top.iterfind("joint"):
        name = joint.get("name", "")
        if joint.get("type") != "fixed" and name not in names:
            raise file_error(path, engine, f"joint {name!r} is missing in the engine's model{reason}", name)


def packages(top: ET.Element, path: Path) -> dict[str, Path]:
    """Return the nearest folders, beside or above a URDF, of the packages that its meshes are in."""
    names = (mesh.get("filename", "") for mesh in top.iter("mesh"))
    by_name = {}
    for package in sorted({name.split("/")[2] for name in names if name.startswith("package://")}):
        folders = [folder / package for folder in path.absolute().parents if (folder / package).is_dir()]
        by_name.update({package: folders[0]} if folders else {})
    return by_name


def mesh_files(top: ET.Element, packages: Mapping[str, Path]) -> dict[str, Path]:
    """Return the files of meshes by their names, as far as these are absolute or in one of the packages."""
    files = {}
    for name in {mesh.get("filename", "") for mesh in top.iter("mesh")}:
        _, _, inside = name.partition("package://")
        package, _, rest = inside.partition("/")
        if package in packages or Path(name).is_absolute():
            files[name] = (packages[package] / rest if package in packages else Path(name)).resolve()
    return files


def remove_meshes(top: ET.Element, names: Collection[str]) -> None:
    """Remove visual and collision elements with one of these meshes from a URDF."""
    for link in top.iterfind("link"):
        for shape in [*link.iterfind("visual"), *link.iterfind("collision")]:
            mesh = shape.find("geometry/mesh")
            if mesh is not None and mesh.get("filename") in names:
                link.remove(shape)


@contextmanager
def held_back() -> Iterator[list[str]]:
    """Hold back standard output and error, C code included; fill the list with the lines at the end."""
    lines: list[str] = []
    kept = {}
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    with TemporaryFile("a+", errors="replace") as file:
        for fd in (1, 2):
            with suppress(OSError):  # the stream is closed
                kept[fd] = os.dup(fd)
                os.dup2(file.fileno(), fd)
        try:
            with redirect_stdout(file), redirect_stderr(file):
                yield lines
        finally:
            for fd, own in kept.items():
                os.dup2(own, fd)
                os.close(own)
            file.seek(0)
            lines += file.read().splitlines()
