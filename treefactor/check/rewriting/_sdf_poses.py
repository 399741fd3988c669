"""Resolve the poses of an SDF model: of its links, joints and frames in the frame of the model."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np

from ... import so3
from ..._util.rotations import unit
from ..._util.xml import numbers
from ...exceptions import AdapterError
from ._xml_parts import matrix, rotation

MODEL = "__model__"
RELATIVE = 7  # minor version from which poses can be relative to frames
Refusal = Callable[[ET.Element, str], AdapterError]  # makes the error that names an element and a reason


class Poses:
    """Poses of the links, joints and frames of a model.

    Parameters
    ----------
    model : xml.etree.ElementTree.Element
    minor : int
        Version of the format: 9 for 1.9.
    error : callable
        Returns the error about an element.
    """

    def __init__(self, model: ET.Element, minor: int, error: Refusal):
        self.minor, self.error = minor, error
        self.links = self._named(model, "link")
        self.joints = self._named(model, "joint")
        self.frames = self._named(model, "frame") if minor >= RELATIVE else {}
        self._poses: dict[ET.Element, np.ndarray] = {}

    def _named(self, model: ET.Element, tag: str) -> dict[str, ET.Element]:
        named: dict[str, ET.Element] = {}
        for element in model.iterfind(tag):
            name = element.get("name", "")
            if not name or name in named:
                raise self.error(element, "its name is missing, or that of another one")
            named[name] = element
        return named

    def named(self, name: str, user: ET.Element) -> ET.Element | None:
        """Return the link, joint or frame of a name that an element uses; None for the model."""
        if name == MODEL:
            return None
        for known in (self.links, self.frames, self.joints):
            if name in known:
                return known[name]
        raise self.error(user, f"the model has no link, joint or frame {name!r}")

    def link_of(self, name: str, user: ET.Element) -> str:
        """Return the link that a name stands for: its own, or the one to which a frame is attached."""
        seen = set()
        while name in self.frames and name not in seen:
            seen.add(name)
            name = self.frames[name].get("attached_to", MODEL)
        if name not in self.links:
            raise self.error(user, f"{name!r} is not a link, nor a frame attached to one")
        return name

    def pose(self, element: ET.Element | None) -> np.ndarray:
        """Return the pose (4, 4) of a link, joint or frame in the frame of the model."""
        waiting = []  # from the element towards the model
        while element is not None and element not in self._poses:
            if element in waiting:
                raise self.error(element, "its pose is relative to itself")
            waiting.append(element)
            element = self._base(element)
        known = np.eye(4) if element is None else self._poses[element]
        for element in reversed(waiting):
            known = self._poses[element] = known @ self.written(element)
        return known

    def in_frame(self, element: ET.Element | None, other: ET.Element | None) -> np.ndarray:
        """Return the pose of one element in the frame of another; None for the model."""
        if element is not None and other is not None and self._base(element) is other:
            return self.written(element)
        (M, N) = (self.pose(part) for part in (other, element))
        R = M[:3, :3].T
        return matrix(R @ N[:3, :3], R @ (N[:3, 3] - M[:3, 3]))

    def of_child(self, joint: ET.Element, child: ET.Element) -> np.ndarray:
        """Return the pose of the child link in the frame of its joint."""
        if self._base(joint) is not child:
            return self.in_frame(child, joint)
        place = self.written(joint)
        return matrix(place[:3, :3].T, -place[:3, :3].T @ place[:3, 3])

    def _base(self, element: ET.Element) -> ET.Element | None:
        """Return the element whose frame the pose of another one is relative to; None for the model."""
        pose = element.find("pose")
        name = "" if pose is None else pose.get("relative_to", "")
        if not name and element.tag == "joint":
            name = element.findtext("child", "").strip()
        if not name and element.tag == "frame":
            name = element.get("attached_to", "")
        return self.named(name, element) if name else None

    def written(self, element: ET.Element) -> np.ndarray:
        """Return the pose as written in an element, relative to its base."""
        pose = element.find("pose")
        if pose is None:
            return np.eye(4)
        strange = {"frame", "relative_to"} if self.minor < RELATIVE else {"frame"}
        if any(pose.get(key) for key in strange):
            raise self.error(pose, f"SDF 1.{self.minor} does not define poses in other frames")
        values = numbers(pose.text or "0 0 0 0 0 0")
        quaternion = pose.get("rotation_format", "euler_rpy") == "quat_xyzw"
        if values is None or len(values) != (7 if quaternion else 6) or not np.isfinite(values).all():
            raise self.error(pose, f"expected {7 if quaternion else 6} numbers, got {pose.text!r}")
        if quaternion:
            return matrix(so3.from_quaternion(unit(np.array(values[3:]))), np.array(values[:3]))
        angles = np.deg2rad(values[3:]) if pose.get("degrees", "false") in ("true", "1") else values[3:]
        return matrix(rotation(*angles), np.array(values[:3]))
