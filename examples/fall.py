"""Drop solo12 onto its feet from 20 cm; its motors hold it, and it stands.

Its shapes are the collision shapes of its URDF; which of them may touch follows from its SRDF.
"""

from pathlib import Path

import numpy as np
from show import Camera, arguments, painter, save, timed

import treefactor as tf
from treefactor import robots
from treefactor.constraints import Geometry, Stepper, bounding_boxes, contacts_of

STANCE = 2 * [0.1, 0.8, -1.6, -0.1, 0.8, -1.6]  # rad


def robot(name: str, srdf: str) -> tuple[tf.Model, Geometry, Path]:
    """Load a robot, its collision shapes, and the path of its SRDF."""
    path = robots.find(name).path
    model, shapes = tf.Model.from_urdf(path, floating=True, geometry="collision")
    return model, shapes, path.parents[1] / "srdf" / srdf


def above_ground(model: tf.Model, shapes: Geometry, q, gap: float) -> np.ndarray:
    """Return q with the lowest shape at a height above the ground, m."""
    q = np.array(q, dtype=float)
    q[2] += gap - bounding_boxes(model, shapes, q)[:, 0, 2].min()
    return q


def scene(gap: float = 0.2) -> tuple[Stepper, Geometry, np.ndarray]:
    """Return the stepper, the shapes and the configuration."""
    model, shapes, srdf = robot("solo12", "solo.srdf")
    q = tf.neutral(model)
    q[7:] = STANCE
    q = above_ground(model, shapes, q, gap)
    contacts = contacts_of(model, shapes, mu=0.8, srdf=srdf, reference=q)
    return Stepper(model, contacts, h=0.002, friction="box", correction="split"), shapes, q


def hold(t, q, v):
    """Return the torques of springs and dampers in the motors."""
    return np.r_[np.zeros(6), 5.0 * (STANCE - q[7:]) - 0.2 * v[6:]]


def main():
    options = arguments(__doc__, steps=1500)
    stepper, shapes, q = scene()
    run = timed(stepper, q, np.zeros(stepper.model.nv), options.steps, hold)
    weight = 9.81 * sum(joint.inertia.mass for joint in stepper.model.joints)
    force = run.steps[-1].impulse[:, 2].sum() / stepper.h
    print(f"the ground carries {force:.3f} N of {weight:.3f} N in the end")
    if options.out:
        paint = painter(stepper.model, shapes, ([-0.5, -0.4], [0.5, 0.4]))
        save(options.out, Camera(-50, 15, (-0.5, -0.25), (0.5, 0.7)), run, paint)


if __name__ == "__main__":
    main()
