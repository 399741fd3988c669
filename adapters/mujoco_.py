"""Compute the dynamics of a robot by MuJoCo, to compare engines.

q and v are laid out as ``MjData.qpos`` and ``MjData.qvel``, as `joints` and `base` declare. A free joint has
the position of the body's origin and a quaternion w x y z in q; in v the velocity of the origin in world axes
and the angular velocity in body axes. A ball joint has a quaternion w x y z, and its angular velocity in the
axes of the child body; hinges and slides have one angle or distance, continuous joints too.

Accelerations are the derivatives of v: classical, not spatial. Units are SI. Armature is part of H; dampers,
springs, fluid and gravity compensation are `passive`, and no part of other forces, accelerations and energies
here; neither are contacts, limits, friction loss, equality constraints (mimic) and actuators.
"""

from __future__ import annotations

from . import requires

with requires("MuJoCo", "mujoco"):
    import mujoco

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from .._util.protocol import Base, EngineJoint
from .._util.validation import as_vector
from .._util.xml import as_path, parse, root_tag
from ..exceptions import InvalidModelError
from ..model._urdf import read
from ..model.joints import Inertia
from ..tolerances import SAME_FACTOR
from . import _mujoco_settings
from ._accelerations import accelerator_of, tree_of
from ._mjcf import Odd, is_possible, principal
from ._mujoco_accelerator import Accelerator as Accelerator
from ._mujoco_body import FREE, Body, adapter_error, body_names, site_names
from ._mujoco_body import Joint as Joint
from ._mujoco_files import compiled, translated, with_inertias
from ._mujoco_geometry import excluded_pairs as excluded_pairs
from ._mujoco_geometry import geometry as geometry
from ._mujoco_model import model as model
from ._mujoco_states import BASE, KINDS
from ._mujoco_states import configuration as configuration
from ._mujoco_states import qpos as qpos
from ._mujoco_states import qvel as qvel
from ._mujoco_states import velocity as velocity
from ._translation import translation_of

NAME = "MuJoCo"
READS, DTYPE = ("mjcf", "urdf"), "float64"
OPTIONS = {
    "any_inertia": "refuses links without mass and moments of inertia that no body can have",
    "root_link": "welds the root link of a URDF to the world and drops its mass",
}


def load(
    path, floating: bool = False, gravity=(0.0, 0.0, -9.81), options: frozenset[str] | None = None
) -> Body:
    """Load an MJCF, or by default the dynamics of a URDF, without meshes and limits (see ``_mjcf``).

    With a set of names of ``OPTIONS``, MuJoCo's own importer reads the URDF, meshes included. ``floating``
    puts a free joint named ``root_joint`` under the root link of a URDF, and demands that an MJCF has one.
    Gravity is in the world (m/s^2); None keeps that of an MJCF. Raises AdapterError if the file is missing,
    malformed or refused by MuJoCo; names the file, the reason and the body.
    """
    path = as_path(path, "mujoco")
    tag = parse(path, "mujoco").tag if options is None else root_tag(path)
    if tag != "robot":
        model = compiled(mujoco.MjModel.from_xml_path, path, str(path))
        if floating and FREE not in model.jnt_type:
            raise adapter_error("no body of this MJCF has a free joint", file=path)
    elif gravity is None:
        raise adapter_error("a URDF has no gravity; only an MJCF may be called .xml", file=path)
    else:
        model = translated(path, floating) if options is None else _imported(path, floating, options)
    if gravity is not None:
        model.opt.gravity[:] = as_vector(gravity, 3, "gravity")
    return Body(model)


def _imported(path: Path, floating: bool, options: frozenset[str]) -> mujoco.MjModel:
    """Compile a URDF by MuJoCo's own importer, with changes of what it has read."""
    spec = compiled(mujoco.MjSpec.from_file, path, str(path))
    if options:
        spec.compiler.fusestatic = False  # fused links lose their names, and the root its mass
    if "root_link" in options and floating:
        spec.worldbody.first_body().add_freejoint(name="root_joint")
    odd = _hide_inertias(spec, read(path, "mujoco").links) if "any_inertia" in options else {}
    model = compiled(spec.compile, path)
    if "root_link" not in options and options:
        model.body_mass[model.body_weldid == 0] = 0.0
    return with_inertias(model, odd)


def _hide_inertias(spec, links: dict[str, Inertia]) -> Odd:
    """Give bodies other inertias where MuJoCo refuses theirs; return those."""
    odd: Odd = {}
    for body in spec.bodies[1:]:
        inertial = links[body.name]
        moments, axes = principal(inertial)
        if is_possible(inertial.mass, moments) or (body.geoms and not body.explicitinertial):
            continue
        odd[body.name] = inertial.mass, moments
        body.explicitinertial, body.fullinertia = True, [np.nan, *np.zeros(5)]
        body.mass, body.inertia = max(inertial.mass, 1.0), np.ones(3)
        body.ipos, body.iquat = inertial.com, np.roll(Rotation.from_matrix(axes).as_quat(), 1)
    return odd


def joints(body: Body) -> list[EngineJoint]:
    """Return the joints, those of one body in a chain."""
    last, engine_joints, names = [-1], list[EngineJoint](), body_names(body.model)
    for k in range(1, body.model.nbody):
        last.append(last[body.model.body_parentid[k]])
        for own in (joint for joint in body.joints if joint.body == k):
            engine_joints.append(EngineJoint(own.name, KINDS[own.kind], last[k], own.q, own.v, body=names[k]))
            last[k] = len(engine_joints) - 1
    return engine_joints


def base(body: Body) -> Base:
    """Return MuJoCo's convention: linear velocity along the axes of the world, angular of the body."""
    return BASE


def mass_matrix(body: Body, q) -> np.ndarray:
    """Compute the joint-space inertia matrix H, armature included, shape (nv, nv)."""
    data = body.forward(q)
    values, (rows, columns) = (data.M, body.csr()) if hasattr(data, "M") else (data.qM, body.upward())
    H = np.zeros((body.nv, body.nv))
    H[rows, columns] = H[columns, rows] = values
    return H


def bias(body: Body, q, v) -> np.ndarray:
    """Compute Coriolis, centrifugal and gravity forces ``qfrc_bias``, in N m and N, shape (nv,)."""
    return body.forward(q, v).qfrc_bias.copy()


def gravity_forces(body: Body, q) -> np.ndarray:
    """Compute the bias at rest, in N m and N, shape (nv,)."""
    return body.forward(q).qfrc_bias.copy()


def inverse_dynamics(body: Body, q, v, a) -> np.ndarray:
    """Compute forces H a + bias by MuJoCo's recursion, in N m and N, shape (nv,)."""
    data = body.forward(q, v)
    data.qacc[:] = as_vector(a, body.nv, "a")
    mujoco.mj_inverseSkip(body.model, data, mujoco.mjtStage.mjSTAGE_VEL, 1)
    return data.qfrc_inverse.copy()


def passive(body: Body, q, v) -> np.ndarray:
    """Compute ``qfrc_passive``, which MuJoCo itself would add to tau, in N m and N, shape (nv,)."""
    return body.forward(q, v, passive=True).qfrc_passive.copy()


tree = tree_of(joints)
forward_dynamics = accelerator_of(mass_matrix, bias, tree)
transform, acceleration_offset, from_pinocchio = translation_of(joints, base, "mujoco")


def acceleration(body: Body, q, v, tau) -> np.ndarray:
    """Compute q̈ by MuJoCo alone, ``qacc_smooth`` of mj_forward, shape (nv,)."""
    return body.forward(q, v, as_vector(tau, body.nv, "tau")).qacc_smooth.copy()


def frames(body: Body) -> list[str]:
    """Return the names of bodies, and of the sites that have other names."""
    return list(_places(body))


def placement(body: Body, q, frame: str) -> np.ndarray:
    """Compute the pose of a body or site in the world, shape (4, 4)."""
    data, (kind, k) = body.forward(q), _places(body)[frame]
    p, R = (data.xpos, data.xmat) if kind == "body" else (data.site_xpos, data.site_xmat)
    return np.block([[R[k].reshape(3, 3), p[k, :, None]], [np.zeros(3), 1.0]])


def jacobian(body: Body, q, frame: str) -> np.ndarray:
    """Compute the Jacobian of the origin of a body or site, world axes, linear rows first, shape (6, nv)."""
    data, (kind, k), J = body.forward(q), _places(body)[frame], np.zeros((6, body.nv))
    call = mujoco.mj_jacBody if kind == "body" else mujoco.mj_jacSite
    call(body.model, data, J[:3], J[3:], k)
    return J


def jacobian_dot_v(body: Body, q, v, frame: str) -> np.ndarray:
    """Compute the time derivative of the frame's Jacobian times v, shape (6,)."""
    data, (kind, k), J = body.forward(q, v), _places(body)[frame], np.zeros((6, body.nv))
    point, k = (data.xpos[k], k) if kind == "body" else (data.site_xpos[k], body.model.site_bodyid[k])
    mujoco.mj_jacDot(body.model, data, J[:3], J[3:], point, k)
    return J @ v


def com(body: Body, q) -> np.ndarray:
    """Compute the centre of mass (m), shape (3,); raise InvalidModelError without mass."""
    if not body.model.body_subtreemass[0]:
        raise InvalidModelError("the robot has no mass, and no centre of mass")
    return body.forward(q).subtree_com[0].copy()


def momentum(body: Body, q, v) -> np.ndarray:
    """Compute linear momentum and angular momentum about the centre of mass, world axes, shape (6,)."""
    data = body.forward(q, v)
    mujoco.mj_subtreeVel(body.model, data)
    return np.r_[body.model.body_subtreemass[0] * data.subtree_linvel[0], data.subtree_angmom[0]]


def kinetic_energy(body: Body, q, v) -> float:
    """Compute the kinetic energy, armature included (J)."""
    return float(body.forward(q, v).energy[1])


def potential_energy(body: Body, q) -> float:
    """Compute the energy of gravity, zero for masses at the world's origin (J)."""
    return float(body.forward(q).energy[0])


def factors(body: Body, q) -> tuple[np.ndarray, np.ndarray]:
    """Return MuJoCo's own L, unit lower, and D of H = L^T D L; raise AdapterError in 3.3.0 and 3.3.1."""
    data, (rows, columns) = body.forward(q), body.csr() or body.upward()
    L = np.zeros((body.nv, body.nv))
    if rows.size == data.qLD.size:
        L[rows, columns] = data.qLD
    D = L.diagonal().copy()
    if not np.allclose(D * data.qLDiagInv, 1.0, rtol=SAME_FACTOR):
        raise adapter_error(f"MuJoCo {mujoco.__version__} stores qLD in a way this adapter does not know")
    np.fill_diagonal(L, 1.0)
    return L, D


def inertials(body: Body) -> dict[str, Inertia]:
    """Return the inertias of the bodies, by name, in the axes of the body frame."""
    model = body.model
    axes = [Rotation.from_quat(np.roll(quaternion, -1)).as_matrix() for quaternion in model.body_iquat]
    tensors = [R * moments @ R.T for R, moments in zip(axes, model.body_inertia, strict=True)]
    inertias = map(Inertia, model.body_mass.tolist(), model.body_ipos.copy(), tensors)
    return dict(list(zip(body_names(model), inertias, strict=True))[1:])


def settings(path, floating: bool, gravity, rng: np.random.Generator) -> list[tuple[str, float, tuple]]:
    """Find what else acts in ``qacc`` by default: name, relative effect on q̈, joints or bodies concerned.

    A URDF is loaded by MuJoCo's own importer, without its meshes; an MJCF keeps its own gravity.
    """
    body = _mujoco_settings.imported(as_path(path, "mujoco"), gravity) or load(path, gravity=None)
    return _mujoco_settings.acting(body, mass_matrix, forward_dynamics, rng)


def _places(body: Body) -> dict[str, tuple[str, int]]:
    """Return where frames are: the body, or else the site, of a name."""
    sites = {name: ("site", k) for k, name in enumerate(site_names(body.model))}
    bodies = {name: ("body", k) for k, name in enumerate(body_names(body.model)) if k}
    return {**bodies, **sites, **bodies}
