"""Compute derivatives by Pinocchio, the values that they differentiate, and corrections of its errors.

Results have the keys of `treefactor.check.derivatives.errors`: names of a quantity and of an argument.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pinocchio as pin

from ..exceptions import AdapterError

REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")
TURNING = ("Universal", "SphericalZYX", "Composite", "Ellipsoid")  # joints whose motions S depend on q
Matrices = dict[tuple[str, str], np.ndarray]


def derivatives(model: pin.Model, q, v, a, tau, frame: str) -> tuple[Matrices, dict[str, str]]:
    """Return Pinocchio's derivatives, and by the first letters of names why it has none of them.

    Parameters
    ----------
    model : pinocchio.Model
    q, v, a, tau : ndarray
    frame : str
        Name of the frame whose velocity V and acceleration A are differentiated.
    """
    matrices: Matrices = {}
    refused: dict[str, str] = {}
    data = model.createData()
    forces, accelerations = ("q", "v", "a"), ("q", "v", "τ")
    centroidal = (("h", "q"), ("ḣ", "q"), ("ḣ", "v"), ("ḣ", "a"))
    for names, compute in (
        ([("τ", by) for by in forces], lambda: pin.computeRNEADerivatives(model, data, q, v, a)),
        ([("q̈", by) for by in accelerations], lambda: pin.computeABADerivatives(model, data, q, v, tau)),
        (centroidal, lambda: pin.computeCentroidalDynamicsDerivatives(model, data, q, v, a)),
    ):
        try:
            result = compute()
            matrices |= {
                key: _copy(X, model) for key, X in zip(names, result, strict=True)
            }  # they are views of data
        except RuntimeError as error:
            refused |= {name: str(error) for name, _ in names}
    try:
        pin.computeForwardKinematicsDerivatives(model, data, q, v, a)
        for reference in REFERENCES:
            matrices |= _of_frame(model, data, model.getFrameId(frame), reference)
    except RuntimeError as error:
        refused |= {f"{name} {reference}": str(error) for reference in REFERENCES for name in "VA"}
    return matrices, refused


def _of_frame(model: pin.Model, data: pin.Data, frame: int, reference: str) -> Matrices:
    """Return the derivatives of the velocity and the acceleration of a frame."""
    axes = pin.ReferenceFrame.names[reference]
    velocity = pin.getFrameVelocityDerivatives(model, data, frame, axes)
    acceleration = pin.getFrameAccelerationDerivatives(model, data, frame, axes)[1:]  # the velocity's first
    of_velocity = {(f"V {reference}", by): _copy(X, model) for by, X in zip("qv", velocity, strict=True)}
    return of_velocity | {
        (f"A {reference}", by): _copy(X, model) for by, X in zip("qva", acceleration, strict=True)
    }


def _copy(X: np.ndarray, model: pin.Model) -> np.ndarray:
    """Return a copy of a view of data, whose columns Pinocchio flattens if there is one only."""
    return np.array(X).reshape(-1, model.nv)


def values(model: pin.Model, q, v, a, tau, frame: str) -> dict[str, np.ndarray]:
    """Return tau, q̈ where Pinocchio has it, V and A in all references, the momentum h and its rate ḣ."""
    data = model.createData()
    quantities = {"τ": np.array(pin.rnea(model, data, q, v, a))}
    with suppress(RuntimeError):  # a model with mimic joints
        quantities["q̈"] = np.array(pin.aba(model, data, q, v, tau))
    pin.forwardKinematics(model, data, q, v, a)
    pin.updateFramePlacements(model, data)
    for reference in REFERENCES:
        place = model.getFrameId(frame), pin.ReferenceFrame.names[reference]
        quantities[f"V {reference}"] = pin.getFrameVelocity(model, data, *place).vector.copy()
        quantities[f"A {reference}"] = pin.getFrameAcceleration(model, data, *place).vector.copy()
    pin.computeCentroidalMomentumTimeVariation(model, data, q, v, a)
    return quantities | {"h": data.hg.vector.copy(), "ḣ": data.dhg.vector.copy()}


def with_frame(model: pin.Model, name: str, R: np.ndarray, p: np.ndarray) -> pin.Model:
    """Copy a model and add a frame on the body that most freedoms move."""
    result = model.copy()
    joint = max(range(model.njoints), key=lambda j: sum(model.nvs[k] for k in model.supports[j]))
    result.addFrame(pin.Frame(name, joint, 0, pin.SE3(R, p), pin.FrameType.OP_FRAME))
    return result


def turning_joints(model: pin.Model) -> list[str]:
    """Return the joints whose motions S depend on q; derivatives by q and v treat them as constant."""
    return [
        model.names[j]
        for j in range(1, model.njoints)
        if model.joints[j].shortname().removeprefix("JointModel") in TURNING and model.nvs[j] > 1
    ]


def inner_joints(model: pin.Model) -> list[str]:
    """Return the joints with several freedoms of rotation that are not at the root."""
    kinds = ("Spherical", "Planar", "FreeFlyer")
    return [
        model.names[j]
        for j in range(1, model.njoints)
        if model.joints[j].shortname().removeprefix("JointModel") in kinds and model.parents[j]
    ]


def split_joints(model: pin.Model) -> pin.Model:
    """Copy a model; every joint whose motions depend on q becomes a chain of joints with constant motions.

    q and v stay as they are.

    Raises
    ------
    AdapterError
        If a joint is not such a chain; names it.
    """
    result, last = pin.Model(), [0]
    result.name, result.gravity.linear = model.name, model.gravity.linear.copy()
    for j in range(1, model.njoints):
        at = last[model.parents[j]]
        parts = _parts(model.joints[j], model.jointPlacements[j])
        for k, (joint, placement) in enumerate(parts):
            at = result.addJoint(at, joint, placement, f"{model.names[j]}[{k}]" if k else model.names[j])
        last.append(at)
        result.appendBodyToJoint(at, model.inertias[j], pin.SE3.Identity())
    for frame in model.frames[1:]:
        if frame.type == pin.FrameType.OP_FRAME:
            result.addFrame(
                pin.Frame(frame.name, last[frame.parentJoint], 0, frame.placement, pin.FrameType.OP_FRAME)
            )
    result.armature = np.array(model.armature)
    return result


def _parts(joint, placement: pin.SE3) -> list[tuple]:
    """Return the joints with constant motions that make up one, and their placements."""
    kind = joint.shortname().removeprefix("JointModel")
    if kind == "Composite":
        whole = joint.extract()
        inner = zip(whole.joints, whole.jointPlacements, strict=True)
        parts = [part for inner_joint, P in inner for part in _parts(inner_joint, P)]
        return [(parts[0][0], placement * parts[0][1]), *parts[1:]]
    if kind == "SphericalZYX":
        axes = (pin.JointModelRZ(), pin.JointModelRY(), pin.JointModelRX())
    elif kind == "Universal":
        whole = joint.extract()
        axes = tuple(pin.JointModelRevoluteUnaligned(axis) for axis in (whole.axis1, whole.axis2))
    elif kind in TURNING:
        raise AdapterError(f"a joint of type {kind} is not a chain of joints with constant motions")
    else:
        axes = (joint,)
    return [(axis, pin.SE3.Identity() if k else placement) for k, axis in enumerate(axes)]


def from_local(model: pin.Model, q, v, a, frame: str) -> np.ndarray:
    """Return the derivative by q of the acceleration in WORLD, from Pinocchio's in LOCAL, which is right."""
    data, number = _at_state(model, q, v, a), model.getFrameId(frame)
    pin.computeForwardKinematicsDerivatives(model, data, q, v, a)
    local = _of_frame(model, data, number, "LOCAL")["A LOCAL", "q"]
    data = _at_state(model, q, v, a)
    A, S = pin.getFrameAcceleration(model, data, number, pin.WORLD), _jacobian(model, q, frame)
    return data.oMf[number].action @ local + np.stack([pin.Motion(s).cross(A).vector for s in S.T], axis=-1)


def aligned(model: pin.Model, q, v, a, frame: str, name: str, in_world: np.ndarray) -> np.ndarray:
    """Return the derivative by q in LOCAL_WORLD_ALIGNED from that in WORLD: moved, plus ω or α × ∂p/∂q."""
    data, columns = _at_state(model, q, v, a), moved(model, q, frame, in_world)
    get = pin.getFrameVelocity if name == "V" else pin.getFrameAcceleration
    angular = get(model, data, model.getFrameId(frame), pin.WORLD).angular
    columns[:3] += np.cross(angular, moved(model, q, frame, _jacobian(model, q, frame))[:3].T).T
    return columns


def moved(model: pin.Model, q, frame: str, in_world: np.ndarray) -> np.ndarray:
    """Return columns of motions in WORLD moved to the origin of a frame."""
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    columns = np.array(in_world)
    columns[:3] += np.cross(in_world[3:].T, data.oMf[model.getFrameId(frame)].translation).T
    return columns


def _at_state(model: pin.Model, q, v, a) -> pin.Data:
    """Return data with placements, velocities and accelerations."""
    data = model.createData()
    pin.forwardKinematics(model, data, q, v, a)
    pin.updateFramePlacements(model, data)
    return data


def _jacobian(model: pin.Model, q, frame: str) -> np.ndarray:
    """Return the Jacobian of a frame in WORLD."""
    J = pin.computeFrameJacobian(model, model.createData(), q, model.getFrameId(frame), pin.WORLD)
    return np.array(J).reshape(6, model.nv)
