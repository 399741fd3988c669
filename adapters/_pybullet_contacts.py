"""Let a body of a URDF rest and slide on the ground in PyBullet, with its default contacts or others."""

from __future__ import annotations

import numpy as np
import pybullet
from scipy.spatial.transform import Rotation

from .._util.protocol import ContactRun, ContactScene
from ..exceptions import AdapterError

CONTACT_OPTIONS = {
    "margin": "surrounds hulls of meshes by a margin of 1 mm (as much lower ground makes up for it)",
    "damping": "damps the motion of links (0.04 / s)",
    "solver": "ends its solver early (50 iterations, residual 1e-7)",
    "friction": "multiplies the frictions of two shapes, by default 0.5 each",
}
MARGIN = 1e-3  # m
ITERATIONS = 500


def contact_run(scene: ContactScene, options: frozenset[str] = frozenset()) -> ContactRun:
    """Run a scene; raise AdapterError if PyBullet refuses the file."""
    client = pybullet.connect(pybullet.DIRECT)
    at = {"physicsClientId": client}
    try:
        plane = pybullet.createCollisionShape(pybullet.GEOM_PLANE, **at)
        below = [0.0, 0.0, -MARGIN if "margin" in options else 0.0]  # shapes of one link keep their margin
        ground = pybullet.createMultiBody(0.0, plane, basePosition=below, **at)
        body = pybullet.loadURDF(str(scene.path), flags=pybullet.URDF_IGNORE_VISUAL_SHAPES, **at)
        pybullet.setGravity(*scene.gravity, **at)
        pybullet.setTimeStep(scene.h, **at)
        _set_options(body, ground, scene, options, at)
        inside = _inertial(body, at)  # the base is placed by its inertial frame
        frame = scene.R @ inside[1]
        start = scene.p + scene.R @ inside[0]
        pybullet.resetBasePositionAndOrientation(body, start, Rotation.from_matrix(frame).as_quat(), **at)
        p = np.empty((scene.steps + 1, 3))
        p[0], R = scene.p, scene.R
        for k in range(scene.steps):
            pybullet.stepSimulation(**at)
            origin, turned = pybullet.getBasePositionAndOrientation(body, **at)
            R = Rotation.from_quat(turned).as_matrix() @ inside[1].T
            p[k + 1] = origin - R @ inside[0]
        touching = pybullet.getContactPoints(body, ground, **at)
    except pybullet.error as error:
        raise AdapterError(f"{scene.path}: PyBullet refused it ({error})", "pybullet", scene.path) from None
    finally:
        pybullet.disconnect(client)
    points = np.array([point[6] for point in touching]).reshape(-1, 3)
    return ContactRun(p, R, points, np.array([point[9] for point in touching]))


def _inertial(body: int, at: dict) -> tuple[np.ndarray, np.ndarray]:
    """Return centre and rotation of the inertial frame of the base in its link."""
    _, _, _, centre, turned, *_ = pybullet.getDynamicsInfo(body, -1, **at)
    return np.array(centre), Rotation.from_quat(turned).as_matrix()


def _set_options(body: int, ground: int, scene: ContactScene, options: frozenset[str], at: dict) -> None:
    """Set what the options name."""
    if "solver" in options:
        pybullet.setPhysicsEngineParameter(numSolverIterations=ITERATIONS, solverResidualThreshold=0.0, **at)
    if "friction" in options:  # of a pair it is the product of both
        pybullet.changeDynamics(ground, -1, lateralFriction=1.0, **at)
        for link in range(-1, pybullet.getNumJoints(body, **at)):
            pybullet.changeDynamics(body, link, lateralFriction=scene.mu, **at)
    if "damping" in options:
        pybullet.changeDynamics(body, -1, linearDamping=0.0, angularDamping=0.0, **at)
