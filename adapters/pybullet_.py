"""Compute the dynamics of a robot by PyBullet, to compare engines.

q and v are laid out as `joints` and `base` declare, chosen to be those of PyBullet's calculateMassMatrix. A
floating base has in q the pose of its inertial frame (position, quaternion x y z w), in v its angular
velocity and the velocity of its centre of mass, both in the axes of the inertial frame. A spherical joint has
a quaternion x y z w and the relative angular velocity in the inertial frame of the child; every other joint
has one angle or distance, continuous joints too. A fixed base has no entries, and the pose that PyBullet has.

Accelerations are classical: that of the base is of its centre of mass. Forces are dual to v. Units are SI.
Joint motors, damping, friction and limits are not part of the dynamics here. PyBullet has no centre of mass,
momentum and energies: these are sums over the states of the links that it computes.
"""

from __future__ import annotations

from . import requires

with requires("pybullet", "pybullet"):
    from ._pybullet_import import pybullet

from functools import partial

import numpy as np

from .._util.protocol import Base, EngineJoint
from .._util.validation import as_vector
from .._util.xml import as_path
from ..exceptions import AdapterError
from ..model.joints import Inertia
from ..tolerances import PRINCIPAL_AXES, ROUNDINGS
from . import _pybullet_files, _pybullet_step
from ._accelerations import accelerator_of, tree_of
from ._pybullet_body import Body, engine_errors, matrix
from ._pybullet_body import Link as Link
from ._pybullet_model import model as model
from ._pybullet_model import pinocchio_gravity as pinocchio_gravity
from ._translation import translation_of

NAME = "PyBullet"
READS, DTYPE = ("urdf",), "float64"
EPSILON = PRINCIPAL_AXES / ROUNDINGS
REWRITES = frozenset(_pybullet_files.REWRITING)
OPTIONS = {**_pybullet_files.OPTIONS, "root_link": "leaves out the mass of the root link of a fixed base"}
KINDS = {
    pybullet.JOINT_REVOLUTE: "revolute",
    pybullet.JOINT_PRISMATIC: "prismatic",
    pybullet.JOINT_SPHERICAL: "spherical",
}
AT_ORIGIN = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]  # pose of the base


def load(
    path, floating: bool = False, gravity=(0.0, 0.0, -9.81), options: frozenset[str] | None = None
) -> Body:
    """Load a URDF with PyBullet's default flags; ``OPTIONS`` say what it then makes of the file.

    By default the file is first read by treefactor, which refuses what PyBullet misreads or crashes with.
    With an empty set of options PyBullet alone reads it. Raises AdapterError for a file that is refused.
    """
    path = as_path(path, "pybullet")
    if options is not None and not options:
        return _opened(path, floating, gravity, 0)
    options = options or frozenset()
    robot = _pybullet_files.read_robot(path)
    flags = _pybullet_files.SHAPELESS if _pybullet_files.FROM_FILE in options else 0
    text, moments = _pybullet_files.rewritten(path, robot, options, floating)
    if text and not ("lines" in options and _pybullet_files.is_cut(path)):  # it must be accepted as it is
        _opened(path, floating, gravity, flags).close()
    body = _opened(path, floating, gravity, flags, text, moments)
    if "root_link" in options and not floating:
        body._keep(base_mass=robot.links[robot.root].mass)
    return body


def _opened(path, floating: bool, gravity, flags: int, text="", moments=None) -> Body:
    """Return the body of a file, or of another text of it, in a client of its own."""
    body_id, client = _pybullet_files.loaded(path, floating, gravity, flags, text, moments)
    try:
        return Body(body_id, client, owns_client=True)
    except (AdapterError, UnicodeDecodeError) as error:
        pybullet.disconnect(client)
        reason = "PyBullet passes names on as bytes, and one is not UTF-8: " * isinstance(error, ValueError)
        name = getattr(error, "joint", None)
        raise AdapterError(f"{path}: {reason}{error}", "pybullet", path, name) from None


def joints(body: Body) -> list[EngineJoint]:
    """Return the joints with freedoms, in the order of v; a floating base is ``root_joint``."""
    free = EngineJoint("root_joint", "free", -1, slice(0, 7), slice(0, 6))
    engine_joints = [free] * body.floating
    above = [len(engine_joints) - 1]  # joint that carries the base, and link i at i + 1
    for link in body.links:
        parent, axes = above[link.parent + 1], link.inertial if link.freedoms == 3 else None
        if link.freedoms:
            engine_joints.append(EngineJoint(link.joint, KINDS[link.kind], parent, link.q, link.v, axes))
        above.append(len(engine_joints) - 1 if link.freedoms else parent)
    return engine_joints


def base(body: Body) -> Base:
    """Return the convention of a floating base."""
    frame = {"point": "com", "placed": "com", "com": body.base_centre, "axes": body.base_inertial}
    return Base(order="angular-linear", linear="inertial", angular="inertial", **frame)


def mass_matrix(body: Body, q) -> np.ndarray:
    """Compute the joint-space inertia matrix, shape (nv, nv); the pose of the base does not matter."""
    q = as_vector(q, body.nq, "q")  # for another length PyBullet would reuse values of the previous call
    body.require_unchanged()
    return body.mass_matrix(q)


def bias(body: Body, q, v) -> np.ndarray:
    """Compute the forces that hold the acceleration at zero, in N m and N, shape (nv,)."""
    return inverse_dynamics(body, q, v, np.zeros(body.nv))


def gravity_forces(body: Body, q) -> np.ndarray:
    """Compute the bias at rest, in N m and N, shape (nv,)."""
    return bias(body, q, np.zeros(body.nv))


def inverse_dynamics(body: Body, q, v, a) -> np.ndarray:
    """Compute forces H a + bias by PyBullet's recursion, in N m and N, shape (nv,).

    Called with the identity as orientation of the base, and gravity turned into the base frame: PyBullet
    ignores the orientation of a fixed base and misreads the Euler angles of a floating one. The output
    comes as [force; moment] of the base and is swapped to be dual to v. The client's gravity is restored.
    """
    q, v, a = as_vector(q, body.nq, "q"), as_vector(v, body.nv, "v"), as_vector(a, body.nv, "a")
    body.require_unchanged()
    if not body.nv:
        return np.zeros(0)
    pose, kept = AT_ORIGIN * body.floating, body.gravity
    pybullet.setGravity(*body.base_rotation(q).T @ kept, physicsClientId=body.client)
    state = pose + body.angles(q), v.tolist(), a.tolist()
    try:
        with engine_errors("no inverse dynamics"):
            force = np.array(pybullet.calculateInverseDynamics(body.id, *state, physicsClientId=body.client))
    finally:
        pybullet.setGravity(*kept, physicsClientId=body.client)
    if body.floating:
        force[:6] = np.roll(force[:6], 3)
    return force


tree = tree_of(joints)
forward_dynamics = accelerator_of(mass_matrix, bias, tree)
transform, acceleration_offset, from_pinocchio = translation_of(joints, base, "pybullet")


def acceleration(body: Body, q, v, tau) -> np.ndarray:
    """Compute (v1 - v0) / dt over one stepSimulation, with motors, damping and limits off, shape (nv,).

    PyBullet's step is exact in v, so its length does not matter. Raises AdapterError if the client holds
    other bodies, constraints or substeps, or links of the body push each other. Joint limits are restored.
    """
    q, v, tau = as_vector(q, body.nq, "q"), as_vector(v, body.nv, "v"), as_vector(tau, body.nv, "tau")
    body.require_unchanged()
    return _pybullet_step.free_step(body, q, v, tau)


def frames(body: Body) -> list[str]:
    """Return the names of the links, the base first."""
    return [body.base, *(link.name for link in body.links)]


def placement(body: Body, q, frame: str) -> np.ndarray:
    """Compute the pose of a link frame in the world, shape (4, 4)."""
    k = frames(body).index(frame)
    (_, _, p, R, _, _), (centre, inertial), pose = _links(body, q)[k], _inertial_frames(body)[k], np.eye(4)
    pose[:3, :3] = R @ inertial.T
    pose[:3, 3] = p - pose[:3, :3] @ centre
    return pose


def jacobian(body: Body, q, frame: str) -> np.ndarray:
    """Compute the Jacobian of a link frame's origin, world axes, linear rows first, shape (6, nv).

    PyBullet's has the axes of the base's inertial frame. Its point is relative to the CoM of the base, but to
    the joint of a link and not, as its documentation says, to the link's CoM.
    """
    q, k = as_vector(q, body.nq, "q"), frames(body).index(frame)
    point = np.zeros(3) if k else -body.base_inertial.T @ body.base_centre
    rest = [0.0] * len(body.angles(q))
    arguments = k - 1, point.tolist(), body.angles(q), rest, rest
    with engine_errors("no Jacobian"):
        parts = pybullet.calculateJacobian(body.id, *arguments, physicsClientId=body.client)
    return np.concatenate([body.base_rotation(q) @ part for part in parts])


def com(body: Body, q) -> np.ndarray:
    """Compute the centre of mass of all links in the world (m), shape (3,)."""
    rows = _links(body, q)
    return sum(m * p for m, _, p, _, _, _ in rows) / sum(m for m, *_ in rows)


def momentum(body: Body, q, v) -> np.ndarray:
    """Compute linear momentum and angular momentum about the centre of mass, world axes, shape (6,)."""
    c, rows = com(body, q), _links(body, q, v)
    spin = sum(R @ (moments * (R.T @ w)) for _, moments, _, R, _, w in rows)
    orbit = sum(np.cross(p - c, m * u) for m, _, p, _, u, _ in rows)
    return np.concatenate([sum(m * u for m, _, _, _, u, _ in rows), spin + orbit])


def kinetic_energy(body: Body, q, v) -> float:
    """Compute the kinetic energy (J)."""
    rows = _links(body, q, v)
    return sum(m * u @ u + moments @ np.square(R.T @ w) for m, moments, _, R, u, w in rows) / 2.0


def potential_energy(body: Body, q) -> float:
    """Compute the energy of gravity, zero for masses at the world's origin (J)."""
    return -sum(m * body.gravity @ p for m, _, p, _, _, _ in _links(body, q))


def inertials(body: Body) -> dict[str, Inertia]:
    """Return the inertias of the links that enter H, by name, in the axes of the link frame."""
    rows = [(body.base_mass, body.base_moments), *((link.mass, link.moments) for link in body.links)]
    described = zip(frames(body), rows, _inertial_frames(body), strict=True)
    all_links = {name: Inertia(m, c, R * I @ R.T) for name, (m, I), (c, R) in described}
    return {name: inertia for name, inertia in all_links.items() if name != body.base or body.floating}


def settings(path, floating: bool, gravity, rng: np.random.Generator) -> list[tuple[str, float, tuple]]:
    """Find what acts in a script that steps the file: name, relative effect on q̈, joints or links."""
    opened = partial(_opened, as_path(path, "pybullet"), floating, gravity)
    return _pybullet_step.acting(opened, as_path(path, "pybullet"), forward_dynamics, rng)


def _inertial_frames(body: Body) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the CoM and the axes of the inertial frame in the link frame, of the base and all links."""
    frames = [(link.inertial @ link.centre, link.inertial) for link in body.links]
    return [(body.base_centre, body.base_inertial), *frames]


def _links(body: Body, q, v=None) -> list[tuple]:
    """Return mass, moments, pose and velocity in the world of the inertial frames of base and links."""
    v = np.zeros(body.nv) if v is None else as_vector(v, body.nv, "v")
    _pybullet_step.set_state(body, as_vector(q, body.nq, "q"), v)
    where = {"physicsClientId": body.client}
    pose, twist = (
        get(body.id, **where) for get in (pybullet.getBasePositionAndOrientation, pybullet.getBaseVelocity)
    )
    rows = [(body.base_mass, body.base_moments, *pose, *twist)]
    for i, link in enumerate(body.links):
        state = pybullet.getLinkState(body.id, i, 1, 1, **where)
        rows.append((link.mass, link.moments, *state[:2], *state[6:8]))
    return [(m, I, np.array(p), matrix(R), np.array(u), np.array(w)) for m, I, p, R, u, w in rows]
