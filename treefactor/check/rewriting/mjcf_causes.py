"""Find what an engine ignores in an MJCF: it agrees with treefactor's dynamics of the file that lacks it.

What no edit can write out otherwise, such as armature, is an edit of the last step: it changes the reference,
not the file that the engine loads.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable

import numpy as np

from ..own import BODY_AXES
from . import Edit, _mjcf_file
from .mjcf_edits import IGNORED_STEP, SPLIT, compiled, mjcf_edits, rewrite_mjcf

KINDS = (  # in this order
    *("armature", "armature axes", "ref", "earlier ref", "tendon armature", "gravity", "other bodies"),
)
TENDONS = ("spatial", "fixed")
NAMING = ("actuator", "contact", "equality", "keyframe", "sensor", "tendon")  # sections that name bodies
GRAVITY = (0.0, 0.0, -9.81)


def causes_of_mjcf(path) -> tuple[Edit, ...]:
    """Return `mjcf_edits` and, as edits of the last step, what an engine may ignore.

    Raises
    ------
    AdapterError
        As `mjcf_edits`.
    """
    file, body = _mjcf_file.read(path), compiled(path)
    ignored = [] if np.array_equal(body.gravity, GRAVITY) else [("gravity", "", 1)]
    elements = file.joints()
    shifted = [joint for joint in body.joints if joint.nv == 1 and body.model.qpos0[joint.q].any()]
    last = {joint.body: joint for joint in shifted}
    if len(elements) == len(body.joints):
        for element, joint in zip(elements, body.joints, strict=True):
            kinds = ["armature"] if body.armature[joint.v].any() else []
            if kinds and joint.free:
                kinds.append("armature axes")
            if joint in shifted:
                kinds.append("ref" if joint is last[joint.body] else "earlier ref")
            ignored += [(kind, joint.name, file.lines[element]) for kind in kinds]
    tendons = _tendons(file.top)
    armature = getattr(body.model, "tendon_armature", np.zeros(0))
    if len(tendons) == len(armature):
        for k in np.flatnonzero(armature):
            name = tendons[k].get("name", f"tendon {k}")
            ignored.append(("tendon armature", name, file.lines[tendons[k]]))
    edits = mjcf_edits(path)
    if not any(edit.kind == "bodies" for edit in edits):
        ignored += [
            ("other bodies", element.get("name", ""), file.lines[element])
            for element in _other_bodies(file.top)
        ]
    return *edits, *(Edit(IGNORED_STEP, *cause) for cause in ignored)


def without_ignored(path, chosen: Iterable[Edit]) -> tuple[str, frozenset[str]]:
    """Return the text of an MJCF after its edits, those of the last step included, and options.

    treefactor's own engine must load it with these options.
    """
    chosen = frozenset(chosen)
    ignored = sorted(
        (edit for edit in chosen if edit.step == IGNORED_STEP), key=lambda edit: KINDS.index(edit.kind)
    )
    compilable = [edit for edit in chosen if edit.kind != SPLIT]
    top = ET.fromstring(rewrite_mjcf(path, compilable))
    names = [joint.name for joint in compiled(path).joints]
    for edit in ignored:
        _remove(top, edit, names)
    axes = any(edit.kind == "armature axes" for edit in ignored)
    return ET.tostring(top, encoding="unicode"), frozenset({BODY_AXES} if axes else ())


def _remove(top: ET.Element, edit: Edit, names: list[str]) -> None:
    """Remove from an MJCF what an engine ignores; ``names`` are those of the joints."""
    if edit.kind in ("armature", "ref", "earlier ref"):
        _mjcf_file.joints_of(top)[names.index(edit.where)].set(edit.kind.split()[-1], "0")
    elif edit.kind == "tendon armature":
        for k, tendon in enumerate(_tendons(top)):
            if tendon.get("name", f"tendon {k}") == edit.where:
                tendon.set("armature", "0")
    elif edit.kind == "gravity":
        for option in top.iter("option"):
            option.attrib.pop("gravity", None)
            for flag in option.iterfind("flag"):
                flag.attrib.pop("gravity", None)
    elif edit.kind == "other bodies":
        for section in [section for tag in NAMING for section in top.findall(tag)]:
            top.remove(section)
        for world in top.iterfind("worldbody"):
            for body in [body for body in world.iterfind("body") if body.get("name", "") == edit.where]:
                world.remove(body)


def _tendons(top: ET.Element) -> list[ET.Element]:
    return [element for section in top.iterfind("tendon") for element in section if element.tag in TENDONS]


def _other_bodies(top: ET.Element) -> list[ET.Element]:
    """Return the bodies of the world after the first."""
    return top.findall("worldbody/body")[1:]
