"""Let a rigid body rest and slide on the ground by `constraints.Stepper`."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from ..._util.protocol import ContactRun, ContactScene
from ...constraints import Plane, Sphere, Stepper, contact_points, contacts_of
from ...model.model import Model


def contact_run(scene: ContactScene, options: frozenset[str] = frozenset()) -> ContactRun:
    """Run a scene with the exact contacts of the stepper; there are no options."""
    model, shapes = Model.from_urdf(scene.path, floating=True, geometry="collision")
    stepper = Stepper(
        model._replaced(gravity=scene.gravity),
        contacts_of(model, shapes, mu=scene.mu, self_collision=False),
        scene.h,
        correction="split",
    )
    q = np.concatenate([scene.p, Rotation.from_matrix(scene.R).as_quat()])
    motion = stepper.run(q, np.zeros(6), scene.steps)
    R = Rotation.from_quat(motion.q[-1, 3:7]).as_matrix()
    last = motion.steps[-1]
    points, normal = [last.points.points], [last.points.impulses[:, 2]]
    for k, shape in enumerate(shapes):
        if isinstance(shape, Sphere):  # its contact has one point, which is not listed
            centre = motion.q[-1, :3] + R @ shape.center
            points.append(centre[None] - [0.0, 0.0, shape.radius])
            normal.append(last.impulse[k, 2:3])
    return ContactRun(motion.q[:, :3], R, np.concatenate(points), np.concatenate(normal) / scene.h)


def lowest(path, R: np.ndarray) -> float:
    """Return how far the shapes of a rigid body reach below its origin (m)."""
    _, shapes = Model.from_urdf(path, floating=True, geometry="collision")
    at = np.column_stack([R, np.zeros(3)])
    return -min(contact_points(Plane(), shape, None, at, np.inf).gaps.min() for shape in shapes)
