"""Simulate spheres that pour over pegs into a bin: many contacts that come and go, with friction."""

import numpy as np
from show import Camera, arguments, save, timed

import treefactor as tf
from treefactor.constraints import Plane, Sphere, Stepper, contacts_between

RADIUS, PEG = 0.1, 0.15
PEGS = [(x, 0.0, z) for row, z in enumerate((1.0, 1.6)) for x in np.arange(-1.5 + 0.5 * row, 1.6, 1.0)]
WALLS = [
    Plane(),
    Plane(-1, [1.0, 0, 0], [-1.5, 0, 0]),
    Plane(-1, [-1.0, 0, 0], [1.5, 0, 0]),
    Plane(-1, [0, 1.0, 0], [0, -0.22, 0]),
    Plane(-1, [0, -1.0, 0], [0, 0.22, 0]),
]


def scene(count: int = 48, seed: int = 0) -> tuple[Stepper, np.ndarray]:
    """Return the stepper and the configuration of the spheres above the pegs."""
    ball = tf.Inertia(1.0, tensor=0.4 * RADIUS**2 * np.eye(3))
    model = tf.Model([tf.Joint(f"ball{i}", "freeflyer", inertia=ball) for i in range(count)])
    pegs = [Sphere(-1, place, PEG) for place in PEGS]
    balls = [Sphere(i, radius=RADIUS) for i in range(count)]
    contacts = contacts_between(balls, [*WALLS, *pegs], mu=0.3)
    layer, place = np.divmod(np.arange(count), 8)
    spots = np.stack([0.22 * (place % 4) - 0.33, 0.22 * (place // 4) - 0.11, 2.1 + 0.22 * layer], axis=1)
    spots += np.random.default_rng(seed).uniform(-0.008, 0.008, spots.shape)
    q = np.concatenate([[*spot, 0, 0, 0, 1.0] for spot in spots])
    return Stepper(model, contacts, h=0.005, margin=0.1), q


def paint(picture, q):
    for place in PEGS:
        picture.sphere(np.array(place), PEG, (0.45, 0.45, 0.5))
    for i, place in enumerate(q.reshape(-1, 7)[:, :3]):
        picture.sphere(place, RADIUS, [(0.9, 0.5, 0.2), (0.25, 0.5, 0.8), (0.4, 0.7, 0.35)][i % 3])


def main():
    options = arguments(__doc__, steps=500)
    stepper, q = scene()
    run = timed(stepper, q, np.zeros(stepper.model.nv), options.steps)
    if options.out:
        save(options.out, Camera(-90, 10, (-1.7, -0.2), (1.7, 3.2)), run, paint, frames=28)


if __name__ == "__main__":
    main()
