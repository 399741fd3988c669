"""Solve closed loops by loops over indices of matrices in the base's frame, on counting scalars.

What `codegen.reduction` does, without what a program knows: every entry of a matrix is computed whether it is
zero or not, all vectors are in the frame of the base, J_d is inverted as a whole by cofactors. Golubev &
Yaskevich (2020), sections 1 and 5.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..._util.counting import Counting, counting
from ..._util.vectors import apply, cross, dot, vector
from ...model.configuration import random_configuration
from ...model.joints import Loop
from ...tree.tree import OperationCount
from .recursions import CountedBodies

PAIRS = {"spherical": (), "universal": ((2, 0),)}  # axes of both frames that stay at right angles


def operations(model, dependent) -> OperationCount:
    """Count the scalar operations of closed loops on one configuration, see `evaluate`."""
    tally: Counter = Counter()
    q, v = random_configuration(model, np.random.default_rng(0)), np.ones(model.nv)
    evaluate(model, dependent, q, v, v, tally)  # no operation depends on a value
    return OperationCount(**tally)


def evaluate(model, dependent, q, v, tau, tally: Counter) -> np.ndarray:
    """Compute accelerations with all loops closed, and add their costs to the tally.

    Parameters
    ----------
    model : Model
        Without joints that follow others; its loops are spherical or universal.
    dependent : sequence of list of int
        Of every loop the coordinates that follow from its rows.
    q, v, tau : ndarray
        With closed loops; of v those that follow are computed.
    tally : Counter
    """
    loops = ClosedLoops(model, tally)
    q, v, tau = (counting(np.asarray(x, dtype=float), tally) for x in (q, v, tau))
    loops.place(q)
    return loops.close(model.loops, dependent, v, tau).astype(float)


class ClosedLoops(CountedBodies):
    """Bodies of a model at one configuration in the base's frame, and their loops."""

    def is_still(self, body: dict) -> bool:
        """Return False: every body is treated as moving."""
        return False

    def rooted(self, body: dict, R, p) -> tuple:
        """Return the pose of a root unchanged: no motion is assumed to lie on a coordinate axis."""
        body["g"], body["copied"] = self.gravity, 0
        return R, p

    def close(self, loops, dependent, v, tau) -> np.ndarray:
        """Return accelerations of all coordinates."""
        rows = [self.rows(loop, d) for loop, d in zip(loops, dependent, strict=True)]
        for row in rows:
            row.follow(v)
        self.forces(v, None)
        u = tau - self.generalized_forces(None)
        H = self.square(self.compose())  # inertias are those of composite bodies from here on
        sides = [row.accelerations() for row in rows]
        for row, side in zip(rows, sides, strict=True):
            row.eliminate(H, u, side)
        free = [k for k in range(self.tree.n) if not any(k in d for d in dependent)]
        a = np.empty(self.tree.n, dtype=object)
        a[free] = self.solve(H[np.ix_(free, free)], u[free])
        for row, side in zip(rows, sides, strict=True):
            row.follow(a, side)
        return a

    def rows(self, loop: Loop, dependent: list[int]) -> Rows:
        """Return the rows of a loop."""
        return Rows(self, loop, dependent)

    def square(self, packed) -> np.ndarray:
        """Return H with its zeros."""
        H = np.full((self.tree.n, self.tree.n), self.zero)
        for i, j, x in zip(self.tree.rows, self.tree.columns, packed, strict=True):
            H[i, j] = H[j, i] = x
        return H

    def solve(self, H, u) -> np.ndarray:
        """Solve H a = u by H = L^T D L."""
        n, H, x = len(u), H.copy(), u.copy()
        inverse = [self.one] * n
        for k in reversed(range(n)):
            inverse[k] = self.one / H[k, k]
            for i in reversed(range(k)):
                scaled = H[k, i] * inverse[k]
                for j in range(i + 1):
                    H[i, j] = H[i, j] - scaled * H[k, j]
                x[i] = x[i] - scaled * x[k]
                H[k, i] = scaled  # L, which takes the place of what is no longer read
        for k in range(n):
            x[k] = x[k] * inverse[k]
            for i in range(k):
                x[k] = x[k] - H[k, i] * x[i]
        return x


class Rows:
    """Rows of a loop: J for the coordinates that move its ends against each other, K = J_d^-1."""

    def __init__(self, bodies: ClosedLoops, loop: Loop, dependent: list[int]):
        self.dependent, tally = dependent, bodies.one.tally
        last = {body["joint"]: body for body in bodies.bodies if body["joint"] >= 0}
        self.ends = [last.get(joint) for joint in (loop.first, loop.second)]
        frames = (loop.R1, loop.p1), (loop.R2, loop.p2)
        self.points, axes = [], []
        for end, (R, p) in zip(self.ends, frames, strict=True):
            A = end["axes"] if end else np.eye(3)
            R, p = counting(A @ R, tally), counting(A @ p, tally)
            self.points.append(apply(end["at_R"], p) + end["at_p"] if end else p)
            axes.append([apply(end["at_R"], x) if end else x for x in R.T])
        self.pairs = [(axes[0][i], axes[1][j]) for i, j in PAIRS[loop.kind]]
        self.normals = [cross(u, v) for u, v in self.pairs]
        columns: dict = {}
        for end, point, sign in zip(self.ends, self.points, (1, -1), strict=True):
            body = end
            while body:
                for k in bodies.freedoms(body):
                    columns[k] = self.column(bodies.S[k], point, sign)
                body = bodies.parent(body)
        self.others = [k for k in columns if k not in dependent]
        self.J = np.stack([columns[k] for k in self.others], axis=1)
        self.K = inverse(np.stack([columns[k] for k in dependent], axis=1), bodies.one)

    def column(self, s, point, sign: int) -> np.ndarray:
        """Return the velocities of the rows for a motion of an end."""
        velocities = vector(*(s[:3] + cross(s[3:], point)), *(dot(n, s[3:]) for n in self.normals))
        return velocities if sign > 0 else -velocities

    def follow(self, x, side=None) -> None:
        """Write the dependent coordinates into x: -K (J x + side)."""
        total = product(self.J, x[self.others][:, None])[:, 0]
        total = total if side is None else total + side
        x[self.dependent] = -product(self.K, total[:, None])[:, 0]

    def accelerations(self) -> np.ndarray:
        """Return the left side of the rows where no joint accelerates."""
        (a, w_u, dw_u), (b, w_v, dw_v) = (
            self.motion(end, point) for end, point in zip(self.ends, self.points, strict=True)
        )
        w, dw = w_u - w_v, dw_u - dw_v + cross(w_u, w_v)
        turning = [
            dot(n, dw) + dot(u, w) * dot(v, w) for n, (u, v) in zip(self.normals, self.pairs, strict=True)
        ]
        return vector(*(a - b), *turning)

    def motion(self, end: dict, point) -> tuple:
        """Return the acceleration of the point of an end, its angular velocity and acceleration."""
        V, A = end["V"], end["A"]
        velocity = V[:3] + cross(V[3:], point)
        return A[:3] + cross(A[3:], point) + cross(V[3:], velocity), V[3:], A[3:]

    def eliminate(self, H, u, side) -> None:
        """Add the rows of the dependent coordinates to those of the others."""
        d, x, KT = self.dependent, self.others, self.K.T
        M = product(KT, product(H[np.ix_(d, d)], self.K))
        N = product(KT, H[np.ix_(d, x)])
        P = product(M, self.J) - N
        more, back = product(self.J.T, P), product(N.T, self.J)
        H[np.ix_(x, x)] = H[np.ix_(x, x)] + more - back
        force = product(KT, u[d][:, None]) + product(M, side[:, None])
        change = product(N.T, side[:, None]) - product(self.J.T, force)
        u[x] = u[x] + change[:, 0]


def product(A, B) -> np.ndarray:
    """Return A B."""
    C = np.empty((A.shape[0], B.shape[1]), dtype=object)
    for i, row in enumerate(A):
        for j, column in enumerate(B.T):
            C[i, j] = row[0] * column[0]
            for x, y in zip(row[1:], column[1:], strict=True):
                C[i, j] = C[i, j] + x * y
    return C


def inverse(A, one: Counting) -> np.ndarray:
    """Return A^-1 by cofactors, of 3 and 4 rows."""
    n = len(A)
    adjugate = np.empty((n, n), dtype=object)
    for i in range(n):
        for j in range(n):
            rest = np.delete(np.delete(A, i, 0), j, 1)
            adjugate[j, i] = determinant(rest) if (i + j) % 2 == 0 else -determinant(rest)
    total = A[0, 0] * adjugate[0, 0]
    for j in range(1, n):
        total = total + A[0, j] * adjugate[j, 0]
    return adjugate * (one / total)


def determinant(A) -> Counting:
    """Return the determinant of 2 or 3 rows."""
    if len(A) == 2:
        return A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    return dot(A[0], cross(A[1], A[2]))
