"""Count the operations of our loops over matrices, with one shortcut after the other left out."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..._util.counting import counting
from ..._util.vectors import apply, vector
from ...dynamics._recursions import KINDS
from ...model.configuration import random_configuration
from ...model.model import Model
from ...tree.tree import OperationCount
from ..textbook.closures import ClosedLoops, Rows, product
from ..textbook.recursions import join
from .golubev_yaskevich_systems import PAPER, ROUND, by_loop, mechanisms
from .table import Between, Identity, PaperRow, Table

OURS = "as we count them"
TURNS = "joints turn by products of 3 x 3 matrices, not by two columns"
TENSORS = "inertia tensors with all nine entries, not six"
INERTIAS = "inertias as matrices of 6 x 6, not as masses, moments and tensors"
CROSSES = "products of velocities by matrices of 6 x 6, not by cross products of vectors"
COLUMNS = "rows of loops by matrices with 6 columns, not by cross and scalar products"
TERMS = "the terms of the reduction apart, not J^T (M J - N)"
SQUARE = "independent accelerations by Gauss's elimination of the square matrix, not by L^T D L"
COUNTS = {  # multiplications and additions, with one shortcut after the other left out
    OURS: (14120, 12037),
    TURNS: (14435, 12289),
    TENSORS: (14855, 12625),
    INERTIAS: (15887, 13657),
    CROSSES: (16895, 14665),
    COLUMNS: (17795, 15385),
    TERMS: (18803, 16225),
    SQUARE: (18817, 16245),
}
PRINTED = {"mul": 19190, "add": 15904}
UNKNOWN = (
    "the paper prints neither dimensions nor matrices of its mechanism; without our shortcuts ours, which "
    "has as many freedoms, loops and angles, takes as many operations within 3 %"
)
NEAR = Between(0.97, 1.03)  # of the paper's figures


def shortcuts() -> Table:
    """Count the operations of the docking mechanism with fewer and fewer shortcuts."""
    rows, expected = [], run(frozenset())[1]
    for k, (name, known) in enumerate(COUNTS.items()):
        count, a = run(frozenset(list(COUNTS)[1 : k + 1]))
        ours, last = {"mul": count.mul, "add": count.add}, k == len(COUNTS) - 1
        pinned = dict(zip(ours, known, strict=True))
        paper = PRINTED if k == 0 or last else None
        rows.append(PaperRow("docking", name if k == 0 else f"and {name}", ours, paper, pinned, UNKNOWN))
        off = float(np.abs(a - expected).max() / np.abs(expected).max())
        if k:
            rows.append(PaperRow("docking", f"accelerations then, {k}", off, Identity()))
    rows += [
        PaperRow("docking", f"the last of them over the paper's, {kind}", ours[kind] / number, NEAR)
        for kind, number in PRINTED.items()
    ]
    note = (
        "Accelerations with six loops closed, by loops over full matrices; legs are bodies of revolution. "
        "One shortcut after the other is left out, and the accelerations stay the same."
    )
    return Table(PAPER, "Numeric matrices: shortcuts", note, rows)


def run(without: frozenset[str]) -> tuple[OperationCount, np.ndarray]:
    """Return operations and accelerations of loops over matrices without some shortcuts."""
    model, tally = mechanisms()[ROUND], Counter[str]()
    loops = LongLoops(model, tally, without)
    q, v = random_configuration(model, np.random.default_rng(0)), np.ones(model.nv)
    q, v, tau = (counting(x, tally) for x in (q, v, v))
    loops.place(q)
    a = loops.close(model.loops, by_loop(model), v, tau).astype(float)
    return OperationCount(**tally), a


class LongLoops(ClosedLoops):
    """Loops over matrices without some shortcuts."""

    def __init__(self, model: Model, tally: Counter, without: frozenset[str]):
        super().__init__(model, tally)
        self.without = without

    def move(self, body: dict, q, R, p) -> tuple:
        """Return the pose after the motion of the joint."""
        if TURNS not in self.without or KINDS[body["kind"]] != "revolute":
            return super().move(body, q, R, p)
        s, c = (body["ratio"] * q[0] + body["offset"]).sincos()
        o, one = self.zero, self.one
        return product(R, vector(c, -s, o, s, c, o, o, o, one).reshape(3, 3)), p

    def inertia(self, body: dict) -> None:
        """Compute first moment and tensor about the root's origin."""
        if TENSORS not in self.without:
            super().inertia(body)
            return
        R, p = body["at_R"], body["at_p"]
        moved = apply(R, body["first"])
        body["h"] = h = moved + p * body["mass"]
        own = product(product(R, body["tensor"]), R.T)
        J = own - np.outer(p, h) - np.outer(moved, p)
        trace = p @ (h + moved)
        for r in range(3):
            J[r, r] = J[r, r] + trace
        body["J"] = {(r, c): J[r, c] for r in range(3) for c in range(3)}

    def momentum(self, mass, body: dict, s) -> np.ndarray:
        """Return I s."""
        if INERTIAS not in self.without:
            return super().momentum(mass, body, s)
        h, zero = tilde(body["h"], self.zero), self.zero
        J = body["J"]
        tensor = np.array([[J[max(r, c), min(r, c)] for c in range(3)] for r in range(3)])
        masses = np.array([[mass if r == c else zero for c in range(3)] for r in range(3)])
        return product(np.block([[masses, -h], [h, tensor]]), s[:, None])[:, 0]

    def forces(self, v, a) -> None:
        """Compute the forces that move the bodies against gravity."""
        if CROSSES not in self.without or a is not None:
            super().forces(v, a)
            return
        rest = join(self.nothing, self.nothing)
        for body in self.bodies:
            parent = self.parent(body)
            V, A = (parent["V"], parent["A"]) if parent else (rest, join(-body["g"], self.nothing))
            joint = None
            for k in self.freedoms(body):
                joint = self.S[k] * v[k] if joint is None else joint + self.S[k] * v[k]
            A = A + product(self.crossed(V), joint[:, None])[:, 0]
            V = V + joint
            P, F = (self.momentum(body["mass"], body, s) for s in (V, A))
            body["F"] = F - product(self.crossed(V).T, P[:, None])[:, 0]
            body["V"], body["A"] = V, A

    def crossed(self, V) -> np.ndarray:
        """Return the matrix of V x m for motions m."""
        v, w = tilde(V[:3], self.zero), tilde(V[3:], self.zero)
        return np.block([[w, v], [np.full((3, 3), self.zero), w]])

    def rows(self, loop, dependent: list[int]) -> Rows:
        """Return the rows of a loop."""
        return LongRows(self, loop, dependent)

    def solve(self, H, u) -> np.ndarray:
        """Solve H a = u."""
        if SQUARE not in self.without:
            return super().solve(H, u)
        n, A, x = len(u), H.copy(), u.copy()
        for k in range(n):
            inverse = self.one / A[k, k]
            for i in range(k + 1, n):
                scaled = A[i, k] * inverse
                for j in range(k + 1, n):
                    A[i, j] = A[i, j] - scaled * A[k, j]
                x[i] = x[i] - scaled * x[k]
        for k in reversed(range(n)):
            for j in range(k + 1, n):
                x[k] = x[k] - A[k, j] * x[j]
            x[k] = x[k] / A[k, k]
        return x


class LongRows(Rows):
    """Rows of a loop without some shortcuts."""

    def __init__(self, bodies: LongLoops, loop, dependent: list[int]):
        self.without, self.zero, self.one = bodies.without, bodies.zero, bodies.one
        super().__init__(bodies, loop, dependent)

    def column(self, s, point, sign: int) -> np.ndarray:
        """Return the velocities of the rows for a motion of an end."""
        if COLUMNS not in self.without:
            return super().column(s, point, sign)
        eye = vector(*(self.one if r == c else self.zero for r in range(3) for c in range(3))).reshape(3, 3)
        turning = [np.concatenate([np.full(3, self.zero), n]) for n in self.normals]
        matrix = np.vstack([np.hstack([eye, -tilde(point, self.zero)]), *turning])
        velocities = product(matrix, s[:, None])[:, 0]
        return velocities if sign > 0 else -velocities

    def eliminate(self, H, u, side) -> None:
        """Add the rows of the dependent coordinates to those of the others."""
        if TERMS not in self.without:
            super().eliminate(H, u, side)
            return
        d, x, KT, J = self.dependent, self.others, self.K.T, self.J
        M = product(KT, product(H[np.ix_(d, d)], self.K))
        N = product(KT, H[np.ix_(d, x)])
        H[np.ix_(x, x)] = H[np.ix_(x, x)] + product(J.T, product(M, J)) - product(J.T, N) - product(N.T, J)
        force = product(J.T, product(KT, u[d][:, None])) + product(J.T, product(M, side[:, None]))
        u[x] = u[x] - force[:, 0] + product(N.T, side[:, None])[:, 0]


def tilde(x, zero) -> np.ndarray:
    """Return the matrix of x cross y."""
    return vector(zero, -x[2], x[1], x[2], zero, -x[0], -x[1], x[0], zero).reshape(3, 3)
