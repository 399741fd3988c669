"""Compute accelerations and joint forces of mechanisms in maximal coordinates: six freedoms for every body.

Joints are bilateral rows J between two bodies, and the unknowns are those of K = [M J^T; J -E] (Tasora,
Manconi, Silvestri, 2.6), with E = 1 / armature for the row of a rotor, else 0. Bodies and rows are eliminated
from the leaves to the root, each body before the rows of its joint, and these before the body that carries it.
All pivots of bodies are then positive and all pivots of rows negative, whatever the masses, so that L D L^T
needs no exchange of rows; an elimination changes one neighbour only, so that the cost is linear in the number
of bodies. Joints that close loops come last, in a dense corner.

A body without mass, or with a principal moment of zero, has no positive pivots of its own. With s J^T J of its
joint added to M and s J^T b to the forces, where J a = b, the solution is the same and the pivots are positive
if the joint moves any mass at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._util.validation import Sealed, as_real, as_vector, check_choice, require_finite
from ..exceptions import InvalidModelError, NotPositiveDefiniteError, ShapeError
from ..kinematics.jacobians import Kinematics, cross, product
from ..mlcp._fronts import Fronts, column_structure
from ..mlcp._kkt import Kkt
from ..model.joints import Inertia
from ..model.model import GRAVITY, Model, require_model
from ._elimination import BODY, ORDERS, Layout, spanning_forest
from .body_joints import BodyJoint, joints_of

__all__ = ["BodyStates", "MaximalCoordinates", "MaximalMotion"]

SINGULAR = 1e-12  # smallest principal moment relative to the largest
DEPENDENT = 1e-12  # eigenvalues of the corner, relative to the largest
NO_ROWS = np.zeros(1, np.intp), np.zeros(0, np.intp)


class BodyStates(NamedTuple):
    """Placements and velocities of n bodies, in the axes of the base.

    Attributes
    ----------
    R : array_like, shape (n, 3, 3)
        Rotations of the bodies' frames.
    p : array_like, shape (n, 3)
        Their origins, m.
    velocity : array_like, shape (n, 6)
        Velocities of the origins, and angular velocities; m/s, rad/s.

    Notes
    -----
    Thread-compatible.
    """

    R: np.ndarray
    p: np.ndarray
    velocity: np.ndarray


class MaximalMotion(NamedTuple):
    """Accelerations of bodies and joints, and the forces that act in the joints.

    Attributes
    ----------
    bodies : ndarray, shape (n, 6)
        Accelerations of the origins of the bodies' frames, and angular accelerations, in the axes of the base.
    joints : ndarray, shape (freedoms,)
        Second derivatives of the joints' positions.
    forces : ndarray, shape (joints, 6)
        Force and moment that every joint exerts on its second body, at the origin and in the axes of the
        second frame: drives, rotors and constraints. Pinocchio's ``data.f`` after ``rnea``. In dependent rows
        of loops, those of least norm.

    Notes
    -----
    Thread-compatible.
    """

    bodies: np.ndarray
    joints: np.ndarray
    forces: np.ndarray


class _Rows(NamedTuple):
    """Wrenches of all joints' rows (joints, 6, 6), rows of J on both bodies, and J-dot v (joints, 6)."""

    wrench: np.ndarray
    on_second: np.ndarray
    on_first: np.ndarray
    bias: np.ndarray


class MaximalCoordinates(Sealed):
    """Mechanism of bodies with six freedoms each, held by joints as bilateral constraints.

    Parameters
    ----------
    bodies : sequence of Inertia
    joints : sequence of BodyJoint
        In any order. Joints that close loops are found; of those that could be cut, the later one is.
    gravity : array_like, shape (3,)
        m/s^2.
    order : {"tree", "bodies first"}
        Order of elimination. "bodies first", all of M before all rows, is there for comparisons.

    Attributes
    ----------
    nnz : int
        Entries of L, its diagonal included; loops not counted.
    touched : int
        Entries of fronts that a factorization computes.
    freedoms : ndarray of int, shape (joints,)
        Freedoms of every joint.
    loops : ndarray of int
        Numbers of the joints that close loops.

    Raises
    ------
    InvalidModelError
        If a body without mass, or with a principal moment of zero, has no joint, or a joint ends on a body that
        does not exist.

    Notes
    -----
    Thread-compatible: one object serves one thread at a time.

    Tasora, Manconi, Silvestri, section on the incremental LDL^T, with another order of elimination. For a tree
    of n bodies, time and memory are O(n); m rows that close loops add O(n m + m^3).

    Examples
    --------
    A pendulum of two bodies:

    >>> import numpy as np, treefactor as tf
    >>> from treefactor.constraints import BodyJoint, BodyStates, MaximalCoordinates
    >>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.01]))
    >>> hinges = [BodyJoint("a", -1, 0, ["ry"]), BodyJoint("b", 0, 1, ["ry"], p1=[0, 0, -1])]
    >>> pendulum = MaximalCoordinates([rod, rod], hinges)
    >>> turned = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
    >>> states = BodyStates([turned, turned], [[0, 0, 0], [-1, 0, 0]], np.zeros((2, 6)))
    >>> pendulum.accelerations(states).joints.round(6)
    array([-11.684564,  14.369128])
    """

    bodies: tuple[Inertia, ...]
    joints: tuple[BodyJoint, ...]
    gravity: np.ndarray
    order: str
    model: Model | None
    nnz: int
    freedoms: np.ndarray
    loops: np.ndarray

    def __init__(
        self,
        bodies: Sequence[Inertia],
        joints: Sequence[BodyJoint],
        gravity=GRAVITY,
        order: str = "tree",
    ):
        self._keep(bodies=tuple(bodies), joints=tuple(joints), order=order, model=None)
        self._keep(gravity=as_vector(gravity, 3, "gravity").copy())
        check_choice("order", order, ORDERS)
        self._keep_bodies()
        self._keep_joints()
        self._analyse()

    @classmethod
    def from_model(cls, model: Model, order: str = "tree") -> MaximalCoordinates:
        """Make the mechanism of a model: one body for every joint, and its loops.

        Parameters
        ----------
        model : Model
        order : {"tree", "bodies first"}

        Raises
        ------
        InvalidModelError
            If a joint follows another one; names the joint.
        """
        require_model(model)
        joints = joints_of(model)
        made = cls([joint.inertia for joint in model.joints], joints, model.gravity, order)
        made._keep(model=model)
        return made

    def __reduce__(self):
        if self.model is not None:
            return MaximalCoordinates.from_model, (self.model, self.order)
        return MaximalCoordinates, (self.bodies, self.joints, self.gravity, self.order)

    @property
    def touched(self) -> int:
        """Return the number of entries of fronts that a factorization computes."""
        size = self._fronts.sizes()[:, 1]
        return int((size * (size + 1) // 2).sum())

    def forward_dynamics(self, q, v, tau, fext=None) -> MaximalMotion:
        """Compute accelerations and joint forces of a model's state.

        Parameters
        ----------
        q, v, tau : array_like, shapes (nq,), (nv,), (nv,)
            As for `treefactor.forward_dynamics`, one state.
        fext : array_like, shape (njoints, 6), optional

        Returns
        -------
        MaximalMotion
            ``joints`` is the acceleration, shape (nv,); ``forces`` has the joints of the model, then its loops.

        Raises
        ------
        ShapeError, NonFiniteError, ConfigurationError
        ValueError
            If the mechanism was not made by `from_model`.
        """
        model = self.model
        if model is None:
            raise ValueError("forward_dynamics needs a mechanism made by from_model: use accelerations")
        states, nv, n = self.states(q, v), model.nv, model.njoints
        drives, wrench = np.zeros(int(self.freedoms.sum())), None
        drives[:nv] = as_vector(tau, nv, "tau")
        if fext is not None:
            fext = as_real(fext, "fext")
            if fext.shape != (n, 6):
                raise ShapeError(f"fext must have shape ({n}, 6), got {fext.shape}", fext.shape, (n, 6))
            wrench = product(states.R[:, None], fext.reshape(n, 2, 3)).reshape(n, 6)
        found = self.accelerations(states, drives, wrench)
        return found._replace(joints=found.joints[:nv])

    def states(self, q, v) -> BodyStates:
        """Return the states of a model's bodies at q and v."""
        model = self.model
        if model is None:
            raise ValueError("states needs a mechanism made by from_model")
        at = Kinematics(model, as_vector(q, model.nq, "q"), as_vector(v, model.nv, "v"))
        p, V = at.p[:-1], at.V[:-1]
        linear = V[:, :3] + cross(V[:, 3:], p)
        return BodyStates(at.R[:-1], at.origin[:-1] + p, np.concatenate([linear, V[:, 3:]], axis=1))

    def accelerations(self, states: BodyStates, tau=None, wrench=None) -> MaximalMotion:
        """Compute the accelerations of all bodies and the forces in all joints.

        Parameters
        ----------
        states : BodyStates
            Must fulfil the constraints; their errors are not corrected.
        tau : array_like, shape (freedoms,), optional
            Forces of the joints' drives, N or N m.
        wrench : array_like, shape (n, 6), optional
            External force on every body and moment about the origin of its frame, in the axes of the base.

        Returns
        -------
        MaximalMotion

        Raises
        ------
        ShapeError, DtypeError, NonFiniteError
        NotPositiveDefiniteError
            If a joint moves no mass; names the joint.
        """
        n = len(self.bodies)
        R, p, velocity = (
            self._array(x, (n, *tail), f"states.{name}")
            for x, tail, name in zip(states, ((3, 3), (3,), (6,)), BodyStates._fields, strict=True)
        )
        tau = self._array(tau, (int(self.freedoms.sum()),), "tau")
        wrench = self._array(wrench, (n, 6), "wrench")
        lever = product(R, self._com)
        tensor = R @ self._tensor @ np.swapaxes(R, 1, 2)
        rows = self._rows(R, p, velocity, lever)
        force = self._forces(wrench, velocity[:, 3:], lever, tensor)
        drives = np.zeros(self._mask.shape)
        drives[self._mask] = tau
        self._add(force, rows, drives)
        a, multipliers = self._solve(force, tensor, rows)
        rates = self._powers(a, rows) + rows.bias
        multipliers += drives
        forces = self._in_joint_axes(R, np.einsum("jr,jrx->jx", multipliers, rows.wrench))
        spin, turn = velocity[:, 3:], a[:, 3:]
        a[:, :3] -= cross(turn, lever) + cross(spin, cross(spin, lever))
        return MaximalMotion(a, rates[self._mask], forces)

    # ------------------------------------------------------------------------------------ preparation

    def _array(self, values, shape: tuple[int, ...], name: str) -> np.ndarray:
        """Return a finite array of that shape, zeros if there is none."""
        if values is None:
            return np.zeros(shape)
        array = as_real(values, name)
        if array.shape != shape:
            raise ShapeError(f"{name} must have shape {shape}, got {array.shape}", array.shape, shape)
        require_finite(array, name)
        return array

    def _keep_bodies(self) -> None:
        """Store masses, centres of mass and tensors, and which bodies lack mass or a moment."""
        mass = np.array([body.mass for body in self.bodies])
        tensor = np.array([body.tensor for body in self.bodies]).reshape(-1, 3, 3)
        moments = np.linalg.eigvalsh(tensor)
        self._keep(_weak=(mass <= 0.0) | (moments[:, 0] <= SINGULAR * moments[:, 2]))
        com = np.array([body.com for body in self.bodies]).reshape(-1, 3)
        self._keep(_mass=mass, _tensor=tensor, _com=com)

    def _keep_joints(self) -> None:
        """Store the joints' frames and wrenches as arrays."""
        joints, count = self.joints, len(self.joints)
        ends = np.array([(joint.first, joint.second) for joint in joints], dtype=np.intp).reshape(-1, 2).T
        for joint in joints:
            if max(joint.first, joint.second) >= len(self.bodies):
                raise InvalidModelError(
                    f"joint {joint.name!r} ends on body {max(joint.first, joint.second)}, there are "
                    f"{len(self.bodies)} and the base, -1",
                    joint=joint.name,
                )
        known: dict[bytes, np.ndarray] = {}
        basis = np.empty((count, 6, 6))
        for j, joint in enumerate(joints):
            key = b"universal" if joint.turn is not None else np.asarray(joint.free).tobytes()
            basis[j] = known[key] if key in known else known.setdefault(key, joint.wrenches())
        freedoms = np.array([joint.freedoms for joint in joints], dtype=np.intp)
        mask = np.arange(6) >= 6 - freedoms[:, None]  # rows that measure rates, behind the constraints
        armature = np.zeros((count, 6))
        armature[mask] = np.concatenate([np.zeros(0), *(np.asarray(joint.armature) for joint in joints)])
        turning = np.array([j for j, joint in enumerate(joints) if joint.turn is not None], dtype=np.intp)
        axes = np.array([[joints[j].turn, joints[j].free[0, 3:]] for j in turning]).reshape(-1, 2, 3)
        frames = {
            "_R": np.array([[joint.R1, joint.R2] for joint in joints]).reshape(count, 2, 3, 3),
            "_p": np.array([[joint.p1, joint.p2] for joint in joints]).reshape(count, 2, 3),
        }
        self._keep(_ends=ends, _basis=basis, freedoms=freedoms, _mask=mask, _armature=armature, **frames)
        self._keep(_turning=turning, _turns=axes)

    def _analyse(self) -> None:
        """Order the unknowns and analyse K symbolically; joints that close loops stay outside."""
        first, second = self._ends
        order, carrier, loops = spanning_forest(len(self.bodies), first, second)
        active = ~self._mask | (self._armature > 0.0)
        soft = np.where(self._mask & active, self._armature, np.inf)
        rank = np.cumsum(active, axis=1) - 1  # number of a row among those of its joint in K
        count = active.sum(axis=1)
        count[loops] = 0
        tied = carrier[self._weak]
        if (tied < 0).any():
            body = int(np.flatnonzero(self._weak)[tied < 0][0])
            raise InvalidModelError(
                f"body {body} has no joint and mass {self._mass[body]:g}, tensor {self._tensor[body].tolist()}: "
                "expected a positive mass and three positive principal moments"
            )
        coupled = tied[(first[tied] >= 0) & (second[tied] >= 0)]
        layout = Layout(order, carrier, count, first, second, coupled, self.order)
        self._keep(_tied=tied, _coupled=coupled, _carrier=carrier)
        chosen = np.zeros((len(count), 6), dtype=np.intp)
        chosen[np.nonzero(active)[0], rank[active]] = np.nonzero(active)[1]
        which = chosen[layout.joint, layout.within]
        position = np.arange(layout.size)
        fronts = Fronts(position, layout, *NO_ROWS, NO_ROWS)
        self._keep(_layout=layout, _which=which, _E=1.0 / soft[layout.joint, which], loops=loops)
        self._keep(_fronts=fronts, _kernel=Kkt(fronts, True), nnz=fronts.nnz)
        at = [(int(j), int(r)) for j in loops for r in np.flatnonzero(active[j])]
        corner = np.array(at, dtype=np.intp).reshape(-1, 2).T
        self._keep(_corner=(corner[0], corner[1]), _corner_E=1.0 / soft[corner[0], corner[1]])

    # -------------------------------------------------------------------------------------- one state

    def _rows(self, R, p, velocity, lever) -> _Rows:
        """Compute the rows of all joints: wrench (f, n) at o2, powers f . w and n . u of relative velocities.

        w is the velocity of the second body's point o2 less that of the first body there; all rows but those
        of a joint with turn move with the second body.
        """
        first, second = self._ends
        R, p, velocity, lever = (_with_base(x) for x in (R, p, velocity, lever))
        R[-1] = np.eye(3)
        axes2 = R[second] @ self._R[:, 1]
        arm = product(R[second], self._p[:, 1])  # from the origin of the second body to o2
        o2 = p[second] + arm
        arm1 = o2 - p[first]
        spin1, spin2 = velocity[first, 3:], velocity[second, 3:]
        moving = velocity[second, :3] + cross(spin2, arm)
        w = moving - velocity[first, :3] - cross(spin1, arm1)
        u = spin2 - spin1
        wrench = np.empty_like(self._basis)
        wrench[..., :3] = self._basis[..., :3] @ np.swapaxes(axes2, 1, 2)
        wrench[..., 3:] = self._basis[..., 3:] @ np.swapaxes(axes2, 1, 2)
        rate = cross(spin2[:, None], wrench.reshape(-1, 12, 3)).reshape(wrench.shape)
        self._turn(wrench, rate, R[first] @ self._R[:, 0], axes2, spin1, spin2)
        # accelerations of w while the centres of mass and the angular velocities keep theirs
        r2, r1 = arm - lever[second], arm1 - lever[first]
        still = moving - velocity[first, :3] - cross(spin1, lever[first])
        w_rate = cross(spin2, cross(spin2, r2)) - cross(spin1, still)
        bias = (wrench[..., :3] @ w_rate[..., None] + rate @ np.concatenate([w, u], axis=1)[..., None])[..., 0]
        f, n = wrench[..., :3], wrench[..., 3:]
        on_second = np.concatenate([f, cross(r2[:, None], f) + n], axis=-1)
        on_first = -np.concatenate([f, cross(r1[:, None], f) + n], axis=-1)
        return _Rows(wrench, on_second, on_first, bias)

    def _turn(self, wrench, rate, axes1, axes2, spin1, spin2) -> None:
        """Write the moments of joints with turn: across both axes s, then the dual basis of both."""
        at = self._turning
        if not at.size:
            return
        s = np.stack([product(axes1[at], self._turns[:, 0]), product(axes2[at], self._turns[:, 1])], axis=1)
        s_rate = cross(np.stack([spin1[at], spin2[at]], axis=1), s)
        dual = np.linalg.inv(s @ np.swapaxes(s, 1, 2))  # constant: the angle between the axes is
        for target, moved in ((wrench, False), (rate, True)):
            n = dual @ (s_rate if moved else s)
            across = cross(s_rate[:, 0], s[:, 1]) + cross(s[:, 0], s_rate[:, 1]) if moved else cross(
                s[:, 0], s[:, 1]
            )
            target[at, 3, 3:], target[at, 4:, 3:] = across, n

    def _forces(self, wrench, spin, lever, tensor) -> np.ndarray:
        """Compute the forces on all bodies about their centres of mass: external, gravity, gyroscopic."""
        force = wrench.copy()
        force[:, 3:] -= cross(lever, wrench[:, :3]) + cross(spin, product(tensor, spin))
        force[:, :3] += self._mass[:, None] * self.gravity
        return force

    def _add(self, force: np.ndarray, rows: _Rows, multipliers: np.ndarray) -> None:
        """Add the forces of multipliers (joints, 6) of the rows to those on the bodies."""
        for body, J in zip(self._ends, (rows.on_first, rows.on_second), strict=True):
            moved = body >= 0
            share = np.einsum("jr,jrx->jx", multipliers[moved], J[moved])
            for x in range(BODY):
                force[:, x] += np.bincount(body[moved], share[:, x], len(force))

    def _powers(self, a: np.ndarray, rows: _Rows) -> np.ndarray:
        """Compute J a of all joints, shape (joints, 6)."""
        first, second = self._ends
        a = _with_base(a)
        return (rows.on_second @ a[second][..., None] + rows.on_first @ a[first][..., None])[..., 0]

    def _solve(self, force, tensor, rows: _Rows) -> tuple[np.ndarray, np.ndarray]:
        """Compute accelerations of the centres of mass, and multipliers (joints, 6) of rows in K."""
        layout, joint, which = self._layout, self._layout.joint, self._which
        ties = np.where(self._mask, 0.0, max(self._mass.max(initial=0.0), 1.0))[self._tied]
        if len(ties):
            force = force.copy()
            added = np.zeros(self._mask.shape)
            added[self._tied] = -ties * rows.bias[self._tied]
            self._add(force, rows, added)
        self._factor(tensor, rows, ties)
        x = np.empty(layout.size)
        x[layout.body[:, None] + np.arange(BODY)] = force
        x[layout.row] = -rows.bias[joint, which]
        self._kernel.apply_inverse(x)
        multipliers = np.zeros(self._mask.shape)
        if self._corner[0].size:
            multipliers[self._corner] = self._close(x, rows)
        multipliers[joint, which] = -x[layout.row]
        return x[layout.body[:, None] + np.arange(BODY)], multipliers

    def _factor(self, tensor, rows: _Rows, ties: np.ndarray) -> None:
        """Factorize K; every pivot must have the sign of its unknown."""
        layout, joint, which = self._layout, self._layout.joint, self._which
        M = np.zeros((len(self.bodies), BODY, BODY))
        M[:, range(3), range(3)] = self._mass[:, None]
        M[:, 3:, 3:] = tensor
        blocks = self._tie(M, rows, ties)
        diagonal = np.empty(layout.size)
        diagonal[layout.body[:, None] + np.arange(BODY)] = M[:, range(BODY), range(BODY)]
        diagonal[layout.row] = -self._E
        K = layout.entries(M, rows.on_second[joint, which], rows.on_first[joint, which], blocks, diagonal)
        self._kernel.take(K, np.zeros(0))
        failed = self._kernel.factor(np.zeros(0, np.uint8), 1.0)
        if failed < 0:
            expected = np.zeros(layout.size, dtype=bool)
            expected[layout.row] = True
            wrong = np.flatnonzero(self._kernel.negative() != expected)
            failed = int(wrong[0]) if wrong.size else -1
        if failed >= 0:
            self._complain(failed)

    def _tie(self, M: np.ndarray, rows: _Rows, ties: np.ndarray) -> np.ndarray:
        """Add J^T diag(ties) J of tied joints to M; return the blocks between their bodies."""
        first, second = self._ends
        J2, J1 = rows.on_second[self._tied], rows.on_first[self._tied]
        for body, J in ((second, J2), (first, J1)):
            at = body[self._tied]
            np.add.at(M, at[at >= 0], (np.swapaxes(J, 1, 2) @ (ties[..., None] * J))[at >= 0])
        both = (first[self._tied] >= 0) & (second[self._tied] >= 0)
        return np.swapaxes(J2, 1, 2)[both] @ (ties[..., None] * J1)[both]

    def _complain(self, failed: int) -> None:
        """Raise NotPositiveDefiniteError that names the joint of an unknown."""
        layout = self._layout
        row = np.flatnonzero(layout.row == failed)
        body = np.flatnonzero((layout.body <= failed) & (failed < layout.body + BODY))
        joint = int(layout.joint[row[0]] if row.size else self._carrier[body[0]])
        name = self.joints[joint].name if joint >= 0 else None
        where = f"joint {name!r}" if name else f"body {int(body[0])}"
        raise NotPositiveDefiniteError(f"{where} moves no mass: its pivot is not positive", failed, name)

    def _close(self, x: np.ndarray, rows: _Rows) -> np.ndarray:
        """Add the effect of joints that close loops to x; return their multipliers, those of least norm."""
        layout, (joint, which) = self._layout, self._corner
        C = np.zeros((len(joint), layout.size))
        for body, J in zip(self._ends, (rows.on_first, rows.on_second), strict=True):
            for r, (j, k) in enumerate(zip(joint, which, strict=True)):
                if body[j] >= 0:
                    at = layout.body[body[j]]
                    C[r, at : at + BODY] += J[j, k]
        Z = C.copy()
        for row in Z:
            self._kernel.apply_inverse(row)
        size, U = np.linalg.eigh(C @ Z.T + np.diag(self._corner_E))
        kept = size > DEPENDENT * size[-1]
        total = np.zeros(len(joint))
        for _ in range(2):  # the second time refines
            error = -rows.bias[joint, which] - C @ x - self._corner_E * total
            change = U[:, kept] @ (U[:, kept].T @ error / size[kept])
            total += change
            x += change @ Z
        return total

    def _in_joint_axes(self, R: np.ndarray, wrench: np.ndarray) -> np.ndarray:
        """Return wrenches (joints, 6) on the second bodies in the axes of the second frames."""
        R = _with_base(R)
        R[-1] = np.eye(3)
        axes = R[self._ends[1]] @ self._R[:, 1]
        return product(np.swapaxes(axes, 1, 2)[:, None], wrench.reshape(-1, 2, 3)).reshape(-1, 6)


def _with_base(x: np.ndarray) -> np.ndarray:
    """Return an array with zeros for the base behind the bodies."""
    return np.concatenate([x, np.zeros((1, *x.shape[1:]))])
