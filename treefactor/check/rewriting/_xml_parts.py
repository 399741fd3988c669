"""Write origins and inertias as URDF does."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np

from ...model import _urdf
from ...model.joints import Inertia

PARTS = ("link", "joint")
INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")  # rows of the upper triangle


def rotation(x: float, y: float, z: float) -> np.ndarray:
    """Return the rotation Rz Ry Rx of the angles roll, pitch and yaw."""
    (cx, cy, cz), (sx, sy, sz) = np.cos([x, y, z]).tolist(), np.sin([x, y, z]).tolist()
    return np.array(
        [
            [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
            [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
            [-sy, cy * sx, cy * cx],
        ]
    )


def matrix(R: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Return the pose (4, 4) of rotation R and position r."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = R, r
    return pose


def words(values) -> str:
    """Return numbers as text that gives the same doubles."""
    return " ".join(repr(value + 0.0) for value in np.asarray(values).tolist())  # no -0.0


def set_place(part: ET.Element, R: np.ndarray, r: np.ndarray) -> None:
    """Write the ``<origin>`` of a joint, an inertial or a shape."""
    origin = part.find("origin")
    if origin is None:
        origin = ET.Element("origin")
        part.insert(0, origin)
    origin.attrib = {"xyz": words(r), "rpy": words(_urdf.roll_pitch_yaw(R))}


def inertial(own: Inertia) -> ET.Element:
    """Return the ``<inertial>`` of an inertia in the axes of the link."""
    element = ET.Element("inertial")
    ET.SubElement(element, "origin", xyz=words(own.com), rpy="0.0 0.0 0.0")
    ET.SubElement(element, "mass", value=words([own.mass]))
    values = zip(INERTIA, own.tensor[np.triu_indices(3)], strict=True)
    ET.SubElement(element, "inertia", {key: words([value]) for key, value in values})
    return element
