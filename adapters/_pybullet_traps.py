"""Avoid PyBullet's traps: copy a URDF with its dynamics only, in a form that PyBullet reads correctly.

The copy keeps moving joints with type, origin and axis, the links they move, and all names. It leaves out
visual and collision shapes (so that no mesh is loaded), limits, joint damping and friction, mimic and
extensions. It rewrites the parts that PyBullet reads differently from Pinocchio:

- A link without ``<inertial>`` gets a mass of zero (PyBullet: 1 kg, diag(1, 1, 1)).
- Links on fixed joints are merged into the link that carries them, as Pinocchio does. So the base of a robot
  whose root link has no mass can be free (PyBullet: mass 0 means fixed base).
- A spherical joint starts from a link of its own at its origin (PyBullet's H drops the offset).
- Inertias are turned to their principal axes (PyBullet's Jacobi method stops early: H good to 1e-10 only).
- An inertia that breaks the triangle inequality, which PyBullet sets to zero, or that is too close to it for
  PyBullet's mass matrix, moves to a link fixed to its own, where it is not checked. The copy holds a stand-in
  for it, and the loader sets the true principal moments.
- Every element has a line of its own (PyBullet cuts lines after 1023 characters, in the middle of numbers).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..model._urdf import FREEDOMS, Joint, Robot, read, roll_pitch_yaw, without_fixed_joints
from ..model.joints import Inertia
from ..tolerances import NO_MOMENT, TRIANGLE_MARGIN
from ._pybullet_body import adapter_error, positions, require_state

NAME = 1000  # bytes of a name; PyBullet cuts longer ones off, or crashes


def sanitised(path: Path, floating: bool) -> tuple[str, dict[str, np.ndarray]]:
    """Return the text of the copy, and the principal moments (kg m^2) it could not hold, by link.

    Raises
    ------
    AdapterError
        If the file is missing, is not well-formed XML or not a URDF, has a joint of a type that PyBullet
        does not simulate, or has so many links that PyBullet would crash.
    """
    robot = without_fixed_joints(read_names(path))
    if not floating:
        robot.links[robot.root] = Inertia()
    elif not robot.links[robot.root].mass:
        reason = f"root link {robot.root!r} has no mass, and PyBullet fixes such a base"
        raise adapter_error(reason, robot.root, path)
    _give_spherical_joints_a_link(robot)
    axes = {name: _principal_axes(inertial.tensor) for name, inertial in robot.links.items()}
    moments = _give_odd_inertias_a_link(robot, axes)
    nq = sum(positions(FREEDOMS[joint.type]) for joint in robot.joints)
    require_state(robot.root, len(robot.links), nq, path)
    return _text(robot, axes), moments


def read_names(path: Path) -> Robot:
    """Read a URDF; refuse joints without a name and names too long, which make PyBullet crash."""
    robot = read(path, "pybullet")
    for name in (*robot.links, *(joint.name for joint in robot.joints)):
        if len(name.encode(errors="surrogateescape")) > NAME:
            raise adapter_error(
                f"PyBullet has no names of more than {NAME} bytes: {name[:20]!r}...", name, path
            )
    return robot


def _give_spherical_joints_a_link(robot: Robot) -> None:
    for k, joint in enumerate(robot.joints):
        if joint.type == "spherical":
            link = robot.unused(f"{joint.name}__origin")
            robot.links[link] = Inertia()
            robot.joints.append(_weld(link, joint.parent, joint.R, joint.r))
            robot.joints[k] = replace(joint, parent=link, R=np.eye(3), r=np.zeros(3))


def _principal_axes(tensor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return principal moments and a rotation whose columns are their axes."""
    moments = np.diag(tensor)
    if np.array_equal(tensor, np.diag(moments)):
        return moments, np.eye(3)
    moments, axes = np.linalg.eigh(tensor)
    moments[(moments < 0.0) & (moments > -NO_MOMENT * moments[2])] = 0.0
    axes[:, 2] *= np.linalg.det(axes)  # right-handed
    return moments, axes


def _give_odd_inertias_a_link(robot: Robot, axes: dict) -> dict[str, np.ndarray]:
    """Move inertias that PyBullet rejects to a welded extra link.

    A root keeps its mass, or its base would be fixed.
    """
    odd = {}
    for name, inertial in list(robot.links.items()):
        moments, R = axes[name]
        low, middle, high = np.sort(moments)
        plain = high < (1.0 - TRIANGLE_MARGIN) * (low + middle)
        if plain or not (inertial.mass or moments.any()):
            continue
        link = robot.unused(f"{name}__inertia")
        kept = inertial.mass if name == robot.root else 0.0
        robot.links[link] = replace(inertial, mass=inertial.mass - kept)
        robot.links[name] = replace(inertial, mass=kept)
        robot.joints.append(_weld(link, name, np.eye(3), np.zeros(3)))
        axes[link] = np.full(3, np.abs(moments).max()), R
        axes[name] = np.zeros(3), R
        odd[link] = moments
    return odd


def _weld(link: str, parent: str, R: np.ndarray, r: np.ndarray) -> Joint:
    return Joint(link, "fixed", parent, link, R, r, np.array([1.0, 0.0, 0.0]))


def _text(robot: Robot, axes: dict) -> str:
    """Return the URDF of the robot; numbers are written so that reading them gives the same doubles."""
    top = ET.Element("robot", name="sanitised")
    for name, inertial in robot.links.items():
        moments, R = axes[name]
        element = ET.SubElement(ET.SubElement(top, "link", name=name), "inertial")
        ET.SubElement(element, "origin", xyz=_words(inertial.com), rpy=_words(roll_pitch_yaw(R)))
        ET.SubElement(element, "mass", value=repr(float(inertial.mass)))
        diagonal = dict(zip(("ixx", "iyy", "izz"), map(repr, moments.tolist()), strict=True))
        ET.SubElement(element, "inertia", diagonal, ixy="0", ixz="0", iyz="0")
    for joint in robot.joints:
        element = ET.SubElement(top, "joint", name=joint.name, type=joint.type)
        ET.SubElement(element, "parent", link=joint.parent)
        ET.SubElement(element, "child", link=joint.child)
        ET.SubElement(element, "origin", xyz=_words(joint.r), rpy=_words(roll_pitch_yaw(joint.R)))
        ET.SubElement(element, "axis", xyz=_words(joint.axis))
        # lower > upper: PyBullet makes no limit constraint
        ET.SubElement(element, "limit", lower="1", upper="-1", effort="0", velocity="0")
    ET.indent(top)
    return ET.tostring(top, encoding="unicode")


def _words(values: np.ndarray) -> str:
    return " ".join(map(repr, values.tolist()))
