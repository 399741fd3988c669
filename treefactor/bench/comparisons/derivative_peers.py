"""Compute derivatives as scripts with Pinocchio do: matrices, their products, and central differences."""

from __future__ import annotations

import numpy as np

STEP = 1e-6  # of central differences


class Peers:
    """Pinocchio's derivatives of one robot in one state; every method has the name of our function.

    Parameters
    ----------
    model : pinocchio.Model
        Without mimic joints, whose derivatives Pinocchio refuses.
    frame : int
        Its number of the frame for `frame_derivatives`.
    """

    def __init__(self, model, frame: int):
        import pinocchio as pin

        self.pin, self.model, self.data, self.frame = pin, model, model.createData(), frame

    def rnea_derivatives(self, q, v, a):
        """Return dtau_dq, dtau_dv and H, which are views of Pinocchio's data."""
        return self.pin.computeRNEADerivatives(self.model, self.data, q, v, a)

    def forward_dynamics_derivatives(self, q, v, tau):
        """Return da_dq, da_dv and the inverse of H, which are views of Pinocchio's data."""
        return self.pin.computeABADerivatives(self.model, self.data, q, v, tau)

    def rnea_vjp(self, q, v, a, w):
        """Return w^T times the matrices."""
        return tuple(w @ matrix for matrix in self.rnea_derivatives(q, v, a))

    def forward_dynamics_vjp(self, q, v, tau, w):
        """Return w^T times the matrices."""
        return tuple(w @ matrix for matrix in self.forward_dynamics_derivatives(q, v, tau))

    def rnea_jvp(self, q, v, a, dq, dv, da):
        """Return the matrices times a direction."""
        by_q, by_v, by_a = self.rnea_derivatives(q, v, a)
        return by_q @ dq + by_v @ dv + by_a @ da

    def forward_dynamics_jvp(self, q, v, tau, dq, dv, dtau):
        """Return the matrices times a direction."""
        by_q, by_v, by_tau = self.forward_dynamics_derivatives(q, v, tau)
        return by_q @ dq + by_v @ dv + by_tau @ dtau

    def rnea_hvp(self, q, v, a, w, dq, dv, da):
        """Return the central difference of the gradient along a direction."""
        return self._difference(self.rnea_vjp, q, v, a, w, dq, dv, da)

    def forward_dynamics_hvp(self, q, v, tau, w, dq, dv, dtau):
        """Return the central difference of the gradient along a direction."""
        return self._difference(self.forward_dynamics_vjp, q, v, tau, w, dq, dv, dtau)

    def rnea_hessian(self, q, v, a, w):
        """Return central differences of the gradient along every q and v."""
        return self._differences(self.rnea_vjp, q, v, a, w)

    def forward_dynamics_hessian(self, q, v, tau, w):
        """Return central differences of the gradient along every q, v and tau."""
        return self._differences(self.forward_dynamics_vjp, q, v, tau, w)

    def frame_derivatives(self, q, v, a):
        """Return derivatives of the velocity and the acceleration of the frame, in its axes."""
        self.pin.computeForwardKinematicsDerivatives(self.model, self.data, q, v, a)
        return self.pin.getFrameAccelerationDerivatives(self.model, self.data, self.frame, self.pin.LOCAL)

    def com_derivatives(self, q, v, a):
        """Return derivatives of the velocity of the centre of mass, the only ones that Pinocchio has."""
        self.pin.computeForwardKinematicsDerivatives(self.model, self.data, q, v, a)
        self.pin.centerOfMass(self.model, self.data, q, v)
        by_q = self.pin.getCenterOfMassVelocityDerivatives(self.model, self.data)
        return by_q, self.pin.jacobianCenterOfMass(self.model, self.data, q)

    def centroidal_derivatives(self, q, v, a):
        """Return derivatives of the momentum about the centre of mass and of its rate."""
        return self.pin.computeCentroidalDynamicsDerivatives(self.model, self.data, q, v, a)

    def integrate_derivatives(self, q, v):
        """Return both derivatives of a step."""
        return self.pin.dIntegrate(self.model, q, v)

    def difference_derivatives(self, q, q1):
        """Return both derivatives of a difference."""
        return self.pin.dDifference(self.model, q, q1)

    def _difference(self, gradient, q, v, x, w, dq, dv, dx):
        """Return the central difference of a gradient along a direction in q, v and a or tau."""
        ahead, behind = (
            gradient(self.pin.integrate(self.model, q, h * dq), v + h * dv, x + h * dx, w)
            for h in (STEP, -STEP)
        )
        return tuple((x - y) / (2 * STEP) for x, y in zip(ahead, behind, strict=True))

    def _differences(self, gradient, q, v, x, w):
        """Return central differences along all unit vectors: of q, then of v."""
        one, zero = np.eye(self.model.nv), np.zeros(self.model.nv)
        by_q = [self._difference(gradient, q, v, x, w, each, zero, zero) for each in one]
        return by_q, [self._difference(gradient, q, v, x, w, zero, each, zero) for each in one]
