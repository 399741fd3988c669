"""Equations that close a loop, on position, velocity and acceleration level, on scalars of any type.

A cut joint holds two points together, which makes three rows, the linear ones, and keeps axes of one frame at
right angles to axes of the other, one row for each pair (Golubev & Yaskevich 2020, section 4).
"""

from __future__ import annotations

from functools import cached_property

from ..joints import Loop
from .frames import whole
from .matrices import ZERO, add, apply, cross, dot, times, transposed
from .recursions import Recursions, State

PAIRS = {  # axes of the first frame, and of the second one, that stay at right angles
    "spherical": (),
    "universal": ((2, 0),),
    "revolute": ((0, 2), (1, 2)),
    "weld": ((0, 2), (1, 2), (0, 1)),
}


class Closure:
    """Rows of a loop at one configuration: what the first body has, less what the second one has.

    Parameters
    ----------
    recursions : Recursions
    loop : Loop

    Attributes
    ----------
    ends : list of int
        Bodies that the loop holds together, -1 for the base.
    top : int
        The last body that carries both.
    """

    def __init__(self, recursions: Recursions, loop: Loop):
        self.recursions, self.name, self.rows = recursions, loop.name, loop.rows
        frames = (loop.first, loop.R1, loop.p1), (loop.second, loop.R2, loop.p2)
        self.ends, self.points, axes = [], [], []
        for joint, R, p in frames:
            body, A, origin = recursions.frame(joint)
            self.ends.append(body)
            self.points.append(whole(origin + A @ p).tolist())
            axes.append(whole(A @ R).T.tolist())
        self.pairs = [(axes[0][i], axes[1][j]) for i, j in PAIRS[loop.kind]]
        self.top = recursions.common(*self.ends)

    @cached_property
    def bodies(self) -> list[int]:
        """Bodies that move the ends against each other."""
        return [i for end in self.ends for i in self.recursions.path(end, self.top)]

    def _seen(self, end: int, x, axes: int) -> list:
        """A vector of the body at an end in the axes of any body."""
        return self.recursions.across(x, self.ends[end], axes)

    def gap(self, axes: int) -> list:
        """Position of the first point from the second one, and cosines of the pairs, in axes of a body."""
        found = [self.recursions.out(p, end, self.top) for p, end in zip(self.points, self.ends, strict=True)]
        apart = self.recursions.across(add(found[0], times(found[1], -1.0)), self.top, axes)
        return apart + [dot(self._seen(0, u, axes), self._seen(1, v, axes)) for u, v in self.pairs]

    def normals(self, axes: int) -> list:
        """Axes about which the pairs may not turn against each other."""
        return [cross(self._seen(0, u, axes), self._seen(1, v, axes)) for u, v in self.pairs]

    def linear(self, axes: int) -> list:
        """Linear rows of the Jacobian, in axes of a body, for the freedoms of all joints."""
        columns = [list(ZERO)] * self.recursions.tree.n
        for point, end, sign in zip(self.points, self.ends, (1.0, -1.0), strict=True):
            for i in self.recursions.path(end, self.top):
                for k, (v, w) in self.recursions.freedoms(i):
                    moved = self.recursions.across(add(v, cross(w, point)), i, axes)
                    columns[k] = times(moved, sign)
                point = self.recursions.places[i].point(point)
        return transposed(columns)

    def angular(self, axes: int) -> list:
        """Other rows of the Jacobian, computed in axes of a body."""
        normals = self.normals(axes)
        rows = [[0.0] * self.recursions.tree.n for _ in normals]
        for end, sign in zip(self.ends, (1.0, -1.0), strict=True):
            for i in self.recursions.path(end, self.top) if rows else ():
                for k, (_, w) in self.recursions.freedoms(i):
                    turned = self.recursions.across(w, i, axes)
                    for row, normal in zip(rows, normals, strict=True):
                        row[k] = dot(normal, turned) * sign
        return rows

    def accelerations(self, states: list[State], axes: int) -> list:
        """Left side of all rows for bodies that move so: second derivatives of the gap, in axes of a body.

        Of u^T v = 0, of the two frames: n^T (dw_u - dw_v - w_v x w_u) + (w^T u)(w^T v) with n = u x v and
        the relative velocity w = w_u - w_v.
        """
        moving = [states[end] if end >= 0 else self.recursions.base for end in self.ends]
        points = [add(s.linear, apply(s.rate[0], p)) for s, p in zip(moving, self.points, strict=True)]
        found = self._difference(points, axes)
        if not self.pairs:
            return found
        relative = self._difference([s.w for s in moving], axes)
        turning = self._difference([s.dw for s in moving], axes)
        gyroscopic = cross(self._seen(1, moving[1].w, axes), self._seen(0, moving[0].w, axes))
        turning = add(turning, times(gyroscopic, -1.0))
        for normal, (u, v) in zip(self.normals(axes), self.pairs, strict=True):
            u, v = self._seen(0, u, axes), self._seen(1, v, axes)
            found.append(dot(normal, turning) + dot(relative, u) * dot(relative, v))
        return found

    def _difference(self, x: list, axes: int) -> list:
        """Vector of the first end less that of the second one."""
        return add(self._seen(0, x[0], axes), times(self._seen(1, x[1], axes), -1.0))
