"""Let talos_reduced fall without motors, from 30 cm above the ground; its limbs may touch each other.

Every joint has 0.01 kg m² of motor and a damper of 0.5 N m s/rad.
"""

from dataclasses import replace

import numpy as np
from fall import above_ground, robot
from show import Camera, arguments, painter, save, timed

import treefactor as tf
from treefactor.constraints import Geometry, Stepper, contacts_of

ARMATURE, DAMPING = 0.01, 0.5  # kg m^2, N m s/rad


def scene(gap: float = 0.3) -> tuple[Stepper, Geometry, np.ndarray]:
    """Return the stepper, the shapes and the configuration, which leans forward."""
    model, shapes, srdf = robot("talos_reduced", "talos.srdf")
    base, *others = model.joints
    model = tf.Model([base, *(replace(joint, armature=ARMATURE) for joint in others)], strict=False)
    q = np.clip(tf.neutral(model), model.lower, model.upper)
    q[3:7] = 0.0, np.sin(0.1), 0.0, np.cos(0.1)
    q = above_ground(model, shapes, q, gap)
    exclude = [("gripper_*", "gripper_*")]
    contacts = contacts_of(model, shapes, mu=0.6, exclude=exclude, srdf=srdf, reference=q)
    return Stepper(model, contacts, h=0.002, friction="box", correction="split"), shapes, q


def damping(t, q, v):
    """Return the torques of the dampers."""
    return np.r_[np.zeros(6), -DAMPING * v[6:]]


def main():
    options = arguments(__doc__, steps=1000)
    stepper, shapes, q = scene()
    run = timed(stepper, q, np.zeros(stepper.model.nv), options.steps, damping)
    overlap = max(-min(step.gap.min(), 0.0) for step in run.steps)
    print(f"overlap         {1e3 * overlap:8.2f} mm at most; the base is at {run.q[-1, 2]:.3f} m in the end")
    if options.out:
        paint = painter(stepper.model, shapes, ([-0.8, -0.9], [2.0, 0.9]))
        save(options.out, Camera(-50, 12, (-1.5, -0.6), (1.7, 1.9)), run, paint)


if __name__ == "__main__":
    main()
