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
    derivatives = check(Stepper(TREE, h=0.01, gyroscopic=gyroscopic, limits=False), q, 0.3 * v, tau)
    assert derivatives.status is SensitivityStatus.STRICT


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
    derivatives = check(Stepper(model, h=0.01, limits=False), q, v, np.ones(model.nv))
    planar = name in ("four-bar", "over-constrained")
    assert derivatives.status is (SensitivityStatus.DEPENDENT if planar else SensitivityStatus.STRICT)


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


SPLIT = {"h": 0.01, "limits": False, "correction": "split"}


@pytest.mark.parametrize("friction", ["pyramid", "box"])
@pytest.mark.parametrize("name", SURFACES)
def test_split_corrections_of_spheres_and_planes(name, friction):
    against, seed = SURFACES[name]
    q, v, tau, _ = arguments(TREE, seed)
    contact = Contact(Sphere(8, [0.1, 0.0, 0.2], 3.0), against, 0.4)
    stepper = Stepper(TREE, [contact], friction=friction, **SPLIT)
    check(stepper, q, v, tau)
    assert stepper._last.active.any() or friction == "box"
    assert stepper._solved(q, v, tau, 0.0).removal is not None


def test_split_corrections_beside_loops_and_limits():
    model, q = CASES["leg"]
    v = 0.1 * closed_velocity(model, q, 1)
    foot = Sphere(7, [0.1, 0.2, 0.3], 0.1)
    height = Stepper(model, [Contact(foot)], limits=False).step(q, v).gap[0]
    ground = Plane(-1, point=[0.0, 0.0, height + 0.01])
    check(Stepper(model, [Contact(foot, ground, 0.3)], **SPLIT), q, v, np.ones(model.nv))
    rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.01]))
    hinge = {"kind": "revolute", "axis": [0, 1, 0], "inertia": rod, "lower": -1.0, "upper": 0.5}
    model = tf.Model([tf.Joint("upper", **hinge), tf.Joint("lower", parent=0, p=[0, 0, -1.0], **hinge)])
    for q in ([0.51, 0.2], [-1.02, 0.499], [0.51, -1.01], [0.51, -0.9999]):
        stepper = Stepper(model, h=0.01, correction="split")
        check(stepper, np.array(q), np.array([3.0, 2.0]), np.zeros(2))
        assert stepper._solved(np.array(q), np.array([3.0, 2.0]), np.zeros(2), 0.0).removal is not None


@pytest.mark.parametrize("friction", ["pyramid", "box"])
@pytest.mark.parametrize("rise", [0.0, 0.3])
def test_a_split_correction_that_presses_on_an_open_gap(rise, friction):
    """One end of a rod is in the floor; its middle is under a ceiling that the correction closes."""
    rod = tf.Inertia(1.0, [0.01, 0.0, 0.02], np.diag([0.01, 0.1, 0.1]))
    model = tf.Model([tf.Joint("rod", "freeflyer", inertia=rod)])
    end, middle = Sphere(0, [-0.5, 0.02, 0.0], 0.1), Sphere(0, [0.0, 0.1, 0.0], 0.1)
    q = tf.normalize(model, np.array([0.0, 0.0, 0.06, 0.01, 0.02, 0.03, 1.0]))
    v = np.array([0.2, 0.1, rise, 0.1, 0.2, 0.3])
    down = np.array([0.1, 0.0, -1.0])
    gap = Stepper(model, [Contact(middle, Plane(-1, down))]).step(q, v).gap[0]
    ceiling = Plane(-1, down, (gap - 1e-3 - 2e-3 * (rise > 0.0)) * down / (down @ down))
    contacts = [Contact(end, mu=0.5), Contact(middle, ceiling, mu=0.5)]
    stepper = Stepper(model, contacts, h=0.01, correction="split", friction=friction)
    check(stepper, q, v, np.zeros(6))
    rows, solution = stepper._solved(q, v, np.zeros(6), 0.0).removal
    assert (rows.gap > 0.0).tolist() == [False, True]
    assert solution.gamma.all()


def test_gaps_of_zero_and_impossible_corrections():
    stepper = Stepper(BALL, [Contact(Sphere(0, radius=0.1))], correction="split", stabilization=1.0)
    edge = stepper.derivatives([0, 0, 0.1], [0.0, 0.0, -1.0])
    assert edge.status is SensitivityStatus.DEGENERATE
    np.testing.assert_array_equal(np.isnan(edge.dv_dq), [[False, False, True]] * 3)
    leaving = stepper.derivatives([0, 0, 0.09], [0.0, 0.0, 1.0])
    assert leaving.status is SensitivityStatus.STRICT
    np.testing.assert_allclose(leaving.dq_dq, np.diag([1.0, 1.0, 0.0]), atol=1e-12)
    np.testing.assert_allclose(leaving.dv_dv, np.eye(3), atol=1e-12)
    between = [
        Contact(Sphere(0, radius=0.1)),
        Contact(Sphere(0, radius=0.1), Plane(-1, [0, 0, -1.0], [0, 0, 0.19])),
    ]
    stuck = Stepper(BALL, between, correction="split").derivatives([0, 0, 0.095], np.zeros(3))
    np.testing.assert_allclose(stuck.dq_dq, np.eye(3), atol=1e-12)


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
    derivatives = stepper.derivatives([0, 0, 0.1], [2.0, 0.0, 0.0])
    assert derivatives.status is SensitivityStatus.DEGENERATE
    np.testing.assert_array_equal(np.isnan(derivatives.dv_dq), [[False, False, True]] * 3)
    assert np.isfinite(derivatives.dv_dv).all()
    assert np.isfinite(derivatives.dq_dtau).all()
    for height in (0.1 + 1e-6, 0.1 - 1e-6):
        assert stepper.derivatives([0, 0, height], [2.0, 0, 0]).status is SensitivityStatus.STRICT


def test_bodies_that_spin_too_fast_have_no_derivatives():
    top = tf.Inertia(1.0, [0.1, 0, 0], np.diag([0.1, 0.2, 0.25]))
    stepper = Stepper(tf.Model([tf.Joint("top", "spherical", inertia=top)]), h=0.01)
    derivatives = stepper.derivatives([0, 0, 0, 1.0], [300.0, 200.0, 100.0])
    assert derivatives.status is SensitivityStatus.UNSUPPORTED
    assert all(np.isnan(x).all() for x in derivatives[1:])


def test_an_impossible_step_has_no_derivatives():
    rod = tf.Inertia(1.0, tensor=np.eye(3))
    model = tf.Model([tf.Joint("a", "prismatic", axis=[0, 0, 1], inertia=rod)])
    walls = [Contact(Sphere(0)), Contact(Sphere(0, [0, 0, 1.0]), Plane(-1, [0, 0, -1.0], [0, 0, 0.5]))]
    with pytest.raises(tf.StepError):
        Stepper(model, walls).derivatives([0.0], [0.0])
