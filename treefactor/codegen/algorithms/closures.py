"""Equations that close a loop, on position, velocity and acceleration level, on scalars of any type.

A cut joint holds two points together, which makes three rows, the linear ones, and keeps axes of one frame at
right angles to axes of the other, one row for each pair (Golubev & Yaskevich 2020, section 4).
"""

from __future__ import annotations

import numpy as np

from ...model.joints import PAIRS, Loop
from .frames import whole
from .matrices import ZERO, add, apply, cross, dot, rate, subtract, times, transposed
from .placements import UNIT
from .recursions import Recursions, State

SIGNS = (-1.0, 1.0)  # of what the ends have


class End:
    """A frame of a body that a loop holds, and its point.

    Parameters
    ----------
    recursions : Recursions
    joint : int
        That carries the body, -1 for the base.
    R, p : ndarray
        The frame in that of the joint.

    Attributes
    ----------
    body : int
    point : list
        In the frame of the body.
    axes : list
        Of the frame, each in the axes of the body.
    hub : int or None
        Where several loops end at the body: axes that their vectors pass through by one rotation matrix.
    """

    def __init__(self, recursions: Recursions, joint: int, R: np.ndarray, p: np.ndarray):
        self.recursions, self.hub = recursions, None
        self.body, A, origin = recursions.frame(joint)
        self.point = whole(origin + A @ p).tolist()
        self.axes = whole(A @ R).T.tolist()

    def seen(self, x, axes: int) -> list:
        """A vector of the body in the axes of any body."""
        if self.hub is None:
            return self.recursions.across(x, self.body, axes)
        R = transposed([self.recursions.across(e, self.body, self.hub) for e in UNIT])
        return self.recursions.across(apply(R, x), self.hub, axes)

    def rotation(self, states: list[State], axes: int) -> tuple[list, list]:
        """Angular velocity and acceleration, in axes of any body."""
        state = states[self.body] if self.body >= 0 else self.recursions.base
        return self.seen(state.w, axes), self.seen(state.dw, axes)

    def acceleration(self, states: list[State], axes: int) -> list:
        """Of the point, less that of gravity."""
        if self.hub is not None:
            turning, _ = rate(*self.rotation(states, axes))
            return add(self.seen(states[self.body].linear, axes), apply(turning, self.seen(self.point, axes)))
        body, point = self.recursions.holder(self.body, self.point)
        state = states[body] if body >= 0 else self.recursions.base
        return self.recursions.across(add(state.linear, apply(state.rate[0], point)), body, axes)


class Closure:
    """Rows of a loop at one configuration: what the second body has, less what the first one has.

    Parameters
    ----------
    recursions : Recursions
    loop : Loop

    Attributes
    ----------
    name : str
    rows : int
    ends : list of End
    top : int
        The last body that carries both.
    """

    def __init__(self, recursions: Recursions, loop: Loop):
        self.recursions, self.name, self.rows = recursions, loop.name, loop.rows
        first = End(recursions, loop.first, loop.R1, loop.p1)
        second = End(recursions, loop.second, loop.R2, loop.p2)
        self.ends = [first, second]
        self.pairs = [(first.axes[i], second.axes[j]) for i, j in PAIRS[loop.kind]]
        self.top = recursions.common(first.body, second.body)

    @property
    def bodies(self) -> list[int]:
        """Bodies that move the ends against each other."""
        return [i for end in self.ends for i in self.recursions.path(end.body, self.top)]

    def gap(self, axes: int) -> list:
        """Position of the second point from the first one, in axes of a body, and cosines of the pairs."""
        first, second = (self.recursions.out(end.point, end.body, self.top) for end in self.ends)
        apart = self.recursions.across(subtract(second, first), self.top, axes)
        return apart + [dot(u, v) for u, v in self._seen_pairs(axes)]

    def residual(self) -> list:
        """Position of the second point in the first frame, and cosines of the pairs."""
        first, second = self.ends
        point = self.recursions.out(second.point, second.body, self.top)
        point = self.recursions.into(point, self.top, first.body)
        apart = subtract(point, first.point)
        return apply(first.axes, apart) + [dot(u, v) for u, v in self._seen_pairs(first.body)]

    def _seen_pairs(self, axes: int) -> list:
        first, second = self.ends
        return [(first.seen(u, axes), second.seen(v, axes)) for u, v in self.pairs]

    def normals(self, axes: int) -> list:
        """Axes about which the pairs may not turn against each other."""
        return [cross(v, u) for u, v in self._seen_pairs(axes)]

    def linear(self, axes: int, hubs: bool = True) -> list:
        """Linear rows of the Jacobian, in axes of a body, for the freedoms of all joints.

        Those that move ends which are hubs may be left out.
        """
        columns = [list(ZERO)] * self.recursions.tree.n
        for end, sign in self._moved(hubs):
            point = end.point
            for i in self.recursions.path(end.body, self.top):
                for k, (v, w) in self.recursions.freedoms(i):
                    moved = self.recursions.across(add(v, cross(w, point)), i, axes)
                    columns[k] = times(moved, sign)
                point = self.recursions.places[i].point(point)
        return transposed(columns)

    def angular(self, hubs: bool = True) -> list:
        """Other rows of the Jacobian."""
        axes = self.about
        normals = self.normals(axes)
        rows = [[0.0] * self.recursions.tree.n for _ in normals]
        for end, sign in self._moved(hubs) if rows else ():
            for i in self.recursions.path(end.body, self.top):
                for k, (_, w) in self.recursions.freedoms(i):
                    turned = self.recursions.across(w, i, axes)
                    for row, normal in zip(rows, normals, strict=True):
                        row[k] = dot(normal, turned) * sign
        return rows

    def _moved(self, hubs: bool) -> list:
        return [(end, sign) for end, sign in zip(self.ends, SIGNS, strict=True) if hubs or end.hub is None]

    def twist(self, which: int, axes: int) -> list:
        """Rows for the velocity of the origin of a body at an end, and its angular velocity."""
        r = self.ends[which].seen(self.ends[which].point, axes)
        rows = [[*e, *cross(r, e)] for e in UNIT] + [[*ZERO, *n] for n in self.normals(axes)]
        return [times(row, SIGNS[which]) for row in rows]

    def accelerations(self, states: list[State], axes: int) -> list:
        """Left side of all rows for bodies that move so: second derivatives of the gap, in axes of a body.

        Of u^T v = 0, for axes u, v that turn with w_u, w_v: n^T (dw_v - dw_u + w_v x w_u) + (u^T w)(v^T w)
        with n = v x u and w = w_u - w_v, of which the loop leaves w = u (u^T w) + v (v^T w) and so

            n^T dw_v - n^T dw_u + (u^T w)(v^T w_v) + (v^T w)(u^T w - u^T w_v).
        """
        first, second = (end.acceleration(states, axes) for end in self.ends)
        found = subtract(second, first)
        first, second = (self._turning(end, states) for end in self.ends)
        for (u_first, v_first, n_first), (u_second, v_second, n_second) in zip(first, second, strict=True):
            u, v = u_first - u_second, v_first - v_second
            found.append(n_second - n_first + (u * v_second + v * (u - u_second)))
        return found

    def _turning(self, end: End, states: list[State]) -> list:
        """For every pair u, v the products u^T w, v^T w and n^T dw of an end."""
        axes = self.about if end.hub is None else end.hub
        w, dw = end.rotation(states, axes)
        return [(dot(u, w), dot(v, w), dot(cross(v, u), dw)) for u, v in self._seen_pairs(axes)]

    @property
    def about(self) -> int:
        """Axes for the products of axes: of an end that is no hub."""
        return next((end.body for end in self.ends if end.hub is None), self.top)
