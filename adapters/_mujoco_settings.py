"""Find what MuJoCo adds by default to the smooth accelerations of a model, by switching it off.

A setting is a list of switches: a flag that disables it, or fields of the model or its options that disable
it when they are zero. Versions of MuJoCo differ in the fields that they have.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import mujoco
import numpy as np

from .._util.validation import as_vector
from .._util.xml import parse
from ._mujoco_body import Body
from ._mujoco_files import compiled
from ._plain_urdf import JOINT_PARTS, plain, write
from ._settings import deviation, noticed, solved

SETTINGS = {
    "joint damping of the file acts": ["dof_damping", "dof_dampingpoly"],
    "joint springs of the file act": ["jnt_stiffness", "jnt_stiffnesspoly"],
    "tendon springs and dampers of the file act": [
        *("tendon_stiffness", "tendon_stiffnesspoly"),
        *("tendon_damping", "tendon_dampingpoly"),
    ],
    "elasticity of deformable bodies acts": [
        *("flex_stiffness", "flex_damping", "flex_bending"),
        *("flex_edgestiffness", "flex_edgedamping"),
    ],
    "gravity compensation acts": ["body_gravcomp"],
    "drag of the fluid acts": ["density", "viscosity"],
    "actuators act, their controls zero": ["mjDSBL_ACTUATION", "actuator_damping", "actuator_dampingpoly"],
    "friction loss of the file acts": ["mjDSBL_FRICTIONLOSS"],
    "joint limits push back": ["mjDSBL_LIMIT"],
    "mimic joints and other equalities are soft constraints": ["mjDSBL_EQUALITY"],
    "contacts act": ["mjDSBL_CONTACT"],
}
NAMED = ("dof", "jnt", "tendon", "body", "actuator")  # prefixes of fields of elements that have names
CONSTRAINED = {  # elements to which constraints belong that are not contacts
    int(mujoco.mjtConstraint.mjCNSTR_EQUALITY): "equality",
    int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF): "dof",
    int(mujoco.mjtConstraint.mjCNSTR_FRICTION_TENDON): "tendon",
    int(mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT): "jnt",
    int(mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON): "tendon",
}


def imported(path: Path, gravity) -> Body | None:
    """Load a URDF through MuJoCo's own importer, without its meshes; return None for an MJCF.

    Boxes, spheres and cylinders are kept: they make contacts, and give mass to links without ``<inertial>``.
    The importer welds the root link to the world. Raises AdapterError if MuJoCo refuses the file.
    """
    top = parse(path, "mujoco")
    if top.tag != "robot":
        return None
    robot, _ = plain(top, path, "mujoco", JOINT_PARTS | {"limit", "mimic"}, shapes=True)
    model = compiled(mujoco.MjModel.from_xml_string, path, write(robot))
    model.opt.gravity[:] = as_vector(gravity, 3, "gravity")
    return Body(model)


def acting(
    body: Body, mass_matrix: Callable, accelerate: Callable, rng: np.random.Generator
) -> list[tuple[str, float, tuple[str, ...]]]:
    """Return the settings that act at a random state or at the initial one, see `_settings.noticed`."""
    states = solved(body, random_state(body, rng), initial_configuration(body.model), mass_matrix, accelerate)
    return noticed(SETTINGS, partial(only, body.model), partial(effect, body), states)


def random_state(body: Body, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random q, v and tau of a body in its own layout."""
    q = body.model.qpos0.copy()
    mujoco.mj_integratePos(body.model, q, rng.normal(size=body.nv), 1.0)
    return q, *rng.normal(size=(2, body.nv))


def initial_configuration(model: mujoco.MjModel) -> np.ndarray:
    """Return the first keyframe of the file, or the configuration it is written in, shape (nq,)."""
    return (model.key_qpos[0] if model.nkey else model.qpos0).copy()


def only(model: mujoco.MjModel, kept: str) -> mujoco.MjModel:
    """Copy the model; at most one setting is left as the file has it."""
    simplified = copy.copy(model)
    simplified.jnt_actgravcomp[:] = 0  # otherwise gravity compensation would need actuators to be on
    for name, switches in SETTINGS.items():
        for switch in switches if name != kept else ():
            if switch.startswith("mjDSBL"):
                simplified.opt.disableflags |= getattr(mujoco.mjtDisableBit, switch)
            elif hasattr(simplified.opt, switch):
                setattr(simplified.opt, switch, 0.0)
            elif hasattr(simplified, switch):
                getattr(simplified, switch)[:] = 0
    return simplified


def effect(body: Body, model: mujoco.MjModel, q, v, tau, expected) -> tuple[float, tuple[str, ...]]:
    """Return the relative deviation of q̈ from that expected, and the names of what acts."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
    mujoco.mj_forward(model, data)
    return deviation(data.qacc, expected), tuple(dict.fromkeys(_acting(body, model, data)))


def _acting(body: Body, model: mujoco.MjModel, data: mujoco.MjData) -> Iterator[str]:
    """Name what exerts forces: owners of the fields that are left, actuators, constraints."""
    for field in (switch for switches in SETTINGS.values() for switch in switches if hasattr(model, switch)):
        prefix = field.partition("_")[0]
        for i in np.unique(np.nonzero(getattr(model, field))[0]) if prefix in NAMED else ():
            yield _name(body, prefix, i)
    for i in np.flatnonzero(data.actuator_force):
        yield _name(body, "actuator", i)
    for k in np.flatnonzero(data.efc_force):
        kind, i = int(data.efc_type[k]), data.efc_id[k]
        if kind in CONSTRAINED:
            yield _name(body, CONSTRAINED[kind], i)
        else:
            geoms = data.contact.geom[i]  # -1 if it is a deformable body
            yield " with ".join(
                _name(body, "body", body.model.geom_bodyid[g]) if g >= 0 else "flex" for g in geoms
            )


def _name(body: Body, kind: str, i: int) -> str:
    """Return the name of an element or of its joint; without a name, its type and number."""
    model = body.model
    if kind == "equality" and model.eq_type[i] == int(mujoco.mjtEq.mjEQ_JOINT) and not model.equality(i).name:
        kind, i = "jnt", model.eq_obj1id[i]
    if kind == "dof":
        kind, i = "jnt", model.dof_jntid[i]
    if kind == "jnt":
        return body.joints[i].name
    return getattr(model, kind)(i).name or f"{kind} {i}"
