"""Define joints between two bodies in maximal coordinates: the motions that they leave free."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np

from .._util.validation import Array, MaybeArray, ReadOnly, as_real, as_tuple, as_vector, require_finite
from ..exceptions import InvalidModelError, ShapeError, TreefactorError
from ..model.joints import NO_ARMATURE, PAIRS, Joint, Loop, _rotation
from ..model.model import Model

__all__ = ["MOTIONS", "BodyJoint", "joints_of"]

# translations and rotations of the second frame along and about its axes
MOTIONS = ("x", "y", "z", "rx", "ry", "rz")
UNIT = np.eye(6)
RANK = 1e-9  # motions with smaller singular values, relative to the largest, are dependent
FREE = {
    "spherical": UNIT[3:],
    "planar": UNIT[[0, 1, 5]],
    "translation": UNIT[:3],
    "freeflyer": UNIT,
    "weld": UNIT[:0],
}


IDENTITY, ZERO = np.eye(3), np.zeros(3)
NOTHING: Any = ()
NOTHING_TURNS: Any = None
for _constant in (UNIT, IDENTITY, ZERO):
    _constant.flags.writeable = False


def _identity() -> Any:
    """Return the identity rotation."""
    return IDENTITY


def _zero() -> Any:
    """Return the zero vector."""
    return ZERO


@dataclass(frozen=True, eq=False)
class BodyJoint(ReadOnly):
    """Joint between two bodies with six freedoms each: it stops all relative motions except the free ones.

    Parameters
    ----------
    name : str
    first, second : int
        Numbers of the bodies; -1 is the base.
    free : sequence of str, or array_like, shape (k, 6)
        Motions of the second frame relative to the first, of ``MOTIONS``, or as linear and angular velocities
        at the origin and in the axes of the second frame.
    R1, p1, R2, p2 : array_like, shapes (3, 3) and (3,)
        Rotations and origins (m) of the frames in those of the bodies.
    turn : array_like, shape (3,), optional
        Axis of a free rotation in the first frame; ``free`` is then one rotation, and the joint a universal
        one.
    armature : float or array_like, shape (freedoms,)
        Rotor inertias of the freedoms, kg m^2 or kg; that of ``turn`` comes first.

    Raises
    ------
    InvalidModelError
        If an argument has an invalid value; names the joint.

    Notes
    -----
    Immutable.
    """

    name: str
    first: int
    second: int
    free: Array = NOTHING
    R1: Array = field(default_factory=_identity)
    p1: Array = field(default_factory=_zero)
    R2: Array = field(default_factory=_identity)
    p2: Array = field(default_factory=_zero)
    turn: MaybeArray = NOTHING_TURNS
    armature: Array = NO_ARMATURE

    def __post_init__(self):
        try:
            self.__setstate__(self._checked())
        except TreefactorError as error:
            raise InvalidModelError(f"joint {self.name!r}: {error}", joint=self.name) from error

    def _checked(self) -> dict:
        """Return validated attributes; arrays are copies."""
        for body in (self.first, self.second):
            if not isinstance(body, Integral) or isinstance(body, bool) or body < -1:
                raise InvalidModelError(f"expected the number of a body, or -1 for the base, got {body!r}")
        if self.first == self.second:
            raise InvalidModelError(f"both ends are on body {self.first}")
        free, turn = _motions(self.free), self.turn
        if turn is not None:
            turn = as_vector(turn, 3, "turn").copy()
            if free.shape != (1, 6) or free[0, :3].any():
                raise InvalidModelError("a joint with turn must have one rotation as its free motion")
            if np.linalg.norm(np.cross(turn, free[0, 3:])) <= RANK * np.linalg.norm(turn):
                raise InvalidModelError(f"turn {turn} must not be parallel to the free rotation, nor zero")
        count = len(free) + (turn is not None)
        armature = as_real(self.armature, "armature")
        if armature.shape not in ((), (count,)):
            raise ShapeError(
                f"armature must have shape ({count},), got {armature.shape}", armature.shape, (count,)
            )
        require_finite(armature, "armature")
        if (armature < 0.0).any():
            raise InvalidModelError(f"armature must not be negative, got {armature.min()}")
        return {
            "free": free,
            "R1": self.R1 if self.R1 is IDENTITY else _rotation(self.R1, "R1"),
            "p1": as_vector(self.p1, 3, "p1").copy(),
            "R2": self.R2 if self.R2 is IDENTITY else _rotation(self.R2, "R2"),
            "p2": as_vector(self.p2, 3, "p2").copy(),
            "turn": turn,
            "armature": np.full(count, armature),
        }

    @property
    def freedoms(self) -> int:
        """Return the number of freedoms."""
        return len(self.free) + (self.turn is not None)

    def wrenches(self) -> np.ndarray:
        """Return a basis of wrenches (6, 6) in the second frame: constraints first, one per freedom last.

        Those of the freedoms measure their rates: their powers for the motions are 1 and 0. Of a joint with
        turn, only the three forces are constant.
        """
        if self.turn is not None:
            return UNIT
        free = np.asarray(self.free)
        return np.concatenate([_complement(free), np.linalg.pinv(free).T])


def _motions(free) -> np.ndarray:
    """Return free motions (k, 6), which must be independent."""
    names = (free,) if isinstance(free, str) else as_tuple(free, "free")
    if names and all(isinstance(name, str) for name in names):
        unknown = [name for name in names if name not in MOTIONS]
        if unknown:
            raise InvalidModelError(f"{unknown[0]!r} is not a motion; there are {', '.join(MOTIONS)}")
        free = UNIT[[MOTIONS.index(name) for name in names]]
    free = as_real(free if isinstance(free, np.ndarray) else names, "free")
    free = free.reshape(0, 6) if free.size == 0 else free.copy()
    if free.ndim != 2 or free.shape[1] != 6:
        raise ShapeError(f"free must have shape (k, 6), got {free.shape}", free.shape, ("k", 6))
    require_finite(free, "free")
    if len(free) == 1:
        independent = free.any()
    else:
        size = np.linalg.svd(free, compute_uv=False)
        independent = len(free) <= 6 and (not len(free) or size[-1] > RANK * size[0])
    if not independent:
        raise InvalidModelError("the free motions must be independent of each other, and not zero")
    return free


def _complement(free: np.ndarray) -> np.ndarray:
    """Return orthonormal rows (6 - k, 6) at right angles to k motions: unit vectors, where these are."""
    left, complement = UNIT - np.linalg.pinv(free) @ free, np.zeros((0, 6))
    for _ in range(6 - len(free)):
        rest = left - left @ complement.T @ complement
        best = rest[np.argmax(np.round(np.linalg.norm(rest, axis=1), 9))]  # the first of equal ones
        best = best - complement.T @ (complement @ best)
        complement = np.concatenate([complement, best[None] / np.linalg.norm(best)])
    return complement


def joints_of(model: Model) -> list[BodyJoint]:
    """Return the joints of a model between its bodies, then its loops.

    Raises
    ------
    InvalidModelError
        If the model has a mimic joint; names it.
    """
    for joint in model.joints:
        if joint.mimic:
            leader = model.joints[joint.mimic.leader].name
            raise InvalidModelError(
                f"joint {joint.name!r} follows joint {leader!r}: maximal coordinates constrain two bodies at "
                "a time; make it a free joint, or use treefactor.forward_dynamics",
                joint=joint.name,
            )
    return [_of_joint(i, joint) for i, joint in enumerate(model.joints)] + [_of_loop(x) for x in model.loops]


def _of_joint(number: int, joint: Joint) -> BodyJoint:
    """Return a joint of a model between its parent's body and its own."""
    axis: Any = joint.axis
    turn: Any = None
    free: Any
    if joint.kind == "universal":
        turn, free = axis[0], np.append(np.zeros(3), axis[1])[None]
    elif joint.kind in FREE:
        free = FREE[joint.kind]
    elif joint.kind == "prismatic":
        free = np.append(axis, np.zeros(3))[None]
    else:  # revolute, continuous or helical
        free = np.append(joint.pitch * np.asarray(axis), axis)[None]
    ends: dict[str, Any] = {"R1": joint.R, "p1": joint.p, "turn": turn, "armature": joint.armature}
    return BodyJoint(joint.name, int(joint.parent), number, free, **ends)


def _of_loop(loop: Loop) -> BodyJoint:
    """Return a loop of a model as a joint."""
    ends: dict[str, Any] = {name: getattr(loop, name) for name in ("R1", "p1", "R2", "p2")}
    if loop.kind == "universal":
        ((first, second),) = PAIRS["universal"]
        ends |= {"turn": np.eye(3)[first], "free": UNIT[[3 + second]]}
        return BodyJoint(loop.name, int(loop.first), int(loop.second), **ends)
    free: Any = UNIT[[5]] if loop.kind == "revolute" else FREE[loop.kind]
    return BodyJoint(loop.name, int(loop.first), int(loop.second), free, **ends)
