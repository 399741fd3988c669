"""Bad configurations in a batch: their rows are NaN, raise nothing, and change no bit of other rows."""

from functools import cache

import numpy as np
import pytest
from helpers.array_forms import FORMS
from helpers.declared import MODELS, Case, cases

import treefactor as tf
from treefactor import se3, so3
from treefactor.model.joints import ROTATIONS
from treefactor.quantities import configurations
from treefactor.quantities.functions import QUANTITIES

TURNED = {key: MODELS[key] for key in ("all kinds", "freeflyer", "followers")}
SCALES = (0.0, 1e300, 1e-300, 1e160, 1e-160, 2.0, 1.0 + 2e-6, -1e300)
ENTRIES = (np.nan, np.inf, -np.inf, 1e300)  # in the place of one entry
NAN_ALL = [name for name in vars(configurations) if name in QUANTITIES]  # rows are NaN throughout
STEPPED = [name for name in NAN_ALL if QUANTITIES[name].bound and name != "normalize"]
SINGLE = (tf.ConfigurationError, tf.NonFiniteError)


@cache
def kernels(model):
    """Return generated code for a model."""
    return tf.compile(model, ["crba", "rnea", "forward_dynamics"])


class CompiledCase(Case):
    """A case of generated code."""

    @property
    def function(self):
        """Function of the kernels of the model."""
        return lambda model, **arrays: getattr(kernels(model), self.quantity.name)(**arrays)

    def arguments(self, *given):
        """Return random arguments without external forces."""
        arrays = super().arguments(*given)
        return {name: x for name, x in arrays.items() if name != "fext"}


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


def spoiled(case, which, seed=0):
    """Return arrays of a call with hostile rows among good ones, those without, and which rows are good."""
    rng = np.random.default_rng(seed)
    bad = hostile(case.model, case.arguments(seed)[which], rng)
    count = len(bad) + 21
    arrays = case.arguments(seed + 1, (count,))
    places = rng.permutation(count)[: len(bad)]
    worse = {name: x.copy() for name, x in arrays.items()}
    worse[which][places] = bad
    return worse, arrays, np.setdiff1d(np.arange(count), places)


def hostile_cases(select=lambda case: True):
    """Yield cases with the name of each of their configurations."""
    moved = cases(
        TURNED, lambda case: case.is_plain and case.configurations and select(case), undeclared=True
    )
    for case, name in zip(*moved.values(), strict=True):
        yield from (pytest.param(case, which, id=f"{name}-{which}") for which in case.configurations)


def compiled_cases():
    """Yield cases of generated code."""
    for name in ("crba", "rnea", "forward_dynamics"):
        for key in ("all kinds", "freeflyer"):
            yield pytest.param(
                CompiledCase(QUANTITIES[name], MODELS[key], {}), "q", id=f"compiled-{name}-{key}"
            )


every_case = pytest.mark.parametrize(("case", "which"), [*hostile_cases(), *compiled_cases()])


@pytest.mark.isa
@every_case
def test_hostile_rows_are_nan_and_change_no_other_bit(case, which):
    name, (worse, arrays, good) = case.quantity.name, spoiled(case, which)
    expected = [x[good] for x in case.parts(case.call(arrays))]
    bad = np.setdiff1d(np.arange(len(arrays[which])), good)
    forms = [(worse, {}), (worse, {"num_threads": 3})]
    forms += [
        ({key: FORMS[form](x) for key, x in worse.items()}, {}) for form in ("list", "every other", "fortran")
    ]
    for given, options in forms:
        results = case.parts(case.call(given, **options))
        for own, other in zip(results, expected, strict=True):
            np.testing.assert_array_equal(own[good], other)
        if name == "normalize":
            lengths_are_one_or_nan(case.model, worse[which][bad], results[0][bad])
        elif name == "is_same_configuration":
            assert not results[0][bad].any()
        elif name in NAN_ALL:
            assert all(np.isnan(x[bad]).all() for x in results)
        else:  # entries outside a pattern, and the initial state of a rollout, stay
            assert np.all([np.isnan(x[bad].reshape(len(bad), -1)).any(axis=1) for x in results if x[0].size])


def lengths_are_one_or_nan(model, q, normalized):
    """Assert that rotations of any length but zero are normalized, and rows with others are NaN."""
    invalid = ~np.isfinite(q).all(axis=1)
    for kind, turned in ROTATIONS.items():
        for at in model.entries[kind][0][:, turned] if kind in model.entries else ():
            invalid |= ~q[:, at].any(axis=1)
    assert np.isnan(normalized[invalid]).all()
    q, normalized = q[~invalid], normalized[~invalid]
    for kind, turned in ROTATIONS.items():
        for at in model.entries[kind][0][:, turned] if kind in model.entries else ():
            scaled = q[:, at] / np.abs(q[:, at]).max(axis=1, keepdims=True)
            expected = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
            np.testing.assert_allclose(normalized[:, at], expected, rtol=0, atol=1e-15)


@every_case
def test_one_hostile_configuration_raises_our_error(case, which):
    worse, arrays, good = spoiled(case, which)
    for i in np.setdiff1d(np.arange(len(arrays[which])), good):
        one = {name: x[i] for name, x in worse.items()}
        batch = {name: x[i : i + 1] for name, x in worse.items()}
        if case.quantity.name == "normalize" and np.isfinite(case.call(batch)).all():
            continue  # any length but zero
        for given in (one, {name: x.tolist() for name, x in one.items()}):
            with pytest.raises(SINGLE) as caught:
                case.call(given)
            assert "has length" in str(caught.value) or "is not finite" in str(caught.value)


@pytest.mark.parametrize(
    ("case", "which"),
    list(hostile_cases(lambda case: case.quantity.name in STEPPED)),
)
def test_bound_calls_raise_and_leave_out_as_it_was(case, which):
    worse, arrays, good = spoiled(case, which)
    one = {name: np.array(x[good[0]]) for name, x in arrays.items()}
    out = case.empty(case.call(one))
    call = tf.bind(case.function, case.model, **one, **case.options, out=out)
    for i in np.setdiff1d(np.arange(len(arrays[which])), good):
        one[which][:] = worse[which][i]
        with pytest.raises(SINGLE):
            call()
        assert all(np.isnan(x).all() for x in case.parts(out))


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
    R = so3.from_quaternion(q)
    np.testing.assert_array_equal(np.delete(R, 3, 0), np.delete(expected, 3, 0))
    assert np.isnan(R[3]).all()
    for function, x in ((so3.from_quaternion, np.zeros(4)), (se3.from_xyzquat, np.zeros(7))):
        for given in (x, x.tolist(), x[::-1]):
            with pytest.raises(tf.ConfigurationError, match=r"length 0.*\(0, 0, 0, 1\) is the identity"):
                function(given)


# -------------------------------------------------------------------------------------- numbers of threads


WRONG = ("all", 0, -2, 2.5, 1.0, None)


def test_wrong_numbers_of_threads_are_refused_by_functions_of_matrices():
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
