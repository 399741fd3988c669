"""Derivatives of steps with shapes agree with differences of steps while the same features touch."""

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot
from helpers.step_differences import check
from scipy.spatial.transform import Rotation

import treefactor as tf
from treefactor.constraints import (
    Box,
    Capsule,
    Cone,
    Contact,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    Plane,
    Sphere,
    Stepper,
    contacts_of,
)
from treefactor.constraints._frame_derivatives import unit_motions
from treefactor.constraints._shape_derivatives import touching_shapes
from treefactor.exceptions import InvalidModelError
from treefactor.kinematics.jacobians import BodyMotions
from treefactor.mlcp import SensitivityStatus

H = 0.01
BALL, ROD, DRUM = Sphere(0, [0.02, 0, 0], 0.1), Capsule(0, 0.1, 0.4), Cylinder(0, 0.1, 0.4)
HAT = Cone(0, 0.1, 0.2)
BRICK, BLOCK = Box(0, [0.4, 0.3, 0.2]), Box(1, [1, 1, 1])
STONE = Mesh(1, 0.4 * np.random.default_rng(3).normal(size=(12, 3)))
THIN = Capsule(1, 0.05, 0.6)
STANDING = [0.1, 0.8, -1.6, -0.1, 0.8, -1.6, 0.1, -0.8, 1.6, -0.1, -0.8, 1.6]  # of solo12
LEVEL = Rotation.identity()
BASE = Rotation.from_euler("xyz", [13, 24, 5], degrees=True)
FALL = [0.05, 0.1, -1.0, 0.05, 0.1, -0.05]  # so slow that no step adds points after its first solution
UPSIDE_DOWN = [0.05, 0.1, 1.0, 0.05, 0.1, -0.05]
ON_PLANE = {  # shape, height, angles in degrees, velocity
    "box that rests": (BRICK, 0.0999, [0, 0, 10], np.zeros(6)),
    "box that slides": (BRICK, 0.0999, [0, 0, 10], [1, 0.3, 0, 0, 0, 0.2]),
    "box on a corner": (BRICK, 0.25, [30, 35, 10], [1, 0.3, -1, 0, 0, 0.2]),
    "mesh on a corner": (Mesh(0, STONE.vertices), 0.5, [30, 35, 10], [1, 0.3, -9, 0, 0, 0.2]),
    "capsule that rolls": (ROD, 0.0999, [90.1, 0, 10], [0.1, 0.2, 0, 0.3, 0.1, 2]),
    "cylinder that rolls": (DRUM, 0.0999, [90.05, 20, 10], [0.1, 0.2, 0, 0.3, 0.1, 2]),
    "cylinder on its rim": (DRUM, 0.205, [20, 20, 10], FALL),
    "cylinder that stands": (DRUM, 0.1995, [0.1, 0.2, 10], FALL),
    "cone on its rim": (HAT, 0.12, [20, 20, 10], FALL),
    "cone that rolls on its side": (HAT, 0.0445, [116.5, 0.2, 10], UPSIDE_DOWN),
    "cone on its tip": (HAT, 0.0881, [160, 20, 10], UPSIDE_DOWN),
    "cone that stands": (HAT, 0.0995, [0.1, 0.2, 10], FALL),
    "ellipsoid that rolls": (Ellipsoid(0, [0.1, 0.2, 0.3], p=[0.01, 0.02, 0.03]), 0.1866, [20, 50, 10], FALL),
}
ON_SHAPES = {  # shape, place and angles in the axes of the other one, and that; number of near points
    "sphere over a face": (BALL, [0.1, 0.1, 0.599], [3, 4, 5], BLOCK, 1),
    "sphere over an edge": (BALL, [0.55, 0.1, 0.57], [3, 4, 5], BLOCK, 1),
    "sphere over a corner": (BALL, [0.54, 0.55, 0.55], [3, 4, 5], BLOCK, 1),
    "sphere over a mesh": (BALL, [0.1, 0.1, 0.72], [3, 4, 5], STONE, 1),
    "sphere over a capsule": (
        BALL,
        [0.03, 0, 0.149],
        [15, 3, 2],
        Capsule(1, 0.05, 0.6, Rotation.from_euler("y", 90, degrees=True).as_matrix()),
        1,
    ),
    "capsule on a face": (ROD, [0.1, 0.1, 0.599], [90.01, 0, 5], BLOCK, 2),
    "capsule over a side": (ROD, [0.1, 0.4, 0.599], [90.01, 0, 5], BLOCK, 2),
    "end of a capsule": (ROD, [0.1, 0.1, 0.795], [10, 4, 5], BLOCK, 1),
    "capsule across an edge": (ROD, [0.1, 0.55, 0.565], [60, 4, 5], BLOCK, 1),
    "axis of a capsule across an edge": (ROD, [0.1, 0.47, 0.49], [45, 4, 5], BLOCK, 1),
    "capsule along an edge": (ROD, [0.4, 0.56, 0.56], [0.01, 90.02, 0], BLOCK, 2),
    "capsule over a mesh": (ROD, [0.1, 0.1, 0.72], [80, 4, 5], STONE, 1),
    "capsules that cross": (ROD, [0.149, 0.03, 0.1], [85, 3, 2], THIN, 1),
    "capsule on an end": (ROD, [0, 0.28, 0.1], [45, 3, 2], THIN, 1),
    "capsules end to end": (ROD, [0, 0.03, 0.63], [3, 2, 2], THIN, 1),
    "capsules side by side": (ROD, [0.149, 0, 0.13], [0.02, 0.01, 0], THIN, 2),
    "capsules side by side, head to tail": (ROD, [0.149, 0, 0.13], [179.98, 0.01, 0], THIN, 2),
    "face on face": (BRICK, [0.05, 0.1, 0.5995], [0.05, 0.1, 10], BLOCK, 4),
    "face over a side": (BRICK, [0.45, 0.1, 0.5995], [0.01, 0.02, 10], BLOCK, 4),
    "face over a corner": (BRICK, [0.45, 0.42, 0.5995], [0.01, 0.02, 10], BLOCK, 4),
    "face over the opposite corner": (BRICK, [-0.45, -0.42, 0.5995], [0.01, -0.02, 10], BLOCK, 4),
    "face over a third corner": (BRICK, [0.45, -0.42, 0.5995], [0.01, 0.02, 10], BLOCK, 4),
    "face over a fourth corner": (BRICK, [-0.45, 0.42, 0.5995], [-0.01, -0.02, 10], BLOCK, 4),
    "corner on a face": (BRICK, [0.05, 0.1, 0.61], [3, 4, 10], BLOCK, None),
    "edge on edge": (BRICK, [0.45, 0.1, 0.6], [3, 4, 10], BLOCK, 1),
    "box on a mesh": (BRICK, [0.1, 0.1, 0.76], [8, 4, 5], STONE, 2),
}


def bodies(count):
    """Return free bodies whose centres of mass are not at their origins."""
    joints = [
        tf.Joint(
            f"body {k}",
            "freeflyer",
            inertia=tf.Inertia(1.0 + k, [0.01, 0.02, -0.01], np.diag([0.02, 0.03, 0.025])),
        )
        for k in range(count)
    ]
    return tf.Model(joints)


def placed(place, turn):
    """Return the configuration of a free body."""
    return [*place, *turn.as_quat()]


def on_shape(name):
    """Return shapes and the state of their bodies."""
    shape, place, angles, other, points = ON_SHAPES[name]
    turn = BASE * Rotation.from_euler("xyz", angles, degrees=True)
    q = np.array([*placed(BASE.apply(place), turn), *placed(np.zeros(3), BASE)])
    v = np.concatenate([turn.inv().apply(BASE.apply(FALL[:3])), FALL[3:], np.zeros(6)])
    return shape, other, q, v, points


def checked(contacts, q, v, stabilization=1.0, **options):
    """Compare derivatives with differences; return the step."""
    model = bodies(len(v) // 6)
    stepper = Stepper(model, contacts, h=H, stabilization=stabilization, **options)
    check(stepper, q, v, np.zeros(model.nv), directions=np.random.default_rng(5).normal(size=(model.nv, 1)))
    step = Stepper(model, contacts, h=H, stabilization=stabilization, **options).step(q, v)
    assert step.impulse[0].any()
    return step


@pytest.mark.parametrize("name", ON_PLANE)
def test_shapes_on_a_plane(name):
    shape, height, angles, v = ON_PLANE[name]
    q = np.array(placed([0.1, 0.2, height], Rotation.from_euler("xyz", angles, degrees=True)))
    for mu, friction in ((0.0, "pyramid"), (0.6, "pyramid"), (0.6, "box")):
        checked([Contact(shape, mu=mu)], q, np.array(v), friction=friction)


def test_a_plane_on_a_body_and_overlaps_that_stay():
    q = np.array(
        [*placed([0, 0, 0.24], BASE), *placed(np.zeros(3), Rotation.from_euler("x", 3, degrees=True))]
    )
    v = np.array([*FALL, *np.zeros(6)])
    contact = Contact(BRICK, Plane(1, [0.1, 0.2, 0.9], [0, 0, 0.1]), mu=0.5)
    for stabilization in (0.2, 1.0):
        checked([contact], q, v, stabilization)


@pytest.mark.parametrize("name", ON_SHAPES)
def test_shapes_on_shapes(name):
    shape, other, q, v, points = on_shape(name)
    for contact in (Contact(shape, other, mu=0.5), Contact(other, shape, mu=0.5)):
        step = checked([contact], q, v)
        assert points in (None, len(step.points.gaps))
    checked([Contact(shape, other), Contact(Sphere(0, [0, 0, 3.0]))], q, v)


def test_a_quadruped_of_its_urdf_stands():
    model, shapes = tf.Model.from_urdf(bundled_robot("solo12"), floating=True, geometry="collision")
    q, v = np.r_[0, 0, 0.285, 0, 0, 0, 1, STANDING], np.zeros(18)
    stepper = Stepper(model, contacts_of(model, shapes, mu=0.8, reference=q), h=2e-3, stabilization=1.0)
    for _ in range(100):
        tau = np.r_[np.zeros(6), 5.0 * (STANDING - q[7:]) - 0.2 * v[6:]]
        step = stepper.step(q, v, tau)
        q, v = step.q, step.v
    assert (step.points.impulses[:, 2] > 0.0).sum() == 4
    check(stepper, q, v, tau, directions=np.random.default_rng(5).normal(size=(18, 4)))


def test_features_that_change_have_no_derivatives():
    flush = np.array([*placed([0, 0, 0.999], LEVEL), *placed(np.zeros(3), LEVEL)])
    beside = np.array([*placed([0.149, 0, 0], LEVEL), *placed(np.zeros(3), LEVEL)])
    over_side = np.array([*placed([0, 0.3, 0.599], LEVEL), *placed(np.zeros(3), LEVEL)])
    upright = np.array(placed([0, 0, 0.1999], LEVEL))
    for contact, q in (
        (Contact(Box(0, [1, 1, 1]), BLOCK, mu=0.5), flush),
        (Contact(Capsule(0, 0.1, 0.6), THIN), beside),
        (Contact(DRUM), upright),
        (Contact(Capsule(0, 0.1, 0.4, [[1, 0, 0], [0, 0, -1], [0, 1, 0]]), BLOCK), over_side),
    ):
        model = bodies(len(q) // 7)
        v = np.zeros(model.nv)
        v[:3] = [-1.0, 0.0, -1.0]
        derivatives = Stepper(model, [contact], h=H, stabilization=1.0).derivatives(q, v)
        assert derivatives.status is SensitivityStatus.DEGENERATE
        assert np.isnan(derivatives.dv_dq).any()


def test_tangents_that_jump_have_no_derivatives():
    """They do where a normal is horizontal: a body with a wall turns, and friction acts on it."""
    q = np.array([*placed([0.599, 0, 0], LEVEL), *placed(np.zeros(3), LEVEL)])
    v = np.array([-1.0, 0.3, 0.2, *np.zeros(9)])
    for mu, tilts in ((0.5, True), (0.0, False)):
        stepper = Stepper(bodies(2), [Contact(Sphere(0, radius=0.1), BLOCK, mu)], h=H, stabilization=1.0)
        derivatives = stepper.derivatives(q, v)
        assert np.isnan(derivatives.dv_dq[:, 10]).all() == tilts  # about y, which tilts the wall
        assert np.isfinite(derivatives.dv_dq[:, :10]).all()
        assert derivatives.status is (SensitivityStatus.DEGENERATE if tilts else SensitivityStatus.STRICT)
        assert np.isfinite(derivatives.dv_dv).all()


def test_pairs_without_derivatives_are_named_when_they_act():
    stepper = Stepper(bodies(2), [Contact(Sphere(1)), Contact(DRUM, BLOCK)], h=H)
    far = np.array([*placed([0, 0, 2.0], BASE), *placed([0, 0, 1.0], BASE)])
    assert stepper.derivatives(far, np.zeros(12)).status is SensitivityStatus.STRICT
    near = np.array([*placed([0, 0, 0.65], BASE), *placed(np.zeros(3), BASE)])
    with pytest.raises(
        InvalidModelError, match="contact 1 acts, of a Cylinder on body 0 with a Box on body 1"
    ):
        stepper.derivatives(near, np.array([*FALL, *np.zeros(6)]))


@pytest.mark.parametrize(
    "contact",
    [
        Contact(Sphere(0, radius=0.1), HeightField(-1, np.zeros((3, 3)), [2, 2])),
        Contact(
            Sphere(0, radius=0.1),
            Mesh(-1, [[1, 0, 0], [0, 1, 0], [-1, -1, 0]], faces=[[0, 1, 2]], convex=False),
        ),
    ],
)
def test_surfaces_have_no_derivatives(contact):
    act_without_derivatives(contact)


def test_cones_and_ellipsoids_have_derivatives_on_planes_only():
    pytest.importorskip("coal")
    for shape in (HAT, Ellipsoid(0, [0.1, 0.1, 0.1])):
        act_without_derivatives(Contact(shape, Box(-1, [1, 1, 1], p=[0, 0, -0.5])))


def act_without_derivatives(contact):
    """Let a body fall on a contact, and see the error."""
    q, v = placed([0, 0, 0.0999], LEVEL), [0, 0, -1.0, 0, 0, 0]
    named = f"of a {type(contact.sphere).__name__} on body 0 with a {type(contact.against).__name__} on body"
    with pytest.raises(InvalidModelError, match=named):
        Stepper(bodies(1), [contact], h=H).derivatives(q, v)


def test_points_that_are_not_where_the_kernel_found_them_have_no_derivatives():
    shape, other, q, v, _ = on_shape("capsules side by side")
    model = bodies(2)
    contacts = Stepper(model, [Contact(shape, other)])._contacts
    at = BodyMotions(model, q, v)
    touch, units = contacts.near(at), unit_motions(at, v, np.zeros(len(v)))
    off = np.array([0.0, 1e-7])
    for moved in (touch._replace(gap=touch.gap + off), touch._replace(places=touch.places + off[:, None])):
        geometry, gap = touching_shapes(at, units, contacts, moved, np.arange(2))
        is_lost = np.isnan(gap.derivative).all(axis=(1, 2))
        np.testing.assert_array_equal(is_lost, off > 0.0)
        np.testing.assert_array_equal(np.isnan(geometry.levers[0].derivative).all(axis=(1, 2)), is_lost)
