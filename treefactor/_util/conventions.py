"""Translate between Pinocchio's conventions and those that an engine declares by its `Base` and its joints.

With T and c of a state, v_pinocchio = T v and a_pinocchio = T a + c; hence

    H = T' H_pin T        tau = T' tau_pin        bias = T' (bias_pin + H_pin c)        J = J_pin T

Pinocchio's free-flyer has the velocity of the link's origin and the angular velocity, both in the axes of the
link, and accelerations that are the derivatives of these entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .protocol import Base, EngineJoint

QUARTER = np.array([[0.0, 1.0], [-1.0, 0.0]])  # derivative of a planar rotation's transpose over itself


class JointsDifferError(ValueError):
    """Raised when an engine has other joints than the reference; names them, and says how they differ."""

    def __init__(self, names: Sequence[str], reason: str):
        super().__init__(reason)
        self.names = tuple(names)


class UndeclaredJointError(JointsDifferError):
    """Raised when an engine has the joints, but declares no convention for some of them."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Joint of an engine with its entries in the reference's q and v."""

    joint: EngineJoint
    q: slice
    v: slice


@dataclass(frozen=True, eq=False)
class Translation:
    """State in an engine's layout, with T and c; freedoms of the engine that the reference lacks are at rest.

    Attributes
    ----------
    q, v : ndarray
        All entries of the engine.
    T : ndarray, shape (nv of the reference, len(kept))
    inverse : ndarray, shape (len(kept), nv of the reference)
        Of T.
    c : ndarray, shape (nv of the reference,)
    kept : ndarray
        Entries of the engine's v that the reference has.
    """

    q: np.ndarray
    v: np.ndarray
    T: np.ndarray
    inverse: np.ndarray
    c: np.ndarray
    kept: np.ndarray

    def force(self, tau: np.ndarray) -> np.ndarray:
        """Return a force of the reference in the engine's layout."""
        return self._full(self.T.T @ tau)

    def motion(self, a: np.ndarray) -> np.ndarray:
        """Return an acceleration of the reference in the engine's layout."""
        return self._full(self.inverse @ (a - self.c))

    def reference_force(self, tau: np.ndarray) -> np.ndarray:
        """Return a force of the engine in the reference's layout."""
        return self.inverse.T @ np.asarray(tau, dtype=float)[self.kept]

    def reference_motion(self, a: np.ndarray) -> np.ndarray:
        """Return an acceleration of the engine in the reference's layout."""
        return self.T @ np.asarray(a, dtype=float)[self.kept] + self.c

    def reference_matrix(self, H: np.ndarray) -> np.ndarray:
        """Return an inertia matrix of the engine in the reference's layout."""
        inner = np.asarray(H, dtype=float)[np.ix_(self.kept, self.kept)]
        return self.inverse.T @ inner @ self.inverse

    def reference_columns(self, J: np.ndarray) -> np.ndarray:
        """Return a Jacobian of the engine by the reference's v."""
        return np.asarray(J, dtype=float)[:, self.kept] @ self.inverse

    def _full(self, entries: np.ndarray) -> np.ndarray:
        full = np.zeros(len(self.v))
        full[self.kept] = entries
        return full


def pairs(reference: Sequence[EngineJoint], joints: Sequence[EngineJoint], base: Base) -> list[Pair]:
    """Match the joints of an engine with those of the reference, by name.

    The only free joint of an engine is matched with the reference's only one, and with ``root_joint``; joints
    of one body with the reference's joint ``Composite_<first>``. A base of six entries that is fixed in the
    reference is left out.

    Raises
    ------
    JointsDifferError
    """
    by_name = _by_name(reference, joints)
    pairs: list[Pair] = []
    for one in reference:
        at_q, at_v = one.q.start, one.v.start
        parts = _parts(one, by_name, joints)
        for joint in parts:
            nq = _count(one.q) if len(parts) == 1 else _count(joint.q)
            pairs.append(Pair(joint, slice(at_q, at_q + nq), slice(at_v, at_v + _count(joint.v))))
            at_q, at_v = at_q + nq, at_v + _count(joint.v)
    met = {id(pair.joint) for pair in pairs}
    extra = [joint for joint in joints if id(joint) not in met and not (base.always and joint.kind == "free")]
    _require_same(reference, {one.name: _parts(one, by_name, joints) for one in reference}, extra)
    return pairs


def _by_name(reference: Sequence[EngineJoint], joints: Sequence[EngineJoint]) -> dict[str, EngineJoint]:
    """Return the joints of an engine by name, the only free one of another name by the reference's, too."""
    by_name = {joint.name: joint for joint in joints}
    known = {name for one in reference for name in (one.name, one.body)} - {""}
    free = [joint for joint in joints if joint.kind == "free" and joint.name not in known]
    theirs = [one.name for one in reference if one.kind == "free" and not {one.name, one.body} & {*by_name}]
    for name in ("root_joint", *theirs) if len(free) == 1 and len(theirs) <= 1 else ():
        by_name.setdefault(name, free[0])
    return by_name


def _require_same(reference: Sequence[EngineJoint], parts: dict, extra: Sequence[EngineJoint]) -> None:
    """Raise JointsDifferError unless the joints of an engine are those of the reference."""
    counts = {one.name: sum(_count(joint.v) for joint in parts[one.name]) for one in reference}
    missing = [one for one in reference if not parts[one.name]]
    changed = [one for one in reference if parts[one.name] and counts[one.name] != _count(one.v)]
    reasons = [f"it lacks {', '.join(map(_named, missing))}"] if missing else []
    reasons += [f"{_named(one)} has {counts[one.name]} freedoms, not {_count(one.v)}" for one in changed]
    reasons += [f"it has {', '.join(map(_named, extra))} besides"] if extra else []
    if reasons:
        names = tuple(one.name for one in (*missing, *changed, *extra))
        raise JointsDifferError(names, f"its joints are not those of the reference: {'; '.join(reasons)}")
    odd = [one for one in reference if any(joint.kind == "other" for joint in parts[one.name])]
    if odd:
        reason = f"the engine declares no convention for {', '.join(map(_named, odd))}"
        raise UndeclaredJointError([one.name for one in odd], reason)


def _named(joint: EngineJoint) -> str:
    return joint.name if joint.kind == "other" else f"{joint.name} ({joint.kind})"


def _count(entries: slice) -> int:
    return entries.stop - entries.start


def _parts(one: EngineJoint, by_name: dict, joints: Sequence[EngineJoint]) -> list[EngineJoint]:
    """Return the joints of an engine that make up one joint of the reference."""
    if one.name in by_name:
        return [by_name[one.name]]
    if one.kind == "free" and one.body in by_name:  # the engine names free joints after their bodies
        return [by_name[one.body]]
    first = by_name.get(one.name.removeprefix("Composite_"))
    return [joint for joint in joints if joint.body == first.body] if first is not None else []


def translate(pairs: Sequence[Pair], base: Base, sizes: tuple[int, int, int], q, v) -> Translation:
    """Return a state of the reference in an engine's layout, with T and c.

    Parameters
    ----------
    pairs : sequence of Pair
        As `pairs` returns them.
    base : Base
    sizes : tuple of int
        Entries of the engine's q and v, and of the reference's v.
    q, v : ndarray
        Of the reference.
    """
    nq, nv, nv_reference = sizes
    mine, T, c = np.zeros(nq), np.zeros((nv_reference, nv)), np.zeros(nv_reference)
    inverse = np.zeros((nv, nv_reference))
    for pair in pairs:
        x, at = q[pair.q], pair.joint
        mine[at.q] = _position(at, base, x)
        T[pair.v, at.v] = block = _block(at, base, x)
        inverse[at.v, pair.v] = np.linalg.inv(block)
        c[pair.v] = _offset(at, base, x, v[pair.v])
    kept = np.flatnonzero(T.any(axis=0))
    return Translation(mine, inverse @ v, T[:, kept], inverse[kept], c, kept)


def _position(joint: EngineJoint, base: Base, x: np.ndarray) -> np.ndarray:
    """Return a joint's entries in the engine's q."""
    nq = joint.q.stop - joint.q.start
    if joint.kind == "free":
        p, R = x[:3], _rotation(x[3:])
        if base.placed == "com":
            p, R = p + R @ base.com, R @ base.axes
        return _pose(base, p, R)
    if joint.kind == "spherical":
        A = np.eye(3) if joint.axes is None else joint.axes
        quaternion = _quaternion(A.T @ _rotation(x) @ A)
        return np.roll(quaternion, 1) if "wxyz" in base.pose else quaternion
    if joint.kind == "planar" and nq == 3:
        return np.array([x[0], x[1], np.arctan2(x[3], x[2])])
    if x.size == 2 and nq == 1:
        return np.array([np.arctan2(x[1], x[0])])
    return np.array([np.cos(x[0]), np.sin(x[0])]) if x.size == 1 and nq == 2 else x


def _pose(base: Base, p: np.ndarray, R: np.ndarray) -> np.ndarray:
    quaternion = _quaternion(R)
    if base.pose == "p xyzw":
        return np.concatenate([p, quaternion])
    quaternion = np.roll(quaternion, 1)
    return np.concatenate([p, quaternion] if base.pose == "p wxyz" else [quaternion, p])


def _block(joint: EngineJoint, base: Base, x: np.ndarray) -> np.ndarray:
    """Return a joint's block of T."""
    nv = joint.v.stop - joint.v.start
    if joint.kind == "free":
        R = _rotation(x[3:])
        linear, angular = (_axes(base, axes, R) for axes in (base.linear, base.angular))
        arm = np.cross(base.com, angular.T).T if base.point == "com" else np.zeros((3, 3))
        block = np.block([[linear, arm], [np.zeros((3, 3)), angular]])
        return block if base.order == "linear-angular" else np.roll(block, 3, axis=1)
    if joint.kind == "spherical" and joint.axes is not None:
        return joint.axes
    if joint.kind == "planar" and joint.q.stop - joint.q.start == 3:
        block = np.eye(3)
        block[:2, :2] = _turned_back(x)
        return block
    return np.eye(nv)


def _axes(base: Base, axes: str, R: np.ndarray) -> np.ndarray:
    """Return the rotation that takes vectors from the engine's axes to those of the link frame."""
    return {"world": R.T, "body": np.eye(3), "inertial": base.axes}[axes]


def _offset(joint: EngineJoint, base: Base, x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return a joint's part of c; v is the reference's."""
    c = np.zeros(v.size)
    if joint.kind == "free" and base.linear != "body":
        at_point = v[:3] + (np.cross(v[3:], base.com) if base.point == "com" else 0.0)
        c[:3] = -np.cross(v[3:], at_point)
    if joint.kind == "planar" and joint.q.stop - joint.q.start == 3:
        c[:2] = v[2] * QUARTER @ v[:2]
    return c


def _turned_back(x: np.ndarray) -> np.ndarray:
    """Return the transpose of a planar joint's rotation; x is (x, y, cos, sin)."""
    return np.array([[x[2], x[3]], [-x[3], x[2]]])


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation  # takes longer to import than treefactor

    return Rotation.from_quat(quaternion).as_matrix()


def _quaternion(R: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_quat()
