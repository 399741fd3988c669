"""Read the collision or visual shapes of a URDF."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np

from .._util.validation import as_tuple, check_choice
from .._util.xml import as_path, numbers, parse, part_error
from ..exceptions import AdapterError, InvalidModelError
from .frames import Frame
from .geometry import Geometry, Shape
from .meshes import mesh_vertices
from .shapes import Box, Capsule, Cylinder, Mesh, Sphere

KINDS = ("collision", "visual")
NUMBERS = {  # attributes of the elements of a <geometry>, and how many numbers each has
    "box": {"size": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
    "capsule": {"radius": 1, "length": 1},
}


def read_shapes(path, frames: Sequence[Frame], kind: str | None, package_dirs) -> Geometry:
    """Return the shapes of a URDF on the bodies that carry its links: see `Model.from_urdf`."""
    if kind is None:
        raise ValueError("package_dirs are for meshes: pass geometry='collision', too")
    check_choice("geometry", kind, KINDS)
    return _Reader(as_path(path, None), kind, frames, package_dirs).geometry()


class _Reader:
    """Reads the shapes of one file; every error names the file and the link."""

    def __init__(self, path: Path, kind: str, frames: Sequence[Frame], package_dirs):
        self.path, self.kind = path, kind
        self.links = {frame.name: frame for frame in frames if frame.type == "body"}
        given = [package_dirs] if isinstance(package_dirs, str | os.PathLike) else package_dirs
        self.folders = [Path(folder) for folder in as_tuple(given, "package_dirs")]
        self.vertices: dict[Path, np.ndarray] = {}

    def geometry(self) -> Geometry:
        """Return all shapes, called by their links and numbers."""
        shapes, names = [], []
        for link in parse(self.path, None).iterfind("link"):
            for k, element in enumerate(link.iterfind(self.kind)):
                shapes.append(self.shape(link.get("name", ""), element))
                names.append(f"{link.get('name')}_{k}")
        return Geometry(shapes, names)

    def shape(self, link: str, element: ET.Element) -> Shape:
        """Return the shape of a <collision> or <visual>, in the frame of the joint that carries the link."""
        geometry = element.find("geometry")
        parts = [] if geometry is None else list(geometry)
        if len(parts) != 1 or parts[0].tag not in (*NUMBERS, "mesh"):
            known = ", ".join([*NUMBERS, "mesh"])
            got = " and ".join(part.tag for part in parts) or "nothing"
            raise self.error(link, f"the <geometry> of a <{self.kind}> must be one of {known}, got {got}")
        R, p = self.origin(link, element)
        frame = self.links[link]
        placed = {"R": frame.R @ R, "p": frame.p + frame.R @ p}
        try:
            return self.placed(link, parts[0], frame.joint, placed)
        except InvalidModelError as error:
            raise self.error(link, str(error)) from None

    def origin(self, link: str, element: ET.Element) -> tuple[np.ndarray, np.ndarray]:
        """Return rotation and position of a shape in its link."""
        from scipy.spatial.transform import Rotation

        origin = element.find("origin")
        given = {} if origin is None else origin.attrib
        xyz, rpy = (
            self.numbers(link, origin, key, 3) if key in given else np.zeros(3) for key in ("xyz", "rpy")
        )
        return Rotation.from_euler("xyz", rpy).as_matrix(), xyz

    def placed(self, link: str, part: ET.Element, joint: int, placed: dict) -> Shape:
        """Return the shape of an element of a <geometry>."""
        if part.tag == "mesh":
            scale = self.numbers(link, part, "scale", 3) if "scale" in part.attrib else np.ones(3)
            if not scale.all():
                raise InvalidModelError(f"the scale of a <mesh> must not be zero, got {part.get('scale')!r}")
            path = self.mesh_path(link, part.get("filename", ""))
            vertices = scale * self.vertices_of(path)
            try:
                return Mesh(joint, vertices, **placed)
            except InvalidModelError as error:
                raise InvalidModelError(f"{path}: {error}") from None
        sizes = [self.numbers(link, part, key, count) for key, count in NUMBERS[part.tag].items()]
        if part.tag == "box":
            return Box(joint, sizes[0], **placed)
        if part.tag == "sphere":
            if not sizes[0][0] > 0.0:
                raise InvalidModelError(f"the radius of a sphere must be positive, got {sizes[0][0]}")
            return Sphere(joint, placed["p"], sizes[0][0])
        round_shape = Cylinder if part.tag == "cylinder" else Capsule
        return round_shape(joint, sizes[0][0], sizes[1][0], **placed)

    def numbers(self, link: str, part: ET.Element, key: str, count: int) -> np.ndarray:
        """Return the numbers of an attribute."""
        text = part.get(key)
        values = None if text is None else numbers(text)
        if values is None or len(values) != count or not np.isfinite(values).all():
            got = "nothing" if text is None else repr(text)
            wanted = "a number" if count == 1 else f"{count} numbers"
            raise self.error(link, f"the {key} of a <{part.tag}> must be {wanted}, got {got}")
        return np.array(values, dtype=float)

    def mesh_path(self, link: str, name: str) -> Path:
        """Return the file of a mesh by its name in the URDF."""
        if not name:
            raise self.error(link, "a <mesh> must have the filename of its file, got nothing")
        tried = mesh_places(self.path, name, self.folders)
        for path in tried:
            if path.is_file():
                return path
        package = urlparse(name).netloc if name.startswith("package://") else ""
        if not package:
            places = ", ".join(map(str, tried))
            raise self.error(
                link, f"found no mesh {name!r}; tried {places}: give its folder as package_dirs="
            )
        for folder in mesh_places(self.path, f"package://{package}", self.folders):
            if folder.is_dir():
                raise self.error(link, f"found no mesh {name!r}: the package {folder} does not have it")
        places = ", ".join(map(str, [*self.folders, "the folders above the file"]))
        reason = f"found no package {package!r} of the mesh {name!r} in {places}"
        raise self.error(link, f"{reason}: give the folder that has the package in it as package_dirs=")

    def vertices_of(self, path: Path) -> np.ndarray:
        """Return the vertices of a mesh; every file is read once."""
        if path not in self.vertices:
            try:
                self.vertices[path] = mesh_vertices(path)
            except AdapterError as error:  # names the mesh, but not yet the URDF and the link
                raise InvalidModelError(str(error)) from None
        return self.vertices[path]

    def error(self, link: str, reason: str) -> AdapterError:
        """Return an error that names the file, and the link with its line."""
        return part_error(self.path, None, f"link {link!r}: {reason}", link, tag="link")


def mesh_places(path: Path, name: str, folders: Sequence[Path] = ()) -> list[Path]:
    """Return where a mesh of a URDF may be: in a package, beside the file, or at its own path.

    Packages are in the folders given and, after these, in those that contain the file.
    """
    parsed = urlparse(name)
    if parsed.scheme == "package":
        inside = Path(parsed.netloc, unquote(parsed.path).lstrip("/"))
        return [folder / inside for folder in dict.fromkeys([*folders, *path.absolute().parents])]
    file = Path(unquote(parsed.path)) if parsed.scheme == "file" else Path(name)
    return [folder / file for folder in dict.fromkeys([path.parent, *folders])]
