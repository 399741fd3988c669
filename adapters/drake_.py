"""Compute the dynamics of a robot by Drake, to compare engines.

q and v are the positions and velocities of a continuous-time ``MultibodyPlant``, laid out as `joints` and
`base` declare. A floating body has its quaternion w x y z and the position of its origin in q; in v its
angular velocity and that of the origin, both in world axes. A continuous joint has one angle.

Accelerations are the derivatives of v: classical, not spatial. Units are SI. The reflected inertia of
actuators is part of H. Joint damping and springs are ``passive``: they are no part of `bias`, but act on
`acceleration`. In continuous time Drake has no limits and couplers (mimic); without geometry, no contacts.
"""

from __future__ import annotations

from . import requires

with requires("Drake", "drake"):
    from pydrake.multibody import tree as multibody
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path

import numpy as np

from .._util.engine_objects import require_object
from .._util.protocol import Base, EngineJoint
from .._util.validation import Sealed, as_vector
from .._util.xml import NOT_WELL_FORMED, as_path, content_of, elements, numbers, part_error
from ..exceptions import AdapterError
from ..model._urdf import read
from ..model.joints import Inertia
from . import _drake_settings
from ._accelerations import accelerator_of, tree_of
from ._drake_settings import passive as passive
from ._refusals import refusals, unwarned
from ._translation import translation_of

NAME = "Drake"
READS, DTYPE = ("urdf", "mjcf", "sdf"), "float64"
OPTIONS = {"keep_inertia": "replaces an impossible inertia by that of a ball of water, of 1 kg without mass"}
KINDS = {"quaternion_floating": "free", "revolute": "revolute", "prismatic": "prismatic", "planar": "planar"}
# joint types that Drake reads from URDFs
TYPES = ("revolute", "continuous", "prismatic", "fixed", "planar", "floating")
LITTLE = 1e-16  # kg, of a link without mass: Drake holds an inertia as a mass and the inertia over it


class Body(Sealed, AbstractContextManager):
    """Finalized plant of continuous time, perhaps part of a diagram, with ``context``, ``nq`` and ``nv``.

    Its parameters are those of another context of the plant. Every evaluation changes it, because it writes
    into its context. Raises AdapterError for a plant of another kind.

    Notes
    -----
    Thread-compatible.
    """

    def __init__(self, plant: MultibodyPlant, context=None):
        files = "drake_.load(path) reads a file"
        require_object(plant, MultibodyPlant, "plant", "a pydrake MultibodyPlant", files)
        if not plant.is_finalized() or plant.time_step() > 0.0:
            raise AdapterError("the plant must be finalized, and of continuous time (time_step 0)", "drake")
        own = plant.CreateDefaultContext()
        if context is not None:
            own.SetTimeStateAndParametersFrom(context)
        self._keep(plant=plant, context=own, nq=plant.num_positions(), nv=plant.num_velocities())

    def __exit__(self, *exception) -> None:
        """Do nothing: Drake frees its memory with the last reference."""

    def at(self, q, v=None):
        """Set the context to a state, at rest by default, and return it."""
        v = np.zeros(self.nv) if v is None else as_vector(v, self.nv, "v")
        self.plant.SetPositions(self.context, as_vector(q, self.nq, "q"))
        self.plant.SetVelocities(self.context, v)
        return self.context


def load(path, floating: bool = False, gravity=(0.0, 0.0, -9.81), options=frozenset()) -> Body:
    """Load a URDF, SDF or MJCF with a parser that only warns; meshes are not read.

    Drake takes a link called "world" for the world itself, replaces impossible inertias, and adds the
    reflected inertia of rotors. An MJCF has its own base. ``OPTIONS`` concern URDFs; a gravity of None is the
    file's. Raises AdapterError for a file that is missing, malformed or refused by Drake.
    """
    path, plant = as_path(path, "drake"), MultibodyPlant(time_step=0.0)
    content_of(path, "drake")  # raises an error if it cannot be read
    _assemble(plant, path, floating, gravity)
    body = Body(plant)
    if "keep_inertia" in options and path.suffix == ".urdf":
        for name, inertia in read(path, "drake", TYPES).links.items():
            if plant.HasBodyNamed(name) and (inertia.mass or inertia.tensor.any()):
                _set_inertia(plant.GetBodyByName(name), body.context, inertia)
    return body


def _assemble(plant: MultibodyPlant, path: Path, floating: bool, gravity, text: str | None = None) -> None:
    """Parse a file, or other text of it in URDF, into a plant; fix its base, set gravity, and finalize it."""
    with refusals("drake", "Drake cannot load it", path, text), unwarned("drake"):
        _require_limits(path)
        parser = Parser(plant=plant)
        parser.AddModels(str(path)) if text is None else parser.AddModelsFromString(text, "urdf")
        if plant.num_bodies() == 1:  # the world
            raise RuntimeError("Drake finds no link in it")
        carried = [plant.get_joint(index).child_body().name() for index in plant.GetJointIndices()]
        carried += _floating_links(path, text) if not floating else []
        for link in _links(plant) if not floating and path.suffix != ".xml" else ():
            if link.name() not in carried:
                plant.WeldFrames(plant.world_frame(), link.body_frame())
        if gravity is not None:
            plant.mutable_gravity_field().set_gravity_vector(as_vector(gravity, 3, "gravity"))
        plant.Finalize()


def joints(body: Body) -> list[EngineJoint]:
    """Return the joints with freedoms, in the order of v; in a plant they may point towards the world."""
    plant, engine_joints = body.plant, []
    moving = [joint for joint in map(plant.get_joint, plant.GetJointIndices()) if joint.num_velocities()]
    moving.sort(key=lambda joint: joint.velocity_start())
    moved = [set(plant.GetBodiesKinematicallyAffectedBy([joint.index()])) for joint in moving]
    for joint, bodies in zip(moving, moved, strict=True):
        carriers = [k for k, others in enumerate(moved) if others > bodies]
        parent = min(carriers, key=lambda k: len(moved[k]), default=-1)
        q, v = joint.position_start(), joint.velocity_start()
        ends = slice(q, q + joint.num_positions()), slice(v, v + joint.num_velocities())
        engine_joints.append(EngineJoint(joint.name(), KINDS.get(joint.type_name(), "other"), parent, *ends))
    return engine_joints


def base(body: Body) -> Base:
    """Return the convention of a floating body."""
    return Base(order="angular-linear", linear="world", angular="world", pose="wxyz p")


def mass_matrix(body: Body, q) -> np.ndarray:
    """Compute the joint-space inertia matrix H, reflected inertia included, shape (nv, nv)."""
    return body.plant.CalcMassMatrix(body.at(q))


def bias(body: Body, q, v) -> np.ndarray:
    """Compute Coriolis, centrifugal and gravity forces, in N m and N, shape (nv,)."""
    context = body.at(q, v)
    return body.plant.CalcBiasTerm(context) - body.plant.CalcGravityGeneralizedForces(context)


def gravity_forces(body: Body, q) -> np.ndarray:
    """Compute the bias at rest, in N m and N, shape (nv,)."""
    return -body.plant.CalcGravityGeneralizedForces(body.at(q))


def inverse_dynamics(body: Body, q, v, a) -> np.ndarray:
    """Compute forces H a + bias by Drake's recursion, in N m and N, shape (nv,)."""
    context, none = body.at(q, v), multibody.MultibodyForces(body.plant)
    force = body.plant.CalcInverseDynamics(context, as_vector(a, body.nv, "a"), none)
    return force - body.plant.CalcGravityGeneralizedForces(context)


tree = tree_of(joints)
forward_dynamics = accelerator_of(mass_matrix, bias, tree)
transform, acceleration_offset, from_pinocchio = translation_of(joints, base, "drake")


def acceleration(body: Body, q, v, tau) -> np.ndarray:
    """Compute q̈ by Drake alone, ``passive`` forces included, shape (nv,); needs a plant without geometry."""
    port = body.plant.get_applied_generalized_force_input_port()
    port.FixValue(body.context, as_vector(tau, body.nv, "tau"))
    with refusals("drake", "Drake has no acceleration"):
        derivatives = body.plant.EvalTimeDerivatives(body.at(q, v))
    return derivatives.get_generalized_velocity().CopyToVector()


def frames(body: Body) -> list[str]:
    """Return the names of the links."""
    return [link.name() for link in _links(body.plant)]


def placement(body: Body, q, frame: str) -> np.ndarray:
    """Compute the pose of a link frame in the world, shape (4, 4)."""
    return body.plant.GetBodyByName(frame).EvalPoseInWorld(body.at(q)).GetAsMatrix4()


def jacobian(body: Body, q, frame: str) -> np.ndarray:
    """Compute the Jacobian of a link frame's origin, world axes, linear rows first, shape (6, nv)."""
    return np.roll(body.plant.CalcJacobianSpatialVelocity(body.at(q), *_origin(body, frame)), 3, axis=0)


def jacobian_dot_v(body: Body, q, v, frame: str) -> np.ndarray:
    """Compute the time derivative of the frame's Jacobian times v, shape (6,)."""
    A = body.plant.CalcBiasSpatialAcceleration(body.at(q, v), *_origin(body, frame))
    return np.concatenate([A.translational(), A.rotational()])


def com(body: Body, q) -> np.ndarray:
    """Compute the centre of mass of all links in the world (m), shape (3,)."""
    return body.plant.CalcCenterOfMassPositionInWorld(body.at(q))


def momentum(body: Body, q, v) -> np.ndarray:
    """Compute linear momentum and angular momentum about the centre of mass, world axes, shape (6,)."""
    about = com(body, q)
    h = body.plant.CalcSpatialMomentumInWorldAboutPoint(body.at(q, v), about)
    return np.concatenate([h.translational(), h.rotational()])


def kinetic_energy(body: Body, q, v) -> float:
    """Compute the kinetic energy (J)."""
    return body.plant.EvalKineticEnergy(body.at(q, v))


def potential_energy(body: Body, q) -> float:
    """Compute the energy of gravity, zero for masses at the world's origin, and of springs (J)."""
    return body.plant.EvalPotentialEnergy(body.at(q))


def inertials(body: Body) -> dict[str, Inertia]:
    """Return the inertias of the links, by name, in the axes of the link frame."""
    held = {link.name(): link.CalcSpatialInertiaInBodyFrame(body.context) for link in _links(body.plant)}
    central = {name: M.Shift(M.get_com()).CalcRotationalInertia() for name, M in held.items()}
    tensors = {name: rotational.CopyToFullMatrix3() for name, rotational in central.items()}
    return {name: Inertia(M.get_mass(), M.get_com(), tensors[name]) for name, M in held.items()}


def settings(path, floating: bool, gravity, rng: np.random.Generator) -> list[tuple[str, float, tuple]]:
    """Find what acts in a step of discrete time: name, relative effect on q̈, joints or links concerned."""
    only = partial(_drake_settings.only, _assemble, as_path(path, "drake"), floating, gravity)
    return _drake_settings.acting(only, Body(only("", 0.0)[0]), mass_matrix, forward_dynamics, rng)


def _links(plant: MultibodyPlant) -> list:
    """Return all bodies but the world."""
    return [plant.get_body(multibody.BodyIndex(index)) for index in range(1, plant.num_bodies())]


def _origin(body: Body, frame: str) -> tuple:
    """Return Drake's arguments for the motion of a link frame's origin in the world and its axes."""
    plant, world = body.plant, body.plant.world_frame()
    return multibody.JacobianWrtVariable.kV, plant.GetFrameByName(frame), np.zeros(3), world, world


def _floating_links(path: Path, text: str | None) -> list[str]:
    """Return the links of a URDF on floating joints of the world, which Drake leaves free without a joint."""
    with suppress(OSError, *NOT_WELL_FORMED):
        joints = elements(path.read_bytes() if text is None else text).iterfind("joint[@type='floating']")
        carried = [joint for joint in joints if joint.find("parent[@link='world']") is not None]
        return [child.get("link", "") for joint in carried for child in joint.iterfind("child")]
    return []


def _set_inertia(link, context, inertia: Inertia) -> None:
    """Give a link an inertia that Drake's parser replaces."""
    m = inertia.mass or LITTLE
    xx, xy, yy, xz, yz, zz = inertia.parameters[4:] / m
    unit = multibody.UnitInertia(xx, yy, zz, xy, xz, yz)
    held = multibody.SpatialInertia(m, inertia.com, unit, skip_validity_check=True)
    link.SetSpatialInertiaInBodyFrame(context, held)


def _require_limits(path: Path) -> None:
    """Refuse limits in the wrong order, and negative ones of velocity, for which Drake ends the process."""
    with suppress(OSError, *NOT_WELL_FORMED):  # Drake gives the reason
        for joint in elements(path.read_bytes()).iterfind("joint[limit]"):
            limits, name = joint.find("limit").attrib, joint.get("name")
            lower, upper, velocity = (
                (numbers(limits.get(key, "0")) or [0.0])[0] for key in ("lower", "upper", "velocity")
            )
            faults = {
                f"lower limit of joint {name!r} above its upper": lower > upper,
                f"negative velocity limit of joint {name!r}": velocity < 0.0,
            }
            for fault in filter(faults.get, faults):
                raise part_error(path, "drake", f"Drake ends the process: {fault}", name)
