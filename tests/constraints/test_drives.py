"""Compare driven joints and loops with inverse dynamics, closed positions and the laws of motion."""

from functools import partial

import numpy as np
import pytest
from helpers.body_frames import acceleration_bias, jacobian, placement
from helpers.dynamics_cases import arguments, error, force_scale
from helpers.loop_cases import random_loops
from helpers.model_cases import models
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor import constraints, mechanisms, robots
from treefactor.constraints import Contact, Drive, Plane, Sphere, Stepper
from treefactor.constraints.drives import FREEDOMS

seeds = st.integers(0, 2**32 - 1)
DYNAMICS = 1e-9  # relative
STEP = 1e-4  # s, of finite differences
SMOOTH = 1e-6
BAR = mechanisms.four_bar()
SPEED = 3.0  # rad/s, of the crank


def freedoms(model):
    """Return the joints and freedoms that can be driven, with their indices in v."""
    return [
        (i, k, model.idx_v[i] + k)
        for i, joint in enumerate(model.joints)
        for k in range(0 if joint.mimic else FREEDOMS.get(joint.kind, 0))
    ]


def positions(model, q):
    """Return the positions of all freedoms that can be driven."""
    entries = []
    for i, k, _ in freedoms(model):
        at = model.idx_q[i]
        circle = model.joints[i].kind == "continuous"
        entries.append(np.arctan2(q[at + 1], q[at]) if circle else q[at + k])
    return np.array(entries)


def moving(k, t):
    """Return a smooth motion with its derivatives."""
    w = 0.5 + 0.3 * k
    return np.sin(w * t + k), w * np.cos(w * t + k), -w * w * np.sin(w * t + k)


@settings(max_examples=40)
@given(models(kinds=tuple(FREEDOMS)), seeds)
def test_drives_of_all_joints_exert_what_inverse_dynamics_computes(model, seed):
    q, v, a, fext = arguments(model, seed)
    tau = np.random.default_rng(seed).normal(size=model.nv)
    drives = [
        Drive(i, (x, v[at], a[at]), k)
        for (i, k, at), x in zip(freedoms(model), positions(model, q), strict=True)
    ]
    own, force = constraints.forward_dynamics(model, q, v, tau, fext, drives=drives)
    order = [at for _, _, at in freedoms(model)]
    expected = tf.rnea(model, q, v, a, fext) - tau
    assert error(own, a) < DYNAMICS
    assert error(force, expected[order], force_scale(tf.crba(model, q), v, a)) < DYNAMICS


@settings(max_examples=40)
@given(models(), seeds)
def test_some_drives_and_free_joints_together(model, seed):
    q, v, a, _ = arguments(model, seed)
    rng = np.random.default_rng(seed)
    chosen = [one for one in freedoms(model) if rng.random() < 0.5]
    drives = [Drive(model.joints[i].name, (0.0, v[at], a[at]), k) for i, k, at in chosen]
    tau = rng.normal(size=model.nv)
    own, force = constraints.forward_dynamics(model, q, v, tau, drives=drives)
    driven = [at for _, _, at in chosen]
    scale = force_scale(tf.crba(model, q), v, own)
    assert np.abs(own[driven] - a[driven]).max(initial=0.0) <= DYNAMICS * (1.0 + np.abs(a).max())
    total = tau.copy()
    total[driven] += force
    assert error(tf.rnea(model, q, v, own), total, scale) < DYNAMICS


@pytest.mark.parametrize("name", ["ur5_robot", "panda", "solo12"])
def test_robots_follow_a_motion_with_the_torques_of_inverse_dynamics(name):
    model = tf.Model.from_urdf(robots.find(name).path)
    t = np.linspace(0.0, 2.0, 20).reshape(2, 10)
    drives = [Drive(i, partial(moving, i)) for i in range(model.nv)]
    q, v, a = (np.stack([moving(i, t)[order] for i in range(model.nv)], axis=-1) for order in range(3))
    own, force = constraints.forward_dynamics(model, q, v, np.zeros(model.nv), drives=drives, t=t)
    assert error(own, a) < DYNAMICS
    assert error(force, tf.rnea(model, q, v, a)) < DYNAMICS


@settings(max_examples=30)
@given(models(max_joints=6), seeds)
def test_rows_are_derivatives(model, seed):
    if model.njoints > 1:
        model = random_loops(model, seed)
    drives = [Drive(i, partial(moving, i + k), k) for i, k, _ in freedoms(model)]
    drives += [Drive(loop.name, partial(moving, 2), j) for j, loop in enumerate(model.loops[:3])]
    q, v, _, _ = arguments(model, seed)

    def rows(h):
        return constraints.loop_rows(model, tf.integrate(model, q, h * v), v, drives, 0.7 + h)

    before, here, after = rows(-STEP), rows(0.0), rows(STEP)
    speed = [one.dense() @ v + one.rate for one in (before, here, after)]
    scale = (1.0 + np.abs(here.dense()).max(initial=0.0)) ** 2 * (1.0 + np.abs(v).max()) ** 4
    turned = after.residual - before.residual  # continuous joints may pass half a turn
    turned = np.where(np.abs(turned) > 3.0, turned - np.sign(turned) * 2.0 * np.pi, turned)
    assert error(turned / (2.0 * STEP), speed[1], scale) < SMOOTH
    assert error((speed[2] - speed[0]) / (2.0 * STEP), here.bias, scale) < SMOOTH
    assert np.array_equal(here.csr().toarray(), here.dense())


def crank(t):
    """Return the motion of a crank at constant speed."""
    return BAR.closed[0] + SPEED * t, SPEED + 0.0 * t, 0.0 * t


MOTOR = Drive("crank", crank)


def closed(t, motor=MOTOR):
    """Return position and velocity of the four-bar whose crank is driven, found by closing it."""
    q = BAR.closed
    for part in np.linspace(0.0, t, int(20 * abs(t)) + 2):
        q = constraints.close(BAR.model, q, drives=[motor], t=part)
    rows = constraints.loop_rows(BAR.model, q, drives=[motor], t=t)
    return q, np.linalg.lstsq(rows.dense(), -rows.rate, rcond=1e-9)[0]


def energy(t):
    """Return the energy of the driven four-bar."""
    q, v = closed(t)
    potential = 0.0
    for i, joint in enumerate(BAR.model.joints):
        center = placement(BAR.model, q, i, p=joint.inertia.com)[1]
        potential -= joint.inertia.mass * BAR.model.gravity @ center
    return 0.5 * v @ tf.crba(BAR.model, q) @ v + potential


@pytest.mark.parametrize("t", [0.1, 0.9, 1.7])
def test_the_motor_of_a_crank_supplies_the_change_of_energy(t):
    q, v = closed(t)
    a, force = constraints.forward_dynamics(BAR.model, q, v, np.zeros(3), drives=[MOTOR], t=t)
    assert abs(a[0]) < 1e-9
    after, before = energy(t + STEP), energy(t - STEP)
    np.testing.assert_allclose(force[-1] * SPEED, (after - before) / (2.0 * STEP), rtol=1e-5)


def test_a_crank_at_constant_speed():
    """The crank turns exactly as prescribed; the others follow as they would be closed."""
    h, steps = 2e-3, 500
    stepper = Stepper(BAR.model, h=h, limits=False, drives=[MOTOR])
    run = stepper.run(*closed(0.0), steps)
    np.testing.assert_allclose(run.q[:, 0], crank(run.t)[0], atol=1e-11)
    np.testing.assert_allclose(run.v[1:, 0], SPEED, atol=1e-9)
    gaps = np.abs([constraints.loop_rows(BAR.model, q).residual for q in run.q])
    assert gaps.max() < 1e-3
    np.testing.assert_allclose(run.q[-1], closed(h * steps)[0], atol=2e-2)
    q, v = closed(0.5)
    force = constraints.forward_dynamics(BAR.model, q, v, np.zeros(3), drives=[MOTOR], t=0.5)[1]
    np.testing.assert_allclose(run.steps[250].drive_impulse[0] / h, force[-1], rtol=0.05)
    assert run.steps[0].loop_impulse.shape == (3,)


def test_impulses_of_motors_tend_to_the_torques_of_inverse_dynamics():
    model = tf.Model.from_urdf(robots.find("ur5_robot").path)
    drives, errors = [Drive(i, partial(moving, i)) for i in range(6)], []
    q, v, a = (np.array([moving(i, 0.5)[order] for i in range(6)]) for order in range(3))
    expected = tf.rnea(model, q, v, a)
    for h in (2e-3, 1e-3, 5e-4):
        steps = round(0.5 / h)
        q0, v0 = (np.array([moving(i, 0.0)[order] for i in range(6)]) for order in range(2))
        run = Stepper(model, h=h, limits=False, drives=drives).run(q0, v0, steps)
        np.testing.assert_allclose(run.q[-1], q, atol=1e-11)
        errors.append(np.abs(run.steps[-1].drive_impulse / h - expected).max())
    assert errors[0] > 1.7 * errors[1] > 2.8 * errors[2]


@pytest.mark.parametrize("K", [0.2, 1.0])
def test_a_wrong_position_decays_by_a_share_per_step(K):
    model = tf.Model([tf.Joint("x", "continuous", axis=[0, 0, 1.0], inertia=tf.Inertia(1.0, [0.1, 0, 0]))])
    stepper = Stepper(model, h=0.01, stabilization=K, drives=[Drive("x", lambda t: (3.0 + t, 1.0, 0.0))])
    run = stepper.run([np.cos(3.5), np.sin(3.5)], [0.0], 10)
    angle = np.unwrap(np.arctan2(run.q[:, 1], run.q[:, 0])) + 2.0 * np.pi
    np.testing.assert_allclose(angle - 3.0 - run.t, 0.5 * (1.0 - K) ** np.arange(11), atol=1e-12)


def test_a_wrong_position_decays_at_the_rate_of_stabilization():
    model = tf.Model([tf.Joint("x", "prismatic", axis=[0, 0, 1.0], inertia=tf.Inertia(2.0))])
    motor = Drive("x", lambda t: (np.sin(t), np.cos(t), -np.sin(t)))
    a, force = constraints.forward_dynamics(
        model, [0.5], [0.2], [1.0], stabilization=10.0, drives=[motor], t=0.3
    )
    wanted = -np.sin(0.3) - 20.0 * (0.2 - np.cos(0.3)) - 100.0 * (0.5 - np.sin(0.3))
    np.testing.assert_allclose(a, wanted, rtol=1e-12)
    np.testing.assert_allclose(force, 2.0 * (wanted + 9.81) - 1.0, rtol=1e-12)


# --------------------------------------------------------------------------------------------- loops


def writing_arm():
    """Return an arm of two links in a plane, whose tip a loop holds, and drives that move it on a circle."""
    rod = tf.Inertia(1.0, [0.25, 0, 0], np.diag([1e-3, 0.02, 0.02]))
    z = [0, 0, 1.0]
    joints = [
        tf.Joint("shoulder", "revolute", axis=z, inertia=rod),
        tf.Joint("elbow", "revolute", 0, p=[0.5, 0, 0], axis=z, inertia=rod),
    ]
    loop = tf.Loop("pen", "spherical", -1, 1, p2=[0.5, 0, 0])
    model = tf.Model(joints, gravity=[0, -9.81, 0], loops=[loop])
    return model, [
        Drive("pen", lambda t: (0.6 + 0.1 * np.cos(t), -0.1 * np.sin(t), -0.1 * np.cos(t)), 0),
        Drive("pen", lambda t: (0.3 + 0.1 * np.sin(t), 0.1 * np.cos(t), -0.1 * np.sin(t)), 1),
    ]


def test_a_driven_loop_moves_its_frames_as_prescribed():
    model, drives = writing_arm()
    q = constraints.close(model, [0.1, 0.8], drives=drives, t=0.4)
    tip = placement(model, q, 1, p=[0.5, 0, 0])[1]
    np.testing.assert_allclose(tip, [0.6 + 0.1 * np.cos(0.4), 0.3 + 0.1 * np.sin(0.4), 0.0], atol=1e-12)
    J = jacobian(model, q, 1, p=[0.5, 0, 0])[:2]
    v = np.linalg.solve(J, [-0.1 * np.sin(0.4), 0.1 * np.cos(0.4)])
    a, force = constraints.forward_dynamics(model, q, v, np.zeros(2), drives=drives, t=0.4)
    bias = acceleration_bias(model, q, v, 1, p=[0.5, 0, 0])[:2]
    np.testing.assert_allclose(J @ a + bias, [-0.1 * np.cos(0.4), -0.1 * np.sin(0.4)], atol=1e-11)
    np.testing.assert_allclose(J.T @ force[:2], tf.rnea(model, q, v, a), atol=1e-10)
    assert force.shape == (3,)


def test_the_stepper_follows_a_driven_loop():
    model, drives = writing_arm()
    q = constraints.close(model, [0.1, 0.8], drives=drives)
    rows = constraints.loop_rows(model, q, drives=drives)
    v = np.linalg.lstsq(rows.dense(), -rows.rate, rcond=1e-9)[0]
    run = Stepper(model, h=2e-3, drives=drives).run(q, v, 400)
    tip = placement(model, run.q, 1, p=[0.5, 0, 0])[1]
    wanted = np.stack([0.6 + 0.1 * np.cos(run.t), 0.3 + 0.1 * np.sin(run.t), 0.0 * run.t], axis=1)
    np.testing.assert_allclose(tip, wanted, atol=1e-5)
    last = run.steps[-1]
    np.testing.assert_array_equal(last.drive_impulse, last.loop_impulse[:2])


def test_a_driven_platform_lifts_a_ball():
    """The contact force is m (g + a), that of the motor (m + M) (g + a)."""
    platform = tf.Joint("platform", "prismatic", axis=[0, 0, 1.0], inertia=tf.Inertia(3.0))
    ball = tf.Joint("ball", "freeflyer", inertia=tf.Inertia(2.0, tensor=0.01 * np.eye(3)))
    model = tf.Model([platform, ball])
    motor = Drive("platform", lambda t: (0.5 * 4.0 * t * t, 4.0 * t, 4.0))
    contact = Contact(Sphere("ball", radius=0.1), Plane("platform"))
    stepper = Stepper(model, [contact], h=0.01, drives=[motor])
    run = stepper.run([0.0, 0, 0, 0.1, 0, 0, 0, 1], np.zeros(7), 50)
    np.testing.assert_allclose(run.q[:, 0], 2.0 * run.t**2, atol=1e-12)
    np.testing.assert_allclose(run.q[:, 3] - run.q[:, 0], 0.1, atol=1e-9)
    for step in run.steps[1:]:
        np.testing.assert_allclose(step.impulse[0, 2], 0.01 * 2.0 * (9.81 + 4.0), rtol=1e-9)
        np.testing.assert_allclose(step.drive_impulse, 0.01 * 5.0 * (9.81 + 4.0), rtol=1e-9)
