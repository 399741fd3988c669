"""Compute the dynamics of a URDF by adam's NumPy backend, to compare engines.

Velocities have six entries of the base first, whether it is fixed or not: velocity of the origin of the root
link, then angular velocity, both in world axes ("mixed"). Accelerations are their derivatives. q has the pose
of the root link first, position and quaternion x y z w, which a base that is fixed ignores: it stays at the
world's origin. Then follow the joints that are not fixed, a parent before its children, otherwise in the
order of the file. Units are SI; gravity is that of `load`, not adam's 9.80665 m/s^2.

Joint axes are not scaled to unit length, and there are no limits, damping and mimic. adam refuses prismatic
joints, joints without ``<axis>``, and ``<inertial>`` without ``<origin>``.
"""

from __future__ import annotations

from . import _loading, requires

with requires("adam", "adam"):
    from adam.numpy import KinDynComputations

import copy
from collections.abc import Iterator
from functools import cached_property
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
from scipy.spatial.transform import Rotation

from .._util.protocol import Base, EngineJoint
from .._util.validation import as_vector
from .._util.xml import as_path, file_error
from ..exceptions import AdapterError

NAME = "adam"
READS = ("urdf",)
DTYPE = "float64"
OPTIONS: dict[str, str] = {}

BASE = Base(linear="world", angular="world", pose="p xyzw", always=True)
KINDS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic"}
KEPT = 256  # answers of adam
HELD = 1e30  # kg; next to it, the rest of a robot is less than rounding


class Body:
    """Robot in adam: ``KinDynComputations`` of the elements of a file, and its joints.

    Notes
    -----
    Thread-compatible.
    """

    def __init__(self, top: Element, floating: bool, gravity: np.ndarray):
        self.top, self.floating, self.gravity = top, floating, gravity
        self.answers: dict[tuple, np.ndarray] = {}
        names = [joint.get("name", "") for joint in _from_root(top) if joint.get("type") != "fixed"]
        self.computations = _computations(top, names, gravity)
        self.model = self.computations.rbdalgos.model
        self.nq, self.nv = 7 + len(names), 6 + len(names)
        self.joints = [EngineJoint("root_joint", "free", -1, slice(0, 7), slice(0, 6))]
        above = {joint.child: joint for joint in self.model.joints.values()}
        for k, name in enumerate(names):
            own = parent = self.model.joints[name]
            while (parent := above.get(parent.parent)) is not None and parent.type == "fixed":
                pass
            on = 0 if parent is None else 1 + names.index(parent.name)
            slices = slice(7 + k, 8 + k), slice(6 + k, 7 + k)
            self.joints.append(EngineJoint(name, KINDS.get(own.type, "other"), on, *slices))

    def at(self, q) -> tuple[np.ndarray, np.ndarray]:
        """Return the pose of the root link and the joint positions."""
        q, pose = as_vector(q, self.nq, "q"), np.eye(4)
        if self.floating:
            pose[:3, :3], pose[:3, 3] = Rotation.from_quat(q[3:7]).as_matrix(), q[:3]
        return pose, q[7:]

    def moving(self, q, v) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return pose and joint positions, velocity of the root link and joint velocities."""
        v = as_vector(v, self.nv, "v")
        return *self.at(q), v[:6] * self.floating, v[6:]

    def ask(self, function: str, *arguments) -> np.ndarray:
        """Return a result of adam; the last results are kept, because each takes milliseconds."""
        key = (
            function,
            *(argument if isinstance(argument, str) else argument.tobytes() for argument in arguments),
        )
        if key not in self.answers:
            if len(self.answers) >= KEPT:
                self.answers.clear()
            self.answers[key] = getattr(self.computations, function)(*arguments)
        return self.answers[key].copy()

    def frame(self, name: str) -> str:
        """Return the name of a link."""
        if name not in self.model.links and name not in self.model.frames:
            raise AdapterError(f"adam has no link called {name!r}", "adam")
        return name

    def require_joints(self, what: str) -> None:
        """Raise AdapterError for a robot without joints, for which some of adam's functions fail."""
        if self.nv == 6:
            raise AdapterError(f"adam does not compute {what} of a robot without joints", "adam")

    @cached_property
    def held(self) -> KinDynComputations:
        """Computations of the robot with a root link of HELD kg."""
        top, zeros = copy.deepcopy(self.top), {"xyz": "0 0 0", "rpy": "0 0 0"}
        link = next(link for link in top.iterfind("link") if link.get("name") == self.model.tree.root)
        for inertial in link.findall("inertial"):
            link.remove(inertial)
        inertial, moments = SubElement(link, "inertial"), dict.fromkeys(("ixx", "iyy", "izz"), str(HELD))
        SubElement(inertial, "origin", zeros)
        SubElement(inertial, "mass", value=str(HELD))
        SubElement(inertial, "inertia", moments, ixy="0", ixz="0", iyz="0")
        return _computations(top, self.model.actuated_joints, self.gravity)


def _from_root(top: Element) -> Iterator[Element]:
    """Yield the joints of a URDF, those on a link after the joint that carries it."""
    waiting = top.findall("joint")
    children = {joint.find("child").get("link") for joint in waiting}
    known = {link.get("name") for link in top.iterfind("link")} - children
    while ready := [joint for joint in waiting if joint.find("parent").get("link") in known]:
        yield ready[0]
        known.add(ready[0].find("child").get("link"))
        waiting.remove(ready[0])


def _computations(top: Element, names, gravity) -> KinDynComputations:
    """Return adam's computations; what it writes about unknown elements is held back."""
    gravity = np.append(gravity, np.zeros(3))
    with _loading.held_back():
        return KinDynComputations(tostring(top, "unicode"), list(names), gravity=gravity)


def load(path, floating: bool = False, gravity=(0.0, 0.0, -9.81), options=frozenset()) -> Body:
    """Load a URDF by ``KinDynComputations``, with all joints that are not fixed, and compute one H.

    Raises AdapterError with adam's own error if either fails, and if joints of the file do not hang on its
    root.
    """
    path = as_path(path, "adam")
    top = _loading.elements_of(path, "adam")
    _loading.require_one_parent(top, path, "adam")
    gravity = as_vector((0.0, 0.0, -9.81) if gravity is None else gravity, 3, "gravity")
    try:
        if not len(top):  # adam says why
            KinDynComputations(str(path), [])
        body = Body(top, floating, gravity)
        mass_matrix(body, np.eye(1, body.nq, 6)[0])
    except Exception as error:  # adam leaves errors of every kind to its caller
        text = " ".join(str(error).split())
        raise file_error(path, "adam", f"adam does not compute it: {type(error).__name__}: {text}") from error
    _loading.require_joints(top, [joint.name for joint in body.joints], path, "adam")
    return body


def joints(body: Body) -> list[EngineJoint]:
    """Return the free joint of the base and the joints that are not fixed, in the order of v."""
    return body.joints


def base(body: Body) -> Base:
    """Return the convention of the base: velocities of its origin in world axes."""
    return BASE


def mass_matrix(body: Body, q) -> np.ndarray:
    """Compute H with the six rows of the base, shape (nv, nv)."""
    return body.ask("mass_matrix", *body.at(q))


def bias(body: Body, q, v) -> np.ndarray:
    """Compute Coriolis, centrifugal and gravity forces, in N m and N, shape (nv,)."""
    return body.ask("bias_force", *body.moving(q, v))


def gravity_forces(body: Body, q) -> np.ndarray:
    """Compute the forces that hold the robot against gravity, in N m and N, shape (nv,)."""
    return body.ask("gravity_term", *body.at(q))


def acceleration(body: Body, q, v, tau) -> np.ndarray:
    """Compute q̈ by adam's articulated-body algorithm, shape (nv,).

    It knows floating bases only: one that is fixed has a mass of ``HELD``, and its weight is supported.
    """
    body.require_joints("q̈")
    tau, root = as_vector(tau, body.nv, "tau"), body.model.tree.root
    computations = body.computations if body.floating else body.held
    wrench = tau[:6] if body.floating else np.append(-HELD * body.gravity, np.zeros(3))
    return computations.aba(*body.moving(q, v), tau[6:], {root: wrench})


def frames(body: Body) -> list[str]:
    """Return the links, those without inertia at the ends of the tree included."""
    return [*body.model.links, *body.model.frames]


def placement(body: Body, q, frame: str) -> np.ndarray:
    """Return the pose of a link frame in the world, shape (4, 4)."""
    return body.ask("forward_kinematics", body.frame(frame), *body.at(q))


def jacobian(body: Body, q, frame: str) -> np.ndarray:
    """Return the Jacobian of a link frame's origin in world axes, linear rows first, shape (6, nv)."""
    body.require_joints("Jacobians")
    return body.ask("jacobian", body.frame(frame), *body.at(q))


def jacobian_dot_v(body: Body, q, v, frame: str) -> np.ndarray:
    """Return the derivative of `jacobian` times v, shape (6,)."""
    return body.ask("jacobian_dot", body.frame(frame), *body.moving(q, v)) @ v


def com(body: Body, q) -> np.ndarray:
    """Return the centre of mass in the world (m), shape (3,)."""
    return body.ask("CoM_position", *body.at(q))


def momentum(body: Body, q, v) -> np.ndarray:
    """Return linear and angular momentum about the centre of mass in world axes, shape (6,)."""
    return body.ask("centroidal_momentum_matrix", *body.at(q)) @ v
