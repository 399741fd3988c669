"""Compute accelerations and joint forces of mechanisms in maximal coordinates: six freedoms for every body.

Joints are bilateral rows J between two bodies, and the unknowns are those of K = [M J^T; J -E] (Tasora,
Manconi, Silvestri, 2.6), with E = 1 / armature for the row of a rotor, else 0. Bodies and rows are eliminated
from the leaves to the root: each body before the rows of its joint, these before the body that carries it.
Pivots of bodies are then positive and pivots of rows negative, whatever the masses, so that L D L^T needs no
exchange of rows. An elimination changes one neighbour only, so that the cost is linear in the number of
bodies. Joints that close loops come last, in a dense corner.

A body without mass, or with a principal moment of zero, has no positive pivots of its own. With s J^T J of
its joint added to M and s J^T b to the forces, where J a = b, the solution is the same and the pivots are
positive if the joint moves any mass at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .._util.messages import received
from .._util.validation import Sealed, as_number, as_real, as_tuple, as_vector, check_choice, require_finite
from ..exceptions import ConfigurationError, DtypeError, InvalidModelError, ShapeError
from ..kinematics.jacobians import BodyMotions, cross, product
from ..mlcp.problem import Problem
from ..model.joints import ROUND_OFF, Inertia
from ..model.model import GRAVITY, Model, require_model
from ..tree.tree import Tree
from ._elimination import BODY, ORDERS
from ._joint_rows import JointRows, Rows
from ._mechanism_kkt import MechanismKkt
from .body_joints import BodyJoint, joints_of

__all__ = ["BodyStates", "MaximalCoordinates", "MaximalMotion"]

SINGULAR = 1e-12  # smallest principal moment relative to the largest


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
        Accelerations of the origins of the bodies' frames, and angular accelerations, in base axes.
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


class _Evaluated(NamedTuple):
    """One state: levers of the centres of mass, tensors, rows, forces on bodies and drives of rows."""

    R: np.ndarray
    velocity: np.ndarray
    lever: np.ndarray
    spin: np.ndarray
    tensor: np.ndarray
    rows: Rows
    force: np.ndarray
    drives: np.ndarray


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
        If an argument has the wrong type, a body without mass, or with a principal moment of zero, has no
        joint, or a joint ends on a body that does not exist.
    DtypeError
        If bodies or joints is not a sequence.

    Notes
    -----
    Thread-compatible.

    Tasora, Manconi, Silvestri, section on the incremental LDL^T, with another order of elimination. For a
    tree of n bodies, time and memory are O(n); m rows that close loops add O(n m + m^3).

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
    array([-12.124719,  15.431461])
    """

    bodies: tuple[Inertia, ...]
    joints: tuple[BodyJoint, ...]
    gravity: np.ndarray
    order: str
    model: Model | None
    nnz: int
    freedoms: np.ndarray
    loops: np.ndarray
    _mass: np.ndarray
    _com: np.ndarray
    _tensor: np.ndarray
    _rows: JointRows
    _kkt: MechanismKkt

    def __init__(
        self,
        bodies: Sequence[Inertia],
        joints: Sequence[BodyJoint],
        gravity=GRAVITY,
        order: str = "tree",
    ):
        bodies, joints = as_tuple(bodies, "bodies"), as_tuple(joints, "joints")
        self._keep(bodies=bodies, joints=joints, order=order, model=None)
        self._keep(gravity=as_vector(gravity, 3, "gravity").copy())
        check_choice("order", order, ORDERS)
        for name, kind in (("bodies", Inertia), ("joints", BodyJoint)):
            for i, part in enumerate(getattr(self, name)):
                if not isinstance(part, kind):
                    raise InvalidModelError(f"{name}[{i}] is not a {kind.__name__} but {received(part)}")
        mass = np.array([body.mass for body in self.bodies])
        tensor = np.array([body.tensor for body in self.bodies]).reshape(-1, 3, 3)
        moments = np.linalg.eigvalsh(tensor)
        weak = (mass <= 0.0) | (moments[:, 0] <= SINGULAR * moments[:, 2])
        rows = JointRows(self.joints, len(self.bodies))
        kkt = MechanismKkt(rows, [joint.name for joint in self.joints], mass, weak, order)
        self._keep(_mass=mass, _tensor=tensor, _rows=rows, _kkt=kkt, freedoms=rows.freedoms)
        self._keep(_com=np.array([body.com for body in self.bodies]).reshape(-1, 3))
        self._keep(nnz=kkt.fronts.nnz, loops=kkt.loops)

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
        size = self._kkt.fronts.sizes()[:, 1]
        return int((size * (size + 1) // 2).sum())

    def forward_dynamics(self, q, v, tau, fext=None) -> MaximalMotion:
        """Compute accelerations and joint forces of a model's state.

        Parameters
        ----------
        q, v, tau : array_like, shapes (nq,), (nv,), (nv,)
            One state, and generalized forces in N and N m.
        fext : array_like, shape (njoints, 6), optional

        Returns
        -------
        MaximalMotion
            ``joints`` is the acceleration, shape (nv,); ``forces`` has the model's joints, then its loops.

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
        drives, fext = np.zeros(int(self.freedoms.sum())), _array(fext, (n, 6), "fext")
        drives[:nv] = as_vector(tau, nv, "tau")
        wrench = product(states.R[:, None], fext.reshape(n, 2, 3)).reshape(n, 6)
        motion = self.accelerations(states, drives, wrench)
        return motion._replace(joints=motion.joints[:nv])

    def states(self, q, v) -> BodyStates:
        """Return the states of a model's bodies at q and v."""
        model = self.model
        if model is None:
            raise ValueError("states needs a mechanism made by from_model")
        at = BodyMotions(model, as_vector(q, model.nq, "q"), as_vector(v, model.nv, "v"))
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
        ShapeError, DtypeError, NonFiniteError, ConfigurationError
        NotPositiveDefiniteError
            If a joint moves no mass; names the joint.
        """
        at = self._evaluated(states, tau, wrench)
        a, multipliers = self._kkt.solve(at.force, at.tensor, at.rows)
        joints = self._rows.rates(a, at.rows)[self._rows.measures]
        forces = self._rows.forces(at.R, at.rows, multipliers + at.drives)
        a[:, :3] -= cross(a[:, 3:], at.lever) + cross(at.spin, cross(at.spin, at.lever))
        return MaximalMotion(a, joints, forces)

    def problem(self, states: BodyStates, h: float, tau=None, wrench=None, D=None, d=None) -> Problem:
        """Make the mixed complementarity problem of one time step, for `treefactor.mlcp.solve`.

        Its unknowns are the velocities of all bodies after the step, body after body as in `BodyStates`, its
        bilateral constraints all rows of all joints.

        Parameters
        ----------
        states, tau, wrench
            As for `accelerations`.
        h : float
            Step, s.
        D, d : array_like or SciPy sparse, shape (m, 6 n), and array_like, shape (m,), optional
            Unilateral constraints on the velocities, D v >= d: of contacts and limits.

        Returns
        -------
        treefactor.mlcp.Problem

        Raises
        ------
        ValueError
            If h is not positive, or a joint has armature; names it.
        NotPositiveDefiniteError
            If a body has no mass or a principal moment of zero.
        ShapeError, DtypeError, NonFiniteError

        Notes
        -----
        Tasora, Manconi, Silvestri (2.6) without stabilization of the joints. Bodies that rows couple are
        ordered by minimum degree there, whose memory is n^2 / 8 bytes: for up to some thousand bodies.
        """
        from scipy.sparse import csr_array

        h, n, rotors = as_number(h, "h"), len(self.bodies), self._rows.armature.any(axis=1)
        if h <= 0.0:
            raise ValueError(f"h must be positive, got {h}")
        if rotors.any():
            name = self.joints[int(rotors.argmax())].name
            raise ValueError(f"joint {name!r} has armature, which a time step does not support: set it to 0")
        at = self._evaluated(states, tau, wrench)
        T = np.tile(np.eye(BODY), (n, 1, 1))  # velocities of centres of mass from those of origins
        T[:, :3, 3:] = -cross(at.lever[:, None], np.eye(3)).swapaxes(1, 2)
        M = np.zeros((n, BODY, BODY))
        M[:, range(3), range(3)], M[:, 3:, 3:] = self._mass[:, None], at.tensor
        M = np.swapaxes(T, 1, 2) @ M @ T
        g = (M @ at.velocity[..., None])[..., 0] + h * product(np.swapaxes(T, 1, 2), at.force)
        joint, which = np.nonzero(~self._rows.measures)
        data, row, column = [], [], []
        for body, J in self._rows.sides(at.rows):
            held = body[joint] >= 0
            to = body[joint][held]
            data.append((J[joint, which][held][:, None] @ T[to])[:, 0])
            row.append(np.broadcast_to(np.flatnonzero(held)[:, None], data[-1].shape))
            column.append(BODY * to[:, None] + np.arange(BODY))
        entries, *places = (np.concatenate(x).ravel() for x in (data, row, column))
        C = csr_array((entries, tuple(places)), shape=(len(joint), BODY * n))
        tree = Tree(np.where(np.arange(BODY * n) % BODY == 0, -1, np.arange(BODY * n) - 1))
        a, b = np.tril_indices(BODY)
        return Problem(M[:, a, b].ravel(), tree, g.ravel(), C, np.zeros(len(joint)), D, d, layout="packed")

    def _evaluated(self, states: BodyStates, tau, wrench) -> _Evaluated:
        """Validate the arguments; compute rows, and forces about the centres of mass."""
        n = len(self.bodies)
        R, p, velocity = (
            _array(x, (n, *tail), f"states.{name}")
            for x, tail, name in zip(_parts(states), ((3, 3), (3,), (6,)), BodyStates._fields, strict=True)
        )
        turned = np.abs(R @ np.swapaxes(R, 1, 2) - np.eye(3)).max(axis=(1, 2), initial=0.0)
        wrong = (turned > ROUND_OFF) | (np.linalg.det(R) < 0.0)
        if wrong.any():
            where = f"states.R[{wrong.argmax()}]"
            raise ConfigurationError(f"{where} is not a rotation: expected R Rᵀ = 1 and det R = 1")
        tau = _array(tau, (int(self.freedoms.sum()),), "tau")
        wrench = _array(wrench, (n, BODY), "wrench")
        lever, spin = product(R, self._com), velocity[:, 3:]
        tensor = R @ self._tensor @ np.swapaxes(R, 1, 2)
        rows = self._rows.at(R, p, velocity, lever)
        force = wrench.copy()
        force[:, 3:] -= cross(lever, wrench[:, :3]) + cross(spin, product(tensor, spin))
        force[:, :3] += self._mass[:, None] * self.gravity
        drives = np.zeros(rows.bias.shape)
        drives[self._rows.measures] = tau
        self._rows.add_forces(force, rows, drives)
        return _Evaluated(R, velocity, lever, spin, tensor, rows, force, drives)


def _parts(states) -> tuple:
    """Return rotations, origins and velocities of states, or raise DtypeError."""
    parts = states if isinstance(states, tuple) else ()
    if len(parts) != len(BodyStates._fields):
        kind = f"a tuple of {len(parts)}" if isinstance(states, tuple) else received(states)
        raise DtypeError(f"states must be a BodyStates of {', '.join(BodyStates._fields)}, got {kind}")
    return parts


def _array(values, shape: tuple[int, ...], name: str) -> np.ndarray:
    """Return a finite array of that shape; without values, zeros."""
    if values is None:
        return np.zeros(shape)
    array = as_real(values, name)
    if array.shape != shape:
        raise ShapeError(f"{name} must have shape {shape}, got {array.shape}", array.shape, shape)
    require_finite(array, name)
    return array
