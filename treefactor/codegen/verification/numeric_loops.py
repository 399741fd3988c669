"""Compute reference values of closed loops on numbers, in the base frame, all loops at once.

Only the choice of dependent coordinates, the order of elimination and the axes of rows are taken from a
`Reduction`. Pseudo-inverses ignore rows of zeros.
"""

from __future__ import annotations

import numpy as np

from ...model.joints import PAIRS, Loop
from ..algorithms.reduction import TWIST, Cut, Group, Reduction
from .numeric import Numeric, factors, tilde


class NumericLoops:
    """All matrices of closed loops in one state, with the names that `Reduction` and `Writer` use.

    Parameters
    ----------
    numeric : Numeric
        Bodies; their velocity is set to one that keeps the loops closed.
    reduction : Reduction
    v : ndarray, shape (nv,)
        Velocities; the dependent ones are computed.
    """

    def __init__(self, numeric: Numeric, reduction: Reduction, v):
        self.numeric, self.reduction, self.named = numeric, reduction, numeric.named
        self.R, self.p, self.moved = [np.eye(3)], [np.zeros(3)], [np.zeros((6, reduction.n))]
        for i in range(len(numeric.bodies)):
            self._place(i)
        self.rows = {loop.name: Rows(self, loop) for loop in numeric.model.loops}
        self.d, self.J = reduction.dependent, self._all("jacobian")
        self.v = self._completed(v)
        numeric.v = numeric.G @ self.v

    def _place(self, i: int) -> None:
        """Store pose and motions of a body in the base frame; the last list entry is that of the base."""
        body, numeric = self.numeric.bodies[i], self.numeric
        R = self.R[body.parent] @ numeric.R[i]
        p = self.p[body.parent] + self.R[body.parent] @ numeric.origin[i]
        v, w = (R @ part for part in np.split(numeric.S[i], 2))
        own = np.concatenate([v + tilde(p) @ w, w]) @ numeric.G[numeric.freedoms(i)]
        self.moved.insert(i, self.moved[body.parent] + own)
        self.R.insert(i, R)
        self.p.insert(i, p)

    def _all(self, name: str) -> np.ndarray:
        """Return rows, gaps or rates of all loops in base axes."""
        return np.concatenate([getattr(rows, name)(-1) for rows in self.rows.values()])

    def carriers(self, body: int) -> list[int]:
        """Return a body and its ancestors, the base last."""
        return [-1] if body < 0 else [body, *self.carriers(self.numeric.bodies[body].parent)]

    def motions(self, body: int, top: int, point) -> np.ndarray:
        """Return the (6, nv) Jacobian of a point and the rotation of a body, relative to another body."""
        jacobian = self.moved[body] - self.moved[top]
        jacobian[:3] -= tilde(point) @ jacobian[3:]
        return jacobian

    def _completed(self, x, side=0.0) -> np.ndarray:
        """Return coordinates, the dependent ones from J x + side = 0."""
        completed = np.array(x, dtype=float)
        completed[self.d] = 0.0
        completed[self.d] = -np.linalg.pinv(self.J[:, self.d]) @ (self.J @ completed + side)
        return completed

    def of(self, name: str) -> dict:
        """Return all matrices of a function by name, including its result."""
        for cut in self.reduction.cuts:
            loop = cut.closure.name
            self.named[f"Jd[{loop}]"] = self.rows[loop].jacobian(cut.own)[:, self.d]
        for group in self.reduction.groups:
            self._name(group, K=self._inverse(group, "own"), J=self._jacobian(group))
        return self.named | {name: getattr(self, name)()}

    def loop_velocity(self) -> np.ndarray:
        """Return velocities, the dependent ones computed."""
        return self.v

    def loop_gap(self) -> np.ndarray:
        """Return the residuals of all loops."""
        return np.concatenate([rows.residual() for rows in self.rows.values()])

    def _name(self, group: Group, **matrices) -> None:
        """Store matrices of a group by name."""
        self.named |= {f"{name}[{group.name}]": matrix for name, matrix in matrices.items()}

    def _jacobian(self, group: Group) -> np.ndarray:
        """Return the rows of a group for all coordinates, those of hubs included."""
        if group.cuts:
            return np.concatenate([self._with_hubs(cut) for cut in group.cuts])
        k = (group.dependent[0] - self.reduction.n) // TWIST
        body, top, axes = self.reduction.hubs[k]
        J = np.kron(np.eye(2), self.R[axes].T) @ self.motions(body, top, self.p[body])
        return np.pad(J, [(0, 0), (0, TWIST * len(self.reduction.hubs))])

    def _with_hubs(self, cut: Cut) -> np.ndarray:
        """Return the rows of a loop, with hub velocities instead of those of the joints of hubs."""
        J, rows = np.zeros((cut.closure.rows, self.reduction.size)), self.rows[cut.closure.name]
        for which, end in enumerate(cut.closure.ends):
            if end.hub is None:
                J[:, : self.reduction.n] += rows.side(which, cut.seen)
            else:
                hub = self.reduction.hubs.index((end.body, cut.closure.top, end.hub))
                first = self.reduction.n + TWIST * hub
                J[:, first : first + TWIST] += rows.twist(which, end.body, end.hub)
        return J

    def _inverse(self, group: Group, axes: str) -> np.ndarray:
        """Return the inverse of the columns of the dependent coordinates, in axes `own` or `seen`."""
        if not group.cuts:
            return -np.eye(TWIST)
        J = [self.rows[cut.closure.name].jacobian(getattr(cut, axes)) for cut in group.cuts]
        return np.linalg.pinv(np.concatenate(J)[:, group.dependent])

    def _side(self, group: Group, name: str) -> np.ndarray:
        """Return gaps or rates of a group."""
        sides = [getattr(self.rows[cut.closure.name], name)(cut.seen) for cut in group.cuts]
        return np.concatenate(sides) if sides else np.zeros(TWIST)

    def loop_step(self) -> np.ndarray:
        """Return the Newton step of the dependent coordinates."""
        for group in self.reduction.groups:
            self._name(group, gap=self._side(group, "gap"))
        return self._completed(np.zeros_like(self.v), self._all("gap"))

    def loops(self) -> np.ndarray:
        """Return accelerations T x + a, with T^T H T x = T^T (u - H a) for the independent coordinates x.

        T: all accelerations for unit accelerations of the independent ones; a: for zero.
        """
        H, u = self.numeric.H, self.numeric.tau - self.numeric.bias
        self._eliminate(H, u)
        free = [k for k in range(self.reduction.n) if k not in self.d]
        T = np.transpose([self._completed(e) for e in np.eye(self.reduction.n)[free]])
        a = self._completed(np.zeros_like(u), self._all("g"))
        H, u = T.T @ H @ T, T.T @ (u - H @ a)
        L, D = factors(H)
        y = np.linalg.solve(L.T, u)
        self.named |= {"v": self.v, "H_x": H, "u_x": u, "L_x": L, "1/D_x": 1.0 / D, "y_x": y}
        return T @ np.linalg.solve(H, u) + a

    def _eliminate(self, H, u) -> None:
        """Eliminate one group after the other, storing M, N and forces in the space of the rows."""
        extra = self.reduction.size - self.reduction.n
        H, u, rest = np.pad(H, (0, extra)), np.pad(u, (0, extra)), np.arange(self.reduction.size)
        for group in self.reduction.groups:
            d, K = group.dependent, self._inverse(group, "seen")
            J, g = self._jacobian(group), self._side(group, "g")
            rest = np.setdiff1d(rest, d)
            M, N = K.T @ H[np.ix_(d, d)] @ K, K.T @ H[d]
            self._name(group, g=g, M=M, N={j: N[:, j] for j in rest}, force=M @ g + K.T @ u[d])
            T, a = np.eye(len(u)), np.zeros(len(u))
            T[d], a[d] = -K @ J, -K @ g
            T = T[:, rest]
            inner, force = T.T @ H @ T, T.T @ (u - H @ a)
            H, u = np.zeros_like(H), np.zeros_like(u)
            H[np.ix_(rest, rest)], u[rest] = inner, force


class Rows:
    """Rows of a loop, linear ones in the axes of any body: second end minus first end.

    Parameters
    ----------
    at : NumericLoops
    loop : Loop
    """

    def __init__(self, at: NumericLoops, loop: Loop):
        self.at = at
        first, second = (loop.first, loop.R1, loop.p1), (loop.second, loop.R2, loop.p2)
        (body1, R1, p1), (body2, R2, p2) = self._end(*first), self._end(*second)
        self.bodies, self.points, self.R1 = (body1, body2), (p1, p2), R1
        self.top = next(i for i in at.carriers(body1) if i in at.carriers(body2))
        pairs = np.array(PAIRS[loop.kind], dtype=int).reshape(-1, 2).T
        self.a, self.b = R1.T[pairs[0]], R2.T[pairs[1]]

    def _end(self, joint: int, R, p) -> tuple:
        """Return the body of a frame, and its rotation and origin in the base."""
        bodies, at = self.at.numeric.bodies, self.at
        i = -1
        if joint >= 0:
            i = next(i for i, body in enumerate(bodies) if body.joint == joint)
            R, p = bodies[i].axes @ R, bodies[i].origin + bodies[i].axes @ p
        return i, at.R[i] @ R, at.p[i] + at.R[i] @ p

    def side(self, which: int, axes: int) -> np.ndarray:
        """Return the part of the rows for one end, relative to the common ancestor."""
        return self._of(which, axes) @ self.at.motions(self.bodies[which], self.top, self.points[which])

    def jacobian(self, axes: int) -> np.ndarray:
        """Return the rows for all coordinates."""
        return self.side(0, axes) + self.side(1, axes)

    def _of(self, which: int, axes: int) -> np.ndarray:
        """Return the rows for velocity and angular velocity of an end."""
        rows = np.zeros((3 + len(self.a), 6))
        rows[:3, :3], rows[3:, 3:] = self.at.R[axes].T, np.cross(self.b, self.a)
        return rows if which else -rows

    def twist(self, which: int, body: int, axes: int) -> np.ndarray:
        """Return the rows for velocity of a body origin and angular velocity, both in the same axes."""
        T = np.eye(6)
        T[:3, 3:] = -tilde(self.points[which] - self.at.p[body])
        return self._of(which, axes) @ T @ np.kron(np.eye(2), self.at.R[axes])

    def gap(self, axes: int) -> np.ndarray:
        """Return the vector from first to second origin, and cosines of the pairs."""
        return self._apart(self.at.R[axes])

    def residual(self) -> np.ndarray:
        """Return the gap in axes of the first frame."""
        return self._apart(self.R1)

    def _apart(self, R) -> np.ndarray:
        """Return the gap in axes R."""
        return np.append(R.T @ (self.points[1] - self.points[0]), (self.a * self.b).sum(axis=1))

    def g(self, axes: int) -> np.ndarray:
        """Return the second derivative of the gap for zero joint accelerations."""
        (acceleration1, w1, rate1), (acceleration2, w2, rate2) = map(self._motion, range(2))
        a, b = self.a, self.b
        turning = (a @ rate1.T) * b + 2 * (a @ tilde(w1).T) * (b @ tilde(w2).T) + a * (b @ rate2.T)
        return np.append(self.at.R[axes].T @ (acceleration2 - acceleration1), turning.sum(axis=1))

    def _motion(self, which: int) -> tuple:
        """Return acceleration of an end minus gravity, w, and the matrix of x'' = rate x for axes x."""
        i, numeric = self.bodies[which], self.at.numeric
        if i < 0:
            return -numeric.model.gravity, np.zeros(3), np.zeros((3, 3))
        (v, w), (a, dw) = (np.reshape(x, (2, 3)) @ self.at.R[i].T for x in (numeric.V[i], numeric.A[i]))
        rate = tilde(dw) + tilde(w) @ tilde(w)
        return a + np.cross(w, v) + rate @ (self.points[which] - self.at.p[i]), w, rate
