"""Write a URDF as a rigid body: all joints fixed at zero, links kept or merged into one."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from warnings import catch_warnings, simplefilter

import numpy as np
from scipy.spatial.transform import Rotation

from ..._util.xml import parse
from ...exceptions import AdapterError
from ...model._urdf_shapes import mesh_places
from ...model.model import Model

KEPT = ("inertial", "collision")  # parts of a link
INERTIA = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
ENTRIES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def write_rigid(path: Path, folder: Path) -> Path:
    """Write the robot of a URDF with all joints fixed at zero, without visual shapes, and return the file."""
    top = ET.Element("robot", name="rigid")
    extension = ET.SubElement(ET.SubElement(top, "mujoco"), "compiler")
    extension.attrib.update(strippath="false", balanceinertia="false")  # other engines skip the element
    for element in parse(path, None):
        if element.tag == "link":
            link = ET.SubElement(top, "link", name=element.get("name", ""))
            link.extend(part for part in element if part.tag in KEPT)
        elif element.tag == "joint":
            joint = ET.SubElement(top, "joint", name=element.get("name", ""), type="fixed")
            joint.extend(part for part in element if part.tag in ("origin", "parent", "child"))
    for mesh in top.iterfind("link/collision/geometry/mesh"):
        name = mesh.get("filename", "")
        mesh.set("filename", str(next(filter(Path.is_file, mesh_places(path, name)), name)))
    return _written(top, folder / "rigid.urdf")


def write_one_link(path: Path, folder: Path) -> Path:
    """Write the robot of `write_rigid` as one link with all its mass and shapes, and return the file."""
    model = Model.from_urdf(path, floating=True)
    inertia = model.joints[0].inertia
    frames = {frame.name: frame for frame in model.frames if frame.type == "body"}
    top, given = ET.Element("robot", name="rigid"), parse(path, None)
    top.extend(given.iterfind("mujoco"))
    link = ET.SubElement(top, "link", name="body")
    inertial = ET.SubElement(link, "inertial")
    ET.SubElement(inertial, "origin", xyz=_words(inertia.com))
    ET.SubElement(inertial, "mass", value=repr(float(inertia.mass)))
    moments = {key: repr(float(inertia.tensor[at])) for key, at in zip(INERTIA, ENTRIES, strict=True)}
    ET.SubElement(inertial, "inertia", moments)
    for element in given.iterfind("link"):
        frame = frames[element.get("name", "")]
        for shape in element.iterfind("collision"):
            R, p = _pose(shape)
            with catch_warnings():
                simplefilter("ignore", UserWarning)  # where two axes coincide, any of their angles will do
                turned = Rotation.from_matrix(frame.R @ R).as_euler("xyz")
            moved = ET.SubElement(link, "collision")
            ET.SubElement(moved, "origin", xyz=_words(frame.p + frame.R @ p), rpy=_words(turned))
            moved.append(shape.find("geometry"))
    return _written(top, folder / "one_link.urdf")


def lacks_mass(path: Path) -> bool:
    """Return whether a link of a URDF has no mass, or no <inertial>."""
    masses = (link.find("inertial/mass") for link in parse(path, None).iterfind("link"))
    return any(mass is None or float(mass.get("value", 0.0)) == 0.0 for mass in masses)


def _pose(shape: ET.Element) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation and position of a <collision> in its link."""
    origin = shape.find("origin")
    given = {} if origin is None else origin.attrib
    p, angles = (np.array(given.get(key, "0 0 0").split(), dtype=float) for key in ("xyz", "rpy"))
    return Rotation.from_euler("xyz", angles).as_matrix(), p


def _written(top: ET.Element, path: Path) -> Path:
    if top.find("link/collision") is None:
        raise AdapterError("the file has no collision shapes: contacts need them", file=path)
    path.write_text(ET.tostring(top, encoding="unicode"), encoding="utf-8")
    return path


def _words(values: np.ndarray) -> str:
    return " ".join(map(repr, values.tolist()))
