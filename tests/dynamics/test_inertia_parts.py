"""Parts of inertias are copies with the same bits."""

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS, arguments

import treefactor as tf

MODEL = MODELS["freeflyer"]
RNG = np.random.default_rng(0)
PI = MODEL.parameters * RNG.uniform(0.5, 2.0, (3, 7, MODEL.njoints, 1))
ROTORS = RNG.uniform(0.1, 0.2, (3, 7, MODEL.nv))
FORMS = {
    "each": tf.Inertias(MODEL, PI, ROTORS),
    "one armature": tf.Inertias(MODEL, PI, ROTORS[0, 0]),
    "sets": tf.Inertias(MODEL, PI[0], ROTORS[0], RNG.integers(0, 7, (3, 7))),
}
ROWS = [
    slice(1, 3),
    np.array([2, 0]),
    np.array([True, False, True]),
    (slice(None), 4),
    (slice(None), slice(0, 5, 2)),
]
Q, V, A, _ = arguments(MODEL, 0, (3, 7))


@pytest.mark.parametrize("name", FORMS)
def test_parts_have_the_bits_of_the_whole(name):
    inertias = FORMS[name]
    expected = tf.crba(MODEL, Q, inertias=inertias)
    for rows in ROWS:
        part = inertias.part(rows)
        assert part.batch == Q[rows].shape[:-1]
        np.testing.assert_array_equal(tf.crba(MODEL, Q[rows], inertias=part), expected[rows])
    one = inertias.part((2, 3))
    assert (one.batch, one.sets) == ((), ())
    np.testing.assert_allclose(tf.crba(MODEL, Q[2, 3], inertias=one), expected[2, 3], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", FORMS)
def test_arguments_make_the_same_inertias(name):
    inertias = FORMS[name]
    made = tf.Inertias(MODEL, *inertias.arguments())
    assert np.array_equal(tf.aba(MODEL, Q, V, A, inertias=made), tf.aba(MODEL, Q, V, A, inertias=inertias))


def test_parts_do_not_change_with_the_whole():
    inertias = tf.Inertias(MODEL, PI[0])
    part, (pi, *_) = inertias.part(slice(0, 2)), inertias.arguments()
    inertias.scale(None, None, 3.0)
    assert np.array_equal(part.parameters, PI[0, :2])
    assert np.array_equal(pi, PI[0])


def test_a_part_has_only_the_sets_that_it_needs():
    part = tf.Inertias(MODEL, PI[0], which=[4, 4, 1, 6]).part(slice(0, 3))
    assert part.sets == (2,)
    assert np.array_equal(part.parameters, PI[0, [1, 4]])


def test_one_set_has_no_parts():
    with pytest.raises(IndexError, match=r"rows do not fit elements of shape \(\)"):
        tf.Inertias(MODEL, PI[0, 0]).part(slice(0, 1))
    with pytest.raises(IndexError, match=r"rows do not fit elements of shape \(3, 7\)"):
        FORMS["each"].part(3)
