"""Offer Pinocchio to the comparison of engines; the other engines are compared with it.

q and v are Pinocchio's: a free joint has the position of the link's origin and a quaternion x y z w, and
linear and angular velocity in the axes of the link; a continuous joint has (cos, sin). Accelerations of a
free joint are spatial, in the axes of the link. Units are SI. Links on fixed joints are merged into their
parents, and keep their frames.
"""

from __future__ import annotations

from . import requires

with requires("Pinocchio", "pinocchio"):
    import pinocchio as pin

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.protocol import MIMIC, Base, EngineJoint
from .._util.validation import as_vector
from .._util.xml import NOT_WELL_FORMED, as_path, elements
from ..exceptions import AdapterError, InvalidModelError
from ._pinocchio_cholesky import decompose
from .pinocchio_ import built
from .pinocchio_ import mass_matrix as mass_matrix_of

NAME = "Pinocchio"
READS, DTYPE, COUPLES = ("urdf", "mjcf"), "float64", True
OPTIONS = {
    "rotor_energy": "leaves the armature of joints whose axis is not +x, +y or +z out of the kinetic energy",
    "root_link": "leaves the root link of a fixed base out of masses, centre of mass and energies",
}
CONVENTIONS = frozenset({"root_link"})

WORLD_AXES = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
KINDS: dict[str, Any] = {  # kind of a joint by the end of the name of its class in Pinocchio
    **dict.fromkeys(("RX", "RY", "RZ", "RevoluteUnaligned"), "revolute"),
    **dict.fromkeys(("RUBX", "RUBY", "RUBZ", "RevoluteUnboundedUnaligned"), "revolute"),
    **dict.fromkeys(("PX", "PY", "PZ", "PrismaticUnaligned"), "prismatic"),
    **{"Spherical": "spherical", "Planar": "planar", "FreeFlyer": "free"},
}
PREFIX = "Composite_"  # Pinocchio's name of the one joint it makes from all joints of an MJCF body


@dataclass(eq=False)
class Body:
    """Model of Pinocchio with the data it is evaluated in, and what its options add to the energies."""

    model: pin.Model
    data: pin.Data
    root: pin.Inertia  # of the links that are fixed to the world, zero without the option root_link
    joints: tuple[EngineJoint, ...]
    rotors: np.ndarray  # armature left out of the kinetic energy, zero without the option rotor_energy

    def close(self) -> None:
        """Do nothing: Pinocchio frees its memory with the last reference."""

    @property
    def mass(self) -> float:
        """Mass of all bodies that move."""
        return sum(Y.mass for Y in list(self.model.inertias)[1:])


@contextmanager
def _supported() -> Iterator[None]:
    """Raise AdapterError where Pinocchio has no algorithm for mimic joints."""
    try:
        yield
    except RuntimeError as error:
        if "does not support" not in str(error):
            raise
        raise AdapterError(f"Pinocchio has none with mimic joints: {error}", NAME) from error


def load(path, floating: bool, gravity, options: frozenset[str] = frozenset()) -> Body:
    """Load a URDF or an MJCF as scripts do; raise AdapterError if Pinocchio refuses the file."""
    path = as_path(path, "pinocchio")
    model = built(path, floating, MIMIC in options)
    if gravity is not None:
        model.gravity.linear = as_vector(gravity, 3, "gravity")
    root = model.inertias[0] if "root_link" in options else pin.Inertia.Zero()
    coupled = not all(list(model.nvs)[1:])  # Pinocchio has no energy of such models
    rotors = _rotors_at_rest(model) if "rotor_energy" in options and not coupled else np.zeros(model.nv)
    return Body(model, model.createData(), root, _joints(model, _joints_of_bodies(path)), rotors)


def joints(body: Body) -> tuple[EngineJoint, ...]:
    """Return the joints; a joint made of several joints of an MJCF is divided into them."""
    return body.joints


def base(body: Body) -> Base:
    """Return Pinocchio's convention: that of the protocol."""
    return Base()


def mass_matrix(body: Body, q) -> np.ndarray:
    """Return H by Pinocchio's CRBA, armature included."""
    return mass_matrix_of(body.model, body.data, q)


def bias(body: Body, q, v) -> np.ndarray:
    """Return Coriolis, centrifugal and gravity forces."""
    return np.array(pin.nle(body.model, body.data, q, v))


def gravity_forces(body: Body, q) -> np.ndarray:
    """Return the forces of gravity."""
    return np.array(pin.computeGeneralizedGravity(body.model, body.data, q))


def inverse_dynamics(body: Body, q, v, a) -> np.ndarray:
    """Return the forces by the recursive Newton-Euler algorithm."""
    return np.array(pin.rnea(body.model, body.data, q, v, a))


@_supported()
def acceleration(body: Body, q, v, tau) -> np.ndarray:
    """Return q̈ by the articulated-body algorithm."""
    return np.array(pin.aba(body.model, body.data, q, v, tau))


def frames(body: Body) -> tuple[str, ...]:
    """Return the links."""
    return tuple(frame.name for frame in body.model.frames if frame.type == pin.FrameType.BODY)


def placement(body: Body, q, frame: str) -> np.ndarray:
    """Return the pose of a link."""
    pin.forwardKinematics(body.model, body.data, q)
    return np.array(pin.updateFramePlacement(body.model, body.data, _frame(body, frame)).homogeneous)


def jacobian(body: Body, q, frame: str) -> np.ndarray:
    """Return the Jacobian of a link in the axes of the world."""
    if not body.model.nv:  # Pinocchio's getFrameJacobian crashes
        return np.zeros((6, 0))
    J = pin.computeFrameJacobian(body.model, body.data, q, _frame(body, frame), WORLD_AXES)
    return np.reshape(J, (6, body.model.nv))  # one column comes as a vector


@_supported()
def jacobian_dot_v(body: Body, q, v, frame: str) -> np.ndarray:
    """Return the acceleration of a link where the freedoms have none."""
    pin.forwardKinematics(body.model, body.data, q, v, np.zeros(body.model.nv))
    number = _frame(body, frame)
    return np.array(pin.getFrameClassicalAcceleration(body.model, body.data, number, WORLD_AXES).vector)


@_supported()
def com(body: Body, q) -> np.ndarray:
    """Return the centre of mass; raise InvalidModelError without mass."""
    mass, root = body.mass, body.root
    if not mass + root.mass:
        raise InvalidModelError("the robot has no mass, and no centre of mass")
    moment = mass * np.array(pin.centerOfMass(body.model, body.data, q)) if mass else np.zeros(3)
    return (moment + root.mass * root.lever) / (mass + root.mass)


@_supported()
def momentum(body: Body, q, v) -> np.ndarray:
    """Return momentum and angular momentum about `com`."""
    if not body.mass:
        return np.zeros(6)
    h = np.array(pin.computeCentroidalMomentum(body.model, body.data, q, v).vector)
    h[3:] += np.cross(np.array(body.data.com[0]) - com(body, q), h[:3])
    return h


@_supported()
def kinetic_energy(body: Body, q, v) -> float:
    """Return the kinetic energy."""
    own = pin.computeKineticEnergy(body.model, body.data, q, v)
    return float(own + body.rotors @ np.square(v) / 2.0)


def potential_energy(body: Body, q) -> float:
    """Return the energy of gravity."""
    own = -body.root.mass * (body.model.gravity.linear @ body.root.lever)
    return float(pin.computePotentialEnergy(body.model, body.data, q) + own)


@_supported()
def rnea_derivatives(body: Body, q, v, a) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives of inverse dynamics by q and by v."""
    by_q, by_v, _ = pin.computeRNEADerivatives(body.model, body.data, q, v, a)
    return by_q.copy(), by_v.copy()


@_supported()
def factors(body: Body, q) -> tuple[np.ndarray, np.ndarray]:
    """Return the transpose of Pinocchio's U, and D."""
    mass_matrix(body, q)
    U = decompose(body.model, body.data)
    return np.reshape(U, (body.model.nv, -1)).T.copy(), np.array(body.data.D)


def _frame(body: Body, name: str) -> int:
    return body.model.getFrameId(name, pin.FrameType.BODY)


def _rotors_at_rest(model: pin.Model) -> np.ndarray:
    """Return the armature of the freedoms that have the same kinetic energy without it."""
    data, q, armature = model.createData(), pin.neutral(model), np.array(model.armature)
    bare, at_rest = model.copy(), np.zeros(model.nv)
    bare.armature = np.zeros(model.nv)
    for k, v in enumerate(np.eye(model.nv)):
        felt = pin.computeKineticEnergy(model, data, q, v) - pin.computeKineticEnergy(bare, data, q, v)
        at_rest[k] = armature[k] if felt < armature[k] / 4.0 else 0.0
    return at_rest


def _joints(model: pin.Model, by_body: dict[str, list[str]]) -> tuple[EngineJoint, ...]:
    """Return the joints of a model; ``by_body`` has the names of an MJCF."""
    bodies = {f.parentJoint: f.name for f in reversed(model.frames) if f.type == pin.FrameType.BODY}
    engine_joints, last = list[EngineJoint](), [-1]  # last by the joint of Pinocchio
    for j in range(1, model.njoints):
        name, q, v = model.names[j], model.idx_qs[j], model.idx_vs[j]
        joint, parent, carried = model.joints[j], last[model.parents[j]], bodies.get(j, "")
        if not model.nvs[j]:  # it follows another joint
            last.append(parent)
            continue
        parts = list(joint.extract().joints) if joint.shortname() == "JointModelComposite" else [joint]
        names = [name]
        if len(parts) > 1:
            names = by_body.get(carried, [])
            if len(names) != len(parts):
                names = [f"{name.removeprefix(PREFIX)}[{k}]" for k in range(len(parts))]
        for part, own in zip(parts, names, strict=True):
            entries = slice(q, q + part.nq), slice(v, v + part.nv)
            kind = KINDS.get(part.shortname().removeprefix("JointModel"), "other")
            engine_joints.append(EngineJoint(own, kind, parent, *entries, body=carried))
            parent, q, v = len(engine_joints) - 1, q + part.nq, v + part.nv
        last.append(parent)
    return tuple(engine_joints)


def _joints_of_bodies(path) -> dict[str, list[str]]:
    """Return the names of the joints of every body of an MJCF, those made up by Pinocchio included.

    There are none in a file that Pinocchio alone reads: it accepts text that is not well-formed.
    """
    with suppress(*NOT_WELL_FORMED):
        return {
            body.get("name", ""): [
                joint.get("name") or f"{body.get('name', '')}Joint_{k}"
                for k, joint in enumerate(body.iterfind("joint"))
            ]
            for body in elements(path.read_bytes()).iter("body")
        }
    return {}
