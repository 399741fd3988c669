"""Rewrite an MJCF in edits that keep what MuJoCo compiles.

MuJoCo defines the format, so every edit writes out what its compiler makes of the file. An engine that agrees
only after an edit reads differently what the edit writes out.
"""

from __future__ import annotations

import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from ...model.joints import Inertia
from ...tolerances import SAME_COMPILED
from . import Edit, _mjcf_file
from ._mjcf_classes import expand_defaults
from ._mjcf_file import MjcfFile
from ._mjcf_resolved import resolved

SPLIT = "several joints"
ATTRIBUTES = (
    "settotalmass",
    "boundmass",
    "boundinertia",
    "balanceinertia",
    "inertiafromgeom",
    "inertiagrouprange",
)
PASSIVE = {  # attributes of joints without part in H and bias, with the arrays of MjModel that hold them
    **{"damping": "dof_damping", "stiffness": "jnt_stiffness"},
    **{"frictionloss": "dof_frictionloss", "limited": "jnt_limited"},
}
STEPS = {  # kinds of edits
    "include": 0,
    **dict.fromkeys(("model name", "texture", "height field", "no dynamics"), 1),
    **dict.fromkeys((*ATTRIBUTES, *PASSIVE), 2),
    "shapes": 3,
    **dict.fromkeys(("gravity flag", "freejoint", "free body", "bodies", "placed body", SPLIT), 4),
    **dict.fromkeys(("actuator", "tendon", "equality", "contact"), 5),
    "default": 6,
    "resolved": 7,
}
IGNORED_STEP = 8  # step of edits that change the reference, see `mjcf_causes`
LOOKS = ("texture", "material", "skin", "model")  # within <asset>; of them, meshes have mass
NO_DYNAMICS = ("keyframe", "sensor", "visual", "statistic", "custom", "extension", "deformable")
SECTIONS = {  # sections to remove, with those that name their elements
    "no dynamics": NO_DYNAMICS,
    "actuator": ("actuator", "sensor", "keyframe"),
    "tendon": ("tendon", "actuator", "sensor", "equality", "keyframe"),
    "equality": ("equality", "keyframe"),
    "contact": ("contact",),
}
PLACES = ("pos", "quat", "axisangle", "euler", "xyaxes", "zaxis")
DENSITY = 1000.0  # kg/m^3, of shapes without mass and density


def mjcf_edits(path) -> tuple[Edit, ...]:
    """Return all edits that change something of an MJCF, in the order of their steps.

    Kinds of step 0: "include" (the included files in their places); 1: "model name", which is
    written, and "texture", "height field" and "no dynamics" (sections without part in the dynamics), which
    are removed; 2: attributes of the compiler, whose effect is written into masses, and "damping",
    "stiffness", "frictionloss" and "limited" of joints, which are removed; 3: "shapes", the inertia of one
    body that its shapes define; 4: "gravity flag", "freejoint" (as <joint type="free">), "free body" (at the
    world's origin), "bodies" and "placed body" (one body that holds all of the world, or the only one, which
    no joint moves) and "several joints" of one body (on bodies of their own without mass, which MuJoCo
    refuses); 5: "actuator", "tendon", "equality" and "contact", which are removed; 6: "default", classes
    written into the elements; 7: "resolved", the compiled model in its shortest form.

    Parameters
    ----------
    path : str or os.PathLike

    Returns
    -------
    tuple of Edit

    Raises
    ------
    AdapterError
        If the file cannot be read, or MuJoCo is missing or refuses it.
    """
    file, robot = _mjcf_file.read(path), compiled(path)
    top, lines = file.top, file.lines
    changes = [("include", "", line) for line in file.includes[:1]]
    if not top.get("model"):
        changes.append(("model name", "", 1))
    for kind, elements in (
        ("texture", [element for tag in LOOKS for element in top.iterfind(f"asset/{tag}")]),
        ("height field", list(top.iterfind("asset/hfield"))),
        *(
            (name, [element for tag in tags for element in top.iterfind(tag)])
            for name, tags in _sections(robot)
        ),
        *((name, list(file.compilers(name))) for name in ATTRIBUTES),
    ):
        changes += [(kind, "", lines[element]) for element in elements[:1]]
    inertias, bodies = _inertias(robot), file.bodies()
    if len(bodies) == len(inertias):
        for body, inertia in zip(bodies, inertias, strict=True):
            if inertia.mass and body.find("inertial") is None:
                changes.append(("shapes", body.get("name", ""), lines[body]))
    changes += _passive_joints(file, robot)
    changes += [("gravity flag", "", lines[flag]) for flag in top.iterfind("option/flag[@gravity='disable']")]
    changes += [("freejoint", element.get("name", ""), lines[element]) for element in top.iter("freejoint")]
    changes += [
        ("free body", element.get("name", ""), lines[element])
        for element in bodies
        if _is_free(element) and _is_placed(element)
    ]
    if len(bodies) == len(inertias) and (kind := _bodies_of_world(top)):
        changes.append((kind, "", lines[bodies[0]]))
    changes += [("default", "", lines[element]) for element in list(top.iterfind("default"))[:1]]
    for body in bodies:
        if len(body.findall("joint")) > 1:
            changes.append((SPLIT, body.get("name", ""), lines[body]))
    changes.append(("resolved", "", 1))
    return tuple(Edit(STEPS[kind], kind, where, line) for kind, where, line in dict.fromkeys(changes))


def rewrite_mjcf(path, chosen: Iterable[Edit]) -> str:
    """Return the text of an MJCF after some of its edits; included files are in their places.

    Parameters
    ----------
    path : str or os.PathLike
    chosen : iterable of Edit
        Among `mjcf_edits` of the file, in any order.

    Raises
    ------
    AdapterError
        If the file cannot be read, or MuJoCo is missing or refuses it.
    ValueError
        If an edit has an unknown kind.
    """
    by_kind: dict[str, list[Edit]] = {}
    for edit in (edit for edit in chosen if edit.step < IGNORED_STEP):
        by_kind.setdefault(edit.kind, []).append(edit)
    unknown = by_kind.keys() - STEPS.keys()
    if unknown:
        raise ValueError(f"the kind of an edit must be one of {', '.join(STEPS)}, got {unknown.pop()!r}")
    if "resolved" in by_kind:
        return resolved(compiled(path))
    file = _mjcf_file.read(path)
    for kind in sorted(by_kind, key=list(STEPS).index):
        if kind in ATTRIBUTES:
            if not any(earlier in by_kind for earlier in ATTRIBUTES[: ATTRIBUTES.index(kind)]):
                _write_out(file, [kind for kind in ATTRIBUTES if kind in by_kind], _inertias(compiled(path)))
        elif kind == "shapes":
            _write_inertias(file, _inertias(compiled(path)), {edit.line for edit in by_kind[kind]})
        elif kind in SECTIONS:
            _remove_sections(file.top, SECTIONS[kind])
        elif kind in PASSIVE:
            names = [joint.name for joint in compiled(path).joints]
            _switch_off(file, kind, [names.index(edit.where) for edit in by_kind[kind]])
        elif kind == SPLIT:
            _split_joints(file.top, {edit.where for edit in by_kind[kind]})
        elif kind in CHANGES:
            CHANGES[kind](file.top)
    return ET.tostring(file.top, encoding="unicode")


# ------------------------------------------------------------------------------------------------- compiled


def compiled(path):
    """Return the robot in MuJoCo."""
    stat = Path(path).stat()
    return _compiled(Path(path), stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=8)
def _compiled(path: Path, changed: int, size: int):
    from ...adapters import mujoco_

    return mujoco_.load(path, gravity=None)


def _inertias(robot) -> list[Inertia]:
    """Return the inertias of all bodies as MuJoCo numbers them."""
    from ...adapters import mujoco_

    return list(mujoco_.inertials(robot).values())


def _inertias_of(file: MjcfFile) -> list[Inertia]:
    """Return the inertias of all bodies of an MJCF as changed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, file.path.name)
        path.write_text(ET.tostring(file.top, encoding="unicode"), encoding="utf-8")
        return _inertias(compiled(path))


# ------------------------------------------------------------------------------------------------- edits


def _write_out(file: MjcfFile, attributes: Sequence[str], wanted: list[Inertia]) -> None:
    """Remove attributes of the compiler; write their effect into masses and inertias."""
    for attribute in attributes:
        for compiler in file.compilers(attribute):
            del compiler.attrib[attribute]
    if "settotalmass" in attributes:
        masses = [sum(inertia.mass for inertia in some) for some in (wanted, _inertias_of(file))]
        _scale_masses(file.top, masses[0] / masses[1])
    for again in (False, True):
        different = [not _same(*pair) for pair in zip(_inertias_of(file), wanted, strict=True)]
        if not any(different):
            return
        if again:  # another attribute changes what is written
            for compiler in file.top.iterfind("compiler"):
                compiler.attrib = {key: x for key, x in compiler.items() if key not in ATTRIBUTES}
        for body, inertia, is_different in zip(file.bodies(), wanted, different, strict=True):
            if again or is_different:
                _set_inertia(body, inertia)


def _same(inertia: Inertia, compiled_inertia: Inertia) -> bool:
    return (
        abs(inertia.mass - compiled_inertia.mass) <= SAME_COMPILED * compiled_inertia.mass
        and float(np.abs(inertia.com - compiled_inertia.com).max()) <= SAME_COMPILED
        and float(np.abs(inertia.tensor - compiled_inertia.tensor).max())
        <= SAME_COMPILED * (np.abs(compiled_inertia.tensor).max() or 1.0)
    )


def _scale_masses(top: ET.Element, factor: float) -> None:
    for element in top.iter():
        keys = {"geom": ("mass", "density"), "inertial": ("mass", "diaginertia", "fullinertia")}
        for key in keys.get(element.tag, ()):
            if key in element.attrib:
                values = [float(word) * factor for word in element.attrib[key].split()]
                element.set(key, _words(values))
    main = top.find("default")
    if main is None:
        main = ET.SubElement(top, "default")
    if not any("density" in geom.attrib for geom in top.iterfind("default/geom")):
        geom = main.find("geom")
        geom = ET.SubElement(main, "geom") if geom is None else geom
        geom.set("density", repr(DENSITY * factor))


def _write_inertias(file: MjcfFile, inertias: Sequence[Inertia], lines: set[int]) -> None:
    for body, inertia in zip(file.bodies(), inertias, strict=True):
        if file.lines[body] in lines and inertia.mass and body.find("inertial") is None:
            _set_inertia(body, inertia)


def _set_inertia(body: ET.Element, inertia: Inertia) -> None:
    for old in body.findall("inertial"):
        body.remove(old)
    I = inertia.tensor
    entries = I[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    words = {"mass": repr(float(inertia.mass)), "pos": _words(inertia.com), "fullinertia": _words(entries)}
    body.insert(0, ET.Element("inertial", words))


def _remove_textures(top: ET.Element) -> None:
    for asset in top.iterfind("asset"):
        for element in [element for tag in LOOKS for element in asset.findall(tag)]:
            asset.remove(element)
    for element in top.iter():
        element.attrib.pop("material", None)


def _remove_height_fields(top: ET.Element) -> None:
    for parent in list(top.iter()):
        for child in [*parent.findall("hfield"), *parent.findall("geom[@type='hfield']")]:
            parent.remove(child)


def _sections(robot) -> list[tuple[str, tuple[str, ...]]]:
    """Return the kinds of sections that have no part in the dynamics of a file."""
    geared = {
        "actuator": np.any(getattr(robot.model, "actuator_armature", 0.0)),
        "tendon": np.any(getattr(robot.model, "tendon_armature", 0.0)),
    }
    geared["tendon"] |= geared["actuator"]
    return [
        (kind, tags if kind == "no dynamics" else tags[:1])
        for kind, tags in SECTIONS.items()
        if not geared.get(kind)
    ]


def _remove_sections(top: ET.Element, tags: Sequence[str]) -> None:
    for section in [element for tag in tags for element in top.findall(tag)]:
        top.remove(section)


def _passive_joints(file: MjcfFile, robot) -> list[tuple[str, str, int]]:
    """Return the joints with dampers, springs, friction or limits."""
    joints, passive = file.joints(), []
    for kind, field in PASSIVE.items() if len(joints) == len(robot.joints) else ():
        values = getattr(robot.model, field)
        for j, (element, joint) in enumerate(zip(joints, robot.joints, strict=True)):
            if np.any(values[joint.v] if field.startswith("dof") else values[j]):
                passive.append((kind, joint.name, file.lines[element]))
    return passive


def _switch_off(file: MjcfFile, attribute: str, numbers: Sequence[int]) -> None:
    joints = file.joints()
    for j in numbers:
        joints[j].set(attribute, "false" if attribute == "limited" else "0")


def _write_gravity(top: ET.Element) -> None:
    for option in top.iterfind("option"):
        for flag in option.iterfind("flag[@gravity='disable']"):
            del flag.attrib["gravity"]
            option.set("gravity", "0 0 0")


def _write_free_joints(top: ET.Element) -> None:
    for joint in top.iter("freejoint"):
        joint.tag = "joint"
        joint.attrib |= {
            "type": "free",
            "armature": "0",
            "damping": "0",
            "frictionloss": "0",
            "stiffness": "0",
        }


def _bodies_of_world(top: ET.Element) -> str:
    """Return the kind of edit that gathers the bodies of the world, none of them on a free joint."""
    bodies = top.findall("worldbody/body")
    # these bounds also apply to new bodies
    bound = top.findall("compiler[@boundmass]") + top.findall("compiler[@boundinertia]")
    if any(map(_is_free, bodies)) or bound or top.findall("worldbody/frame"):
        return ""
    welded = any(_is_placed(body) and body.find("joint") is None for body in bodies)
    return "bodies" if len(bodies) > 1 else "placed body" * welded


def _is_free(body: ET.Element) -> bool:
    return body.find("freejoint") is not None or body.find("joint[@type='free']") is not None


def _is_placed(body: ET.Element) -> bool:
    return any(key in body.attrib for key in PLACES)


def _place_free_bodies(top: ET.Element) -> None:
    for body in top.iter("body"):
        for key in PLACES if _is_free(body) else ():
            body.attrib.pop(key, None)


def _gather_bodies(top: ET.Element) -> None:
    bodies = top.findall("worldbody/body")
    names = {body.get("name") for body in top.iter("body")}
    ground = ET.Element(
        "body", name=next(name for name in ("ground", "ground_", "ground__") if name not in names)
    )
    for world in top.findall("worldbody"):
        for body in world.findall("body"):
            world.remove(body)
    ground.extend(bodies)
    worlds = top.findall("worldbody")
    worlds[0].append(ground)


def _split_joints(top: ET.Element, names: set[str]) -> None:
    """Put all joints of bodies but the last on bodies of their own."""
    for parent in list(top.iter()):
        for body in parent.findall("body"):
            name, joints = body.get("name", ""), body.findall("joint")
            if name not in names or len(joints) < 2:
                continue
            at, holder = list(parent).index(body), parent
            outer = {key: body.attrib.pop(key) for key in PLACES if key in body.attrib}
            if "childclass" in body.attrib:
                outer["childclass"] = body.get("childclass", "")
            for k, joint in enumerate(joints[:-1]):
                body.remove(joint)
                new = ET.Element("body", name=f"{name}_joint{k}", **outer)
                new.append(joint)
                if holder is parent:
                    parent[at] = new
                else:
                    holder.append(new)
                holder, outer = new, {}
            holder.append(body)


CHANGES: dict[str, Callable[[ET.Element], None]] = {
    "model name": lambda top: top.set("model", "robot"),
    "texture": _remove_textures,
    "height field": _remove_height_fields,
    "gravity flag": _write_gravity,
    "freejoint": _write_free_joints,
    "free body": _place_free_bodies,
    **dict.fromkeys(("bodies", "placed body"), _gather_bodies),
    "default": expand_defaults,
}


def _words(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
