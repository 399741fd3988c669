"""Offer jaxsim, a simulator of free-floating robots in JAX, to the comparison of engines.

jaxsim reads SDF 1.9 whose joints have poses relative to their parents; it converts URDFs by Gazebo only. It
computes on the CPU here, in its "mixed" representation: v holds the velocity of the base link's origin and
its angular velocity, both in world axes and of a fixed base, too, then the velocities of the joints. q holds
the position of the origin and the quaternion w x y z of a base that moves, then the joints. Accelerations are
the derivatives of v. Units are SI. Gravity acts along z.

The functions compute in float64. When it is imported, jaxsim sets float64, NumPy's print options and filters
of warnings for the whole process; this module sets them back, so import jaxsim before it to keep them. The
first evaluation of a robot compiles one function for everything, in about a minute; later ones take
milliseconds.
"""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np

from .._util.protocol import Base, EngineJoint
from ..exceptions import AdapterError
from . import requires

with requires("jaxsim", "jaxsim"), warnings.catch_warnings(), np.printoptions():
    import jax.numpy as jnp

    from ._jax_version import jax

    precision = jax.config.jax_enable_x64
    logging.disable(logging.WARNING)
    import jaxsim.api as js

    logging.disable(logging.NOTSET)
    jax.config.update("jax_enable_x64", precision)

NAME = "jaxsim"
READS = ("sdf",)
DTYPE = "float64"
OPTIONS = {"upward": "returns the potential energy with the opposite sign"}

MIXED = js.common.VelRepr.Mixed
KINDS = {1: "revolute", 2: "prismatic"}  # kind of a joint by jaxsim's JointType
double = jax.enable_x64(True)  # a decorator


class Body:
    """Model of jaxsim.

    Attributes
    ----------
    model : JaxSimModel
    links : dict
        Number of a link by its name.
    first : int
        Entries of the base in q.
    sign : float
        Factor of the potential energy.
    """

    def __init__(self, model, sign: float):
        self.model, self.sign = model, sign
        self.links = {name: k for k, name in enumerate(model.link_names())}
        self.first = 7 if model.floating_base() else 0
        self.nv = 6 + model.dofs()

    def close(self) -> None:
        """Do nothing: JAX frees its memory with the last reference."""

    @double
    def at(self, q, v=None, a=None, tau=None) -> dict[str, Any]:
        """Return the results of all algorithms at a state."""
        q = np.asarray(q, dtype=float)
        pose = q[:7] if self.first else np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
        zeros = np.zeros(self.nv)
        rest = (zeros if x is None else np.asarray(x, dtype=float) for x in (v, a, tau))
        return _evaluate(self.model, pose, q[self.first :], *rest)


@jax.jit
def _evaluate(model, pose, s, v, a, tau) -> dict[str, Any]:
    """Run jaxsim's algorithms; s are the positions of the joints."""
    data = js.data.JaxSimModelData.build(
        model,
        base_position=pose[:3],
        base_quaternion=pose[3:],
        joint_positions=s,
        base_linear_velocity=v[:3],
        base_angular_velocity=v[3:6],
        joint_velocities=v[6:],
        velocity_representation=MIXED,
    )
    on_base = jnp.zeros((model.number_of_links(), 6)).at[0].set(tau[:6])
    accelerations = {"base_acceleration": a[:6], "joint_accelerations": a[6:]}
    forces = {"joint_forces": tau[6:], "link_forces": on_base}
    return {
        "H": js.model.free_floating_mass_matrix(model, data),
        "bias": js.model.free_floating_bias_forces(model, data),
        "gravity": js.model.free_floating_gravity_forces(model, data),
        "inverse": jnp.hstack(js.model.inverse_dynamics(model, data, **accelerations)),
        "acceleration": jnp.hstack(js.model.forward_dynamics_aba(model, data, **forces)),
        "placements": data._link_transforms,
        "jacobians": js.model.generalized_free_floating_jacobian(model, data),
        "drifts": js.model.link_bias_accelerations(model, data),
        "com": js.com.com_position(model, data),
        "momentum": js.com.centroidal_momentum(model, data),
        "kinetic": js.model.kinetic_energy(model, data),
        "potential": js.model.potential_energy(model, data),
    }


@double
def load(path, floating: bool, gravity, options: frozenset[str] = frozenset()) -> Body:
    """Load an SDF.

    Raises
    ------
    AdapterError
        If jaxsim refuses the file, the file has the other base, or gravity is not along z.
    """
    gravity = (0.0, 0.0, -9.81) if gravity is None else gravity
    if np.any(gravity[:2]):
        raise AdapterError(f"jaxsim expects gravity along z, got {gravity}", "jaxsim", path)
    build = js.model.JaxSimModel.build_from_model_description
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of angles that are not unique
            model = build(str(path), gravity=-gravity[2])
    except Exception as error:  # KeyError, ValueError, RuntimeError and others
        raise AdapterError(f"{path}: jaxsim cannot load it: {error!r}", "jaxsim", path) from error
    finally:
        logging.disable(logging.NOTSET)
    if model.floating_base() != floating:
        own_base = "a moving" if model.floating_base() else "a fixed"
        raise AdapterError(f"{path}: this SDF has {own_base} base, expected the other", "jaxsim", path)
    return Body(model, -1.0 if "upward" in options else 1.0)


def joints(body: Body) -> list[EngineJoint]:
    """Return the joints in the order of jaxsim."""
    parameters, first, floating = body.model.kin_dyn_parameters, body.first, body.first > 0
    engine_joints = [EngineJoint("root_joint", "free", -1, slice(0, 7), slice(0, 6))] if floating else []
    types = np.asarray(parameters.joint_model.joint_types)[1:]
    for k, name in enumerate(body.model.joint_names()):  # joint k carries link k + 1
        kind: Any = KINDS.get(int(types[k]), "other")
        parent = int(parameters.parent_array[k + 1]) - 1 + floating
        q, v = slice(first + k, first + k + 1), slice(6 + k, 7 + k)
        engine_joints.append(EngineJoint(name, kind, parent, q, v))
    return engine_joints


def base(body: Body) -> Base:
    """Return the convention of the mixed representation."""
    return Base(order="linear-angular", linear="world", angular="world", pose="p wxyz", always=True)


def mass_matrix(body: Body, q) -> np.ndarray:
    """Return H by composite rigid bodies."""
    return np.array(body.at(q)["H"])


def bias(body: Body, q, v) -> np.ndarray:
    """Return Coriolis, centrifugal and gravity forces."""
    return np.array(body.at(q, v)["bias"])


def gravity_forces(body: Body, q) -> np.ndarray:
    """Return the forces of gravity."""
    return np.array(body.at(q)["gravity"])


def inverse_dynamics(body: Body, q, v, a) -> np.ndarray:
    """Return the forces by the recursive Newton-Euler algorithm."""
    return np.array(body.at(q, v, a)["inverse"])


def acceleration(body: Body, q, v, tau) -> np.ndarray:
    """Return q̈ by the articulated-body algorithm."""
    return np.array(body.at(q, v, tau=tau)["acceleration"])


def frames(body: Body) -> list[str]:
    """Return the links."""
    return list(body.links)


def placement(body: Body, q, frame: str) -> np.ndarray:
    """Return the pose of a link in the world."""
    return np.array(body.at(q)["placements"])[body.links[frame]]


def jacobian(body: Body, q, frame: str) -> np.ndarray:
    """Return the Jacobian of a link."""
    return np.array(body.at(q)["jacobians"])[body.links[frame]]


def jacobian_dot_v(body: Body, q, v, frame: str) -> np.ndarray:
    """Return the acceleration of a link where the freedoms have none."""
    return np.array(body.at(q, v)["drifts"])[body.links[frame]]


def com(body: Body, q) -> np.ndarray:
    """Return the centre of mass."""
    return np.array(body.at(q)["com"])


def momentum(body: Body, q, v) -> np.ndarray:
    """Return momentum and angular momentum about the centre of mass."""
    return np.array(body.at(q, v)["momentum"])


def kinetic_energy(body: Body, q, v) -> float:
    """Return the kinetic energy."""
    return float(body.at(q, v)["kinetic"])


def potential_energy(body: Body, q) -> float:
    """Return jaxsim's energy of gravity."""
    return body.sign * float(body.at(q)["potential"])
