"""Compare rows of H from forces that are carried together, for one configuration, with those of lanes."""

import numpy as np
import pytest
from helpers.model_cases import random_inertia

import treefactor as tf
from treefactor.dynamics._body_structs import TREE_TURNS
from treefactor.dynamics.bodies import layout_of

pytestmark = pytest.mark.isa

# a hand: fingers below a wrist that the joints of an arm move
PARENTS = [-1, 0, 1, 2, 3, 4, 5, 6, 7, 4, 9, 10, 11, 4, 13, 14, 15, 4, 17, 18, 19]
KINDS = {0: "freeflyer", 2: "spherical", 6: "prismatic", 10: "continuous", 14: "planar", 18: "helical"}
NUMBERED_WITH_GAPS = [*range(9), 9, 13, 10, 14, 11, 15, 12, 16, *range(17, 21)]


def hand(order):
    """Return the hand with its joints in an order; aligned and oblique ones alternate."""
    rng = np.random.default_rng(7)
    joints = []
    for k, parent in enumerate(PARENTS):
        kind = KINDS.get(k, "revolute")
        turn = TREE_TURNS[k % 6] if k % 4 else np.linalg.qr(rng.normal(size=(3, 3)))[0]
        axis = None if kind in ("freeflyer", "spherical", "planar") else [0.0, 0.0, 1.0]
        place = turn * np.linalg.det(turn), rng.normal(size=3)
        pitch = 0.3 if kind == "helical" else 0.0
        parent = list(order).index(parent) if k else -1
        joints.append(tf.Joint(f"{k}", kind, parent, *place, axis, pitch, random_inertia(rng), rng.uniform()))
    return tf.Model([joints[k] for k in order])


def test_rows_of_a_hand():
    model = hand(range(len(PARENTS)))
    assert layout_of(model).structs["below"].all()
    q = tf.random_configuration(model, 3, size=8)
    H = tf.crba(model, q)
    for one, expected in zip(q, H, strict=True):
        np.testing.assert_array_equal(tf.crba(model, one), expected)


def test_gaps_between_the_freedoms_of_a_subtree():
    model = hand(NUMBERED_WITH_GAPS)
    assert not layout_of(model).structs["below"].any()
    q = tf.random_configuration(model, 3, size=8)
    np.testing.assert_array_equal(tf.crba(model, q[2]), tf.crba(model, q)[2])
