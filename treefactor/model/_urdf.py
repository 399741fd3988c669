"""Parse a URDF into links and joints, and merge links on fixed joints."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from .._util.messages import similar
from .._util.rotations import unit
from .._util.urdf_numbers import dropped
from .._util.xml import fault_of_number, numbers, parse, part_error, require_numbers
from ..exceptions import AdapterError
from .joints import Inertia

REMEDIES = {  # what to write into an <inertial>, by the element that it lacks
    "mass": "write it in kg, or take out the <inertial> of a link without mass",
    "inertia": "write ixx, ixy, ixz, iyy, iyz and izz in kg m^2 (all 0 for a mass in a point), or take out "
    "the <inertial> of a link without mass",
}
FREEDOMS = {"revolute": 1, "continuous": 1, "prismatic": 1, "spherical": 3, "fixed": 0}


@dataclass(frozen=True)
class Joint:
    """Joint of a URDF: R and r place it in the parent link, axis has unit length.

    Attributes of ``<limit>`` and ``<mimic>`` are kept as written, None without that element; engines do not
    receive them.
    """

    name: str
    type: str
    parent: str
    child: str
    R: np.ndarray
    r: np.ndarray
    axis: np.ndarray
    limit: Mapping[str, str] | None = None
    mimic: Mapping[str, str] | None = None


@dataclass
class Robot:
    """Links by name, and joints in the order of the file.

    ``dropped`` has the numbers for which Pinocchio reads another inertia of a link: see `dropped`.
    """

    root: str
    links: dict[str, Inertia]
    joints: list[Joint]
    name: str = ""
    dropped: dict[str, tuple[str, str, str | None]] = field(default_factory=dict)

    def __post_init__(self):
        self._taken = self.links.keys() | {joint.name for joint in self.joints}

    def unused(self, name: str) -> str:
        """Return a name for a new link or joint, made from that of an old one."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name


def joints_by_parent(joints: list[Joint]) -> dict[str, list[Joint]]:
    """Return the joints of every parent link, in their order."""
    children: dict[str, list[Joint]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)
    return children


def without_fixed_joints(robot: Robot) -> Robot:
    """Return the robot with links on fixed joints merged into their parents.

    Joints come depth first, those on one link in their order.
    """
    links, joints = {robot.root: robot.links[robot.root]}, []
    for joint, carrier, R, r in carried_joints(robot):
        inertia = robot.links[joint.child]
        if joint.type == "fixed":
            links[carrier] += inertia.moved(R, r)
        else:
            links[joint.child] = inertia
            joints.append(replace(joint, parent=carrier, R=R, r=r))
    return Robot(robot.root, links, joints, robot.name)


def carried_joints(robot: Robot) -> Iterator[tuple[Joint, str, np.ndarray, np.ndarray]]:
    """Yield every joint, depth first, with its place R, r in the link that carries its parent link.

    The root, and every link on a joint that moves, carries itself; a link on a fixed joint is carried by the
    link that carries its parent.
    """
    below = joints_by_parent(robot.joints)
    waiting = [(joint, robot.root, np.eye(3), np.zeros(3)) for joint in reversed(below.get(robot.root, []))]
    while waiting:
        joint, carrier, R, r = waiting.pop()  # placement of the parent link in the link that carries it
        R, r = R @ joint.R, r + R @ joint.r
        yield joint, carrier, R, r
        if joint.type != "fixed":
            carrier, R, r = joint.child, np.eye(3), np.zeros(3)
        waiting += [(other, carrier, R, r) for other in reversed(below.get(joint.child, []))]


def roll_pitch_yaw(R: np.ndarray) -> np.ndarray:
    """Return angles x, y, z with R = Rz Ry Rx; if they are not unique, any that give R."""
    z = np.arctan2(R[1, 0], R[0, 0])
    c, s = np.cos(z), np.sin(z)
    row = c * R[1] - s * R[0]  # second row of Ry Rx: (0, cos x, -sin x)
    return np.array([np.arctan2(-row[2], row[1]), np.arctan2(-R[2, 0], c * R[0, 0] + s * R[1, 0]), z])


def _dropped(top: ET.Element, links: Mapping[str, Inertia]) -> dict[str, tuple[str, str, str | None]]:
    """Return by link the numbers for which Pinocchio reads another inertia."""
    lost = {}
    for link in top.iterfind("link[inertial]"):
        name, number = link.get("name", ""), dropped(link.find("inertial"))
        if number and (links[name].tensor.any() or (number[0] != "inertia" and links[name].mass)):
            lost[name] = number  # and what Pinocchio takes as zero is not zero
    return lost


def _advice(tag: str) -> str:
    """Return advice for a file of another format, by its root element."""
    return "; treefactor.adapters.mujoco_ loads an MJCF" if tag == "mujoco" else ""


def read(
    path: Path, engine: str | None = None, types: Collection[str] = FREEDOMS, text: str | bytes | None = None
) -> Robot:
    """Read the links and joints of a URDF.

    Parameters
    ----------
    path : pathlib.Path
    engine : str, optional
        Engine that will load the robot; errors name it.
    types : collection of str
        Joint types that are accepted.
    text : str or bytes, optional
        Text of the URDF, instead of the file; path is its name in errors.

    Raises
    ------
    AdapterError
        If the file is missing, is not well-formed XML, not a URDF or not a tree, holds a number that is not
        finite, or has a joint of another type; names the file, the reason and the link or joint.
    """
    return _Reader(path, engine, types, text).robot()


@dataclass(frozen=True)
class _Reader:
    """Reads one file for one engine; every error names both."""

    path: Path
    engine: str | None
    types: Collection[str]
    text: str | bytes | None = None

    def robot(self) -> Robot:
        """Return the robot of the file."""
        top = parse(self.path, self.engine, self.text)
        require_numbers(top, self.path, self.engine, self.text)
        if top.tag != "robot":
            raise self.error(
                f"not a URDF: the root element is <{top.tag}>, expected <robot>{_advice(top.tag)}"
            )
        self.require_names(top)
        links = {link.get("name", ""): self.inertial(link) for link in top.iterfind("link")}
        joints = [self.joint(joint, links) for joint in top.iterfind("joint")]
        return Robot(self.root(links, joints), links, joints, top.get("name", ""), _dropped(top, links))

    def require_names(self, top: ET.Element) -> None:
        """Raise AdapterError unless links have names of their own, and joints too."""
        for tag in ("link", "joint"):
            taken: set[str] = set()
            for part in top.iterfind(tag):
                name = part.get("name")
                if not name:
                    lacks = "has an empty name" if name == "" else "lacks the attribute 'name'"
                    raise self.error(f"a <{tag}> {lacks}: write one", name, tag)
                if name in taken:
                    raise self.error(f"two {tag}s are called {name!r}: rename one", name, tag, 1)
                taken.add(name)

    def inertial(self, link: ET.Element) -> Inertia:
        """Return the inertia of a link."""
        name, element = link.get("name", ""), link.find("inertial")
        if element is None:
            return Inertia()
        mass, inertia = element.find("mass"), element.find("inertia")
        for tag, part in (("mass", mass), ("inertia", inertia)):
            if part is None:
                raise self.error(f"<inertial> of link {name!r} lacks <{tag}>: {REMEDIES[tag]}", name, "link")
        R, r = self.origin(link, element)
        keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        [m] = self.numbers(link, mass, "value", 1)
        values = [self.numbers(link, inertia, key, 1)[0] if key in inertia.attrib else 0.0 for key in keys]
        if m < 0.0:
            raise self.error(f"link {name!r} has a negative mass, {m}", name, "link")
        tensor = np.array(values)[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
        return Inertia(m, r, R @ tensor @ R.T)

    def joint(self, element: ET.Element, links: dict[str, Inertia]) -> Joint:
        """Return a joint between links that exist."""
        name, kind = element.get("name", ""), self.attribute(element, element, "type")
        if kind not in self.types:
            known = ", ".join(sorted(self.types))
            raise self.error(f"joint {name!r} has type {kind!r}, which is not one of {known}", name, "joint")
        ends = [element.find(end) for end in ("parent", "child")]
        if None in ends:
            raise self.error(f"joint {name!r} lacks <parent> or <child>", name, "joint")
        parent, child = (self.attribute(element, end, "link") for end in ends)
        if parent not in links or child not in links:
            end = parent if parent not in links else child
            odd = f"joins {parent!r} to {child!r}, but {end!r} is not a link{similar(end, links)}"
            raise self.error(f"joint {name!r} {odd}", name, "joint")
        placed = element.find("axis")
        axis = np.array([1.0, 0.0, 0.0])  # the default of the URDF specification
        if placed is not None and FREEDOMS.get(kind) == 1:
            axis = self.numbers(element, placed, "xyz")
            if axis.size != 3 or not axis.any():
                raise self.error(f"the axis of joint {name!r} is not a direction", name, "joint")
        words = (getattr(element.find(tag), "attrib", None) for tag in ("limit", "mimic"))
        return Joint(name, kind, parent, child, *self.origin(element, element), unit(axis), *words)

    def root(self, links: dict[str, Inertia], joints: list[Joint]) -> str:
        """Return the name of the root link; raise AdapterError unless all links form one tree."""
        above: dict[str, str] = {}  # names of joints by those of their child links
        for joint in joints:
            if joint.child in above:
                both = f"two parent joints, {above[joint.child]!r} and {joint.name!r}"
                reason = f"link {joint.child!r} has {both}: the mechanism has a closed loop"
                raise self.error(reason, joint.name, "joint")
            above[joint.child] = joint.name
        roots = [name for name in links if name not in above]
        if len(roots) > 1:
            reason = f"a URDF has one root link, this one has {len(roots)}: {', '.join(roots[:5])}"
            raise self.error(f"{reason}; connect them by joints", roots[1], "link")
        if not roots:
            circle = ": every link is the child of a joint, so joints form a circle" if links else ""
            raise self.error(f"a URDF has one root link, this one has 0{circle}")
        below, reached, waiting = joints_by_parent(joints), set(), [roots[0]]
        while waiting:
            link = waiting.pop()
            reached.add(link)
            waiting += [joint.child for joint in below.get(link, [])]
        if len(reached) < len(links):
            lost = min(links.keys() - reached)
            raise self.error(f"link {lost!r} does not hang from root {roots[0]!r}", lost, "link")
        return roots[0]

    def origin(self, part: ET.Element, element: ET.Element) -> tuple[np.ndarray, np.ndarray]:
        """Return rotation and position of the ``<origin>`` of an element, in a link or joint."""
        from scipy.spatial.transform import Rotation

        origin = element.find("origin")
        given = {} if origin is None else origin.attrib
        xyz, rpy = (
            self.numbers(part, origin, key) if key in given else np.zeros(3) for key in ("xyz", "rpy")
        )
        if xyz.size != 3 or rpy.size != 3:
            name = part.get("name", "")
            reason = f"the <origin> of {name!r} does not hold three numbers each"
            raise self.error(reason, name, part.tag)
        return Rotation.from_euler("xyz", rpy).as_matrix(), xyz

    def numbers(
        self, part: ET.Element, element: ET.Element, key: str, count: int | None = None
    ) -> np.ndarray:
        """Return the numbers of an attribute; raise AdapterError unless it has that many."""
        text, name = self.attribute(part, element, key), part.get("name", "")
        values = numbers(text)
        if values is None or count not in (None, len(values)):
            reason = fault_of_number(part.tag, name, element.tag, key, text)
            raise self.error(reason, name, part.tag)
        return np.array(values, dtype=float)

    def attribute(self, part: ET.Element, element: ET.Element, key: str) -> str:
        """Return an attribute; raise AdapterError if the element, in a link or joint, lacks it."""
        value, name = element.get(key), part.get("name", "")
        if value is None:
            reason = f"the <{element.tag}> of {part.tag} {name!r} lacks the attribute {key!r}"
            raise self.error(reason, name, part.tag)
        return value

    def error(self, reason: str, name: str | None = None, tag: str = "", at: int = 0) -> AdapterError:
        """Return an error that names the file, the engine, and the link or joint with its line."""
        return part_error(self.path, self.engine, reason, name, self.text, tag, at)
