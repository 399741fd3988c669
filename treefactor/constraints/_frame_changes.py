"""Motions of frames with their derivatives along displacements and velocities of the joints, in base axes.

In the axes of the base, with S the unit motion of a freedom, V and A the spatial velocity and acceleration of
the body below its joint (lambda) or of its own body (i), all at one origin:

    dV/dq = V_l x S - V x S,  dA/dq = A_l x S + V_l x (V_l x S) - V x (V_l x S) - A x S
    dV/dv = S,                dA/dv = (V_l + V_i) x S - V x S,          dA/da = S

A universal joint is two joints of one freedom each.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .._util.validation import Sealed
from ..kinematics.jacobians import BodyMotions
from ..model.joints import SIZES
from ..model.model import Model

NEXT, LAST = [1, 2, 0], [2, 0, 1]


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a x b along the axis before the last."""
    return (
        a[..., NEXT, :] * b[..., LAST, :] - a[..., LAST, :] * b[..., NEXT, :]
    )  # columns of many vectors stay contiguous


class Changing(NamedTuple):
    """Vectors with their derivatives: value (..., 3, 1), change (..., 3, columns)."""

    value: np.ndarray
    change: np.ndarray

    def plus(self, other: Changing) -> Changing:
        """Return the sum."""
        return Changing(self.value + other.value, self.change + other.change)

    def minus(self, other: Changing) -> Changing:
        """Return the difference."""
        return Changing(self.value - other.value, self.change - other.change)

    def cross(self, other: Changing) -> Changing:
        """Return the cross product."""
        return Changing(
            cross(self.value, other.value),
            cross(self.change, other.value) + cross(self.value, other.change),
        )

    def dot(self, other: Changing) -> Changing:
        """Return the scalar product, as a vector with one entry."""
        value = (self.value * other.value).sum(-2, keepdims=True)
        change = (self.change * other.value + self.value * other.change).sum(-2, keepdims=True)
        return Changing(value, change)

    def seen_from(self, R: np.ndarray, turn: np.ndarray) -> Changing:
        """Return the vector in axes R (..., 3, 3), whose rotations along the columns are ``turn``."""
        back = np.swapaxes(R, -1, -2)
        return Changing(back @ self.value, back @ (self.change + cross(self.value, turn)))

    def opposite(self) -> Changing:
        """Return the opposite vectors."""
        return Changing(-self.value, -self.change)

    def zero(self) -> Changing:
        """Return zeros of the same shapes."""
        return Changing(0.0 * self.value, 0.0 * self.change)

    def pick(self, which) -> Changing:
        """Return some of the vectors."""
        return Changing(self.value[..., which, :, :], self.change[..., which, :, :])


class Freedoms(Sealed):
    """Freedoms of all joints of a model: which bodies and which other motions each of them moves.

    Attributes
    ----------
    joint : ndarray of int, shape (m,)
        Joint of every freedom.
    below : ndarray of int, shape (m,)
        Joint of the body that the joint stands on; -1 is the base.
    path : ndarray, shape (njoints + 1, m)
        1 where a freedom moves a body; the last row is the base.
    moves : ndarray of bool, shape (m, m)
        ``moves[j, k]``: the unit motion j turns with the freedom k.
    second : ndarray of int
        Second freedoms of universal joints.
    G : ndarray, shape (m, nv), or None
        Coupling of all freedoms to v with mimic joints, all ratios 1: unit motions include them.
    """

    joint: np.ndarray
    below: np.ndarray
    path: np.ndarray
    moves: np.ndarray
    second: np.ndarray
    leader: np.ndarray
    G: np.ndarray | None

    def __init__(self, model: Model):
        counts = [SIZES[joint.kind][1] for joint in model.joints]
        joint = np.repeat(np.arange(model.njoints), counts)
        path = np.zeros((model.njoints + 1, len(joint)))
        for i, one in enumerate(model.joints):
            path[i] = path[one.parent]
            path[i, joint == i] = 1.0
        moves = path[joint].astype(bool)
        starts = np.cumsum([0, *counts])
        second = np.array(
            [starts[i] + 1 for i, one in enumerate(model.joints) if one.kind == "universal"], dtype=np.intp
        )
        moves[second - 1, second] = False
        G = None if model.coupling is None else (model.coupling.G != 0.0).astype(float)
        leader = np.arange(len(joint)) if G is None else np.argmax(G, axis=1)
        below = np.array([one.parent for one in model.joints], dtype=np.intp)[joint]
        self._keep(joint=joint, below=below, path=path, moves=moves, second=second, leader=leader, G=G)

    def to_v(self, columns: np.ndarray) -> np.ndarray:
        """Sum columns (..., m) of all freedoms to those of v."""
        return columns if self.G is None else columns @ self.G


@lru_cache(maxsize=32)
def freedoms_of(model: Model) -> Freedoms:
    """Return the freedoms of a model, which are listed once."""
    return Freedoms(model)


class Frames(NamedTuple):
    """Motions of frames in base axes, with derivatives along q, then along v, of all freedoms (2 m columns).

    Attributes
    ----------
    position, velocity, acceleration : Changing
        Of the origins, m, m/s and m/s^2; positions are measured from the root bodies.
    spin, twist : Changing
        Angular velocities and accelerations, rad/s, rad/s^2.
    R : ndarray, shape (..., frames, 3, 3)
    turn : ndarray, shape (..., frames, 3, 2 m)
        Rotations along the columns.
    apart : ndarray, shape (..., frames, 3, 1)
        Origins of the root bodies.
    """

    position: Changing
    velocity: Changing
    acceleration: Changing
    spin: Changing
    twist: Changing
    R: np.ndarray
    turn: np.ndarray
    apart: np.ndarray

    def pick(self, which) -> Frames:
        """Return some of the frames."""
        position, velocity, acceleration, spin, twist = (x.pick(which) for x in self._moving())
        R, turn, apart = (x[..., which, :, :] for x in (self.R, self.turn, self.apart))
        return Frames(position, velocity, acceleration, spin, twist, R, turn, apart)

    def _moving(self) -> tuple[Changing, ...]:
        """Return the vectors."""
        return self.position, self.velocity, self.acceleration, self.spin, self.twist

    def to_second(self, other: Frames) -> Changing:
        """Return the vectors from these origins to those of other frames."""
        there = Changing(other.position.value + (other.apart - self.apart), other.position.change)
        return there.minus(self.position)


class Columns(NamedTuple):
    """Unit motions and their rates (..., 6, m), and accelerations of the bodies (..., njoints + 1, 6)."""

    S: np.ndarray
    first: np.ndarray  # V_l x S
    second: np.ndarray  # A_l x S + V_l x (V_l x S)
    both: np.ndarray  # (V_l + V_i) x S
    A: np.ndarray


def motion_cross(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return x × y of motions (..., 6, columns)."""
    turn, linear, angular = x[..., 3:, :], y[..., :3, :], y[..., 3:, :]
    return np.concatenate(
        [cross(turn, linear) + cross(x[..., :3, :], angular), cross(turn, angular)], axis=-2
    )


def columns_of(at: BodyMotions, v: np.ndarray, a: np.ndarray) -> Columns:
    """Compute the unit motions of all freedoms and what the derivatives of frames are made of."""
    known = freedoms_of(at.model)
    S = np.ascontiguousarray(np.swapaxes(at.S, -1, -2))
    a, v = a[..., None, known.leader], v[..., None, known.leader]
    A = at.A + known.path @ np.swapaxes(S * a, -1, -2)
    V, own = (np.swapaxes(at.V[..., of, :], -1, -2) for of in (known.below, known.joint))
    down = np.swapaxes(A[..., known.below, :], -1, -2)
    if len(known.second):  # the body between the two axes of a universal joint
        first, k = known.second - 1, known.second
        step = (S * v)[..., first]
        V, own, down = V.copy(), own.copy(), down.copy()
        down[..., k] += (S * a)[..., first] + motion_cross(V[..., first], step)
        V[..., k] += step
        own[..., first] = V[..., k]
    rate = motion_cross(V, S)
    return Columns(S, rate, motion_cross(down, S) + motion_cross(V, rate), rate + motion_cross(own, S), A)


def frames_of(at: BodyMotions, columns: Columns, body: np.ndarray, R: np.ndarray, p: np.ndarray) -> Frames:
    """Compute the motions of frames on bodies, at rotations R (frames, 3, 3) and points p (frames, 3)."""
    path = freedoms_of(at.model).path[body][:, None, :]
    S, first, second, both = (x[..., None, :, :] * path for x in columns[:4])
    V, A = at.V[..., body, :, None], columns.A[..., body, :, None]
    by_q = first - motion_cross(V, S), second - motion_cross(V, first) - motion_cross(A, S)
    by_v = S, both - motion_cross(V, S)
    dV, dA = (np.concatenate(pair, axis=-1) for pair in zip(by_q, by_v, strict=True))
    where, turn, still = at.points(body, p)[..., None], S[..., 3:, :], np.zeros_like(S[..., :3, :])
    moved = np.concatenate([S[..., :3, :] + cross(turn, where), still], axis=-1)
    turn = np.concatenate([turn, still], axis=-1)
    position = Changing(where, moved)
    spin, twist = Changing(V[..., 3:, :], dV[..., 3:, :]), Changing(A[..., 3:, :], dA[..., 3:, :])
    velocity = Changing(V[..., :3, :], dV[..., :3, :]).plus(spin.cross(position))
    acceleration = Changing(A[..., :3, :], dA[..., :3, :]).plus(twist.cross(position))
    acceleration = acceleration.plus(spin.cross(velocity))
    axes = at.R[..., body, :, :] @ R
    return Frames(position, velocity, acceleration, spin, twist, axes, turn, at.origin[..., body, :, None])


def force_changes(model: Model, frames: Frames, force: Changing, moment: Changing) -> np.ndarray:
    """Return the derivatives by q of the generalized forces (..., nv, nv) of wrenches on frames.

    Forces act at the origins of the frames. With w the angular and J the linear unit motion at the origin,
    the force of freedom j is J_j . f + w_j . n, and J_j turns with every freedom that carries its body;
    freedoms above it only move the origin.
    """
    known, m = freedoms_of(model), frames.turn.shape[-1] // 2
    J, w = frames.position.change[..., :m], frames.turn[..., :m]
    back = [np.swapaxes(x, -1, -2) for x in (J, w)]
    turned = (back[0] @ cross(force.value, w)).sum(-3)
    about = (back[1] @ cross(moment.value, w)).sum(-3)
    found = np.where(known.moves, turned + about, np.where(known.moves.T, np.swapaxes(turned, -1, -2), 0.0))
    found = found + (back[0] @ force.change[..., :m] + back[1] @ moment.change[..., :m]).sum(-3)
    return found if known.G is None else known.G.T @ found @ known.G


def turned_with(end: Frames, x: np.ndarray) -> Changing:
    """Return vectors (..., frames, 3), constant in the axes of frames, in those of the base."""
    value = end.R @ x[..., None]
    return Changing(value, cross(end.turn, value))
