"""Write the equations that close a loop on position, velocity and acceleration level, on any scalars.

A cut joint holds two points together (three linear rows) and keeps pairs of axes, one of each frame, at right
angles (one angular row per pair): Golubev & Yaskevich (2020), section 4.
"""

from __future__ import annotations

import numpy as np

from ...model.joints import PAIRS, Loop
from .frames import whole
from .matrices import ZERO, add, apply, cross, dot, rate, subtract, times, transposed
from .placements import UNIT
from .recursions import BodyMotion, Recursions

SIGNS = (-1.0, 1.0)  # signs of the first and the second end in a row


class End:
    """One end of a loop: a frame fixed to a body, and its origin.

    Parameters
    ----------
    recursions : Recursions
    joint : int
        Joint that carries the body, -1 for the base.
    R, p : ndarray
        Placement of the frame in the frame of the joint.

    Attributes
    ----------
    body : int
    point : list
        Origin of the end in the frame of the body.
    axes : list
        Axes of the end in the frame of the body.
    hub : int or None
        If several loops end at the body: body in whose axes their vectors are expressed by one shared
        rotation matrix.
    """

    def __init__(self, recursions: Recursions, joint: int, R: np.ndarray, p: np.ndarray):
        self.recursions, self.hub = recursions, None
        self.body, A, origin = recursions.frame(joint)
        self.point = whole(origin + A @ p).tolist()
        self.axes = whole(A @ R).T.tolist()

    def seen(self, x, axes: int) -> list:
        """Return a vector of the body in the axes of any body."""
        if self.hub is None:
            return self.recursions.across(x, self.body, axes)
        R = transposed([self.recursions.across(e, self.body, self.hub) for e in UNIT])
        return self.recursions.across(apply(R, x), self.hub, axes)

    def rotation(self, states: list[BodyMotion], axes: int) -> tuple[list, list]:
        """Return angular velocity and acceleration in the axes of any body."""
        state = states[self.body] if self.body >= 0 else self.recursions.base
        return self.seen(state.w, axes), self.seen(state.dw, axes)

    def acceleration(self, states: list[BodyMotion], axes: int) -> list:
        """Return the acceleration of the point, minus gravity."""
        if self.hub is not None:
            turning, _ = rate(*self.rotation(states, axes))
            return add(self.seen(states[self.body].linear, axes), apply(turning, self.seen(self.point, axes)))
        body, point = self.recursions.holder(self.body, self.point)
        state = states[body] if body >= 0 else self.recursions.base
        return self.recursions.across(add(state.linear, apply(state.rate[0], point)), body, axes)


class Closure:
    """Equations of a loop at one configuration: quantities of the second end minus those of the first.

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
        Nearest common ancestor of the two bodies.
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
        """Bodies whose joints move the ends relative to each other."""
        return [i for end in self.ends for i in self.recursions.path(end.body, self.top)]

    def gap(self, axes: int) -> list:
        """Return the vector from first to second point in axes of a body, and cosines of the pairs."""
        first, second = (self.recursions.out(end.point, end.body, self.top) for end in self.ends)
        apart = self.recursions.across(subtract(second, first), self.top, axes)
        return apart + [dot(u, v) for u, v in self._seen_pairs(axes)]

    def residual(self) -> list:
        """Return the position of the second point in the first frame, and cosines of the pairs."""
        first, second = self.ends
        point = self.recursions.out(second.point, second.body, self.top)
        point = self.recursions.into(point, self.top, first.body)
        apart = subtract(point, first.point)
        return apply(first.axes, apart) + [dot(u, v) for u, v in self._seen_pairs(first.body)]

    def _seen_pairs(self, axes: int) -> list:
        """Return the pairs of axes as vectors in the axes of a body."""
        first, second = self.ends
        return [(first.seen(u, axes), second.seen(v, axes)) for u, v in self.pairs]

    def normals(self, axes: int) -> list:
        """Return v x u of each pair: the axes about which the ends must not rotate relative to each other."""
        return [cross(v, u) for u, v in self._seen_pairs(axes)]

    def linear(self, axes: int, hubs: bool = True) -> list:
        """Return the linear rows of the Jacobian in axes of a body, for the freedoms of all joints.

        With ``hubs=False`` the columns of ends that are hubs are left out.
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
        """Return the angular rows of the Jacobian."""
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
        """Return ends and their signs, with or without hubs."""
        return [(end, sign) for end, sign in zip(self.ends, SIGNS, strict=True) if hubs or end.hub is None]

    def twist(self, which: int, axes: int) -> list:
        """Return rows for the velocity of the origin of the body at an end, and for its angular velocity."""
        r = self.ends[which].seen(self.ends[which].point, axes)
        rows = [[*e, *cross(r, e)] for e in UNIT] + [[*ZERO, *n] for n in self.normals(axes)]
        return [times(row, SIGNS[which]) for row in rows]

    def accelerations(self, states: list[BodyMotion], axes: int) -> list:
        """Return the second derivatives of the gap for given body motions, in axes of a body.

        Of u^T v = 0, for axes u, v that turn with w_u, w_v: n^T (dw_v - dw_u + w_v x w_u) + (u^T w)(v^T w)
        with n = v x u and w = w_u - w_v, of which the loop leaves w = u (u^T w) + v (v^T w) and so

            n^T dw_v - n^T dw_u + (u^T w)(v^T w_v) + (v^T w)(u^T w - u^T w_v).
        """
        first, second = (end.acceleration(states, axes) for end in self.ends)
        second_derivatives = subtract(second, first)
        first, second = (self._turning(end, states) for end in self.ends)
        for (u_first, v_first, n_first), (u_second, v_second, n_second) in zip(first, second, strict=True):
            u, v = u_first - u_second, v_first - v_second
            second_derivatives.append(n_second - n_first + (u * v_second + v * (u - u_second)))
        return second_derivatives

    def _turning(self, end: End, states: list[BodyMotion]) -> list:
        """Return for every pair u, v the products u^T w, v^T w and n^T dw of an end."""
        axes = self.about if end.hub is None else end.hub
        w, dw = end.rotation(states, axes)
        return [(dot(u, w), dot(v, w), dot(cross(v, u), dw)) for u, v in self._seen_pairs(axes)]

    @property
    def about(self) -> int:
        """Body in whose axes products of axes are computed; if possible that of an end that is not a hub."""
        return next((end.body for end in self.ends if end.hub is None), self.top)
