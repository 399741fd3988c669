"""Compute the dynamics of a robot by Newton, to compare engines.

Newton computes in float32, here on the CPU. Units are SI. Joints are depth-first, children in the order of
the file. A free joint has the position of the link's origin and the quaternion x y z w in q; its velocity is
that of the link's centre of mass, then the angular one, both in world axes. Several joints of an MJCF body
are one joint of Newton, translations first, and are separate here, with their names in the file. Names stand
in Newton's labels after that of the robot, or after those of the bodies above.

Newton compiles its kernels at the first use, in half a minute, into the user's cache or the folder that the
environment variable WARP_CACHE_PATH names.
"""

from __future__ import annotations

from . import requires

with requires("Newton", "newton"):
    import newton
    import warp

import logging
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from newton import JointType
from scipy.spatial.transform import Rotation

from .._util.protocol import Base, EngineJoint
from .._util.validation import as_vector
from ..exceptions import AdapterError
from ..tolerances import NEWTON_ROUNDING as EPSILON  # noqa: F401 - of the protocol

NAME, READS, DTYPE = "Newton", ("urdf", "mjcf"), "float32"
OPTIONS = {"keep_inertia": "changes inertia tensors that no body can have, and drops those without a mass"}

# balls are left out: their velocity has the axes of the parent link, for which there is no declaration
KINDS = {JointType.PRISMATIC: "prismatic", JointType.REVOLUTE: "revolute", JointType.FREE: "free"}
STEP = 1 / 16  # s; a longer one loses digits of positions, a shorter one of velocities

warp.config.log_level = max(warp.config.log_level, warp.LOG_ERROR)
logging.getLogger("newton").addHandler(logging.NullHandler())  # without a handler Newton prints


@dataclass(frozen=True, eq=False)
class _Robot:
    """Model of Newton, the state it is evaluated in, its bodies by the names of the links, and its joints."""

    model: newton.Model
    state: newton.State
    links: dict[str, int]
    joints: tuple[EngineJoint, ...]

    def at(self, q, v=None) -> newton.State:
        """Set the state, with the placements and velocities of the bodies, and return it."""
        state, q = self.state, as_vector(q, self.model.joint_coord_count, "q")
        if q.size:  # a state without joints has no arrays
            state.joint_q.assign(q)
            state.joint_qd.assign(self.array(v))
        newton.eval_fk(self.model, state.joint_q, state.joint_qd, state)
        return state

    def array(self, x=None) -> warp.array:
        """Return an array of Newton with an entry for each of v, zeros by default."""
        nv = self.model.joint_dof_count
        x = np.zeros(nv) if x is None else as_vector(x, nv, "v, a and tau")
        return warp.array(x.astype(np.float32), dtype=float, device="cpu")

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and rotations of all bodies in the state, shapes (n, 3) and (n, 3, 3)."""
        poses = self.state.body_q.numpy().astype(float)
        return poses[:, :3], Rotation.from_quat(poses[:, 3:]).as_matrix()

    @cached_property
    def parts(self) -> list[slice]:
        """Entries in v of each tree of the file."""
        model, start = self.model, self.model.joint_qd_start.numpy().tolist()
        ends = zip(model.articulation_start.numpy()[:-1], model.articulation_end.numpy(), strict=True)
        return [slice(start[first], start[last]) for first, last in ends]

    @cached_property
    def solver(self) -> newton.solvers.SolverFeatherstone:
        """Solver without what it adds to the dynamics of the bodies."""
        for name in ("joint_damping", "joint_stiffness", "joint_limit_ke", "joint_limit_kd"):
            getattr(self.model, name).zero_()
        self.model.joint_mimic_joint.fill_(-1)
        return newton.solvers.SolverFeatherstone(self.model)


def load(path, floating: bool, gravity, options: frozenset[str] = frozenset()) -> _Robot:
    """Load a URDF, or an MJCF with the base it has in the file; meshes that are not found are left out."""
    path, builder, keep = Path(path), newton.ModelBuilder(), "keep_inertia" in options
    builder.balance_inertia = not keep
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if path.suffix == ".xml":
                builder.add_mjcf(str(path))
            else:
                builder.add_urdf(str(path), floating=floating)
            model = builder.finalize(device="cpu", skip_validation_inertia=keep)
    except Exception as error:  # whatever its parsers happen to raise
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise AdapterError(f"{path}: Newton refuses it: {reason}", "newton", path) from error
    if gravity is not None:
        model.set_gravity(np.asarray(gravity, dtype=np.float32))
    return _Robot(model, model.state(), *_layout(model, ET.parse(path).getroot()))


def _layout(model, file: ET.Element) -> tuple[dict[str, int], tuple[EngineJoint, ...]]:
    """Return the bodies by name, and the joints with freedoms, parents first."""
    mjcf = file.tag == "mujoco"
    elements = {element.get("name", "").replace("-", "_"): element for element in file.iter("body") if mjcf}
    top = "/".join(filter(None, (file.get("model"), "worldbody"))) if mjcf else file.get("name", "")
    paths, last = {-1: top}, {-1: -1}  # by body: label that precedes names, and index of the last joint
    links, joints = dict[str, int](), list[EngineJoint]()
    columns = model.joint_type, model.joint_parent, model.joint_child, model.joint_dof_dim
    starts = model.joint_q_start.numpy().tolist(), model.joint_qd_start.numpy().tolist()
    for j, (kind, parent, child, axes) in enumerate(zip(*(c.numpy().tolist() for c in columns), strict=True)):
        label = model.body_label[child]
        name, paths[child] = _tail(label, paths[parent]), label if mjcf else top
        element, last[child] = elements.get(name), last[parent]
        links[name if element is None else element.get("name", "")] = child
        q, v = (slice(start[j], start[j + 1]) for start in starts)
        parts = _parts(element, *axes) if element is not None and kind in (*KINDS, JointType.D6) else []
        for k, (own, of) in enumerate(parts):
            places = slice(q.start + k, q.start + k + 1), slice(v.start + k, v.start + k + 1)
            joints.append(EngineJoint(own, of, last[child], *places, body=element.get("name", "")))
            last[child] = len(joints) - 1
        if not parts and kind != JointType.FIXED:
            own = _tail(model.joint_label[j], paths[child])
            of = "other" if kind == JointType.FREE and parent >= 0 else KINDS.get(kind, "other")
            joints.append(EngineJoint(own, of, last[child], q, v))
            last[child] = len(joints) - 1
    return links, tuple(joints)


def _tail(label: str, path: str) -> str:
    """Return a label without the path before it; a name may contain slashes, too."""
    return label[len(path) + 1 :] if path else label


def _parts(body: ET.Element, linear: int, angular: int) -> list[tuple[str, str]]:
    """Return names and kinds of the hinges and slides of an MJCF body in Newton's order; none if unclear."""
    joints = [
        (joint.get("name") or f"{body.get('name')}Joint_{k}", joint.get("type"))
        for k, joint in enumerate(body.findall("joint"))
    ]
    slides = [name for name, kind in joints if not angular or (linear and kind == "slide")]
    hinges = [name for name, _ in joints if name not in slides]
    if (len(slides), len(hinges)) != (linear, angular):  # a class may define the type
        return []
    return [(name, "prismatic") for name in slides] + [(name, "revolute") for name in hinges]


def joints(body: _Robot) -> Sequence[EngineJoint]:
    """Return the joints with freedoms, a parent before its children."""
    return body.joints


def base(body: _Robot) -> Base:
    """Return the convention of the free joint: pose of the link, velocity of its centre of mass."""
    if all(joint.kind != "free" for joint in body.joints):
        return Base()
    child = body.model.joint_child.numpy()[np.argmax(body.model.joint_type.numpy() == JointType.FREE)]
    com = body.model.body_com.numpy()[child].astype(float)
    return Base(linear="world", angular="world", point="com", placed="origin", com=com)


def mass_matrix(body: _Robot, q) -> np.ndarray:
    """Return H by Newton's composite rigid body algorithm."""
    H, blocks = np.zeros(2 * (body.model.joint_dof_count,)), newton.eval_mass_matrix(body.model, body.at(q))
    for k, v in enumerate(body.parts):
        H[v, v] = blocks.numpy()[k, : v.stop - v.start, : v.stop - v.start]
    return H


def bias(body: _Robot, q, v) -> np.ndarray:
    """Return Coriolis, centrifugal and gravity forces, from Newton's two vectors."""
    return sum(force.numpy().astype(float) for force in _bias(body, q, v).values())


def _bias(body: _Robot, q, v) -> dict[str, warp.array]:
    forces = {"coriolis_force": body.array(), "gravity_force": body.array()}
    newton.eval_inverse_dynamics_passive(body.model, body.at(q, v), **forces)
    return forces


def gravity_forces(body: _Robot, q) -> np.ndarray:
    """Return the forces that hold the robot against gravity."""
    return _bias(body, q, None)["gravity_force"].numpy().astype(float)


def inverse_dynamics(body: _Robot, q, v, a) -> np.ndarray:
    """Return H a + bias, added up by Newton."""
    terms, force = {**_bias(body, q, v), "joint_qdd": body.array(a)}, body.array()
    H = newton.eval_mass_matrix(body.model, body.state)
    newton.eval_inverse_dynamics_force(body.model, body.state, mass_matrix=H, joint_f=force, **terms)
    return force.numpy().astype(float)


def acceleration(body: _Robot, q, v, tau) -> np.ndarray:
    """Return (v1 - v0) / dt over a step of Newton's Featherstone solver, which is exact in v.

    Damping, springs, limits and mimic joints are switched off. Free bodies are moved to the world's origin,
    for the solver loses digits with the distance from there.
    """
    q = np.array(q, dtype=float)
    for start in (joint.q.start for joint in body.joints if joint.kind == "free"):
        q[start : start + 3] = 0.0
    state, after, control = body.at(q, v), body.model.state(), body.model.control()
    control.joint_f, before = body.array(tau), body.array(v).numpy().astype(float)
    body.solver.step(state, after, control, None, STEP)
    return (after.joint_qd.numpy() - before) / STEP if before.size else before


def frames(body: _Robot) -> Sequence[str]:
    """Return the names of all links, those on fixed joints included."""
    return tuple(body.links)


def placement(body: _Robot, q, frame: str) -> np.ndarray:
    """Return the pose of a link frame in the world."""
    body.at(q)
    place, link, (p, R) = np.eye(4), body.links[frame], body.poses()
    place[:3, :3], place[:3, 3] = R[link], p[link]
    return place


def jacobian(body: _Robot, q, frame: str) -> np.ndarray:
    """Return the Jacobian of a link frame's origin; Newton's is that of the link's centre of mass."""
    model, link = body.model, body.links[frame]
    J, own = np.zeros((6, model.joint_dof_count)), newton.eval_jacobian(model, body.at(q)).numpy()
    joint = model.joint_child.numpy().tolist().index(link)
    part = model.joint_articulation.numpy()[joint]
    v, row = body.parts[part], 6 * (joint - model.articulation_start.numpy()[part])
    J[:, v] = own[part, row : row + 6, : v.stop - v.start]
    J[:3] += np.cross(body.poses()[1][link] @ model.body_com.numpy()[link], J[3:], axis=0)
    return J


def com(body: _Robot, q) -> np.ndarray:
    """Return the centre of mass, by Newton's masses and placements of the bodies."""
    body.at(q)
    (p, R), m = body.poses(), body.model.body_mass.numpy().astype(float)
    return m @ (p + np.einsum("nij,nj->ni", R, body.model.body_com.numpy())) / m.sum()
