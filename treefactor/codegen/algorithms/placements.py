"""Compute the frames of bodies in their parents, and the motion subspaces of joints, on any scalars."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...model._snapping import cosine_and_sine, euler
from ..program.expressions import sincos
from .frames import Body, whole
from .matrices import ZERO, AxisRotation, Quaternion, add, apply, cross, subtract

UNIT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Placement:
    """Frame of a body in its parent: translation p, rotations `turns`, translation r in body axes."""

    p: list
    turns: list
    r: list

    @property
    def joint_turn(self) -> dict[str, list]:
        """Cosine and sine of the last rotation, or its matrix; by name, for verification."""
        if not self.turns:
            return {}
        last = self.turns[-1]
        return {"R": last.R} if last.axis is None else {"cs": [last.c, last.s]}

    def force(self, f, n) -> tuple[list, list]:
        """Transform a force and moment on the body to the frame of the parent."""
        f, n = self.rotated(f), self.rotated(add(n, cross(self.r, f)))
        return f, add(n, cross(self.p, f))

    def motion(self, v, w) -> tuple[list, list]:
        """Transform a motion of the parent to the frame of the body."""
        v = add(v, cross(w, self.p))
        v, w = self.inward(v), self.inward(w)
        return add(v, cross(w, self.r)), w

    def inward(self, x) -> list:
        """Rotate a vector from parent axes to body axes."""
        for turn in self.turns:
            x = turn.inverse.vector(x)
        return x

    def rotated(self, x) -> list:
        """Rotate a vector from body axes to parent axes."""
        for turn in reversed(self.turns):
            x = turn.vector(x)
        return x

    def point(self, x) -> list:
        """Transform a point from body to parent coordinates."""
        return add(self.p, self.rotated(add(x, self.r)))

    def seen(self, x) -> list:
        """Transform a point from parent to body coordinates."""
        return subtract(self.inward(subtract(x, self.p)), self.r)

    def outward(self, A) -> list:
        """Rotate a matrix from body axes to parent axes."""
        for turn in reversed(self.turns):
            A = turn.matrix(A)
        return A

    def inner(self, A) -> list:
        """Rotate a matrix from parent axes to body axes."""
        for turn in self.turns:
            A = turn.inverse.matrix(A)
        return A


def placement(body: Body, q) -> Placement:
    """Return the frame of a body at configuration q."""
    q = q[body.q :]
    *fixed, last = euler(body.R)
    turns, p, r = [_turn(2, fixed[0]), _turn(0, fixed[1]), _turn(2, last)], body.p.tolist(), list(ZERO)
    if body.circle:
        around = _multiple(AxisRotation(2, q[0], q[1]), int(body.ratio))
        turns[2] = _after(_turn(2, last + body.offset), around.c, around.s)
    elif body.kind in ("revolute", "helical", "prismatic"):
        x = body.ratio * q[0] + body.offset
        if body.kind != "revolute":
            r = [0.0, 0.0, x * body.pitch if body.kind == "helical" else x]
        if body.kind != "prismatic":
            turns[2] = _turned(x, last)
    elif body.kind == "continuous":
        turns[2] = _after(turns[2], q[0], q[1])
    elif body.kind == "spherical":
        turns.append(Quaternion(*q[:4]))
    else:
        moved = [q[0], q[1], 0.0 if body.kind == "planar" else q[2]]
        p = add(p, apply(whole(body.R).tolist(), moved))
        if body.kind == "planar":
            turns[2] = _after(turns[2], q[2], q[3])
        elif body.kind == "freeflyer":
            turns.append(Quaternion(*q[3:7]))
    if body.quarter:
        turns[-1] = replace(turns[-1], quarter=True)
    return Placement(p, [turn for turn in turns if turn.axis is None or (turn.c, turn.s) != (1, 0)], r)


def fixed(body: Body) -> Placement:
    """Return the frame of a body in its parent without the motion of its joint, of one freedom.

    The rotation of a revolute joint includes the constant last angle, see `constant_angle`.
    """
    *turns, last = (_turn(axis, angle) for axis, angle in zip((2, 0, 2), euler(body.R), strict=True))
    turns += [last] if body.kind == "prismatic" else []
    return Placement(body.p.tolist(), [turn for turn in turns if (turn.c, turn.s) != (1, 0)], list(ZERO))


def turned(body: Body, c, s) -> Placement:
    """Return the frame of a body whose joint has rotated by a total angle of cosine c and sine s."""
    place = fixed(body)
    return Placement(place.p, [*place.turns, AxisRotation(2, c, s)], place.r)


def shifted(body: Body, x) -> Placement:
    """Return the frame of a body whose prismatic joint has moved by x in total."""
    place = fixed(body)
    return Placement(place.p, place.turns, [0.0, 0.0, x])


def constant_angle(body: Body) -> float:
    """Return the total angle of a joint in its zero position."""
    return euler(body.R)[2] + body.offset


def _turn(axis: int, angle: float) -> AxisRotation:
    """Return the rotation about an axis by a constant angle."""
    return AxisRotation(axis, *cosine_and_sine(angle))


def _turned(x, angle: float) -> AxisRotation:
    """Return the rotation about z by x + angle; multiples of 90 degrees only swap sine and cosine."""
    fixed = _turn(2, angle)
    if fixed.c == 0 or fixed.s == 0:
        s, c = sincos(x)
        return _after(fixed, c, s)
    s, c = sincos(x + angle)
    return AxisRotation(2, c, s)


def _multiple(turn: AxisRotation, times: int) -> AxisRotation:
    """Return the rotation by an integer multiple of the angle, by repeated doubling."""
    if times < 0:
        return _multiple(turn.inverse, -times)
    if times < 2:
        return turn if times else AxisRotation(turn.axis, 1.0, 0.0)
    half = _multiple(turn, times // 2)
    twice = _after(half, half.c, half.s)
    return _after(twice, turn.c, turn.s) if times % 2 else twice


def _after(fixed: AxisRotation, c, s) -> AxisRotation:
    """Compose two rotations about one axis."""
    return AxisRotation(fixed.axis, fixed.c * c - fixed.s * s, fixed.s * c + fixed.c * s)


def motions(body: Body) -> list:
    """Return the motion (linear, angular) of each freedom of a body, in body axes."""
    linear, angular = [(e, ZERO) for e in UNIT], [(ZERO, e) for e in UNIT]
    return {
        "revolute": angular[2:],
        "continuous": angular[2:],
        "prismatic": linear[2:],
        "helical": [((0.0, 0.0, body.pitch), UNIT[2])],
        "spherical": angular,
        "planar": [*linear[:2], angular[2]],
        "translation": linear,
        "freeflyer": [*linear, *angular],
    }[body.kind]
