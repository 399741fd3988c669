"""Explain a different H by the inertias that an engine holds, where no rewriting of the file repairs it.

The inertias of links that differ from the file's are written into the file, by groups; treefactor's dynamics
of that file must then be the engine's, and those of the file as it is must not. The smallest set of groups
with which they are is the cause.
"""

from __future__ import annotations

import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from .._util.protocol import MIMIC
from ..exceptions import TreefactorError
from ..model import _urdf
from ..tolerances import ROUNDED_INERTIA, SAME_INERTIA
from .cells import Cause
from .engines import engine_module
from .examine import Changes, Examination
from .files import lines_of
from .reference import compute_reference
from .rewriting import _urdf_file
from .rewriting._xml_parts import inertial

OTHER_TENSOR = "holds another inertia tensor than the file's"
NO_INERTIAL = "gives mass to links without <inertial>"
TRIANGLE = "sets an inertia to zero that breaks the triangle inequality"
ROUNDED = "iterates principal axes to a loose tolerance"
MERGED = "merges links on fixed joints wrongly"
ROOT = "leaves the root link of a fixed base out"
OTHER_MASS = "holds another mass or centre of mass than the file's"


def tensor_causes(examination: Examination, changes: Changes, wrong: frozenset[str]) -> tuple[Cause, ...]:
    """Return the changes of inertias that reproduce what an engine computes; none if nothing does.

    Parameters
    ----------
    examination : Examination
    changes : Changes
        How the file is rewritten.
    wrong : frozenset of str
        Quantities that must be reproduced.
    """
    if not hasattr(examination.engine, "inertials") or examination.robot.format != "urdf":
        return ()
    try:
        groups = _groups(examination, changes)
        unchanged = examination.with_reference(_reference(examination, {})).wrong(changes, wrong)
        if unchanged != wrong:  # not by inertias: treefactor reads the file otherwise than the reference
            return ()
        for size in range(1, len(groups) + 1):
            for names in combinations(groups, size):
                inertias = {link: inertia for name in names for link, inertia in groups[name].items()}
                if not examination.with_reference(_reference(examination, inertias)).wrong(changes, wrong):
                    return tuple(Cause("inertia", name, tuple(groups[name])) for name in names)
    except TreefactorError:  # no model has such inertias
        pass
    return ()


def touched_links(examination: Examination, changes: Changes, option: str) -> tuple[str, ...]:
    """Return the links of the file whose inertias in the engine an option changes; () if it returns none.

    Parameters
    ----------
    examination : Examination
    changes : Changes
        How the file is rewritten, and the options, this one included.
    option : str
    """
    if not hasattr(examination.engine, "inertials"):
        return ()
    inertials = []
    try:
        for options in (changes.options, changes.options - {option}):
            with examination.loaded(Changes(changes.edits, options)) as (body, _):
                inertials.append(examination.engine.inertials(body))
    except Exception:  # without the option the engine refuses the file
        return ()
    own, others = inertials
    known = lines_of(examination.robot).keys() & own.keys()
    return tuple(
        name for name in own if name in known and not (name in others and _same(own[name], others[name]))
    )


def _same(own, without_option) -> bool:
    """Return whether two inertias of a link are equal but for rounding."""
    pairs = (
        (own.mass, without_option.mass),
        (own.com, without_option.com),
        (own.tensor, without_option.tensor),
    )
    return all(np.allclose(a, b, SAME_INERTIA, 0.0) for a, b in pairs)


def _groups(examination: Examination, changes: Changes) -> dict[str, dict]:
    """Return the links whose inertias differ from the file's, by the kind of change."""
    with examination.loaded(changes) as (body, _):
        held = examination.engine.inertials(body)
    file, fixed = _urdf_file.read(examination.robot.path).robot, not examination.robot.floating
    root = {file.root: nothing(file.links[file.root])} if fixed and file.root not in held else {}
    return {**({ROOT: root} if root else {}), **inertial_changes(file, held, OTHER_TENSOR)}


def _reference(examination: Examination, changes: Mapping):
    """Return treefactor's values for the file with other inertias, at the states of the reference."""
    robot, reference = examination.robot, examination.reference
    file = _urdf_file.read(robot.path)
    for name, link in file.names("link").items():
        if name in changes:
            for old in link.findall("inertial"):
                link.remove(old)
            link.append(inertial(changes[name]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, robot.path.name)  # random states depend on the name
        path.write_text(ET.tostring(file.top, encoding="unicode"), encoding="utf-8")
        changed = replace(robot, path=path)
        own = engine_module("treefactor")
        options = frozenset({"root_link", *((MIMIC,) if robot.mimic else ())})
        return compute_reference(own, "treefactor", changed, len(reference.samples), reference.seed, options)


def inertial_changes(file: _urdf.Robot, engine: Mapping, tensor_cause: str) -> dict[str, dict]:
    """Group the links whose inertia in the engine is not the file's by the reason for it.

    Parameters
    ----------
    file : Robot
        As read from the URDF.
    engine : mapping of str to Inertia
        By link, in the axes of the link frame. Links that the file lacks are skipped; those that the engine
        lacks have been merged into others.
    tensor_cause : str
        What it means for this engine if the tensor alone is another.

    Returns
    -------
    dict of str to dict of str to Inertia
        The engine's inertias by the name of the cause and of the link.
    """
    groups: dict[str, dict] = {}
    whole, carriers = _merged(file, engine)
    for link in sorted(engine.keys() & file.links.keys()):
        merged = [name for name in carriers if carriers[name] == link and _is_body(file.links[name])]
        reason = _reason(whole[link], engine[link], tensor_cause)
        if reason is not None:
            others = {name: nothing(file.links[name]) for name in merged}
            reason = MERGED if merged and reason == OTHER_MASS else reason
            groups.setdefault(reason, {}).update({link: engine[link], **others})
    lost = file.links.keys() - engine.keys() - {name for name in carriers if carriers[name] in engine}
    if lost:
        moved = groups.pop(OTHER_MASS, {})
        groups[MERGED] = {
            **groups.get(MERGED, {}),
            **moved,
            **{link: nothing(file.links[link]) for link in sorted(lost)},
        }
    return groups


def _merged(file: _urdf.Robot, engine: Mapping) -> tuple[dict, dict[str, str]]:
    """Return inertias with the links that the engine lacks merged rightly, and what carries these links."""
    joints = [replace(joint, type="floating") if joint.child in engine else joint for joint in file.joints]
    kept = _urdf.Robot(file.root, file.links, joints, file.name)
    fixed = [(joint.child, link) for joint, link, _, _ in _urdf.carried_joints(kept) if joint.type == "fixed"]
    return _urdf.without_fixed_joints(kept).links, dict(fixed)


def nothing(inertial):
    """Return an inertia of the same type with no mass."""
    return replace(inertial, mass=0.0, com=0.0 * inertial.com, tensor=0.0 * inertial.tensor)


def _is_body(inertia) -> bool:
    return bool(inertia.mass or inertia.tensor.any())


def _reason(file, engine, tensor_cause: str) -> str | None:
    """Name the cause for which a link has the engine's inertia instead of the file's."""
    if not _is_body(file):
        return NO_INERTIAL if _is_body(engine) else None
    moved = np.abs(engine.com - file.com).max() > SAME_INERTIA * (1.0 + np.abs(file.com).max())
    if abs(engine.mass - file.mass) > SAME_INERTIA * file.mass or (engine.mass and moved):
        return OTHER_MASS
    difference = np.abs(engine.tensor - file.tensor).max()
    size = np.abs(file.tensor).max()
    if difference <= SAME_INERTIA * size:
        return None
    low, middle, high = np.linalg.eigvalsh(file.tensor)
    if not engine.tensor.any() and (high > low + middle or low < 0.0):
        return TRIANGLE
    return ROUNDED if difference <= ROUNDED_INERTIA * size else tensor_cause
