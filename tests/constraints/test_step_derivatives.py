"""Derivatives of steps agree with differences of steps; where they do not exist, they are NaN."""

import numpy as np
import pytest
from helpers.dynamics_cases import arguments
from helpers.loop_cases import MIXED, closed_cases, closed_velocity
from helpers.step_differences import check

import treefactor as tf
from treefactor import constraints
from treefactor.constraints import Contact, Drive, Plane, Sphere, Stepper
from treefactor.mlcp import SensitivityStatus

TREE = tf.Model(MIXED.joints, MIXED.gravity)
CASES = closed_cases()
BALL = tf.Model([tf.Joint("ball", "translation", inertia=tf.Inertia(1.0))])


@pytest.mark.parametrize("gyroscopic", ["implicit", "explicit"])
def test_free_motion_of_all_kinds_of_joints(gyroscopic):
    q, v, tau, _ = arguments(TREE, 2)
    found = check(Stepper(TREE, h=0.01, gyroscopic=gyroscopic, limits=False), q, 0.3 * v, tau)
    assert found.status is SensitivityStatus.STRICT


def test_a_body_with_an_inertia_that_none_can_have():
    odd = tf.Inertia(1.0, np.zeros(3), np.diag([0.5, 0.1, 0.2]))
    model = tf.Model([tf.Joint("base", "freeflyer", inertia=odd)], strict=False)
    q, v, tau, _ = arguments(model, 4)
    check(Stepper(model, h=0.01, limits=False), q, 0.3 * v, tau)


@pytest.mark.parametrize("name", ["four-bar", "over-constrained", "leg", "arm"])
@pytest.mark.parametrize("apart", [0.0, 1e-3])
def test_loops(name, apart):
    model, q = CASES[name]
    v = 0.1 * closed_velocity(model, q, 1)
    q = tf.integrate(model, q, apart * np.random.default_rng(0).normal(size=model.nv))
    found = check(Stepper(model, h=0.01, limits=False), q, v, np.ones(model.nv))
    planar = name in ("four-bar", "over-constrained")
    assert found.status is (SensitivityStatus.DEPENDENT if planar else SensitivityStatus.STRICT)


def test_drives_of_a_platform():
    model, q = CASES["stewart"]
    leg = next(k for k, joint in enumerate(model.joints) if joint.kind == "prismatic")
    drive = Drive(leg, lambda t: (0.1 + t, 1.0 + t, 0.3))
    stepper = Stepper(model, h=0.01, limits=False, drives=[drive])
    check(stepper, q, np.zeros(model.nv), np.ones(model.nv), 0.1)


SURFACES = {
    "ball on a body": (Sphere(3, [0.1, 0.2, 0.0], 2.5), 1),
    "ball on the base": (Sphere(-1, [0.3, 0.1, 0.2], 2.3), 1),
    "plane on a body": (Plane(3, [1.0, 0.2, 0.3], [0.0, 0.0, 0.1]), 2),
}


@pytest.mark.parametrize("mu", [0.0, 0.4])
@pytest.mark.parametrize("name", SURFACES)
def test_contacts_of_spheres_and_planes(name, mu):
    against, seed = SURFACES[name]
    radius = 0.3 if isinstance(against, Plane) else 2.3
    stepper = Stepper(TREE, [Contact(Sphere(8, [0.1, 0.0, 0.2], radius), against, mu)], h=0.01, limits=False)
    q, v, tau, _ = arguments(TREE, seed)
    check(stepper, q, v, tau)
    assert stepper._last.active.any()


@pytest.mark.parametrize("friction", ["pyramid", "box"])
def test_a_box_that_lands_on_corners(friction):
    body = tf.Inertia(2.0, tensor=np.diag([0.02, 0.03, 0.04]))
    contacts = [Contact(corner, mu=0.6) for corner in constraints.box(0, (0.4, 0.3, 0.2))]
    model = tf.Model([tf.Joint("box", "freeflyer", inertia=body)])
    stepper = Stepper(model, contacts, h=0.01, stabilization=1.0, friction=friction)
    q = tf.normalize(model, np.array([0.0, 0.0, 0.1, 0.1, 0.05, 0.02, 1.0]))
    for _ in range(2):  # the second with bounds of friction from the first
        check(stepper, q, np.array([0.5, 0.2, -1.0, 0.3, 0.2, 0.1]), np.zeros(6))


def test_limits_of_joints():
    rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.01]))
    hinge = {"kind": "revolute", "axis": [0, 1, 0], "inertia": rod, "lower": -1.0, "upper": 0.5}
    model = tf.Model([tf.Joint("upper", **hinge), tf.Joint("lower", parent=0, p=[0, 0, -1.0], **hinge)])
    for q in ([0.51, 0.2], [0.49, 0.495]):
        check(Stepper(model, h=0.01), np.array(q), np.array([3.0, 2.0]), np.zeros(2))


def test_a_ball_that_sticks_or_slides():
    stepper = Stepper(BALL, [Contact(Sphere(0, radius=0.1), mu=0.5)], h=1e-3, stabilization=1.0)
    stuck = stepper.derivatives([0, 0, 0.1], np.zeros(3), [3.0, 0.2, 0.0])
    assert stuck.status is SensitivityStatus.DEPENDENT
    np.testing.assert_allclose(stuck.dv_dtau, 0.0, atol=1e-12)
    np.testing.assert_allclose(stuck.dv_dq[2], [0.0, 0.0, -1000.0], atol=1e-6)
    edge = stepper.derivatives([0, 0, 0.1], np.zeros(3), [0.5 * 9.81, 0.0, 0.0])
    assert edge.status is SensitivityStatus.DEGENERATE
    assert all(np.isnan(x).all() for x in edge[1:])
    slides = stepper.derivatives([0, 0, 0.1], [2.0, 0.0, 0.0])
    assert slides.status is SensitivityStatus.STRICT
    np.testing.assert_allclose(slides.dv_dv[0], [0.8, 0.0, 0.4], atol=1e-9)


def test_a_gap_of_zero_has_no_derivative_if_overlaps_stay():
    stepper = Stepper(BALL, [Contact(Sphere(0, radius=0.1), mu=0.5)], h=1e-3, stabilization=0.2)
    found = stepper.derivatives([0, 0, 0.1], [2.0, 0.0, 0.0])
    assert found.status is SensitivityStatus.DEGENERATE
    np.testing.assert_array_equal(np.isnan(found.dv_dq), [[False, False, True]] * 3)
    assert np.isfinite(found.dv_dv).all()
    assert np.isfinite(found.dq_dtau).all()
    for height in (0.1 + 1e-6, 0.1 - 1e-6):
        assert stepper.derivatives([0, 0, height], [2.0, 0, 0]).status is SensitivityStatus.STRICT


def test_bodies_that_spin_too_fast_have_no_derivatives():
    top = tf.Inertia(1.0, [0.1, 0, 0], np.diag([0.1, 0.2, 0.25]))
    stepper = Stepper(tf.Model([tf.Joint("top", "spherical", inertia=top)]), h=0.01)
    found = stepper.derivatives([0, 0, 0, 1.0], [300.0, 200.0, 100.0])
    assert found.status is SensitivityStatus.UNSUPPORTED
    assert all(np.isnan(x).all() for x in found[1:])


def test_an_impossible_step_has_no_derivatives():
    rod = tf.Inertia(1.0, tensor=np.eye(3))
    model = tf.Model([tf.Joint("a", "prismatic", axis=[0, 0, 1], inertia=rod)])
    walls = [Contact(Sphere(0)), Contact(Sphere(0, [0, 0, 1.0]), Plane(-1, [0, 0, -1.0], [0, 0, 0.5]))]
    with pytest.raises(tf.StepError):
        Stepper(model, walls).derivatives([0.0], [0.0])
