"""Compute the mass matrix, bias forces and accelerations of a robot by Drake, to compare engines.

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

from . import requires

with requires("Drake", "drake"):
    from pydrake.multibody.tree import BodyIndex, MultibodyForces

from functools import partial
from pathlib import Path

import numpy as np

from .._util.validation import as_vector
from .._util.xml import as_path
from ..model._urdf import read
from ..model.joints import Inertia
from ..tree.tree import Tree
from ._accelerations import accelerator_of
from ._drake_body import Body, Joint, adapter_error
from ._drake_load import load, load_plain
from ._drake_settings import SETTINGS, effect, only
from ._pinocchio_conventions import acceleration_offset, from_pinocchio, model_changes, transform
from ._settings import noticed, solved

__all__ = [
    "TENSOR_CAUSE",
    "WAYS",
    "Body",
    "Joint",
    "acceleration_offset",
    "bias",
    "file_inertials",
    "forward_dynamics",
    "from_pinocchio",
    "inertials",
    "inverse_dynamics",
    "load",
    "load_plain",
    "mass_matrix",
    "model_changes",
    "own_acceleration",
    "passive",
    "random_state",
    "settings",
    "transform",
    "tree",
]

WAYS = ("Parser",)
TENSOR_CAUSE = {"Parser": "another inertia tensor than the file's"}


def inertials(body: Body) -> dict[str, Inertia]:
    """Return inertias of the links, by name, in the axes of the link frame."""
    found = {}
    for index in range(1, body.plant.num_bodies()):  # 0 is the world
        link = body.plant.get_body(BodyIndex(index))
        M = link.CalcSpatialInertiaInBodyFrame(body.context)
        m, c = M.get_mass(), M.get_com()
        about_origin = M.CalcRotationalInertia().CopyToFullMatrix3()
        found[link.name()] = Inertia(m, c, about_origin - m * (c @ c * np.eye(3) - np.outer(c, c)))
    return found


def file_inertials(path, floating: bool) -> dict[str, Inertia]:
    """Return inertias of the links of a URDF that can move, by name, in the axes of the link frame."""
    robot = read(as_path(path, "drake"), "drake")
    return {name: inertial for name, inertial in robot.links.items() if floating or name != robot.root}


def tree(body: Body) -> Tree:
    """Return the tree of the freedoms in the order of v, named after the joints."""
    joints = body.joints
    return Tree.from_joints(
        [joint.parent for joint in joints], [joint.nv for joint in joints], [joint.name for joint in joints]
    )


def mass_matrix(body: Body, q) -> np.ndarray:
    """Compute the joint-space inertia matrix H by Drake, reflected inertia included, shape (nv, nv).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)

    Raises
    ------
    ShapeError, NonFiniteError
        If q has another length or is not finite.
    """
    return body.plant.CalcMassMatrix(body.at(q, np.zeros(body.nv)))


def bias(body: Body, q, v) -> np.ndarray:
    """Compute Coriolis, centrifugal and gravity forces, in N m and N, shape (nv,).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v : array_like, shape (nv,)
    """
    context = body.at(q, v)
    return body.plant.CalcBiasTerm(context) - body.plant.CalcGravityGeneralizedForces(context)


def inverse_dynamics(body: Body, q, v, a) -> np.ndarray:
    """Compute forces H a + bias by Drake's recursion, reflected inertia included, in N m and N, shape (nv,).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v, a : array_like, shape (nv,)
    """
    context, forces = body.at(q, v), MultibodyForces(body.plant)
    force = body.plant.CalcInverseDynamics(context, as_vector(a, body.nv, "a"), forces)
    return force - body.plant.CalcGravityGeneralizedForces(context)


def passive(body: Body, q, v) -> np.ndarray:
    """Compute forces of damping, springs and other force elements but gravity, in N m and N, shape (nv,).

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


forward_dynamics = accelerator_of(mass_matrix, bias, tree)


def own_acceleration(body: Body, q, v, tau) -> np.ndarray:
    """Compute q̈ by Drake alone: time derivative of v under the forces tau - passive, shape (nv,).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v, tau : array_like, shape (nv,)

    Raises
    ------
    AdapterError
        If Drake computes no acceleration: some joint moves no inertia, or the plant has geometry, for which
        Drake needs the diagram to find contacts.
    """
    tau = as_vector(tau, body.nv, "tau")
    port = body.plant.get_applied_generalized_force_input_port()
    port.FixValue(body.context, tau - passive(body, q, v))
    try:
        derivatives = body.plant.EvalTimeDerivatives(body.at(q, v))
    except RuntimeError as error:
        raise adapter_error(f"Drake has no acceleration: {' '.join(str(error).split())}") from error
    return derivatives.get_generalized_velocity().CopyToVector()


def random_state(body: Body, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random q, v and tau of a body in its own layout."""
    q = rng.normal(size=body.nq)
    for joint in body.joints:
        if joint.free:
            q[joint.q][:4] /= np.linalg.norm(q[joint.q][:4])
    return q, *rng.normal(size=(2, body.nv))


def settings(path, floating: bool, gravity, rng: np.random.Generator) -> list[tuple[str, float, tuple]]:
    """Find what else acts in a step of discrete time, of 1 ms as by default: damping, limits, contacts.

    Meshes are left out; boxes, spheres, cylinders and capsules touch.

    Returns
    -------
    list of (str, float, tuple of str)
        Name, relative error that it alone makes of q̈ at a random state or at the initial one, and the joints
        or bodies concerned.
    """
    body = load(path, floating, gravity)
    initial = body.plant.GetDefaultPositions()
    states = solved(body, random_state(body, rng), initial, mass_matrix, forward_dynamics)
    return noticed(SETTINGS, partial(only, Path(path), floating, gravity), effect, states)
