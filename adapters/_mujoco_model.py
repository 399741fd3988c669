"""Build our model of a MuJoCo model: welded bodies are merged, joints of one body form a chain."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from .._util.engine_objects import require_object
from ..model.frames import Frame
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
        A hinge or slide has MuJoCo's q, reference position and all. The armature of a free joint acts on
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
    joints, carried = _joints(body)
    return Model(joints, body.gravity, strict=False, frames=_frames(body.model, joints, carried))


def _frames(m: mujoco.MjModel, joints: list[Joint], carried: list[Place]) -> list[Frame]:
    """Return the frames of bodies, joints and sites; a body k is placed by ``carried[k]``."""
    bodies, sites = body_names(m), site_names(m)
    frames = []
    for k, (name, place) in enumerate(zip(bodies, carried, strict=True)):
        frames.append(Frame(name, *place, "body", bodies[m.body_parentid[k]] if k else ""))
    frames += [Frame(joint.name, k, type="joint") for k, joint in enumerate(joints)]
    for name, k, p, quaternion in zip(sites, m.site_bodyid, m.site_pos, m.site_quat, strict=True):
        joint, R, origin = carried[k]
        frames.append(Frame(name, -1, _matrix(quaternion), p, "site", bodies[k]).moved(R, origin, joint))
    return frames


def _joints(body: Body) -> tuple[list[Joint], list[Place]]:
    """Return the joints, and of every body of MuJoCo the joint that carries it and its frame there."""
    m, joints = body.model, []
    carried: list[Place] = [(-1, np.eye(3), np.zeros(3))]
    for k in range(1, m.nbody):
        carrier, R, p = carried[m.body_parentid[k]]
        R, p = R @ _matrix(m.body_quat[k]), p + R @ m.body_pos[k]
        inertia = Inertia(m.body_mass[k], m.body_ipos[k], _tensor(m.body_inertia[k], m.body_iquat[k]))
        first, count = m.body_jntadr[k], m.body_jntnum[k]
        for j in range(first, first + count):
            anchor, last = m.jnt_pos[j], j == first + count - 1
            own = inertia.moved(np.eye(3), -anchor) if last else Inertia()
            joints += _parts(body, j, carrier, R, p + R @ anchor, own, len(joints))
            carrier, R, p = len(joints) - 1, np.eye(3), -anchor
        if not count and carrier >= 0:
            joints[carrier] = replace(joints[carrier], inertia=joints[carrier].inertia + inertia.moved(R, p))
        carried.append((carrier, R, p))
    return joints, carried


def _parts(body: Body, j: int, parent: int, R, p, inertia: Inertia, count: int) -> list[Joint]:
    """Return joint j as one of ours, or two for a free joint with armature, after ``count`` joints."""
    own = body.joints[j]
    armature = body.armature[own.v]
    if not own.free or not armature[:3].any():
        return [_joint(body, j, parent, R, p, inertia)]
    first, second = (half.name for half in body.halves[own.name])
    return [
        Joint(first, "translation", parent, armature=armature[:3]),
        Joint(second, "spherical", count, inertia=inertia, armature=armature[3:]),
    ]


def _joint(body: Body, j: int, parent: int, R: np.ndarray, p: np.ndarray, inertia: Inertia) -> Joint:
    """Return joint j in a frame at its anchor; at q = reference the body is not displaced."""
    m, own = body.model, body.joints[j]
    kind, axis, limits = KINDS[own.kind], None, {}
    if own.nv == 1:
        axis, reference = m.jnt_axis[j], m.qpos0[own.q][0]
        if kind == "revolute":
            R = R @ Rotation.from_rotvec(-reference * axis).as_matrix()
        else:
            p = p - R @ axis * reference
        if m.jnt_limited[j]:
            limits = {"lower": m.jnt_range[j, :1], "upper": m.jnt_range[j, 1:]}
    elif own.free:
        R, p = np.eye(3), np.zeros(3)  # q is the pose itself
    return Joint(own.name, kind, parent, R, p, axis, inertia=inertia, armature=body.armature[own.v], **limits)


def _refuse_tendon_armature(m: mujoco.MjModel) -> None:
    tendons = np.flatnonzero(getattr(m, "tendon_armature", ()))
    if tendons.size:
        name = m.tendon(tendons[0]).name or f"tendon {tendons[0]}"
        raise adapter_error(f"{name!r} has armature, and no tree of bodies has its H", name)


def _matrix(quaternion: np.ndarray) -> np.ndarray:
    """Return the rotation of a quaternion w x y z."""
    return Rotation.from_quat(np.roll(quaternion, -1)).as_matrix()


def _tensor(moments: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    R = _matrix(quaternion)
    return R * moments @ R.T
