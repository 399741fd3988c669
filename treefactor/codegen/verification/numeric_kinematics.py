"""Compute reference values of the kinematics in axes of the base, from the joints and inertias of the model.

Shares no formula with `kinematics` and `centroidal`: every body is moved to the base, whatever its variant.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...model.frames import frame_of
from ..program.names import FrameFunction
from .numeric import Numeric, crossing, tilde


class NumericKinematics:
    """Kinematics of a model in one state; motions are those of the point at the origin of the base.

    Parameters
    ----------
    numeric : Numeric
    """

    def __init__(self, numeric: Numeric):
        self.numeric, self.model = numeric, numeric.model
        self.R, self.p, self.V, self.A, self.columns = [], [], [], [], []
        self.dcolumns = []
        for i, body in enumerate(numeric.bodies):
            R, p = (
                (self.R[body.parent], self.p[body.parent]) if body.parent >= 0 else (np.eye(3), np.zeros(3))
            )
            self.R.append(R @ numeric.R[i])
            self.p.append(p + R @ numeric.origin[i])
            self._move(i, body.parent)

    def _move(self, i: int, parent: int) -> None:
        """Store motion and columns of body i."""
        V, A = (self.V[parent], self.A[parent]) if parent >= 0 else (np.zeros(6), np.zeros(6))
        S = _transform(self.R[i], self.p[i]) @ self.numeric.S[i]
        at = self.numeric.freedoms(i)
        V = V + S @ self.numeric.v[at]
        self.V.append(V)
        self.A.append(A + S @ self.numeric.a[at] + crossing(V) @ S @ self.numeric.v[at])
        J, dJ = np.zeros((2, 6, self.numeric.tree.n))
        if parent >= 0:
            J, dJ = self.columns[parent].copy(), self.dcolumns[parent].copy()
        J[:, at], dJ[:, at] = S, crossing(V) @ S
        self.columns.append(J)
        self.dcolumns.append(dJ)

    def of(self, name: str, method: str | None) -> dict:
        """Return all matrices of a function by name, including its result."""
        function = FrameFunction.of(name)
        if method == "inertia":
            _ = self.numeric.H
        result = self._of_frame(function) if function else getattr(self, name)
        return self.numeric.named | {name: np.ravel(result)}

    def _of_frame(self, function: FrameFunction) -> np.ndarray:
        """Return the result of a function of a frame."""
        frame = frame_of(self.model, function.frame)
        i, R, p = -1, frame.R, frame.p
        if frame.joint >= 0:
            i, axes, origin = self._joint(frame.joint)
            self.numeric.columns(i, axes @ frame.R, origin + axes @ frame.p, frame.name)
            R, p = self.R[i] @ axes @ frame.R, self.p[i] + self.R[i] @ (origin + axes @ frame.p)
        result = getattr(self, function.kind)(function, i, R, p)
        return result[:, self.model.support(frame)] if "packed" in function.options else result

    def _motion(self, function: FrameFunction, i: int, R, p) -> np.ndarray:
        """Return velocity and acceleration of a frame on body i."""
        motion = (self.V[i], self.A[i]) if i >= 0 else np.zeros((2, 6))
        return np.stack([self._referred(x, function.reference, R, p) for x in motion])

    def frame_placement(self, function: FrameFunction, i: int, R, p) -> np.ndarray:
        """Return rows [R | p] of a frame."""
        return np.column_stack([R, p])

    def frame_velocity(self, function: FrameFunction, i: int, R, p) -> np.ndarray:
        """Return the velocity of a frame on body i."""
        return self._motion(function, i, R, p)[0]

    def frame_acceleration(self, function: FrameFunction, i: int, R, p) -> np.ndarray:
        """Return the acceleration of a frame on body i."""
        V, A = self._motion(function, i, R, p)
        return A + np.append(np.cross(V[3:], V[:3]), np.zeros(3)) if "classical" in function.options else A

    def frame_jacobian(self, function: FrameFunction, i: int, R, p) -> np.ndarray:
        """Return the Jacobian of a frame on body i."""
        J = self.columns[i] if i >= 0 else np.zeros((6, self.size))
        return self._referred(J, function.reference, R, p) @ self.numeric.G

    def frame_jacobian_dot(self, function: FrameFunction, i: int, R, p) -> np.ndarray:
        """Return the time derivative of the Jacobian of a frame on body i, by the product rule."""
        dJ = self.dcolumns[i] if i >= 0 else np.zeros((6, self.size))
        if i < 0 or function.reference == "WORLD":
            return dJ @ self.numeric.G
        V, shift = _transform(np.eye(3), -p) @ self.V[i], np.zeros((6, 6))
        shift[:3, 3:] = -tilde(V[:3])
        J = _transform(np.eye(3), -p) @ self.columns[i]
        aligned = _transform(np.eye(3), -p) @ dJ + shift @ self.columns[i]
        if function.reference == "LOCAL_WORLD_ALIGNED":
            return aligned @ self.numeric.G
        turning = np.kron(np.eye(2), R.T) @ (aligned - np.kron(np.eye(2), tilde(V[3:])) @ J)
        return turning @ self.numeric.G

    @property
    def size(self) -> int:
        """Number of freedoms of all joints."""
        return self.numeric.tree.n

    def _joint(self, joint: int) -> tuple:
        """Return the body of a joint, and axes and origin of the joint's frame in it."""
        i = next(i for i, body in enumerate(self.numeric.bodies) if body.joint == joint)
        return i, self.numeric.bodies[i].axes, self.numeric.bodies[i].origin

    def _referred(self, x, reference: str, R, p) -> np.ndarray:
        """Return motions of the point at the base's origin in another reference."""
        if reference == "WORLD":
            return x
        x = _transform(np.eye(3), -p) @ x
        return x if reference == "LOCAL_WORLD_ALIGNED" else np.kron(np.eye(2), R.T) @ x

    @cached_property
    def joint_placements(self) -> np.ndarray:
        """Placements of the frames of all joints."""
        placements = []
        for joint in range(self.model.njoints):
            i, axes, origin = self._joint(joint)
            placements.append(np.column_stack([self.R[i] @ axes, self.p[i] + self.R[i] @ origin]))
        return np.reshape(placements, (self.model.njoints, 3, 4))

    @cached_property
    def masses(self) -> list[tuple]:
        """Body, mass, centre of mass and tensor of every inertia of the model."""
        masses = []
        for number, (placement, joint) in enumerate(
            zip(self.joint_placements, self.model.joints, strict=True)
        ):
            R, p = placement[:, :3], placement[:, 3]
            inertia = joint.inertia
            masses.append(
                (self._joint(number)[0], inertia.mass, p + R @ inertia.com, R @ inertia.tensor @ R.T)
            )
        return masses

    @property
    def mass(self) -> float:
        """Mass of the whole model."""
        return sum(m for _, m, _, _ in self.masses)

    @cached_property
    def center_of_mass(self) -> np.ndarray:
        """Centre of mass."""
        return sum(m * c for _, m, c, _ in self.masses) / self.mass

    @cached_property
    def _map(self) -> np.ndarray:
        """Map from the rates of all freedoms to the centroidal momentum."""
        matrix = np.zeros((6, self.size))
        for i, m, c, tensor in self.masses:
            J = _transform(np.eye(3), -c) @ self.columns[i]
            matrix[:3] += m * J[:3]
            matrix[3:] += tensor @ J[3:] + m * tilde(c - self.center_of_mass) @ J[:3]
        return matrix

    @property
    def centroidal_map(self) -> np.ndarray:
        """Map from v to the centroidal momentum."""
        return self._map @ self.numeric.G

    @property
    def centroidal_map_dot(self) -> np.ndarray:
        """Time derivative of the map, by the product rule for every body."""
        derivative, drift = np.zeros((6, self.size)), self.center_of_mass_velocity
        for i, m, c, tensor in self.masses:
            V, J, dJ = (_transform(np.eye(3), -c) @ x for x in (self.V[i], self.columns[i], self.dcolumns[i]))
            dJ[:3] -= tilde(V[:3]) @ J[3:]
            spin = tilde(V[3:]) @ tensor - tensor @ tilde(V[3:])
            derivative[:3] += m * dJ[:3]
            derivative[3:] += spin @ J[3:] + tensor @ dJ[3:] + m * tilde(V[:3] - drift) @ J[:3]
            derivative[3:] += m * tilde(c - self.center_of_mass) @ dJ[:3]
        return derivative @ self.numeric.G

    @property
    def center_of_mass_jacobian(self) -> np.ndarray:
        """Jacobian of the centre of mass."""
        return self.centroidal_map[:3] / self.mass

    @property
    def centroidal_momentum(self) -> np.ndarray:
        """Centroidal momentum."""
        return self._map @ self.numeric.v

    @property
    def center_of_mass_velocity(self) -> np.ndarray:
        """Velocity of the centre of mass."""
        return self.centroidal_momentum[:3] / self.mass

    @property
    def centroidal_momentum_rate(self) -> np.ndarray:
        """Sum of the forces and moments on all bodies about the centre of mass."""
        rate = np.zeros(6)
        for i, m, c, tensor in self.masses:
            V, A = (_transform(np.eye(3), -c) @ x for x in (self.V[i], self.A[i]))
            force = m * (A[:3] + np.cross(V[3:], V[:3]))
            moment = tensor @ A[3:] + np.cross(V[3:], tensor @ V[3:])
            rate += np.append(force, moment + np.cross(c - self.center_of_mass, force))
        return rate

    @property
    def center_of_mass_acceleration(self) -> np.ndarray:
        """Acceleration of the centre of mass."""
        return self.centroidal_momentum_rate[:3] / self.mass

    @property
    def kinetic_energy(self) -> float:
        """Kinetic energy, armature included."""
        twice = np.sum(self.numeric.armature * self.numeric.v**2)
        for i, m, c, tensor in self.masses:
            V = _transform(np.eye(3), -c) @ self.V[i]
            twice += m * V[:3] @ V[:3] + V[3:] @ tensor @ V[3:]
        return twice / 2

    @property
    def potential_energy(self) -> float:
        """Potential energy."""
        return -self.mass * self.model.gravity @ self.center_of_mass

    @property
    def generalized_gravity(self) -> np.ndarray:
        """Forces that hold the model at rest."""
        return -self.mass * self.model.gravity @ self.center_of_mass_jacobian


def _transform(R, p) -> np.ndarray:
    """Return the matrix of motions from a frame at R, p to the base."""
    X = np.kron(np.eye(2), R)
    X[:3, 3:] = tilde(p) @ R
    return X
