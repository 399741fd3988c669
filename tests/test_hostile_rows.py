"""Bad configurations in a batch: their rows are NaN, raise nothing, and change no bit of other rows."""

import inspect
from functools import cache

import numpy as np
import pytest
from helpers.array_forms import FORMS
from helpers.dynamics_cases import MODELS
from helpers.reachable import REACHABLE
from helpers.state_calls import CALLS, MOVING, STEPPED, arrays_of, has, run

import treefactor as tf
from treefactor import se3, so3
from treefactor.model.joints import ROTATIONS

TURNED = ("all kinds", "freeflyer", "followers")
SCALES = (0.0, 1e300, 1e-300, 1e160, 1e-160, 2.0, 1.0 + 2e-6, -1e300)
ENTRIES = (np.nan, np.inf, -np.inf, 1e300)  # in the place of one entry


@cache
def kernels(key):
    """Return generated code for a model."""
    return tf.compile(MODELS[key], ["crba", "rnea", "forward_dynamics"])


def compiled(name):
    """Return a call of generated code for a model of the table."""

    def call(model, *arrays, **options):
        key = next(key for key, one in MODELS.items() if one is model)
        return getattr(kernels(key), name)(*arrays, **options)

    return call


DYNAMICS = {  # functions of a model that `CALLS` lacks; by name: the function, and the names of its arrays
    "crba": (tf.crba, "q"),
    "rnea": (tf.rnea, "q v a"),
    "bias": (tf.bias, "q v"),
    "h_times": (tf.h_times, "q v"),
    "aba": (tf.aba, "q v a"),
    "forward_dynamics": (tf.forward_dynamics, "q v a"),
    "joint_forces": (tf.joint_forces, "q v a"),
    "base_force": (tf.base_force, "q v a"),
    "rnea_derivatives": (tf.rnea_derivatives, "q v a"),
    "forward_dynamics_derivatives": (tf.forward_dynamics_derivatives, "q v a"),
    "all_terms": (tf.all_terms, "q v"),
    "delassus": (lambda m, q, **o: tf.delassus(m, q, m.joints[-1].name, **o), "q"),
    "compiled crba": (compiled("crba"), "q"),
    "compiled rnea": (compiled("rnea"), "q v a"),
    "compiled forward_dynamics": (compiled("forward_dynamics"), "q v a"),
}
OF_CONFIGURATIONS = {
    **{name: call for name, call in {**MOVING, **STEPPED}.items() if call[1][0] == "q"},
    **DYNAMICS,
    **{name: CALLS[name] for name in ("normalize", "is_same_configuration")},
}
SINGLE = (tf.ConfigurationError, tf.NonFiniteError)


@pytest.fixture(autouse=True)
def further_calls(monkeypatch):
    for name, call in DYNAMICS.items():
        monkeypatch.setitem(CALLS, name, call)


def hostile(model, q, rng):
    """Return bad versions of one configuration: of every kind, and of every kind of joint."""
    rows = []
    for kind, turned in ROTATIONS.items():
        if kind in model.entries:
            at = rng.choice(model.entries[kind][0])[turned]
            rows += [np.where(np.isin(np.arange(model.nq), at), scale * q, q) for scale in SCALES]
            rows += [np.where(np.arange(model.nq) == rng.choice(at), entry, q) for entry in ENTRIES]
    rows += [np.where(np.arange(model.nq) == rng.integers(model.nq), bad, q) for bad in (np.nan, np.inf)]
    return np.array(rows)


def spoiled(name, model, which, seed=0):
    """Return arrays of a call with hostile rows among good ones, those without, and which rows are good."""
    rng = np.random.default_rng(seed)
    one = arrays_of(name, model, seed)[which]
    bad = hostile(model, one, rng)
    count = len(bad) + 21
    arrays = arrays_of(name, model, seed + 1, (count,))
    places = rng.permutation(count)[: len(bad)]
    worse = [x.copy() for x in arrays]
    worse[which][places] = bad
    return worse, arrays, np.setdiff1d(np.arange(count), places)


def cases():
    for name, (_, wanted) in OF_CONFIGURATIONS.items():
        for key in TURNED:
            for which, array in enumerate(wanted.split()):
                coupled = key == "followers" and name.startswith(("aba", "compiled"))  # not available there
                if array in ("q", "q1") and has(name, MODELS[key]) and not coupled:
                    yield pytest.param(name, MODELS[key], which, id=f"{name}-{array}-{key}")


@pytest.mark.isa
@pytest.mark.parametrize(("name", "model", "which"), list(cases()))
def test_hostile_rows_are_nan_and_change_no_other_bit(name, model, which):
    worse, arrays, good = spoiled(name, model, which)
    expected = [x[good] for x in run(name, model, *arrays)]
    bad = np.setdiff1d(np.arange(len(arrays[0])), good)
    forms = [(worse, {}), (worse, {"num_threads": 3})]
    forms += [([*map(FORMS[form], worse)], {}) for form in ("list", "every other", "fortran")]
    for given, options in forms:
        results = run(name, model, *given, **options)
        for own, other in zip(results, expected, strict=True):
            np.testing.assert_array_equal(own[good], other)
        if name == "normalize":
            lengths_are_one_or_nan(model, worse[0][bad], results[0][bad])
        elif name == "is_same_configuration":
            assert not results[0][bad].any()
        elif name in STEPPED:
            assert all(np.isnan(x[bad]).all() for x in results)
        else:  # entries outside a pattern, and the initial state of a rollout, stay
            assert np.all([np.isnan(x[bad].reshape(len(bad), -1)).any(axis=1) for x in results if x[0].size])


def lengths_are_one_or_nan(model, q, found):
    """Assert that rotations of any length but zero are normalized, and rows with others are NaN."""
    invalid = ~np.isfinite(q).all(axis=1)
    for kind, turned in ROTATIONS.items():
        for at in model.entries[kind][0][:, turned] if kind in model.entries else ():
            invalid |= ~q[:, at].any(axis=1)
    assert np.isnan(found[invalid]).all()
    q, found = q[~invalid], found[~invalid]
    for kind, turned in ROTATIONS.items():
        for at in model.entries[kind][0][:, turned] if kind in model.entries else ():
            scaled = q[:, at] / np.abs(q[:, at]).max(axis=1, keepdims=True)
            expected = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
            np.testing.assert_allclose(found[:, at], expected, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("name", "model", "which"), list(cases()))
def test_one_hostile_configuration_raises_our_error(name, model, which):
    worse, arrays, good = spoiled(name, model, which)
    for i in np.setdiff1d(np.arange(len(arrays[0])), good):
        one = [x[i] for x in worse]
        if name == "normalize" and np.isfinite(run(name, model, *(x[i : i + 1] for x in worse))[0]).all():
            continue  # any length but zero
        for given in (one, [x.tolist() for x in one]):
            with pytest.raises(SINGLE) as caught:
                run(name, model, *given)
            assert "has length" in str(caught.value) or "is not finite" in str(caught.value)


@pytest.mark.parametrize("key", TURNED)
@pytest.mark.parametrize(
    "function", [tf.integrate, tf.difference, tf.interpolate, tf.distance, tf.squared_distance]
)
def test_bound_calls_raise_and_leave_out_as_it_was(function, key):
    model = MODELS[key]
    for which in (0, 1) if function is not tf.integrate else (0,):
        worse, arrays, good = spoiled(function.__name__, model, which)
        out = np.full(np.shape(function(model, *(x[good[0]] for x in arrays))), 7.0)
        one = [np.array(x[good[0]]) for x in arrays]
        call = tf.bind(function, model, *one, out=out)
        for i in np.setdiff1d(np.arange(len(arrays[0])), good):
            one[which][:], out[...] = worse[which][i], 7.0
            with pytest.raises(SINGLE):
                call()
            assert (out == 7.0).all()


@pytest.mark.parametrize("scale", [1e300, 1e-300, 1e160, 1e-160, 5e-324, -1e308])
@pytest.mark.parametrize("entries", [1, 8, 11])
def test_quaternions_of_any_length_are_rotations(scale, entries):
    q = np.tile([0.0, 0.0, 1.0, 0.0], (entries, 1))
    R, xq = so3.from_quaternion(q), np.concatenate([np.ones((entries, 3)), scale * q], axis=1)
    np.testing.assert_allclose(so3.from_quaternion(scale * q), R, rtol=0, atol=1e-15)
    np.testing.assert_allclose(so3.from_quaternion(scale * q[0]), R[0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(se3.from_xyzquat(xq)[..., :3], R, rtol=0, atol=1e-15)


def test_a_quaternion_of_length_zero_is_nan_in_its_row():
    q = np.random.default_rng(0).normal(size=(11, 4))
    expected = so3.from_quaternion(q)
    q[3] = 0.0
    found = so3.from_quaternion(q)
    np.testing.assert_array_equal(np.delete(found, 3, 0), np.delete(expected, 3, 0))
    assert np.isnan(found[3]).all()
    for function, x in ((so3.from_quaternion, np.zeros(4)), (se3.from_xyzquat, np.zeros(7))):
        for given in (x, x.tolist(), x[::-1]):
            with pytest.raises(tf.ConfigurationError, match=r"length 0.*\(0, 0, 0, 1\) is the identity"):
                function(given)


# -------------------------------------------------------------------------------------- numbers of threads


WRONG = ("all", 0, -2, 2.5, 1.0, None)


@pytest.mark.parametrize("name", [*CALLS, *DYNAMICS])
def test_wrong_numbers_of_threads_are_refused_for_one_state_too(name):
    model = MODELS["all kinds"]
    for arrays in (arrays_of(name, model), arrays_of(name, model, 0, (3,))):
        for wrong in WRONG:
            with pytest.raises((ValueError, TypeError), match="num_threads must be"):
                run(name, model, *arrays, num_threads=wrong)
        for right in (2, -1, np.int64(2)):
            for one, other in zip(
                run(name, model, *arrays, num_threads=right), run(name, model, *arrays), strict=True
            ):
                np.testing.assert_array_equal(one, other)


def test_every_public_function_with_threads_is_tried():
    taken = {n for n in REACHABLE if "num_threads" in signature(getattr(tf, n))}
    tried = {name.partition(" ")[0] for name in (*CALLS, *DYNAMICS)}
    apart = {"factor", "solve", "operational_space", "damped_least_squares"}  # below
    assert taken - tried - apart == {"Factor", "chain_inertia"}
    model, J = MODELS["all kinds"], np.ones((6, 8))
    H, x = tf.crba(model, tf.neutral(model)), np.ones(model.nv)
    for call in (
        lambda count: tf.factor(H, model.tree, num_threads=count),
        lambda count: tf.solve(H, model.tree, x, num_threads=count),
        lambda count: tf.operational_space(model, tf.neutral(model), "j0", num_threads=count),
        lambda count: tf.damped_least_squares(J, x[:6], 1.0, num_threads=count),
    ):
        for wrong in WRONG:
            with pytest.raises((ValueError, TypeError), match="num_threads must be"):
                call(wrong)


def signature(value):
    """Return the names of the arguments of a function; none of what has no signature."""
    try:
        return inspect.signature(value).parameters
    except (TypeError, ValueError):
        return ()
