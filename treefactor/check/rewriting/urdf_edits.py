"""Rewrite a URDF in small edits, each of one element, that keep its dynamics.

An engine that disagrees about a file, and agrees after an edit, does not read what the edit removes as URDF
means it. H does not change, nor do forces and placements, except for what Pinocchio does not read either:
couplings of mimic joints, friction and limits.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import _elements, _frames, _urdf_file, _xml_parts

FIXED, TURNED = "fixed joint", "joint frame"
WRITTEN, PATHS, ROOT, MARKUP = "written anew", "mesh path", "root world", "markup"
CHANGED = {kind: step for kind, (step, _) in _elements.CHANGES.items()}
ALL_STEPS = {WRITTEN: 0, MARKUP: 0, PATHS: 1, **CHANGED, ROOT: 2, FIXED: 5, TURNED: 6}
STEPS = dict(sorted(ALL_STEPS.items(), key=lambda item: item[1]))
REPEATED, IMPOSSIBLE, CONTROLLER = "repeated element", "impossible limit", "safety controller"
# kinds of edits that leave all values of a comparison; a file that keeps to the specification needs none
SPELLING = (MARKUP, REPEATED, "inertial number", "joint number", "joint limit", IMPOSSIBLE, CONTROLLER)
IMPLIED = {  # maps each kind of edit to other kinds that include its change
    MARKUP: frozenset(STEPS) - {MARKUP},
    REPEATED: frozenset({"mimic", "dynamics", "limit", FIXED}),
    "inertial number": frozenset({REPEATED, "other", FIXED, TURNED}),
    "joint limit": frozenset({"limit"}),
    IMPOSSIBLE: frozenset({"limit"}),
    "joint number": frozenset(
        {REPEATED, "other", IMPOSSIBLE, "mimic", "dynamics", "limit", "axis", FIXED, TURNED}
    ),
}


@dataclass(frozen=True)
class Edit:
    """Change of one link or joint of a URDF.

    Attributes
    ----------
    step : int
        0 writes the file anew with the same dynamics, 1 writes numbers plainly and removes what has no part
        in the dynamics,
        2 writes inertias, origins and names that are implied, 3 removes couplings, friction and limits,
        4 writes unit axes, 5 merges links on fixed joints into their parents, 6 turns joint frames until
        the axis is +z.
    kind : str
        Of step 0 "written anew" (an SDF) and "markup" (a URDF as UTF-8 without entities and instructions);
        of step 1 "repeated element" (the first stays), "inertial number", "joint number", "impossible limit"
        (a negative one, or lower above upper), "mesh path" (absolute instead of ``package://``), "material",
        "visual", "collision", "transmission", "gazebo" and "other" (what the format does not define); of
        step 2 "inertial" (an explicit zero one), "inertial origin", "joint origin", "joint limit" (a complete
        one), "safety controller" (with a gain) and "root world" (another name for a root link called
        "world"); of step 3 "mimic", "dynamics" and "limit" (wide ones); of step 4 "axis"; of step 5 "fixed
        joint"; of step 6 "joint frame".
    where : str
        Link or joint that is changed, or that a removed element refers to; "" for the file.
    line : int
        Line on which that link or joint begins, or else the removed element, counted from one.

    Notes
    -----
    Immutable.
    """

    step: int
    kind: str
    where: str
    line: int


@dataclass(frozen=True, eq=False)
class Rewritten:
    """Text of a rewritten URDF.

    Attributes
    ----------
    text : str
    frames : dict
        For every link of the original file the link of the text that carries it, and the pose (4, 4) of the
        original link frame in the frame of that link.
    """

    text: str
    frames: dict[str, tuple[str, np.ndarray]]


def edits(path) -> tuple[Edit, ...]:
    """Return all edits that change something of a URDF, in the order of their steps.

    Parameters
    ----------
    path : str or os.PathLike
        Or an SDF, whose name ends in ".sdf"; its edits are those of the URDF that `read_sdf` makes.

    Returns
    -------
    tuple of Edit

    Raises
    ------
    AdapterError
        If the file cannot be read or is not a URDF of one tree of links.
    """
    file = _urdf_file.read(path)
    by_part: dict[tuple[str, str], Edit] = {}
    if Path(path).suffix == ".sdf":
        by_part[WRITTEN, ""] = Edit(STEPS[WRITTEN], WRITTEN, "", 1)
    elif file.has_markup:
        by_part[MARKUP, ""] = Edit(STEPS[MARKUP], MARKUP, "", 1)
    if line := file.first_uri():
        by_part[PATHS, ""] = Edit(STEPS[PATHS], PATHS, "", line)
    named = {tag: file.names(tag) for tag in _xml_parts.PARTS}
    for kind, name, part in _elements.changed_parts(file.top):
        own = part if part.tag in named else named["joint"].get(name, named["link"].get(name, part))
        by_part.setdefault((kind, name), Edit(STEPS[kind], kind, name, file.lines[own]))
    if file.robot.root == _frames.WORLD:
        by_part[ROOT, _frames.WORLD] = Edit(
            STEPS[ROOT], ROOT, _frames.WORLD, file.lines[named["link"][_frames.WORLD]]
        )
    joints = file.robot.joints
    moved = [(FIXED, joint.name) for joint in joints if joint.type == "fixed"]
    moved += [(TURNED, joint.name) for joint in joints if _frames.can_turn(joint)]
    for kind, name in moved:
        by_part[kind, name] = Edit(STEPS[kind], kind, name, file.lines[named["joint"][name]])
    return tuple(sorted(by_part.values(), key=lambda edit: edit.step))


def rewrite(path, chosen: Iterable[Edit]) -> Rewritten:
    """Return the text of a URDF after some of its edits; without any, the dynamics as written.

    Names of meshes and textures stay as they are without the edit "mesh path": see `shadow`.

    Parameters
    ----------
    path : str or os.PathLike
        URDF, or SDF.
    chosen : iterable of Edit
        In any order; steps are taken in theirs.

    Returns
    -------
    Rewritten

    Raises
    ------
    AdapterError
        If the file cannot be read or is not a URDF of one tree of links.
    ValueError
        If an edit has an unknown kind.
    """
    wanted = {(edit.kind, edit.where) for edit in chosen}
    unknown = {kind for kind, _ in wanted} - STEPS.keys()
    if unknown:
        raise ValueError(f"expected edits of the kinds {', '.join(STEPS)}, got {min(unknown)!r}")
    file = _urdf_file.read(path)
    for _ in _elements.changed_parts(file.top, wanted):
        pass
    fixed = {joint.name for joint in file.robot.joints if joint.type == "fixed"}
    merged, turned = ({name for kind, name in wanted if kind == moved} for moved in (FIXED, TURNED))
    frames = _frames.move_frames(file, merged & fixed, turned)
    if (ROOT, _frames.WORLD) in wanted:
        frames = _frames.rename_world(file, frames)
    if (PATHS, "") in wanted:
        file.use_absolute_paths()
    return Rewritten(ET.tostring(file.top, encoding="unicode"), frames)
