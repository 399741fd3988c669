"""Hold a multibody in PyBullet, and compare PyBullet's mass matrix with its masses and frames."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pybullet
from scipy.spatial.transform import Rotation

from .._util.validation import Sealed
from ..exceptions import AdapterError
from ..model._urdf import roll_pitch_yaw
from ..tolerances import MISPLACED, SAME_AS_CACHED

LINKS = 128  # base included; PyBullet has no state of a body with more
POSITIONS = 120  # of joints: 128 less 7 of the base; PyBullet misreads the last one in spherical joints

FREEDOMS = {
    pybullet.JOINT_REVOLUTE: 1,
    pybullet.JOINT_PRISMATIC: 1,
    pybullet.JOINT_SPHERICAL: 3,
    pybullet.JOINT_FIXED: 0,
}
MULTI_BODY = 2  # body type in getDynamicsInfo
INERTIAL = (0, 2, 3, 4)  # mass, moments, position and orientation of the inertial frame in getDynamicsInfo


@dataclass(frozen=True)
class Link:
    """Link and its parent joint. Frames are inertial: the origin is the CoM, the axes are principal.

    Attributes
    ----------
    joint, name : str
    kind, parent, freedoms : int
        PyBullet's joint type; index of the parent link, -1 for the base; entries in v.
    q, v : slice
        Entries in q and v.
    axis, centre : ndarray, shape (3,)
        Axis of the joint, and the vector from the joint to the CoM (m), in this frame.
    pivot : ndarray, shape (3,)
        Position of the joint in the parent's frame (m).
    zero, inertial : ndarray, shape (3, 3)
        Rotation of this frame in the parent's at q = 0, and in the link frame of the URDF.
    mass : float
    moments : ndarray, shape (3,)
        Principal moments of inertia (kg m^2).

    Notes
    -----
    Thread-compatible.
    """

    joint: str
    name: str
    kind: int
    parent: int
    freedoms: int
    q: slice
    v: slice
    axis: np.ndarray
    centre: np.ndarray
    pivot: np.ndarray
    zero: np.ndarray
    inertial: np.ndarray
    mass: float
    moments: np.ndarray


class Body(Sealed):
    """Multibody in PyBullet.

    Parameters
    ----------
    body_id : int
        As loadURDF returns it.
    physicsClientId : int

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
    _dynamics: list

    def __init__(self, body_id: int, physicsClientId: int = 0):
        own = vars(self)
        own.update(id=body_id, client=physicsClientId, owns_client=False)
        with engine_errors("there is no such body"):
            own["_dynamics"] = self._read_dynamics()
            own["base"] = pybullet.getBodyInfo(body_id, physicsClientId=physicsClientId)[0].decode()
        if any(row[10] != MULTI_BODY for row in self._dynamics):
            raise adapter_error(f"body {body_id} is not a multibody")
        mass, _, moments, centre, quaternion = self._dynamics[0][:5]
        own["floating"] = mass > 0.0  # PyBullet fixes a base without mass
        own.update(base_mass=mass, base_moments=np.array(moments), base_centre=np.array(centre))
        own["base_inertial"] = matrix(quaternion)
        own["links"] = self._read_links()
        own["moving"] = tuple(link for link in self.links if link.freedoms)
        own["nq"] = (7 if self.floating else 0) + sum(link.q.stop - link.q.start for link in self.links)
        own["nv"] = (6 if self.floating else 0) + sum(link.freedoms for link in self.links)
        require_state(self.base, 1 + len(self.links), self.nq - (7 if self.floating else 0))
        self.check()

    def __enter__(self) -> Body:
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def __reduce__(self):
        raise TypeError("a body in PyBullet is one of this process and cannot be copied or pickled")

    def close(self) -> None:
        """Disconnect the client if `load` opened it; the body cannot be used afterwards."""
        if self.owns_client:
            vars(self)["owns_client"] = False
            pybullet.disconnect(self.client)

    @property
    def gravity(self) -> np.ndarray:
        """Gravity of the client, m/s^2 in the world, shape (3,); zero until someone sets it."""
        with engine_errors("the client is closed"):
            parameters = pybullet.getPhysicsEngineParameters(self.client)
        return np.array([parameters[f"gravityAcceleration{axis}"] for axis in "XYZ"])

    def check(self) -> None:
        """Compare PyBullet's mass matrix with one made from the masses and frames it reports.

        Raises
        ------
        AdapterError
            If they differ: PyBullet has cached the tree of another body, or of this one before a change.
        """
        self._refuse_offset_spherical_joints()
        q = self._sample()
        expected, received = reference_mass_matrix(self, q), self.mass_matrix(q)
        allowed = SAME_AS_CACHED * np.abs(expected).max(initial=0.0)
        if not np.abs(received - expected).max(initial=0.0) <= allowed:
            raise adapter_error(
                f"the mass matrix of {self.base!r} is not that of its present masses and frames: PyBullet "
                "keeps the tree it cached before changeDynamics or removeBody; load it in a fresh client"
            )

    def require_unchanged(self) -> None:
        """Raise AdapterError if a mass or an inertia was changed since this object was made."""
        with engine_errors("the body was removed, or its client closed"):
            now = self._read_dynamics()
        for name, old, new in zip(self._names(), self._dynamics, now, strict=True):
            if any(old[k] != new[k] for k in INERTIAL):
                raise adapter_error(
                    f"changeDynamics altered link {name!r}, and PyBullet's cached mass matrix does not know",
                    name,
                )

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Return the joint-space inertia matrix by PyBullet at a q of the right length."""
        if not self.nv:
            return np.zeros((0, 0))
        try:
            H = np.array(pybullet.calculateMassMatrix(self.id, self.angles(q), physicsClientId=self.client))
        except (pybullet.error, SystemError):  # SystemError: it returns NULL without an exception
            indefinite = [link.name for link in self.links if link.moments.min() < 0.0]
            reason = (
                f"the inertia of {', '.join(indefinite)} is indefinite" if indefinite else "see its output"
            )
            raise adapter_error(
                f"PyBullet has no mass matrix for {self.base!r}: {reason}", *indefinite[:1]
            ) from None
        if H.shape != (self.nv, self.nv):
            raise adapter_error(
                f"the mass matrix of {self.base!r} has shape {H.shape}, expected {self.nv} rows"
            )
        return H

    def angles(self, q: np.ndarray) -> list[float]:
        """Return joint positions as PyBullet takes them: roll, pitch and yaw for a spherical joint."""
        angles = []
        for link in self.moving:
            x = q[link.q]
            angles += (roll_pitch_yaw(matrix(x)) if link.freedoms == 3 else x).tolist()
        return angles

    def base_rotation(self, q: np.ndarray) -> np.ndarray:
        """Return the rotation of the base inertial frame in the world."""
        if self.floating:
            return matrix(q[3:7])
        with engine_errors("the body was removed, or its client closed"):
            return matrix(pybullet.getBasePositionAndOrientation(self.id, physicsClientId=self.client)[1])

    def default_inertials(self) -> list[str]:
        """Find links of 1 kg with inertia diag(1, 1, 1), PyBullet's default without ``<inertial>``."""
        rows = zip(self._names(), self._dynamics, strict=True)
        return [name for name, row in rows if row[0] == 1.0 and row[2] == (1.0, 1.0, 1.0)]

    def _names(self) -> list[str]:
        return [self.base, *(link.name for link in self.links)]

    def _read_dynamics(self) -> list[tuple]:
        count = pybullet.getNumJoints(self.id, physicsClientId=self.client)
        return [pybullet.getDynamicsInfo(self.id, i, physicsClientId=self.client) for i in range(-1, count)]

    def _read_links(self) -> tuple[Link, ...]:
        links, at_q, at_v = [], 7 if self.floating else 0, 6 if self.floating else 0
        for i, (mass, _, moments, com, quaternion, *_) in enumerate(self._dynamics[1:]):
            info = pybullet.getJointInfo(self.id, i, physicsClientId=self.client)
            joint, kind, name = info[1].decode(), info[2], info[12].decode()
            if kind not in FREEDOMS:
                raise adapter_error(
                    f"joint {joint!r}: PyBullet has no inverse dynamics of type {kind}", joint
                )
            nv = FREEDOMS[kind]
            nq = positions(nv)
            q, v = slice(at_q, at_q + nq), slice(at_v, at_v + nv)
            at_q, at_v = q.stop, v.stop
            inertial = matrix(quaternion)
            axis, pivot, zero = np.array(info[13]), np.array(info[14]), matrix(info[15]).T
            frames = axis, inertial.T @ com, pivot, zero, inertial
            links.append(Link(joint, name, kind, info[16], nv, q, v, *frames, mass, np.array(moments)))
        return tuple(links)

    def _refuse_offset_spherical_joints(self) -> None:
        for link in self.moving:
            # PyBullet's inverse dynamics has its frames at the joints, that of the base at its CoM
            parent = self.links[link.parent].centre if link.parent >= 0 else np.zeros(3)
            if link.freedoms == 3 and np.abs(link.pivot + parent).max() > MISPLACED:
                raise adapter_error(
                    f"spherical joint {link.joint!r} is not at the origin of its parent, and PyBullet's mass "
                    "matrix drops that offset; load() works round it",
                    link.joint,
                )

    def _sample(self) -> np.ndarray:
        """Return a configuration without symmetry."""
        q = np.linspace(0.3, 1.1, self.nq)
        for link in self.moving:
            if link.freedoms == 3:
                q[link.q] /= np.linalg.norm(q[link.q])
        return q


def positions(freedoms: int) -> int:
    """Return the number of entries in q of a joint; a spherical one has a quaternion."""
    return 4 if freedoms == 3 else freedoms


def require_state(base: str, links: int, nq: int, file=None) -> None:
    """Refuse a body too large for PyBullet's states, by its links and the entries of its joints in q."""
    if links > LINKS or nq > POSITIONS:
        raise adapter_error(
            f"{base!r} has {links} links and {nq} joint positions: PyBullet's limits are {LINKS} links, base "
            f"included, and {POSITIONS} positions",
            file=file,
        )


def reference_mass_matrix(body: Body, q: np.ndarray) -> np.ndarray:
    """Sum J' M J over all links, from the masses and frames PyBullet reports; J maps to [ω; v at CoM]."""
    J = [np.eye(6, body.nv) if body.floating else np.zeros((6, body.nv))]  # that of link i at i + 1
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


def _joint_motion(link: Link, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rotation of the link in its parent, and its translation along the joint in its own axes."""
    if link.kind == pybullet.JOINT_REVOLUTE:
        return link.zero @ Rotation.from_rotvec(q * link.axis).as_matrix(), np.zeros(3)
    if link.kind == pybullet.JOINT_SPHERICAL:
        return link.zero @ matrix(q), np.zeros(3)
    return link.zero, q.sum() * link.axis  # the sum is zero for a fixed joint


def _joint_axes(link: Link) -> np.ndarray:
    """Return [ω; v of the CoM] of the link for each freedom of its joint, shape (6, freedoms)."""
    turn, slide = np.zeros((3, link.freedoms)), np.zeros((3, link.freedoms))
    if link.kind == pybullet.JOINT_REVOLUTE:
        turn[:, 0] = link.axis
    elif link.kind == pybullet.JOINT_PRISMATIC:
        slide[:, 0] = link.axis
    elif link.kind == pybullet.JOINT_SPHERICAL:
        turn = np.eye(3)
    return np.vstack([turn, slide - cross_matrix(link.centre) @ turn])


def matrix(quaternion) -> np.ndarray:
    """Return the rotation matrix of a quaternion x y z w."""
    return Rotation.from_quat(quaternion).as_matrix()


def cross_matrix(c: np.ndarray) -> np.ndarray:
    """Return S(c) with S(c) x = c × x."""
    return np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])


@contextmanager
def engine_errors(reason: str):
    """Turn PyBullet's bare error into one that names the failed call."""
    try:
        yield
    except pybullet.error as error:
        raise adapter_error(f"{reason} ({error})") from None


def adapter_error(message: str, joint: str | None = None, file=None) -> AdapterError:
    """Return PyBullet's AdapterError about a joint or link of a file."""
    return AdapterError(message if file is None else f"{file}: {message}", "pybullet", file, joint)
