"""A copy of a URDF that holds its dynamics only and that PyBullet reads as the URDF means it.

Kept: moving joints with type, origin and axis, the links they move, their names. Left out: visual and
collision shapes (so no mesh is looked for), limits, joint damping and friction, mimic, extensions.
Rewritten: what PyBullet misreads.

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
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from ..exceptions import AdapterError

TRIANGLE_MARGIN = 1e-9  # relative; closer than this to equality, round-off decides in PyBullet's check
ROUND_OFF = 1e-14  # relative; a negative principal moment as small as this is zero
FREEDOMS = {"revolute": 1, "continuous": 1, "prismatic": 1, "spherical": 3, "fixed": 0}


@dataclass(frozen=True)
class Inertial:
    """Mass (kg), CoM (m) and inertia tensor about it (kg m^2), in the axes of a link."""

    mass: float
    com: np.ndarray
    tensor: np.ndarray

    def moved(self, R: np.ndarray, r: np.ndarray) -> Inertial:
        """Same inertia, seen from a frame in which that of the link has rotation R and origin r."""
        return Inertial(self.mass, r + R @ self.com, R @ self.tensor @ R.T)

    def __add__(self, other: Inertial) -> Inertial:
        """Inertia of both together."""
        mass = self.mass + other.mass
        com = (self.mass * self.com + other.mass * other.com) / mass if mass else np.zeros(3)
        tensor = np.zeros((3, 3))
        for part in (self, other):  # parallel axes: I + m (d'd 1 - d d')
            d = part.com - com
            tensor += part.tensor + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
        return Inertial(mass, com, tensor)


NOTHING = Inertial(0.0, np.zeros(3), np.zeros((3, 3)))


@dataclass(frozen=True)
class Joint:
    """A joint of a URDF; R and r place it in the parent link, axis is of unit length."""

    name: str
    type: str
    parent: str
    child: str
    R: np.ndarray
    r: np.ndarray
    axis: np.ndarray


@dataclass
class Robot:
    """Links by name and joints in the order of the file."""

    root: str
    links: dict[str, Inertial]
    joints: list[Joint]

    def unused(self, name: str) -> str:
        """Return a name for a new link or joint, made from that of an old one."""
        taken = self.links.keys() | {joint.name for joint in self.joints}
        while name in taken:
            name += "_"
        return name


def sanitised(path: Path, floating: bool) -> tuple[str, dict[str, np.ndarray]]:
    """Text of the copy for PyBullet, and the principal moments (kg m^2) it could not hold, by link name.

    Raises
    ------
    AdapterError
        Where the file is missing, no well-formed XML, no URDF, or has a joint without dynamics in PyBullet.
    """
    robot = without_fixed_joints(read(path))
    if not floating:
        robot.links[robot.root] = NOTHING
    elif not robot.links[robot.root].mass:
        raise _error(
            path, f"root link {robot.root!r} has no mass, and PyBullet fixes such a base", robot.root
        )
    _give_spherical_joints_a_link(robot)
    axes = {name: _principal_axes(inertial.tensor) for name, inertial in robot.links.items()}
    moments = _give_odd_inertias_a_link(robot, axes)
    return _text(robot, axes), moments


def without_fixed_joints(robot: Robot) -> Robot:
    """Robot in which every link but the root moves; links on fixed joints are merged into their carriers."""
    merged = Robot(robot.root, {robot.root: robot.links[robot.root]}, [])
    waiting = [(robot.root, robot.root, np.eye(3), np.zeros(3))]
    while waiting:
        link, carrier, R, r = waiting.pop()
        for joint in robot.joints:
            if joint.parent != link:
                continue
            placed = R @ joint.R, r + R @ joint.r
            inertial = robot.links[joint.child]
            if joint.type == "fixed":
                merged.links[carrier] += inertial.moved(*placed)
                waiting.append((joint.child, carrier, *placed))
            else:
                merged.links[joint.child] = inertial
                merged.joints.append(Joint(joint.name, joint.type, carrier, joint.child, *placed, joint.axis))
                waiting.append((joint.child, joint.child, np.eye(3), np.zeros(3)))
    return merged


def roll_pitch_yaw(R: np.ndarray) -> np.ndarray:
    """Angles x, y, z with R = Rz Ry Rx; where they are not unique, any that give R."""
    z = np.arctan2(R[1, 0], R[0, 0])
    c, s = np.cos(z), np.sin(z)
    row = c * R[1] - s * R[0]  # second row of Ry Rx: (0, cos x, -sin x)
    return np.array([np.arctan2(-row[2], row[1]), np.arctan2(-R[2, 0], c * R[0, 0] + s * R[1, 0]), z])


def read(path: Path) -> Robot:
    """Links and joints of a URDF."""
    try:
        source = path.read_bytes().strip()
    except OSError as error:
        raise _error(path, f"cannot read it: {error.strerror}") from None
    try:
        top = ET.fromstring(source)
    except (ET.ParseError, ValueError, LookupError) as error:  # the last two: an encoding nobody knows
        raise _error(path, f"not well-formed XML: {error}") from None
    if _tag(top) != "robot":
        raise _error(path, f"no URDF: the root element is <{_tag(top)}>, not <robot>")
    links = {}
    for link in _children(top, "link"):
        name = _attribute(path, link, "name")
        if name in links:
            raise _error(path, f"two links are called {name!r}", name)
        links[name] = _read_inertial(path, link, name)
    joints = [_read_joint(path, joint, links) for joint in _children(top, "joint")]
    names = [joint.name for joint in joints]
    odd = [name for name in {*names, *links} if not name or names.count(name) > 1]
    if odd:
        raise _error(path, f"a joint or link has no name, or two joints are called {odd[0]!r}", odd[0])
    return Robot(_root(path, links, joints), links, joints)


def _read_inertial(path: Path, link: ET.Element, name: str) -> Inertial:
    element = _child(link, "inertial")
    if element is None:
        return NOTHING
    mass, inertia = _child(element, "mass"), _child(element, "inertia")
    if mass is None or inertia is None:
        raise _error(path, f"<inertial> of link {name!r} lacks <mass> or <inertia>", name)
    R, r = _origin(path, element, name)
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    m, *values = _numbers(path, [_attribute(path, mass, "value"), *(inertia.get(k, "0") for k in keys)], name)
    if m < 0.0:
        raise _error(path, f"link {name!r} has a negative mass, {m}", name)
    tensor = np.array(values)[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
    return Inertial(m, r, R @ tensor @ R.T)


def _read_joint(path: Path, element: ET.Element, links: dict[str, Inertial]) -> Joint:
    name, kind = _attribute(path, element, "name"), _attribute(path, element, "type")
    if kind not in FREEDOMS:
        raise _error(path, f"joint {name!r} is {kind}: there is no such joint here", name)
    ends = [_child(element, end) for end in ("parent", "child")]
    if None in ends:
        raise _error(path, f"joint {name!r} lacks <parent> or <child>", name)
    parent, child = (_attribute(path, end, "link") for end in ends)
    if parent not in links or child not in links:
        raise _error(path, f"joint {name!r} joins {parent!r} to {child!r}, which are not both links", name)
    found = _child(element, "axis")
    axis = np.array([1.0, 0.0, 0.0])  # the default of the URDF specification
    if found is not None and FREEDOMS[kind] == 1:
        axis = _numbers(path, _attribute(path, found, "xyz").split(), name)
        if axis.size != 3 or not axis.any():
            raise _error(path, f"the axis of joint {name!r} is no direction", name)
    return Joint(name, kind, parent, child, *_origin(path, element, name), axis / np.linalg.norm(axis))


def _root(path: Path, links: dict[str, Inertial], joints: list[Joint]) -> str:
    """Name of the one link that is no child; every other link must hang from it."""
    parent = {joint.child: joint.parent for joint in joints}
    if len(parent) < len(joints):
        raise _error(path, "a link has two parent joints: the mechanism has a closed loop")
    roots = [name for name in links if name not in parent]
    if len(roots) != 1:
        raise _error(path, f"a URDF has one root link, this one has {len(roots)}: {', '.join(roots[:5])}")
    reached, waiting = set(), [roots[0]]
    while waiting:
        link = waiting.pop()
        reached.add(link)
        waiting += [joint.child for joint in joints if joint.parent == link]
    if len(reached) < len(links):
        raise _error(path, f"link {min(links.keys() - reached)!r} does not hang from root {roots[0]!r}")
    return roots[0]


def _give_spherical_joints_a_link(robot: Robot) -> None:
    for k, joint in enumerate(robot.joints):
        if joint.type == "spherical":
            link = robot.unused(f"{joint.name}__origin")
            robot.links[link] = NOTHING
            robot.joints.append(_weld(link, joint.parent, joint.R, joint.r))
            robot.joints[k] = replace(joint, parent=link, R=np.eye(3), r=np.zeros(3))


def _principal_axes(tensor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Principal moments and a rotation whose columns are their axes."""
    moments = np.diag(tensor)
    if np.array_equal(tensor, np.diag(moments)):
        return moments, np.eye(3)
    moments, axes = np.linalg.eigh(tensor)
    moments[(moments < 0.0) & (moments > -ROUND_OFF * moments[2])] = 0.0
    axes[:, 2] *= np.linalg.det(axes)  # right-handed
    return moments, axes


def _give_odd_inertias_a_link(robot: Robot, axes: dict) -> dict[str, np.ndarray]:
    """Split links PyBullet would not take whole; the mass of a root stays, for it frees the base."""
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
    """URDF of the robot; numbers are written so that reading them gives the same doubles."""
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


def _origin(path: Path, element: ET.Element, name: str) -> tuple[np.ndarray, np.ndarray]:
    origin = _child(element, "origin")
    texts = ("0 0 0",) * 2 if origin is None else (origin.get("xyz", "0 0 0"), origin.get("rpy", "0 0 0"))
    xyz, rpy = (_numbers(path, text.split(), name) for text in texts)
    if xyz.size != 3 or rpy.size != 3:
        raise _error(path, f"the <origin> of {name!r} does not hold three numbers each", name)
    return Rotation.from_euler("xyz", rpy).as_matrix(), xyz


def _numbers(path: Path, words: list[str], name: str) -> np.ndarray:
    try:
        values = np.array([float(word) for word in words])
    except ValueError as error:
        raise _error(path, f"{name!r}: {error}", name) from None
    if not np.isfinite(values).all():
        raise _error(path, f"{name!r} holds a number that is not finite", name)
    return values


def _attribute(path: Path, element: ET.Element, key: str) -> str:
    value = element.get(key)
    if value is None:
        raise _error(path, f"a <{_tag(element)}> lacks the attribute {key!r}")
    return value


def _tag(element: ET.Element) -> str:
    """Tag without its namespace, which no reader of URDF heeds."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _children(element: ET.Element, tag: str) -> list[ET.Element]:
    return [child for child in element if _tag(child) == tag]


def _child(element: ET.Element, tag: str) -> ET.Element | None:
    return next(iter(_children(element, tag)), None)


def _error(path: Path, reason: str, name: str | None = None) -> AdapterError:
    return AdapterError(f"{path}: {reason}", "pybullet", path, name)
