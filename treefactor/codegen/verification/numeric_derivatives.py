"""Compute reference values of derivatives of the dynamics, body by body, with 6 x 6 matrices at the base.

No formula is shared with `pairwise_derivatives` and `differentiate`: motions, inertias and forces of single
bodies are differentiated by the product rule, and second derivatives are complex steps of the first.
"""

from __future__ import annotations

import numpy as np

from .numeric import Numeric, crossing, tilde

STEP = 1e-30  # complex step, so small that its square vanishes beside 1


class State:
    """Motions, inertias and forces of all bodies in one state, about the origin of the base.

    Parameters
    ----------
    numeric : Numeric
    v, a : ndarray
        Rates of all freedoms.
    dq : ndarray
        Displacement of all freedoms, to first order, imaginary.
    """

    def __init__(self, numeric: Numeric, v, a, dq):
        self.numeric, self.n = numeric, numeric.tree.n
        falling = np.append(-numeric.model.gravity, np.zeros(3)) + 0j
        self.X, self.J, self.V, self.A = [], [], [], []
        self.before: dict[int, tuple] = {}  # by freedom: its body, and V and A of the parent
        self.S = np.zeros((6, self.n), complex)
        self.inertia, self.F = [], []
        for i, body in enumerate(numeric.bodies):
            at, parent = list(numeric.freedoms(i)), body.parent
            step = numeric.S[i] @ dq[at]
            R = numeric.R[i] @ (np.eye(3) + tilde(step[3:]))
            X = _transform(R, numeric.origin[i] + numeric.R[i] @ step[:3])
            X = self.X[parent] @ X if parent >= 0 else X
            V, A = (self.V[parent], self.A[parent]) if parent >= 0 else (np.zeros(6, complex), falling)
            J = self.J[parent].copy() if parent >= 0 else np.zeros((6, self.n), complex)
            self.before |= dict.fromkeys(at, (i, V, A))
            J[:, at] = self.S[:, at] = X @ numeric.S[i]
            joint = self.S[:, at] @ v[at]
            self.X.append(X)
            self.J.append(J)
            self.V.append(V + joint)
            self.A.append(A + self.S[:, at] @ a[at] + crossing(V) @ joint)
            inverse = np.linalg.inv(X)
            inertia = inverse.T @ numeric.inertia[i] @ inverse
            self.inertia.append(inertia)
            self.F.append(inertia @ self.A[i] - crossing(self.V[i]).T @ inertia @ self.V[i])

    @property
    def H(self) -> np.ndarray:
        """Inertia matrix of all freedoms."""
        return sum(
            (J.T @ I @ J for J, I in zip(self.J, self.inertia, strict=True)), np.diag(self.numeric.armature)
        )

    def derivatives(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of the generalized forces by positions and velocities of all freedoms."""
        total = [F.copy() for F in self.F]
        changes = [self._changes(i) for i in range(len(self.F))]
        by_q, by_v = np.zeros((2, self.n, self.n), complex)
        for i, parent in self.numeric.towards_base():
            for k in self.numeric.freedoms(i):
                f4, f3 = (self.X[i].T @ change[:, k] for change in changes[i])
                self.numeric.named |= {f"f3[{k}]": f3.real.reshape(2, 3), f"f4[{k}]": f4.real.reshape(2, 3)}
                by_q[k], by_v[k] = self.S[:, k] @ changes[i]
                moved = self.J[i].any(axis=0)
                turned = np.array([crossing(s) @ self.S[:, k] for s in self.S.T])
                by_q[k] += np.where(moved, turned @ total[i], 0.0)
            if parent >= 0:
                total[parent] += total[i]
                for mine, above in zip(changes[i], changes[parent], strict=True):
                    above += mine
        return by_q, by_v

    def _changes(self, i: int) -> list[np.ndarray]:
        """Return the derivatives of the force on body i by positions and velocities, by columns."""
        I, V, A = self.inertia[i], self.V[i], self.A[i]
        changes = [np.zeros((6, self.n), complex) for _ in range(2)]
        for k in np.flatnonzero(self.J[i].any(axis=0)):
            s, (j, V0, A0) = self.S[:, k], self.before[k]
            rate = crossing(V0) @ s
            dV, dA = rate - crossing(V) @ s, (crossing(A0) - crossing(A)) @ s
            dA += crossing(V0) @ rate - crossing(V) @ rate
            dI = -crossing(s).T @ I - I @ crossing(s)
            moved = dI @ A + I @ dA - crossing(dV).T @ I @ V - crossing(V).T @ (dI @ V + I @ dV)
            dA = rate + crossing(self.V[j]) @ s - crossing(V) @ s
            faster = I @ dA - crossing(s).T @ I @ V - crossing(V).T @ I @ s
            changes[0][:, k], changes[1][:, k] = moved, faster
        return changes


class NumericDerivatives:
    """Derivatives of the dynamics of a model in one state.

    Parameters
    ----------
    numeric : Numeric
    w, dq, dv, da, dtau : ndarray
        Weights, and changes of the arguments.
    """

    def __init__(self, numeric: Numeric, w, dq, dv, da, dtau):
        self.numeric, self.G, self.model = numeric, numeric.G, numeric.model
        self.w, self.dq, self.dv, self.da, self.dtau = w, dq, dv, da, dtau

    def of(self, name: str, method: str | None) -> dict:
        """Return all matrices of a function by name, including its result."""
        function, _, kind = name.rpartition("_")
        a = self.numeric.a
        named = self.numeric.of(function, method if function != "rnea" else None)
        _ = self.numeric.H, function != "rnea" and self.numeric.factor
        if function == "rnea":
            matrices = self.matrices(a)
        else:
            by_q, by_v, H = self.matrices(self.G @ named[function])
            matrices = -np.linalg.solve(H, by_q), -np.linalg.solve(H, by_v), np.linalg.inv(H)
        result = getattr(self, f"_{kind}")(function, matrices)
        return self.numeric.named | {name: np.concatenate([np.ravel(x) for x in result])}

    def matrices(self, a, dq=None, dv=None) -> list:
        """Return the derivatives of inverse dynamics by q, v and a; complex at a displaced state."""
        G, v = self.G, self.numeric.v
        if dq is None:
            return [A.real for A in self.matrices(a, np.zeros(len(v)), np.zeros(self.model.nv))]
        state = State(self.numeric, v + G @ dv, a, dq)
        return [G.T @ A @ G for A in (*state.derivatives(), state.H)]

    def _derivatives(self, function: str, matrices) -> list:
        """Return the matrices, packed for inverse dynamics."""
        if function != "rnea":
            return list(matrices)
        tree = self.model.tree
        at, strict = (tree.rows, tree.columns), tree.rows != tree.columns
        packed = [np.append(A[at], A.T[at][strict]) for A in matrices[:2]]
        return [*packed, tree.pack(matrices[2])]

    def _jvp(self, function: str, matrices) -> list:
        """Return the product with changes of the arguments."""
        last = self.da if function == "rnea" else self.dtau
        return [sum(A @ x for A, x in zip(matrices, (self.dq, self.dv, last), strict=True))]

    def _vjp(self, function: str, matrices) -> list:
        """Return the product with the weights."""
        return [A.T @ self.w for A in matrices]

    def _hvp(self, function: str, matrices) -> list:
        """Return the product of the symmetric part of the derivative of the gradient with the changes."""
        n, G = self.model.nv, self.G
        still = np.zeros(n)
        units = [*((x, still, still) for x in np.eye(n)), (still, self.dv, self.da), (self.dq, still, still)]
        columns = []
        for dq, dv, da in units:
            step = 1j * STEP
            moved = self.matrices(self.numeric.a + step * (G @ da), step * (G @ dq), step * dv)
            columns.append([(A.T @ self.w).imag / STEP for A in moved])
        D = np.array([by_q for by_q, _, _ in columns[:n]])
        others, along = columns[n:]
        return [(D + D.T) / 2 @ self.dq + others[0], others[1] + along[1], others[2] + along[2]]


def _transform(R, p) -> np.ndarray:
    """Return the matrix of motions from a frame at R, p to the base."""
    X = np.kron(np.eye(2), R)
    X[:3, 3:] = tilde(p) @ R
    return X
