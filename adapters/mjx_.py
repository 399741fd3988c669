"""Offer MJX, MuJoCo's algorithms written in JAX, to the comparison of engines.

MuJoCo compiles the file and MJX computes, on the CPU. q and v are MuJoCo's: a free joint has the position of
the body's origin and a quaternion w x y z, the velocity of the origin in world axes and the angular velocity
in body axes; a ball joint has a quaternion w x y z and the angular velocity in the axes of its body.
Accelerations are the derivatives of v. Units are SI. Armature is part of H; damping, springs, fluid, gravity
compensation, contacts, limits, equality constraints and actuators are left out.

The functions compute in float64, and leave the precision of JAX in the rest of the process unchanged. The
first evaluation of a robot compiles one function for everything but Jacobians, in seconds to a minute; all
later ones take milliseconds.
"""

from __future__ import annotations

from contextlib import redirect_stdout

from . import requires

with requires("MJX", "mjx"), redirect_stdout(None):  # it prints that Warp is missing
    import mujoco
    from mujoco import mjx
    from mujoco.mjx._src.support import jac_dot

    from ._jax_version import jax

from typing import Any

import jax.numpy as jnp
import numpy as np

from .._util.protocol import Base, EngineJoint
from ..exceptions import AdapterError
from ._mujoco_body import body_names, site_names
from .mujoco_ import load as load_in_mujoco

NAME = "MJX"
READS = ("mjcf",)
DTYPE = "float64"
OPTIONS: dict[str, str] = {}

KINDS = {
    int(mujoco.mjtJoint.mjJNT_FREE): "free",
    int(mujoco.mjtJoint.mjJNT_BALL): "spherical",
    int(mujoco.mjtJoint.mjJNT_SLIDE): "prismatic",
    int(mujoco.mjtJoint.mjJNT_HINGE): "revolute",
}
double = jax.enable_x64(True)  # a decorator


class Body:
    """Model of MuJoCo and its copy in MJX.

    Attributes
    ----------
    own : Body
    model : mjx.Model
    data : mjx.Data
        At the initial configuration.
    places : dict
        Where a frame is, by its name: a body or site, and its number.
    """

    def __init__(self, own):
        self.own, model = own, own.model
        self.model = mjx.put_model(model)
        self.data = mjx.make_data(self.model)
        self.places = {name: ("site", k) for k, name in enumerate(site_names(model))}
        self.places |= {name: ("body", k) for k, name in enumerate(body_names(model)) if k}

    def close(self) -> None:
        """Do nothing: JAX frees its memory with the last reference."""

    @double
    def at(self, q, v=None, a=None, tau=None) -> dict[str, Any]:
        """Return the results of all algorithms at a state."""
        zeros = np.zeros(self.own.nv)
        rest = (zeros if x is None else np.asarray(x, dtype=float) for x in (v, a, tau))
        return _evaluate(self.model, self.data, np.asarray(q, dtype=float), *rest)

    @double
    def derivative(self, function, data: mjx.Data, frame: str) -> np.ndarray:
        """Return the Jacobian of a frame, or its time derivative, shape (6, nv)."""
        kind, k = self.places[frame]
        point = data.xpos[k] if kind == "body" else data.site_xpos[k]
        number = k if kind == "body" else self.own.model.site_bodyid[k]
        return np.hstack(function(self.model, data, point, number)).T


@jax.jit
def _evaluate(model: mjx.Model, data: mjx.Data, q, v, a, tau) -> dict[str, Any]:
    """Run kinematics, composite bodies, inverse and forward dynamics."""
    data = data.replace(qpos=q, qvel=v, qacc=a)
    data = mjx.com_vel(model, mjx.crb(model, mjx.com_pos(model, mjx.kinematics(model, data))))
    inverse = mjx.rne(model, data, flg_acc=True).qfrc_bias + model.dof_armature * a
    data = mjx.rne(model, data)
    none = jnp.zeros(model.nv)
    forced = mjx.factor_m(model, data).replace(qfrc_passive=none, qfrc_actuator=none, qfrc_applied=tau)
    moving = mjx.subtree_vel(model, data)._impl
    linear = model.body_subtreemass[0] * moving.subtree_linvel[0]
    return {
        "data": data,
        "H": mjx.full_m(model, data),
        "inverse": inverse,
        "acceleration": mjx.fwd_acceleration(model, forced).qacc_smooth,
        "momentum": jnp.hstack([linear, moving.subtree_angmom[0]]),
    }


_jacobian, _jacobian_dot = jax.jit(mjx.jac), jax.jit(jac_dot)


@double
def load(path, floating: bool, gravity, options: frozenset[str] = frozenset()) -> Body:
    """Load an MJCF by MuJoCo, and copy the model to MJX.

    Raises
    ------
    AdapterError
        If MuJoCo refuses the file, or MJX has no form of something in it.
    """
    own = load_in_mujoco(path, floating, gravity)
    try:
        return Body(own)
    except Exception as error:  # NotImplementedError, ValueError and others
        raise AdapterError(f"{path}: MJX cannot load it: {error!r}", "mjx", path) from error


def joints(body: Body) -> list[EngineJoint]:
    """Return the joints; those of one body carry each other."""
    model, engine_joints = body.own.model, list[EngineJoint]()
    last = {0: -1}  # the last joint towards the world, by body
    for k, name in enumerate(body_names(model)[1:], 1):
        last[k] = last[int(model.body_parentid[k])]
        for joint in body.own.joints:
            if joint.body == k:
                kind: Any = KINDS[joint.kind]
                axes = np.eye(3) if kind == "spherical" else None
                engine_joints.append(EngineJoint(joint.name, kind, last[k], joint.q, joint.v, axes, name))
                last[k] = len(engine_joints) - 1
    return engine_joints


def base(body: Body) -> Base:
    """Return the convention of MuJoCo's free joint."""
    return Base(order="linear-angular", linear="world", angular="body", pose="p wxyz")


def mass_matrix(body: Body, q) -> np.ndarray:
    """Return H by composite rigid bodies, armature included."""
    return np.array(body.at(q)["H"])


def bias(body: Body, q, v) -> np.ndarray:
    """Return Coriolis, centrifugal and gravity forces."""
    return np.array(body.at(q, v)["data"].qfrc_bias)


def gravity_forces(body: Body, q) -> np.ndarray:
    """Return the bias at rest: MJX has no function for gravity alone."""
    return bias(body, q, None)


def inverse_dynamics(body: Body, q, v, a) -> np.ndarray:
    """Return the forces by the recursive Newton-Euler algorithm, armature included."""
    return np.array(body.at(q, v, a)["inverse"])


def acceleration(body: Body, q, v, tau) -> np.ndarray:
    """Return ``qacc_smooth`` without passive forces and actuators."""
    return np.array(body.at(q, v, tau=tau)["acceleration"])


def frames(body: Body) -> list[str]:
    """Return the names of bodies and sites."""
    return list(body.places)


def placement(body: Body, q, frame: str) -> np.ndarray:
    """Return the pose of a body or site in the world."""
    data, (kind, k) = body.at(q)["data"], body.places[frame]
    p, R = (data.xpos, data.xmat) if kind == "body" else (data.site_xpos, data.site_xmat)
    return np.block([[np.array(R)[k], np.array(p)[k, :, None]], [np.zeros(3), np.ones(1)]])


def jacobian(body: Body, q, frame: str) -> np.ndarray:
    """Return the Jacobian of a body or site, shape (6, nv)."""
    return body.derivative(_jacobian, body.at(q)["data"], frame)


def jacobian_dot_v(body: Body, q, v, frame: str) -> np.ndarray:
    """Return the time derivative of the Jacobian times v, shape (6,)."""
    return body.derivative(_jacobian_dot, body.at(q, v)["data"], frame) @ v


def com(body: Body, q) -> np.ndarray:
    """Return the centre of mass, NaN without mass."""
    if not body.own.model.body_subtreemass[0]:
        return np.full(3, np.nan)
    return np.array(body.at(q)["data"].subtree_com)[0]


def momentum(body: Body, q, v) -> np.ndarray:
    """Return momentum and angular momentum about the centre of mass."""
    return np.array(body.at(q, v)["momentum"])
