"""Mirror the loops of crba.h, rnea.h and aba.h in kernels/dynamics on counting scalars, to count operations.

Featherstone (2008), tables 5.1, 6.2 and 7.1 in the frame of the root body, one freedom after the other. Moves
that a compiler folds (zeros, copies) cost nothing; constants of the model are numbers like any other.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..._util.counting import Counting, counting
from ..._util.vectors import apply, cross, dot, vector
from ...dynamics._recursions import KINDS
from ...dynamics.bodies import table_of
from ...tree.tree import OperationCount

FUNCTIONS = ("crba", "bias", "rnea", "aba")


def operations(model, function: str) -> OperationCount:
    """Count the scalar operations of a function of `treefactor` on one configuration by running it.

    Parameters
    ----------
    model : Model
        Without joints that follow others.
    function : {"crba", "bias", "rnea", "aba"}
    """
    tally: Counter = Counter()
    q, v = np.ones(model.nq), np.ones(model.nv)  # no operation depends on a value
    evaluate(model, function, q, v, v, tally)
    return OperationCount(**tally)


def evaluate(model, function: str, q, v, x, tally: Counter) -> np.ndarray:
    """Evaluate a function, and add its costs to the tally; x: acceleration or forces; H: packed rows."""
    bodies = CountedBodies(model, tally)
    q, v, x = (counting(np.asarray(values, dtype=float), tally) for values in (q, v, x))
    bodies.place(q)
    if function == "crba":
        result = bodies.compose()
    elif function == "aba":
        bodies.forces(v, None)
        result = bodies.articulate(x)
    else:
        a = x if function == "rnea" else None
        bodies.forces(v, a)
        result = bodies.generalized_forces(a)
    return result.astype(float)


class CountedBodies:
    """Bodies of a model at one configuration; motions and forces are (linear, angular)."""

    def __init__(self, model, tally: Counter):
        self.tree, self.bodies = model.extended, table_of(model)
        for body in self.bodies:
            for name in ("R", "p", "first", "tensor"):
                body[name] = counting(np.asarray(body[name], dtype=float), tally)
            for name in ("mass", "carried", "ratio", "offset", "pitch"):
                body[name] = Counting(body[name], tally)
        self.gravity, self.armature = counting(model.gravity, tally), counting(model.armature, tally)
        self.zero, self.one = Counting(0.0, tally), Counting(1.0, tally)
        self.nothing, self.unturned = counting(np.zeros(3), tally), counting(np.eye(3), tally)

    def parent(self, body: dict) -> dict | None:
        """Return the parent body."""
        return self.bodies[body["parent"]] if body["parent"] >= 0 else None

    def freedoms(self, body: dict) -> range:
        """Return the freedoms of a body."""
        return range(body["v"], body["v"] + body["freedoms"])

    def place(self, q) -> None:
        """Compute poses, motions S and inertias of all bodies; gravity g at the roots."""
        self.S = np.empty((self.tree.n, 6), dtype=object)
        for body in self.bodies:
            parent = self.parent(body)
            R, p = body["R"], body["p"]
            if parent and not self.is_still(parent):
                R, p = product(parent["at_R"], R), apply(parent["at_R"], p) + parent["at_p"]
            R, p = self.move(body, q[body["q"] :], R, p)
            if parent is None:
                R, p = self.rooted(body, R, p)
            body["at_R"], body["at_p"] = R, p
            self.S[self.freedoms(body)] = self.motions(body)
            self.inertia(body)

    def is_still(self, body: dict) -> bool:
        """Return whether a body does not move in the frame of its root."""
        return body["parent"] < 0

    def rooted(self, body: dict, R, p) -> tuple:
        """Return pose and gravity of a root in its own frame."""
        body["g"] = apply(R.T, self.gravity)
        return self.unturned, self.nothing

    def move(self, body: dict, q, R, p) -> tuple:
        """Return the pose after the motion of the joint."""
        kind = KINDS[body["kind"]]
        if kind in ("revolute", "helical", "prismatic"):
            x = body["ratio"] * q[0] + body["offset"]
            if kind == "prismatic":
                return R, p + R[:, 2] * x
            return turn(R, *x.sincos()), p + R[:, 2] * (body["pitch"] * x) if kind == "helical" else p
        if kind == "continuous":
            return turn(R, q[1], q[0]), p
        if kind == "spherical":
            return product(R, self.rotation(*q[:4])), p
        p = p + apply(R, vector(q[0], q[1], self.zero if kind == "planar" else q[2]))
        if kind == "planar":
            return turn(R, q[3], q[2]), p
        return (product(R, self.rotation(*q[3:7])), p) if kind == "freeflyer" else (R, p)

    def rotation(self, x, y, z, w) -> np.ndarray:
        """Return the rotation of the quaternion x y z w, of almost unit length."""
        one = self.one
        t = Counting(2.0, one.tally) / (x * x + y * y + z * z + w * w)
        return vector(
            *(one - t * (y * y + z * z), t * (x * y - z * w), t * (x * z + y * w)),
            *(t * (x * y + z * w), one - t * (x * x + z * z), t * (y * z - x * w)),
            *(t * (x * z - y * w), t * (y * z + x * w), one - t * (x * x + y * y)),
        ).reshape(3, 3)

    def motions(self, body: dict) -> list:
        """Return the motions of the freedoms of a body."""
        kind = KINDS[body["kind"]]
        if kind == "helical":
            s = self.unit(body, 2, False)
            return [join(s[:3] + body["at_R"][:, 2] * body["pitch"], s[3:])]
        if kind == "planar":
            return [self.unit(body, 0, True), self.unit(body, 1, True), self.unit(body, 2, False)]
        if body["freedoms"] == 1:
            return [self.unit(body, 2, kind == "prismatic")]
        return [self.unit(body, k % 3, kind != "spherical" and k < 3) for k in range(body["freedoms"])]

    def unit(self, body: dict, axis: int, linear: bool) -> np.ndarray:
        """Return the motion along or about an axis of a body."""
        a = body["at_R"][:, axis]
        return join(a, self.nothing) if linear else join(cross(body["at_p"], a), a)

    def inertia(self, body: dict) -> None:
        """Compute first moment h and tensor J about the root's origin; only the lower triangle."""
        R, p = body["at_R"], body["at_p"]
        moved, RI = apply(R, body["first"]), product(R, body["tensor"])
        body["h"] = h = moved + p * body["mass"]
        trace = dot(p, h + moved)
        body["J"] = triangle(3, lambda r, c: dot(RI[r], R[c]) - p[r] * h[c] - moved[r] * p[c])
        for r in range(3):
            body["J"][r, r] = body["J"][r, r] + trace

    def momentum(self, mass, body: dict, s) -> np.ndarray:
        """Return I s."""
        h = body["h"]
        return join(s[:3] * mass + cross(s[3:], h), apply(full(body["J"], 3), s[3:]) + cross(h, s[:3]))

    def compose(self) -> np.ndarray:
        """Compute packed rows of H by table 6.2."""
        H = np.empty(self.tree.nnz, dtype=object)
        for body in reversed(self.bodies):
            for k in self.freedoms(body):
                f = self.momentum(body["carried"], body, self.S[k])
                start = self.tree.row_start[k]
                for e in range(start, self.tree.row_start[k + 1]):
                    is_copy = e - start < body["copied"]
                    H[e] = f[e - start] if is_copy else along(f, self.S[self.tree.columns[e]])
                H[e] = H[e] + self.armature[k]
            if parent := self.parent(body):
                parent["h"] = parent["h"] + body["h"]
                parent["J"] = triangle(3, lambda r, c, P=parent["J"], J=body["J"]: P[r, c] + J[r, c])
        return H

    def forces(self, v, a) -> None:
        """Compute the forces F that move the bodies against gravity; a is None for rest."""
        rest = join(self.nothing, self.nothing)
        for body in self.bodies:
            parent = self.parent(body)
            V, A = (parent["V"], parent["A"]) if parent else (rest, join(-body["g"], self.nothing))
            joint = None
            for k in self.freedoms(body):
                joint = self.S[k] * v[k] if joint is None else joint + self.S[k] * v[k]
                A = A if a is None else A + self.S[k] * a[k]
            A = A + join(cross(V[3:], joint[:3]) + cross(V[:3], joint[3:]), cross(V[3:], joint[3:]))
            V = V + joint
            P, F = (self.momentum(body["mass"], body, s) for s in (V, A))
            body["F"] = F + join(cross(V[3:], P[:3]), cross(V[3:], P[3:]) + cross(V[:3], P[:3]))
            body["V"], body["A"] = V, A

    def generalized_forces(self, a) -> np.ndarray:
        """Return the generalized forces tau_k = S_k F."""
        tau = np.empty(self.tree.n, dtype=object)
        for body in reversed(self.bodies):
            for k in self.freedoms(body):
                tau[k] = along(body["F"], self.S[k])
                if a is not None:
                    tau[k] = tau[k] + self.armature[k] * a[k]
            if parent := self.parent(body):
                parent["F"] = parent["F"] + body["F"]
        return tau

    def articulate(self, tau) -> np.ndarray:
        """Compute accelerations by table 7.1 from the forces of the bodies at rest."""
        for body in self.bodies:
            body["IA"] = self.expand(body)
        done: list = [None] * self.tree.n
        for body in reversed(self.bodies):
            for k in reversed(self.freedoms(body)):
                done[k] = self.eliminate(body, k, tau[k])
            if parent := self.parent(body):
                parent["IA"] = triangle(6, lambda r, c, P=parent["IA"], I=body["IA"]: P[r, c] + I[r, c])
                parent["F"] = parent["F"] + body["F"]
        qdd = np.empty(self.tree.n, dtype=object)
        for body in self.bodies:
            parent = self.parent(body)
            A = parent["A"] if parent else join(self.nothing, self.nothing)
            for k in self.freedoms(body):
                U, u, inverse = done[k]
                qdd[k] = inverse * (u - along(U, A))
                A = A + self.S[k] * qdd[k]
            body["A"] = A
        return qdd

    def expand(self, body: dict) -> dict:
        """Return the lower triangle of the 6 x 6 inertia."""
        z, (x, y, w) = self.zero, body["h"]
        cross_h = [[z, -w, y], [w, z, -x], [-y, x, z]]
        lower = triangle(3, lambda r, c: body["mass"] if r == c else z)
        lower |= {(r + 3, c): cross_h[r][c] for r in range(3) for c in range(3)}
        return lower | {(r + 3, c + 3): J for (r, c), J in body["J"].items()}

    def eliminate(self, body: dict, k: int, tau) -> tuple:
        """Eliminate freedom k of a body; return U, u and 1 / D."""
        s, A = self.S[k], body["IA"]
        U = vector(*(along(row, s) for row in full(A, 6)))
        inverse = self.one / (along(U, s) + self.armature[k])
        u = tau - along(body["F"], s)
        step = U * inverse
        body["IA"] = triangle(6, lambda r, c: A[r, c] - step[r] * U[c])
        body["F"] = body["F"] + step * u
        return U, u, inverse


Loops = CountedBodies  # the name in release 0.1


def join(linear, angular) -> np.ndarray:
    """Join two vectors."""
    return np.concatenate([linear, angular])


def along(f, s):
    """Return f^T s: 6 multiplications, 5 additions."""
    return dot(f[:3], s[:3]) + dot(f[3:], s[3:])


def product(R, E) -> np.ndarray:
    """Return R E: 27 multiplications, 18 additions."""
    return np.stack([apply(R, column) for column in E.T], axis=1)


def turn(R, s, c) -> np.ndarray:
    """Rotate R about its z axis."""
    x, y, z = R.T
    return np.stack([x * c + y * s, y * c - x * s, z], axis=1)


def triangle(size: int, entry) -> dict:
    """Return the lower triangle of a symmetric matrix."""
    return {(r, c): entry(r, c) for r in range(size) for c in range(r + 1)}


def full(A: dict, size: int) -> np.ndarray:
    """Return the symmetric matrix with this lower triangle."""
    return vector(*(A[max(r, c), min(r, c)] for r in range(size) for c in range(size))).reshape(size, size)
