"""Convert states, accelerations and matrices from PyBullet's conventions to Pinocchio's and back."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from .._util.validation import as_vector
from ._pinocchio_conventions import joints_of
from ._pybullet_body import Body, adapter_error, cross_matrix


def transform(body: Body, model, q=None) -> np.ndarray:
    """Return T with v_pinocchio = T v, shape (model.nv, nv); joints are matched by name.

    Parameters
    ----------
    body : Body
    model : pinocchio.Model or Model
        A free-flyer, where there is one, is called "root_joint".
    q : array_like, shape (model.nq,), optional
        Taken for the sake of a common signature: this T is constant.

    Raises
    ------
    AdapterError
        If body and model have different joints.

    Notes
    -----
    H = T' H_pin T, tau = T' tau_pin, a_pin = T a + offset with `acceleration_offset`, and so
    bias = T' (nle + H_pin offset). With R, c the base inertial frame in the link frame and S(c) x = c × x,
    the base block is [[S(c) R, R], [R, 0]]; a spherical joint has the R of its child link.
    """
    joints = _joints(body, model)
    T = np.zeros((model.nv, body.nv))
    if body.floating:
        R, at = body.base_inertial, joints["root_joint"][1]
        T[at, :6] = np.block([[cross_matrix(body.base_centre) @ R, R], [R, np.zeros((3, 3))]])
    for link in body.moving:
        T[joints[link.joint][1], link.v] = link.inertial if link.freedoms == 3 else 1.0
    return T


def acceleration_offset(body: Body, model, q, v) -> np.ndarray:
    """Return c with a_pinocchio = T a + c, shape (model.nv,); zero for a fixed base.

    Parameters
    ----------
    body : Body
    model : pinocchio.Model or Model
    q : array_like, shape (model.nq,)
    v : array_like, shape (model.nv,)
        Both as Pinocchio lays them out.

    Notes
    -----
    Pinocchio's acceleration of the base is spatial, PyBullet's that of the CoM: with c the CoM in the link
    frame, a_lin = a_com - ω × (v + ω × c) - α × c, of which T does the last term.
    """
    as_vector(q, model.nq, "q")
    v = as_vector(v, model.nv, "v")
    joints, offset = _joints(body, model), np.zeros(model.nv)
    if body.floating:
        at = joints["root_joint"][1]
        linear, angular = v[at][:3], v[at][3:]
        offset[at][:3] = -np.cross(angular, linear + np.cross(angular, body.base_centre))
    return offset


def from_pinocchio(body: Body, model, q, v) -> tuple[np.ndarray, np.ndarray]:
    """Convert Pinocchio's q and v to this module's.

    Parameters
    ----------
    body : Body
    model : pinocchio.Model or Model
    q : array_like, shape (model.nq,)
        Continuous joints as (cos, sin), quaternions x y z w.
    v : array_like, shape (model.nv,)
    """
    q, v = as_vector(q, model.nq, "q"), as_vector(v, model.nv, "v")
    joints, mine = _joints(body, model), np.empty(body.nq)
    if body.floating:
        x = q[joints["root_joint"][0]]
        R = Rotation.from_quat(x[3:])
        mine[:3] = x[:3] + R.apply(body.base_centre)
        mine[3:7] = (R * Rotation.from_matrix(body.base_inertial)).as_quat()
    for link in body.moving:
        x = q[joints[link.joint][0]]
        if link.freedoms == 3:  # Q_inertial = R' Q_link R
            inertial = Rotation.from_matrix(link.inertial)
            x = (inertial.inv() * Rotation.from_quat(x) * inertial).as_quat()
        mine[link.q] = np.arctan2(x[1], x[0]) if x.size == 2 else x
    return mine, np.linalg.solve(transform(body, model), v)


def pinocchio_gravity(body: Body) -> np.ndarray:
    """Return the value for Pinocchio's ``model.gravity.linear``, m/s^2, shape (3,).

    Notes
    -----
    The world of a Pinocchio model with a fixed base is the link frame of that base, which PyBullet may have
    placed in any orientation; with a floating base it is PyBullet's world.
    """
    if body.floating:
        return body.gravity
    return body.base_inertial @ body.base_rotation(np.empty(0)).T @ body.gravity


def _joints(body: Body, model) -> dict[str, tuple[slice, slice]]:
    """Return entries in q and v of the joints of model by name; they must be those of body."""
    own = {link.joint: link.freedoms for link in body.moving}
    if body.floating:
        own["root_joint"] = 6
    joints = {name: (q, v) for name, q, v in joints_of(model)}
    theirs = {name: v.stop - v.start for name, (_, v) in joints.items()}
    if own != theirs:
        odd = sorted(name for name in own.keys() | theirs.keys() if own.get(name) != theirs.get(name))
        raise adapter_error(
            f"the Pinocchio model does not have the joints of {body.base!r}; they differ in {', '.join(odd)}",
            *odd[:1],
        )
    return joints
