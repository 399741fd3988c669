"""Make models with other inertial parameters, which share everything that does not depend on these."""

from __future__ import annotations

import numpy as np

from .._util.validation import as_real, as_vector
from ..exceptions import InvalidModelError, NonFiniteError, ShapeError
from ._body_checks import PARAMETERS, central, faults
from .joints import SIZES, Joint, fault_of_limits, with_numbers

SHARED = (  # attributes that do not depend on inertias; reading them compiles them once
    *("loops", "name", "njoints", "nq", "nv", "idx_q", "idx_v", "gravity", "lower", "upper", "extended"),
    *("effort_limit", "velocity_limit"),
    *("coupling", "tree", "configurations", "entries", "numbers", "frames", "_given_frames"),
    *("_frames_by_name", "_shared"),
)


def as_parameters(pi, model) -> np.ndarray:
    """Return a copy of the parameters (njoints, 10) of a model's bodies; errors name the joint."""
    parameters = as_real(pi, "pi").copy()
    if parameters.shape != (model.njoints, 10):
        joints = f"10 numbers for each of {model.njoints} joints"
        raise ShapeError(
            f"expected pi of shape ({model.njoints}, 10), got {parameters.shape}: {joints}",
            parameters.shape,
            (model.njoints, 10),
        )
    if not np.isfinite(parameters).all():
        i, k = np.argwhere(~np.isfinite(parameters))[0]
        joint = (model._source or model).joints[i].name
        raise NonFiniteError(f"pi is not finite: {PARAMETERS[k]} of joint {joint!r}", row=int(i))
    return parameters


def model_with_parameters(model, pi, armature, strict: bool):
    """Return a model with other parameters: see `Model.with_parameters`."""
    own = model.armature, model._rotors
    if armature is not None:
        armature = as_vector(armature, model.nv, "armature").copy()
        own = armature, rotors_of(model, armature)
    made = changed_model(model._source or model, as_parameters(pi, model), *own)
    if strict:
        require_possible_bodies(made)
    return made


def changed_model(source, pi: np.ndarray, armature: np.ndarray, rotors: np.ndarray):
    """Return a model with other parameters that shares the rest with a model built from joints."""
    made = type(source).__new__(type(source))
    for array in (pi, armature, rotors):
        array.flags.writeable = False
    made.__dict__.update({name: getattr(source, name) for name in SHARED})
    made.__dict__.update(parameters=pi, armature=armature, _rotors=rotors, _source=source)
    made.__dict__.update(_requests={})
    return made


def rotors_of(model, armature: np.ndarray) -> np.ndarray:
    """Return the armature (..., n) of all joints' freedoms for that of v: mimic joints add nothing to it."""
    rotors = np.zeros((*armature.shape[:-1], model.extended.n))
    kept, k = np.zeros(model.extended.n, dtype=bool), 0
    for joint in (model._source or model).joints:
        count = SIZES[joint.kind][1]
        kept[k : k + count] = joint.mimic is None
        k += count
    rotors[..., kept] = armature
    return rotors


def joints_with_parameters(model) -> tuple[Joint, ...]:
    """Return the joints of a model's source with the inertias and armature of the model."""
    joints, k = [], 0
    numbers = model.parameters[:, 0].tolist(), *central(model.parameters)
    for joint, *own in zip(model._source.joints, *numbers, strict=True):
        count = SIZES[joint.kind][1]
        joints.append(with_numbers(joint, *own, model._rotors[k : k + count]))
        k += count
    return tuple(joints)


def require_possible(model) -> None:
    """Raise InvalidModelError if a body has an impossible inertia, or a joint impossible limits."""
    require_possible_bodies(model)
    for joint, reason in faults_of_limits(model).items():
        raise InvalidModelError(f"joint {joint!r}: {reason}", joint=joint)


def require_possible_bodies(model) -> None:
    """Raise InvalidModelError if a body has an impossible inertia."""
    for joint, reason in faults_of_bodies(model).items():
        raise InvalidModelError(f"body of joint {joint!r}: {reason}", joint=joint)


def faults_of_limits(model) -> dict[str, str]:
    """Return the faults of impossible limits, by the names of their joints."""
    each = ((joint.name, fault_of_limits(joint)) for joint in (model._source or model).joints)
    return {name: fault for name, fault in each if fault}


def faults_of_bodies(model) -> dict[str, str]:
    """Return the faults of impossible inertias and armature, by the names of their joints."""
    if model._source is None:
        each = ((joint.name, joint.inertia.fault()) for joint in model.joints)
        return {name: fault for name, fault in each if fault}
    faults_of = {model.joints[at].name: reason for (at,), reason in faults(model.parameters)}
    for joint in model.joints if (model._rotors < 0.0).any() else ():
        if joint.armature.min() < 0.0:
            faults_of.setdefault(joint.name, f"armature {joint.armature.min():.3g} is negative")
    return faults_of
