"""Build our model of a MuJoCo model: welded bodies are merged, joints of one body form a chain."""

from __future__ import annotations

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from .._util.engine_objects import require_object
from ..model._building import new_frame, new_inertia, new_joint, placed, with_inertia
from ..model.frames import IDENTITY, ZERO, Frame
from ..model.joints import Inertia, Joint
from ..model.model import Model
from ._mujoco_body import FREE, Body, adapter_error, body_names, site_names

KINDS = {
    FREE: "freeflyer",
    int(mujoco.mjtJoint.mjJNT_BALL): "spherical",
    int(mujoco.mjtJoint.mjJNT_HINGE): "revolute",
    int(mujoco.mjtJoint.mjJNT_SLIDE): "prismatic",
}

Place = tuple[int, np.ndarray, np.ndarray]  # a joint, and R and p in its frame


def model(source: mujoco.MjModel | Body) -> Model:
    """Build our model of a MuJoCo model, with q and v as Pinocchio lays them out.

    Parameters
    ----------
    source : mujoco.MjModel or Body

    Returns
    -------
    Model
        Joints and their order are MuJoCo's, so only quaternions and the velocity of a free joint differ:
        `from_pinocchio` and `transform` take this model, too. Armature of joints and actuators is in it.
        A hinge or slide has MuJoCo's q, reference position and all; ``effort_limit`` is the larger end of its
        ``actuatorfrcrange``. The armature of a free joint acts on
        accelerations along the axes of the world: one with such armature becomes a "translation" named
        ``<joint>[0]`` and a "spherical" joint ``<joint>[1]``, whose v is MuJoCo's. Frames are those of all
        bodies, welded ones and the world, too (type "body", placed as ``xpos`` and ``xmat``), of the joints
        (type "joint", at their anchors), and of all sites (type "site", placed as ``site_xpos`` and
        ``site_xmat``). A body without a name is called ``body <number>``, a site ``site <number>``.

    Raises
    ------
    AdapterError
        If tendons have armature: no tree of bodies has their H.
    """
    kinds, files = (mujoco.MjModel, Body), "load a file with mujoco_.load(path)"
    require_object(source, kinds, "source", "a mujoco.MjModel or a Body of mujoco_", files)
    body = source if isinstance(source, Body) else Body(source)
    _refuse_tendon_armature(body.model)
    joints, carried = joints_and_places(body)
    return Model(joints, body.gravity, strict=False, frames=_frames(body.model, joints, carried))


def _frames(m: mujoco.MjModel, joints: list[Joint], carried: list[Place]) -> list[Frame]:
    """Return the frames of bodies, joints and sites; a body k is placed by ``carried[k]``."""
    bodies, parents = body_names(m), m.body_parentid.tolist()
    frames = []
    for k, (name, (joint, R, p)) in enumerate(zip(bodies, carried, strict=True)):
        frames.append(new_frame(name, joint, placed(R, p), "body", bodies[parents[k]] if k else ""))
    at_joint = placed(IDENTITY, ZERO)
    frames += [new_frame(joint.name, k, at_joint, "joint", "") for k, joint in enumerate(joints)]
    sites = zip(site_names(m), m.site_bodyid.tolist(), m.site_pos, matrices(m.site_quat), strict=True)
    for name, k, p, own in sites:
        joint, R, origin = carried[k]
        frames.append(new_frame(name, joint, placed(R @ own, origin + R @ p), "site", bodies[k]))
    return frames


def joints_and_places(body: Body) -> tuple[list[Joint], list[Place]]:
    """Return the joints, and of every body of MuJoCo the joint that carries it and its frame there."""
    m, armature = body.model, body.armature
    joints: list[Joint] = []
    turned, axes = matrices(m.body_quat), matrices(m.body_iquat)
    parents, firsts, counts = m.body_parentid.tolist(), m.body_jntadr.tolist(), m.body_jntnum.tolist()
    masses, centres, moments, places = m.body_mass.tolist(), m.body_ipos, m.body_inertia, m.body_pos
    carried: list[Place] = [(-1, IDENTITY, ZERO)]
    for k in range(1, m.nbody):
        carrier, R, p = carried[parents[k]]
        R, p = R @ turned[k], p + R @ places[k]
        inertia = new_inertia(masses[k], centres[k], axes[k] * moments[k] @ axes[k].T)
        first, count = firsts[k], counts[k]
        for j in range(first, first + count):
            anchor, last = m.jnt_pos[j], j == first + count - 1
            own = inertia.moved(IDENTITY, -anchor) if last else Inertia()
            joints += _parts(body, j, carrier, R, p + R @ anchor, own, armature, len(joints))
            carrier, R, p = len(joints) - 1, IDENTITY, -anchor
        if not count and carrier >= 0:
            whole = joints[carrier].inertia + inertia.moved(R, p)
            joints[carrier] = with_inertia(joints[carrier], whole)
        carried.append((carrier, R, p))
    return joints, carried


def _parts(body: Body, j: int, parent: int, R, p, inertia: Inertia, armature, count: int) -> list[Joint]:
    """Return joint j as one of ours, or two for a free joint with armature, after ``count`` joints."""
    own = body.joints[j]
    armature = armature[own.v]
    if not own.free or not armature[:3].any():
        return [_joint(body, j, parent, R, p, inertia, armature)]
    first, second = (half.name for half in body.halves[own.name])
    return [
        Joint(first, "translation", parent, armature=armature[:3]),
        Joint(second, "spherical", count, inertia=inertia, armature=armature[3:]),
    ]


def _joint(body: Body, j: int, parent: int, R, p, inertia: Inertia, armature) -> Joint:
    """Return joint j in a frame at its anchor; at q = reference the body is not displaced."""
    m, own = body.model, body.joints[j]
    kind, axis, lower, upper, effort = KINDS[own.kind], None, None, None, None
    if own.nv == 1:
        axis, reference = m.jnt_axis[j], m.qpos0[own.q][0]
        if reference and kind == "revolute":
            R = R @ Rotation.from_rotvec(-reference * axis).as_matrix()
        elif reference:
            p = p - R @ axis * reference
        if m.jnt_limited[j]:
            lower, upper = m.jnt_range[j, :1], m.jnt_range[j, 1:]
        if m.jnt_actfrclimited[j]:
            effort = np.abs(m.jnt_actfrcrange[j]).max(keepdims=True)
    elif own.free:
        R, p = IDENTITY, ZERO  # q is the pose itself
    return new_joint(
        own.name, kind, parent, placed(R, p), axis, 0.0, inertia, armature, lower, upper, None, "", effort
    )


def _refuse_tendon_armature(m: mujoco.MjModel) -> None:
    tendons = np.flatnonzero(getattr(m, "tendon_armature", ()))
    if tendons.size:
        name = m.tendon(tendons[0]).name or f"tendon {tendons[0]}"
        raise adapter_error(f"{name!r} has armature, and no tree of bodies has its H", name)


def matrices(quaternions: np.ndarray) -> np.ndarray:
    """Return the rotations of quaternions w x y z."""
    return Rotation.from_quat(np.roll(quaternions, -1, axis=1)).as_matrix()
