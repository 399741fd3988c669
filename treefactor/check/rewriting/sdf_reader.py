"""Read an SDF of a single model as a URDF: links with inertias, and joints."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..._util.xml import as_path, elements_with_lines, file_error, numbers, parse
from ...exceptions import AdapterError
from ...model import _urdf
from ...model._urdf_joints import KINDS
from ._elements import AMPLE, AXIAL
from ._sdf_poses import MODEL, RELATIVE, Poses
from ._xml_parts import INERTIA, set_place, words

VERSIONS = tuple(f"1.{minor}" for minor in range(4, 13))
BEFORE_FRAMES = ("1.4", "1.5", "1.6")  # versions in which poses are relative to the model only
IN_JOINT = 5  # minor version from which axes are those of the joint's frame, by default
TYPES = {
    **{"revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic"},
    **{"ball": "spherical", "fixed": "fixed"},
}
UNLIMITED = 1e16
DIAGONAL = ("ixx", "iyy", "izz")
TRUE = ("true", "1")
REFUSED = (  # elements in a model, the texts with which they matter, and the reason
    ("model", None, "nested models are not supported"),
    ("include", None, "included files are not supported"),
    ("static", TRUE, "a static model has no freedoms"),
    ("link/gravity", ("false", "0"), "a link without gravity is not supported"),
    ("link/kinematic", TRUE, "a kinematic link is not supported"),
    ("link/inertial/fluid_added_mass", None, "added mass is not supported"),
    ("joint/axis2", None, "a joint with two axes is not supported"),
)


class SdfRobot(NamedTuple):
    """Robot of an SDF: text of a URDF with its dynamics, and whether its root moves freely."""

    text: str
    floating: bool


def read_sdf(path) -> SdfRobot:
    """Read the only model of an SDF: version 1.4 to 1.12, one tree of links.

    Names of links and joints stay. A joint fixes the model where its parent is the world; if its pose is
    not the identity, or it moves, the URDF has a root link "world". A ball joint becomes a joint of the type
    "spherical", which `treefactor.Model.from_urdf` reads and other readers of URDF refuse. Where a joint does
    not lie at the origin of its child, a link without inertia comes between.

    Parameters
    ----------
    path : str or os.PathLike

    Raises
    ------
    AdapterError
        If the file cannot be read, or contains what a URDF cannot hold; names the line and the element.
    """
    path = as_path(path, None)
    parse(path, None)
    return _Reader(path).robot()


class _Reader:
    """Reads one file.

    Attributes
    ----------
    path : pathlib.Path
    minor : int
        9 for SDF 1.9.
    model : xml.etree.ElementTree.Element
    poses : Poses
    top : xml.etree.ElementTree.Element
        The ``<robot>`` that is made.
    """

    def __init__(self, path: Path):
        self.path = path
        sdf, self.lines = elements_with_lines(path.read_bytes())
        version = sdf.get("version", "")
        if sdf.tag != "sdf" or version not in VERSIONS:
            versions = f"{VERSIONS[0]} to {VERSIONS[-1]}"
            raise self.error(sdf, f"expected <sdf> of version {versions}, got version {version!r}")
        self.minor = int(version.removeprefix("1."))
        wrong = [element for element in sdf if element.tag != "model"] or list(sdf)[1:]
        if wrong or not len(sdf):
            raise self.error([*wrong, sdf][0], "expected a file with one <model> and nothing else")
        self.model = sdf[0]
        self.require_supported()
        self.poses = Poses(self.model, self.minor, self.error)
        self.top = ET.Element("robot", name=self.model.get("name", ""))
        self.taken = {"world", *self.poses.links, *self.poses.joints}

    def error(self, element: ET.Element, reason: str) -> AdapterError:
        """Return an error that names the file, the line and the element."""
        name = element.get("name", "")
        shown = f"<{element.tag} {name!r}>" if name else f"<{element.tag}>"
        return file_error(self.path, None, f"line {self.lines[element]}, {shown}: {reason}", name or None)

    def require_supported(self) -> None:
        """Raise AdapterError for what a URDF cannot hold."""
        for tag, texts, reason in REFUSED:
            for element in self.model.iterfind(tag):
                if texts is None or (element.text or "").strip() in texts:
                    raise self.error(element, reason)
        if self.model.get("placement_frame"):
            raise self.error(self.model, "a placement_frame is not supported")

    def robot(self) -> SdfRobot:
        """Return the robot of the file."""
        links, joints = self.poses.links, dict(self.poses.joints)
        for name, link in links.items():
            self.add_link(name, link)
        to_world = [joint for joint in joints.values() if self.text(joint, "parent") == "world"]
        world = self.poses.written(self.model)
        if len(to_world) == 1 and self.is_plain(to_world[0], world):
            del joints[to_world[0].get("name", "")]
        elif to_world:
            ET.SubElement(self.top, "link", name="world")
        for joint in joints.values():
            self.add_joint(joint, world)
        ET.indent(self.top)
        text = ET.tostring(self.top, encoding="unicode")
        _urdf.read(self.path, None, {*KINDS, "fixed"}, text)  # refuses all but one tree
        return SdfRobot(text, not to_world)

    def is_plain(self, joint: ET.Element, world: np.ndarray) -> bool:
        """Return whether a joint fixes a link whose frame is that of the world."""
        child = self.poses.links[self.poses.link_of(self.text(joint, "child"), joint)]
        return joint.get("type") == "fixed" and np.array_equal(world @ self.poses.pose(child), np.eye(4))

    def add_link(self, name: str, link: ET.Element) -> None:
        """Add a link; entries that its inertia lacks are one, or zero off the diagonal."""
        own = ET.SubElement(ET.SubElement(self.top, "link", name=name), "inertial")
        inertial = link.find("inertial")
        if inertial is not None:
            pose = inertial.find("pose")
            if inertial.get("auto", "false") in TRUE:
                raise self.error(inertial, "an inertia computed from shapes is not supported")
            if pose is not None and pose.get("relative_to"):
                raise self.error(pose, "the pose of an inertia must be relative to its link")
        place = np.eye(4) if inertial is None else self.poses.written(inertial)
        set_place(own, place[:3, :3], place[:3, 3])
        mass = self.number(link, "inertial/mass", 1.0)
        ET.SubElement(own, "mass", value=words([mass]))
        values = [self.number(link, f"inertial/inertia/{key}", float(key in DIAGONAL)) for key in INERTIA]
        ET.SubElement(own, "inertia", dict(zip(INERTIA, map(words, np.c_[values]), strict=True)))

    def add_joint(self, joint: ET.Element, world: np.ndarray) -> None:
        """Add a joint, and a link between it and its child if it does not lie at the child's origin."""
        name, kind, poses = joint.get("name", ""), joint.get("type", ""), self.poses
        if kind not in TYPES:
            raise self.error(joint, f"its type {kind!r} is not one of {', '.join(TYPES)}")
        parent, child = self.text(joint, "parent"), poses.link_of(self.text(joint, "child"), joint)
        if parent == "world":
            place = world @ poses.pose(joint)
        else:
            parent = poses.link_of(parent, joint)
            place = poses.in_frame(joint, poses.links[parent])
        offset = poses.of_child(joint, poses.links[child])
        axis = offset[:3, :3].T @ self.axis(joint) if TYPES[kind] in AXIAL else np.zeros(3)
        at_origin = not offset[:3, 3].any() and kind != "ball"
        if at_origin or kind in ("prismatic", "fixed") or np.array_equal(offset, np.eye(4)):
            self.write_joint(name, TYPES[kind], place @ offset, parent, child, axis, joint)
            return
        between = self.unused(f"{name}_frame")
        ET.SubElement(self.top, "link", name=between)
        self.write_joint(name, TYPES[kind], place, parent, between, offset[:3, :3] @ axis, joint)
        self.write_joint(self.unused(f"{name}_offset"), "fixed", offset, between, child, axis, joint)

    def write_joint(
        self, name: str, kind: str, place: np.ndarray, parent: str, child: str, axis, source: ET.Element
    ) -> None:
        """Add a joint of the URDF; properties of an axis come from the joint of the SDF."""
        joint = ET.SubElement(self.top, "joint", name=name, type=kind)
        set_place(joint, place[:3, :3], place[:3, 3])
        ET.SubElement(joint, "parent", link=parent)
        ET.SubElement(joint, "child", link=child)
        if kind not in AXIAL:
            return
        ET.SubElement(joint, "axis", xyz=words(axis))
        lower = self.number(source, "axis/limit/lower", -UNLIMITED)
        upper = self.number(source, "axis/limit/upper", UNLIMITED)
        if kind == "revolute" and -lower >= UNLIMITED <= upper:
            joint.set("type", "continuous")
        ample = {key: self.number(source, f"axis/limit/{key}", -1.0) for key in ("effort", "velocity")}
        limit = {key: words([value]) if 0.0 <= value < UNLIMITED else AMPLE for key, value in ample.items()}
        if joint.get("type") != "continuous":
            limit |= {"lower": words([lower]), "upper": words([upper])}
        ET.SubElement(joint, "limit", limit)
        self.add_dynamics(joint, source)

    def add_dynamics(self, joint: ET.Element, source: ET.Element) -> None:
        """Add damping and friction, and the joint that leads a mimic joint."""
        friction = {key: self.number(source, f"axis/dynamics/{key}", 0.0) for key in ("damping", "friction")}
        if any(friction.values()):
            ET.SubElement(joint, "dynamics", {key: words([value]) for key, value in friction.items()})
        mimic = source.find("axis/mimic")
        if mimic is not None:
            ratio = self.number(mimic, "multiplier", 1.0)
            offset = self.number(mimic, "offset", 0.0) - ratio * self.number(mimic, "reference", 0.0)
            leader = mimic.get("joint", "")
            ET.SubElement(joint, "mimic", joint=leader, multiplier=words([ratio]), offset=words([offset]))

    def axis(self, joint: ET.Element) -> np.ndarray:
        """Return the axis in the frame of the joint."""
        xyz = joint.find("axis/xyz")
        if xyz is None:
            return np.array([0.0, 0.0, 1.0])
        axis, frame = numbers(xyz.text or ""), None
        if axis is None or len(axis) != 3 or not any(axis) or not np.isfinite(axis).all():
            raise self.error(xyz, f"expected a direction, got {xyz.text!r}")
        in_model = self.text(
            joint, "axis/use_parent_model_frame", "false" if self.minor >= IN_JOINT else "true"
        )
        if self.minor >= RELATIVE:
            frame = xyz.get("expressed_in", "")
        elif in_model in TRUE:
            frame = MODEL
        if not frame:
            return np.array(axis)
        M = self.poses.in_frame(self.poses.named(frame, xyz), joint)
        return M[:3, :3] @ axis

    def text(self, element: ET.Element, path: str, default: str | None = None) -> str:
        """Return the text of an element below another one."""
        text = element.findtext(path, default)
        if text is None:
            raise self.error(element, f"it lacks <{path}>")
        return text.strip()

    def number(self, element: ET.Element, path: str, default: float) -> float:
        """Return the number below an element, which may be infinite only for limits."""
        child = element.find(path)
        if child is None:
            return default
        values = numbers(child.text or "")
        if values is None or len(values) != 1 or values[0] != values[0]:
            raise self.error(child, f"expected a number, got {child.text!r}")
        return values[0]

    def unused(self, name: str) -> str:
        """Return a name for a new link or joint."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name
