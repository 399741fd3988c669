"""Stack boxes on a cart: they stand while it starts gently, and lean over when it stops at once."""

import numpy as np
from show import Camera, arguments, placements, save, timed

import treefactor as tf
from treefactor.constraints import Contact, Plane, Sphere, Stepper, box

SIZE, CART = np.array([0.5, 0.5, 0.3]), np.array([2.0, 0.8, 0.2])
COUNT = 6


def scene(mu: float = 0.4) -> tuple[Stepper, np.ndarray]:
    """Return the stepper and the configuration of the boxes, each a little beside the one below."""
    slide = tf.Joint("cart", "prismatic", axis=[1.0, 0, 0], inertia=tf.Inertia(20.0))
    moments = np.diag((SIZE**2).sum() - SIZE**2) / 12
    boxes = [tf.Joint(f"box{i}", "freeflyer", inertia=tf.Inertia(1.0, tensor=moments)) for i in range(COUNT)]
    contacts = []
    for i in range(1, COUNT + 1):
        top = Plane(i - 1, point=[0, 0, SIZE[2] / 2]) if i > 1 else Plane(0, point=[0, 0, 0.0])
        contacts += [
            Contact(Sphere(i, corner.center), top, mu) for corner in box(i, SIZE) if corner.center[2] < 0
        ]
    places = [[0.02 * (-1) ** i, 0, (i + 0.5) * SIZE[2], 0, 0, 0, 1.0] for i in range(COUNT)]
    return Stepper(tf.Model([slide, *boxes]), contacts, h=0.005), np.concatenate([[0.0], *places])


def pull(t, q, v):
    """Return the force on the cart: 2.5 m/s² forth, then 6 m/s² back."""
    total = 20.0 + COUNT
    tau = np.zeros_like(v)
    tau[0] = total * (2.5 if t < 0.5 else -6.0 if t < 0.75 else 0.0)
    return tau


def paint(picture, q):
    (_, cart), *boxes = placements(MODEL, q)
    picture.box(np.eye(3), cart - [0, 0, CART[2] / 2], CART, (0.55, 0.5, 0.45))
    for i, (R, p) in enumerate(boxes):
        picture.box(R, p, SIZE, [(0.85, 0.6, 0.35), (0.75, 0.5, 0.3)][i % 2])


MODEL = scene()[0].model


def main():
    options = arguments(__doc__, steps=240)
    stepper, q = scene()
    run = timed(stepper, q, np.zeros(stepper.model.nv), options.steps, pull)
    if options.out:
        save(options.out, Camera(-60, 15, (-1.4, -0.6), (1.8, 2.2)), run, paint)


if __name__ == "__main__":
    main()
