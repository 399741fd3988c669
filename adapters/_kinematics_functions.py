"""Array functions of kinematics: placements, Jacobians and momenta with their derivatives.

The motion of a frame along dq is J dq, in its own axes; T = [R | p] changes by [R w x | R v]. Second
derivatives follow from two arrays: D, the derivative of J along dq (`frame_jacobian_dot` at v = dq), and V,
the derivative of J dq by q (``velocity_q`` of `frame_derivatives`); half their sum is symmetric.
"""

from __future__ import annotations

import numpy as np

from .. import dynamics, kinematics
from ..derivatives import kinematics as kinematic_derivatives
from ..model.frames import Frame, frame_of_joint, index_of
from ..model.gravity import without_gravity
from ..model.model import Model
from ._dynamics_functions import configuration_of, matrix, vector
from ._maps import ArrayFunction, unit_vectors


def skew(w: np.ndarray) -> np.ndarray:
    """Return the matrices (..., 3, 3) of the cross products with w (..., 3)."""
    found = np.zeros((*w.shape, 3))
    found[..., 2, 1], found[..., 0, 2], found[..., 1, 0] = np.moveaxis(w, -1, 0)
    found[..., 1, 2], found[..., 2, 0], found[..., 0, 1] = -np.moveaxis(w, -1, 0)
    return found


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


def _times(J: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return J x, for J (batch, ..., n) and x (batch, n)."""
    rows = J.reshape(len(J), -1, J.shape[-1])
    return (rows @ x[..., None]).reshape(J.shape[:-1])


def _transposed_times(J: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Return the sum of all entries f (batch, ...) times the rows of J (batch, ..., n)."""
    return (f.reshape(len(f), 1, -1) @ J.reshape(len(J), -1, J.shape[-1]))[:, 0]


def _by_columns(V: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return the gradients (batch, n) of W . J, with V (batch n, ..., n) the derivatives of columns by q."""
    batch, n = len(W), W.shape[-1]
    return np.einsum("bjin,bij->bn", V.reshape(batch, n, -1, n), W.reshape(batch, -1, n))


def hashable_frames(frame):
    """Return a frame as a name, an int or a Frame, and several as a tuple of these: options are keys."""
    if isinstance(frame, (list, tuple)):
        return tuple(_hashable_frame(one) for one in frame)
    return _hashable_frame(frame)


def _hashable_frame(frame):
    return frame if isinstance(frame, (str, Frame)) else index_of(frame, "frame")


def _frames(frame) -> tuple[object, tuple[int, ...]]:
    """Return frames as the kinematics take them, and the axis that a list of them adds."""
    return (list(frame), (len(frame),)) if isinstance(frame, tuple) else (frame, ())


def _frame_placement(model: Model, options: tuple, frame) -> ArrayFunction:
    frame, axis = _frames(frame)

    def run_value(inputs, outputs):
        kinematics.frame_placement(model, inputs[0], frame, out=outputs[0])

    def run_jvp(inputs, outputs):
        q, dq = inputs
        outputs[0][:] = moved(
            kinematics.frame_placement(model, q, frame), kinematics.frame_velocity(model, q, dq, frame)
        )

    def run_vjp(inputs, outputs):
        q, W = inputs
        J, T = kinematics.frame_jacobian(model, q, frame, placement=True)
        outputs[0][:] = _transposed_times(J, wrench_of(T, W))

    def run_hvp(inputs, outputs):
        q, W, dq = inputs
        found = kinematic_derivatives.frame_derivatives(model, q, dq, np.zeros(model.nv), frame)
        T, J = kinematics.frame_placement(model, q, frame), found.jacobian
        change = (kinematics.frame_jacobian_dot(model, q, dq, frame) + found.velocity_q) / 2
        outputs[0][:] = _transposed_times(change, wrench_of(T, W))
        outputs[0][:] += _transposed_times(J, second_wrench(T, W, _times(J, dq)))

    runs = {"value": run_value, "jvp": run_jvp, "vjp": run_vjp, "hvp": run_hvp}
    outputs = [matrix("placement", (*axis, 3, 4))]
    return ArrayFunction("frame_placement", model, options, [configuration_of(model)], outputs, runs)


def _frame_jacobian(model: Model, options: tuple, frame, reference: str = "LOCAL") -> ArrayFunction:
    """Build the Jacobian of frames: its column j is the velocity at v = e_j."""
    frame, axis = _frames(frame)
    n = model.nv

    def run_value(inputs, outputs):
        kinematics.frame_jacobian(model, inputs[0], frame, reference, out=outputs[0])

    def run_jvp(inputs, outputs):
        kinematics.frame_jacobian_dot(model, *inputs, frame, reference, out=outputs[0])

    def run_vjp(inputs, outputs):
        q, W = inputs
        rows, units = unit_vectors(n, len(q), q)
        V = kinematic_derivatives.frame_derivatives(
            model, rows, units, np.zeros(n), frame, reference
        ).velocity_q
        outputs[0][:] = _by_columns(V, W)

    runs = {"value": run_value, "jvp": run_jvp, "vjp": run_vjp}
    outputs = [matrix("J", (*axis, 6, n))]
    return ArrayFunction("frame_jacobian", model, options, [configuration_of(model)], outputs, runs)


def _frame_velocity(model: Model, options: tuple, frame, reference: str = "LOCAL") -> ArrayFunction:
    frame, axis = _frames(frame)

    def matrices(q, v):
        found = kinematic_derivatives.frame_derivatives(model, q, v, np.zeros(model.nv), frame, reference)
        return found.velocity_q, found.jacobian

    def run_value(inputs, outputs):
        kinematics.frame_velocity(model, *inputs, frame, reference, out=outputs[0])

    inputs = [configuration_of(model), vector(model, "v")]
    return _by_matrices("frame_velocity", model, options, inputs, (*axis, 6), run_value, matrices)


def _by_matrices(name, model, options, inputs, shape, run_value, matrices) -> ArrayFunction:
    """Build a function of vectors from the matrices of its derivatives by each argument."""
    count = len(inputs)

    def run_jvp(arrays, outputs):
        found = zip(matrices(*arrays[:count]), arrays[count:], strict=True)
        outputs[0][:] = sum(_times(J, dx) for J, dx in found)

    def run_vjp(arrays, outputs):
        for J, output in zip(matrices(*arrays[:count]), outputs, strict=True):
            output[:] = _transposed_times(J, arrays[count])

    runs = {"value": run_value, "jvp": run_jvp, "vjp": run_vjp}
    return ArrayFunction(name, model, options, inputs, [matrix(name, shape)], runs)


def _center_of_mass(model: Model, options: tuple) -> ArrayFunction:
    """Build the centre of mass; m times its Jacobian are the linear rows of the centroidal map."""

    def run_value(inputs, outputs):
        kinematics.center_of_mass(model, inputs[0], out=outputs[0])

    def matrices(q):
        return (kinematics.center_of_mass_jacobian(model, q),)

    found = _by_matrices(
        "center_of_mass", model, options, [configuration_of(model)], (3,), run_value, matrices
    )

    def run_hvp(inputs, outputs):
        q, w, dq = inputs
        change = kinematic_derivatives.com_derivatives(model, q, dq).velocity_q
        change = (change + kinematics.centroidal_map_dot(model, q, dq)[:, :3] / model.mass) / 2
        outputs[0][:] = _transposed_times(change, w)

    runs = {kind: one.run for kind, one in found.maps.items()} | {"hvp": run_hvp}
    return ArrayFunction("center_of_mass", model, options, found.inputs, found.outputs, runs)


def _center_of_mass_jacobian(model: Model, options: tuple) -> ArrayFunction:
    n = model.nv

    def run_value(inputs, outputs):
        kinematics.center_of_mass_jacobian(model, inputs[0], out=outputs[0])

    def run_jvp(inputs, outputs):
        outputs[0][:] = kinematics.centroidal_map_dot(model, *inputs)[:, :3] / model.mass

    def run_vjp(inputs, outputs):
        q, W = inputs
        rows, units = unit_vectors(n, len(q), q)
        V = kinematic_derivatives.com_derivatives(model, rows, units).velocity_q
        outputs[0][:] = _by_columns(V, W)

    runs = {"value": run_value, "jvp": run_jvp, "vjp": run_vjp}
    outputs = [matrix("J", (3, n))]
    return ArrayFunction("center_of_mass_jacobian", model, options, [configuration_of(model)], outputs, runs)


def _joint_placements(model: Model, options: tuple) -> ArrayFunction:
    """Build the placements of all joints; forces on all bodies become generalized ones in O(n)."""
    still, joints = without_gravity(model), [frame_of_joint(model, k) for k in range(model.njoints)]

    def run_value(inputs, outputs):
        kinematics.joint_placements(model, inputs[0], out=outputs[0])

    def run_jvp(inputs, outputs):
        q, dq = inputs
        outputs[0][:] = moved(
            kinematics.joint_placements(model, q), kinematics.frame_velocity(model, q, dq, joints)
        )

    def run_vjp(inputs, outputs):
        q, W = inputs
        forces = wrench_of(kinematics.joint_placements(model, q), W)
        np.negative(dynamics.static_torque(still, q, forces), out=outputs[0])

    runs = {"value": run_value, "jvp": run_jvp, "vjp": run_vjp}
    outputs = [matrix("placements", (model.njoints, 3, 4))]
    return ArrayFunction("joint_placements", model, options, [configuration_of(model)], outputs, runs)


def _centroidal_momentum(model: Model, options: tuple) -> ArrayFunction:
    def run_value(inputs, outputs):
        kinematics.centroidal_momentum(model, *inputs, out=outputs[0])

    def matrices(q, v):
        found = kinematic_derivatives.centroidal_derivatives(model, q, v, np.zeros(model.nv))
        return found.dh_dq, found.dhdot_da

    inputs = [configuration_of(model), vector(model, "v")]
    return _by_matrices("centroidal_momentum", model, options, inputs, (6,), run_value, matrices)


BUILDERS = {
    "frame_placement": _frame_placement,
    "frame_jacobian": _frame_jacobian,
    "frame_velocity": _frame_velocity,
    "center_of_mass": _center_of_mass,
    "center_of_mass_jacobian": _center_of_mass_jacobian,
    "joint_placements": _joint_placements,
    "centroidal_momentum": _centroidal_momentum,
}
