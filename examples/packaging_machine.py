"""A crank drives a pusher through a rocker: it pushes cans, one by one, from a magazine into a row.

The crank, a coupler and a rocker form one closed loop; the rocker, a link and the pusher form another one.
All forces between cans, pusher, table and magazine are contacts with friction. A motor turns the crank as
prescribed.
"""

from functools import partial

import numpy as np
from show import Camera, arguments, placements, save, timed

import treefactor as tf
from treefactor import constraints
from treefactor.constraints import Contact, Plane, Sphere, Stepper

UPRIGHT = np.array(
    [[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]]
)  # x-y planes of joints are vertical, z to the front
PIVOT, MOTOR = np.array([-0.40, 0.0, -0.30]), np.array([-0.70, 0.0, 0.0])  # of rocker and crank, m
CRANK, COUPLER, HOLD, ROCKER, LINK = 0.066, 0.30, 0.30, 0.40, 0.20
RADIUS = 0.04  # of the cans
NOSE, BAR, GAP = 0.03, 0.20, 0.025  # radius, length and distance of the spheres of the pusher
LEFT, RIGHT, EDGE, TOP = -0.044, 0.044, 0.09, 0.56  # walls of the magazine: places, lower edge and height
PEG = 0.02  # radius of the spheres of the right wall
SPEED = 2 * np.pi / 0.8  # of the crank, rad/s
CANS, FIRST = 6, 5  # number of cans, and of the joint of the first one
MU, ROLLING = 0.3, 0.004  # friction on the table; resistance to rolling, N m s


def machine() -> list[tf.Joint]:
    """Return crank, coupler, rocker, link and pusher."""

    def bar(length: float, mass: float) -> tf.Inertia:
        across = mass * length**2 / 12
        return tf.Inertia(mass, [length / 2, 0, 0], np.diag([across / 50, across, across]))

    hinge = {"kind": "revolute", "axis": [0, 0, 1.0]}
    wheel = tf.Inertia(2.0, tensor=np.diag([0.01, 0.01, 0.02]))
    return [
        tf.Joint("crank", R=UPRIGHT, p=MOTOR, inertia=wheel, **hinge),
        tf.Joint("coupler", parent=0, p=[CRANK, 0, 0], inertia=bar(COUPLER, 0.3), **hinge),
        tf.Joint("rocker", R=UPRIGHT, p=PIVOT, inertia=bar(ROCKER, 0.5), **hinge),
        tf.Joint("link", parent=2, p=[ROCKER, 0, 0], inertia=bar(LINK, 0.2), **hinge),
        tf.Joint(
            "pusher", "prismatic", R=UPRIGHT, p=[0, 0, RADIUS], axis=[1.0, 0, 0], inertia=tf.Inertia(0.5)
        ),
    ]


LOOPS = [
    tf.Loop("pin", "spherical", "coupler", "rocker", p1=[COUPLER, 0, 0], p2=[HOLD, 0, 0]),
    tf.Loop("wrist", "spherical", "link", "pusher", p1=[LINK, 0, 0], p2=[-BAR, 0, 0]),
]


def contacts() -> list[Contact]:
    """Return the contacts of cans with the table, the magazine, the pusher and each other."""
    cans = [Sphere(FIRST + k, radius=RADIUS) for k in range(CANS)]
    bar = [Sphere(4, [-NOSE - x, 0, 0], NOSE) for x in np.arange(0.0, BAR, GAP)]
    wall = [Sphere(-1, [RIGHT + PEG, 0, z], PEG) for z in np.arange(EDGE + PEG, TOP, 1.5 * PEG)]
    left = Plane(-1, [1.0, 0, 0], [LEFT, 0, 0])
    pairs = [Contact(can, Plane(), MU) for can in cans]
    pairs += [Contact(can, one, 0.1) for can in cans for one in (left, *wall, *bar)]
    return pairs + [Contact(can, before, 0.1) for k, can in enumerate(cans) for before in cans[:k]]


def scene() -> tuple[Stepper, np.ndarray]:
    """Return the stepper and the configuration with the pusher drawn back and all cans in the magazine."""
    inertia = tf.Inertia(0.2, tensor=0.2 * RADIUS**2 * np.diag([0.5, 0.5, 0.5]))
    cans = [tf.Joint(f"can{k}", "planar", R=UPRIGHT, inertia=inertia) for k in range(CANS)]
    model = tf.Model([*machine(), *cans], name="packaging machine", loops=LOOPS)
    stacked = [[0.0, RADIUS + 2.02 * RADIUS * k, 1.0, 0.0] for k in range(CANS)]
    guess = np.concatenate([[np.pi, -np.pi, 1.7, -1.9, -0.08], *stacked])
    q = constraints.close(model, guess)
    motor = constraints.Drive("crank", partial(turn, q[0]))
    return Stepper(model, contacts(), h=0.002, margin=0.02, drives=[motor]), q


def turn(start, t):
    """Return angle, speed and acceleration of the crank: it starts within 0.2 s and turns backwards."""
    if t > 0.2:
        return start - SPEED * (t - 0.1), -SPEED, 0.0
    return start - SPEED * t**2 / 0.4, -SPEED * t / 0.2, -SPEED / 0.2


def roll(t, q, v):
    """Return the resistance to rolling."""
    tau = np.zeros_like(v)
    tau[FIRST + 2 :: 3] = -ROLLING * v[FIRST + 2 :: 3]
    return tau


def paint(picture, q):
    steel, dark = (0.55, 0.6, 0.68), (0.3, 0.32, 0.36)
    poses = placements(MODEL, q)
    (_, motor), (_, pin), (turned, pivot), (_, joint), (_, nose), *cans = poses
    hold = pivot + turned @ [HOLD, 0, 0]
    wrist = nose - np.array([BAR, 0, 0])
    depth = [0, 0.06, 0]
    picture.box(np.eye(3), np.array([0.24, 0.06, -0.01]), [0.92, 0.12, 0.02], (0.78, 0.76, 0.72))
    for x in (LEFT - 0.006, RIGHT + 0.006):
        low = EDGE if x > 0 else EDGE - 0.01
        picture.box(
            np.eye(3), np.array([x, 0.06, (low + TOP) / 2]), [0.012, 0.02, TOP - low], (0.5, 0.52, 0.5)
        )
    for k, (R, p) in enumerate(cans):
        at, colour = p + depth, [(0.9, 0.55, 0.25), (0.35, 0.6, 0.75)][k % 2]
        picture.sphere(at, RADIUS, colour)
        for x in (-0.6, 0.6):
            picture.sphere(at + R @ [x * RADIUS, 0, 0.05], 0.15 * RADIUS, dark)
    picture.box(np.eye(3), nose - np.array([BAR / 2, 0, 0]), [BAR, 0.08, 2 * NOSE], steel)
    for a, b, width in ((wrist, joint, 0.018), (pivot, joint, 0.024), (pin, hold, 0.018), (motor, pin, 0.03)):
        picture.rod(np.subtract(a, depth), np.subtract(b, depth), width, steel)
    for at, radius in (
        (motor, 0.03),
        (pivot, 0.02),
        (pin, 0.012),
        (hold, 0.012),
        (joint, 0.012),
        (wrist, 0.012),
    ):
        picture.sphere(np.subtract(at, [0, 0.1, 0]), radius, dark)


MODEL = scene()[0].model


def main():
    options = arguments(__doc__, steps=2400)
    stepper, q = scene()
    run = timed(stepper, q, np.zeros(stepper.model.nv), options.steps, roll)
    gap = np.abs(constraints.loop_rows(stepper.model, run.q).residual).max()
    fed = int((run.q[-1, FIRST::4] > RIGHT + RADIUS).sum())
    print(f"loops open by {1e3 * gap:.3f} mm at most; {fed} of {CANS} cans are in the row")
    if options.out:
        save(options.out, Camera(-90, 12, (-0.83, -0.38), (0.73, 0.60)), run, paint, frames=80)


if __name__ == "__main__":
    main()
