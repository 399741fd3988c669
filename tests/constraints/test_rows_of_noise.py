"""Test that rows which no motion changes are zero, and that steps with them are bounded or infeasible."""

import numpy as np
import pytest
from helpers.mlcp_verify import verify, verify_certificate
from helpers.model_cases import models
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import treefactor as tf
from treefactor import constraints
from treefactor.constraints import Contact, Drive, Plane, RigidContact, Sphere, Stepper, contacts_between
from treefactor.constraints._still_pairs import still_pairs
from treefactor.constraints.contacts import Contacts
from treefactor.exceptions import StepError
from treefactor.kinematics.jacobians import BodyMotions
from treefactor.mlcp import Status

BODY = tf.Inertia(1.0, [0.1, 0.0, 0.05], 0.1 * np.eye(3))
FAR = [0.0, 1.0, 1e3, 1e5]  # m
SEEDS = st.integers(0, 2**32 - 1)


def moved(model, far, rng):
    """Return a model whose root joints are far from the base."""
    rows = [
        (one, one.p + far * rng.normal(size=3)) if one.parent < 0 else (one, one.p) for one in model.joints
    ]
    joints = [
        tf.Joint(
            *(one.name, one.kind, one.parent, one.R, p, one.axis, one.pitch, one.inertia, one.armature),
            mimic=one.mimic,
        )
        for one, p in rows
    ]
    return tf.Model(joints, model.gravity)


def configuration(model, far, rng):
    """Return a random configuration with free bodies far away."""
    q = tf.random_configuration(model, rng)
    for joint, at in zip(model.joints, model.idx_q, strict=True):
        if joint.kind in ("translation", "freeflyer"):
            q[at : at + 3] += far * rng.normal(size=3)
    return q


def every_contact(model, rng, mu=0.0):
    """Return contacts of bodies with what is at their joints: many have gaps that no motion changes."""
    spheres = [Sphere(i, (i % 2) * rng.normal(size=3), rng.random()) for i in range(model.njoints)]
    others = [Sphere(one.parent, one.p, 0.1) for one in model.joints]
    others += [Plane(one.parent, rng.normal(size=3), one.p) for one in model.joints]
    return contacts_between(spheres, others, mu)


def gaps_change(model, contacts):
    """Return for every contact whether some motion changes its gap."""
    return ~still_pairs(model, [(one.sphere, one.against) for one in contacts])


def zero_rows(touch):
    """Return for every near contact whether its normal and its tangents have entries."""
    ranges = zip(touch.start[:-1], touch.start[1:], strict=True)
    return np.array([[row[a:b].any() for row in touch.data] for a, b in ranges]).reshape(-1, 3)


@given(models(max_joints=7), SEEDS, st.sampled_from(FAR))
def test_rows_of_gaps_that_no_motion_changes_are_zero(model, seed, far):
    rng = np.random.default_rng(seed)
    model = moved(model, far, rng)
    every = every_contact(model, rng)
    changes, contacts = gaps_change(model, every), Contacts(model, every)
    for _ in range(3):
        touch = contacts.near(BodyMotions(model, configuration(model, far, rng)))
        np.testing.assert_array_equal(zero_rows(touch)[:, 0], changes[touch.which])


def take_steps(stepper, q, v, largest):
    """Take two steps, the second from a warm start, verified and bounded; return the error of a failure."""
    for _ in range(2):
        try:
            step = stepper.step(q, v)
        except StepError as error:
            return error
        problem = step.solution.problem
        verify(problem, step.solution)
        asked = np.abs(problem.d[problem.d > -np.inf]).max(initial=0.0)
        assert np.abs(step.v).max(initial=0.0) <= largest * (1.0 + np.abs(v).max(initial=0.0) + asked)
        q, v = step.q, step.v
    return None


@given(models(max_joints=5), SEEDS, st.sampled_from(FAR[:3]), st.sampled_from(["pyramid", "box"]))
def test_steps_with_such_contacts_are_bounded_or_infeasible_by_name(model, seed, far, friction):
    rng = np.random.default_rng(seed)
    model = moved(model, far, rng)
    every = every_contact(model, rng, mu=rng.choice([0.0, 0.4, 1.0]))
    changes, q = gaps_change(model, every), configuration(model, far, rng)
    fixed = [one for one, change in zip(every, changes, strict=True) if not change]
    other = [one for one, change in zip(every, changes, strict=True) if change]
    picked = [other[i] for i in rng.permutation(len(other))[: rng.integers(0, 3)]]
    gaps = Contacts(model, fixed).near(BodyMotions(model, q)).gap
    v = rng.choice([0.0, 1.0]) * rng.normal(size=model.nv)
    open_ones = [one for one, gap in zip(fixed, gaps, strict=True) if gap > 0.0]
    for chosen in (fixed, open_ones):
        stepper = Stepper(model, chosen + picked, h=0.01, friction=friction)
        error = take_steps(stepper, q, v, 1e6)
        if error is not None:
            assert error.solution.status is Status.INFEASIBLE
            assert "contacts[" in str(error)
            verify_certificate(error.solution.problem, *error.solution.certificate)
        if chosen is fixed and len(open_ones) < len(fixed):
            assert error is not None
        if chosen is open_ones and not picked:
            assert error is None


def pair(far=0.0):
    """Return a free body with a hinge; both have spheres that overlap, one on the axis of the hinge."""
    joints = [
        tf.Joint("body", "freeflyer", inertia=BODY),
        tf.Joint("hinged", "revolute", 0, p=[0.3, 0, 0], axis=[0, 0, 1.0], inertia=BODY),
    ]
    return tf.Model(joints)


@pytest.mark.parametrize("by_hand", [False, True])
def test_a_sphere_on_a_hinge_never_pushes(by_hand):
    model, rng = pair(), np.random.default_rng(0)
    spheres = [Sphere(0, radius=0.2), Sphere(1, radius=0.2)]
    contacts = [Contact(spheres[1], spheres[0])] if by_hand else contacts_between(spheres)
    apart = [Contact(Sphere(1, radius=0.1 - 1e-17), Sphere(0, radius=0.2))]
    for q in tf.random_configuration(model, rng, size=40):
        with pytest.raises(
            StepError, match=r"contacts\[0\] of 'hinged' with 'body' overlaps by 0\.1 m, and no"
        ):
            Stepper(model, contacts, h=0.01).step(q, np.zeros(7))
        assert np.abs(Stepper(model, apart, h=0.01).step(q, np.zeros(7)).v).max() < 1.0
    batch = tf.random_configuration(model, rng, size=5)
    with pytest.raises(StepError, match=r"world 0: .*contacts\[0\] of 'hinged' with 'body' overlaps"):
        Stepper(model, contacts, h=0.01).run(batch, np.zeros((5, 7)), 3)


@pytest.mark.parametrize("far", FAR)
def test_spheres_that_touch_for_good_rest_without_forces(far):
    """Gaps of 1e-17, and 1e-11 far away, are zero: without gravity no other datum could outweigh them."""
    hinge = {"kind": "revolute", "axis": [0, 0, 1.0], "inertia": BODY}
    R, p = Rotation.random(random_state=1).as_matrix(), far * np.array([0.3, -0.4, 0.5])
    model = tf.Model(
        [tf.Joint("a", R=R, p=p, **hinge), tf.Joint("b", parent=0, p=[0.3, 0, 0], **hinge)], np.zeros(3)
    )
    contacts, smooth = (
        contacts_between([Sphere(0, radius=0.1), Sphere(1, radius=0.2)], mu=mu) for mu in (0.5, 0)
    )
    for q in np.random.default_rng(0).normal(size=(20, 2)):
        step = Stepper(model, contacts).step(q, np.zeros(2))
        assert not step.v.any()
        assert not step.impulse.any()
        derivatives = Stepper(model, smooth).derivatives(q, np.zeros(2))
        assert derivatives.status.name == "STRICT"
        np.testing.assert_allclose(derivatives.dv_dv, np.eye(2), atol=1e-9)


@pytest.mark.parametrize("count", [2, 20, 200])
def test_hinges_on_one_axis_turn_in_vain(count):
    """A long chain, whose rounding errors add up, turns about the axis of a sphere or across a plane."""
    rng = np.random.default_rng(count)
    axis = Rotation.random(random_state=count).as_matrix()[0]
    root = tf.Joint("root", "revolute", -1, p=[300.0, 200.0, 100.0], axis=[1.0, 0, 0], inertia=BODY)
    joints = [
        tf.Joint(f"j{i}", "revolute", i, p=axis * rng.normal(), axis=axis, inertia=BODY) for i in range(count)
    ]
    contacts = [
        Contact(Sphere(count, 0.3 * axis, 0.2), Plane(0, rng.normal(size=3))),
        Contact(Sphere(count, 0.3 * axis, 0.2), Sphere(0, rng.normal(size=3))),
        Contact(Sphere(count, rng.normal(size=3), 0.2), Sphere(0, axis)),
        Contact(Sphere(count, rng.normal(size=3), 0.2), Plane(0, axis)),
    ]
    model = tf.Model([root, *joints])
    for q in tf.random_configuration(model, rng, size=5):
        touch = Contacts(model, contacts).near(BodyMotions(model, q))
        assert not zero_rows(touch)[:, 0].any()


@pytest.mark.parametrize("far", FAR)
def test_a_slide_at_its_dead_centre_never_pushes(far):
    """The direction between two spheres has the rounding errors of far coordinates."""
    R = Rotation.random(random_state=2).as_matrix()
    slide = tf.Joint("slide", "prismatic", R=R, p=far * R[:, 1], axis=[1.0, 0, 0], inertia=BODY)
    below = Sphere(-1, far * R[:, 1] + 0.3 * R[:, 2], 0.2)
    stepper = Stepper(tf.Model([slide]), [Contact(Sphere(0, radius=0.2), below)], h=0.01)
    with pytest.raises(StepError, match=r"overlaps by 0\.1 m, and no motion changes that here"):
        stepper.step([0.0], [0.0])


@pytest.mark.parametrize("length", [1.0, 30.0, 1e3])
def test_an_arm_that_is_folded_back_to_its_base_never_pushes(length):
    """All that the row subtracts is near the base, but was found at the end of both links."""
    hinge = {"kind": "revolute", "axis": [0, 0, 1.0], "inertia": BODY}
    R, p = Rotation.random(random_state=3).as_matrix(), [length, 0.0, 0.0]
    joints = [tf.Joint("a", R=R, **hinge), *(tf.Joint(x, parent=i, p=p, **hinge) for i, x in enumerate("bc"))]
    for angle in (0.0, 1.0, 3.0):
        wall = [Contact(Sphere(2, radius=0.2), Plane(-1, R @ [np.cos(angle), np.sin(angle), 0.0]))]
        stepper = Stepper(tf.Model(joints), wall, h=0.01)
        with pytest.raises(StepError, match="no motion changes that here"):
            stepper.step([angle, np.pi, 0.4], np.zeros(3))


def test_a_facet_of_friction_that_the_normal_cancels_never_pushes():
    """A slide at the angle of friction: n - mu t moves nothing, while n does."""
    for angle in np.linspace(0.2, 1.3, 12):
        axis = np.array([np.cos(angle), 0.0, np.sin(angle)])
        model = tf.Model([tf.Joint("slide", "prismatic", axis=axis, inertia=BODY)])
        mu = np.tan(angle)
        contact = [Contact(Sphere(0, radius=0.1), Plane(-1, point=[0, 0, -0.15]), mu)]
        step = Stepper(model, contact, h=0.01).step([0.0], [-1.0])
        assert abs(step.v[0]) <= 10.0
        assert (np.abs(step.solution.problem.D.toarray()) > 1e-3).sum(axis=0)[0] == 3
        assert np.count_nonzero(step.solution.problem.D.toarray()) == 3
        with pytest.raises(
            StepError, match=r"INFEASIBLE: contacts\[0\] of 'slide' with the base cannot be fulfilled"
        ):
            Stepper(model, contact, h=0.01).step([-0.5], [-1.0])


def hinges_on_one_axis(far, gravity):
    """Return two hinges on one axis and a loop that holds a point on it: none of its rows has leverage."""
    R, p = Rotation.random(random_state=5).as_matrix(), far * np.array([1.0, -2.0, 0.5])
    axis = Rotation.random(random_state=6).as_matrix()[0]
    joints = [tf.Joint(name, "revolute", R=R, p=p, axis=axis, inertia=BODY) for name in "ab"]
    loop = tf.Loop("pin", "spherical", 0, 1, p1=0.3 * axis, p2=0.3 * axis)
    return tf.Model(joints, gravity, loops=[loop]), axis


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize("gravity", [[0.0, 0.0, -9.81], np.zeros(3)])
def test_loops_and_rigid_contacts_without_leverage_do_nothing(far, gravity):
    model, axis = hinges_on_one_axis(far, gravity)
    free = tf.Model(model.joints, gravity)
    held = RigidContact(tf.Frame("held", 0, p=0.2 * axis))
    rng = np.random.default_rng(0)
    q, v, tau = rng.normal(size=(3, 9, 2))
    expected = tf.forward_dynamics(free, q, v, tau)
    assert not constraints.loop_rows(model, q).data.any()
    for contacts in ((), (held,)):
        a, force = constraints.forward_dynamics(model, q, v, tau, contacts=contacts)
        np.testing.assert_allclose(a, expected, rtol=1e-12)
        assert not force.any()
        one, force = constraints.forward_dynamics(model, q[0], v[0], tau[0], contacts=contacts)
        np.testing.assert_allclose(one, expected[0], rtol=1e-12)
        assert not force.any()
        derivatives = constraints.forward_dynamics_derivatives(model, q, v, tau, contacts=contacts)
        np.testing.assert_allclose(
            derivatives[2], tf.forward_dynamics_derivatives(free, q, v, tau)[2], rtol=1e-9
        )
    for state in zip(q, v, strict=True):
        step, other = Stepper(model).step(*state), Stepper(free).step(*state)
        np.testing.assert_allclose(step.v, other.v, rtol=1e-10)
        assert not step.solution.gamma_c.any()
    rest = Stepper(model, gyroscopic="explicit").step(q[0], np.zeros(2))
    assert rest.solution.status is Status.SOLVED


def test_a_drive_of_a_loop_without_leverage_is_named():
    model, _ = hinges_on_one_axis(1.0, [0.0, 0.0, -9.81])
    stepper = Stepper(model, drives=[Drive("pin", lambda t: (0.5 * t, 0.5, 0.0), 1)])
    with pytest.raises(StepError, match=r"INFEASIBLE: drives\[0\] of 'pin' cannot be fulfilled"):
        stepper.step([0.1, 0.2], np.zeros(2))


def test_limits_and_drives_that_contradict_each_other_are_named():
    hinge = tf.Joint("hinge", "revolute", axis=[0, 0, 1.0], lower=-1.0, upper=1.0, inertia=BODY)
    stepper = Stepper(tf.Model([hinge]), h=0.01, drives=[Drive("hinge", lambda t: (1.0 + t, 1.0, 0.0))])
    with pytest.raises(StepError, match=r"drives\[0\] of 'hinge', the upper limit of joint 'hinge'"):
        stepper.step([1.0], [0.0])


@pytest.mark.parametrize("friction", ["pyramid", "box"])
def test_compiled_steps_have_the_bits_of_single_ones_where_rows_have_no_leverage(friction):
    model = pair()
    contacts = contacts_between([Sphere(0, radius=0.1), Sphere(1, radius=0.1)], [Plane()], mu=0.5)
    stepper, single = (Stepper(model, contacts, h=0.01, friction=friction) for _ in range(2))
    q, v = np.array([0, 0, 0.3, 0, 0, 0, 1.0, 0.5]), np.zeros(7)
    run = stepper.run(q, v, 60, keep_steps=False)
    for k in range(60):
        step = single.step(q, v)
        q, v = step.q, step.v
        assert np.array_equal(run.q[k + 1], q)
        assert np.array_equal(run.v[k + 1], v)


def test_rows_between_bodies_of_one_tree_do_not_depend_on_where_it_is():
    rng = np.random.default_rng(0)
    contact = [Contact(Sphere(1, [0.3, 0.1, 0.2], 0.1), Sphere(2, [0.2, 0, 0.1], 0.2))]
    joints = [tf.Joint("root", "freeflyer", inertia=BODY)]
    joints += [
        tf.Joint(name, "revolute", 0, p=p, axis=[0.6, 0.8, 0], inertia=BODY)
        for name, p in zip("ab", rng.normal(size=(2, 3)), strict=True)
    ]
    model, rows = tf.Model(joints), []
    for far in FAR:
        q = np.array([far, -2 * far, far, 0.5, 0.5, 0.5, 0.5, 0.3, -0.4])
        rows.append(Contacts(model, contact).near(BodyMotions(model, q)).data)
    np.testing.assert_allclose(rows[1:], np.broadcast_to(rows[0], (3, *rows[0].shape)), rtol=0, atol=1e-14)
