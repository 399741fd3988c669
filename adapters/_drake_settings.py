"""Find what Drake adds by default to accelerations in discrete time, and compute its passive forces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, MultibodyPlant
from pydrake.multibody.tree import MultibodyForces
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import Diagram, DiagramBuilder

from .._util.xml import parse
from ._plain_urdf import JOINT_PARTS, plain, write
from ._settings import deviation, noticed, solved

TIME_STEP = 1e-3  # s; Drake's default
SETTINGS = {  # settings by the element of the URDF that makes them
    "joint damping of the file acts": "dynamics",
    "joint limits push back": "limit",
    "mimic joints are tied by a constraint": "mimic",
    "contacts act": "collision",
}


def acting(
    only: Callable, body, mass_matrix: Callable, forward_dynamics: Callable, rng: np.random.Generator
) -> list[tuple[str, float, tuple[str, ...]]]:
    """Find what changes q̈ in a step of discrete time, of 1 ms as by default: damping, limits, contacts.

    Meshes are left out; boxes, spheres, cylinders and capsules touch.

    Parameters
    ----------
    only : callable
        Returns what `only` does for the name of a setting.
    body : Body
        Robot without any setting, in continuous time.
    mass_matrix, forward_dynamics : callable
        The adapter's functions.
    rng : numpy.random.Generator

    Returns
    -------
    list of (str, float, tuple of str)
        Name, relative error that it alone makes of q̈ at a random state or at the initial one, and the joints
        or bodies concerned.
    """
    initial = body.plant.GetDefaultPositions()
    states = solved(body, random_state(body, rng), initial, mass_matrix, forward_dynamics)
    return noticed(SETTINGS, only, effect, states)


def only(
    assemble: Callable, path: Path, floating: bool, gravity, kept: str, time_step: float = TIME_STEP
) -> tuple[MultibodyPlant, Diagram, list[str]]:
    """Build a plant with at most one setting, its diagram, and the affected joints.

    ``assemble`` parses a text into a plant.
    """
    element = SETTINGS.get(kept, "none")
    parts = JOINT_PARTS - {"dynamics"} | {element}
    robot, _ = plain(parse(path, "drake"), path, "drake", parts, shapes=element == "collision")
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, time_step)
    assemble(plant, path, floating, gravity, write(robot))
    return plant, builder.Build(), [joint.get("name") for joint in robot.iterfind(f"joint[{element}]")]


def effect(simulated: tuple, q, v, tau, expected) -> tuple[float, tuple[str, ...]]:
    """Return the relative deviation of q̈ in one step from that expected, and the names of what acts."""
    plant, diagram, joints = simulated
    root = diagram.CreateDefaultContext()
    context = plant.GetMyMutableContextFromRoot(root)
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    plant.get_applied_generalized_force_input_port().FixValue(context, tau)
    where = [name for name in joints if _acts(plant, plant.GetJointByName(name), q)]
    Simulator(diagram, root).AdvanceTo(TIME_STEP)
    where += dict.fromkeys(_touching(plant, context))
    own = (plant.GetVelocities(context) - v) / TIME_STEP
    return deviation(own, expected), tuple(where)


def random_state(body, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random q, v and tau of a body in its own layout."""
    q = rng.normal(size=body.nq)
    for index in body.plant.GetFloatingBaseBodies():
        at = body.plant.get_body(index).floating_positions_start()
        q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
    return q, *rng.normal(size=(2, body.nv))


def passive(body, q, v) -> np.ndarray:
    """Compute forces of damping, springs and other force elements but gravity, in N m and N, shape (nv,).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v : array_like, shape (nv,)
    """
    context, forces = body.at(q, v), MultibodyForces(body.plant)
    body.plant.CalcForceElementsContribution(context, forces)
    # inverse dynamics at rest: C v - passive - gravity
    at_rest = body.plant.CalcInverseDynamics(context, np.zeros(body.nv), forces)
    return body.plant.CalcBiasTerm(context) - body.plant.CalcGravityGeneralizedForces(context) - at_rest


def _acts(plant: MultibodyPlant, joint, q: np.ndarray) -> bool:
    """Return whether a joint is damped, beyond its limits, or coupled."""
    lower, upper = joint.position_lower_limits(), joint.position_upper_limits()
    at = q[joint.position_start() :][: joint.num_positions()]
    beyond = (at < lower).any() or (at > upper).any()
    return bool(plant.num_constraints() or beyond or joint.default_damping_vector().any())


def _touching(plant: MultibodyPlant, context) -> Iterator[str]:
    """Return the pairs of bodies in contact."""
    contacts = plant.get_contact_results_output_port().Eval(context)
    for i in range(contacts.num_point_pair_contacts()):
        pair = contacts.point_pair_contact_info(i)
        yield " with ".join(plant.get_body(b).name() for b in (pair.bodyA_index(), pair.bodyB_index()))
