"""Check that the fast path of batches equals the general path to the bit."""

import numpy as np
import pytest
from helpers.array_forms import FORMS, GUARD
from helpers.dynamics_cases import CALLS, MODELS, TAKES, arguments, names_of

import treefactor as tf

SHORT = (
    "crba",
    "bias",
    "h_times",
    "rnea",
    "joint_forces",
    "base_force",
    "factor",
    "aba",
    "gravity",
    "static_torque",
    "kinetic_energy",
    "potential_energy",
    "mechanical_energy",
    "coriolis",
    "packed coriolis",
    "inverse",
)  # functions with a short way
PAIRS = [(which, name) for which, model in MODELS.items() for name in names_of(model) if name in SHORT]
each = pytest.mark.parametrize(("which", "name"), PAIRS)
names = pytest.mark.parametrize("name", SHORT)
MODEL = MODELS["freeflyer"]


def by_general_path(model, name, q, v, x, **options):
    """Return the result of the general path, which calls with several threads take."""
    return CALLS[name](model, q, v, x, None, num_threads=2, **options)


@each
@pytest.mark.parametrize("count", [0, 1, 8, 9, 30])
def test_the_short_way_changes_no_bit(which, name, count):
    model = MODELS[which]
    q, v, x, _ = arguments(model, 1, (count,))
    own = CALLS[name](model, q, v, x, None)
    np.testing.assert_array_equal(own, by_general_path(model, name, q, v, x), strict=True)
    out = np.empty_like(own)
    assert CALLS[name](model, q, v, x, None, out=out) is out
    np.testing.assert_array_equal(out, own)


@pytest.mark.parametrize(("which", "name"), [pair for pair in PAIRS if "fext" in TAKES[pair[1]]])
@pytest.mark.parametrize("shared", [False, True], ids=["each its own", "shared"])
def test_external_forces_on_the_short_way(which, name, shared):
    model = MODELS[which]
    q, v, x, fext = arguments(model, 1, (11,))
    fext = fext[0] if shared else fext
    expected = CALLS[name](model, q, v, x, fext, num_threads=2)
    np.testing.assert_array_equal(CALLS[name](model, q, v, x, fext), expected, strict=True)
    for form, make in FORMS.items():
        if fext.size:
            own = CALLS[name](model, q, v, x, make(fext))
            np.testing.assert_array_equal(own, expected, err_msg=form, strict=True)
    if not shared and expected.size:
        memory = np.zeros(fext.size + expected.size + 3)  # where out begins within fext
        given, out = memory[: fext.size].reshape(fext.shape), memory[3 : 3 + expected.size]
        given[...] = fext
        CALLS[name](model, q, v, x, given, out=out.reshape(expected.shape))
        np.testing.assert_array_equal(out.reshape(expected.shape), expected)


@names
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_forms_of_arrays(name, form):
    given = arguments(MODEL, 2, (9,))[:3]
    own = CALLS[name](MODEL, *map(form, given), None)
    np.testing.assert_array_equal(own, by_general_path(MODEL, name, *map(form, given)), strict=True)


@names
@pytest.mark.parametrize("shared", [0, 1, 2])
def test_an_argument_that_holds_for_all(name, shared):
    given = list(arguments(MODEL, 3, (9,))[:3])
    given[shared] = given[shared][0]
    own = CALLS[name](MODEL, *given, None)
    np.testing.assert_array_equal(own, by_general_path(MODEL, name, *given), strict=True)


@names
@pytest.mark.parametrize("count", [1, 8, 9])
def test_a_contiguous_out_between_guards(name, count):
    given = arguments(MODEL, 4, (count,))[:3]
    expected = by_general_path(MODEL, name, *given)
    memory = np.full(expected.size + 16, GUARD)
    out = memory[8:-8].reshape(expected.shape)
    assert CALLS[name](MODEL, *given, None, out=out) is out
    np.testing.assert_array_equal(out, expected)
    assert (memory[:8] == GUARD).all()
    assert (memory[-8:] == GUARD).all()


@pytest.mark.parametrize("name", ["bias", "h_times", "rnea", "factor", "aba"])
@pytest.mark.parametrize("ahead", [0, 1, MODEL.nv])
def test_an_out_that_overlaps_an_argument(name, ahead):
    q, v, x, _ = arguments(MODEL, 5, (9,))
    expected = by_general_path(MODEL, name, q, v, x)
    memory = np.empty(v.size + MODEL.nv)
    shared, out = (memory[at : at + v.size].reshape(v.shape) for at in (0, ahead))
    shared[...] = x
    given = (q, shared, x) if name == "bias" else (q, v, shared)
    if name == "bias":
        expected = by_general_path(MODEL, name, q, x, x)
    assert CALLS[name](MODEL, *given, None, out=out) is out
    np.testing.assert_array_equal(out, expected)


@names
def test_what_is_refused(name):
    q, v, x, _ = arguments(MODEL, 6, (9,))
    own = CALLS[name](MODEL, q, v, x, None)
    locked = np.empty_like(own)
    locked.flags.writeable = False
    for out, error in (
        (locked, tf.DtypeError),
        (np.empty_like(own, np.float32), tf.DtypeError),
        (own[:-1], tf.ShapeError),
        (np.broadcast_to(own[0], own.shape), tf.ShapeError),
    ):
        with pytest.raises(error):
            CALLS[name](MODEL, q, v, x, None, out=out)
    with pytest.raises(tf.ShapeError):
        CALLS[name](MODEL, q[:, 1:], v, x, None)
    with pytest.raises(ValueError, match="num_threads"):
        CALLS[name](MODEL, q, v, x, None, num_threads=0)


@names
def test_a_bad_configuration_spoils_itself_alone(name):
    q, v, x, _ = arguments(MODEL, 7, (9,))
    good = CALLS[name](MODEL, q, v, x, None)
    q[4, 0] = np.nan
    own = CALLS[name](MODEL, q, v, x, None)
    assert np.isnan(own[4]).any()
    np.testing.assert_array_equal(np.delete(own, 4, 0), np.delete(good, 4, 0))


def test_the_articulated_bodies_refuse_followers_in_a_batch():
    model = MODELS["followers"]
    with pytest.raises(ValueError, match="mimic joints"):
        tf.aba(model, *arguments(model, 8, (9,))[:3])
