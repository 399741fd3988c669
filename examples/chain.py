"""Simulate a chain of hinges, every second one crosswise, that falls onto the floor; one end is held."""

import numpy as np
from show import Camera, arguments, placements, save, timed

import treefactor as tf
from treefactor.constraints import Contact, Sphere, Stepper

LINKS, LENGTH, RADIUS, HEIGHT = 24, 0.1, 0.03, 1.2


def scene(mu: float = 0.5) -> tuple[Stepper, np.ndarray]:
    """Return the stepper and the configuration with the chain level."""
    across = 0.1 * (LENGTH**2 / 12 + RADIUS**2 / 4)
    link = tf.Inertia(0.1, [LENGTH / 2, 0, 0], np.diag([0.1 * RADIUS**2 / 2, across, across]))
    joints = [
        tf.Joint(
            f"link{i}",
            "revolute",
            i - 1,
            p=[LENGTH, 0, 0] if i else [0, 0, HEIGHT],
            axis=[[0, 1.0, 0], [0, 0, 1.0]][i % 2],
            inertia=link,
        )
        for i in range(LINKS)
    ]
    ends = [Sphere(i, [LENGTH, 0, 0], RADIUS) for i in range(LINKS)]
    contacts = [Contact(end, mu=mu) for end in ends]
    contacts += [Contact(ends[i], ends[j], mu) for i in range(LINKS) for j in range(i - 1)]
    return Stepper(tf.Model(joints), contacts, h=0.002, margin=0.1), np.zeros(LINKS)


def damping(t, q, v):
    """Return the damping forces of the joints."""
    return -1e-3 * v


def paint(picture, q):
    picture.floor([-0.8, -0.4], [2.6, 0.4])
    for i, (R, p) in enumerate(placements(MODEL, q)):
        end = p + R @ [LENGTH, 0, 0]
        picture.rod(p, end, 0.03, (0.5, 0.5, 0.55))
        picture.sphere(end, RADIUS, (0.85, 0.5, 0.25) if i % 2 else (0.3, 0.5, 0.75))


MODEL = scene()[0].model


def main():
    options = arguments(__doc__, steps=1000)
    stepper, q = scene()
    v = np.zeros(stepper.model.nv)
    v[1] = 0.3
    run = timed(stepper, q, v, options.steps, damping)
    if options.out:
        save(options.out, Camera(-80, 12, (-1.2, -0.3), (2.6, 1.6)), run, paint)


if __name__ == "__main__":
    main()
