"""Factorize and solve the equations of a mechanism in maximal coordinates; see maximal.py."""

from __future__ import annotations

import numpy as np

from .._util.validation import Sealed
from ..exceptions import InvalidModelError, NotPositiveDefiniteError
from ..mlcp._fronts import Fronts
from ..mlcp._kkt import Kkt
from ._elimination import BODY, Layout, spanning_forest
from ._joint_rows import JointRows, Rows

DEPENDENT = 1e-12  # eigenvalues of the corner, relative to the largest
MASSLESS = 1e-14  # pivot of a freedom without mass over the diagonal entry: a rounding error
NO_ROWS = np.zeros(1, np.intp), np.zeros(0, np.intp)
AXES = np.arange(BODY)


class MechanismKkt(Sealed):
    """Factor of K = [M J^T; J -E] of a mechanism, and a dense corner for the joints that close loops.

    Parameters
    ----------
    joints : JointRows
    names : list of str
        Names of the joints.
    mass : ndarray, shape (n,)
    weak : ndarray of bool, shape (n,)
        Bodies without mass or with a principal moment of zero.
    order : {"tree", "bodies first"}

    Attributes
    ----------
    loops : ndarray of int
        Joints that close loops.
    """

    joints: JointRows
    names: list[str]
    mass: np.ndarray
    carrier: np.ndarray
    loops: np.ndarray
    tied: np.ndarray
    weak: np.ndarray
    layout: Layout
    rows: tuple[np.ndarray, np.ndarray]
    E: np.ndarray
    fronts: Fronts
    kernel: Kkt
    corner: tuple[np.ndarray, np.ndarray]
    corner_e: np.ndarray
    entries: np.ndarray

    def __init__(self, joints: JointRows, names: list[str], mass: np.ndarray, weak: np.ndarray, order: str):
        self._keep(joints=joints, names=names, mass=mass)
        first, second = joints.first, joints.second
        bodies, carrier, loops = spanning_forest(len(mass), first, second)
        self._keep(carrier=carrier, loops=loops)
        self._keep(tied=self._tied(weak), weak=np.flatnonzero(weak))
        active = ~joints.measures | (joints.armature > 0.0)
        E = 1.0 / np.where(joints.measures & active, joints.armature, np.inf)
        count = active.sum(axis=1)
        count[self.loops] = 0
        coupled = self.tied[(first[self.tied] >= 0) & (second[self.tied] >= 0)]
        self._keep(layout=Layout(bodies, self.carrier, count, first, second, coupled, order))
        # numbers of the active rows among the six of each joint
        number = np.zeros((len(count), BODY), dtype=np.intp)
        at = np.nonzero(active)
        number[at[0], (np.cumsum(active, axis=1) - 1)[at]] = at[1]
        self._keep(rows=(self.layout.joint, number[self.layout.joint, self.layout.within]))
        self._keep(E=E[self.rows])
        self._keep(fronts=Fronts(np.arange(self.layout.size), self.layout, *NO_ROWS))
        self._keep(kernel=Kkt(self.fronts, True))
        closing = np.isin(at[0], self.loops)
        self._keep(corner=(at[0][closing], at[1][closing]))
        self._keep(corner_e=E[self.corner])
        self._keep(entries=np.zeros(len(self.layout.columns)))

    def _tied(self, weak: np.ndarray) -> np.ndarray:
        """Return the joints that carry weak bodies; every weak body needs one."""
        tied = self.carrier[weak]
        if (tied < 0).any():
            body = int(np.flatnonzero(weak)[tied < 0][0])
            raise InvalidModelError(
                f"body {body} has no joint, mass {self.mass[body]:g} and a singular inertia: expected a "
                "positive mass and three positive principal moments"
            )
        return tied

    def solve(self, force: np.ndarray, tensor: np.ndarray, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Compute accelerations of the centres of mass (n, 6), and multipliers (joints, 6) of rows in K.

        ``force`` is that on the bodies at their centres of mass, and changed; ``tensor`` their inertia there.
        """
        layout = self.layout
        heaviest = max(self.mass.max(initial=0.0), 1.0)
        ties = np.where(self.joints.measures[self.tied], 0.0, heaviest)
        if len(ties):
            added = np.zeros(rows.bias.shape)
            added[self.tied] = -ties * rows.bias[self.tied]
            self.joints.add_forces(force, rows, added)
        self._factor(tensor, rows, ties)
        x, moves = np.empty(layout.size), layout.body[:, None] + AXES
        x[moves], x[layout.row] = force, -rows.bias[self.rows]
        self.kernel.apply_inverse(x)
        multipliers = np.zeros(rows.bias.shape)
        if self.corner[0].size:
            multipliers[self.corner] = self._close(x, rows)
        multipliers[self.rows] = -x[layout.row]
        return x[moves], multipliers

    def _factor(self, tensor: np.ndarray, rows: Rows, ties: np.ndarray) -> None:
        """Factorize K; every pivot must have the sign of its unknown."""
        layout, axis = self.layout, range(3)
        M, diagonal = np.zeros((len(self.mass), BODY, BODY)), np.empty(layout.size)
        M[:, axis, axis], M[:, 3:, 3:] = self.mass[:, None], tensor
        blocks = self._tie(M, rows, ties)
        diagonal[layout.body[:, None] + AXES] = M[:, AXES, AXES]
        diagonal[layout.row] = -self.E
        J2, J1 = rows.on_second[self.rows], rows.on_first[self.rows]
        self._keep(entries=layout.entries(M, J2, J1, blocks, diagonal))
        failed = self.refactor()
        if failed < 0:
            inverse = self.kernel.inverse_pivots()
            inverse[layout.row] *= -1.0
            wrong = inverse < 0.0
            own = layout.body[self.weak, None] + AXES
            wrong[own] |= inverse[own] * diagonal[own] > 1.0 / MASSLESS
            failed = int(np.argmax(wrong)) if wrong.any() else -1
        if failed >= 0:
            self._complain(failed)

    def refactor(self) -> int:
        """Factorize the entries of K; return -1, or the unknown whose pivot is 0 or not finite."""
        self.kernel.take(self.entries, np.zeros(0))
        return self.kernel.factor(np.zeros(0, np.uint8), 1.0)

    def matrix(self):
        """Return K, without loops, as a csc_array in the order of elimination."""
        from scipy.sparse import csr_array, tril

        size = self.layout.size
        upper = csr_array((self.entries, self.layout.columns, self.layout.row_start), (size, size))
        return (upper + tril(upper.T, -1)).tocsc()

    def _tie(self, M: np.ndarray, rows: Rows, ties: np.ndarray) -> np.ndarray:
        """Add J^T diag(ties) J of tied joints to M; return the blocks between their bodies."""
        for body, J in self.joints.sides(rows):
            body, J = body[self.tied], J[self.tied]
            moved = body >= 0
            np.add.at(M, body[moved], (np.swapaxes(J, 1, 2) @ (ties[..., None] * J))[moved])
        both = (self.joints.first[self.tied] >= 0) & (self.joints.second[self.tied] >= 0)
        J2, J1 = rows.on_second[self.tied][both], rows.on_first[self.tied][both]
        return np.swapaxes(J2, 1, 2) @ (ties[both][..., None] * J1)

    def _close(self, x: np.ndarray, rows: Rows) -> np.ndarray:
        """Add the effect of joints that close loops to x; return their multipliers, those of least norm."""
        joint, which = self.corner
        C = np.zeros((len(joint), self.layout.size))
        for body, J in self.joints.sides(rows):
            for r, (j, k) in enumerate(zip(joint, which, strict=True)):
                if body[j] >= 0:
                    at = self.layout.body[body[j]]
                    C[r, at : at + BODY] += J[j, k]
        Z = C.copy()
        for row in Z:
            self.kernel.apply_inverse(row)
        size, U = np.linalg.eigh(C @ Z.T + np.diag(self.corner_e))
        kept = size > DEPENDENT * size[-1]
        total = np.zeros(len(joint))
        for _ in range(2):  # the second time refines
            error = -rows.bias[self.corner] - C @ x - self.corner_e * total
            change = U[:, kept] @ (U[:, kept].T @ error / size[kept])
            total += change
            x += change @ Z
        return total

    def _complain(self, failed: int) -> None:
        """Raise NotPositiveDefiniteError that names the joint of an unknown."""
        layout = self.layout
        row = np.flatnonzero(layout.row == failed)
        body = np.flatnonzero((layout.body <= failed) & (failed < layout.body + BODY))
        joint = int(layout.joint[row[0]] if row.size else self.carrier[body[0]])
        name = self.names[joint] if joint >= 0 else None
        where = f"joint {name!r}" if name else f"body {int(body[0])}"
        raise NotPositiveDefiniteError(f"{where} moves no mass: its pivot is not positive", failed, name)
