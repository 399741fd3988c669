"""Compute the reference values of named intermediates with full matrices, body by body, on numbers.

Shares no code with `recursions`: spatial vectors (linear, angular) and 6 x 6 matrices of Featherstone
(2008) about the origins of the bodies, dense factors of H. Slow; follows the book line by line.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...model._snapping import euler
from ..algorithms.frames import TURNING, Body

MOTIONS = {  # freedoms of each kind among those of a free body: translations, then rotations
    "revolute": [5],
    "continuous": [5],
    "prismatic": [2],
    "spherical": [3, 4, 5],
    "planar": [0, 1, 5],
    "translation": [0, 1, 2],
    "freeflyer": [0, 1, 2, 3, 4, 5],
}


class Numeric:
    """All matrices of a model in one state, with the names that `Recursions` and `Writer` use.

    Parameters
    ----------
    model : Model
    bodies : list of Body
        Bodies of a variant.
    tips : sequence of str
    q, v, a, tau : ndarray
        State and forces; a is 0 for functions that do not take it.
    """

    def __init__(self, model, bodies: list[Body], tips, q, v, a, tau):
        self.model, self.bodies, self.tree = model, bodies, model.extended
        self.G = np.eye(model.nv) if model.coupling is None else model.coupling.G
        self.v, self.a, self.tau = self.G @ v, self.G @ a, tau
        self.tips = [[joint.name for joint in model.joints].index(tip) for tip in tips]
        self.named: dict = {}
        self.position_closure = q  # of configurations with closed loops
        self.S = [_motions(body) for body in bodies]
        self.armature = np.concatenate([np.zeros(0), *(body.armature for body in bodies)])
        self.R, self.X, self.origin, self.V, self.A = [], [], [], [], []
        for i, body in enumerate(bodies):
            self._place(i, body, q[body.q :])
        self.inertia = [_spatial(body.moments) for body in bodies]

    def _name(self, number, **matrices) -> None:
        """Store matrices of a body or freedom by name."""
        self.named.update({f"{name}[{number}]": np.array(matrix) for name, matrix in matrices.items()})

    def _place(self, i: int, body: Body, q) -> None:
        """Store rotation and origin of a body, and the transform of motions from its parent."""
        turn, p, r = _joint(body, q)
        p = body.p + body.R @ p
        R = body.R @ turn
        X = np.eye(6)
        X[:3, :3] = X[3:, 3:] = R.T
        X[:3, 3:] = -R.T @ tilde(p + R @ r)
        last = _about_z(euler(body.R)[2]) @ turn
        self._name(i, p=p, r=r, R=turn, cs=[last[0, 0], last[1, 0]])
        self.R.append(R)
        self.X.append(X)
        self.origin.append(p + R @ r)

    def freedoms(self, i: int) -> range:
        """Return the freedoms of a body."""
        return range(self.bodies[i].v, self.bodies[i].v + self.bodies[i].freedoms)

    def towards_base(self):
        """Return numbers and parents of bodies, from the leaves to the base."""
        return ((i, self.bodies[i].parent) for i in reversed(range(len(self.bodies))))

    @cached_property
    def forces(self) -> np.ndarray:
        """Forces on the bodies, gravity included: the first loop of table 5.1."""
        V, A, forces = self.V, self.A, np.zeros((len(self.bodies), 6))
        for i, body in enumerate(self.bodies):
            before = np.zeros(6) if body.parent < 0 else V[body.parent]
            falling = np.append(-self.model.gravity, np.zeros(3)) if body.parent < 0 else A[body.parent]
            joint = self.S[i] @ self.v[self.freedoms(i)]
            V.append(self.X[i] @ before + joint)
            A.append(self.X[i] @ falling + self.S[i] @ self.a[self.freedoms(i)] + crossing(V[i]) @ joint)
            forces[i] = self.inertia[i] @ A[i] - crossing(V[i]).T @ self.inertia[i] @ V[i]
            (v, w), (a, dw) = V[i].reshape(2, 3), A[i].reshape(2, 3)
            rate = tilde(dw) + tilde(w) @ tilde(w)
            self._name(i, w=w, dw=dw, a=a + np.cross(w, v), rate=rate, f=forces[i].reshape(2, 3))
        return forces

    @cached_property
    def bias(self) -> np.ndarray:
        """Joint forces: the second loop of table 5.1."""
        tau, total = self.armature * self.a, self.forces.copy()
        for i, parent in self.towards_base():
            self._name(i, F=total[i].reshape(2, 3))
            tau[self.freedoms(i)] += self.S[i].T @ total[i]
            if parent >= 0:
                total[parent] += self.X[i].T @ total[i]
        self._name("all", tau=tau)
        return self.G.T @ tau

    @cached_property
    def joint_forces(self) -> np.ndarray:
        """Force and moment in every joint, moved to its origin and axes."""
        _ = self.bias
        joint_forces = np.zeros((self.model.njoints, 6))
        for i, body in enumerate(self.bodies):
            if body.joint >= 0:
                f, n = self.named[f"F[{i}]"]
                joint_forces[body.joint] = np.append(
                    body.axes.T @ f, body.axes.T @ (n - np.cross(body.origin, f))
                )
        return joint_forces

    @cached_property
    def base_force(self) -> np.ndarray:
        """Force and moment of the bodies without parent on the base."""
        _ = self.bias
        roots = [i for i, body in enumerate(self.bodies) if body.parent < 0]
        return -sum((self.X[i].T @ self.named[f"F[{i}]"].ravel() for i in roots), np.zeros(6))

    @cached_property
    def H(self) -> np.ndarray:
        """Inertia matrix by composite bodies: table 6.2."""
        composite, H = [I.copy() for I in self.inertia], np.diag(self.armature)
        for i, parent in self.towards_base():
            K, h = _moments(composite[i])
            self._name(i, Kc=K, hc=h, Izz=[composite[i][5, 5]])
            force, j = composite[i] @ self.S[i], i
            rows = np.array(self.freedoms(i))[:, None]
            H[rows, rows.T] += self.S[i].T @ force
            while self.bodies[j].parent >= 0:
                force, j = self.X[j].T @ force, self.bodies[j].parent
                H[rows, list(self.freedoms(j))] = force.T @ self.S[j]
                H[list(self.freedoms(j)), rows] = H[rows, list(self.freedoms(j))]
            if parent >= 0:
                composite[parent] += self.X[i].T @ composite[i] @ self.X[i]
        self.named |= {"H": H, "G^T H G": self.G.T @ H @ self.G}
        return self.named["G^T H G"]

    @cached_property
    def factor(self) -> tuple[np.ndarray, np.ndarray]:
        """L and D of H = L^T D L: table 6.3, on all of H."""
        L, D = factors(self.H)
        self.named |= {"L": L, "1/D": 1.0 / D, "P": self._following(L)}
        return L, D

    def _following(self, L) -> list[dict]:
        """Return rows of -L^-1 L_C on the path to every freedom, for every length of C."""
        rows = []
        for k in range(self.model.nv):
            path = [*self.model.tree.ancestors(k).tolist(), k]
            part = L[np.ix_(path, path)]
            lengths = range(len(path))
            rows.append({m: -np.linalg.solve(part[m:, m:], part[m:, :m])[-1] for m in lengths})
        return rows

    @cached_property
    def articulated(self) -> list:
        """U, U / D of all freedoms: the second loop of table 7.1, one freedom after the other."""
        inertia, columns = [I.copy() for I in self.inertia], [None] * self.tree.n
        for i, parent in self.towards_base():
            self._name(i, M=inertia[i][:3, :3], C=inertia[i][:3, 3:], I=inertia[i][3:, 3:])
            for d, k in reversed(list(enumerate(self.freedoms(i)))):
                s = self.S[i][:, d]
                U = inertia[i] @ s
                D = s @ U + self.armature[k]
                inertia[i] -= np.outer(U, U) / D
                columns[k] = U / D, D
                self._name(k, U=U.reshape(2, 3), D=[D], step=(U / D).reshape(2, 3))
            if parent >= 0:
                inertia[parent] += self.X[i].T @ inertia[i] @ self.X[i]
        return columns

    @cached_property
    def aba(self) -> np.ndarray:
        """Accelerations: table 7.1."""
        u, total = np.zeros(self.tree.n), self.forces.copy()
        for i, parent in self.towards_base():
            self._name(i, pA=total[i].reshape(2, 3))
            for d, k in reversed(list(enumerate(self.freedoms(i)))):
                u[k] = self.tau[k] - self.S[i][:, d] @ total[i]
                total[i] += self.articulated[k][0] * u[k]
            if parent >= 0:
                total[parent] += self.X[i].T @ total[i]
        self._name("all", u=u)
        qdd, A = np.zeros(self.tree.n), []
        for i, body in enumerate(self.bodies):
            A.append(self.X[i] @ A[body.parent] if body.parent >= 0 else np.zeros(6))
            for d, k in enumerate(self.freedoms(i)):
                step, D = self.articulated[k]
                qdd[k] = u[k] / D - step @ A[i]
                A[i] = A[i] + self.S[i][:, d] * qdd[k]
            self._name(i, dV=A[i].reshape(2, 3))
        return qdd

    @cached_property
    def jacobian(self) -> np.ndarray:
        """Velocities of the tips, in the axes of their joints."""
        rows = [np.zeros((0, self.tree.n)), *map(self._jacobian, self.tips)]
        return np.concatenate(rows) @ self.G

    def _jacobian(self, joint: int) -> np.ndarray:
        """Return the Jacobian of a joint frame in its own axes."""
        (i,) = (i for i, body in enumerate(self.bodies) if body.joint == joint)
        return self.columns(i, self.bodies[i].axes, self.bodies[i].origin, joint)

    def columns(self, i: int, R, tip, label) -> np.ndarray:
        """Return the Jacobian, in its axes, of a frame at R and tip in body i."""
        E, J = R.T, np.zeros((6, self.tree.n))
        while i >= 0:
            self._name(f"{label}, {i}", E=E, tip=tip)
            v, w = self.S[i][:3], self.S[i][3:]
            J[:, self.freedoms(i)] = np.concatenate([E @ (v - tilde(tip) @ w), E @ w])
            E, tip, i = E @ self.R[i].T, self.origin[i] + self.R[i] @ tip, self.bodies[i].parent
        return J

    def of(self, name: str, method: str | None) -> dict:
        """Return all matrices of a function by name, including its result."""
        if method == "aba":
            _ = self.articulated
        result = (
            self._solved(name) if name in ("minv", "delassus") or method == "factor" else self._computed(name)
        )
        return self.named | {name: np.ravel(result)}

    def _computed(self, name: str) -> np.ndarray:
        """Return the result of a function that does not use the factor."""
        if name == "crba":
            return self.model.tree.pack(self.H)
        return getattr(self, {"rnea": "bias", "forward_dynamics": "aba"}.get(name, name))

    def _solved(self, name: str) -> np.ndarray:
        """Return the result of a function that solves with H, by dense factors."""
        L, D = self.factor
        if name == "forward_dynamics":
            self.named["y"] = np.linalg.solve(L.T, self.tau - self.bias)
            return np.linalg.solve(L, self.named["y"] / D)
        Y = np.linalg.solve(L.T, np.eye(len(L)) if name == "minv" else self.jacobian.T)
        self.named["Y"] = Y.T
        return Y.T @ (Y / D[:, None])


def factors(H) -> tuple[np.ndarray, np.ndarray]:
    """Return L and D of H = L^T D L: table 6.3."""
    L, D = H.copy(), np.zeros(len(H))
    for k in reversed(range(len(L))):
        D[k] = L[k, k]
        L[:k, :k] -= np.outer(L[k, :k], L[k, :k]) / D[k]
        L[k] = np.append(L[k, :k] / D[k], np.eye(len(L))[k, k:])
    return L, D


def tilde(x) -> np.ndarray:
    """Return the matrix of x cross, of real or complex numbers."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def crossing(V) -> np.ndarray:
    """Return the matrix of V cross a motion; its negative transpose is that of V cross a force."""
    matrix = np.zeros((6, 6), V.dtype)
    matrix[:3, :3] = matrix[3:, 3:] = tilde(V[3:])
    matrix[:3, 3:] = tilde(V[:3])
    return matrix


def _motions(body: Body) -> np.ndarray:
    """Return S: its columns are the motions of the freedoms."""
    if body.kind == "helical":
        return np.array([[0.0, 0.0, body.pitch, 0.0, 0.0, 1.0]]).T
    return np.eye(6)[:, MOTIONS[body.kind]]


def _joint(body: Body, q) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rotation of a joint, and its translations before and after the rotation."""
    turn, p, r = np.eye(3), np.zeros(3), np.zeros(3)
    if body.kind in ("revolute", "helical", "prismatic"):
        x = body.ratio * (np.arctan2(q[1], q[0]) if body.circle else q[0]) + body.offset
        turn = np.eye(3) if body.kind == "prismatic" else _about_z(x)
        r[2] = {"revolute": 0.0, "helical": body.pitch * x, "prismatic": x}[body.kind]
    elif body.kind in TURNING:
        turn = _about_z(np.arctan2(q[1], q[0]))
    elif body.kind == "spherical":
        turn = _quaternion(q[:4])
    else:
        p[: 2 if body.kind == "planar" else 3] = q[: 2 if body.kind == "planar" else 3]
        if body.kind == "planar":
            turn = _about_z(np.arctan2(q[3], q[2]))
        elif body.kind == "freeflyer":
            turn = _quaternion(q[3:7])
    return turn, p, r


def _about_z(angle: float) -> np.ndarray:
    """Return the rotation about z."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _quaternion(q) -> np.ndarray:
    """Return the rotation matrix of a quaternion (x, y, z, w): E + 2 w u~ + 2 u~ u~."""
    u = tilde(q[:3])
    return np.eye(3) + 2.0 * q[3] * u + 2.0 * u @ u


def _spatial(J: np.ndarray) -> np.ndarray:
    """Return the 6 x 6 inertia of second moments."""
    inertia = np.zeros((6, 6))
    inertia[:3, :3] = J[3, 3] * np.eye(3)
    inertia[3:, :3] = tilde(J[:3, 3])
    inertia[:3, 3:] = -tilde(J[:3, 3])
    inertia[3:, 3:] = np.trace(J[:3, :3]) * np.eye(3) - J[:3, :3]
    return inertia


def _moments(inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return second and first moments of a 6 x 6 inertia."""
    tensor = inertia[3:, 3:]
    h = np.array([inertia[5, 1], inertia[3, 2], inertia[4, 0]])
    return np.trace(tensor) / 2 * np.eye(3) - tensor, h
