"""Find what Drake adds by default to the accelerations of a robot in discrete time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, MultibodyPlant
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import Diagram, DiagramBuilder

from .._util.xml import parse
from ._drake_load import finalized, refusals, require_limits, unwarned
from ._plain_urdf import JOINT_PARTS, plain, write
from ._settings import deviation

TIME_STEP = 1e-3  # s; Drake's default
SETTINGS = {  # by the element of the URDF that makes them
    "joint damping of the file acts": "dynamics",
    "joint limits push back": "limit",
    "mimic joints are tied by a constraint": "mimic",
    "contacts act": "collision",
}


def only(path: Path, floating: bool, gravity, kept: str) -> tuple[MultibodyPlant, Diagram, list[str]]:
    """Build a discrete-time plant with at most one setting, its diagram, and the affected joints."""
    element = SETTINGS.get(kept, "none")
    parts = JOINT_PARTS - {"dynamics"} | {element}
    robot, root = plain(parse(path, "drake"), path, "drake", parts, shapes=element == "collision")
    require_limits(robot, path)
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, TIME_STEP)
    with refusals(path, text := write(robot)), unwarned():
        Parser(plant=plant).AddModelsFromString(text, "urdf")
        finalized(plant, root, floating, gravity)
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
