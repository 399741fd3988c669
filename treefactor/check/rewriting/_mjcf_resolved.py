"""Write a compiled model of MuJoCo as the shortest MJCF: bodies, joints, inertias, gravity."""

from __future__ import annotations

import xml.etree.ElementTree as ET

TYPES = ("free", "ball", "slide", "hinge")  # in MuJoCo's order


def resolved(robot) -> str:
    """Return the text of an MJCF without classes, frames, shapes and attributes of the compiler.

    Parameters
    ----------
    robot : treefactor.adapters.mujoco_.Body
    """
    model = robot.model
    top = ET.Element("mujoco", model="robot")
    settings = {"angle": "radian", "inertiafromgeom": "false", "balanceinertia": "false"}
    ET.SubElement(top, "compiler", settings)
    ET.SubElement(top, "option", gravity=_words(robot.gravity))
    bodies = [ET.SubElement(top, "worldbody")]
    for k in range(1, model.nbody):
        place = {"pos": _words(model.body_pos[k]), "quat": _words(model.body_quat[k])}
        if model.body_jntnum[k] and TYPES[model.jnt_type[model.body_jntadr[k]]] == "free":
            place = {}  # q has the whole pose
        body = ET.SubElement(bodies[model.body_parentid[k]], "body", **_named(model.body(k)), **place)
        if model.body_mass[k] > 0.0:
            ET.SubElement(
                body,
                "inertial",
                mass=_words(model.body_mass[k : k + 1]),
                pos=_words(model.body_ipos[k]),
                quat=_words(model.body_iquat[k]),
                diaginertia=_words(model.body_inertia[k]),
            )
        first = model.body_jntadr[k]
        for j in range(first, first + model.body_jntnum[k]):
            ET.SubElement(body, "joint", **_named(model.joint(j)), **_joint(robot, j))
        bodies.append(body)
    return ET.tostring(top, encoding="unicode")


def _joint(robot, j: int) -> dict[str, str]:
    """Return the attributes of a joint."""
    model = robot.model
    kind, armature = TYPES[model.jnt_type[j]], robot.armature[model.jnt_dofadr[j]]
    words = {"type": kind, "armature": _words([armature])}
    if kind in ("slide", "hinge"):
        words["axis"] = _words(model.jnt_axis[j])
        words["ref"] = _words([model.qpos0[model.jnt_qposadr[j]]])
    if kind in ("ball", "hinge"):
        words["pos"] = _words(model.jnt_pos[j])
    return words


def _named(element) -> dict[str, str]:
    return {"name": element.name} if element.name else {}


def _words(values) -> str:
    return " ".join(repr(float(value)) for value in values)
