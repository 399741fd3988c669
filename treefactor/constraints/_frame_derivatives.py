"""Compute motions of frames and their derivatives along displacements and velocities of joints, in base axes.

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


class Dual(NamedTuple):
    """Dual vectors: values (..., 3, 1), and their derivatives (..., 3, columns) along the columns."""

    value: np.ndarray
    derivative: np.ndarray

    def plus(self, other: Dual) -> Dual:
        """Return the sum."""
        return Dual(self.value + other.value, self.derivative + other.derivative)

    def minus(self, other: Dual) -> Dual:
        """Return the difference."""
        return Dual(self.value - other.value, self.derivative - other.derivative)

    def cross(self, other: Dual) -> Dual:
        """Return the cross product."""
        return Dual(
            cross(self.value, other.value),
            cross(self.derivative, other.value) + cross(self.value, other.derivative),
        )

    def dot(self, other: Dual) -> Dual:
        """Return the scalar product, as a vector with one entry."""
        value = (self.value * other.value).sum(-2, keepdims=True)
        derivative = (self.derivative * other.value + self.value * other.derivative).sum(-2, keepdims=True)
        return Dual(value, derivative)

    def opposite(self) -> Dual:
        """Return the opposite vectors."""
        return Dual(-self.value, -self.derivative)

    def scaled(self, factor: float) -> Dual:
        """Return the product with a constant."""
        return Dual(factor * self.value, factor * self.derivative)

    def times(self, scalar: Dual) -> Dual:
        """Return the product with vectors of one entry."""
        return Dual(
            scalar.value * self.value, scalar.derivative * self.value + scalar.value * self.derivative
        )

    def over(self, scalar: Dual) -> Dual:
        """Return the quotient by vectors of one entry."""
        value = self.value / scalar.value
        return Dual(value, (self.derivative - value * scalar.derivative) / scalar.value)

    def unit(self) -> Dual:
        """Return unit vectors."""
        length = np.sqrt(self.dot(self).value)
        value = self.value / length
        along = (value * self.derivative).sum(-2, keepdims=True)
        return Dual(value, (self.derivative - value * along) / length)


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
        for i, member in enumerate(model.joints):
            path[i] = path[member.parent]
            path[i, joint == i] = 1.0
        moves = path[joint].astype(bool)
        starts = np.cumsum([0, *counts])
        second = np.array(
            [starts[i] + 1 for i, member in enumerate(model.joints) if member.kind == "universal"],
            dtype=np.intp,
        )
        moves[second - 1, second] = False
        G = None if model.coupling is None else (model.coupling.G != 0.0).astype(float)
        leader = np.arange(len(joint)) if G is None else np.argmax(G, axis=1)
        below = np.array([member.parent for member in model.joints], dtype=np.intp)[joint]
        self._keep(joint=joint, below=below, path=path, moves=moves, second=second, leader=leader, G=G)

    def to_v(self, columns: np.ndarray) -> np.ndarray:
        """Sum columns (..., m) of all freedoms to those of v."""
        return columns if self.G is None else columns @ self.G


@lru_cache(maxsize=32)
def freedoms_of(model: Model) -> Freedoms:
    """Return the freedoms of a model; they are listed once and cached."""
    return Freedoms(model)


class Frames(NamedTuple):
    """Motions of frames in base axes, with derivatives along q, then along v, of all freedoms (2 m columns).

    Attributes
    ----------
    position, velocity, acceleration : Dual
        Of the origins, m, m/s and m/s^2; positions are measured from the root bodies.
    spin, twist : Dual
        Angular velocities and accelerations, rad/s, rad/s^2.
    R : ndarray, shape (..., frames, 3, 3)
    turn : ndarray, shape (..., frames, 3, 2 m)
        Rotations along the columns.
    apart : ndarray, shape (..., frames, 3, 1)
        Origins of the root bodies.
    """

    position: Dual
    velocity: Dual
    acceleration: Dual
    spin: Dual
    twist: Dual
    R: np.ndarray
    turn: np.ndarray
    apart: np.ndarray

    def to_second(self, other: Frames) -> Dual:
        """Return the vectors from these origins to those of other frames."""
        origin = Dual(other.position.value + (other.apart - self.apart), other.position.derivative)
        return origin.minus(self.position)


class UnitMotions(NamedTuple):
    """Unit motions and their rates (..., 6, m), and accelerations of the bodies (..., njoints + 1, 6)."""

    S: np.ndarray  # motions at unit rates
    first: np.ndarray  # V_l x S
    second: np.ndarray  # A_l x S + V_l x (V_l x S)
    mixed: np.ndarray  # (V_l + V_i) x S
    A: np.ndarray


def motion_cross(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return x × y of motions (..., 6, columns)."""
    turn, linear, angular = x[..., 3:, :], y[..., :3, :], y[..., 3:, :]
    return np.concatenate(
        [cross(turn, linear) + cross(x[..., :3, :], angular), cross(turn, angular)], axis=-2
    )


def unit_motions(at: BodyMotions, v: np.ndarray, a: np.ndarray) -> UnitMotions:
    """Compute the unit motions of all freedoms and their rates; derivatives of frames are sums of these."""
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
    return UnitMotions(S, rate, motion_cross(down, S) + motion_cross(V, rate), rate + motion_cross(own, S), A)


def frames_of(at: BodyMotions, units: UnitMotions, body: np.ndarray, R: np.ndarray, p: np.ndarray) -> Frames:
    """Compute the motions of frames on bodies, at rotations R (frames, 3, 3) and points p (frames, 3)."""
    path = freedoms_of(at.model).path[body][:, None, :]
    S, first, second, mixed = (x[..., None, :, :] * path for x in units[:4])
    V, A = at.V[..., body, :, None], units.A[..., body, :, None]
    by_q = first - motion_cross(V, S), second - motion_cross(V, first) - motion_cross(A, S)
    by_v = S, mixed - motion_cross(V, S)
    dV, dA = (np.concatenate(pair, axis=-1) for pair in zip(by_q, by_v, strict=True))
    where, turn, still = at.points(body, p)[..., None], S[..., 3:, :], np.zeros_like(S[..., :3, :])
    moved = np.concatenate([S[..., :3, :] + cross(turn, where), still], axis=-1)
    turn = np.concatenate([turn, still], axis=-1)
    position = Dual(where, moved)
    spin, twist = Dual(V[..., 3:, :], dV[..., 3:, :]), Dual(A[..., 3:, :], dA[..., 3:, :])
    velocity = Dual(V[..., :3, :], dV[..., :3, :]).plus(spin.cross(position))
    acceleration = Dual(A[..., :3, :], dA[..., :3, :]).plus(twist.cross(position))
    acceleration = acceleration.plus(spin.cross(velocity))
    axes = at.R[..., body, :, :] @ R
    return Frames(position, velocity, acceleration, spin, twist, axes, turn, at.origin[..., body, :, None])


def force_derivatives(model: Model, frames: Frames, force: Dual, moment: Dual) -> np.ndarray:
    """Return the derivatives by q of the generalized forces (..., nv, nv) of wrenches on frames.

    Forces act at the origins of the frames. With w the angular and J the linear unit motion at the origin,
    the force of freedom j is J_j . f + w_j . n, and J_j turns with every freedom that carries its body;
    freedoms above it only move the origin.
    """
    known, m = freedoms_of(model), frames.turn.shape[-1] // 2
    J, w = frames.position.derivative[..., :m], frames.turn[..., :m]
    back = [np.swapaxes(x, -1, -2) for x in (J, w)]
    turned = (back[0] @ cross(force.value, w)).sum(-3)
    about = (back[1] @ cross(moment.value, w)).sum(-3)
    by_motion = np.where(
        known.moves, turned + about, np.where(known.moves.T, np.swapaxes(turned, -1, -2), 0.0)
    )
    by_motion = by_motion + (back[0] @ force.derivative[..., :m] + back[1] @ moment.derivative[..., :m]).sum(
        -3
    )
    return by_motion if known.G is None else known.G.T @ by_motion @ known.G


def turned_with(end: Frames, x: np.ndarray) -> Dual:
    """Return vectors (..., frames, 3) that are constant in the axes of frames, in base axes."""
    value = end.R @ x[..., None]
    return Dual(value, cross(end.turn, value))
