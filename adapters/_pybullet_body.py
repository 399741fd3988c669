"""Hold a multibody of PyBullet, and find out whether PyBullet's mass matrix is that of its masses and frames.

PyBullet caches the tree of a body, also beyond changeDynamics and removeBody. Robots that `load` returns have
a client of their own, where nothing was cached before; bodies of the user are checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

import numpy as np
import pybullet
from scipy.spatial.transform import Rotation

from .._util.validation import Sealed
from ..exceptions import AdapterError
from ..model._urdf import roll_pitch_yaw
from ..tolerances import MISPLACED, SAME_AS_CACHED
from ._pybullet_files import require_state

FREEDOMS = {  # freedoms and entries of q by PyBullet's joint type
    pybullet.JOINT_REVOLUTE: (1, 1),
    pybullet.JOINT_PRISMATIC: (1, 1),
    pybullet.JOINT_SPHERICAL: (3, 4),
    pybullet.JOINT_FIXED: (0, 0),
}
MULTI_BODY = 2  # body type in getDynamicsInfo
INERTIAL = (0, 2, 3, 4)  # mass, moments, position and orientation of the inertial frame in getDynamicsInfo


@dataclass(frozen=True)
class Link:
    """Link and its parent joint. Frames are inertial: the origin is the CoM, the axes are principal."""

    joint: str
    name: str
    kind: int  # PyBullet's type of the joint
    parent: int  # index of the parent link, -1 for the base
    freedoms: int
    q: slice
    v: slice
    axis: np.ndarray  # of the joint
    centre: np.ndarray  # vector from the joint to the CoM (m), in this frame
    pivot: np.ndarray  # position of the joint in the parent's frame (m)
    zero: np.ndarray  # rotation of this frame in the parent's at q = 0
    inertial: np.ndarray  # rotation of this frame in the link frame of the URDF
    mass: float
    moments: np.ndarray  # principal ones (kg m^2)


class Body(Sealed, AbstractContextManager):
    """Multibody in PyBullet.

    Parameters
    ----------
    body_id : int
        As loadURDF returns it.
    physicsClientId : int
    owns_client : bool
        Whether nothing else was in the client before, and `close` disconnects it.

    Attributes
    ----------
    id, client : int
    base : str
        Name of the base link.
    floating : bool
    nq, nv : int
    links, moving : tuple of Link
        All links but the base, in PyBullet's order, and those whose joint has freedoms.
    base_mass, base_moments, base_centre, base_inertial : float, ndarray (3,), (3,) and (3, 3)
        Of the base: mass, principal moments, CoM in the link frame, rotation of the inertial frame in it.

    Raises
    ------
    AdapterError
        If there is no such multibody, it has a planar joint or more than 128 links, or PyBullet's mass
        matrix is not that of its masses and frames: PyBullet caches the tree of a body, also beyond
        changeDynamics and removeBody.

    Notes
    -----
    Thread-compatible.

    Every evaluation changes it. It belongs to the client of one process and cannot be pickled.
    """

    id: int
    client: int
    owns_client: bool
    base: str
    floating: bool
    nq: int
    nv: int
    links: tuple[Link, ...]
    moving: tuple[Link, ...]
    base_mass: float
    base_moments: np.ndarray
    base_centre: np.ndarray
    base_inertial: np.ndarray
    dynamics: list

    def __init__(self, body_id: int, physicsClientId: int = 0, owns_client: bool = False):
        with engine_errors("there is no such body"):
            rows = _dynamics(body_id, physicsClientId)
            base = pybullet.getBodyInfo(body_id, physicsClientId=physicsClientId)[0].decode()
        if any(row[10] != MULTI_BODY for row in rows):
            raise AdapterError(f"body {body_id} is not a multibody", "pybullet")
        mass, _, moments, centre, quaternion = rows[0][:5]
        floating = mass > 0.0  # PyBullet fixes a base without mass
        ends = (7, 6) if floating else (0, 0)
        links = _links(body_id, physicsClientId, rows[1:], *ends)
        nq, nv = (links[-1].q.stop, links[-1].v.stop) if links else ends
        self._keep(id=body_id, client=physicsClientId, owns_client=owns_client, dynamics=rows)
        self._keep(base=base, floating=floating, links=links, nq=nq, nv=nv)
        self._keep(moving=tuple(link for link in links if link.freedoms))
        self._keep(base_mass=mass, base_moments=np.array(moments))
        self._keep(base_centre=np.array(centre), base_inertial=matrix(quaternion))
        require_state(base, len(rows), nq - ends[0])
        if not owns_client:
            self.require_present()

    def __exit__(self, *exception) -> None:
        self.close()

    def __reduce__(self):
        raise TypeError("a body in PyBullet is one of this process and cannot be copied or pickled")

    def close(self) -> None:
        """Disconnect the client if `load` opened it; the body cannot be used afterwards."""
        if self.owns_client:
            self._keep(owns_client=False)
            pybullet.disconnect(self.client)

    @property
    def gravity(self) -> np.ndarray:
        """Gravity of the client, m/s^2 in the world, shape (3,); zero until someone sets it."""
        with engine_errors("the client is closed"):
            parameters = pybullet.getPhysicsEngineParameters(self.client)
        return np.array([parameters[f"gravityAcceleration{axis}"] for axis in "XYZ"])

    def angles(self, q: np.ndarray) -> list[float]:
        """Return joint positions as PyBullet takes them: roll, pitch and yaw for a spherical joint."""
        parts = ((link.freedoms, q[link.q]) for link in self.moving)
        return [angle for n, x in parts for angle in (roll_pitch_yaw(matrix(x)) if n == 3 else x).tolist()]

    def base_rotation(self, q: np.ndarray) -> np.ndarray:
        """Return the rotation of the base inertial frame in the world."""
        if self.floating:
            return matrix(q[3:7])
        with engine_errors("the body was removed, or its client closed"):
            return matrix(pybullet.getBasePositionAndOrientation(self.id, physicsClientId=self.client)[1])

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Return the joint-space inertia matrix by PyBullet at a q of the right length."""
        if not self.nv:
            return np.zeros((0, 0))
        try:
            H = np.array(pybullet.calculateMassMatrix(self.id, self.angles(q), physicsClientId=self.client))
        except (pybullet.error, SystemError):  # SystemError: it returns NULL without an exception
            odd = [link.name for link in self.links if link.moments.min() < 0.0]
            reason = f"the inertia of {', '.join(odd)} is indefinite" if odd else "see its output"
            message = f"PyBullet has no mass matrix for {self.base!r}: {reason}"
            raise AdapterError(message, "pybullet", None, *odd[:1]) from None
        if H.shape != (self.nv, self.nv):
            message = f"the mass matrix of {self.base!r} has shape {H.shape}, expected {self.nv} rows"
            raise AdapterError(message, "pybullet")
        return H

    def require_unchanged(self) -> None:
        """Raise AdapterError if a mass or an inertia was changed since this object was made."""
        with engine_errors("the body was removed, or its client closed"):
            now = _dynamics(self.id, self.client)
        names = [self.base, *(link.name for link in self.links)]
        for name, old, new in zip(names, self.dynamics, now, strict=True):
            if any(old[k] != new[k] for k in INERTIAL):
                reason = "and PyBullet's cached mass matrix does not know"
                raise AdapterError(f"changeDynamics altered link {name!r}, {reason}", "pybullet", None, name)

    def require_present(self) -> None:
        """Raise AdapterError if PyBullet's mass matrix is not the one of the masses and frames it reports.

        Then PyBullet has cached the tree of another body, or of this one before a change, or drops the offset
        of a spherical joint.
        """
        self._refuse_offset_spherical_joints()
        q = _sample(self)
        expected, received = reference_mass_matrix(self, q), self.mass_matrix(q)
        allowed = SAME_AS_CACHED * np.abs(expected).max(initial=0.0)
        if not np.abs(received - expected).max(initial=0.0) <= allowed:
            raise AdapterError(
                f"the mass matrix of {self.base!r} is not that of its present masses and frames: PyBullet "
                "keeps the tree it cached before changeDynamics or removeBody; load it in a fresh client",
                "pybullet",
            )

    def _refuse_offset_spherical_joints(self) -> None:
        for link in self.moving:
            # PyBullet's inverse dynamics has its frames at the joints, that of the base at its CoM
            parent = self.links[link.parent].centre if link.parent >= 0 else np.zeros(3)
            if link.freedoms == 3 and np.abs(link.pivot + parent).max() > MISPLACED:
                message = (
                    f"spherical joint {link.joint!r} is not at the origin of its parent, and PyBullet's mass "
                    'matrix drops that offset; the option "spherical_joints" of load() works round it'
                )
                raise AdapterError(message, "pybullet", None, link.joint)


def _dynamics(body_id: int, client: int) -> list[tuple]:
    """Return PyBullet's dynamics of the base and all links."""
    count = pybullet.getNumJoints(body_id, physicsClientId=client)
    return [pybullet.getDynamicsInfo(body_id, i, physicsClientId=client) for i in range(-1, count)]


def _links(body_id: int, client: int, rows: list[tuple], at_q: int, at_v: int) -> tuple[Link, ...]:
    links = []
    for i, (mass, _, moments, com, quaternion, *_) in enumerate(rows):
        info = pybullet.getJointInfo(body_id, i, physicsClientId=client)
        joint, kind, name = info[1].decode(), info[2], info[12].decode()
        if kind not in FREEDOMS:
            reason = f"joint {joint!r}: PyBullet has no inverse dynamics of type {kind}"
            raise AdapterError(reason, "pybullet", None, joint)
        nv, nq = FREEDOMS[kind]
        q, v = slice(at_q, at_q + nq), slice(at_v, at_v + nv)
        at_q, at_v = q.stop, v.stop
        inertial = matrix(quaternion)
        axis, pivot, zero = np.array(info[13]), np.array(info[14]), matrix(info[15]).T
        frames = axis, inertial.T @ com, pivot, zero, inertial
        links.append(Link(joint, name, kind, info[16], nv, q, v, *frames, mass, np.array(moments)))
    return tuple(links)


def _sample(body) -> np.ndarray:
    """Return a configuration without symmetry."""
    q = np.linspace(0.3, 1.1, body.nq)
    for link in body.moving:
        if link.freedoms == 3:
            q[link.q] /= np.linalg.norm(q[link.q])
    return q


def reference_mass_matrix(body, q: np.ndarray) -> np.ndarray:
    """Sum J' M J over all links, from the masses and frames PyBullet reports; J maps to [ω; v at CoM]."""
    # Jacobians of the base, then of the links
    J = [np.eye(6, body.nv) if body.floating else np.zeros((6, body.nv))]
    inertia = np.concatenate([body.base_moments, np.full(3, body.base_mass)])
    H = J[0].T @ (inertia[:, None] * J[0])
    for link in body.links:
        R, slide = _joint_motion(link, q[link.q])
        r = link.pivot + R @ (slide + link.centre)  # from the parent's CoM, in its axes
        above = J[link.parent + 1]
        own = np.vstack([R.T @ above[:3], R.T @ (above[3:] - cross_matrix(r) @ above[:3])])
        own[:, link.v] = _joint_axes(link)
        J.append(own)
        inertia = np.concatenate([link.moments, np.full(3, link.mass)])
        H += own.T @ (inertia[:, None] * own)
    return H


def _joint_motion(link, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rotation of the link in its parent, and its translation along the joint in its own axes."""
    if link.kind == pybullet.JOINT_REVOLUTE:
        return link.zero @ Rotation.from_rotvec(q * link.axis).as_matrix(), np.zeros(3)
    if link.kind == pybullet.JOINT_SPHERICAL:
        return link.zero @ matrix(q), np.zeros(3)
    return link.zero, q.sum() * link.axis  # the sum is zero for a fixed joint


def _joint_axes(link) -> np.ndarray:
    """Return [ω; v of the CoM] of the link for each freedom of its joint, shape (6, freedoms)."""
    turn, slide = np.zeros((3, link.freedoms)), np.zeros((3, link.freedoms))
    if link.kind == pybullet.JOINT_REVOLUTE:
        turn[:, 0] = link.axis
    elif link.kind == pybullet.JOINT_PRISMATIC:
        slide[:, 0] = link.axis
    elif link.kind == pybullet.JOINT_SPHERICAL:
        turn = np.eye(3)
    return np.vstack([turn, slide - cross_matrix(link.centre) @ turn])


def cross_matrix(c: np.ndarray) -> np.ndarray:
    """Return S(c) with S(c) x = c × x."""
    return np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])


def matrix(quaternion) -> np.ndarray:
    """Return the rotation matrix of a quaternion x y z w."""
    return Rotation.from_quat(quaternion).as_matrix()


@contextmanager
def engine_errors(reason: str) -> Iterator[None]:
    """Turn PyBullet's bare error into one that names the failed call."""
    try:
        yield
    except (pybullet.error, SystemError) as error:  # SystemError: a result with an exception set
        raise AdapterError(f"{reason} ({error})", "pybullet") from None
