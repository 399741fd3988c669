"""Offer treefactor's own recursions to the comparison of engines, in Pinocchio's conventions.

A URDF is read without any engine; the model of an MJCF is the one that MuJoCo compiles, or Pinocchio's where
MuJoCo is missing.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .. import dynamics, kinematics
from .._util.protocol import MIMIC, Base, EngineJoint
from .._util.validation import as_vector
from ..linalg.factorization import factor
from ..model import _urdf
from ..model._urdf_joints import KINDS as URDF_KINDS
from ..model.configuration import neutral
from ..model.joints import SIZES, Inertia
from ..model.model import Model
from ..quantities import functions
from ..quantities.functions import integrate
from ..tree.tree import Tree
from .robots import Robot, model_of

NAME = "treefactor"
READS = ("urdf", "mjcf")
DTYPE = "float64"
COUPLES = True
OPTIONS = {"root_link": "leaves the root link of a fixed base out of masses, centre of mass and energies"}
CONVENTIONS = frozenset(OPTIONS)

NONE = dict.fromkeys(("lower", "upper", "effort_limit", "velocity_limit"))  # of a joint of other sizes
BODY_AXES = "armature_in_body_axes"  # option: the armature of free joints acts along the axes of the body
WORLD_AXES = "LOCAL_WORLD_ALIGNED"
KINDS = {
    **{"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic"},
    **{"spherical": "spherical", "planar": "planar", "freeflyer": "free"},
}


@dataclass(eq=False)
class Body:
    """Model of a robot.

    Attributes
    ----------
    model : Model
    root : Inertia
        Inertia of the links that are fixed to the world, if the option ``root_link`` is set; zero otherwise.
    halves : frozenset of int
        Translations that form a free joint with the spherical joint after them: see `mujoco_.model`.
    """

    model: Model
    root: Inertia
    halves: frozenset[int]

    def close(self) -> None:
        """Do nothing: a model holds nothing outside this process."""


def load(path, floating: bool = False, gravity=None, options: frozenset[str] = frozenset()) -> Body:
    """Load a URDF or an MJCF; by default gravity is that of the file, or 9.81 m/s^2 downwards.

    Raises
    ------
    AdapterError, InvalidModelError
        If the file cannot be read.
    """
    robot = Robot(str(path), Path(path), floating)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Pinocchio reads differently is a result of the comparison
        model = model_of(robot, MIMIC in options)
    if BODY_AXES in options:
        model = _in_body_axes(model, frozenset(_halves(model)))
    if gravity is not None:
        model = model._replaced(gravity=as_vector(gravity, 3, "gravity"))
    root = _root(robot, model) if "root_link" in options and not floating else Inertia()
    return Body(model, root, frozenset(_halves(model)))


def joints(body: Body) -> list[EngineJoint]:
    """Return the joints; a free joint with armature, which the model has as two joints, is one."""
    model, listed, number = body.model, list[EngineJoint](), {-1: -1}
    links = {frame.joint: frame.name for frame in reversed(model.frames) if frame.type == "body"}
    for i, joint in enumerate(model.joints):
        if i - 1 in body.halves or (joint.mimic is not None and model.coupling):
            number[i] = number[i - 1 if i - 1 in body.halves else joint.parent]
            continue
        name, kind, (nq, nv) = joint.name, KINDS.get(joint.kind, "other"), SIZES[joint.kind]
        if i in body.halves:
            name, kind, nq, nv = name.removesuffix("[0]"), "free", 7, 6
        q, v = slice(model.idx_q[i], model.idx_q[i] + nq), slice(model.idx_v[i], model.idx_v[i] + nv)
        listed.append(
            EngineJoint(name, kind, number[joint.parent], q, v, body=joint.body or links.get(i, ""))
        )  # type: ignore[arg-type]
        number[i] = len(listed) - 1
    return listed


def base(body: Body) -> Base:
    """Return Pinocchio's convention, or MuJoCo's where free joints have armature along the world's axes."""
    return Base(linear="world") if body.halves else Base()


def tree(body: Body) -> Tree:
    """Return the tree of the freedoms."""
    return body.model.tree


def random_state(body: Body, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random q, v and tau."""
    move, v, tau = rng.normal(size=(3, body.model.nv))
    return integrate(body.model, neutral(body.model), move), v, tau


def mass_matrix(body: Body, q) -> np.ndarray:
    """Return H by the composite-rigid-body algorithm."""
    return dynamics.crba(body.model, q)


def bias(body: Body, q, v) -> np.ndarray:
    """Return the forces at zero acceleration."""
    return dynamics.bias(body.model, q, v)


def gravity_forces(body: Body, q) -> np.ndarray:
    """Return the forces of gravity."""
    return dynamics.generalized_gravity(body.model, q)


def inverse_dynamics(body: Body, q, v, a) -> np.ndarray:
    """Return forces by the recursive Newton-Euler algorithm."""
    return dynamics.rnea(body.model, q, v, a)


def acceleration(body: Body, q, v, tau) -> np.ndarray:
    """Return q̈ by the articulated-body algorithm; with coupled mimic joints by H and its factor."""
    if body.model.coupling:
        return dynamics.forward_dynamics(body.model, q, v, tau, method="factor")
    return dynamics.aba(body.model, q, v, tau)


def frames(body: Body) -> list[str]:
    """Return the links or bodies; the first frame is the world."""
    return [frame.name for frame in body.model.frames[1:] if frame.type == "body"]


def placement(body: Body, q, frame: str) -> np.ndarray:
    """Return the pose of a link."""
    return np.vstack([kinematics.frame_placement(body.model, q, _frame(body, frame)), [0.0, 0.0, 0.0, 1.0]])


def jacobian(body: Body, q, frame: str) -> np.ndarray:
    """Return the Jacobian of a link in the axes of the world."""
    return kinematics.frame_jacobian(body.model, q, _frame(body, frame), WORLD_AXES)


def jacobian_dot_v(body: Body, q, v, frame: str) -> np.ndarray:
    """Return the acceleration of a link where the freedoms have none."""
    link = _frame(body, frame)
    return kinematics.frame_acceleration(body.model, q, v, None, link, WORLD_AXES, classical=True)


def com(body: Body, q) -> np.ndarray:
    """Return the centre of mass; raise InvalidModelError without mass."""
    mass, root = body.model.mass, body.root
    if not root.mass:
        return kinematics.center_of_mass(body.model, q)
    moment = mass * kinematics.center_of_mass(body.model, q) if mass else np.zeros(3)
    return (moment + root.mass * root.com) / (mass + root.mass)


def momentum(body: Body, q, v) -> np.ndarray:
    """Return momentum and angular momentum about `com`."""
    if not body.model.mass:
        return np.zeros(6)
    h = kinematics.centroidal_momentum(body.model, q, v)
    h[3:] += np.cross(kinematics.center_of_mass(body.model, q) - com(body, q), h[:3])
    return h


def kinetic_energy(body: Body, q, v) -> float:
    """Return the kinetic energy, armature included."""
    return float(dynamics.kinetic_energy(body.model, q, v))


def potential_energy(body: Body, q) -> float:
    """Return the energy of gravity."""
    own = -body.root.mass * (body.model.gravity @ body.root.com)
    return float(dynamics.potential_energy(body.model, q) + own)


def rnea_derivatives(body: Body, q, v, a) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives of inverse dynamics by q and by v."""
    return functions.rnea_derivatives(body.model, q, v, a)[:2]


def factors(body: Body, q) -> tuple[np.ndarray, np.ndarray]:
    """Return L and D by `treefactor.factor`."""
    f = factor(mass_matrix(body, q), body.model.tree)
    return f.L(), f.D()


def inertials(body: Body) -> dict[str, Inertia]:
    """Return the inertias on the joints, by the links that have their frames."""
    return {joint.body: joint.inertia for joint in body.model.joints if joint.body}


def _frame(body: Body, name: str):
    return body.model.frame(name, "body")


def _halves(model: Model) -> Iterator[int]:
    """Yield the translations that carry nothing but a spherical joint at the same place."""
    for i, (first, second) in enumerate(zip(model.joints, model.joints[1:], strict=False)):
        whole = first.kind == "translation" and second.kind == "spherical" and second.parent == i
        if whole and first.name.endswith("[0]") and not first.inertia.mass and not second.p.any():
            yield i


def _in_body_axes(model: Model, halves: frozenset[int]) -> Model:
    """Return the model with every two halves as one free joint, with their armature."""
    joints, number = [], {-1: -1}
    for i, joint in enumerate(model.joints):
        if i in halves:
            continue
        if i - 1 in halves:
            first = model.joints[i - 1]
            name, armature = first.name.removesuffix("[0]"), np.concatenate([first.armature, joint.armature])
            joint = replace(
                joint, name=name, kind="freeflyer", parent=first.parent, armature=armature, **NONE
            )
        number[i] = len(joints)
        joints.append(replace(joint, parent=number[joint.parent]))
    carried = [frame for frame in model.frames if frame.joint in number]
    frames = [replace(frame, joint=number[frame.joint], parent="") for frame in carried]
    return Model(joints, model.gravity, model.name, strict=False, frames=frames)


def _root(robot: Robot, model: Model) -> Inertia:
    """Return the inertia of the links that are fixed to the world."""
    if not robot.is_mjcf:
        whole = _urdf.without_fixed_joints(_urdf.read(robot.path, None, {*URDF_KINDS, "fixed"}))
        return whole.links[whole.root]
    from ..adapters import mujoco_

    inertias, total = mujoco_.inertials(mujoco_.load(robot.path, gravity=None)), Inertia()
    for frame in model.frames:
        if frame.type == "body" and frame.joint < 0 and frame.name in inertias:
            total += inertias[frame.name].moved(frame.R, frame.p)
    return total
