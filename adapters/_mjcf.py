"""Write an MJCF with the dynamics of a URDF; MuJoCo before 4.0 misreads URDFs.

Up to 3.11 it rotates inertias whose ``<origin>`` has an ``rpy`` the wrong way (errors of H of 1e-2) and finds
their principal axes only to 1e-8; from 3.3 to 3.10 it misplaces the inertias of links on fixed joints. Every
version welds the root to the world, drops inertias without mass, and refuses links on fixed joints whose
inertia is impossible for a body. Therefore links on fixed joints are merged into their parents, as Pinocchio
does, inertias are written as principal moments, and a floating root has a free joint. MuJoCo does not compile
a moving body without mass, or whose moments break A + B >= C: the file holds other values for it, which are
replaced in the compiled model. A root that does not move has no moments instead of impossible ones.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from ..exceptions import AdapterError
from ..model._urdf import Robot, carried_joints, read, without_fixed_joints
from ..model.joints import Inertia
from ..tolerances import NO_MOMENT

Odd = dict[str, tuple[float, np.ndarray]]  # mass and principal moments by body

SMALLEST = 1e-15  # mjMINVAL; MuJoCo treats less mass or inertia as zero
TYPES = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slide", "spherical": "ball"}


def mjcf(path: Path, floating: bool, text: str | None = None) -> tuple[str, Odd]:
    """Return the text of an MJCF, and the masses and principal moments it could not hold, by body.

    Bodies and joints keep their names in the URDF; the free joint is called ``root_joint``. A link that is no
    body of its own is a site. With `text` of a URDF, path is only its name in errors.

    Raises
    ------
    AdapterError
        If the file cannot be read, is not a URDF, has a joint of a type that MuJoCo lacks, or has a chain
        of links that is too long for nested XML.
    """
    whole = read(path, "mujoco", text=text)
    robot = without_fixed_joints(whole)
    odd: Odd = {}
    top = ET.Element("mujoco")
    options = {"angle": "radian", "balanceinertia": "false", "inertiafromgeom": "false"}
    ET.SubElement(top, "compiler", options)
    bodies = {
        robot.root: _body(ET.SubElement(top, "worldbody"), robot, robot.root, odd if floating else None)
    }
    if floating:
        ET.SubElement(bodies[robot.root], "freejoint", name="root_joint")
    for joint in robot.joints:  # from the root on
        body = _body(bodies[joint.parent], robot, joint.child, odd, **_place(joint.R, joint.r))
        ET.SubElement(body, "joint", name=joint.name, type=TYPES[joint.type], axis=_words(joint.axis))
        bodies[joint.child] = body
    _add_sites(whole, bodies)
    try:
        return ET.tostring(top, encoding="unicode"), odd
    except RecursionError:
        reason = "MuJoCo cannot load it: an MJCF nests its bodies, and these are nested too deeply"
        raise AdapterError(f"{path}: {reason}", "mujoco", path) from None


def is_possible(mass: float, moments: np.ndarray) -> bool:
    """Return whether MuJoCo compiles a moving body of this mass and these principal moments."""
    return min(mass, *moments) >= SMALLEST and moments[2] <= moments[0] + moments[1]


def _body(parent: ET.Element, robot: Robot, link: str, odd: Odd | None, **place: str) -> ET.Element:
    """Add the body of a link, and what it cannot hold to ``odd``; None for a body that does not move."""
    name = robot.unused(link) if link == "world" else link  # MuJoCo's own world
    body = ET.SubElement(parent, "body", name=name, **place)
    inertial = robot.links[link]
    mass, moments, axes = inertial.mass, *principal(inertial)
    if not is_possible(mass, moments) and odd is None:
        moments = np.zeros(3)
    elif not is_possible(mass, moments):
        odd[name] = mass, moments
        mass, moments = max(mass, 1.0), np.ones(3)
    ET.SubElement(
        body,
        "inertial",
        mass=repr(float(mass)),
        pos=_words(inertial.com),
        quat=_quaternion(axes),
        diaginertia=_words(moments),
    )
    return body


def _add_sites(whole: Robot, bodies: dict[str, ET.Element]) -> None:
    """Mark links on fixed joints and those whose bodies have other names."""
    for joint, carrier, R, r in carried_joints(whole):
        if joint.type == "fixed":
            ET.SubElement(bodies[carrier], "site", name=joint.child, **_place(R, r))
    for link, body in bodies.items():
        if body.get("name") != link:
            ET.SubElement(body, "site", name=link)


def principal(inertial: Inertia) -> tuple[np.ndarray, np.ndarray]:
    """Return principal moments in rising order, and a rotation whose columns are their axes."""
    moments, axes = np.linalg.eigh(inertial.tensor)
    axes[:, 2] *= np.linalg.det(axes)  # right-handed
    if moments[2] <= (1.0 + NO_MOMENT) * (moments[0] + moments[1]):
        moments[2] = min(moments[2], moments[0] + moments[1])  # MuJoCo's triangle inequality has no tolerance
    return moments, axes


def _place(R: np.ndarray, r: np.ndarray) -> dict[str, str]:
    return {"pos": _words(r), "quat": _quaternion(R)}


def _quaternion(R: np.ndarray) -> str:
    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return _words(np.array([w, x, y, z]))


def _words(values: np.ndarray) -> str:
    return " ".join(map(repr, values.tolist()))
