"""Topple ten dominoes, boxes of 2, 8 and 16 cm that stand 6 cm apart: the first one is pushed."""

import numpy as np
from show import Camera, arguments, painter, save, timed

import treefactor as tf
from treefactor.constraints import Box, Geometry, Stepper, contacts_of

SIZE, COUNT, SPACING, MASS = np.array([0.02, 0.08, 0.16]), 10, 0.06, 0.1


def scene(mu: float = 0.3) -> tuple[Stepper, Geometry, np.ndarray, np.ndarray]:
    """Return the stepper, the shapes and the state in which the first one begins to fall."""
    inertia = tf.Inertia(MASS, tensor=MASS / 12 * np.diag((SIZE**2).sum() - SIZE**2))
    model = tf.Model([tf.Joint(f"domino{k}", "freeflyer", inertia=inertia) for k in range(COUNT)])
    shapes = Geometry([Box(k, SIZE) for k in range(COUNT)])
    q = np.concatenate([[SPACING * k, 0, SIZE[2] / 2, 0, 0, 0, 1] for k in range(COUNT)])
    v = np.zeros(model.nv)
    v[[0, 4]] = 0.16, 2.0  # m/s and rad/s: it turns about its lower edge
    return Stepper(model, contacts_of(model, shapes, mu=mu), h=0.002), shapes, q, v


def times_of_fall(t: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return when the centre of each domino passes 7.5 cm, s; NaN if it does not."""
    low = q.reshape(len(t), COUNT, 7)[:, :, 2] < 0.075
    return np.where(low.any(axis=0), t[low.argmax(axis=0)], np.nan)


def main():
    options = arguments(__doc__, steps=600)
    stepper, shapes, q, v = scene()
    run = timed(stepper, q, v, options.steps)
    print("falls at        " + "  ".join(f"{t:.3f}" for t in times_of_fall(run.t, run.q)) + " s")
    if options.out:
        camera = Camera(-60, 20, (-0.2, -0.25), (0.7, 0.2))
        save(options.out, camera, run, painter(stepper.model, shapes, ([-0.1, -0.1], [0.75, 0.1])))


if __name__ == "__main__":
    main()
