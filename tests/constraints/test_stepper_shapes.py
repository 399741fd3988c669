"""Shapes of bodies in time steps: rest, rolling, stacks, overlaps, a robot of its URDF, pairs of shapes."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot
from scipy.spatial.transform import Rotation

import treefactor as tf
from treefactor.constraints import (
    Box,
    Capsule,
    Contact,
    Cylinder,
    Geometry,
    Mesh,
    Plane,
    Sphere,
    Stepper,
    contacts_of,
)
from treefactor.exceptions import InvalidModelError, StepError
from treefactor.kinematics.jacobians import BodyMotions
from treefactor.model._hulls import SIGNS

G, H = 9.81, 2e-3
CUBE = [0.2, 0.2, 0.2]
UPRIGHT = Rotation.identity()
LYING = Rotation.from_euler("x", -90, degrees=True)
STANDING = [0.1, 0.8, -1.6, -0.1, 0.8, -1.6, 0.1, -0.8, 1.6, -0.1, -0.8, 1.6]  # of solo12
LEGS = 5.0, 0.2  # N m/rad, N m s/rad: a controller that holds its legs


def bodies(count=1, moments=(1 / 150, 1 / 150, 1 / 150), incline=0.0):
    """Return a model of free bodies of 1 kg, under gravity that is inclined by an angle about y."""
    inertia = tf.Inertia(1.0, tensor=np.diag(moments))
    joints = [tf.Joint(f"body {k}", "freeflyer", inertia=inertia) for k in range(count)]
    return tf.Model(joints, gravity=[G * np.sin(incline), 0, -G * np.cos(incline)])


def at(*places, turn=UPRIGHT):
    """Return a configuration of bodies at places (x, z)."""
    return np.concatenate([[x, 0, z, *turn.as_quat()] for x, z in places])


def require_solved(steps):
    for step in steps:
        assert step.solution.residual() <= 1e-9
        assert step.solution.complementarity() <= 1e-9


RESTING = {
    "box": (Box(0, CUBE), 0.1, UPRIGHT),
    "mesh": (Mesh(0, 0.1 * SIGNS), 0.1, UPRIGHT),
    "mesh, on a frame": (
        Mesh(tf.Frame("part", 0, p=[0, 0, 0.05]), 0.1 * SIGNS, p=[0, 0, -0.05]),
        *(0.1, UPRIGHT),
    ),
    "upright cylinder": (Cylinder(0, 0.1, 0.4), 0.2, UPRIGHT),
    "lying cylinder": (Cylinder(0, 0.1, 0.4), 0.1, LYING),
    "lying capsule": (Capsule(0, 0.1, 0.4), 0.1, LYING),
}


@pytest.mark.parametrize("case", RESTING)
@pytest.mark.parametrize("ground", [Plane(), Box(-1, [2, 2, 1], p=[0, 0, -0.5])], ids=["plane", "box"])
def test_shapes_rest_where_they_lie(case, ground):
    shape, height, turn = RESTING[case]
    stepper = Stepper(bodies(), [Contact(shape, ground, mu=0.5)], h=H)
    run = stepper.run(at((0, height), turn=turn), np.zeros(6), 50)
    assert np.abs(run.v).max() < 1e-9
    assert np.abs(run.q - run.q[0]).max() < 1e-9
    step = run.steps[-1]
    np.testing.assert_allclose(step.impulse, [[0, 0, H * G]], atol=1e-12)
    np.testing.assert_allclose(step.points.impulses.sum(axis=0), [0, 0, H * G], atol=1e-12)
    assert np.abs(step.points.gaps).max() < 1e-9
    np.testing.assert_allclose(step.points.normals[:, 2], 1.0)
    np.testing.assert_allclose(step.points.points[:, 2], 0.0, atol=1e-9)
    require_solved(run.steps)


@pytest.mark.parametrize("ground", [Plane(), Box(-1, [9, 9, 1], p=[0, 0, -0.5])], ids=["plane", "box"])
def test_a_cylinder_rolls_as_far_as_a_round_body(ground):
    angle, h = np.radians(20), 1e-3
    model = bodies(1, [1 / 12 * (3 * 0.01 + 0.16)] * 2 + [0.005], angle)
    stepper = Stepper(model, [Contact(Cylinder(0, 0.1, 0.4), ground, mu=0.5)], h=h, friction="box")
    run = stepper.run(at((0, 0.1), turn=LYING), np.zeros(6), 1000, keep_steps=False)
    rate = 2 / 3 * G * np.sin(angle)
    assert run.q[-1, 0] == pytest.approx(rate / 2 * (1 + h), abs=1e-5)
    assert np.linalg.norm(run.v[-1, :3]) == pytest.approx(rate, abs=1e-5)
    assert np.abs(run.q[:, 1]).max() < 1e-9


@pytest.mark.parametrize(("degrees", "slides"), [(26.0, False), (27.0, True)])
def test_a_cube_slides_beyond_the_angle_of_friction(degrees, slides):
    model = bodies(incline=np.radians(degrees))
    stepper = Stepper(model, [Contact(Box(0, CUBE), mu=0.5)], h=H)
    v = stepper.run(at((0, 0.1)), np.zeros(6), 500, keep_steps=False).v[-1, 0]
    rate = G * (np.sin(np.radians(degrees)) - 0.5 * np.cos(np.radians(degrees)))
    assert v == pytest.approx(rate if slides else 0.0, abs=1e-4 if slides else 1e-9)


@pytest.mark.parametrize("depth", [1e-4, 1e-2])
def test_a_deep_cube_leaves_the_ground_without_energy(depth):
    contacts = [Contact(Box(0, CUBE), mu=0.5)]
    fast, split = (
        Stepper(bodies(), contacts, h=H, correction=one).run(at((0, 0.1 - depth)), np.zeros(6), 200)
        for one in ("velocity", "split")
    )
    assert fast.v[:, 2].max() == pytest.approx(0.2 * depth / H, rel=1e-3)
    assert np.abs(split.v).max() < 1e-9
    assert split.q[-1, 2] == pytest.approx(0.1, abs=1e-9)
    assert split.q[:, 2].max() < 0.1 + 1e-9
    require_solved(split.steps)


def test_a_limit_is_restored_without_speed():
    joint = tf.Joint("slide", "prismatic", axis=[0, 0, 1], inertia=tf.Inertia(1.0), lower=0.0, upper=1.0)
    run = Stepper(tf.Model([joint]), h=H, correction="split").run([-0.01], [0.0], 200)
    assert np.abs(run.v).max() < 1e-9
    assert run.q[-1, 0] == pytest.approx(0.0, abs=1e-9)


def test_an_open_gap_stays_open_while_an_overlap_is_removed():
    ceiling = Plane(normal=[0, 0, -1], point=[0, 0, 0.205])
    contacts = [Contact(Box(0, CUBE)), Contact(Box(0, CUBE), ceiling)]
    run = Stepper(bodies(), contacts, h=H, stabilization=1.0, correction="split").run(
        at((0, 0.09)), np.zeros(6), 20
    )
    assert run.q[:, 2].max() < 0.105 + 1e-9
    lower = Plane(normal=[0, 0, -1], point=[0, 0, 0.195])  # no room for the cube: it stays where it is
    wedged = [Contact(Box(0, CUBE)), Contact(Box(0, CUBE), lower)]
    run = Stepper(bodies(), wedged, h=H, correction="split").run(at((0, 0.0975)), np.zeros(6), 20)
    assert np.abs(run.v).max() < 1e-9
    assert run.q[-1, 2] == pytest.approx(0.0975, abs=1e-9)


def stacked(count):
    return [Contact(Box(0, CUBE), mu=0.8)] + [
        Contact(Box(k, CUBE), Box(k - 1, CUBE), mu=0.8) for k in range(1, count)
    ]


def test_ten_cubes_stand_still():
    run = Stepper(bodies(10), stacked(10), h=H).run(
        at(*((0, 0.1 + 0.2 * k) for k in range(10))), np.zeros(60), 200
    )
    assert np.abs(run.q[-1] - run.q[0]).max() < 1e-12
    assert np.abs(run.v).max() < 1e-9
    assert len(run.steps[-1].points.gaps) == 40
    np.testing.assert_allclose(run.steps[-1].impulse[:, 2], H * G * np.arange(10, 0, -1), rtol=1e-9)
    require_solved(run.steps[-5:])


def test_contacts_of_spheres_and_shapes_keep_their_numbers():
    contacts = [Contact(Box(0, CUBE), mu=0.5), Contact(Sphere(1, radius=0.1)), Contact(Box(2, CUBE))]
    stepper = Stepper(bodies(3), contacts, h=H)
    step = stepper.run(at((0, 0.1), (1, 0.1), (2, 0.15)), np.zeros(18), 3).steps[-1]
    np.testing.assert_allclose(step.impulse[:, 2], [H * G, H * G, 0], atol=1e-12)
    np.testing.assert_allclose(step.gap, [0, 0, np.inf], atol=1e-12)
    assert step.points.contacts.tolist() == [0, 0, 0, 0]


def test_a_pile_and_a_stack_of_cylinders_stand_still():
    lying, short = [Cylinder(k, 0.1, 0.4) for k in range(3)], [Cylinder(k, 0.1, 0.2) for k in range(4)]
    pile = [Contact(one, mu=0.6) for one in lying]
    pile += [Contact(lying[i], lying[j], mu=0.6) for i, j in ((0, 1), (0, 2), (1, 2))]
    stack = [Contact(short[0], mu=0.6)]
    stack += [Contact(above, below, mu=0.6) for below, above in pairwise(short)]
    top = 0.1 + 0.2 * np.sin(np.pi / 3)
    for contacts, q in (
        (pile, at((-0.1, 0.1), (0.1, 0.1), (0, top), turn=LYING)),
        (stack, at(*((0.01 * k, 0.1 + 0.2 * k) for k in range(4)))),
    ):
        count = len(q) // 7
        run = Stepper(bodies(count), contacts, h=H).run(q, np.zeros(6 * count), 100)
        assert np.abs(run.v).max() < 1e-9
        assert np.abs(run.q - q).max() < 1e-9
        require_solved(run.steps)


@pytest.mark.parametrize(("share", "stands"), [(0.999, True), (1.001, False)])
def test_overhanging_cubes_stand_up_to_the_limit(share, stands):
    offsets = np.cumsum([0, *(share * 0.1 / k for k in (4, 3, 2, 1))])
    q = at(*((x, 0.1 + 0.2 * k) for k, x in enumerate(offsets)))
    run = Stepper(bodies(5), stacked(5), h=H).run(q, np.zeros(30), 500, keep_steps=False)
    assert (np.abs(run.q[-1] - q).max() < 1e-9) == stands
    assert (np.abs(run.q[-1] - q).max() > 1e-5) != stands


def test_points_keep_their_slots_where_others_come_and_go():
    contact = Contact(Box(0, [0.2, 0.4, 0.2]), Box(-1, [0.2, 0.2, 0.2], p=[0, 0, -0.1]), mu=0.01)
    stepper = Stepper(bodies(), [contact], h=H, friction="box")
    q, v = at((0.05, 0.1)), np.array([0, 0.1, 0, 0, 0, 5.0])
    slots: dict[int, int] = {}
    changes = 0
    for _ in range(400):
        before = None if stepper._last is None else stepper._last.identities
        touch = stepper._contacts.near(BodyMotions(stepper.model, q, v), stepper.margin, before)
        step = stepper.step(q, v)
        q, v = step.q, step.v
        np.testing.assert_array_equal(stepper._last.identities, touch.identities)
        now = {int(identity): slot for slot, identity in enumerate(touch.identities[0]) if identity >= 0}
        assert sorted(now.values()) == touch.which.tolist()
        assert all(slots[identity] == slot for identity, slot in now.items() if identity in slots)
        assert touch.is_new.sum() == len(now.keys() - slots.keys())
        changes += slots.keys() != now.keys()
        slots = now
    assert changes > 3
    assert np.abs(q[2] - 0.1) < 1e-9


@pytest.mark.parametrize("fast", ["first", "second"])
def test_fast_turns_into_a_shape_are_seen_in_time(fast):
    """The end of a long box reaches a small one in a step, though their centres are far apart."""
    long, small = Box(0, [2.0, 0.1, 0.1]), Box(1, [0.1, 0.1, 0.1])
    model = bodies(2)
    q, v = at((0, 0), (0.9, 0)), np.zeros(12)
    q[8] = 0.1 + 0.08
    v[1], v[5] = (45.0, 50.0) if fast == "first" else (0.0, 50.0)
    contact = Contact(small, long) if fast == "first" else Contact(long, small)
    assert Stepper(model, [contact], h=H).step(q, v).gap[0] == pytest.approx(0.08, abs=1e-12)
    assert np.isinf(Stepper(model, [contact], h=H).step(q, np.zeros(12)).gap[0])


def test_a_quadruped_of_its_urdf_falls_and_stands():
    model, shapes = tf.Model.from_urdf(bundled_robot("solo12"), floating=True, geometry="collision")
    q, v = np.r_[0, 0, 0.285, 0, 0, 0, 1, STANDING], np.zeros(18)
    contacts, left_out = contacts_of(model, shapes, mu=0.8, reference=q, named=True)
    reasons = {reason.partition(" by ")[0] for _, _, reason in left_out}
    assert reasons == {"same body", "adjacent bodies", "overlap"}
    assert len(contacts) + len(left_out) == 17 + 17 * 16 // 2
    stepper = Stepper(model, contacts, h=H, friction="box", correction="split")
    gain, damping = LEGS
    deepest = 0.0
    for _ in range(700):
        tau = np.r_[np.zeros(6), gain * (STANDING - q[7:]) - damping * v[6:]]
        step = stepper.step(q, v, tau)
        q, v = step.q, step.v
        deepest = min(deepest, step.points.gaps.min(initial=0.0))
    weight = G * sum(joint.inertia.mass for joint in model.joints)
    assert np.abs(v).max() < 1e-5
    np.testing.assert_allclose(step.impulse.sum(axis=0) / H, [0, 0, weight], atol=1e-4)
    feet = {shapes.names[k].split("_")[1] for k in range(17) if "FOOT" in shapes.names[k]}
    assert feet
    touched = {contacts[k].sphere.body for k in step.points.contacts}
    assert touched == {shapes[name].body for name in shapes.names if "FOOT" in name}
    assert deepest > -1e-9


def test_batches_copies_and_pickles_step_alike():
    stepper = Stepper(bodies(2), stacked(2), h=H, correction="split", friction="box")
    q = np.stack([at((0, 0.09), (0.02 * k, 0.31)) for k in range(3)])
    together = stepper.run(q, np.zeros(12), 30, num_threads=2, keep_steps=False)
    for k in range(3):
        alone = copy.copy(stepper).run(q[k], np.zeros(12), 30)
        np.testing.assert_array_equal(alone.q, together.q[k])
    again = pickle.loads(pickle.dumps(stepper)).run(q[0], np.zeros(12), 30)
    np.testing.assert_array_equal(again.q, together.q[0])


def test_errors_name_the_contact_of_a_shape():
    slide = tf.Joint("slide", "prismatic", axis=[1, 0, 0], inertia=tf.Inertia(1.0))
    stepper = Stepper(tf.Model([slide]), [Contact(Box(0, CUBE))], h=H)
    with pytest.raises(StepError, match=r"contacts\[0\] of 'slide' with the base overlaps by 0.1 m"):
        stepper.step([0.0], [0.0])


def test_pairs_are_left_out_for_reasons():
    inertia = tf.Inertia(1.0, tensor=np.eye(3))
    model = tf.Model(
        [
            tf.Joint("base", "freeflyer", inertia=inertia),
            tf.Joint("hip", "revolute", 0, axis=[0, 1, 0], inertia=inertia),
            tf.Joint("knee", "revolute", 1, axis=[0, 1, 0], p=[0, 0, -0.5], inertia=inertia),
        ]
    )
    shapes = Geometry(
        [
            Box("base", CUBE),
            Sphere(0, radius=0.1),
            Capsule("hip", 0.1, 0.2),
            Box(2, CUBE),
            Cylinder(2, 0.1, 0.1),
        ],
        ["trunk", "nose", "thigh", "shank", "wheel"],
    )
    high = [*at((0, 3.0)), 0.0, 0.0]
    with pytest.raises(InvalidModelError, match="shapes 'floor' and 'other 0': two planes cannot touch"):
        contacts_of(model, Geometry([Plane(0)], ["floor"]))
    exclude = [("tr*", "wheel")]
    contacts, left_out = contacts_of(model, shapes, mu=0.5, exclude=exclude, reference=high, named=True)
    assert [tuple(pair) for pair in left_out] == [
        ("trunk", "nose", "same body"),
        ("trunk", "thigh", "adjacent bodies"),
        ("trunk", "wheel", "excluded"),
        ("nose", "thigh", "no motion changes their distance"),
        ("thigh", "shank", "adjacent bodies"),
        ("thigh", "wheel", "adjacent bodies"),
        ("shank", "wheel", "same body"),
    ]
    assert {contact.mu for contact in contacts} == {0.5}
    assert len(contacts) == 3 + 5
    assert len(contacts_of(model, shapes, self_collision=False)) == 5
    low = [*at((0, 0.05)), 0.0, 0.0]  # in the ground, on which it may stand all the same
    contacts, left_out = contacts_of(model, shapes, self_collision=False, reference=low, named=True)
    assert (len(contacts), left_out) == (5, [])
    with pytest.raises(InvalidModelError, match=r"shape 'a': .*'foot'"):
        contacts_of(model, Geometry([Sphere("foot")], ["a"]))
    with pytest.raises(InvalidModelError, match="exclude must hold pairs of names"):
        contacts_of(model, shapes, exclude=[("trunk",)])
    with pytest.raises(InvalidModelError, match="geometry must be a Geometry"):
        contacts_of(model, [Sphere(0)])
