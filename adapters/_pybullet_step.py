"""The state of a PyBullet body, and what would spoil a step of it."""

from __future__ import annotations

import numpy as np
import pybullet

from ._pybullet_body import Body, adapter_error

HUGE_VELOCITY = 1e9  # rad/s, m/s; PyBullet clips every velocity at maxJointVelocity, 100 by default
AWAKE = pybullet.ACTIVATION_STATE_DISABLE_SLEEPING | pybullet.ACTIVATION_STATE_WAKE_UP


def silence(body: Body) -> None:
    """Switch off what acts on the body without being asked: damping, motors, velocity clamp, sleeping."""
    pybullet.changeDynamics(
        body.id,
        -1,
        linearDamping=0.0,
        angularDamping=0.0,
        maxJointVelocity=HUGE_VELOCITY,
        activationState=AWAKE,
        physicsClientId=body.client,
    )
    for i in range(len(body.links)):  # alone: in a call with the others PyBullet applies it to link -1
        pybullet.changeDynamics(body.id, i, jointDamping=0.0, physicsClientId=body.client)
    for i, link in enumerate(body.links):
        if link.freedoms == 1:
            pybullet.setJointMotorControl2(
                body.id, i, pybullet.VELOCITY_CONTROL, force=0.0, physicsClientId=body.client
            )
        elif link.freedoms == 3:
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
    """v of the present state; that of the base in axes of rotation R."""
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


def require_solitude(body: Body) -> None:
    """Refuse a client in which contacts, constraints or substeps would enter the acceleration."""
    bodies = pybullet.getNumBodies(physicsClientId=body.client)
    constraints = pybullet.getNumConstraints(physicsClientId=body.client)
    substeps = pybullet.getPhysicsEngineParameters(body.client)["numSubSteps"]
    if bodies > 1 or constraints or substeps > 1:
        raise adapter_error(
            f"the client holds {bodies} bodies and {constraints} constraints and makes {substeps} substeps; "
            "contacts and constraints would enter the acceleration: load the body alone"
        )


def require_within_limits(body: Body, q: np.ndarray) -> None:
    """Refuse a joint at or beyond its limits, where PyBullet pushes back."""
    for i, link in enumerate(body.links):
        if link.freedoms == 1:
            lower, upper = pybullet.getJointInfo(body.id, i, physicsClientId=body.client)[8:10]
            if lower <= upper and not lower < q[link.q][0] < upper:
                raise adapter_error(
                    f"joint {link.joint!r} is at {q[link.q][0]:g}, its limits are {lower:g} and {upper:g}: "
                    "PyBullet pushes back",
                    link.joint,
                )
