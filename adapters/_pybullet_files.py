"""Load a URDF into a client, rewritten by options where PyBullet reads it against its specification.

- "lines": every element gets a line of its own (PyBullet cuts lines after 8191 characters).
- "principal_axes": inertias are turned to their principal axes (PyBullet's Jacobi method stops early).
- "keep_inertia": an inertia that breaks the triangle inequality, which PyBullet sets to zero, or that is too
  close to it for PyBullet's mass matrix, moves to a link fixed to its own, where it is not checked. The text
  holds a stand-in for it, and the loader sets the true principal moments.
- "spherical_joints": a spherical joint starts from a link of its own at its origin (PyBullet's H drops the
  offset).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pybullet

from .._util.validation import as_vector
from .._util.xml import parse
from ..exceptions import AdapterError
from ..model._urdf import FREEDOMS, Robot, read, roll_pitch_yaw
from ..model.joints import Inertia
from ..tolerances import NO_MOMENT, TRIANGLE_MARGIN

REWRITING = {
    "lines": "cuts lines of the file after 8191 characters",
    "principal_axes": "computes principal axes of inertia to about ten digits",
    "keep_inertia": "sets an inertia that breaks the triangle inequality, or nearly does, to zero",
    "spherical_joints": "drops the offset of spherical joints from the mass matrix",
}
FROM_FILE = "inertia_from_file"
OPTIONS = {**REWRITING, FROM_FILE: "computes inertias from collision shapes, not from the file"}
SHAPELESS = pybullet.URDF_USE_INERTIA_FROM_FILE | pybullet.URDF_IGNORE_COLLISION_SHAPES
LINE = 8191  # characters
NAME = 1000  # bytes of a name; PyBullet cuts longer ones off, or crashes
LINKS = 128  # base included; PyBullet has no state of a body with more
# joint positions that PyBullet reads correctly: 128 less 7 of the base, less 1 for spherical joints
POSITIONS = 120


def read_robot(path: Path) -> Robot:
    """Read a URDF; refuse joints without a name, and names too long, which make PyBullet crash."""
    robot = read(path, "pybullet", (*FREEDOMS, "planar", "floating"))
    for name in (*robot.links, *(joint.name for joint in robot.joints)):
        if len(name.encode(errors="surrogateescape")) > NAME:
            reason = f"PyBullet has no names of more than {NAME} bytes: {name[:20]!r}..."
            raise AdapterError(f"{path}: {reason}", "pybullet", path, name)
    return robot


def require_state(base: str, links: int, nq: int) -> None:
    """Refuse a body too large for PyBullet's states, by its links and the entries of its joints in q."""
    if links > LINKS or nq > POSITIONS:
        raise AdapterError(
            f"{base!r} has {links} links and {nq} joint positions: PyBullet's limits are {LINKS} links, base "
            f"included, and {POSITIONS} positions",
            "pybullet",
        )


def is_cut(path: Path) -> bool:
    """Return whether PyBullet cuts a line of the file."""
    return any(len(line) > LINE for line in path.read_bytes().splitlines())


def loaded(path: Path, floating: bool, gravity, flags: int, text="", moments=None) -> tuple[int, int]:
    """Load a URDF, or another text of it, into a client of its own; return the numbers of body and client.

    Principal moments by link, which a text cannot hold, are set before the first mass matrix.
    """
    client, file = pybullet.connect(pybullet.DIRECT), path
    try:
        with TemporaryDirectory(prefix="treefactor") as folder:
            if text:
                pybullet.setAdditionalSearchPath(str(path.parent), physicsClientId=client)
                path = Path(folder, "rewritten.urdf")
                path.write_text(text, encoding="utf-8")
            body = pybullet.loadURDF(
                str(path),
                useFixedBase=not floating,
                flags=flags | pybullet.URDF_IGNORE_VISUAL_SHAPES,
                physicsClientId=client,
            )
        if gravity is not None:
            pybullet.setGravity(*as_vector(gravity, 3, "gravity"), physicsClientId=client)
        for i in range(pybullet.getNumJoints(body, physicsClientId=client) if moments else 0):
            own = moments.get(pybullet.getJointInfo(body, i, physicsClientId=client)[12].decode())
            if own is not None:
                pybullet.changeDynamics(body, i, localInertiaDiagonal=own.tolist(), physicsClientId=client)
    except pybullet.error as error:
        pybullet.disconnect(client)
        reason = f"PyBullet refused it, see its output ({error})"
        raise AdapterError(f"{file}: {reason}", "pybullet", file) from None
    except BaseException:
        pybullet.disconnect(client)
        raise
    return body, client


def rewritten(path: Path, robot: Robot, options: Collection[str], floating: bool) -> tuple[str, dict]:
    """Return the text of a URDF, and the principal moments (kg m^2) that it cannot hold, by link.

    A floating root link keeps some of its mass, or PyBullet would fix it. Unneeded shapes are left out,
    since PyBullet may not find their meshes. The text is empty if no option rewrites the file.
    """
    if not REWRITING.keys() & set(options):
        return "", {}
    top, moments = parse(path, "pybullet"), {}
    unneeded = ("visual", "collision") if FROM_FILE in options else ("visual",)
    for link in top.findall("link"):
        for shape in [part for part in link if part.tag in unneeded]:
            link.remove(shape)
        if link.find("inertial") is None:
            continue
        name = link.get("name", "")
        inertia = robot.links[name]
        principal, R = _principal_axes(inertia.tensor)
        if "keep_inertia" in options and _is_odd(principal) and (floating or name != robot.root):
            kept = inertia.mass / 2.0 if name == robot.root else 0.0
            mass, own = inertia.mass - kept, robot.unused(f"{name}__inertia")
            stand_in, at = np.full(3, np.abs(principal).max()), _origin(inertia, principal, R)
            _write(ET.SubElement(top, "link", name=own), mass, inertia.com - at, R, stand_in)
            _write(link, kept, inertia.com, R, np.zeros(3))
            _weld(top, own, name, {"xyz": _words(at)})
            moments[own] = principal
        elif "principal_axes" in options:
            _write(link, inertia.mass, inertia.com, R, principal)
    if "spherical_joints" in options:
        _move_spherical_joints(top, robot)
    if "lines" in options:
        ET.indent(top)
    return ET.tostring(top, encoding="unicode"), moments


def _principal_axes(tensor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return principal moments and a rotation whose columns are their axes."""
    moments = np.diag(tensor)
    if np.array_equal(tensor, np.diag(moments)):
        return moments, np.eye(3)
    moments, axes = np.linalg.eigh(tensor)
    moments[(moments < 0.0) & (moments > -NO_MOMENT * moments[2])] = 0.0
    axes[:, 2] *= np.linalg.det(axes)  # right-handed
    return moments, axes


def _is_odd(moments: np.ndarray) -> bool:
    low, middle, high = np.sort(moments)
    plain = high < (1.0 - TRIANGLE_MARGIN) * (low + middle)
    return not plain and bool(moments.any())


def _origin(inertia: Inertia, moments: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Return an origin about which the mass makes up for a negative moment, which PyBullet refuses."""
    if moments.min() >= 0.0 or not inertia.mass:
        return np.zeros(3)
    return inertia.com - R[:, moments.argmax()] * np.sqrt(-4.0 * moments.min() / inertia.mass)


def _write(link: ET.Element, mass: float, com: np.ndarray, R: np.ndarray, moments: np.ndarray) -> None:
    """Write an inertia into a link; reading the numbers gives the same doubles."""
    for old in link.findall("inertial"):
        link.remove(old)
    element = ET.SubElement(link, "inertial")
    ET.SubElement(element, "origin", xyz=_words(com), rpy=_words(roll_pitch_yaw(R)))
    ET.SubElement(element, "mass", value=repr(float(mass)))
    diagonal = dict(zip(("ixx", "iyy", "izz"), map(repr, moments.tolist()), strict=True))
    ET.SubElement(element, "inertia", diagonal, ixy="0", ixz="0", iyz="0")


def _move_spherical_joints(top: ET.Element, robot: Robot) -> None:
    """Let every spherical joint start from a link of its own, fixed where the joint is."""
    for joint in top.findall("joint[@type='spherical']"):
        parent, origin = joint.find("parent"), joint.find("origin")
        if origin is None:
            continue
        link = robot.unused(f"{joint.get('name')}__origin")
        _write(ET.SubElement(top, "link", name=link), 0.0, np.zeros(3), np.eye(3), np.zeros(3))
        _weld(top, link, parent.get("link"), origin.attrib)
        parent.set("link", link)
        joint.remove(origin)


def _weld(top: ET.Element, link: str, parent: str, origin: Mapping[str, str]) -> None:
    joint = ET.SubElement(top, "joint", name=link, type="fixed")
    ET.SubElement(joint, "parent", link=parent)
    ET.SubElement(joint, "child", link=link)
    ET.SubElement(joint, "origin", dict(origin))


def _words(values: np.ndarray) -> str:
    return " ".join(map(repr, values.tolist()))
