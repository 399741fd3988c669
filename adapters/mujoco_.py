"""MuJoCo as a second source of the mass matrix, the bias forces and the accelerations of a robot.

Everything is in MuJoCo's own conventions; `transform`, `from_pinocchio` and `acceleration_offset` relate them
to Pinocchio's. q and v are laid out as ``MjData.qpos`` and ``MjData.qvel``:

- free joint: position of the body's origin and quaternion w x y z; velocity of the origin in world axes,
  angular velocity in body axes;
- ball joint: quaternion w x y z; angular velocity in the axes of the child body;
- hinge and slide: one angle or distance, continuous joints too.

Accelerations are the derivatives of v: classical, not spatial. Units are SI. Armature is part of H. Joint
damping, springs, fluid and gravity compensation are `passive`, and no part of `bias` or of any acceleration
here; neither are contacts, limits, friction loss, equality constraints (mimic) and actuators.
"""

from __future__ import annotations

from . import missing_engine

try:
    import mujoco
except ImportError as error:
    raise missing_engine("MuJoCo", "mujoco", error) from None

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from .._arrays import as_vector
from ..ltdl import factor
from ..tree import Tree
from ._mjcf import mjcf
from ._mujoco_body import FREE, SIZES, Body, Joint, adapter_error
from ._plain_urdf import JOINT_PARTS, parse, plain, write
from ._urdf import Inertial, read, without_fixed_joints

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
    "load",
    "load_plain",
    "mass_matrix",
    "model_changes",
    "own_acceleration",
    "passive",
    "qld",
    "quiet",
    "random_state",
    "settings",
    "transform",
    "tree",
]

WAYS = ("URDF importer",)
TENSOR_CAUSE = {"URDF importer": "another inertia tensor than the file's"}
NOTICED = 1e-6  # relative; a smaller change of q̈ is not worth a line

ROUND_OFF = 1e-9  # relative; D and its inverse, both MuJoCo's, are farther apart only where they are misread


def load(path, floating: bool = False, gravity=(0.0, 0.0, -9.81)) -> Body:
    """Load a URDF or an MJCF.

    Of a URDF MuJoCo gets the dynamics alone, as an MJCF (see `treefactor.adapters._mjcf`): meshes are not
    looked for; joint limits, friction, damping and mimic are left out. An MJCF is taken as it is.

    Parameters
    ----------
    path : path-like
    floating : bool
        Put a free joint named ``root_joint`` under the root link of a URDF. An MJCF has its own free joint or
        none, and True only demands that it has.
    gravity : array_like, shape (3,)
        m/s^2, in the world; None keeps that of an MJCF.

    Raises
    ------
    AdapterError
        Where the file is missing, malformed or refused by MuJoCo; names the file, the reason and the body.
    ShapeError, NonFiniteError
        Where gravity is no vector.
    """
    path = Path(path)
    if parse(path, "mujoco").tag == "robot":
        text, odd = mjcf(path, floating)
        model = _compile(mujoco.MjModel.from_xml_string, text, path)
        for name, (mass, moments) in odd.items():
            k = model.body(name).id
            model.body_mass[k], model.body_inertia[k] = mass, moments
        if odd:
            mujoco.mj_setConst(model, mujoco.MjData(model))  # diagonals of "simple" freedoms
    else:
        model = _compile(mujoco.MjModel.from_xml_path, str(path), path)
        if floating and FREE not in model.jnt_type:
            raise adapter_error("no body of this MJCF has a free joint", file=path)
    if gravity is not None:
        model.opt.gravity[:] = as_vector(gravity, 3, "gravity")
    return Body(model)


def load_plain(path, floating: bool = False, gravity=(0.0, 0.0, -9.81), way: str = "URDF importer") -> Body:
    """Load a URDF through MuJoCo's own importer, its shapes left out so that no mesh is looked for.

    The importer welds the root link to the world; ``floating`` cannot change that.

    Raises
    ------
    AdapterError
        Where MuJoCo refuses the file, as it does if a moving body has no mass or moments that break
        A + B >= C; names the body.
    """
    path = Path(path)
    robot, _ = plain(parse(path, "mujoco"), path, "mujoco", JOINT_PARTS | {"limit", "mimic"})
    model = _compile(mujoco.MjModel.from_xml_string, write(robot), path)
    model.opt.gravity[:] = as_vector(gravity, 3, "gravity")
    return Body(model)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep MuJoCo from writing its warnings to a log file in the working directory."""
    mujoco.set_mju_user_warning(lambda message: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(None)


def inertials(body: Body) -> dict[str, Inertial]:
    """Inertias of the bodies, by name, in the axes of the body frame."""
    model, found = body.model, {}
    for k in range(1, model.nbody):
        R = Rotation.from_quat(np.roll(model.body_iquat[k], -1)).as_matrix()
        tensor = R * model.body_inertia[k] @ R.T
        found[model.body(k).name] = Inertial(float(model.body_mass[k]), model.body_ipos[k].copy(), tensor)
    return found


def model_changes(body: Body, model) -> dict[str, dict[str, Callable]]:
    """Armature and gravity of the body that a Pinocchio model lacks, as changes of such a model, by cause."""
    changes: dict[str, dict[str, Callable]] = {ARMATURE: {}, GRAVITY: {}}
    for joint, _, at_v in _matched(body, model):
        own = body.model.dof_armature[joint.v].copy()
        if not np.allclose(own, model.armature[at_v], rtol=1e-12, atol=0.0):
            changes[ARMATURE][joint.name] = partial(_set_armature, at=at_v, value=own)
    disabled = body.model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    gravity = np.zeros(3) if disabled else body.model.opt.gravity.copy()
    if not np.allclose(gravity, model.gravity.linear, rtol=1e-12, atol=0.0):
        changes[GRAVITY]["world"] = partial(_set_gravity, value=gravity)
    return {cause: found for cause, found in changes.items() if found}


def _set_armature(model, at: slice, value: np.ndarray) -> None:
    armature = np.array(model.armature)
    armature[at] = value
    model.armature = armature


def _set_gravity(model, value: np.ndarray) -> None:
    model.gravity.linear = value


def file_inertials(path, floating: bool) -> dict[str, Inertial]:
    """Inertias of the links of a URDF that MuJoCo has bodies for: links on fixed joints are merged."""
    robot = without_fixed_joints(read(Path(path)))
    return {name: inertial for name, inertial in robot.links.items() if floating or name != robot.root}


def tree(body: Body) -> Tree:
    """Tree of the freedoms as ``dof_parentid`` has it, named after the joints."""
    names = [
        f"{joint.name}[{d}]" if joint.nv > 1 else joint.name for joint in body.joints for d in range(joint.nv)
    ]
    return Tree(body.model.dof_parentid, names)


def mass_matrix(body: Body, q) -> np.ndarray:
    """Joint-space inertia matrix H by MuJoCo, armature included, shape (nv, nv).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)

    Raises
    ------
    ShapeError, NonFiniteError
        Where q has another length or is not finite.
    """
    data = body.forward(q, np.zeros(body.nv))
    values, (rows, columns) = (data.M, body.csr()) if hasattr(data, "M") else (data.qM, body.upward())
    H = np.zeros((body.nv, body.nv))
    H[rows, columns] = H[columns, rows] = values
    return H


def bias(body: Body, q, v) -> np.ndarray:
    """Coriolis, centrifugal and gravity forces ``qfrc_bias``, in N m and N, shape (nv,).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v : array_like, shape (nv,)
    """
    return body.forward(q, v).qfrc_bias.copy()


def passive(body: Body, q, v) -> np.ndarray:
    """Forces ``qfrc_passive`` of dampers, springs, fluid and gravity compensation, in N m and N, shape (nv,).

    Add them to tau for the motion MuJoCo itself would simulate.

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v : array_like, shape (nv,)
    """
    return body.forward(q, v).qfrc_passive.copy()


def forward_dynamics(body: Body, q, v, tau) -> np.ndarray:
    """q̈ = H^-1 (tau - bias) through our factor of MuJoCo's H, shape (nv,).

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
    """q̈ by MuJoCo alone: ``qacc_smooth`` of mj_forward under the applied forces tau - passive, shape (nv,).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v, tau : array_like, shape (nv,)
    """
    tau = as_vector(tau, body.nv, "tau")
    return body.forward(q, v, tau - passive(body, q, v)).qacc_smooth.copy()


def random_state(body: Body, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q, v and tau of a body in its own layout."""
    q = body.model.qpos0.copy()
    mujoco.mj_integratePos(body.model, q, rng.normal(size=body.nv), 1.0)
    return q, *rng.normal(size=(2, body.nv))


ARMATURE = "another armature"
GRAVITY = "another gravity"
NONE = "unexplained"
SETTINGS = {
    "joint damping of the file acts": "dof_damping",
    "friction loss of the file acts": "dof_frictionloss",
    "joint limits push back": "jnt_limited",
    "mimic joints are tied by a soft constraint": "eq_active0",
}


def settings(path, floating: bool, gravity, rng: np.random.Generator) -> list[tuple[str, float, tuple]]:
    """What else is in ``qacc`` of this URDF as MuJoCo's own importer reads it: damping, friction, limits.

    Returns
    -------
    list of (str, float, tuple of str)
        Name, relative error that it alone makes of q̈ at a random state, and the joints concerned.
    """
    body = load_plain(path, floating, gravity)
    model, (q, v, tau) = body.model, random_state(body, rng)
    if not body.nv:
        return []
    expected = forward_dynamics(body, q, v, tau)
    kept = {name: getattr(model, field).copy() for name, field in SETTINGS.items()}
    found = []
    for name in (NONE, *SETTINGS):  # without any of them nothing must be left
        for other, field in SETTINGS.items():
            getattr(model, field)[:] = kept[other] if other == name else 0
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(model, data)
        error = float(np.abs(data.qacc - expected).max() / np.abs(expected).max())
        if error > NOTICED:
            where = () if name == NONE else _concerned(model, SETTINGS[name], kept[name] != 0)
            found.append((name, error, where))
    return found


def _concerned(model: mujoco.MjModel, field: str, on: np.ndarray) -> tuple[str, ...]:
    """Joints that the entries of a field that are on belong to."""
    joints = {"dof": model.dof_jntid, "jnt": np.arange(model.njnt), "eq": model.eq_obj1id}
    return tuple(dict.fromkeys(model.joint(j).name for j in joints[field.partition("_")[0]][on]))


def qld(body: Body, q) -> tuple[np.ndarray, np.ndarray]:
    """MuJoCo's own factor of H, equal to ours: unit lower L, shape (nv, nv), and D, shape (nv,); H = L^T D L.

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)

    Raises
    ------
    AdapterError
        Where this version of MuJoCo stores ``qLD`` otherwise (3.3.0 and 3.3.1 do).
    """
    data = body.forward(q, np.zeros(body.nv))
    rows, columns = body.csr() or body.upward()
    L = np.zeros((body.nv, body.nv))
    if rows.size == data.qLD.size:
        L[rows, columns] = data.qLD
    D = L.diagonal().copy()
    if not np.allclose(D * data.qLDiagInv, 1.0, rtol=ROUND_OFF):
        raise adapter_error(f"MuJoCo {mujoco.__version__} stores qLD in a way this adapter does not know")
    np.fill_diagonal(L, 1.0)
    return L, D


# ------------------------------------------------------------------------------------ Pinocchio's conventions


def transform(body: Body, model, q) -> np.ndarray:
    """T with v_pinocchio = T v, shape (model.nv, nv); joints are matched by name.

    Parameters
    ----------
    body : Body
    model : pinocchio.Model
    q : array_like, shape (model.nq,)
        Pinocchio's.

    Raises
    ------
    AdapterError
        Where the joints of the two are not the same; names those that differ.

    Notes
    -----
    H = T' H_pin T, tau = T' tau_pin, a_pin = T a + c with c from `acceleration_offset`, and so
    bias = T' (nle + H_pin c). With R the rotation of the free body, its block is [[R', 0], [0, 1]].
    """
    q = as_vector(q, model.nq, "q")
    T = np.zeros((model.nv, body.nv))
    for joint, at_q, at_v in _matched(body, model):
        block = np.eye(joint.nv)
        if joint.kind == FREE:
            block[:3, :3] = Rotation.from_quat(q[at_q][3:]).as_matrix().T
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
        if joint.kind == FREE:
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
        if joint.kind in SIZES:
            mine[joint.q] = [*x[:-4], x[-1], *x[-4:-1]]
        else:
            mine[joint.q] = np.arctan2(x[1], x[0]) if x.size == 2 else x
    return mine, transform(body, model, q).T @ v  # T is a permutation of rotations: T^-1 = T'


def _matched(body: Body, model) -> list[tuple[Joint, slice, slice]]:
    """Every joint of the body with its entries in Pinocchio's q and v."""
    found, odd = [], []
    for j in range(1, model.njoints):
        parts = body.parts(model.names[j])
        at_q, at_v = model.idx_qs[j], model.idx_vs[j]
        for joint in parts:
            nq = model.nqs[j] if len(parts) == 1 else joint.nq  # 2 if continuous
            found.append((joint, slice(at_q, at_q + nq), slice(at_v, at_v + joint.nv)))
            at_q, at_v = at_q + nq, at_v + joint.nv
        if at_v != model.idx_vs[j] + model.nvs[j]:
            odd.append(model.names[j])
    odd += [joint.name for joint in body.joints if all(joint is not other[0] for other in found)]
    if odd:
        raise adapter_error(
            f"the joints of the Pinocchio model are not those of MuJoCo's: {', '.join(odd)}", odd[0]
        )
    return found


# ------------------------------------------------------------------------------------------------- refusals


def _compile(build, source: str, path: Path) -> mujoco.MjModel:
    """Model, or AdapterError with MuJoCo's reason and the body it names."""
    try:
        return build(source)
    except (ValueError, RuntimeError, TypeError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        reason = " ".join(str(error).split()).removesuffix(", line 1")  # all of our own MJCF is line 1
        named = re.search("name '([^']*)'", reason)
        raise adapter_error(f"MuJoCo cannot load it: {reason}", named and named[1], path) from error
