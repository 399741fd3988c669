"""Products with the derivatives of quantities, in terms of treefactor's functions; see `_maps`.

Bias forces, H x and H are inverse dynamics at zero accelerations, or without velocities and gravity; so are
their derivatives. All but forward dynamics are linear in the inertias, so that the derivative along a change
of these is the value with this change in their place, without armature and external forces.

The motion of a frame along dq is J dq, in its own axes; T = [R | p] changes by [R w x | R v]. Second
derivatives follow from two arrays: D, the derivative of J along dq (`frame_jacobian_dot` at v = dq), and V,
the derivative of J dq by q (``velocity_q`` of `frame_derivatives`); half their sum is symmetric.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model.frames import frame_of_joint
from ..model.gravity import without_gravity
from ..quantities import functions as tf
from ..quantities.functions import QUANTITIES
from ._maps import ArrayFunction, Unchecked


class Products(ArrayFunction):
    """Case of inverse or forward dynamics: their products, at zeros for the arguments that it lacks."""

    def __init__(self, quantity, model, options: tuple):
        derivative = quantity.derivative
        self.base = QUANTITIES[derivative.case_of] if derivative.case_of else quantity
        if derivative.acceleration:
            model = without_gravity(model)
        super().__init__(quantity, model, options)
        own = [{derivative.acceleration: "a"}.get(name, name) for name in self.names]
        names = [one.name for one in self.base.inputs[:3]]
        self.state = [own.index(name) if name in own else None for name in names]
        self.gradients = [*self.state, *(own.index(name) for name in ("fext", "inertias") if name in own)]
        self.asked = {"fext_gradient": "fext" in own, "inertia_gradient": "inertias" in own}
        self.rest = np.zeros(model.nv)
        products = self.base.derivative
        self.products = {kind: getattr(tf, getattr(products, kind)) for kind in ("jvp", "vjp", "hvp")}

    def _states(self, inputs, rest) -> list:
        """Return q, v and the third vector; ``rest`` for those that are no inputs."""
        return [rest if k is None else inputs[k] for k in self.state]

    def _forces_and_inertias(self, inputs) -> dict[str, Any]:
        """Return external forces and inertias by name, those forces included that must be given."""
        forces = {"fext": inputs[self.names.index("fext")]} if self.asked["fext_gradient"] else {}
        return self.extras(inputs) | forces

    def _receivers(self, outputs, count: int | None = None) -> tuple:
        """Return the arrays that receive gradients; those by arguments that are no inputs are discarded."""
        shape = len(outputs[0]), self.model.nv
        return tuple(np.empty(shape) if k is None else outputs[k] for k in self.gradients[:count])

    def jvp(self, inputs, outputs) -> None:
        """Compute derivatives along directions, see `Map`."""
        n = len(self.inputs)
        x, dx = inputs[:n], inputs[n:]
        states, directions, extras = (
            self._states(x, self.rest),
            self._states(dx, None),
            self._forces_and_inertias(x),
        )
        change = None
        if "inertias" in extras:
            forward = self.base.inputs[2].name == "tau"
            a = tf.forward_dynamics(self.model, *states, **extras) if forward else states[2]
            inertias = Unchecked(self.model, dx[-1], self.rest)
            change = tf.rnea(self.model, *states[:2], a, inertias=inertias)
            if forward:
                directions[2] = directions[2] - change
        forces = {"dfext": dx[self.names.index("fext")]} if "fext" in extras else {}
        self.products["jvp"](self.model, *states, *directions, out=outputs[0], **extras, **forces)
        if change is not None and not forward:
            outputs[0][:] += change

    def vjp(self, inputs, outputs) -> None:
        """Compute gradients, see `Map`."""
        x, w = inputs[:-1], inputs[-1]
        states, extras = self._states(x, self.rest), self._forces_and_inertias(x)
        self.products["vjp"](self.model, *states, w, out=self._receivers(outputs), **extras, **self.asked)

    def hvp(self, inputs, outputs) -> None:
        """Compute second derivatives along directions, see `Map`."""
        n = len(self.inputs)
        states, directions = self._states(inputs[:n], self.rest), self._states(inputs[n + 1 :], None)
        self.products["hvp"](self.model, *states, inputs[n], *directions, out=self._receivers(outputs, 3))


class Columns(ArrayFunction):
    """H: its column j is H times the unit vector j, and so are the derivatives."""

    def __init__(self, quantity, model, options: tuple):
        super().__init__(quantity, without_gravity(model), options)
        self.rest = np.zeros(model.nv)

    def _columns(self, inputs) -> tuple[tuple, dict[str, Any]]:
        """Return q, v and a of all columns, and their inertias by name."""
        n, batch = self.model.nv, len(inputs[0])
        q, units = unit_vectors(n, inputs[0])
        if len(self.inputs) == 1:
            return (q, self.rest, units), {}
        which = np.repeat(np.arange(batch), n)
        return (q, self.rest, units), {"inertias": Unchecked(self.model, inputs[1], which=which)}

    def _weights(self, weights) -> np.ndarray:
        """Return the weights of all columns."""
        return np.swapaxes(weights, 1, 2).reshape(-1, self.model.nv)

    def jvp(self, inputs, outputs) -> None:
        """Compute derivatives along directions, see `Map`."""
        x, dx = inputs[: len(self.inputs)], inputs[len(self.inputs) :]
        states, inertias = self._columns(x)
        directions = np.repeat(dx[0], self.model.nv, axis=0)
        change = tf.rnea_jvp(self.model, *states, directions, None, None, **inertias)
        outputs[0][:] = change.reshape(outputs[0].shape)
        if inertias:
            outputs[0][:] += tf.crba(self.model, x[0], inertias=Unchecked(self.model, dx[1], self.rest))

    def vjp(self, inputs, outputs) -> None:
        """Compute gradients, see `Map`."""
        states, inertias = self._columns(inputs[:-1])
        weights = self._weights(inputs[-1])
        gradients = tf.rnea_vjp(self.model, *states, weights, **inertias, inertia_gradient=bool(inertias))
        for name, output in zip(("q", "inertia"), outputs, strict=False):
            each = getattr(gradients, name)
            output[:] = each.reshape(len(output), -1, *each.shape[1:]).sum(axis=1)

    def hvp(self, inputs, outputs) -> None:
        """Compute second derivatives along directions, see `Map`."""
        states, _ = self._columns(inputs[:1])
        directions = np.repeat(inputs[2], self.model.nv, axis=0)
        second = tf.rnea_hvp(self.model, *states, self._weights(inputs[1]), directions, None, None)
        outputs[0][:] = second.q.reshape(len(inputs[0]), -1, self.model.nv).sum(axis=1)


class FramePlacement(ArrayFunction):
    """Placements of frames, which move by their Jacobians."""

    def jvp(self, inputs, outputs) -> None:
        """Compute derivatives along directions, see `Map`."""
        T = tf.frame_placement(self.model, inputs[0], **self.fixed)
        outputs[0][:] = moved(T, tf.frame_velocity(self.model, *inputs, **self.fixed))

    def vjp(self, inputs, outputs) -> None:
        """Compute gradients, see `Map`."""
        q, W = inputs
        J, T = tf.frame_jacobian(self.model, q, **self.fixed, placement=True)
        outputs[0][:] = transposed_times(J, wrench_of(T, W))

    def hvp(self, inputs, outputs) -> None:
        """Compute second derivatives along directions, see `Map`."""
        q, W, dq = inputs
        T = tf.frame_placement(self.model, q, **self.fixed)
        motion = tf.frame_derivatives(self.model, q, dq, None, **self.fixed)
        change = (tf.frame_jacobian_dot(self.model, q, dq, **self.fixed) + motion.velocity_q) / 2
        outputs[0][:] = transposed_times(change, wrench_of(T, W))
        outputs[0][:] += transposed_times(motion.jacobian, second_wrench(T, W, times(motion.jacobian, dq)))


class JointPlacements(ArrayFunction):
    """Placements of all joints; forces on all bodies become generalized ones in O(n)."""

    def __init__(self, quantity, model, options: tuple):
        super().__init__(quantity, model, options)
        self.still = without_gravity(model)
        self.joints = [frame_of_joint(model, k) for k in range(model.njoints)]

    def jvp(self, inputs, outputs) -> None:
        """Compute derivatives along directions, see `Map`."""
        T = tf.joint_placements(self.model, inputs[0])
        outputs[0][:] = moved(T, tf.frame_velocity(self.model, *inputs, self.joints))

    def vjp(self, inputs, outputs) -> None:
        """Compute gradients, see `Map`."""
        q, W = inputs
        forces = wrench_of(tf.joint_placements(self.model, q), W)
        np.negative(tf.static_torque(self.still, q, forces), out=outputs[0])


class Jacobian(ArrayFunction):
    """Jacobian: its column j is the velocity at v = e_j. A subclass has the derivatives of both."""

    def vjp(self, inputs, outputs) -> None:
        """Compute gradients, see `Map`."""
        q, W = inputs
        n = self.model.nv
        V = self.velocity_q(*unit_vectors(n, q)).reshape(len(q), n, -1, n)
        outputs[0][:] = np.einsum("bjin,bij->bn", V, W.reshape(len(q), -1, n))


class FrameJacobian(Jacobian):
    """Jacobians of frames."""

    def jvp(self, inputs, outputs) -> None:
        """Compute derivatives along directions, see `Map`."""
        tf.frame_jacobian_dot(self.model, *inputs, **self.fixed, out=outputs[0])

    def velocity_q(self, q, v) -> np.ndarray:
        """Return the derivatives of velocities by q."""
        return tf.frame_derivatives(self.model, q, v, None, **self.fixed).velocity_q


class CenterOfMassJacobian(Jacobian):
    """Jacobian of the centre of mass; m times it are the linear rows of the centroidal map."""

    def jvp(self, inputs, outputs) -> None:
        """Compute derivatives along directions, see `Map`."""
        outputs[0][:] = tf.centroidal_map_dot(self.model, *inputs)[:, :3] / self.model.mass

    def velocity_q(self, q, v) -> np.ndarray:
        """Return the derivatives of velocities by q."""
        return tf.com_derivatives(self.model, q, v).velocity_q


class ByMatrices(ArrayFunction):
    """Function of vectors; a subclass has the matrices of its derivatives by each argument."""

    def jvp(self, inputs, outputs) -> None:
        """Compute derivatives along directions, see `Map`."""
        n = len(self.inputs)
        pairs = zip(self.matrices(*inputs[:n]), inputs[n:], strict=True)
        outputs[0][:] = sum(times(J, dx) for J, dx in pairs)

    def vjp(self, inputs, outputs) -> None:
        """Compute gradients, see `Map`."""
        for J, output in zip(self.matrices(*inputs[:-1]), outputs, strict=True):
            output[:] = transposed_times(J, inputs[-1])


class FrameVelocity(ByMatrices):
    """Velocities of frames."""

    def matrices(self, q, v) -> tuple[np.ndarray, ...]:
        """Return the derivatives by q and v."""
        motion = tf.frame_derivatives(self.model, q, v, None, **self.fixed)
        return motion.velocity_q, motion.jacobian


class CenterOfMass(ByMatrices):
    """Centre of mass."""

    def matrices(self, q) -> tuple[np.ndarray, ...]:
        """Return the derivative by q."""
        return (tf.center_of_mass_jacobian(self.model, q),)

    def hvp(self, inputs, outputs) -> None:
        """Compute second derivatives along directions, see `Map`."""
        q, w, dq = inputs
        change = tf.com_derivatives(self.model, q, dq).velocity_q
        change = (change + tf.centroidal_map_dot(self.model, q, dq)[:, :3] / self.model.mass) / 2
        outputs[0][:] = transposed_times(change, w)


class CentroidalMomentum(ByMatrices):
    """Momentum about the centre of mass."""

    def matrices(self, q, v) -> tuple[np.ndarray, ...]:
        """Return the derivatives by q and v."""
        momentum = tf.centroidal_derivatives(self.model, q, v, None)
        return momentum.dh_dq, momentum.dhdot_da


class Motion(ArrayFunction):
    """Step or rollout, which frameworks differentiate by forward dynamics."""

    @property
    def dynamics(self):
        """Return what computes forward dynamics: the program that computes the motion, or the model."""
        has_program = self.kernels and "forward_dynamics" in self.kernels.program.functions
        return self.kernels if has_program else self.model

    def _fixed(self) -> dict[str, Any]:
        return {name: value for name, value in super()._fixed().items() if name != "steps"}


def unit_vectors(n: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return every row of x n times, one after the other, beside the unit vectors, both (len(x) n, ...)."""
    return np.repeat(x, n, axis=0), np.tile(np.eye(n), (len(x), 1))


def skew(w: np.ndarray) -> np.ndarray:
    """Return the matrices (..., 3, 3) of the cross products with w (..., 3)."""
    matrix = np.zeros((*w.shape, 3))
    matrix[..., 2, 1], matrix[..., 0, 2], matrix[..., 1, 0] = np.moveaxis(w, -1, 0)
    matrix[..., 1, 2], matrix[..., 2, 0], matrix[..., 0, 1] = -np.moveaxis(w, -1, 0)
    return matrix


def moved(T: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """Return the derivatives of placements (..., 3, 4) along motions (..., 6) in their own axes."""
    return T[..., :3] @ np.concatenate([skew(motion[..., 3:]), motion[..., :3, None]], axis=-1)


def wrench_of(T: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return the forces (..., 6) whose power in a motion is that of W (..., 3, 4) in its `moved`."""
    M = np.swapaxes(T[..., :3], -1, -2) @ W
    turning = [M[..., 2, 1] - M[..., 1, 2], M[..., 0, 2] - M[..., 2, 0], M[..., 1, 0] - M[..., 0, 1]]
    return np.concatenate([M[..., 3], np.stack(turning, axis=-1)], axis=-1)


def second_wrench(T: np.ndarray, W: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """Return the forces of the symmetric second derivative of W . T by motions, along one motion."""
    M = np.swapaxes(T[..., :3], -1, -2) @ W
    turn, v, w = M[..., :3], motion[..., :3], motion[..., 3:]
    both = turn + np.swapaxes(turn, -1, -2)
    linear = np.cross(M[..., 3], w) / 2
    trace = np.trace(both, axis1=-2, axis2=-1)[..., None]
    angular = ((both @ w[..., None])[..., 0] - trace * w + np.cross(v, M[..., 3])) / 2
    return np.concatenate([linear, angular], axis=-1)


def times(J: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return J x, for J (batch, ..., n) and x (batch, n)."""
    rows = J.reshape(len(J), -1, J.shape[-1])
    return (rows @ x[..., None]).reshape(J.shape[:-1])


def transposed_times(J: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Return the sum of all entries f (batch, ...) times the rows of J (batch, ..., n)."""
    return (f.reshape(len(f), 1, -1) @ J.reshape(len(J), -1, J.shape[-1]))[:, 0]
