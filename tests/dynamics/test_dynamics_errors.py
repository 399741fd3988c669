"""Check bodies without mass, huge quaternions, and lanes that are factorized."""

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS, arguments

import treefactor as tf

pytestmark = [pytest.mark.wheel, pytest.mark.isa]


def test_huge_quaternions_raise_or_give_nan():
    model = MODELS["freeflyer"]
    q = arguments(model)[0]
    q[3:7] = 1e200
    with pytest.raises(tf.ConfigurationError):
        tf.crba(model, q)
    assert np.isnan(tf.crba(model, q[None], layout="packed")).all()


@pytest.mark.parametrize("method", ["aba", "factor"])
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "spherical"])
def test_a_leaf_without_mass_is_named(kind, method):
    body = tf.Inertia(1.0, [0.1, 0.2, 0.3], np.eye(3))
    axis = None if kind == "spherical" else [0, 0, 1]
    joints = [tf.Joint("arm", "revolute", axis=[0, 1, 0], inertia=body), tf.Joint("tip", kind, 0, axis=axis)]
    model = tf.Model(joints)
    q, v, x, _ = arguments(model, 1, 9)
    with pytest.raises(tf.NotPositiveDefiniteError, match="tip") as raised:
        tf.forward_dynamics(model, q[0], v[0], x[0], method=method)
    assert raised.value.row == model.nv - 1
    assert raised.value.name == model.tree.names[-1]
    assert np.isnan(tf.forward_dynamics(model, q, v, x, method=method)).all()
    armed = tf.Model([joints[0], tf.Joint("tip", kind, 0, axis=axis, armature=0.1)])
    assert np.isfinite(tf.forward_dynamics(armed, q, v, x, method=method)).all()


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 100])
def test_lanes_are_what_factor_takes(count):
    model = MODELS["all kinds"]
    q, _, x, _ = arguments(model, 1, count)
    f = tf.factor(tf.crba(model, q, layout="lanes"), model.tree, layout="lanes")
    direct = tf.factor(tf.crba(model, q), model.tree)
    np.testing.assert_array_equal(f.status[:count], direct.status)
    padded = np.zeros((len(f.status), model.nv))
    padded[:count] = x
    np.testing.assert_array_equal(f.solve(padded)[:count], direct.solve(x))
