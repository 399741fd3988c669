"""Test that points which come down only because of a step's impulses do not overlap after it."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import treefactor as tf
from treefactor.constraints import Box, Contact, Cylinder, Mesh, Plane, Stepper
from treefactor.constraints import stepper as stepping
from treefactor.constraints._shape_contacts import NOTHING_CARRIED
from treefactor.mlcp import SensitivityStatus

ANGLES = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
RIM = 0.1 * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
RIMS = ((0.02, 1.0), (0.0, 1.0), (-0.005, 0.5))  # m, and shares of the radius: the lowest one is smaller
SOLE = np.concatenate([np.c_[share * RIM, np.full(24, z)] for z, share in RIMS])  # more corners than rows
PUSHED = ("block", 0.2), ("stone", 2.0)  # kg
H = 0.005  # s


def free(mass, size):
    """Return a free body with the inertia of a solid box."""
    x, y, z = np.square(size)
    tensor = mass / 12.0 * np.diag([y + z, x + z, x + y])
    return tf.Joint("body", "freeflyer", inertia=tf.Inertia(mass, tensor=tensor))


def tilted(height, angle):
    """Return a configuration that is turned about x."""
    return np.r_[0.0, 0.0, height, Rotation.from_euler("x", angle).as_quat()]


def sole_hits_the_ground():
    """Return a sole that falls on a narrow face: the corners on the other side come down in the same step."""
    q = tilted(0.1 * np.sin(0.06) + 0.005, 0.06)
    v = np.r_[Rotation.from_euler("x", 0.06).apply([0.0, 0.0, -4.0], inverse=True), np.zeros(3)]
    return tf.Model([free(0.2, [0.2, 0.2, 0.02])]), [Contact(Mesh(0, SOLE), mu=0.5)], q, v


def beam_is_hit():
    """Return a beam at rest, hit at one end: the other end, 3 mm below a ceiling, moves only then."""
    beam = tf.Joint("beam", "revolute", axis=[0, 1, 0], inertia=tf.Inertia(0.2, tensor=1e-3 * np.eye(3)))
    rod, stone = Box(0, [0.6, 0.02, 0.02]), Box(1, [0.05, 0.05, 0.05])
    ceiling = Plane(-1, [0, 0, -1.0], [0, 0, 0.013])
    q = np.r_[0.0, -0.25, 0.0, 0.036, 0, 0, 0, 1]
    return (
        tf.Model([beam, free(2.0, [0.05] * 3)]),
        [Contact(rod, ceiling), Contact(stone, rod)],
        q,
        np.r_[0, 0, 0, -3.0, 0, 0, 0],
    )


def block_is_pushed():
    """Return a block at rest, 3 mm before a wall, that another one hits: nothing turns."""
    joints = [tf.Joint(name, "prismatic", axis=[1, 0, 0], inertia=tf.Inertia(mass)) for name, mass in PUSHED]
    block, stone = Box(0, [0.1] * 3), Box(1, [0.1] * 3)
    contacts = [Contact(block, Plane(-1, [-1.0, 0, 0], [0.053, 0, 0])), Contact(stone, block)]
    return tf.Model(joints), contacts, np.array([0.0, -0.102]), np.array([0.0, 3.0])


def disc_wobbles():
    """Return a disc that spins: the lowest point of its rim runs around it."""
    q = tilted(0.01 * np.cos(0.2) + 0.06 * np.sin(0.2), 0.2)
    disc = free(0.5, [0.12, 0.12, 0.02])
    return tf.Model([disc]), [Contact(Cylinder(0, 0.06, 0.02), mu=0.5)], q, np.r_[np.zeros(5), 20.0]


SCENES = [sole_hits_the_ground, beam_is_hit, block_is_pushed, disc_wobbles]


def overlap(scene):
    """Return the largest overlap of 40 steps, and the steps."""
    model, contacts, q, v = scene()
    run = Stepper(model, contacts, h=H, friction="box").run(q, v, 40)
    return -min(step.gap.min() for step in run.steps), run


@pytest.mark.parametrize("scene", SCENES, ids=[scene.__name__ for scene in SCENES])
def test_points_that_come_down_late_do_not_overlap(scene, monkeypatch):
    deepest, run = overlap(scene)
    model, contacts, q, v = scene()
    compiled = Stepper(model, contacts, h=H, friction="box").run(q, v, 40, keep_steps=False)
    assert np.array_equal(compiled.q, run.q)
    assert np.array_equal(compiled.v, run.v)
    monkeypatch.setattr(stepping, "SOLUTIONS", 1)
    assert deepest < 5e-4 < 1e-3 < overlap(scene)[0]


class Searched:
    """Shapes of a stepper whose search for overlooked points finds what it is given; keeps what is asked."""

    def __init__(self, shapes, *points):
        self.shapes, self.points, self.carried = shapes, [*points], []

    def near(self, frames, margin, before, carried):
        self.carried.append(len(carried))
        return self.shapes.near(frames, margin, before, carried)

    def overlooked(self, *arguments):
        return self.points.pop(0) if self.points else NOTHING_CARRIED


def resting_cube(*points):
    """Return the stepper of a cube that rests on the ground, its search, and the state."""
    model, cube = tf.Model([free(1.0, [0.2] * 3)]), Box(0, [0.2] * 3)
    stepper = Stepper(model, [Contact(cube)], h=H, stabilization=1.0)
    search = Searched(stepper._contacts.shapes, *points)
    vars(stepper._contacts)["shapes"] = search
    return stepper, search, tilted(0.1, 0.0), np.zeros(6)


def carried_point(z, gap, identity):
    """Return a point of the first pair, the normal of its surface along z, as the search finds it."""
    point = np.zeros(1, NOTHING_CARRIED.dtype)
    point["at"]["normal"], point["at"]["gap"], point["at"]["identity"] = [0.0, 0.0, z], gap, identity
    return point


def test_points_of_all_searches_of_a_step_have_rows():
    points = [carried_point(1.0, 0.0, 100 + k) for k in range(3)]
    stepper, search, q, v = resting_cube(*points)
    step = stepper.step(q, v)
    assert search.carried == [0, 1, 2]
    assert len(step.points.gaps) == 4 + 2


def test_points_that_contradict_others_are_left_out():
    stepper, search, q, v = resting_cube(carried_point(-1.0, -0.01, 100))  # 1 cm down, into the ground
    step = stepper.step(q, v)
    assert search.carried == [0, 1]
    assert len(step.points.gaps) == 4
    np.testing.assert_allclose(step.v, 0.0, atol=1e-12)


@pytest.mark.parametrize("scene", SCENES, ids=[scene.__name__ for scene in SCENES])
def test_steps_whose_added_points_act_have_no_derivatives(scene):
    model, contacts, q, v = scene()
    stepper, added = Stepper(model, contacts, h=H, friction="box"), 0
    for _ in range(40):
        made = stepper._solved(q, v, np.zeros(len(v)), 0.0)
        if len(made.carried) and not added:
            status, *derivatives = stepper.derivatives(q, v)
            assert status is SensitivityStatus.DEGENERATE
            assert np.isnan(derivatives).all()
            added += 1
        step = stepper.step(q, v)
        q, v = step.q, step.v
    assert added
