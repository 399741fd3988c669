"""Compute the rows of joints between bodies with six freedoms each, for all joints at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._util.validation import Sealed
from ..exceptions import InvalidModelError
from ..kinematics.jacobians import cross, product
from .body_joints import BodyJoint


class Rows(NamedTuple):
    """Wrenches of the joints' rows (joints, 6, 6), rows of J on both bodies, and J-dot v (joints, 6)."""

    wrench: np.ndarray
    on_second: np.ndarray
    on_first: np.ndarray
    bias: np.ndarray


def _bases(joints: Sequence[BodyJoint]) -> np.ndarray:
    """Return the wrenches of every joint in its second frame; joints that are alike share the work."""
    known: dict[bytes, np.ndarray] = {}
    wrenches = np.empty((len(joints), 6, 6))
    for j, joint in enumerate(joints):
        key = b"turn" if joint.turn is not None else np.asarray(joint.free).tobytes()
        wrenches[j] = known[key] if key in known else known.setdefault(key, joint.wrenches())
    return wrenches


class JointRows(Sealed):
    """Six rows of every joint: those of its constraints, then one per freedom, which measures its rate.

    Parameters
    ----------
    joints : sequence of BodyJoint
    bodies : int

    Attributes
    ----------
    first, second : ndarray of int, shape (joints,)
        Bodies; -1 is the base.
    freedoms : ndarray of int, shape (joints,)
    measures : ndarray of bool, shape (joints, 6)
        Rows of freedoms.
    armature : ndarray, shape (joints, 6)

    Raises
    ------
    InvalidModelError
        If a joint ends on a body that does not exist; names the joint.
    """

    first: np.ndarray
    second: np.ndarray
    basis: np.ndarray
    freedoms: np.ndarray
    measures: np.ndarray
    armature: np.ndarray
    R: np.ndarray
    p: np.ndarray
    turning: np.ndarray
    turns: np.ndarray

    def __init__(self, joints: Sequence[BodyJoint], bodies: int):
        count = len(joints)
        for joint in joints:
            last = max(joint.first, joint.second)
            if last >= bodies:
                raise InvalidModelError(
                    f"joint {joint.name!r} ends on body {last}, there are {bodies} and the base, -1",
                    joint=joint.name,
                )
        ends = np.array([(joint.first, joint.second) for joint in joints], dtype=np.intp).reshape(-1, 2)
        first, second = np.ascontiguousarray(ends.T)
        freedoms = np.array([joint.freedoms for joint in joints], dtype=np.intp)
        measures = np.arange(6) >= 6 - freedoms[:, None]
        armature = np.zeros((count, 6))
        armature[measures] = np.concatenate([np.zeros(0), *(np.asarray(joint.armature) for joint in joints)])
        R = np.array([[joint.R1, joint.R2] for joint in joints]).reshape(count, 2, 3, 3)
        p = np.array([[joint.p1, joint.p2] for joint in joints]).reshape(count, 2, 3)
        turning = [j for j, joint in enumerate(joints) if joint.turn is not None]
        axes = [[joints[j].turn, np.asarray(joints[j].free)[0, 3:]] for j in turning]
        turns = np.array(axes).reshape(-1, 2, 3)
        arrays = {"first": first, "second": second, "basis": _bases(joints), "freedoms": freedoms}
        arrays |= {"measures": measures, "armature": armature, "R": R, "p": p, "turns": turns}
        arrays["turning"] = np.array(turning, dtype=np.intp)
        for array in arrays.values():
            array.flags.writeable = False
        self._keep(**arrays)

    def at(self, R, p, velocity, lever) -> Rows:
        """Compute the rows in one state; ``lever`` is from the bodies' origins to their centres of mass.

        A row is a wrench (f, n) at the origin o2 of the second frame, with the power f . w + n . u: w is the
        velocity of the second body's point o2 less that of the first body there, u the difference of the
        angular velocities. All wrenches but those of a joint with turn move with the second body.
        """
        first, second = self.first, self.second
        R, p, velocity, lever = (with_base(x) for x in (R, p, velocity, lever))
        R[-1] = np.eye(3)
        axes2 = R[second] @ self.R[:, 1]
        arm2 = product(R[second], self.p[:, 1])  # from the origins of the bodies to o2
        arm1 = p[second] + arm2 - p[first]
        spin1, spin2 = velocity[first, 3:], velocity[second, 3:]
        moving = velocity[second, :3] + cross(spin2, arm2) - velocity[first, :3]
        relative = np.concatenate([moving - cross(spin1, arm1), spin2 - spin1], axis=1)
        wrench = (self.basis.reshape(-1, 12, 3) @ np.swapaxes(axes2, 1, 2)).reshape(-1, 6, 6)
        rate = cross(spin2[:, None], wrench.reshape(-1, 12, 3)).reshape(-1, 6, 6)
        self._turn(wrench, rate, R[first] @ self.R[:, 0], axes2, spin1, spin2)
        # the rate of w while the velocities of the centres of mass and the angular velocities are constant
        r2, r1 = arm2 - lever[second], arm1 - lever[first]
        w = cross(spin2, cross(spin2, r2)) - cross(spin1, moving - cross(spin1, lever[first]))
        f, n = wrench[..., :3], wrench[..., 3:]
        bias = (f @ w[..., None] + rate @ relative[..., None])[..., 0]
        on_second = np.concatenate([f, cross(r2[:, None], f) + n], axis=-1)
        on_first = -np.concatenate([f, cross(r1[:, None], f) + n], axis=-1)
        return Rows(wrench, on_second, on_first, bias)

    def _turn(self, wrench, rate, axes1, axes2, spin1, spin2) -> None:
        """Write the moments of joints with turn: across both axes s, then the dual basis of both."""
        at = self.turning
        if not at.size:
            return
        s = np.stack([product(axes1[at], self.turns[:, 0]), product(axes2[at], self.turns[:, 1])], axis=1)
        ds = cross(np.stack([spin1[at], spin2[at]], axis=1), s)
        dual = np.linalg.inv(s @ np.swapaxes(s, 1, 2))  # constant, because the angle between the axes is
        wrench[at, 3, 3:], wrench[at, 4:, 3:] = cross(s[:, 0], s[:, 1]), dual @ s
        rate[at, 3, 3:] = cross(ds[:, 0], s[:, 1]) + cross(s[:, 0], ds[:, 1])
        rate[at, 4:, 3:] = dual @ ds

    def sides(self, rows: Rows):
        """Return bodies and rows of J of the first and of the second ends."""
        return (self.first, rows.on_first), (self.second, rows.on_second)

    def add_forces(self, force: np.ndarray, rows: Rows, multipliers: np.ndarray) -> None:
        """Add the forces of multipliers (joints, 6) to those on the bodies (n, 6)."""
        for body, J in self.sides(rows):
            moved = body >= 0
            share = np.einsum("jr,jrx->jx", multipliers[moved], J[moved])
            for x in range(6):
                force[:, x] += np.bincount(body[moved], share[:, x], len(force))

    def rates(self, a: np.ndarray, rows: Rows) -> np.ndarray:
        """Compute J a + J-dot v from accelerations of the centres of mass, shape (joints, 6)."""
        a, rates = with_base(a), rows.bias.copy()
        for body, J in self.sides(rows):
            rates += (J @ a[body][..., None])[..., 0]
        return rates

    def forces(self, R: np.ndarray, rows: Rows, multipliers: np.ndarray) -> np.ndarray:
        """Return the wrenches of multipliers (joints, 6) on the second bodies, in the second frames."""
        R = with_base(R)
        R[-1] = np.eye(3)
        axes = R[self.second] @ self.R[:, 1]
        wrench = np.einsum("jr,jrx->jx", multipliers, rows.wrench).reshape(-1, 2, 3)
        return product(np.swapaxes(axes, 1, 2)[:, None], wrench).reshape(-1, 6)


def with_base(x: np.ndarray) -> np.ndarray:
    """Return a copy with zeros for the base behind the bodies."""
    return np.concatenate([x, np.zeros((1, *x.shape[1:]))])
