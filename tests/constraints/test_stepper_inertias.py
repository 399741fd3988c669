"""Test steppers and loops of models with other inertias."""

import numpy as np
import pytest
from helpers.loop_cases import closed_velocity

import treefactor as tf
from treefactor import constraints, mechanisms
from treefactor.constraints import Contact, Stepper, box
from treefactor.exceptions import ShapeError

CUBE = tf.Inertia(1.0, tensor=np.eye(3) / 6)
BRICK = tf.Inertia(1.3, [0.02, -0.01, 0.05], np.diag([0.2, 0.3, 0.25]))
ARMATURE = np.array([0, 0, 0, 0, 0, 0, 0.3])


def lamp(inertia=CUBE, armature=0.1):
    """Return a free box with a hinged one on top."""
    arm = tf.Joint("arm", "revolute", 0, p=[0, 0, 0.5], axis=[0, 1, 0], inertia=inertia, armature=armature)
    return tf.Model([tf.Joint("foot", "freeflyer", inertia=inertia), arm])


def changed(model, armature=ARMATURE):
    return tf.Inertias(model, np.stack([BRICK.parameters] * 2), armature=armature)


def run(model, inertias=None, steps=60, **options):
    contacts = [Contact(corner, mu=0.4) for corner in box(0, [1.0, 1.0, 1.0])]
    q = np.array([0, 0, 0.7, 0, 0, 0, 1, 0.4])
    v = np.array([0.5, 0, 0, 1.0, 2.0, 3.0, 1.0])
    return Stepper(model, contacts, h=5e-3, inertias=inertias, **options).run(q, v, steps)


@pytest.mark.parametrize("gyroscopic", ["implicit", "explicit"])
def test_inertias_take_the_place_of_the_models(gyroscopic):
    model = lamp()
    changed_run = run(model, changed(model), gyroscopic=gyroscopic)
    bits = run(model.with_parameters(changed(model).parameters, ARMATURE), gyroscopic=gyroscopic)
    assert np.array_equal(changed_run.q, bits.q)
    assert np.array_equal(changed_run.v, bits.v)
    built = run(lamp(BRICK, 0.3), gyroscopic=gyroscopic)
    np.testing.assert_allclose(changed_run.q, built.q, rtol=0, atol=1e-8)
    assert np.abs(changed_run.q - run(model, gyroscopic=gyroscopic).q).max() > 1e-3


def test_parameters_without_rotors_keep_the_models_own():
    model = lamp()
    plain = run(model, np.stack([BRICK.parameters] * 2), steps=10)
    np.testing.assert_allclose(plain.v, run(lamp(BRICK, 0.1), steps=10).v, rtol=0, atol=1e-10)


def test_steppers_keep_the_inertias_that_they_were_made_with():
    model, pi = lamp(), np.stack([BRICK.parameters] * 2)
    inertias = tf.Inertias(model, pi)
    stepper, q, v = Stepper(model, inertias=inertias), np.r_[0, 0, 2.0, 0, 0, 0, 1, 0.4], np.arange(7.0)
    before = stepper.step(q, v).v
    inertias.scale(None, None, 5.0)
    inertias.set(None, "arm", CUBE)
    pi[:] = 0.0
    assert np.array_equal(stepper.step(q, v).v, before)
    assert np.array_equal(stepper.model.parameters, np.stack([BRICK.parameters] * 2))
    assert np.abs(Stepper(model, inertias=inertias).step(q, v).v - before).max() > 1e-4


def test_several_sets_are_refused():
    model = lamp()
    pi = np.stack([model.parameters] * 3)
    for inertias in (pi, tf.Inertias(model, pi), tf.Inertias(model, pi[:1], which=[0, 0])):
        with pytest.raises(ValueError, match=r"expected one set of inertias, of shape \(2, 10\)"):
            Stepper(model, inertias=inertias)
    with pytest.raises(ShapeError, match=r"inertias must have shape \(\.\.\., 2, 10\)"):
        Stepper(model, inertias=pi[0, :1])
    with pytest.raises(ValueError, match="the inertias belong to"):
        Stepper(mechanisms.four_bar().model, inertias=changed(model))


def test_loops_of_changed_models_have_the_new_inertias():
    """The accelerations of a closed loop fulfil the equations of motion of the changed bodies."""
    mechanism = mechanisms.four_bar()
    model, q = mechanism.model, mechanism.close(mechanism.rest)
    pi = model.parameters * np.random.default_rng(0).uniform(0.5, 2.0, (model.njoints, 1))
    changed = model.with_parameters(pi)
    v, tau = closed_velocity(changed, q), np.arange(1.0, model.nv + 1)
    solution = constraints.forward_dynamics(changed, q, v, tau)
    a = solution[0]
    J = constraints.loop_rows(changed, q).dense()
    force = tf.rnea(model, q, v, a, inertias=pi) - tau
    np.testing.assert_allclose(force - J.T @ np.linalg.lstsq(J.T, force, rcond=None)[0], 0.0, atol=1e-8)
    assert np.abs(a - constraints.forward_dynamics(model, q, v, tau)[0]).max() > 1e-3


@pytest.mark.parametrize("keep_steps", [True, False])
@pytest.mark.parametrize("friction", ["pyramid", "box"])
def test_worlds_have_their_own_inertias_and_friction(friction, keep_steps):
    model, count, steps, rng = lamp(), 4, 40, np.random.default_rng(0)
    corners = box(0, [1.0, 1.0, 1.0])
    pi = np.stack([model.parameters] * count) * rng.uniform(0.5, 2.0, (count, 1, 1))
    inertias = tf.Inertias(model, pi, armature=np.abs(rng.normal(size=(count, 1))) * ARMATURE)
    mu = rng.uniform(0.1, 0.8, (count, 8)) * [[1], [1], [0], [1]]
    q, v = np.array([0, 0, 0.55, 0, 0, 0, 1, 0.4]), np.array([0.5, 0, 0, 0.3, 0.2, 1.0, 1.0])
    stepper = Stepper(model, [Contact(corner, mu=0.4) for corner in corners], h=5e-3, friction=friction)
    options = {"keep_steps": keep_steps, "num_threads": 2}
    together = stepper.run(q, v, steps, inertias=inertias, mu=mu, **options)
    assert together.q.shape == (count, steps + 1, 8)
    for k in range(count):
        contacts = [Contact(corner, mu=x) for corner, x in zip(corners, mu[k], strict=True)]
        alone = Stepper(model, contacts, h=5e-3, friction=friction, inertias=inertias.part(k))
        expected = alone.run(q, v, steps)
        np.testing.assert_array_equal(together.q[k], expected.q)
        np.testing.assert_array_equal(together.v[k], expected.v)
        one = stepper.run(q, v, steps, inertias=inertias.part(k), mu=mu[k], keep_steps=keep_steps)
        np.testing.assert_array_equal(one.q, expected.q)
        vars(stepper).update(_last=None, _pressed=np.zeros(8))
    assert len({x.tobytes() for x in together.q[:, -1]}) == count
    slippery = stepper.run(q.reshape(1, 1, 8), v, steps, mu=np.zeros(8), **options)
    np.testing.assert_array_equal(
        slippery.q[0, 0], Stepper(model, [Contact(c) for c in corners], h=5e-3).run(q, v, steps).q
    )
    grid = stepper.run(q, v, 3, inertias=pi.reshape(2, 2, 2, 10), **options)
    np.testing.assert_array_equal(grid.q[1, 0], stepper.run(q, v, 3, inertias=pi[2:], **options).q[0])


def test_inertias_and_friction_of_worlds_must_fit():
    model = lamp()
    stepper = Stepper(model, [Contact(corner, mu=0.4) for corner in box(0, [1.0, 1.0, 1.0])])
    q, v = np.tile([0, 0, 0.55, 0, 0, 0, 1, 0.4], (3, 1)), np.zeros(7)
    with pytest.raises(ShapeError, match=r"mu must have shape \(3, 8\), got \(8, 3\)"):
        stepper.run(q, v, 1, mu=np.zeros((8, 3)))
    with pytest.raises(ValueError, match=r"mu must not be negative, got -0\.1"):
        stepper.run(q, v, 1, mu=np.full(8, -0.1))
    with pytest.raises(ShapeError, match=r"inertias have leading axes \(2,\), the other arguments \(3,\)"):
        stepper.run(q, v, 1, inertias=np.stack([model.parameters] * 2))
    with pytest.raises(ShapeError, match=r"inertias must have shape \(\.\.\., 2, 10\)"):
        stepper.run(q, v, 1, inertias=np.zeros((3, 10)))
    with pytest.raises(ValueError, match=r"belong to .* of other joints"):
        stepper.run(q, v, 1, inertias=tf.Inertias(tf.Model([]), np.zeros((0, 10))))
