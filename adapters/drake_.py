"""Drake as a second source of the mass matrix, the bias forces and the accelerations of a robot.

Everything is in Drake's own conventions; `transform`, `from_pinocchio` and `acceleration_offset` relate them
to Pinocchio's. q and v are laid out as the positions and velocities of a continuous-time ``MultibodyPlant``:

- floating body: quaternion w x y z, then position of its origin; angular velocity, then velocity of the
  origin, both in world axes;
- revolute and prismatic joint: one angle or distance, continuous joints too.

Accelerations are the derivatives of v: classical, not spatial. Units are SI. The reflected inertia of
actuators is part of H. Joint damping and force elements other than gravity are `passive`, and no part of
`bias` or of any acceleration here; neither are contacts, limits, couplers (mimic) and actuation.
"""

from __future__ import annotations

from . import missing_engine

try:
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import MultibodyForces
except ImportError as error:
    raise missing_engine("Drake", "drake", error) from None

import re
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from .._arrays import as_vector
from ..exceptions import AdapterError
from ..ltdl import factor
from ..tree import Tree
from ._drake_body import Body, Joint, adapter_error
from ._plain_urdf import name_at, parse, plain, write

__all__ = [
    "Body",
    "Joint",
    "acceleration_offset",
    "bias",
    "forward_dynamics",
    "from_pinocchio",
    "load",
    "mass_matrix",
    "own_acceleration",
    "passive",
    "transform",
    "tree",
]

FLOATING = "quaternion_floating"
TRANSLATED = (FLOATING, "revolute", "prismatic")  # joints that Pinocchio has, too


def load(path, floating: bool = False, gravity=(0.0, 0.0, -9.81)) -> Body:
    """Load the dynamics of a URDF.

    Drake gets the links' inertias and the joints alone, so no mesh is looked for, and parses strictly: else
    it would replace an inertia it finds impossible by another one, and only warn.

    Parameters
    ----------
    path : path-like
    floating : bool
        Whether the root link is free, or welded to the world.
    gravity : array_like, shape (3,)
        m/s^2, in the world.

    Raises
    ------
    AdapterError
        Where the file is missing, malformed or refused by Drake, which demands that inertias are positive and
        satisfy the triangle inequality; names the file, the reason and the link or joint.
    ShapeError, NonFiniteError
        Where gravity is no vector.
    """
    path = Path(path)
    gravity = as_vector(gravity, 3, "gravity")
    robot, root = plain(parse(path, "drake"), path, "drake")
    for dynamics in robot.iterfind("joint/dynamics"):
        dynamics.attrib.pop("friction", None)  # Drake has none, and would complain
    text = write(robot)
    plant = MultibodyPlant(time_step=0.0)
    plant.mutable_gravity_field().set_gravity_vector(gravity)
    try:
        _parse_strictly(plant, text)
        if not floating:
            plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(root))
        plant.Finalize()
    except (RuntimeError, ValueError) as error:
        raise _refusal(path, text, error) from error
    return Body(plant)


def _parse_strictly(plant: MultibodyPlant, text: str) -> None:
    parser = Parser(plant=plant)
    parser.SetStrictParsing()
    parser.AddModelsFromString(text, "urdf")


def _refusal(path: Path, text: str, error: Exception) -> AdapterError:
    """AdapterError with Drake's reason, the line of the text turned into the link or joint found there."""
    reason = " ".join(str(error).split())
    line = re.search(r"\.urdf:(\d+): \w+: ", reason)
    name = name_at(text, int(line[1])) if line else None
    if name:
        reason = f"{name!r}: {reason[line.end() :]}"
    return adapter_error(f"Drake cannot load it: {reason}", name, path)


def tree(body: Body) -> Tree:
    """Tree of the freedoms in the order of v, named after the joints."""
    joints = body.joints
    return Tree.from_joints(
        [joint.parent for joint in joints], [joint.nv for joint in joints], [joint.name for joint in joints]
    )


def mass_matrix(body: Body, q) -> np.ndarray:
    """Joint-space inertia matrix H by Drake, reflected inertia included, shape (nv, nv).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)

    Raises
    ------
    ShapeError, NonFiniteError
        Where q has another length or is not finite.
    """
    return body.plant.CalcMassMatrix(body.at(q, np.zeros(body.nv)))


def bias(body: Body, q, v) -> np.ndarray:
    """Coriolis, centrifugal and gravity forces, in N m and N, shape (nv,).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v : array_like, shape (nv,)
    """
    context = body.at(q, v)
    return body.plant.CalcBiasTerm(context) - body.plant.CalcGravityGeneralizedForces(context)


def passive(body: Body, q, v) -> np.ndarray:
    """Forces of joint damping, springs and other force elements but gravity, in N m and N, shape (nv,).

    Add them to tau for the motion Drake itself would simulate.

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v : array_like, shape (nv,)
    """
    context, forces = body.at(q, v), MultibodyForces(body.plant)
    body.plant.CalcForceElementsContribution(context, forces)
    # inverse dynamics at rest: C v - passive - gravity
    return bias(body, q, v) - body.plant.CalcInverseDynamics(context, np.zeros(body.nv), forces)


def forward_dynamics(body: Body, q, v, tau) -> np.ndarray:
    """q̈ = H^-1 (tau - bias) through our factor of Drake's H, shape (nv,).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v, tau : array_like, shape (nv,)

    Raises
    ------
    NotPositiveDefiniteError
        Names the joint.
    """
    tau = as_vector(tau, body.nv, "tau")
    return factor(mass_matrix(body, q), tree(body)).solve(tau - bias(body, q, v))


def own_acceleration(body: Body, q, v, tau) -> np.ndarray:
    """q̈ by Drake alone: time derivative of v under the applied forces tau - passive, shape (nv,).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v, tau : array_like, shape (nv,)

    Raises
    ------
    AdapterError
        Where Drake has no acceleration: no inertia moves with some joint, or the plant has geometry and so
        wants to look for contacts.
    """
    tau = as_vector(tau, body.nv, "tau")
    port = body.plant.get_applied_generalized_force_input_port()
    port.FixValue(body.context, tau - passive(body, q, v))
    try:
        derivatives = body.plant.EvalTimeDerivatives(body.at(q, v))
    except RuntimeError as error:
        raise adapter_error(f"Drake has no acceleration: {' '.join(str(error).split())}") from error
    return derivatives.get_generalized_velocity().CopyToVector()


# ------------------------------------------------------------------------------------ Pinocchio's conventions


def transform(body: Body, model, q) -> np.ndarray:
    """T with v_pinocchio = T v, shape (model.nv, nv); joints are matched by name.

    Parameters
    ----------
    body : Body
    model : pinocchio.Model
        A free-flyer called ``root_joint`` is the only floating body.
    q : array_like, shape (model.nq,)
        Pinocchio's.

    Raises
    ------
    AdapterError
        Where the joints of the two are not the same, or one is neither floating, revolute nor prismatic.

    Notes
    -----
    H = T' H_pin T, tau = T' tau_pin, a_pin = T a + c with c from `acceleration_offset`, and so
    bias = T' (nle + H_pin c). With R the rotation of the floating body, its block is [[0, R'], [R', 0]].
    """
    q = as_vector(q, model.nq, "q")
    T = np.zeros((model.nv, body.nv))
    for joint, at_q, at_v in _matched(body, model):
        block = np.eye(joint.nv)
        if joint.kind == FLOATING:
            block = np.kron([[0.0, 1.0], [1.0, 0.0]], Rotation.from_quat(q[at_q][3:]).as_matrix().T)
        T[at_v, joint.v] = block
    return T


def acceleration_offset(body: Body, model, q, v) -> np.ndarray:
    """c with a_pinocchio = T a + c, shape (model.nv,); q and v are Pinocchio's.

    Notes
    -----
    Pinocchio's acceleration of a free body is spatial: a_lin = classical acceleration - ω × v.
    """
    v = as_vector(v, model.nv, "v")
    c = np.zeros(model.nv)
    for joint, _, at_v in _matched(body, model):
        if joint.kind == FLOATING:
            c[at_v][:3] = -np.cross(v[at_v][3:], v[at_v][:3])
    return c


def from_pinocchio(body: Body, model, q, v) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) of this module from Pinocchio's.

    Parameters
    ----------
    body : Body
    model : pinocchio.Model
    q : array_like, shape (model.nq,)
        Continuous joints as (cos, sin), quaternions x y z w.
    v : array_like, shape (model.nv,)
    """
    q, v = as_vector(q, model.nq, "q"), as_vector(v, model.nv, "v")
    mine = np.empty(body.nq)
    for joint, at_q, _ in _matched(body, model):
        x = q[at_q]
        if joint.kind == FLOATING:
            mine[joint.q] = [x[6], *x[3:6], *x[:3]]
        else:
            mine[joint.q] = np.arctan2(x[1], x[0]) if x.size == 2 else x
    return mine, transform(body, model, q).T @ v  # T is a permutation of rotations: T^-1 = T'


def _matched(body: Body, model) -> list[tuple[Joint, slice, slice]]:
    """Every joint of the body with its entries in Pinocchio's q and v."""
    theirs = {model.names[j]: j for j in range(1, model.njoints)}
    floating = [joint for joint in body.joints if joint.kind == FLOATING]
    found, odd = [], []
    for joint in body.joints:
        alone = [joint] == floating and "root_joint" in theirs
        j = theirs.pop("root_joint" if alone else joint.name, None)
        if j is None or joint.kind not in TRANSLATED or model.nvs[j] != joint.nv:
            odd.append(joint.name)
            continue
        q, v = model.idx_qs[j], model.idx_vs[j]
        found.append((joint, slice(q, q + model.nqs[j]), slice(v, v + model.nvs[j])))
    odd += theirs
    if odd:
        raise adapter_error(
            f"the joints of the Pinocchio model are not those of Drake's: {', '.join(odd)}", odd[0]
        )
    return found
