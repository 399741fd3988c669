"""Compute the mass matrix, bias forces and accelerations of a robot by PyBullet, to compare engines.

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

Units are SI. Joint limits, friction, damping and mimic are not part of the dynamics compared here.
"""

from __future__ import annotations

from . import requires

with requires("pybullet", "pybullet"):
    from ._pybullet_import import pybullet

from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from .._util.engine import UNEXPLAINED
from .._util.validation import as_vector
from ..exceptions import AdapterError
from ..tolerances import NOTICED
from ..tree.tree import Tree
from . import _pybullet_step as step
from ._accelerations import accelerator_of
from ._pybullet_body import Body, Link, adapter_error, engine_errors
from ._pybullet_conventions import acceleration_offset, from_pinocchio, pinocchio_gravity, transform
from ._pybullet_load import (
    TENSOR_CAUSE,
    WAYS,
    file_inertials,
    inertials,
    load,
    load_plain,
    load_shapeless,
    load_touching,
)
from ._pybullet_model import model

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
    "inverse_dynamics",
    "load",
    "load_plain",
    "mass_matrix",
    "massless_joints",
    "model",
    "own_acceleration",
    "pinocchio_gravity",
    "random_state",
    "settings",
    "transform",
    "tree",
]


def tree(body: Body) -> Tree:
    """Return the tree of the freedoms, named after the joints; a floating base is ``root_joint[0..5]``."""
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
    """Compute the joint-space inertia matrix by PyBullet, shape (nv, nv).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
        As the module's docstring says; the pose of the base does not matter.

    Raises
    ------
    ShapeError
        If q has another length, for which PyBullet would reuse values of the previous call.
    AdapterError
        If a mass was changed behind PyBullet's cache, or PyBullet refuses the body.
    """
    q = as_vector(q, body.nq, "q")
    body.require_unchanged()
    return body.mass_matrix(q)


def bias(body: Body, q, v) -> np.ndarray:
    """Compute the forces that hold the acceleration at zero, by PyBullet's inverse dynamics, shape (nv,).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v : array_like, shape (nv,)
    """
    return inverse_dynamics(body, q, v, np.zeros(body.nv))


def inverse_dynamics(body: Body, q, v, a) -> np.ndarray:
    """Compute forces H a + bias by PyBullet's recursion, in N m and N, shape (nv,).

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v, a : array_like, shape (nv,)

    Notes
    -----
    Called with the identity as orientation of the base, and gravity turned into the base frame: PyBullet
    ignores the orientation of a fixed base and misreads the Euler angles of a floating one. The output
    comes as [force; moment] of the base and is swapped to be dual to v. The client's gravity is restored.
    """
    q, v, a = as_vector(q, body.nq, "q"), as_vector(v, body.nv, "v"), as_vector(a, body.nv, "a")
    body.require_unchanged()
    if not body.nv:
        return np.zeros(0)
    pose = [0.0] * 6 + [1.0] if body.floating else []
    with _gravity(body, body.base_rotation(q).T @ body.gravity), engine_errors("no inverse dynamics"):
        force = pybullet.calculateInverseDynamics(
            body.id, pose + body.angles(q), v.tolist(), a.tolist(), physicsClientId=body.client
        )
    force = np.array(force)
    if body.floating:
        force[:6] = np.roll(force[:6], 3)
    return force


def own_acceleration(body: Body, q, v, tau) -> np.ndarray:
    """Compute (v1 - v0) / dt over one stepSimulation, which uses neither H nor the bias, shape (nv,).

    The body is left at the new state, its motors, damping and sleeping off, its velocity clamp raised. Its
    joint limits and the contacts between its links stay, and must not act.

    Parameters
    ----------
    body : Body
    q : array_like, shape (nq,)
    v, tau : array_like, shape (nv,)

    Raises
    ------
    AdapterError
        If the client holds other bodies, constraints or substeps, q is beyond a joint limit, links of the
        body push each other, or a joint moves nothing that has mass.

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
    acceleration = step.step(body, q, v, tau, keep=step.LIMITS)
    step.require_no_contact(body)
    return acceleration


def settings(path, floating: bool, gravity, rng: np.random.Generator) -> list[tuple[str, float, tuple]]:
    """Find what else acts in a script that steps this URDF: motors, damping, limits, contacts of its links.

    Returns
    -------
    list of (str, float, tuple of str)
        Name, relative error that it alone makes of q̈ at a random state, and the joints or links concerned.
    """
    path, seed, found = Path(path), int(rng.integers(2**32)), []
    for name in (UNEXPLAINED, *step.SETTINGS):  # without any setting there must be no difference
        with load_shapeless(path, floating, gravity) as body:
            found += _acting(body, name, seed)
    with suppress(AdapterError), load_touching(path, floating, gravity) as body:  # its meshes may be missing
        found += _acting(body, step.CONTACTS, seed)
    return found


def _acting(body: Body, setting: str, seed: int) -> list[tuple[str, float, tuple]]:
    """Return a setting with its effect on q̈ and where it acts; empty if it does not act."""
    if not body.nv:
        return []
    _require_masses(body)
    q, v, tau = random_state(body, np.random.default_rng(seed))
    expected = forward_dynamics(body, q, v, tau)
    error = np.abs(step.step(body, q, v, tau, setting) - expected).max() / np.abs(expected).max()
    where = step.concerned(body, setting, q)
    acts = not error <= NOTICED and (where or setting in step.EVERYWHERE)  # NaN counts
    return [(setting, float(error), where)] if acts else []


def random_state(body: Body, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random q, v and tau of a body in its own layout."""
    q = rng.normal(size=body.nq)
    quaternions = [link.q for link in body.moving if link.freedoms == 3]
    for at in [slice(3, 7), *quaternions] if body.floating else quaternions:
        q[at] /= np.linalg.norm(q[at])
    return q, *rng.normal(size=(2, body.nv))


def massless_joints(body: Body) -> list[str]:
    """Return the names of the joints that carry neither mass nor inertia, for which H is singular."""
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


forward_dynamics = accelerator_of(mass_matrix, bias, tree, _require_masses)


@contextmanager
def _gravity(body: Body, gravity: np.ndarray):
    """Set another gravity of the client inside the block."""
    kept = body.gravity
    pybullet.setGravity(*gravity, physicsClientId=body.client)
    try:
        yield
    finally:
        pybullet.setGravity(*kept, physicsClientId=body.client)
