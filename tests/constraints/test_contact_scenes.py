"""Scenes of shapes with outcomes of a formula or of another engine: slides, grasps, dominoes, robots."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot
from scipy.spatial.transform import Rotation
from test_stepper_shapes import CUBE, LYING, G, H, at, bodies, require_solved, stacked

import treefactor as tf
from treefactor.constraints import Box, Capsule, Contact, Sphere, Stepper, bounding_boxes, contacts_of

LEGS = {"LF": (-0.1, 0.7, -1.0), "LH": (-0.1, -0.7, 1.0), "RF": (0.1, 0.7, -1.0), "RH": (0.1, -0.7, 1.0)}
DROPS = np.array([[0.0, 0.0], [0.01, 0.005], [-0.01, 0.02], [0.015, -0.01], [-0.005, 0.01]])  # m


def block(mass, size):
    """Return the inertia of a solid box."""
    x, y, z = np.square(size)
    return tf.Inertia(mass, tensor=mass / 12.0 * np.diag([y + z, x + z, x + y]))


def free(inertias, incline=0.0):
    """Return a model of free bodies under gravity that is inclined by an angle about y."""
    joints = [tf.Joint(f"body {k}", "freeflyer", inertia=one) for k, one in enumerate(inertias)]
    return tf.Model(joints, gravity=[G * np.sin(incline), 0, -G * np.cos(incline)])


@pytest.mark.parametrize("degrees", [26.0, 26.5, 27.0, 30.0, 35.0])
def test_a_cube_on_an_incline_sticks_or_slides_as_coulomb_says(degrees):
    angle = np.radians(degrees)
    stepper = Stepper(bodies(incline=angle), [Contact(Box(0, CUBE), mu=0.5)], h=H)
    run = stepper.run(at((0, 0.1)), np.zeros(6), 500, keep_steps=False)
    rate = G * (np.sin(angle) - 0.5 * np.cos(angle))
    if rate < 0.0:
        assert np.abs(run.v).max() < 1e-12
    else:
        assert run.v[-1, 0] == pytest.approx(rate, rel=1e-3)
        assert run.q[-1, 0] == pytest.approx(rate / 2, rel=2e-3)


@pytest.mark.parametrize(("degrees", "stands"), [(14.0, True), (14.1, False)])
def test_a_tower_tips_over_its_edge(degrees, stands):
    size = [0.1, 0.1, 0.4]
    model = free([block(1.0, size)], np.radians(degrees))  # tan of the limit is 0.1 / 0.4: 14.036 degrees
    q = at((0, 0.2))
    run = Stepper(model, [Contact(Box(0, size), mu=1.0)], h=H).run(q, np.zeros(6), 500, keep_steps=False)
    moved = np.abs(run.q[-1] - q).max()
    assert moved < 1e-9 if stands else moved > 1e-3


@pytest.mark.parametrize(
    ("force", "lower", "upper"), [(20.0, 0.88083, 0.88083), (30.0, 2.5950, 2.4525), (35.0, 3.8450, 2.4525)]
)
def test_a_block_drags_the_one_upon_it(force, lower, upper):
    long = [2.0, 0.4, 0.2]
    model = free([block(2.0, long), block(1.0, CUBE)])
    contacts = [Contact(Box(0, long), mu=0.5), Contact(Box(1, CUBE), Box(0, long), mu=0.5)]
    tau = np.r_[force, np.zeros(11)]
    run = Stepper(model, contacts, h=H).run(at((0, 0.1), (0, 0.3)), np.zeros(12), 250, tau, keep_steps=False)
    assert run.v[-1, [0, 6]] == pytest.approx([lower, upper], rel=3e-3)


@pytest.mark.parametrize(
    ("shape", "moment", "speed"),
    [(Sphere(0, radius=0.1), 0.004, 2.396584), (Capsule(0, 0.1, 0.4), 0.00475, 2.274724)],
    ids=["sphere", "capsule"],
)
def test_round_bodies_roll_down(shape, moment, speed):
    model = bodies(1, [0.02, 0.02, moment], np.radians(20))
    stepper = Stepper(model, [Contact(shape, mu=0.5)], h=H, friction="box")
    run = stepper.run(at((0, 0.1), turn=LYING), np.zeros(6), 500, keep_steps=False)
    assert np.linalg.norm(run.v[-1, :3]) == pytest.approx(speed, abs=1e-6)


def test_a_bowling_ball_slides_until_it_rolls():
    model = bodies(1, [0.004] * 3)
    stepper = Stepper(model, [Contact(Sphere(0, radius=0.1), mu=0.2)], h=H, friction="box")
    run = stepper.run(at((0, 0.1)), [2.0, 0, 0, 0, 0, 0], 250, keep_steps=False)
    speeds = np.linalg.norm(run.v[:, :3], axis=1)
    assert speeds[-1] == pytest.approx(10 / 7, abs=1e-6)
    rolls = np.flatnonzero(np.abs(speeds - 10 / 7) < 1e-6)[0] * H
    assert rolls == pytest.approx(4 / (7 * 0.2 * G), abs=2 * H)


@pytest.mark.parametrize(("force", "falls"), [(0.9811, 0.0), (0.98, 0.0200), (0.9, 1.62)])
def test_two_fingers_hold_a_cube_up_to_the_limit_of_friction(force, falls):
    size = [0.04, 0.04, 0.04]
    fingers = [
        tf.Joint(name, "prismatic", axis=[1, 0, 0], inertia=block(0.05, [0.02, 0.04, 4.0]))
        for name in ("left", "right")
    ]
    cube = tf.Joint("cube", "freeflyer", inertia=block(0.1, size))
    plate = [0.02, 0.1, 4.0]
    contacts = [
        Contact(Box(2, size), Box(0, plate, p=[-0.03, 0, 0]), mu=0.5),
        Contact(Box(2, size), Box(1, plate, p=[0.03, 0, 0]), mu=0.5),
    ]
    tau = np.r_[force, -force, np.zeros(6)]
    model = tf.Model([*fingers, cube])
    run = Stepper(model, contacts, h=H).run(np.r_[0, 0, at((0, 0))], np.zeros(8), 1000, tau, keep_steps=False)
    assert -run.q[-1, 4] == pytest.approx(falls, abs=1e-9 if falls == 0.0 else 0.02 * falls)
    speed = -run.v[-1, 4]  # the pyramid lets the fingers float at h mu times the speed at which they slide
    assert np.abs(run.q[-1, :3]).max() < 1e-9 + 1.01 * H * 0.5 * speed


def test_ten_dominoes_fall_one_after_the_other():
    size = [0.02, 0.08, 0.16]
    model = free([block(0.1, size)] * 10)
    stones = [Box(k, size) for k in range(10)]
    contacts = [Contact(stone, mu=0.3) for stone in stones]
    contacts += [Contact(stones[k + 1], stones[k], mu=0.3) for k in range(9)]
    stepper = Stepper(model, contacts, h=H)
    v = np.zeros(60)
    v[0], v[4] = 0.16, 2.0
    run = stepper.run(at(*((0.06 * k, 0.08) for k in range(10))), v, 450)
    heights = run.q.reshape(-1, 10, 7)[:, [0, 4, 9], 2]
    fallen = (heights < 0.075).argmax(axis=0) * H
    assert fallen == pytest.approx([0.336, 0.618, 0.804], abs=0.01)  # of MuJoCo, 2 ms
    require_solved(run.steps[::20])
    assert min(step.points.gaps.min(initial=0.0) for step in run.steps) > -1e-4


def test_five_dropped_cubes_stand_as_a_tower():
    q = [
        np.r_[x, y, 0.1 + 0.2 * k + 0.001 * (k + 1), Rotation.from_euler("z", 0.6 * k).as_quat()]
        for k, (x, y) in enumerate(DROPS)
    ]
    run = Stepper(bodies(5), stacked(5), h=H).run(np.concatenate(q), np.zeros(30), 500, keep_steps=False)
    end = run.q[-1].reshape(5, 7)
    assert end[4, 2] == pytest.approx(0.9, abs=1e-9)
    assert np.abs(run.v[-1]).max() < 1e-9
    assert np.abs(end[:, :2] - DROPS).max() < 1e-3


def test_a_quadruped_of_primitives_stands():
    robot, shapes = tf.Model.from_urdf(
        bundled_robot("anymal_b_simple/anymal"), floating=True, geometry="collision"
    )
    stance = np.concatenate([LEGS[leg] for leg in ("LF", "LH", "RF", "RH")])
    q, v = np.r_[0, 0, 0.0, 0, 0, 0, 1, stance], np.zeros(18)
    q[2] = -bounding_boxes(robot, shapes, q)[:, 0, 2].min()  # friction keeps feet where they first press
    contacts = contacts_of(robot, shapes, mu=0.8, reference=np.r_[0, 0, 1.0, q[3:]])
    stepper = Stepper(robot, contacts, h=H, friction="box", correction="split")
    for _ in range(300):
        step = stepper.step(q, v, np.r_[np.zeros(6), 400.0 * (stance - q[7:]) - 10.0 * v[6:]])
        q, v = step.q, step.v
    weight = G * sum(joint.inertia.mass for joint in robot.joints)
    assert weight == pytest.approx(298.965, abs=2e-3)
    assert step.impulse[:, 2].sum() / H == pytest.approx(weight, abs=1e-3)
    assert np.abs(v).max() < 1e-3
    assert q[2] == pytest.approx(0.48471, abs=1e-4)  # of MuJoCo, where only the ground touches it


@pytest.mark.slow
def test_a_humanoid_falls_without_energy():
    path = bundled_robot("talos_reduced")
    robot, shapes = tf.Model.from_urdf(path, floating=True, geometry="collision")
    states = ET.parse(path.parents[1] / "srdf" / "talos.srdf").getroot().iter("group_state")
    half_sitting = next(state for state in states if state.get("name") == "half_sitting")
    angles = {one.get("name"): one.get("value") for one in half_sitting}
    joints = [robot.joints[0], *(replace(joint, armature=0.01) for joint in robot.joints[1:])]
    model = tf.Model(joints, robot.gravity, robot.name, frames=robot.frames)
    q = np.r_[0, 0, 1.3, 0, 0, 0, 1, [float(angles.get(joint.name, 0.0)) for joint in joints[1:]]]
    v, deepest = np.zeros(38), 0.0
    stepper = Stepper(model, contacts_of(model, shapes, mu=0.6, reference=q), h=H, correction="split")
    energy = tf.kinetic_energy(model, q, v) + tf.potential_energy(model, q)
    for _ in range(700):
        step = stepper.step(q, v, np.r_[np.zeros(6), -0.5 * v[6:]])
        q, v = step.q, step.v
        before, energy = energy, tf.kinetic_energy(model, q, v) + tf.potential_energy(model, q)
        deepest = min(deepest, step.points.gaps.min(initial=0.0))
        assert energy < before + 1e-9
        require_solved([step])
    assert deepest > -1e-3
