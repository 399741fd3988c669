"""Build our model of a body in PyBullet: links on fixed joints are merged into their carriers."""

from __future__ import annotations

import numpy as np
import pybullet

from .._util.engine_objects import require_object
from ..model._building import new_frame, new_inertia, new_joint, placed, with_inertia
from ..model.frames import IDENTITY, ZERO, Frame, distinct_names
from ..model.joints import Inertia, Joint
from ..model.model import Model
from ._pybullet_body import Body

KINDS = {
    pybullet.JOINT_REVOLUTE: "revolute",
    pybullet.JOINT_PRISMATIC: "prismatic",
    pybullet.JOINT_SPHERICAL: "spherical",
}


def pinocchio_gravity(body) -> np.ndarray:
    """Return the value for Pinocchio's ``model.gravity.linear``, m/s^2, shape (3,).

    Notes
    -----
    The world of a Pinocchio model with a fixed base is the link frame of that base, which PyBullet may have
    placed in any orientation; with a floating base it is PyBullet's world.
    """
    if body.floating:
        return body.gravity
    return body.base_inertial @ body.base_rotation(np.empty(0)).T @ body.gravity


def model(body: Body) -> Model:
    """Build our model of a body in PyBullet, with q and v as Pinocchio lays them out.

    Parameters
    ----------
    body : Body

    Returns
    -------
    Model
        Joints and their order are PyBullet's, a free base is ``root_joint``; frames are those of the URDF's
        links, not PyBullet's inertial ones. `from_pinocchio` and `transform` take this model, too. Continuous
        joints are "revolute" here, for PyBullet has one angle for them. Gravity is the client's at this time.
        Every link and joint has a frame, links on fixed joints too, with a type as in
        `treefactor.Model.from_urdf`.
    """
    require_object(body, Body, "body", "a Body of pybullet_", "pybullet_.load(path) reads a file")
    inertia = _inertia(body.base_mass, body.base_moments, body.base_centre, body.base_inertial)
    joints = [Joint("root_joint", "freeflyer", inertia=inertia)] if body.floating else []
    # for the base and every link: the body that carries it, and the frame in that body
    carried = [(len(joints) - 1, IDENTITY, ZERO)]
    # inertias of the base and of every link, in link frames
    inertials = [(body.base_centre, body.base_inertial)]
    for i, link in enumerate(body.links):
        carrier, R, p = carried[link.parent + 1]
        centre, inertial = inertials[link.parent + 1]
        R, p = R @ inertial @ link.zero @ link.inertial.T, p + R @ (centre + inertial @ link.pivot)
        centre = link.inertial @ link.centre
        inertials.append((centre, link.inertial))
        inertia = _inertia(link.mass, link.moments, centre, link.inertial)
        if link.freedoms:
            joints.append(_joint(body, i, carrier, R, p, inertia))
            carrier, R, p = len(joints) - 1, IDENTITY, ZERO
        elif carrier >= 0:
            whole = joints[carrier].inertia + inertia.moved(R, p)
            joints[carrier] = with_inertia(joints[carrier], whole)
        carried.append((carrier, R, p))
    frames = _frames(body, carried)
    return Model(joints, pinocchio_gravity(body), body.base, strict=False, frames=frames)


def _frames(body, carried: list) -> list[Frame]:
    """Return the frames of the base, the joints and the links, placed by ``carried``."""
    types, names = ["body"], [body.base]
    for link in body.links:
        types += ["joint" if link.freedoms else "fixed_joint", "body"]
        names += [link.joint, link.name]
    names = distinct_names(names, types)
    carrier, R, p = carried[0]
    frames = [new_frame(names[0], carrier, placed(R, p), types[0], "")]
    for k, link in enumerate(body.links, 1):
        at, (carrier, R, p) = 2 * k - 1, carried[k]
        placement = placed(R, p)
        frames.append(new_frame(names[at], carrier, placement, types[at], names[2 * link.parent + 2]))
        frames.append(new_frame(names[at + 1], carrier, placement, types[at + 1], names[at]))
    return frames


def _joint(body, i: int, parent: int, R: np.ndarray, p: np.ndarray, inertia: Inertia) -> Joint:
    link, axis, lower, upper = body.links[i], None, None, None
    if link.freedoms == 1:
        axis = link.inertial @ link.axis
        low, high = pybullet.getJointInfo(body.id, i, physicsClientId=body.client)[8:10]
        if low <= high:  # low > high means no limits in PyBullet
            lower, upper = np.array([low]), np.array([high])
    kind = KINDS[link.kind]
    return new_joint(link.joint, kind, parent, placed(R, p), axis, 0.0, inertia, None, lower, upper, None, "")


def _inertia(mass: float, moments: np.ndarray, centre: np.ndarray, axes: np.ndarray) -> Inertia:
    return new_inertia(mass, centre, axes * moments @ axes.T)
