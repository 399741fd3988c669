"""Offer frax, a library on JAX, to the comparison of engines; an example of a short engine module.

frax merges links on fixed joints into their parents and orders joints by their depth in the tree. A floating
base is laid out as in MuJoCo: velocity of its origin in world axes, angular velocity in body axes, quaternion
w x y z. Units are SI. Gravity is 9.81 m/s^2 along -z and cannot be set. frax adds inertias about the origin
of the world, and loses digits far from it. The functions compute in float64, and leave JAX itself as it is.
"""

from treefactor.adapters import Base, EngineJoint, requires

with requires("frax", "frax"):
    import frax
    import jax

import xml.etree.ElementTree as ET

import numpy as np

from treefactor.exceptions import AdapterError

NAME = "frax"
READS, DTYPE, EPSILON = ("urdf",), "float64", 100 * np.finfo(float).eps
OPTIONS = {"root_link": "leaves the root link of a fixed base out of the centre of mass"}
UP = np.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])  # acceleration that acts as gravity, m/s^2


class Body(frax.Robot):
    """Robot of frax, and what frax does not keep: the joint that carries a link."""

    def __init__(self, path, floating, options):
        super().__init__(str(path), floating_base="quaternion" if floating else None)
        robot = ET.parse(path).getroot()
        child = {joint.get("name"): joint.find("child").get("link") for joint in robot.findall("joint")}
        self.links = {child[name]: k for k, name in enumerate(self.joint_names) if name in child}
        if floating:
            root = {link.get("name") for link in robot.findall("link")} - set(child.values())
            self.links[root.pop()] = 5  # the last of six joints
        self.whole = Body(path, True, ()) if "root_link" in options and not floating else None

    def close(self):
        """Do nothing: frax holds no resources."""


def load(path, floating, gravity, options=frozenset()):
    """Load a URDF; raise AdapterError if frax refuses it, or for another gravity than frax has."""
    if not np.array_equal(gravity, -UP[:3]):
        raise AdapterError(f"frax cannot change gravity: expected {-UP[:3]} m/s^2, got {gravity}", "frax")
    try:
        return Body(path, floating, options)
    except Exception as error:  # frax raises errors of many types
        raise AdapterError(f"{path}: frax cannot load it: {error!r}", "frax", path) from error


def joints(body):
    """Return the joints; those of the URDF follow the six freedoms of a floating base."""
    six = body.nv_floating
    engine_joints = [EngineJoint("root_joint", "free", -1, slice(0, 7), slice(0, 6))] if six else []
    for k in range(six, body.nv):
        kind, q = ("revolute", "prismatic")[body.joint_types[k]], k + body.nq - body.nv
        parent = int(body.parent_idxs[k]) - (5 if six else 0)
        engine_joints.append(EngineJoint(body.joint_names[k], kind, parent, slice(q, q + 1), slice(k, k + 1)))
    return engine_joints


def base(body):
    """Return the convention of the free joint."""
    return Base(order="linear-angular", linear="world", angular="body", pose="p wxyz")


def frames(body):
    """Return the links that have a joint; frax merges the others."""
    return list(body.links)


def numbers(function):
    """Return a function that computes in float64 and returns a NumPy array."""
    return jax.enable_x64(True)(lambda *arguments: np.array(function(*arguments)))


mass_matrix = numbers(frax.Robot.mass_matrix)
bias = numbers(frax.Robot.nonlinear_bias)
gravity_forces = numbers(frax.Robot.gravity_vector)
inverse_dynamics = numbers(lambda body, q, v, a: body.rnea(q, v, a, UP, None))
acceleration = numbers(lambda body, q, v, tau: body.forward_dynamics(q, v, tau, None))
placement = numbers(lambda body, q, frame: body.joint_to_world_transforms(q)[body.links[frame]])


@numbers
def jacobian(body, q, frame):
    """Return the Jacobian of a link by the function that frax's own Jacobians of hands and feet call."""
    moving = np.flatnonzero(body.ancestor_mask[body.links[frame]])
    return body._frame_jacobian(body.joint_to_world_transforms(q), np.eye(4), moving)


@numbers
def com(body, q):
    """Return the centre of mass; with the root link, that of a floating robot whose base is at the origin."""
    return body.whole.center_of_mass(np.append(np.eye(7)[3], q)) if body.whole else body.center_of_mass(q)
