"""Step a PyBullet body for its acceleration, and find what acts on it by default."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pybullet

from .._util.protocol import UNEXPLAINED
from .._util.xml import parse
from ..exceptions import AdapterError
from ..tolerances import NOTICED
from ._plain_urdf import JOINT_PARTS, plain, write
from ._pybullet_body import Body
from ._pybullet_files import SHAPELESS

HUGE_VELOCITY = 1e9  # rad/s, m/s; PyBullet clips every velocity at maxJointVelocity, 100 by default
FAR = 1e9  # rad, m; stands for no joint limit
AWAKE = pybullet.ACTIVATION_STATE_DISABLE_SLEEPING | pybullet.ACTIVATION_STATE_WAKE_UP

# what acts on a body by default
MOTORS = "default joint motors hold every joint"
LINK_DAMPING = "default link damping of 0.04"
JOINT_DAMPING = "joint damping of the file acts"
LIMITS = "joint limits push back"
SETTINGS = (MOTORS, LINK_DAMPING, JOINT_DAMPING, LIMITS)
CONTACTS = "contacts between links act (URDF_USE_SELF_COLLISION)"  # without that flag they do not
SELF_COLLISION = pybullet.URDF_USE_INERTIA_FROM_FILE | pybullet.URDF_USE_SELF_COLLISION
EVERYWHERE = (UNEXPLAINED, MOTORS, LINK_DAMPING)  # settings that act on the whole body


def silence(body: Body, keep: str = "") -> None:
    """Switch off the velocity clamp, sleeping and all settings except `keep`; contacts stay as they are."""
    options = {} if keep == LINK_DAMPING else {"linearDamping": 0.0, "angularDamping": 0.0}
    pybullet.changeDynamics(
        body.id,
        -1,
        maxJointVelocity=HUGE_VELOCITY,
        activationState=AWAKE,
        physicsClientId=body.client,
        **options,
    )
    for i, link in enumerate(body.links):
        if keep != JOINT_DAMPING:  # alone: in a call with the others PyBullet applies it to link -1
            pybullet.changeDynamics(body.id, i, jointDamping=0.0, physicsClientId=body.client)
        if keep != LIMITS and link.freedoms == 1:
            pybullet.changeDynamics(
                body.id, i, jointLowerLimit=-FAR, jointUpperLimit=FAR, physicsClientId=body.client
            )
        if keep != MOTORS and link.freedoms:
            _switch_off_motor(body, i, link.freedoms)


def _switch_off_motor(body: Body, i: int, freedoms: int) -> None:
    if freedoms == 1:
        pybullet.setJointMotorControl2(
            body.id, i, pybullet.VELOCITY_CONTROL, force=0.0, physicsClientId=body.client
        )
    else:
        pybullet.setJointMotorControlMultiDof(
            body.id,
            i,
            pybullet.POSITION_CONTROL,
            targetPosition=[0.0, 0.0, 0.0, 1.0],
            positionGain=0.0,
            velocityGain=0.0,
            force=[0.0, 0.0, 0.0],
            physicsClientId=body.client,
        )


def step(body: Body, q: np.ndarray, v: np.ndarray, tau: np.ndarray, keep: str = "") -> np.ndarray:
    """Return (v1 - v0) / dt over one step, with one of SETTINGS left on; existing contacts act."""
    silence(body, keep)
    pybullet.stepSimulation(physicsClientId=body.client)  # wakes the body, uses up applied forces
    set_state(body, q, v)
    R = body.base_rotation(q)
    before = velocity(body, R)
    apply(body, q, tau)
    pybullet.stepSimulation(physicsClientId=body.client)
    dt = pybullet.getPhysicsEngineParameters(body.client)["fixedTimeStep"]
    return (velocity(body, R) - before) / dt


def concerned(body: Body, setting: str, q: np.ndarray) -> tuple[str, ...]:
    """Return the joints or links on which a setting acted in the last step; empty if on the whole body."""
    infos = [
        (link, pybullet.getJointInfo(body.id, i, physicsClientId=body.client))
        for i, link in enumerate(body.links)
        if link.freedoms == 1
    ]
    if setting == JOINT_DAMPING:
        return tuple(link.joint for link, info in infos if info[6])
    if setting == LIMITS:
        return tuple(link.joint for link, info in infos if beyond(link, info, q))
    if setting == CONTACTS:
        return touching(body)
    return ()


def beyond(link, info: tuple, q: np.ndarray) -> bool:
    """Return whether a joint is at or beyond its limits; lower > upper means no limits."""
    lower, upper = info[8:10]
    return lower <= upper and not lower < q[link.q][0] < upper


def touching(body: Body) -> tuple[str, ...]:
    """Return links that pushed each other in the last step, the largest force first."""
    force: Counter[str] = Counter()
    names = [*(link.name for link in body.links), body.base]  # PyBullet's index of the base is -1
    for point in pybullet.getContactPoints(body.id, body.id, physicsClientId=body.client):
        for i in point[3:5]:
            force[names[i]] += point[9]
    return tuple(name for name, total in force.most_common() if total > 0.0)


def set_state(body: Body, q: np.ndarray, v: np.ndarray) -> None:
    """Put the body into a state."""
    if body.floating:
        R = body.base_rotation(q)
        pybullet.resetBasePositionAndOrientation(body.id, q[:3], q[3:7], physicsClientId=body.client)
        pybullet.resetBaseVelocity(body.id, R @ v[3:6], R @ v[:3], physicsClientId=body.client)
    for i, link in enumerate(body.links):
        if link.freedoms:
            pybullet.resetJointStateMultiDof(
                body.id, i, q[link.q].tolist(), v[link.v].tolist(), physicsClientId=body.client
            )


def velocity(body: Body, R: np.ndarray) -> np.ndarray:
    """Return v of the present state; that of the base in axes of rotation R."""
    v = np.empty(body.nv)
    if body.floating:
        linear, angular = pybullet.getBaseVelocity(body.id, physicsClientId=body.client)
        v[:3], v[3:6] = R.T @ angular, R.T @ linear
    for i, link in enumerate(body.links):
        if link.freedoms:
            v[link.v] = pybullet.getJointStateMultiDof(body.id, i, physicsClientId=body.client)[1]
    return v


def apply(body: Body, q: np.ndarray, tau: np.ndarray) -> None:
    """Apply forces for the next step."""
    if body.floating:
        R, world = body.base_rotation(q), pybullet.WORLD_FRAME
        pybullet.applyExternalForce(body.id, -1, R @ tau[3:6], q[:3], world, physicsClientId=body.client)
        pybullet.applyExternalTorque(body.id, -1, R @ tau[:3], world, physicsClientId=body.client)
    for i, link in enumerate(body.links):
        if link.freedoms == 1:
            pybullet.setJointMotorControl2(
                body.id, i, pybullet.TORQUE_CONTROL, force=tau[link.v][0], physicsClientId=body.client
            )
        elif link.freedoms == 3:
            pybullet.setJointMotorControlMultiDof(
                body.id, i, pybullet.TORQUE_CONTROL, force=tau[link.v].tolist(), physicsClientId=body.client
            )


def free_step(body: Body, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Return (v1 - v0) / dt over one step without any of the settings; joint limits are restored.

    Raises AdapterError if other bodies, constraints or substeps would enter it, or links push each other.
    """
    _require_solitude(body)
    infos = [pybullet.getJointInfo(body.id, i, physicsClientId=body.client) for i in range(len(body.links))]
    acceleration = step(body, q, v, tau)
    for i, info in enumerate(infos):
        ends = {"jointLowerLimit": info[8], "jointUpperLimit": info[9]}
        if body.links[i].freedoms == 1:
            pybullet.changeDynamics(body.id, i, physicsClientId=body.client, **ends)
    links = touching(body)
    if links:
        raise AdapterError(
            f"links {', '.join(map(repr, links))} touch, and PyBullet pushes them apart: load the body "
            "without URDF_USE_SELF_COLLISION",
            "pybullet",
            joint=links[0],
        )
    return acceleration


def _require_solitude(body: Body) -> None:
    """Refuse a client in which contacts, constraints or substeps would enter the acceleration."""
    bodies = pybullet.getNumBodies(physicsClientId=body.client)
    constraints = pybullet.getNumConstraints(physicsClientId=body.client)
    substeps = pybullet.getPhysicsEngineParameters(body.client)["numSubSteps"]
    if bodies > 1 or constraints or substeps > 1:
        raise AdapterError(
            f"the client holds {bodies} bodies and {constraints} constraints and makes {substeps} substeps; "
            "contacts and constraints would enter the acceleration: load the body alone",
            "pybullet",
        )


def random_state(body: Body, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return random q, v and tau of a body in its own layout."""
    q = rng.normal(size=body.nq)
    quaternions = [link.q for link in body.moving if link.freedoms == 3]
    for at in [slice(3, 7), *quaternions] if body.floating else quaternions:
        q[at] /= np.linalg.norm(q[at])
    return q, *rng.normal(size=(2, body.nv))


def acting(
    opened: Callable, path: Path, forward_dynamics: Callable, rng: np.random.Generator
) -> list[tuple[str, float, tuple[str, ...]]]:
    """Find what acts in a script that steps a URDF: motors, damping, limits, contacts of its links.

    Parameters
    ----------
    opened : callable
        Returns the body for flags, and for a text instead of the file.
    path : pathlib.Path
    forward_dynamics : callable
        The adapter's.
    rng : numpy.random.Generator

    Returns
    -------
    list of (str, float, tuple of str)
        Name, relative error that it alone makes of q̈ at a random state, and the joints or links concerned.
    """
    seed, effects = int(rng.integers(2**32)), []
    robot, _ = plain(parse(path, "pybullet"), path, "pybullet", JOINT_PARTS | {"limit"})
    for axis in robot.iterfind("joint/axis"):  # PyBullet does not scale them everywhere
        vector = np.array(axis.get("xyz", "1 0 0").split(), dtype=float)
        axis.set("xyz", " ".join(map(repr, (vector / (np.linalg.norm(vector) or 1.0)).tolist())))
    for name in (UNEXPLAINED, *SETTINGS):  # without any setting there must be no difference
        with opened(SHAPELESS, write(robot)) as body:  # meshes need not be there
            effects += _acting(body, name, forward_dynamics, seed)
    with suppress(AdapterError), opened(SELF_COLLISION) as body:  # its meshes may be missing
        effects += _acting(body, CONTACTS, forward_dynamics, seed)
    return effects


def _acting(
    body: Body, setting: str, forward_dynamics: Callable, seed: int
) -> list[tuple[str, float, tuple]]:
    """Return a setting with its effect on q̈ and where it acts; empty if it does not act."""
    if not body.nv:
        return []
    q, v, tau = random_state(body, np.random.default_rng(seed))
    expected = forward_dynamics(body, q, v, tau)
    error = np.abs(step(body, q, v, tau, setting) - expected).max() / np.abs(expected).max()
    where = concerned(body, setting, q)
    acts = not error <= NOTICED and (where or setting in EVERYWHERE)  # NaN counts
    return [(setting, float(error), where)] if acts else []
