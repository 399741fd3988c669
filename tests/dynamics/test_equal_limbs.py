"""Compare one configuration, whose equal limbs are computed side by side, with batches."""

import numpy as np
import pytest
from helpers.bundled_robots import bundled_robot
from helpers.dynamics_cases import arguments
from helpers.model_cases import random_axis, random_inertia

import treefactor as tf
from treefactor.dynamics._body_structs import TREE_TURNS
from treefactor.dynamics.bodies import layout_of
from treefactor.quantities.functions import equation_of_motion

pytestmark = pytest.mark.isa

ARM = "revolute", "continuous", "universal", "helical", "spherical"
LEFT_HAND, RIGHT_HAND = ("prismatic", "revolute", "revolute"), ("revolute", "prismatic", "helical")
LEG = "revolute", "planar", "translation", "revolute"
WHEELS = ("continuous",) * 5
WITHOUT_AXIS = "freeflyer", "spherical", "planar", "translation"


ALMOST_EQUAL = {  # limbs, each of kinds of joints, whose bodies differ in one thing only
    "wheels and flaps": [("revolute", "continuous")] * 2 + [("revolute", "revolute")] * 2,
    "three freedoms": [("revolute", "planar")] * 2 + [("revolute", "translation")] * 2,
    "joints of two bodies": [("universal", "revolute")] * 2 + [("revolute", "revolute", "revolute")] * 2,
    "followers of cosines": [("continuous", "follower")] * 2 + [("continuous", "revolute")] * 2,
    "screws": [("revolute", "helical")] * 2,
}


def new_joint(rng, kind, parent, number, turn, **options):
    """Return a random joint in turned axes of its parent; a helical one has any axis and pitch."""
    axis, pitch = [0, 0, 1.0], 0.0
    if kind == "helical":
        axis, pitch = random_axis(kind, rng), rng.uniform(0.2, 0.4)
    elif kind == "universal":
        axis = [[0, 0, 1.0], [0, 1.0, 0]]
    elif kind in WITHOUT_AXIS:
        axis = None
    body = random_inertia(rng), rng.uniform()
    return tf.Joint(f"{kind} {number}", kind, parent, turn, rng.normal(size=3), axis, pitch, *body, **options)


def with_limbs(limbs, trunk):
    """Return a model of limbs on a trunk or the base; a "follower" follows the first joint of its limb."""
    rng = np.random.default_rng(7)
    joints = [new_joint(rng, "freeflyer", -1, 0, np.eye(3))] if trunk else []
    for limb in limbs:
        parent, first = 0 if trunk else -1, len(joints)
        for turn, kind in zip(TREE_TURNS, limb, strict=False):
            options = {}
            if kind == "follower":
                kind, options["mimic"] = "revolute", tf.Mimic(first, *rng.normal(size=2))
            joints.append(new_joint(rng, kind, parent, len(joints), turn, **options))
            parent = len(joints) - 1
    return tf.Model(joints)


def humanoid(mimic=None):
    """Return a model with arms whose hands differ in kind and order of fingers, five wheels, legs, flaps.

    Its limbs are numbered so that no child of the trunk or of a hand comes where its equal one does. The axes
    of the flaps lie differently: they are no equal limbs.
    """
    rng = np.random.default_rng(5)
    joints = []

    def add(kind, parent, place, **options):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0] if place % 3 == 2 else TREE_TURNS[place % 6]
        turn = turn * np.linalg.det(turn)
        joints.append(new_joint(rng, kind, parent, len(joints), turn, **options))
        return len(joints) - 1

    def chain(kinds, parent):
        for place, kind in enumerate(kinds):
            parent = add(kind, parent, place)
        return parent

    trunk = add("freeflyer", -1, 0)
    chain(LEG, trunk)
    chest = add("revolute", trunk, 4)
    hands = [chain(ARM, chest), chain(ARM, chest)]
    for place in range(3):
        for hand, kinds in zip(hands, (LEFT_HAND, RIGHT_HAND), strict=True):
            add("revolute", add(kinds[place], hand, 1), 3)
    for kind in WHEELS:
        add(kind, trunk, 1)
    last = chain(LEG, trunk)
    for place in (2, 0, 4):
        add("revolute", trunk, place)
    if mimic is not None:
        add("revolute", last, 1, mimic=mimic)
        add("revolute", 4, 1, mimic=mimic)
    return tf.Model(joints)


MODEL = humanoid()
FOLLOWERS = humanoid(tf.Mimic(1, 0.7, 0.2))


def assert_bits_of_a_batch(model):
    """Assert that one configuration, its limbs in lanes, has the bits of a batch."""
    assert model.bodies.limb_lanes
    q, v, x, fext = arguments(model, size=(3,))
    calls = [
        lambda k: tf.rnea(model, q[k], v[k], x[k]),
        lambda k: tf.rnea(model, q[k], v[k], x[k], fext=fext[k]),
        lambda k: tf.bias(model, q[k], v[k]),
        lambda k: tf.h_times(model, q[k], x[k]),
        lambda k: tf.crba(model, q[k]),
        lambda k: equation_of_motion(model, q[k], v[k], x[k], fext=fext[k]),
    ]
    if not any(joint.mimic for joint in model.joints):
        calls.append(lambda k: tf.aba(model, q[k], v[k], x[k]))
        calls.append(lambda k: tf.aba(model, q[k], v[k], x[k], fext=fext[k]))
    for call in calls:
        batch = call(slice(None))
        for k in range(3):
            np.testing.assert_array_equal(call(k), batch[k])


@pytest.mark.parametrize("model", [MODEL, FOLLOWERS], ids=["free", "followers"])
def test_one_configuration_has_the_bits_of_a_batch(model):
    assert_bits_of_a_batch(model)


@pytest.mark.parametrize("name", ALMOST_EQUAL)
def test_almost_equal_limbs_have_the_bits_of_a_batch(name):
    model = with_limbs(ALMOST_EQUAL[name], trunk=True)
    assert_bits_of_a_batch(model)


def test_limbs_of_the_base_have_the_bits_of_a_batch():
    assert_bits_of_a_batch(with_limbs([("revolute", "prismatic")] * 5, trunk=False))


def test_robots_whose_limbs_are_equal():
    floating = {"solo12": True, "talos_reduced": True, "ur5_robot": False}
    models = {name: tf.Model.from_urdf(bundled_robot(name), floating=free) for name, free in floating.items()}
    lanes = {name: model.bodies.limb_lanes for name, model in models.items()}
    legs = 2 if tf.show_config("dicts")["used"] == "baseline" else 4
    assert lanes == {"solo12": legs, "talos_reduced": 2, "ur5_robot": 0}


def test_legs_whose_axes_are_rounded_differently_have_turns_of_one_kind():
    rng = np.random.default_rng(2)
    exact, rounded = np.eye(3), np.array([[1.0, -1e-9, 0.0], [1e-9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    joints = []
    for leg in ((exact, exact, exact), (exact, rounded, rounded)):
        for k, R in enumerate(leg):
            parent, axis = len(joints) - 1 if k else -1, [1.0, 0.0, 0.0]
            joints.append(
                tf.Joint(
                    f"{len(joints)}", "revolute", parent, R, [0, 0, -0.4], axis, 0.0, random_inertia(rng)
                )
            )
    model = tf.Model(joints)
    oblique = (layout_of(model).structs["turn"] == 0).tolist()
    assert oblique == [False, True, False, False, True, True]
    assert model.bodies.limb_lanes == 2
    q, v, x, _ = arguments(model, size=(2,))
    np.testing.assert_array_equal(tf.aba(model, q[1], v[1], x[1]), tf.aba(model, q, v, x)[1])


def test_changed_inertias_of_limbs():
    inertias = tf.Inertias(MODEL, MODEL.parameters)
    q, v, x, _ = arguments(MODEL)
    call = tf.bind(tf.aba, MODEL, q, v, x, out=np.empty(MODEL.nv), inertias=inertias)
    inertias.scale(None, "helical 9", 3.0)
    np.testing.assert_array_equal(call(), tf.aba(MODEL.with_parameters(inertias.parameters), q, v, x))


@pytest.mark.parametrize("finger", [17, 19, 27])
def test_a_limb_without_mass_is_named(finger):
    pi, armature = MODEL.parameters.copy(), MODEL.armature.copy()
    freedom = MODEL.idx_v[finger]
    pi[finger], armature[freedom] = 0.0, 0.0
    model = MODEL.with_parameters(pi, armature)
    with pytest.raises(tf.NotPositiveDefiniteError, match=MODEL.joints[finger].name):
        tf.aba(model, *arguments(MODEL)[:3])
