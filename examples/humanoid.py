"""Simulate a humanoid that stands on eight point contacts, spreads its arms and is pushed.

The robot is ``simple_humanoid`` of example-robot-data, with 0.5 kg m² of motor on every joint.
"""

from dataclasses import replace

import numpy as np
from show import Camera, arguments, placements, save, timed

import treefactor as tf
from treefactor import robots
from treefactor.constraints import Contact, Sphere, Stepper

ANKLES, SOLE = (6, 12), 0.09  # joints, m below them
FOOT = np.array([[x, y, -SOLE] for x in (-0.07, 0.15) for y in (-0.05, 0.05)])
STIFFNESS, DAMPING, PUSH = 4000.0, 150.0, 80.0  # N m/rad, N m s/rad, N


def scene(mu: float = 0.7) -> tuple[Stepper, np.ndarray]:
    """Return the stepper and the configuration of the robot, upright on its soles."""
    robot = tf.Model.from_urdf(robots.find("simple_humanoid").path, floating=True)
    joints = [joint if i == 0 else replace(joint, armature=0.5) for i, joint in enumerate(robot.joints)]
    model = tf.Model(joints, strict=False, name=robot.name)
    q = np.clip(tf.neutral(model), model.lower, model.upper)
    q[2] = SOLE - tf.joint_placements(model, q)[ANKLES[0], 2, 3]
    contacts = [Contact(Sphere(ankle, corner), mu=mu) for ankle in ANKLES for corner in FOOT]
    return Stepper(model, contacts, h=0.002, facets=8), q


def hold(rest: np.ndarray):
    """Return forces of springs that hold the joints and spread the arms; a push from behind for 0.1 s."""
    spread = np.zeros(len(rest) - 7)
    spread[[15, 22]] = -0.7, 0.7  # of the shoulders

    def tau(t, q, v):
        wanted = rest[7:] + spread * np.sin(np.pi * t) ** 2
        force = np.zeros_like(v)
        force[6:] = STIFFNESS * (wanted - q[7:]) - DAMPING * v[6:]
        force[0] = PUSH * (0.5 <= t < 0.6)
        return force

    return tau


def paint(picture, q):
    picture.floor([-0.6, -0.6], [0.8, 0.6])
    placed = placements(MODEL, q)
    for joint, (_, p) in zip(MODEL.joints, placed, strict=True):
        if joint.parent >= 0:
            picture.rod(placed[joint.parent][1], p, 0.05, (0.45, 0.55, 0.7))
            picture.sphere(p, 0.035, (0.3, 0.35, 0.45))
    for ankle in ANKLES:
        R, p = placed[ankle]
        picture.box(R, p + R @ [0.04, 0, -0.075], [0.22, 0.1, 0.03], (0.8, 0.5, 0.3))
        picture.rod(p, p + R @ [0, 0, -0.07], 0.05, (0.45, 0.55, 0.7))
    R, p = placed[15]
    picture.sphere(p + R @ [0, 0, 0.17], 0.1, (0.9, 0.75, 0.6))


MODEL = scene()[0].model


def main():
    options = arguments(__doc__, steps=1000)
    stepper, q = scene()
    run = timed(stepper, q, np.zeros(stepper.model.nv), options.steps, hold(q))
    weight = sum(joint.inertia.mass for joint in MODEL.joints) * 9.81
    print(
        f"the soles carry {run.steps[-1].impulse[:, 2].sum() / stepper.h:.1f} N of {weight:.1f} N in the end"
    )
    if options.out:
        save(options.out, Camera(-50, 12, (-0.9, -0.3), (0.9, 1.7)), run, paint)


if __name__ == "__main__":
    main()
