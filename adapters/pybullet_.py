"""PyBullet as a second source of the mass matrix, the bias forces and the accelerations of a robot.

Everything is in PyBullet's own conventions; `transform`, `from_pinocchio` and `acceleration_offset` relate
them to Pinocchio's. The layout, chosen to be that of PyBullet's calculateMassMatrix, is

- v: with a floating base [omega; v] of the base first, in the axes of its inertial frame, v at its centre of
  mass; then 1 entry per revolute or prismatic joint and 3 per spherical joint (relative angular velocity
  in the inertial frame of the child), in PyBullet's order;
- q: with a floating base the pose of the base inertial frame as getBasePositionAndOrientation gives it
  (position, quaternion x y z w); then 1 entry per revolute or prismatic joint and a quaternion x y z w per
  spherical joint. A fixed base has no entries; its pose is the one it has in PyBullet;
- accelerations are classical: the base entry is that of its centre of mass, not the spatial one;
- forces are dual to v: [moment; force] at the base centre of mass, then N m and N.

Units are SI. Joint limits, friction, damping and mimic are no part of the dynamics compared here.
"""

from __future__ import annotations

from . import missing_engine

try:
    import pybullet
except ImportError as error:
    raise missing_engine("pybullet", "pybullet", error) from None

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.spatial.transform import Rotation

from .._arrays import as_vector
from ..exceptions import AdapterError
from ..ltdl import factor
from ..tree import Tree
from . import _pybullet_step as step
from ._plain_urdf import JOINT_PARTS, parse, plain, write
from ._pybullet_body import Body, Link, adapter_error, cross_matrix, engine_errors
from ._urdf import Inertial, read, sanitised

__all__ = [
    "TENSOR_CAUSE",
    "WAYS",
    "Body",
    "Link",
    "acceleration_offset",
    "bias",
    "file_inertials",
    "forward_dynamics",
    "from_pinocchio",
    "inertials",
    "load",
    "load_plain",
    "mass_matrix",
    "massless_joints",
    "own_acceleration",
    "pinocchio_gravity",
    "random_state",
    "settings",
    "transform",
    "tree",
]

WAYS = {
    "default flags": 0,
    "URDF_USE_INERTIA_FROM_FILE": pybullet.URDF_USE_INERTIA_FROM_FILE,
    "and URDF_MERGE_FIXED_LINKS": pybullet.URDF_USE_INERTIA_FROM_FILE | pybullet.URDF_MERGE_FIXED_LINKS,
}
TENSOR_CAUSE = dict.fromkeys(WAYS, "another inertia tensor than the file's")
TENSOR_CAUSE["default flags"] = "inertia recomputed from collision shapes, not read from the file"
NOTICED = 1e-6  # relative; a smaller change of q̈ is not worth a line

FLAGS = (
    pybullet.URDF_USE_INERTIA_FROM_FILE
    | pybullet.URDF_IGNORE_COLLISION_SHAPES
    | pybullet.URDF_IGNORE_VISUAL_SHAPES
)


def load(path, floating: bool = False, gravity=(0.0, 0.0, -9.81)) -> Body:
    """Load the dynamics of a URDF alone into a client of its own.

    PyBullet gets a sanitised copy (see `treefactor.adapters._urdf`): meshes are not looked for, joint limits,
    friction, damping and mimic are left out, and links without ``<inertial>`` have no mass.

    Parameters
    ----------
    path : str or path-like
    floating : bool
        Whether the base is free.
    gravity : array_like, shape (3,)
        m/s^2, in the world.

    Returns
    -------
    Body
        Close it, or use it in a ``with`` statement.

    Raises
    ------
    AdapterError
        Where the file is missing, malformed, or PyBullet cannot represent the robot; the message names the
        file, the reason and the link or joint.
    """
    path = Path(path)
    text, moments = sanitised(path, floating)
    client = pybullet.connect(pybullet.DIRECT)
    try:
        body_id = _load_text(text, not floating, client)
        pybullet.setGravity(*as_vector(gravity, 3, "gravity"), physicsClientId=client)
        _set_moments(moments, body_id, client)
        body = Body(body_id, client)
    except AdapterError as error:
        pybullet.disconnect(client)
        raise AdapterError(f"{path}: {error}", "pybullet", path, error.joint) from None
    except BaseException:
        pybullet.disconnect(client)
        raise
    body.owns_client = True
    return body


def load_plain(path, floating: bool = False, gravity=(0.0, 0.0, -9.81), way: str = "default flags") -> Body:
    """Load a URDF as it is, in one of `WAYS`, as scripts do.

    Its H is not the file's then: see `inertials` and `treefactor.causes`. Other arguments as for `load`.
    """
    read(Path(path))  # a joint without a name of its own makes PyBullet crash
    return _load_file(path, floating, gravity, WAYS[way])


def _load_file(path, floating: bool, gravity, flags: int) -> Body:
    client = pybullet.connect(pybullet.DIRECT)
    try:
        with engine_errors("loadURDF refuses it, see its output", path):
            body_id = pybullet.loadURDF(
                str(path), useFixedBase=not floating, flags=flags, physicsClientId=client
            )
        pybullet.setGravity(*as_vector(gravity, 3, "gravity"), physicsClientId=client)
        body = Body(body_id, client)
        body.base_rotation(np.array([0.0] * 6 + [1.0]))  # has none beyond 128 links
    except BaseException:
        pybullet.disconnect(client)
        raise
    body.owns_client = True
    return body


def _load_dynamics(path: Path, floating: bool, gravity, limits: bool) -> Body:
    """Load the inertias and joints of a file as they are, with or without joint limits, but no shapes."""
    robot, _ = plain(parse(path, "pybullet"), path, "pybullet", JOINT_PARTS | {"limit"})
    for limit in [] if limits else robot.iterfind("joint/limit"):
        limit.attrib |= {"lower": "1", "upper": "-1"}  # PyBullet makes no constraint of them, but wants some
    with TemporaryDirectory(prefix="treefactor") as folder:
        copy = Path(folder, "dynamics.urdf")
        copy.write_text(write(robot), encoding="utf-8")
        return _load_file(copy, floating, gravity, FLAGS)


def inertials(body: Body) -> dict[str, Inertial]:
    """Inertias of the links that enter H, by name, in the axes of the link frame."""
    found = {
        link.name: Inertial(
            link.mass, link.inertial @ link.centre, link.inertial * link.moments @ link.inertial.T
        )
        for link in body.links
    }
    if body.floating:
        R = body.base_inertial
        found[body.base] = Inertial(body.base_mass, body.base_centre, R * body.base_moments @ R.T)
    return found


def file_inertials(path, floating: bool) -> dict[str, Inertial]:
    """Inertias of the links of a URDF that can move, by name, in the axes of the link frame."""
    robot = read(Path(path))
    return {name: inertial for name, inertial in robot.links.items() if floating or name != robot.root}


def _load_text(text: str, fixed: bool, client: int) -> int:
    with TemporaryDirectory(prefix="treefactor") as folder:
        copy = Path(folder, "sanitised.urdf")
        copy.write_text(text, encoding="utf-8")
        with engine_errors("PyBullet refused it, see its output"):
            return pybullet.loadURDF(str(copy), useFixedBase=fixed, flags=FLAGS, physicsClientId=client)


def _set_moments(moments: dict[str, np.ndarray], body_id: int, client: int) -> None:
    """Give links the principal moments their URDF could not hold; must come before the first mass matrix."""
    for i in range(pybullet.getNumJoints(body_id, physicsClientId=client)):
        own = moments.get(pybullet.getJointInfo(body_id, i, physicsClientId=client)[12].decode())
        if own is not None:
            pybullet.changeDynamics(body_id, i, localInertiaDiagonal=own.tolist(), physicsClientId=client)


def tree(body: Body) -> Tree:
    """Tree of the freedoms, named after the joints; those of a floating base are ``root_joint[0..5]``."""
    first = 1 if body.floating else 0
    node = [first - 1]  # that of link i, or of what carries it, at i + 1
    parents = [-1] * first
    for link in body.links:
        above = node[link.parent + 1]
        if link.freedoms:
            parents.append(above)
        node.append(len(parents) - 1 if link.freedoms else above)
    names = ["root_joint"] * first + [link.joint for link in body.moving]
    return Tree.from_joints(parents, [6] * first + [link.freedoms for link in body.moving], names)


def mass_matrix(body: Body, q) -> np.ndarray:
    """Joint-space inertia matrix by PyBullet, shape (nv, nv).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
        As the module's docstring says; the pose of the base does not matter.

    Raises
    ------
    ShapeError
        Where q has another length; PyBullet would go on with leftovers of the previous call.
    AdapterError
        Where a mass was changed behind PyBullet's cache, or PyBullet refuses the body.
    """
    q = as_vector(q, body.nq, "q")
    body.require_unchanged()
    return body.mass_matrix(q)


def bias(body: Body, q, v) -> np.ndarray:
    """Forces that hold the acceleration at zero, by PyBullet's inverse dynamics, shape (nv,).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v : array_like, shape (nv,)

    Notes
    -----
    Called with the identity as orientation of the base, and gravity turned into the base frame: PyBullet
    ignores the orientation of a fixed base and misreads the Euler angles of a floating one. The output
    comes as [force; moment] of the base and is swapped to be dual to v. The client's gravity is restored.
    """
    q, v = as_vector(q, body.nq, "q"), as_vector(v, body.nv, "v")
    body.require_unchanged()
    if not body.nv:
        return np.zeros(0)
    pose = [0.0] * 6 + [1.0] if body.floating else []
    still = [0.0] * body.nv
    with _gravity(body, body.base_rotation(q).T @ body.gravity), engine_errors("no inverse dynamics"):
        force = pybullet.calculateInverseDynamics(
            body.id, pose + body.angles(q), v.tolist(), still, physicsClientId=body.client
        )
    force = np.array(force)
    if body.floating:
        force[:6] = np.roll(force[:6], 3)
    return force


def forward_dynamics(body: Body, q, v, tau) -> np.ndarray:
    """Acceleration H^-1 (tau - bias) through the factor of PyBullet's mass matrix, shape (nv,).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v, tau : array_like, shape (nv,)

    Raises
    ------
    AdapterError
        Where a joint moves nothing that has mass; the message names it.
    """
    tau = as_vector(tau, body.nv, "tau")
    _require_masses(body)
    return factor(mass_matrix(body, q), tree(body)).solve(tau - bias(body, q, v))


def own_acceleration(body: Body, q, v, tau) -> np.ndarray:
    """Acceleration (v1 - v0) / dt over one stepSimulation, which uses neither H nor the bias, shape (nv,).

    The body is left at the new state, its motors, damping and sleeping off, its velocity clamp raised.

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v, tau : array_like, shape (nv,)

    Raises
    ------
    AdapterError
        Where the client holds other bodies, constraints or substeps, q is beyond a joint limit, or a joint
        moves nothing that has mass.

    Notes
    -----
    PyBullet's step is exact in v, so the step length does not matter (1.5e-10 at 1/240 s as at 1e-5 s).
    """
    q = as_vector(q, body.nq, "q")
    v, tau = as_vector(v, body.nv, "v"), as_vector(tau, body.nv, "tau")
    _require_masses(body)
    body.require_unchanged()
    step.require_solitude(body)
    step.require_within_limits(body, q)
    return step.step(body, q, v, tau)


def settings(path, floating: bool, gravity, rng: np.random.Generator) -> list[tuple[str, float, tuple]]:
    """What else a script meets that steps this URDF: default motors, damping, limits.

    Returns
    -------
    list of (str, float, tuple of str)
        Name, relative error that it alone makes of q̈ at a random state, and the joints concerned.
    """
    found = []
    seed = int(rng.integers(2**32))
    for name in (step.NONE, *step.SETTINGS):  # without any of them nothing must be left
        with _load_dynamics(Path(path), floating, gravity, limits=name == step.LIMITS) as body:
            if not body.nv:
                return []
            q, v, tau = random_state(body, np.random.default_rng(seed))
            _require_masses(body)
            expected = forward_dynamics(body, q, v, tau)
            error = np.abs(step.step(body, q, v, tau, name) - expected).max() / np.abs(expected).max()
            where = step.concerned(body, name, q)
            if error > NOTICED and (where or name in (step.NONE, step.MOTORS, step.LINK_DAMPING)):
                found.append((name, float(error), where))
    return found


def random_state(body: Body, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q, v and tau of a body in its own layout."""
    q = rng.normal(size=body.nq)
    quaternions = [link.q for link in body.moving if link.freedoms == 3]
    for at in [slice(3, 7), *quaternions] if body.floating else quaternions:
        q[at] /= np.linalg.norm(q[at])
    return q, *rng.normal(size=(2, body.nv))


def massless_joints(body: Body) -> list[str]:
    """Names of the joints that carry neither mass nor inertia, for which H is singular."""
    heavy, names = set(), []
    for i in reversed(range(len(body.links))):
        link = body.links[i]
        if link.mass or link.moments.any() or i in heavy:
            heavy.add(link.parent)
        elif link.freedoms:
            names.append(link.joint)
    return names[::-1]


def _require_masses(body: Body) -> None:
    massless = massless_joints(body)
    if massless:
        raise adapter_error(
            f"H is singular: no mass moves with joint {', '.join(massless)} of {body.base!r}", massless[0]
        )


@contextmanager
def _gravity(body: Body, gravity: np.ndarray):
    """Give the client another gravity for a while."""
    kept = body.gravity
    pybullet.setGravity(*gravity, physicsClientId=body.client)
    try:
        yield
    finally:
        pybullet.setGravity(*kept, physicsClientId=body.client)


# ------------------------------------------------------------------------------------ Pinocchio's conventions


def transform(body: Body, model, q=None) -> np.ndarray:
    """T with v_pinocchio = T v, shape (model.nv, nv); joints are matched by name.

    Parameters
    ----------
    body : Body
    model : pinocchio.Model
        A free-flyer, where there is one, is called "root_joint".
    q : array_like, shape (model.nq,), optional
        Taken for the sake of a common signature: this T is constant.

    Raises
    ------
    AdapterError
        Where the joints of the two are not the same.

    Notes
    -----
    H = T' H_pin T, tau = T' tau_pin, a_pin = T a + offset with `acceleration_offset`, and so
    bias = T' (nle + H_pin offset). With R, c the base inertial frame in the link frame and S(c) x = c × x,
    the base block is [[S(c) R, R], [R, 0]]; a spherical joint has the R of its child link.
    """
    joints = _joints(body, model)
    T = np.zeros((model.nv, body.nv))
    if body.floating:
        R, at = body.base_inertial, model.idx_vs[joints["root_joint"]]
        T[at : at + 6, :6] = np.block([[cross_matrix(body.base_centre) @ R, R], [R, np.zeros((3, 3))]])
    for link in body.moving:
        at = model.idx_vs[joints[link.joint]]
        T[at : at + link.freedoms, link.v] = link.inertial if link.freedoms == 3 else 1.0
    return T


def acceleration_offset(body: Body, model, q, v) -> np.ndarray:
    """c with a_pinocchio = T a + c, shape (model.nv,); zero for a fixed base.

    Parameters
    ----------
    body : Body
    model : pinocchio.Model
    q : array_like, shape (model.nq,)
    v : array_like, shape (model.nv,)
        Both as Pinocchio lays them out.

    Notes
    -----
    Pinocchio's acceleration of the base is spatial, PyBullet's that of the CoM: with c the CoM in the link
    frame, a_lin = a_com - ω × (v + ω × c) - α × c, of which T does the last term.
    """
    as_vector(q, model.nq, "q")
    v = as_vector(v, model.nv, "v")
    joints, offset = _joints(body, model), np.zeros(model.nv)
    if body.floating:
        at = model.idx_vs[joints["root_joint"]]
        linear, angular = v[at : at + 3], v[at + 3 : at + 6]
        offset[at : at + 3] = -np.cross(angular, linear + np.cross(angular, body.base_centre))
    return offset


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
    joints, mine = _joints(body, model), np.empty(body.nq)
    if body.floating:
        at = model.idx_qs[joints["root_joint"]]
        R = Rotation.from_quat(q[at + 3 : at + 7])
        mine[:3] = q[at : at + 3] + R.apply(body.base_centre)
        mine[3:7] = (R * Rotation.from_matrix(body.base_inertial)).as_quat()
    for link in body.moving:
        joint = joints[link.joint]
        x = q[model.idx_qs[joint] : model.idx_qs[joint] + model.nqs[joint]]
        if link.freedoms == 3:  # Q_inertial = R' Q_link R
            inertial = Rotation.from_matrix(link.inertial)
            x = (inertial.inv() * Rotation.from_quat(x) * inertial).as_quat()
        mine[link.q] = np.arctan2(x[1], x[0]) if x.size == 2 else x
    return mine, np.linalg.solve(transform(body, model), v)


def pinocchio_gravity(body: Body) -> np.ndarray:
    """Value for Pinocchio's ``model.gravity.linear``, m/s^2, shape (3,).

    Notes
    -----
    The world of a Pinocchio model with a fixed base is the link frame of that base, which PyBullet may have
    placed in any orientation; with a floating base it is PyBullet's world.
    """
    if body.floating:
        return body.gravity
    return body.base_inertial @ body.base_rotation(np.empty(0)).T @ body.gravity


def _joints(body: Body, model) -> dict[str, int]:
    """Index of the joints of model by name; they must be those of body."""
    own = {link.joint: link.freedoms for link in body.moving}
    if body.floating:
        own["root_joint"] = 6
    joints = {model.names[j]: j for j in range(1, model.njoints)}
    theirs = {name: model.nvs[j] for name, j in joints.items()}
    if own != theirs or len(joints) != model.njoints - 1:
        odd = sorted(name for name in own.keys() | theirs.keys() if own.get(name) != theirs.get(name))
        raise adapter_error(
            f"the Pinocchio model does not have the joints of {body.base!r}; they differ in {', '.join(odd)}",
            *odd[:1],
        )
    return joints
