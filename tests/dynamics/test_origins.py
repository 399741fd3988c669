"""Compare bodies far from the root body and from each other with Kane's sums in long double.

Deviations are relative to what is added up: levers as long as the links between, angles and forces that all
add up. Whatever a model's lengths are, rounding alone may leave a few units of 1e-16 of that.
"""

import sys
from dataclasses import replace

import numpy as np
import pytest
from helpers.dynamics_cases import free
from helpers.model_cases import models
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.spread import Spread

import treefactor as tf
from treefactor.dynamics import bodies
from treefactor.dynamics._body_structs import LONGEST_ARM
from treefactor.dynamics.bodies import table_of

pytestmark = pytest.mark.isa_all

ROUNDING = 1e-13  # more than 16 radii of gyration cost, squared, and sums of a few terms
SLIDES = {"prismatic": 1, "planar": 2, "translation": 3, "freeflyer": 3}
BATCH = 2
AXIS = {"revolute": [0, 1, 0], "prismatic": [0, 1, 0]}


@st.composite
def spread_models(draw):
    """Draw models with links of 1e-3 to 1e7 m, bodies of 1e-3 to 10 m, and states with slides as long."""
    model, rng = free(draw(models(6))), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    joints = []
    for joint in model.joints:
        size, inertia = 10.0 ** rng.uniform(-3, 1), joint.inertia
        smaller = tf.Inertia(inertia.mass, size * inertia.com, size**2 * inertia.tensor)
        link = joint.p / np.linalg.norm(joint.p) * 10.0 ** rng.uniform(-3, 7)
        joints.append(replace(joint, p=link, inertia=smaller, armature=size**2 * joint.armature))
    spread = tf.Model(joints, model.gravity)
    reach = np.full(model.nq, 3.0)
    q = tf.random_configuration(spread, rng, -reach, reach, BATCH)
    for joint, at in zip(joints, spread.idx_q, strict=True):
        q[:, at : at + SLIDES.get(joint.kind, 0)] *= 10.0 ** rng.uniform(-3, 7)
    v, x = rng.normal(size=(2, BATCH, model.nv))
    return spread, q, v, x, rng.normal(size=(BATCH, model.njoints, 6))


def off(own, expected, size):
    """Return the largest deviation, relative to the sizes."""
    assert np.isfinite(own).all()
    return float(np.max(np.abs(own - expected) / np.where(size > 0, size, 1), initial=0.0))


def is_singular(H):
    """Return whether H is singular in double precision, whatever the units of its freedoms."""
    root = np.sqrt(np.diag(H))
    return np.linalg.eigvalsh((H / np.outer(root, root)).astype(float))[0] < ROUNDING


def one_by_one(model, function, q, *rest):
    """Return stacked results of single calls; NaN if a call raises."""
    results = []
    for i in range(len(q)):
        try:
            results.append(function(model, q[i], *(x if isinstance(x, str | None) else x[i] for x in rest)))
        except tf.NotPositiveDefiniteError:
            results.append(np.full(model.nv, np.nan))
    return np.array(results)


def at_once(model, function, *arrays):
    """Return the result of one batch call."""
    return function(model, *arrays)


def assert_exact(model, q, v, x, fext, compute):
    """Assert that all functions, called by each of ``compute``, lose no digit in any state."""
    exact = [Spread(model, each) for each in q]
    zero = 0 * v
    expected = {
        tf.rnea: [at.rnea(*each) for at, *each in zip(exact, v, x, fext, strict=True)],
        tf.bias: [at.rnea(*each) for at, *each in zip(exact, v, zero, fext, strict=True)],
        tf.h_times: [at.rnea(*each, gravity=False) for at, *each in zip(exact, zero, x, strict=True)],
    }
    given_ = {tf.rnea: (q, v, x, fext), tf.bias: (q, v, fext), tf.h_times: (q, x)}
    inertias = [at.crba() for at in exact]
    scales = [np.sqrt(np.diag(size)) for _, size in inertias]
    for call in compute:
        for own, (H, _), scale in zip(call(model, tf.crba, q), inertias, scales, strict=True):
            assert off(own, H, np.outer(scale, scale)) < ROUNDING
        for function, wanted in expected.items():
            for own, (tau, size) in zip(call(model, function, *given_[function]), wanted, strict=True):
                assert off(own, tau, size) < ROUNDING
        tau = call(model, tf.rnea, q, v, x, fext)
        for method in ("factor", "aba"):
            a = call(model, tf.forward_dynamics, q, v, tau, fext, method)
            for i in range(len(q)):
                if np.isnan(a[i]).any():
                    assert is_singular(inertias[i][0])
                    continue
                back, size = exact[i].rnea(v[i], a[i], fext[i])
                assert off(back, tau[i], size + scales[i] * (scales[i] @ np.abs(a[i]))) < ROUNDING


@settings(max_examples=20)
@given(spread_models())
def test_bodies_far_from_each_other_lose_no_digit(case):
    assert_exact(*case, compute=(one_by_one, at_once))


@pytest.mark.slow
@settings(max_examples=500)
@given(spread_models())
def test_many_models(case):
    assert_exact(*case, compute=(one_by_one, at_once))


def test_a_spherical_joint_on_two_rails():
    """Accelerations equal those of the same body at the root, however long the rails are."""
    body = tf.Inertia(1.0, [0.1, 0, 0], np.diag([0.01, 0.02, 0.03]))
    rails = [tf.Joint("x", "prismatic", axis=[1, 0, 0]), tf.Joint("y", "prismatic", 0, axis=[0, 1, 0])]
    model = tf.Model([*rails, tf.Joint("ball", "spherical", 1, inertia=body)])
    quaternion = np.array([0.5, 0.1, -0.7, 0.5]) / np.linalg.norm([0.5, 0.1, -0.7, 0.5])
    v, tau = np.array([1.0, 2, 3, 4, 5]), np.array([1.0, 0, 1, 2, 3])
    for distance in (1e3, 1e6, 7e6):
        near, far = (np.array([d, d, *quaternion]) for d in (0.0, distance))
        for method in ("factor", "aba"):
            qdd = [tf.forward_dynamics(model, q, v, tau, method=method) for q in (near, far)]
            np.testing.assert_allclose(*qdd, rtol=1e-12)


@pytest.mark.parametrize("bend", [0.05, 3.0])
def test_a_chain_of_200_links(bend):
    """Accelerations deviate no more than a stable solution of the dense system does."""
    rod = tf.Inertia(1.0, [0, 0, 0.05], 1e-3 * np.eye(3))
    joints = [
        tf.Joint(f"j{i}", "revolute", i - 1, p=[0, 0, 0.1], axis=np.eye(3)[i % 2], inertia=rod)
        for i in range(200)
    ]
    model, rng = tf.Model(joints), np.random.default_rng(1)
    q, v, tau = rng.normal(size=(3, 200)) * [[bend], [0.1], [1.0]]
    exact = Spread(model, q)
    H, _ = exact.crba()
    bias, _ = exact.rnea(v, 0 * v)
    scale = np.sqrt(np.diag(H))
    assert off(tf.crba(model, q), H, np.outer(scale, scale)) < 1e-13
    assert off(tf.bias(model, q, v), bias, np.abs(bias).max()) < 1e-14
    for method in ("factor", "aba"):
        a = tf.forward_dynamics(model, q, v, tau, method=method)
        assert off(H @ a + bias, tau, scale * (scale @ np.abs(a))) < 1e-15


def test_no_arm_is_long():
    """Local origins are at the root for near bodies, at joints far from the last one, and below slides."""
    rod = tf.Inertia(1.0, [0, 0, 0.5], 0.01 * np.eye(3))

    def origins(*joints):
        chain = [
            tf.Joint(f"j{i}", kind, i - 1, p=[p, 0, 0], axis=AXIS.get(kind), inertia=rod)
            for i, (kind, p) in enumerate(joints)
        ]
        return [body["local"] for body in table_of(tf.Model(chain))]

    near, far = LONGEST_ARM * 0.5, LONGEST_ARM * 0.52  # a rod's radius of gyration is sqrt(0.26)
    assert origins(("revolute", 9.0), ("revolute", near)) == [0, 0]
    assert origins(("revolute", 9.0), ("revolute", far), ("revolute", 0.1)) == [0, 1, 1]
    rails = ("prismatic", 0.0), ("prismatic", 0.0)
    assert origins(("revolute", 0.0), *rails, ("spherical", 0.0)) == [0, 0, 0, 3]
    assert origins(("prismatic", 0.0), ("revolute", 0.0), ("prismatic", 0.0)) == [0, 0, 0]


def test_a_model_of_twice_as_many_joints_takes_twice_as_many_steps():
    """Counts the lines that Python executes to compile the bodies of a star."""

    def count(joints):
        star = tf.Model([tf.Joint(f"j{i}", "revolute", min(i, 1) - 1, axis=[0, 1, 0]) for i in range(joints)])
        steps = 0

        def trace(frame, event, argument):
            nonlocal steps
            if frame.f_code.co_filename != bodies.__file__:
                return None
            steps += 1
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            bodies.bodies(star)
        finally:
            sys.settrace(before)
        return steps

    assert count(200) < 2.05 * count(100)


def test_bodies_below_a_free_flyer_have_its_unit_motions():
    joints = [
        tf.Joint("base", "freeflyer"),
        tf.Joint("leg", "revolute", 0, axis=[0, 1, 0]),
        tf.Joint("slide", "prismatic", axis=[0, 1, 0]),
    ]
    assert [body["copied"] for body in table_of(tf.Model(joints, strict=False))] == [6, 6, 0]
