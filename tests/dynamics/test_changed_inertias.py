"""Inertias that change in place give the bits of models with these parameters, from every function."""

import copy
import pickle

import numpy as np
import pytest
from helpers.declared import cases
from helpers.dynamics_cases import MODELS, arguments
from helpers.other_robots import other_robot
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import treefactor as tf
from treefactor.model.parameters import from_log_cholesky

pytestmark = pytest.mark.isa

KEYS = ["all kinds", "followers"]


def cases_of(key):
    """Return the cases of functions that take inertias."""
    return cases({key: MODELS[key]}, lambda case: case.quantity.inertias and case.is_plain, undeclared=True)[
        "argvalues"
    ]


def rows(case, size, **options):
    """Return the results of a batch of states."""
    return case.rows(case.call(case.arguments(2, (size,)), **options), size)


def parameters(model, *size):
    """Return parameters of bodies, other ones for every set, and armature."""
    rng = np.random.default_rng(3)
    pi = from_log_cholesky(0.5 * rng.normal(size=(*size, model.njoints, 10)))
    return pi, rng.random((*size, model.nv))


def assert_elements(case, size, inertias, pi, armature):
    """Assert that every element has the bits that a model with its parameters has in such a batch."""
    own = rows(case, size, inertias=inertias)
    for k in range(size):
        changed = case._replace(model=case.model.with_parameters(pi[k], armature[k]))
        for one, other in zip(own, rows(changed, size), strict=True):
            np.testing.assert_array_equal(one[k], other[k], err_msg=case.quantity.name)


@pytest.mark.parametrize("key", KEYS)
def test_changes_leave_nothing_stale(key):
    model, size = MODELS[key], 11
    pi, armature = parameters(model, size)
    inertias = tf.Inertias(model, pi, armature)
    for case in cases_of(key):  # compiled functions are kept from here on
        rows(case, size, inertias=inertias)
    load = tf.Inertia(2.0, [0.1, 0.2, 0.3], np.diag([0.1, 0.2, 0.25]))
    inertias.set([0, 9], "j1", 2 * pi[3, 1])
    inertias.scale(slice(2, 10), "j2", 1.5)
    inertias.add(10, 0, load)
    pi[[0, 9], 1] = 2 * pi[3, 1]
    pi[2:10, 2] *= 1.5
    pi[10, 0] += load.parameters
    np.testing.assert_array_equal(inertias.parameters, pi)
    for case in cases_of(key):
        assert_elements(case, size, inertias, pi, armature)


@pytest.mark.parametrize("order", ["sorted", "unsorted"])
@pytest.mark.parametrize("key", KEYS)
def test_elements_that_choose_sets_have_their_bits(key, order):
    model, size = MODELS[key], 27
    pi, armature = parameters(model, 3)
    which = np.random.default_rng(4).integers(0, 3, size)
    which = np.sort(which) if order == "sorted" else which
    inertias = tf.Inertias(model, pi, armature, which)
    assert (len(inertias), inertias.shape, inertias.sets) == (size, (size,), (3,))
    inertias.scale(1, None, 0.7)
    pi[1] *= 0.7
    for case in cases_of(key)[::3]:
        assert_elements(case, size, inertias, pi[which], armature[which])


def test_threads_and_bad_states_change_no_bit():
    model, size = MODELS["all kinds"], 600
    pi, armature = parameters(model, size)
    inertias = tf.Inertias(model, pi, armature)
    q, v, x, _ = arguments(model, 5, (size,))
    expected = tf.rnea(model, q, v, x, inertias=inertias)
    np.testing.assert_array_equal(tf.rnea(model, q, v, x, inertias=inertias, num_threads=2), expected)
    v[[3, 8, 599]] = np.nan
    forces = tf.rnea(model, q, v, x, inertias=inertias, num_threads=2)
    good = np.isfinite(v).all(-1)
    assert np.isnan(forces[~good]).all()
    np.testing.assert_array_equal(forces[good], expected[good])


def test_bodies_that_cannot_be_disturb_no_neighbour():
    model, size = MODELS["freeflyer"], 19
    pi, armature = parameters(model, size)
    inertias = tf.Inertias(model, pi, armature)
    q, v, x, f = arguments(model, 6, (size,))
    accelerations, forces = (one(model, q, v, x, f, inertias=inertias) for one in (tf.aba, tf.rnea))
    inertias.scale([4, 18], "j6", -1e3)
    assert {(row, joint) for row, joint, _ in inertias.faults()} == {(4, "j6"), (18, "j6")}
    qdd = tf.aba(model, q, v, x, f, inertias=inertias)
    kept = np.delete(np.arange(size), [4, 18])
    assert np.isnan(qdd[[4, 18]]).all()
    np.testing.assert_array_equal(qdd[kept], accelerations[kept])
    tau = tf.rnea(model, q, v, x, f, inertias=inertias)
    assert np.isfinite(tau).all()
    np.testing.assert_array_equal(tau[kept], forces[kept])


def test_bound_calls_compute_with_changed_inertias():
    model = MODELS["followers"]
    inertias, (q, v, x, _) = tf.Inertias(model, model.parameters), arguments(model)
    bound = tf.bind(tf.rnea, model, q, v, x, out=np.empty(model.nv), inertias=inertias)
    np.testing.assert_array_equal(bound(), tf.rnea(model, q, v, x))
    inertias.scale(None, None, 2.0)
    changed = model.with_parameters(2 * model.parameters)
    np.testing.assert_array_equal(bound(), tf.rnea(changed, q, v, x))
    np.testing.assert_array_equal(tf.rnea(model, q, v, x, inertias=inertias), tf.rnea(changed, q, v, x))


class Changes(RuleBasedStateMachine):
    """Change sets in any order beside a plain model of what they must be."""

    rows = st.one_of(
        st.none(),
        st.integers(-5, 4),
        st.lists(st.integers(0, 4), min_size=1, max_size=5, unique=True),
        st.sampled_from([slice(1, 4), slice(None, None, 2)]),
    )
    one_joint = st.one_of(st.integers(0, 6), st.sampled_from(["j0", "j6"]))
    joints = st.one_of(st.none(), one_joint, st.lists(one_joint, max_size=3))
    seeds = st.integers(0, 2**32 - 1)

    @initialize(seed=seeds)
    def make(self, seed):
        self.model = MODELS["freeflyer"]
        pi, self.armature = parameters(self.model, 5)
        self.inertias = tf.Inertias(self.model, pi, self.armature)
        self.base, self.factor, self.payload = pi, np.ones(pi.shape), np.zeros(pi.shape)

    def chosen(self, rows, joint):
        mask = np.zeros(self.base.shape[:2], dtype=bool)
        rows = slice(None) if rows is None else rows
        for one in joint if isinstance(joint, list) else [joint]:
            mask[rows, slice(None) if one is None else self.model.numbers.get(one, one)] = True
        return mask

    @rule(rows=rows, joint=joints, seed=seeds)
    def set(self, rows, joint, seed):
        pi = from_log_cholesky(np.random.default_rng(seed).normal(size=10))
        self.inertias.set(rows, joint, tf.Inertia.from_parameters(pi) if seed % 2 else pi)
        pi = tf.Inertia.from_parameters(pi).parameters if seed % 2 else pi
        at = self.chosen(rows, joint)
        self.base[at], self.factor[at], self.payload[at] = pi, 1.0, 0.0

    @rule(rows=rows, joint=joints, factor=st.floats(0.1, 3.0))
    def scale(self, rows, joint, factor):
        self.inertias.scale(rows, joint, factor)
        self.factor[self.chosen(rows, joint)] = factor

    @rule(rows=rows, joint=joints, seed=seeds)
    def add(self, rows, joint, seed):
        payload = from_log_cholesky(np.random.default_rng(seed).normal(size=10))
        self.inertias.add(rows, joint, payload)
        self.payload[self.chosen(rows, joint)] = payload

    @rule()
    def copy(self):
        old, self.inertias = self.inertias, pickle.loads(pickle.dumps(self.inertias))
        old.set(None, None, 0 * self.base[0])

    @rule()
    def shallow_copy(self):
        old, self.inertias = self.inertias, copy.copy(self.inertias)
        old.scale(None, None, 0.0)

    @invariant()
    def has_the_bits_of_new_inertias(self):
        pi = self.factor * self.base + self.payload
        np.testing.assert_array_equal(self.inertias.parameters, pi)
        q, v, x, _ = arguments(self.model)
        fresh = tf.Inertias(self.model, pi, self.armature)
        tau = tf.rnea(self.model, q, v, x, inertias=self.inertias)
        np.testing.assert_array_equal(tau, tf.rnea(self.model, q, v, x, inertias=fresh))
        assert self.inertias.faults() == fresh.faults()


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=20, stateful_step_count=8, deadline=None)


def test_sets_can_have_several_axes():
    model = MODELS["freeflyer"]
    pi, armature = parameters(model, 2, 3)
    inertias = tf.Inertias(model, pi, armature)
    assert (inertias.shape, len(inertias), inertias.parameters.shape) == ((2, 3), 2, (2, 3, 7, 10))
    np.testing.assert_array_equal(inertias.armature, armature)
    inertias.scale((1, slice(None)), "j0", [1.0, 2.0, -1.0])
    pi[1, :, 0] *= np.array([1.0, 2.0, -1.0])[:, None]
    np.testing.assert_array_equal(inertias.parameters, pi)
    assert [(row, joint) for row, joint, _ in inertias.faults()] == [((1, 2), "j0")]
    q, v, x, _ = arguments(model)
    tau = tf.rnea(model, q, v, x, inertias=inertias)
    expected = tf.rnea(model.with_parameters(pi[1, 2], armature[1, 2]), q, v, x)
    np.testing.assert_array_equal(tau[1, 2], expected)


def test_batches_and_models_can_be_empty():
    model = MODELS["freeflyer"]
    q, v, x, _ = arguments(model, size=(0,))
    for inertias in (
        tf.Inertias(model, np.zeros((0, model.njoints, 10))),
        tf.Inertias(model, model.parameters[None], which=np.zeros(0, dtype=int)),
    ):
        inertias.scale(None, None, 2.0)
        assert len(inertias) == 0
        assert inertias.faults() == []
        assert tf.rnea(model, q, v, x, inertias=inertias).shape == (0, model.nv)
    nothing = MODELS["nothing"]
    assert tf.crba(nothing, np.zeros((3, 0)), inertias=np.zeros((3, 0, 10))).shape == (3, 0, 0)
    assert nothing.with_parameters(np.zeros((0, 10))).faults() == {}


def test_inertias_of_a_changed_model_replace_its_own():
    model = MODELS["followers"]
    changed, (q, v, x, _) = model.with_parameters(3 * model.parameters), arguments(model)
    tau = tf.rnea(changed, q, v, x, inertias=2 * model.parameters)
    np.testing.assert_array_equal(tau, tf.rnea(model, q, v, x, inertias=2 * model.parameters))


def test_factors_of_all_joints_broadcast_over_sets_and_joints():
    model = MODELS["freeflyer"]
    factor = np.random.default_rng(8).uniform(0.5, 2.0, (4, model.njoints))
    inertias = tf.Inertias(model, np.stack([model.parameters] * 4))
    for _ in range(2):  # repeated randomization does not compound
        inertias.scale(None, None, factor)
    np.testing.assert_array_equal(inertias.parameters, factor[..., None] * model.parameters)
    inertias.scale([True, False, False, True], None, factor[[0, 3], :1])
    np.testing.assert_array_equal(inertias.parameters[3], factor[3, 0] * model.parameters)
    np.testing.assert_array_equal(inertias.parameters[1], factor[1][:, None] * model.parameters)


def test_faults_name_rows_and_joints():
    model = MODELS["one"]
    one = tf.Inertias(model, -model.parameters, [-1.0])
    assert [row for row, _, _ in one.faults()] == [None, None]
    assert one.faults()[1] == (None, "j0", "armature -1 is negative")
    many = tf.Inertias(model, np.stack([model.parameters, 0 * model.parameters, -model.parameters]))
    assert [(row, joint) for row, joint, _ in many.faults()] == [(2, "j0")]
    assert repr(one) == "<Inertias of 'random': one set for 1 joints>"
    assert repr(many) == "<Inertias of 'random': 3 sets for 1 joints>"
    chosen = tf.Inertias(model, many.parameters, which=np.zeros((2, 4), int))
    assert repr(chosen) == "<Inertias of 'random': 3 sets for 1 joints, chosen by a batch of 2x4>"
    with pytest.raises(TypeError, match="no length"):
        len(one)


def test_inertias_of_a_copy_of_the_model_are_accepted():
    model = MODELS["followers"]
    q, v, x, _ = arguments(model)
    inertias = pickle.loads(pickle.dumps(tf.Inertias(model, 2 * model.parameters)))
    assert inertias.model is not model
    expected = tf.rnea(model.with_parameters(2 * model.parameters), q, v, x)
    np.testing.assert_array_equal(tf.rnea(model, q, v, x, inertias=inertias), expected)
    again = other_robot(model)  # of equal joints, with inertias and armature of its own
    np.testing.assert_allclose(tf.rnea(again, q, v, x, inertias=inertias), expected, rtol=1e-12, atol=1e-12)
    other = tf.Model(model.joints, [0, 0, 1.0])
    with pytest.raises(ValueError, match=r"the inertias belong to .* of other joints"):
        tf.rnea(other, q, v, x, inertias=inertias)


def test_getters_are_copies_and_arguments_are_copied():
    model = MODELS["one"]
    pi, armature, which = np.stack([model.parameters] * 2), np.ones((2, 1)), np.array([1, 0, 1])
    inertias = tf.Inertias(model, pi, armature, which)
    before = tf.crba(model, tf.neutral(model), inertias=inertias)
    pi[:], armature[:], which[:] = 0, 0, 0
    inertias.parameters[:], inertias.armature[:] = 0, 0
    np.testing.assert_array_equal(tf.crba(model, tf.neutral(model), inertias=inertias), before)


BAD = np.stack([MODELS["freeflyer"].parameters] * 3)
BAD[2, 4, 6] = np.nan


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda m, i: tf.Inertias(m, BAD), tf.NonFiniteError, "I_yy of joint 'j4' in row 2"),
        (lambda m, i: tf.Inertias(m, BAD[2]), tf.NonFiniteError, "I_yy of joint 'j4'$"),
        (lambda m, i: tf.Inertias(m, m.parameters[:3]), tf.ShapeError, r"\(..., 7, 10\), got \(3, 10\)"),
        (
            lambda m, i: tf.Inertias(m, m.parameters, [1.0]),
            tf.ShapeError,
            r"armature must have shape \(12,\), got",
        ),
        (lambda m, i: tf.Inertias(m, m.parameters, [np.inf] * 12), tf.NonFiniteError, r"armature\[0\]"),
        (lambda m, i: tf.Inertias(m, m.parameters, which=[0]), tf.ShapeError, "K, njoints, 10"),
        (lambda m, i: tf.Inertias(m, m.parameters[None], which=0), tf.ShapeError, "axes of a batch"),
        (lambda m, i: tf.Inertias(m, m.parameters[None], which=[0, 1]), IndexError, r"which\[1\] is 1"),
        (lambda m, i: tf.Inertias(m, m.parameters[None], which=[-1]), IndexError, r"which\[0\] is -1"),
        (lambda m, i: tf.Inertias(m, m.parameters[None], which=[0.5]), tf.DtypeError, "whole numbers"),
        (lambda m, i: tf.Inertias("m", m.parameters), TypeError, "model"),
        (lambda m, i: i.set(3, 0, m.parameters[0]), IndexError, "rows do not fit sets of shape"),
        (lambda m, i: i.set([0.5], 0, m.parameters[0]), IndexError, "rows"),
        (lambda m, i: i.set(0, 0, m.parameters), tf.ShapeError, r"pi must broadcast to shape \(10,\)"),
        (lambda m, i: i.set(None, "j4", BAD[:, 4]), tf.NonFiniteError, "I_yy of joint 'j4' in row 2"),
        (lambda m, i: i.set([2, 1], None, BAD[1:]), tf.NonFiniteError, "I_yy of joint 'j4' in row 1"),
        (lambda m, i: i.scale(0, "j9", 1.0), tf.InvalidModelError, "j9"),
        (lambda m, i: i.scale(0, -1, 1.0), tf.InvalidModelError, "the base has no parameters"),
        (lambda m, i: i.scale(1, 3, np.nan), tf.NonFiniteError, "joint 'j3' in row 1"),
        (lambda m, i: i.scale(1, 3, 1e308), tf.NonFiniteError, "joint 'j3' in row 1"),
        (lambda m, i: i.add(1, 3, [1.0]), tf.ShapeError, "payload must broadcast"),
        (lambda m, i: i.add(1, 3, 1.0), tf.ShapeError, "payload must broadcast"),
        (lambda m, i: i.add(1, 3, np.ones(9)), tf.ShapeError, "payload must broadcast"),
        (lambda m, i: i.add(np.ma.array([1]), 3, np.ones(10)), tf.DtypeError, "rows is a masked array"),
    ],
)
def test_wrong_arguments_are_named_and_change_nothing(make, error, text):
    model = MODELS["freeflyer"]
    inertias = tf.Inertias(model, np.stack([1e2 * model.parameters] * 3))
    with pytest.raises(error, match=text):
        make(model, inertias)
    np.testing.assert_array_equal(inertias.parameters, np.stack([1e2 * model.parameters] * 3))
    q, v, x, _ = arguments(model)
    np.testing.assert_array_equal(
        tf.rnea(model, q, v, x, inertias=inertias)[0],
        tf.rnea(model.with_parameters(1e2 * model.parameters), q, v, x),
    )
