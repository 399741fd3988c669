"""Compute placements, velocities, accelerations and Jacobians of frames on any scalars.

Distances are taken between points of one tree, in axes of its bodies: a robot far from the origin of the base
loses no digits. Motions are (linear, angular).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .frames import ROUNDING, whole
from .matrices import ZERO, add, apply, cross, subtract, times, transposed
from .recursions import Recursions


@dataclass(frozen=True, eq=False)
class Spot:
    """Frame at R and p in body i, -1 for the base.

    Attributes
    ----------
    label : str
        Names intermediate matrices, for verification.
    """

    i: int
    R: np.ndarray
    p: np.ndarray
    label: str


class Kinematics:
    """Motions of frames of a model at one configuration.

    Parameters
    ----------
    recursions : Recursions
    """

    def __init__(self, recursions: Recursions):
        self.recursions = recursions
        self.bodies, self.places = recursions.bodies, recursions.places

    def spot(self, frame) -> Spot:
        """Return where a `Frame` of the model is."""
        i, axes, origin = self.recursions.frame(frame.joint)
        p = origin + axes @ frame.p
        p = np.where(np.abs(p) <= ROUNDING * np.abs(p).max(), 0.0, p)
        return Spot(i, whole(axes @ frame.R), p, frame.name)

    def path(self, spot: Spot) -> list[int]:
        """Return the bodies that move a frame, the base first."""
        return self.recursions.path(spot.i)[::-1]

    @cached_property
    def rotations(self) -> list:
        """Rotation matrices of all bodies in the base."""
        rotations: list = []
        for body, place in zip(self.bodies, self.places, strict=True):
            before = rotations[body.parent] if body.parent >= 0 else np.eye(3).tolist()
            rotations.append([place.inward(row) for row in before])
        return rotations

    @cached_property
    def origins(self) -> list:
        """Origins of all bodies in the base."""
        origins: list = []
        for body, place in zip(self.bodies, self.places, strict=True):
            point = place.point(ZERO)
            if body.parent >= 0:
                point = add(origins[body.parent], apply(self.rotations[body.parent], point))
            origins.append(point)
        return origins

    def joint_placements(self, joints: int) -> list:
        """Return rows [R | p] of the frames of all joints."""
        rows = []
        for joint in range(joints):
            i, axes, origin = self.recursions.frame(joint)
            rows += self._rows(Spot(i, whole(axes), origin, ""))
        return rows

    def _rows(self, spot: Spot) -> list:
        """Return rows [R | p] of a frame from the placement of its body in the base."""
        if spot.i < 0:
            return np.column_stack([spot.R, spot.p]).ravel().tolist()
        R = self.rotations[spot.i]
        p = add(self.origins[spot.i], apply(R, spot.p.tolist()))
        return [x for row, at in zip(self._turned(spot), p, strict=True) for x in (*row, at)]

    def _turned(self, spot: Spot) -> list:
        """Return the rotation matrix of a frame in the base."""
        if spot.i < 0:
            return spot.R.tolist()
        return [apply(spot.R.T.tolist(), row) for row in self.rotations[spot.i]]

    def placement(self, spot: Spot, method: str) -> list:
        """Return rows [R | p] of a frame; "inward" and "mixed" start at the frame, "outward" at the base."""
        if method == "outward":
            return self._rows(spot)
        E, p, _ = self.recursions.inward(spot.i, spot.R, spot.p, spot.label)
        R = transposed(E) if method == "inward" else self._turned(spot)
        return [x for row, at in zip(R, p, strict=True) for x in (*row, at)]

    def velocities(self, v) -> list:
        """Return the motions of all bodies in their frames."""
        velocities: list = []
        for i, body in enumerate(self.bodies):
            before = velocities[body.parent] if body.parent >= 0 else (ZERO, ZERO)
            velocities.append(self._sum(self.places[i].motion(*before), self.joint(i, v)))
        return velocities

    def accelerations(self, v, a) -> list:
        """Return the spatial accelerations of all bodies in their frames, without gravity."""
        accelerations: list = []
        for i, (body, (linear, w)) in enumerate(zip(self.bodies, self.velocities(v), strict=True)):
            before = accelerations[body.parent] if body.parent >= 0 else (ZERO, ZERO)
            joint = self.joint(i, v)
            bent = add(cross(w, joint[0]), cross(linear, joint[1])), cross(w, joint[1])
            moved = self._sum(self.places[i].motion(*before), self.joint(i, a))
            accelerations.append(self._sum(moved, bent))
        return accelerations

    def joint(self, i: int, x) -> tuple[list, list]:
        """Return the motion of a joint for rates x."""
        return self.recursions.joint_motion(i, x)

    @staticmethod
    def _sum(x, y) -> tuple[list, list]:
        """Return the sum of two motions."""
        return add(x[0], y[0]), add(x[1], y[1])

    @staticmethod
    def _seen(spot: Spot, motion) -> list:
        """Return the motion of a body at a frame on it, in the axes of the frame."""
        linear, w = motion
        axes = spot.R.T.tolist()
        return apply(axes, add(linear, cross(w, spot.p.tolist()))) + apply(axes, w)

    def velocity(self, spot: Spot, v, reference: str) -> list:
        """Return the velocity of a frame."""
        if spot.i < 0:
            return [0.0] * 6
        if reference == "LOCAL":
            return self._seen(spot, self.velocities(v)[spot.i])
        return self._referred(self._tip(spot, v, None), reference)[0]

    def acceleration(self, spot: Spot, v, a, reference: str, classical: bool) -> list:
        """Return the spatial or classical acceleration of a frame."""
        if spot.i < 0:
            return [0.0] * 6
        if reference == "LOCAL":
            velocity = self._seen(spot, self.velocities(v)[spot.i])
            acceleration = self._seen(spot, self.accelerations(v, a)[spot.i])
        else:
            velocity, acceleration = self._referred(self._tip(spot, v, a), reference)
        return (
            add(acceleration[:3], cross(velocity[3:], velocity[:3])) + acceleration[3:]
            if classical
            else acceleration
        )

    def _referred(self, tip, reference: str) -> tuple[list, list]:
        """Return velocity and spatial acceleration in axes of the base; in "WORLD" at the base's origin."""
        x, dx, ddx, w, dw = tip
        ddx = subtract(ddx, cross(w, dx))
        if reference == "WORLD":
            dx, ddx = add(dx, cross(x, w)), add(ddx, cross(x, dw))
        return [*dx, *w], [*ddx, *dw]

    def _tip(self, spot: Spot, v, a) -> tuple:
        """Return origin, velocity, acceleration, angular velocity and its derivative, in axes of the base."""
        moving, (w, dw) = (spot.p.tolist(), ZERO, ZERO), (ZERO, ZERO)
        for i in self.recursions.path(spot.i):
            place, (_, turn), (_, more) = self.places[i], self.joint(i, v), self.joint(i, a)
            moving = self.carried(i, 1.0, moving, v, a)
            dw = place.rotated(add(add(dw, more), cross(turn, w)))
            w = place.rotated(add(w, turn))
        return *moving, w, dw

    def carried(self, i: int, m, moving, v, a) -> tuple:
        """Return the first moment of mass m in body i and its two derivatives, in and relative to its parent.

        With m = 1, of a point.
        """
        x, dx, ddx = moving
        place, (linear, w), (more, dw) = self.places[i], self.joint(i, v), self.joint(i, a)
        slip = add(times(linear, m), cross(w, x))
        ddx = add(ddx, add(times(more, m), cross(dw, x)))
        ddx = add(ddx, cross(w, add(add(dx, dx), slip)))
        x = add(times(place.p, m), place.rotated(add(x, times(place.r, m))))
        return x, place.rotated(add(dx, slip)), place.rotated(ddx)

    def jacobian(self, spot: Spot, reference: str) -> list:
        """Return the columns of the Jacobian of a frame for all freedoms."""
        if reference == "LOCAL":
            return self.recursions.inward(spot.i, spot.R, spot.p, spot.label)[2]
        columns = [[0.0] * 6] * self.recursions.tree.n
        r = spot.p.tolist()
        for i in self.recursions.path(spot.i):
            R = self.rotations[i]
            for k, (v, w) in self.recursions.freedoms(i):
                turn = apply(R, w)
                if reference == "WORLD":
                    columns[k] = add(apply(R, v), cross(self.origins[i], turn)) + turn
                else:
                    columns[k] = apply(R, add(v, cross(w, r))) + turn
            r = self.places[i].point(r)
        return columns

    def jacobian_dot(self, spot: Spot, v, reference: str) -> list:
        """Return the derivatives of the columns of the Jacobian of a frame.

        A column is a motion that its body carries along; it turns and moves with the velocity of that body
        relative to the frame (LOCAL), to the base (WORLD), or of each one part.
        """
        columns, path = self.jacobian(spot, reference), self.path(spot)
        below, above = self._totals(columns, path, v)
        derivatives = [[0.0] * 6] * self.recursions.tree.n
        for i in path:
            d = above[i][:3] if reference == "WORLD" else below[i][:3]
            w = below[i][3:] if reference == "LOCAL" else above[i][3:]
            for k, _ in self.recursions.freedoms(i):
                linear, angular = columns[k][:3], columns[k][3:]
                derivatives[k] = add(cross(w, linear), cross(d, angular)) + cross(w, angular)
        return derivatives

    def _totals(self, columns, path: list[int], v) -> tuple[dict, dict]:
        """Return minus the motions of the joints after each body of a path, and of it and those before."""
        own = {}
        for i in path:
            own[i] = [0.0] * 6
            for k, _ in self.recursions.freedoms(i):
                own[i] = add(own[i], times(columns[k], v[k]))
        below, above, total = {}, {}, [0.0] * 6
        for i in path:
            above[i] = total = add(total, own[i])
        total = [0.0] * 6
        for i in reversed(path):
            below[i], total = total, subtract(total, own[i])
        return below, above
