"""Test contacts: gaps, rows of normals and tangents, and contacts that must be refused."""

import re

import numpy as np
import pytest
from helpers.body_frames import jacobian, placement
from helpers.dynamics_cases import arguments, error
from helpers.loop_cases import MIXED
from helpers.model_cases import models
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import treefactor as tf
from treefactor.constraints import Contact, Plane, Sphere, box, contacts_between
from treefactor.constraints.contacts import Contacts, limits_of
from treefactor.exceptions import InvalidModelError, NonFiniteError, ShapeError
from treefactor.kinematics.jacobians import BodyMotions

STEP = 1e-5
BY_DIFFERENCES = 1e-7


def random_contacts(seed, count=20):
    """Return random contacts of spheres with planes and spheres, between both trees and the base."""
    rng = np.random.default_rng(seed)
    contacts = []
    for k in range(count):
        a, b = (int(i) for i in rng.choice(np.arange(-1, MIXED.njoints), 2, replace=False))
        sphere = Sphere(a, rng.normal(size=3), rng.random())
        other = Sphere(b, rng.normal(size=3), rng.random()) if k % 2 else Plane(b, *rng.normal(size=(2, 3)))
        contacts.append(Contact(sphere, other, 0.5))
    return contacts


def dense(touch, model):
    """Return the dense rows of normals and of both tangents, (3, contacts, nv)."""
    rows = [csr_array((data, touch.column, touch.start), (len(touch.gap), model.nv)) for data in touch.data]
    return np.stack([part.toarray() for part in rows])


@pytest.mark.parametrize("seed", range(5))
def test_normal_rows_are_rates_of_gaps(seed):
    contacts = Contacts(MIXED, random_contacts(seed))
    q, v, _, _ = arguments(MIXED, seed)
    touch = contacts.near(BodyMotions(MIXED, q, v))
    after, before = (
        contacts.near(BodyMotions(MIXED, tf.integrate(MIXED, q, sign * STEP * v))).gap for sign in (1.0, -1.0)
    )
    rates = dense(touch, MIXED)[0] @ v
    assert error(rates, (after - before) / (2 * STEP), 1.0 + np.abs(rates).max()) < BY_DIFFERENCES


def test_tangent_rows_are_sliding_velocities():
    contacts = random_contacts(7)
    q, v, _, _ = arguments(MIXED, 7)
    touch = Contacts(MIXED, contacts).near(BodyMotions(MIXED, q, v))
    rates = (dense(touch, MIXED) @ v).T
    assert (
        error(touch.axes @ np.swapaxes(touch.axes, 1, 2), np.tile(np.eye(3), (len(contacts), 1, 1))) < 1e-12
    )
    assert error(np.linalg.det(touch.axes), np.ones(len(contacts))) < 1e-12
    for contact, axes, rate in zip(contacts, touch.axes, rates, strict=True):
        _, p = placement(MIXED, q, contact.sphere.body, p=contact.sphere.center)
        point = p - contact.sphere.radius * axes[0]
        velocity = [velocity_of(body, point, q, v) for body in (contact.sphere.body, contact.against.body)]
        assert error(rate, axes @ (velocity[0] - velocity[1]), 1.0) < 1e-11


def velocity_of(body, point, q, v):
    """Return the velocity of a body's material point, given where it is in the base."""
    R, p = placement(MIXED, q, body)
    return (jacobian(MIXED, q, body, p=R.T @ (point - p)) @ v)[:3]


def test_rows_do_not_depend_on_other_contacts():
    contacts, at = random_contacts(3), BodyMotions(MIXED, *arguments(MIXED, 3)[:2])
    together = Contacts(MIXED, contacts).near(at)
    for k, contact in enumerate(contacts):
        alone, own = Contacts(MIXED, [contact]).near(at), slice(*together.start[k : k + 2])
        np.testing.assert_array_equal(together.data[:, own], alone.data)
        np.testing.assert_array_equal(together.errors[own], alone.errors)


def test_gaps_of_spheres_and_planes():
    pair = tf.Model([tf.Joint(name, "translation", inertia=tf.Inertia(1.0)) for name in "ab"])
    contacts = [
        Contact(Sphere(0, radius=0.5)),
        Contact(Sphere(0, radius=0.5), Plane(-1, [0, 2.0, 0], [0, -1.0, 7.0])),
        Contact(Sphere(0, radius=0.5), Sphere(1, radius=0.25)),
        Contact(Sphere(0), Sphere(1)),
    ]
    at = BodyMotions(pair, [0, 0, 2.0, 0, 3.0, 6.0])
    touch = Contacts(pair, contacts).near(at)
    assert np.allclose(touch.gap, [1.5, 0.5, 4.25, 5.0])
    assert np.allclose(touch.axes[2, 0], [0, -0.6, -0.8])
    near = Contacts(pair, contacts).near(at, 2.0)
    assert near.which.tolist() == [0, 1]
    assert np.array_equal(dense(near, pair), dense(touch, pair)[:, :2])


@pytest.mark.parametrize("far", [0.0, 1e4, 1e9])
def test_near_contacts_are_those_within_the_margin(far):
    """The search leaves out what is far, and nothing that rounding puts on the other side of the margin."""
    rng = np.random.default_rng(0)
    pile = tf.Model([tf.Joint(f"ball{i}", "freeflyer", inertia=tf.Inertia(1.0)) for i in range(9)])
    spheres = [Sphere(i, rng.normal(size=3), rng.uniform(0.0, 0.5)) for i in range(9)]
    others = [Plane(3, rng.normal(size=3)), Plane(-1, point=[far, 0, 0]), Sphere(-1, [far, 0, 0], 0.3)]
    contacts = Contacts(pile, contacts_between(spheres, others))
    for _ in range(5):
        q = tf.random_configuration(pile, rng).reshape(9, 7)
        q[:, :3] = 2.0 * rng.normal(size=(9, 3)) + [far, 0, 0]
        at = BodyMotions(pile, q.ravel())
        every = contacts.near(at)
        assert len(every.which) == len(contacts.mu)
        for margin in (0.0, 0.1, *every.gap[every.gap > 0]):
            near, within = contacts.near(at, margin), every.gap <= margin
            assert near.which.tolist() == np.flatnonzero(within).tolist()
            assert np.array_equal(near.gap, every.gap[within])
            assert np.array_equal(near.axes, every.axes[within])
            assert np.array_equal(near.data, every.data[:, np.repeat(within, np.diff(every.start))])


def test_spheres_at_one_place_have_a_normal():
    pair = tf.Model([tf.Joint(name, "translation", inertia=tf.Inertia(1.0)) for name in "ab"])
    touch = Contacts(pair, [Contact(Sphere(0, radius=1.0), Sphere(1))]).near(BodyMotions(pair, np.zeros(6)))
    assert touch.gap == [-1.0]
    assert np.array_equal(touch.axes[0, 0], [0, 0, 1])


def test_boxes_have_eight_corners():
    corners = np.array([corner.center for corner in box(3, [2.0, 4.0, 6.0], [1.0, 0, 0])])
    assert len(corners) == 8
    assert np.allclose(corners.mean(axis=0), [1, 0, 0])
    assert np.allclose(np.abs(corners - [1, 0, 0]), [1, 2, 3])


def test_pairs_are_of_different_bodies():
    spheres = [Sphere(0), Sphere(0, [1.0, 0, 0]), Sphere(1)]
    contacts = contacts_between(spheres, [Plane(), Plane(1)], mu=0.3)
    assert len(contacts) == 2 + 3 + 2
    assert all(contact.mu == 0.3 for contact in contacts)


ROD = tf.Inertia(1.0, [0.1, 0.0, -0.5], np.diag([0.1, 0.2, 0.15]))
Z = np.array([0.0, 0.0, 1.0])


def arm():
    """Return hinges 0 and 1 and slide 2 in a chain; a ball joint 3; hinges 4 and 5, of which 5 mimics 4."""
    follows = tf.Mimic(4, 1.0, 0.3)
    joints = [
        tf.Joint("shoulder", "revolute", -1, axis=Z, inertia=ROD),
        tf.Joint("elbow", "revolute", 0, p=[1.0, 0, 0], axis=Z, inertia=ROD),
        tf.Joint("slide", "prismatic", 1, p=[0.5, 0, 0], axis=Z, inertia=ROD),
        tf.Joint("ball", "spherical", -1, p=[0, 3.0, 0], inertia=ROD),
        tf.Joint("leader", "revolute", -1, p=[5.0, 0, 0], axis=Z, inertia=ROD),
        tf.Joint("follower", "revolute", -1, p=[5.0, 0, 0.2], axis=Z, inertia=ROD, mimic=follows),
    ]
    return tf.Model(joints)


FIXED_GAPS = {
    "sphere on the axis between both": (
        Sphere(1, [0, 0, 0.3], 0.4),
        Sphere(0, [0.2, 0, 0], 0.5),
    ),
    "point on the axis, other body's sphere": (Sphere(0, [1.0, 0, 0]), Sphere(1, [0.3, 0.1, 0], 0.5)),
    "spheres on one axis": (Sphere(1, radius=0.1), Sphere(0, [1.0, 0, 0.5], 0.1)),
    "axis across a plane of the other body": (Sphere(1, [0.4, 0.2, 0], 0.1), Plane(0, Z)),
    "sphere in the centre of a ball joint": (Sphere(3, radius=0.2), Plane()),
    "slide along a plane": (Sphere(2, radius=0.2), Plane(1, [1.0, 0, 0], [0.1, 0, 0])),
    "bodies that turn alike": (Sphere(5, [0.3, 0, 0], 0.1), Sphere(4, [0.2, 0.1, 0], 0.2)),
}
CHANGING_GAPS = {
    "sphere beside the axis": (Sphere(1, [0.3, 0, 0], 0.1), Sphere(0, [0.2, 0, 0], 0.1)),
    "nearly on the axis": (Sphere(1, [1e-4, 0, 0], 0.1), Sphere(0, [0.2, 0, 0], 0.1)),
    "along the slide": (Sphere(2, radius=0.1), Plane(1, Z)),
    "ball joint beside the plane": (Sphere(3, [0.1, 0, 0], 0.1), Plane()),
    "leader against base": (Sphere(5, [0.3, 0, 0], 0.1), Sphere(-1)),
}


@pytest.mark.parametrize("name", [*FIXED_GAPS, *CHANGING_GAPS])
def test_contacts_whose_gap_no_motion_changes_are_left_out(name):
    model, (sphere, other) = arm(), (FIXED_GAPS | CHANGING_GAPS)[name]
    contacts, left_out = contacts_between([sphere], [other], model=model, named=True)
    names = [*(joint.name for joint in model.joints), "base"]
    fixed = [(names[sphere.body], names[other.body])]
    assert left_out == (fixed if name in FIXED_GAPS else [])
    assert len(contacts) == (name in CHANGING_GAPS)
    assert len(contacts_between([sphere], [other], model=model)) == len(contacts)
    assert len(contacts_between([sphere], [other])) == 1


@given(models(max_joints=5), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_gaps_of_contacts_left_out_are_the_same_everywhere(model, seed):
    """The gaps of the other contacts change; some spheres are at joints, where adjacent bodies meet."""
    rng = np.random.default_rng(seed)
    spheres = [Sphere(i, (i % 2) * rng.normal(size=3), rng.random()) for i in range(model.njoints)]
    everywhere = [Sphere(j.parent, j.p, 0.1) for j in model.joints]
    every = contacts_between(spheres, everywhere)
    kept, left_out = contacts_between(spheres, everywhere, model=model, named=True)
    kept_pairs = {(contact.sphere, contact.against) for contact in kept}
    assert len(kept) + len(left_out) == len(every)
    if not every:
        return
    gaps = [
        Contacts(model, every).near(BodyMotions(model, q)).gap
        for q in tf.random_configuration(model, rng, size=6)
    ]
    spread, size = np.ptp(gaps, axis=0), 1.0 + np.abs(gaps).max()
    for contact, change in zip(every, spread, strict=True):
        if (contact.sphere, contact.against) in kept_pairs:
            assert change > 1e-8 * size
        else:
            assert change < 1e-7 * size


def test_contacts_of_bodies_that_a_loop_holds_together_are_left_out():
    """Two parallel slides are welded to each other: no motion changes the distance of their bodies."""
    slides = [tf.Joint(f"slide{i}", "prismatic", axis=Z, p=[i, 0, 0], inertia=ROD) for i in range(2)]
    weld = tf.Loop("weld", "weld", 0, 1, p1=[1.0, 0, 0])
    spheres = [Sphere(0, radius=0.6), Sphere(1, radius=0.6)]
    assert len(contacts_between(spheres, [Plane()], model=tf.Model(slides))) == 3
    contacts, left_out = contacts_between(
        spheres, [Plane()], model=tf.Model(slides, loops=[weld]), named=True
    )
    assert (len(contacts), left_out) == (2, [("slide1", "slide0")])


def test_names_of_contacts_left_out_need_a_model():
    with pytest.raises(ValueError, match="named needs a model"):
        contacts_between([Sphere(0)], [Plane()], named=True)
    with pytest.raises(
        InvalidModelError, match=r"spheres\[0\]: there are 6 joints and the base, -1; got body 7"
    ):
        contacts_between([Sphere(7)], [Plane()], model=arm())


def test_limits_are_those_of_joints_with_one_rate_for_each_position():
    joints = [
        tf.Joint("hinge", "revolute", axis=[0, 0, 1.0], lower=-1.0, upper=2.0, inertia=tf.Inertia(1.0)),
        tf.Joint("slide", "prismatic", 0, axis=[0, 0, 1.0], lower=0.5, inertia=tf.Inertia(1.0)),
        tf.Joint("hand", "freeflyer", 1, lower=[-1.0] * 3 + [-np.inf] * 4, inertia=tf.Inertia(1.0)),
    ]
    i, k, sign, bound = limits_of(tf.Model(joints))
    limits = sorted(zip(i.tolist(), k.tolist(), sign.tolist(), bound.tolist(), strict=True))
    assert limits == [(0, 0, -1.0, 2.0), (0, 0, 1.0, -1.0), (1, 1, 1.0, 0.5)]


def test_impossible_contacts_are_refused():
    with pytest.raises(InvalidModelError, match="radius"):
        Sphere(0, radius=-1.0)
    with pytest.raises(InvalidModelError, match="number of a joint"):
        Sphere(1.5)
    with pytest.raises(ShapeError):
        Sphere(0, [1.0, 2.0])
    with pytest.raises(NonFiniteError):
        Plane(point=[0, 0, np.inf])
    with pytest.raises(InvalidModelError, match="nonzero length"):
        Plane(normal=[0, 0, 0.0])
    with pytest.raises(InvalidModelError, match="both sides"):
        Contact(Sphere(1), Plane(1))
    with pytest.raises(InvalidModelError, match="mu must not"):
        Contact(Sphere(1), mu=-0.1)
    with pytest.raises(InvalidModelError, match=r"sphere must be a Sphere, .* or HeightField, got Plane"):
        Contact(Plane(0), Sphere(1))
    with pytest.raises(InvalidModelError, match="contact 1 is on body 9"):
        Contacts(MIXED, [Contact(Sphere(0)), Contact(Sphere(9))])


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_normals_have_any_length(size):
    np.testing.assert_allclose(Plane(normal=[0.0, 3 * size, 4 * size]).normal, [0.0, 0.6, 0.8])


@pytest.mark.parametrize("body", [0, "foot"])
def test_a_body_in_the_place_of_a_shape_is_refused_with_the_shape_to_make(body):
    for argument, wanted, make in (
        (
            "sphere",
            "Sphere, Capsule, Cylinder, Box, Mesh, Cone, Ellipsoid or HeightField",
            lambda: Contact(body),
        ),
        (
            "against",
            "Plane, Sphere, Capsule, Cylinder, Box, Mesh, Cone, Ellipsoid or HeightField",
            lambda: Contact(Sphere(1), body),
        ),
    ):
        message = f"{argument} must be a {wanted}, got {body!r}: for that body write Sphere({body!r}, center"
        with pytest.raises(InvalidModelError, match=re.escape(message)):
            make()
