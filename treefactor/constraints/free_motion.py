"""Compute the velocities after a step without impulses; forces that depend on velocity act implicitly.

Explicit steps give spinning bodies energy. The implicit midpoint rule at a fixed q does not, with c(q, v) the
bias forces (Coriolis, centrifugal, gyroscopic, gravity) and m = (v + u) / 2:

    H(q) (u - v) + h c(q, m) = 0

Of a free rigid body it conserves the kinetic energy and the length of the angular momentum exactly, because
m . c(m) = 0 and I m . (m x I m) = 0 (Simo and Wong, "Unconditionally stable algorithms for rigid body
dynamics that exactly preserve energy and momentum", IJNME 31, 1991). Of any mechanism it is, with the step of
q that follows, conjugate to a Strang splitting, reversible and of second order (Hairer, Lubich, Wanner,
"Geometric Numerical Integration", sections II.5 and V.1): energy oscillates.

Where joints turn by about a radian in a step, u need not exist. Then each body keeps the velocity of the last
step, its own spin changed by the midpoint rule, and the joints take the velocities nearest to the bodies', in
the metric M of the masses. So do engines that give every body six freedoms (Tasora, Manconi, Silvestri, 2.5):

    H(q_k) u = J(q_k)^T M J(q_k-1) v - h g(q_k)

A projection adds no energy.
"""

from __future__ import annotations

import numpy as np

from ..dynamics.recursions import bind
from ..kinematics.jacobians import BodyMotions, cross, product
from ..linalg.factorization import Factor
from ..model.model import Model
from ..quantities.functions import bias, rnea
from ._joint_integration import JointIntegrator

ROUNDS = 60  # most iterations of the fixed-point iteration for spins, which converges linearly
ROUNDING = 1e-13  # relative; of principal moments that are equal
TURN = 0.5  # rad, of a body in one part of a step of the midpoint rule
PARTS = 20  # most parts that a step is divided into; faster spins are left unchanged, which conserves as much


def is_steady(model: Model) -> bool:
    """Return whether no force depends on the velocity: single bodies without gyroscopic moments."""
    if model.coupling is not None or any(joint.parent >= 0 for joint in model.joints):
        return False
    for joint in model.joints:
        inertia = joint.inertia
        turns, flies = joint.kind in ("spherical", "freeflyer"), joint.kind in ("planar", "freeflyer")
        uneven = np.ptp(np.linalg.eigvalsh(inertia.tensor)) > ROUNDING * np.abs(inertia.tensor).max()
        lever = joint.kind == "spherical" and inertia.com.any()
        if joint.kind == "universal" or (turns and (uneven or lever)) or (flies and joint.armature.any()):
            return False
    return True


def joint_integrator(model: Model) -> JointIntegrator:
    """Group the joints of a model for integration."""
    rotating = ("continuous", "spherical", "planar", "freeflyer")
    at = [np.zeros((0, 2), dtype=np.intp)]
    for kind, (at_q, at_v) in model.entries.items():
        if kind not in rotating:
            at.append(np.stack([at_q.ravel(), at_v.ravel()], axis=1))
    first = [np.zeros((0, 2), dtype=np.intp) for _ in rotating]
    for i, kind in enumerate(rotating):
        if kind in model.entries:
            first[i] = np.stack([part[:, 0] for part in model.entries[kind]], axis=1)
    com = [
        np.array([joint.inertia.com[:size] for joint in model.joints if joint.kind == kind]).reshape(-1, size)
        for kind, size in (("planar", 2), ("freeflyer", 3))
    ]
    at = [np.ascontiguousarray(x, dtype=np.intp) for x in (np.concatenate(at), *first)]
    return JointIntegrator(at, com)


class FreeMotion:
    """Free motion of a model over one step, by the implicit midpoint rule.

    Parameters
    ----------
    model : Model
    integrator : JointIntegrator
    h : float
        Step, s.
    """

    def __init__(self, model: Model, integrator: JointIntegrator, h: float):
        self.model, self.integrator, self.h = model, integrator, h
        self._q, self._middle, self._bias = np.empty(model.nq), np.empty(model.nv), np.empty(model.nv)
        self._compute_bias = bind(bias, model, self._q, self._middle, out=self._bias)
        self._factor = Factor(model.tree, layout="packed")
        self._still = np.zeros(model.nv)
        inertias = [joint.inertia for joint in model.joints]
        self._mass = np.array([inertia.mass for inertia in inertias])[:, None]
        self._com = np.array([inertia.com for inertia in inertias]).reshape(-1, 3)
        self._tensor = np.array([inertia.tensor for inertia in inertias]).reshape(-1, 3, 3)
        self._inverse = np.linalg.pinv(self._tensor, hermitian=True)
        self._armature = np.concatenate([np.zeros(0), *(joint.armature for joint in model.joints)])

    def __reduce__(self):
        return FreeMotion, (self.model, self.integrator, self.h)

    def momentum(self, H: np.ndarray, q: np.ndarray, v: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Compute H u from the packed H(q) and the bias forces c(q, v); not finite where it overflows."""
        u = self.midpoint(H, q, v, c)
        return self._projected(q, v) if u is None else self._factor.multiply(u)

    def midpoint(self, H: np.ndarray, q: np.ndarray, v: np.ndarray, c: np.ndarray) -> np.ndarray | None:
        """Compute the velocities u after the step; None if the fixed-point iteration does not converge."""
        self._q[:], self._middle[:] = q, v
        solve, compute_bias = self._factor.refactor(H).solve, self._compute_bias
        a = solve(c)

        def decelerate():
            solve(compute_bias(), a)

        return self.integrator.midpoint(decelerate, v, self._middle, a, self.h)

    def _projected(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Compute H u of the velocities u nearest to those that the bodies had in the last step."""
        model, h = self.model, self.h
        q_before, v_before = self.integrator.advanced(q, v, -h)
        before, now = BodyMotions(model, q_before, v_before), BodyMotions(model, q)
        V, R = before.V[:-1], np.swapaxes(before.R[:-1], -1, -2)
        r = before.points(np.arange(model.njoints), self._com)
        linear = V[:, :3] + cross(V[:, 3:], r)
        P = np.empty((model.njoints, 6))
        P[:, :3] = self._mass * product(np.swapaxes(now.R[:-1], -1, -2), linear)
        P[:, 3:] = product(self._tensor, self._spun(product(R, V[:, 3:]))) + cross(self._com, P[:, :3])
        kept = -h * rnea(model, q, self._still, self._still, fext=P / h)
        G = np.eye(model.nv) if model.coupling is None else model.coupling.G
        return kept + G.T @ (self._armature * (G @ v_before))

    def _spun(self, spin: np.ndarray) -> np.ndarray:
        """Compute angular velocities of bodies (njoints, 3), in their axes, after a step without moments."""
        rate = np.linalg.norm(spin, axis=-1)
        slow = self.h * rate <= TURN * PARTS
        parts = max(int(np.ceil(self.h * rate[slow].max(initial=0.0) / TURN)), 1)
        u = np.where(slow[:, None], spin, 0.0)
        for _ in range(parts):
            v, error = u, np.inf
            for _ in range(ROUNDS):
                m, last, before = 0.5 * (v + u), u, error
                u = v - self.h / parts * product(self._inverse, cross(m, product(self._tensor, m)))
                error = np.abs(u - last).max()
                if error >= before or not error:
                    break
        return np.where(slow[:, None], u, spin)
