"""Compute the mass matrix, bias forces and accelerations of a robot by MuJoCo, to compare engines.

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

from . import requires

with requires("MuJoCo", "mujoco"):
    import mujoco

import re
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from functools import partial
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from .._util.validation import as_vector
from .._util.xml import as_path, parse
from ..model._urdf import read, without_fixed_joints
from ..model.joints import Inertia
from ..tolerances import SAME_FACTOR
from ..tree.tree import Tree
from ._accelerations import accelerator_of
from ._mjcf import mjcf
from ._mujoco_accelerator import Accelerator
from ._mujoco_body import FREE, Body, Joint, adapter_error, body_names
from ._mujoco_model import model
from ._mujoco_settings import SETTINGS, effect, initial_configuration, only
from ._pinocchio_conventions import acceleration_offset, from_pinocchio, model_changes, transform
from ._plain_urdf import JOINT_PARTS, plain, write
from ._settings import noticed, solved

__all__ = [
    "TENSOR_CAUSE",
    "WAYS",
    "Accelerator",
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
    "model",
    "model_changes",
    "own_acceleration",
    "passive",
    "qld",
    "quiet",
    "random_state",
    "settings",
    "transform",
    "tree",
    "without_tendon_armature",
]

WAYS = ("URDF importer",)
TENSOR_CAUSE = {"URDF importer": "another inertia tensor than the file's"}


def load(path, floating: bool = False, gravity=(0.0, 0.0, -9.81)) -> Body:
    """Load a URDF or an MJCF.

    A URDF is translated to an MJCF that holds only its dynamics (see ``_mjcf``), without meshes, joint
    limits, friction, damping and mimic. An MJCF is loaded unchanged.

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
        If the file is missing, malformed or refused by MuJoCo; names the file, the reason and the body.
    ShapeError, NonFiniteError
        If gravity is not a vector.
    """
    path = as_path(path, "mujoco")
    if parse(path, "mujoco").tag == "robot":
        if gravity is None:
            raise adapter_error("a URDF has no gravity; only an MJCF may be called .xml", file=path)
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
    """Load a URDF through MuJoCo's own importer, without its meshes.

    Boxes, spheres and cylinders are kept: they make contacts, and give mass to links without ``<inertial>``.
    The importer welds the root link to the world, whatever ``floating`` is.

    Raises
    ------
    AdapterError
        If MuJoCo refuses the file, as it does if a moving body has no mass or moments that break
        A + B >= C; names the body.
    """
    path = as_path(path, "mujoco")
    robot, _ = plain(parse(path, "mujoco"), path, "mujoco", JOINT_PARTS | {"limit", "mimic"}, shapes=True)
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


def inertials(body: Body) -> dict[str, Inertia]:
    """Return inertias of the bodies, by name, in the axes of the body frame."""
    model, found, names = body.model, {}, body_names(body.model)
    for k in range(1, model.nbody):
        R = Rotation.from_quat(np.roll(model.body_iquat[k], -1)).as_matrix()
        tensor = R * model.body_inertia[k] @ R.T
        found[names[k]] = Inertia(float(model.body_mass[k]), model.body_ipos[k].copy(), tensor)
    return found


def file_inertials(path, floating: bool) -> dict[str, Inertia]:
    """Return inertias of the links of a URDF that MuJoCo has bodies for: links on fixed joints are merged."""
    robot = without_fixed_joints(read(as_path(path, "mujoco")))
    return {name: inertial for name, inertial in robot.links.items() if floating or name != robot.root}


def without_tendon_armature(body: Body) -> tuple[Body, tuple[str, ...]]:
    """Return a body without armature of tendons, which no tree describes, and the names of those tendons."""
    model = copy(body.model)
    tendons = np.flatnonzero(getattr(model, "tendon_armature", ()))
    names = tuple(model.tendon(i).name or f"tendon {i}" for i in tendons)
    if names:
        model.tendon_armature[:] = 0.0
    return Body(model), names


def tree(body: Body) -> Tree:
    """Return the tree of the freedoms as in ``dof_parentid``, named after the joints."""
    names = [
        f"{joint.name}[{d}]" if joint.nv > 1 else joint.name for joint in body.joints for d in range(joint.nv)
    ]
    return Tree(body.model.dof_parentid, names)


def mass_matrix(body: Body, q) -> np.ndarray:
    """Compute the joint-space inertia matrix H by MuJoCo, armature included, shape (nv, nv).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)

    Raises
    ------
    ShapeError, NonFiniteError
        If q has another length or is not finite.
    """
    data = body.forward(q, np.zeros(body.nv))
    values, (rows, columns) = (data.M, body.csr()) if hasattr(data, "M") else (data.qM, body.upward())
    H = np.zeros((body.nv, body.nv))
    H[rows, columns] = H[columns, rows] = values
    return H


def bias(body: Body, q, v) -> np.ndarray:
    """Compute Coriolis, centrifugal and gravity forces ``qfrc_bias``, in N m and N, shape (nv,).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v : array_like, shape (nv,)
    """
    return body.forward(q, v).qfrc_bias.copy()


def inverse_dynamics(body: Body, q, v, a) -> np.ndarray:
    """Compute forces H a + bias by MuJoCo's recursion, armature included, in N m and N, shape (nv,).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v, a : array_like, shape (nv,)
    """
    data = body.forward(q, v)
    data.qacc[:] = as_vector(a, body.nv, "a")
    mujoco.mj_inverseSkip(body.model, data, mujoco.mjtStage.mjSTAGE_VEL, 1)
    return data.qfrc_inverse + data.qfrc_passive


def passive(body: Body, q, v) -> np.ndarray:
    """Compute ``qfrc_passive``: dampers, springs, fluid, gravity compensation, in N m and N, shape (nv,).

    Add them to tau for the motion MuJoCo itself would simulate.

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v : array_like, shape (nv,)
    """
    return body.forward(q, v).qfrc_passive.copy()


forward_dynamics = accelerator_of(mass_matrix, bias, tree)


def own_acceleration(body: Body, q, v, tau) -> np.ndarray:
    """Compute q̈ by MuJoCo alone: ``qacc_smooth`` of mj_forward under tau - passive, shape (nv,).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v, tau : array_like, shape (nv,)
    """
    tau = as_vector(tau, body.nv, "tau")
    return body.forward(q, v, tau - passive(body, q, v)).qacc_smooth.copy()


def random_state(body: Body, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random q, v and tau of a body in its own layout."""
    q = body.model.qpos0.copy()
    mujoco.mj_integratePos(body.model, q, rng.normal(size=body.nv), 1.0)
    return q, *rng.normal(size=(2, body.nv))


def settings(path, floating: bool, gravity, rng: np.random.Generator) -> list[tuple[str, float, tuple]]:
    """Find what else acts in ``qacc`` by default: damping, friction, limits, contacts, actuators.

    A URDF is loaded by MuJoCo's own importer, see `load_plain`; an MJCF keeps its own gravity.

    Returns
    -------
    list of (str, float, tuple of str)
        Name, relative error that it alone makes of q̈ at a random state or at the initial one, and the joints,
        bodies, tendons or actuators concerned.
    """
    if parse(as_path(path, "mujoco"), "mujoco").tag == "robot":
        body = load_plain(path, floating, gravity)
    else:
        body = load(path, gravity=None)
    initial = initial_configuration(body.model)
    states = solved(body, random_state(body, rng), initial, mass_matrix, forward_dynamics)
    return noticed(SETTINGS, partial(only, body.model), partial(effect, body), states)


def qld(body: Body, q) -> tuple[np.ndarray, np.ndarray]:
    """Return MuJoCo's own factor of H, equal to ours: unit lower L, (nv, nv), and D, (nv,); H = L^T D L.

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)

    Raises
    ------
    AdapterError
        If this version of MuJoCo stores ``qLD`` in another layout, as 3.3.0 and 3.3.1 do.
    """
    data = body.forward(q, np.zeros(body.nv))
    rows, columns = body.csr() or body.upward()
    L = np.zeros((body.nv, body.nv))
    if rows.size == data.qLD.size:
        L[rows, columns] = data.qLD
    D = L.diagonal().copy()
    if not np.allclose(D * data.qLDiagInv, 1.0, rtol=SAME_FACTOR):
        raise adapter_error(f"MuJoCo {mujoco.__version__} stores qLD in a way this adapter does not know")
    np.fill_diagonal(L, 1.0)
    return L, D


# ------------------------------------------------------------------------------------------------- refusals


def _compile(build, source: str, path: Path) -> mujoco.MjModel:
    """Return the model; raise AdapterError with MuJoCo's reason and the body it names."""
    try:
        return build(source)
    except (ValueError, RuntimeError, TypeError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        reason = " ".join(str(error).split()).removesuffix(", line 1")  # all of our own MJCF is line 1
        named = re.search("name '([^']*)'", reason)
        raise adapter_error(f"MuJoCo cannot load it: {reason}", named and named[1], path) from error
