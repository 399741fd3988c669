"""Pass arrays of every form, size and state to every function of states, configurations and poses."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
from helpers.array_forms import FORMS, guarded
from helpers.dynamics_cases import MODELS
from helpers.model_cases import models
from helpers.reachable import REACHABLE
from helpers.state_calls import CALLS, MOVING, STEPPED, WITHOUT_OUT, arrays_of, has, parts, run
from hypothesis import given, settings
from hypothesis import strategies as st

import treefactor as tf
from treefactor import se3, so3
from treefactor.kinematics import operational_space
from treefactor.model import configuration
from treefactor.quantities import configurations, derivatives, kinematics, regressors
from treefactor.quantities.declaration import Quantity
from treefactor.quantities.functions import QUANTITIES

MODULES = (
    operational_space,
    configuration,
)
COUNT = 19  # two blocks of lanes, and three
CASES = [
    pytest.param(name, model, id=f"{name}-{key}")
    for name in CALLS
    for key, model in MODELS.items()
    if has(name, model) and not (key != "freeflyer" and name.startswith(("se3", "so3")))
]
WITH_OUT = [case for case in CASES if case.values[0] not in WITHOUT_OUT]

pytestmark = pytest.mark.isa
every_call = pytest.mark.parametrize(("name", "model"), CASES)
every_call_with_out = pytest.mark.parametrize(("name", "model"), WITH_OUT)


def assert_same(found, expected):
    """Assert that two results are equal to the bit."""
    for own, other in zip(found, expected, strict=True):
        assert own.shape == other.shape
        np.testing.assert_array_equal(own, other)


def empty(expected):
    """Return arrays for results, full of NaN."""
    return [np.full(x.shape, np.nan) for x in expected]


def as_out(arrays):
    """Return out= of these arrays."""
    return tuple(arrays) if len(arrays) > 1 else arrays[0]


def test_no_function_is_missing():
    """Compare the table with the modules."""
    found = {
        name
        for module in MODULES
        for name, x in vars(module).items()
        if name in REACHABLE and inspect.isroutine(x) and x.__module__ == module.__name__
    }
    found |= {name for module in (derivatives, regressors) for name in vars(module) if name in QUANTITIES}
    found |= {name for name, x in vars(configurations).items() if isinstance(x, Quantity)}
    for group in (se3, so3):
        named = {name for name in getattr(group, "__all__", vars(group)) if not name.startswith("_")}
        functions = {n for n in named if getattr(getattr(group, n), "__module__", "") == group.__name__}
        found |= {f"{group.__name__.rpartition('.')[2]}.{name}" for name in functions}
    found |= {one.name for one in vars(kinematics).values() if isinstance(one, Quantity)}
    tried = {name.partition(" ")[0] for name in CALLS}
    assert found - tried - {"neutral", "random_configuration", "operational_space", "all_terms"} == set()


@every_call
def test_batches_are_single_calls_with_the_same_axes(name, model):
    arrays = arrays_of(name, model, 0, (3, 5))
    found = run(name, model, *arrays)
    for i in np.ndindex(3, 5):
        for own, single in zip(found, run(name, model, *(x[i] for x in arrays)), strict=True):
            assert own.shape == (3, 5, *single.shape)
            if own.dtype == bool:
                assert own[i] == single
                continue
            assert own.dtype == single.dtype == np.float64
            scale = max(1.0, np.abs(single).max(initial=0.0))
            np.testing.assert_allclose(own[i], single, rtol=0, atol=1e-12 * scale)


@every_call
def test_empty_batches_keep_their_axes(name, model):
    one = run(name, model, *arrays_of(name, model))
    for size in [(0,), (0, 3), (2, 0)]:
        for own, single in zip(run(name, model, *arrays_of(name, model, 0, size)), one, strict=True):
            assert own.shape == (*size, *single.shape)


@every_call
def test_forms_of_arrays_change_no_bit(name, model):
    arrays = arrays_of(name, model, 1, (COUNT,))
    expected = run(name, model, *arrays)
    for key, form in FORMS.items():
        if key == "list" and not model.njoints:
            continue  # an empty list does not tell its further axes
        assert_same(run(name, model, *map(form, arrays)), expected)
        for k in range(len(arrays)):  # and one at a time
            assert_same(run(name, model, *arrays[:k], form(arrays[k]), *arrays[k + 1 :]), expected)
    assert_same(run(name, model, *arrays, num_threads=3), expected)
    for k in range(len(arrays)):  # broadcast: a step of 0 bytes, or no leading axis
        every = [*arrays[:k], np.broadcast_to(arrays[k][3], arrays[k].shape), *arrays[k + 1 :]]
        copied = run(name, model, *(x.copy() for x in every))
        assert_same(run(name, model, *every), copied)
        if len(arrays) > 1:
            found = run(name, model, *arrays[:k], arrays[k][3], *arrays[k + 1 :])
            if name == "operational_bias":  # NumPy multiplies one vector by many matrices in another order
                np.testing.assert_allclose(found[0], copied[0], rtol=0, atol=1e-13 * np.abs(copied[0]).max())
            else:
                assert_same(found, copied)


@every_call
def test_other_numbers_are_converted(name, model):
    """Zeros and ones as whole numbers, and float32, are the same as float64."""
    for dtype in (np.float32, np.int8, np.int64, bool):
        for size in ((), (COUNT,)):
            arrays = arrays_of(name, model, 2, size)
            turned = ["M", "M1", "R", "R1", "xq", "quaternion"]
            for k, (array, what) in enumerate(zip(arrays, CALLS[name][1].split(), strict=True)):
                if dtype != np.float32:
                    plain = tf.neutral(model) if what in ("q", "q1") else 0.0
                    plain = np.eye(3, 3 + what.startswith("M")) if what in turned[:4] else plain
                    plain = np.eye(7)[6] if what == "xq" else np.eye(4)[3] if what == "quaternion" else plain
                    arrays[k] = np.broadcast_to(plain, array.shape).astype(dtype)
                elif what in ("q", "q1"):
                    arrays[k] = np.broadcast_to(tf.neutral(model), array.shape).astype(dtype)
                else:
                    arrays[k] = array.astype(dtype)
            assert_same(run(name, model, *arrays), run(name, model, *(x.astype(float) for x in arrays)))


@every_call
def test_rows_that_are_not_finite_do_not_disturb_others(name, model):
    arrays = arrays_of(name, model, 3, (COUNT,))
    expected = run(name, model, *arrays)
    good = np.setdiff1d(np.arange(COUNT), [2, 16])
    for k in range(len(arrays)):
        spoiled = [x.copy() for x in arrays]
        spoiled[k].reshape(COUNT, -1)[2, :1] = np.nan
        spoiled[k].reshape(COUNT, -1)[16, -1:] = np.inf
        kept = [x.copy() for x in spoiled]
        found = run(name, model, *spoiled)
        assert_same([x[good] for x in found], [x[good] for x in expected])
        assert_same(spoiled, kept)


@every_call_with_out
def test_only_out_is_written(name, model):
    for size in ((), (COUNT,), (2, 4)):
        arrays = arrays_of(name, model, 4, size)
        expected = run(name, model, *arrays)
        for stride, order in [(1, "C"), (2, "C"), (1, "F")]:
            made = [guarded(x.shape, stride, order) for x in expected]
            out = as_out([x for x, _, _ in made])
            assert parts(run_out(name, model, arrays, out))[0] is parts(out)[0]
            assert_same(parts(out), expected)
            for _, whole, guards in made:
                assert (whole[guards] == whole[(0,) * whole.ndim]).all()


def run_out(name, model, arrays, out, **options):
    """Return the result as the function returns it."""
    return CALLS[name][0](model, *arrays, out=out, **options)


@every_call_with_out
def test_out_may_overlap_the_arrays(name, model):
    for size in ((), (COUNT,)):
        arrays = arrays_of(name, model, 5, size)
        expected = run(name, model, *arrays)
        for k, array in enumerate(arrays):
            for shift in (0, 1, 5):
                room = np.full(shift + array.size + sum(x.size for x in expected), 7.0)
                placed = room[shift : shift + array.size].reshape(array.shape)
                placed[...] = array
                ends = np.cumsum([0, *(x.size for x in expected)])
                out = [
                    room[i:j].reshape(x.shape) for i, j, x in zip(ends[:-1], ends[1:], expected, strict=True)
                ]
                run_out(name, model, [*arrays[:k], placed, *arrays[k + 1 :]], as_out(out))
                assert_same(out, expected)


def wrong_calls(name, model):
    """Return the leading axes, and arrays that a call refuses, each with one that is wrong."""
    turned = any(joint.kind in ("freeflyer", "spherical", "continuous", "planar") for joint in model.joints)
    for size in ((), (COUNT,)):
        arrays = arrays_of(name, model, 6, size)
        for k, array in enumerate(arrays):
            odd = [array.astype(complex), np.ma.array(array), *([array[..., :-1]] if array.ndim else [])]
            if not size:
                odd.append(np.full(array.shape, np.nan))
            for wrong in odd:
                if array.size:
                    yield size, [*arrays[:k], wrong, *arrays[k + 1 :]]
        if turned and CALLS[name][1][0] == "q" and name in (*MOVING, *STEPPED) and not size:
            yield size, [1.1 * arrays[0], *arrays[1:]]


@every_call_with_out
def test_errors_leave_out_as_it_was(name, model):
    for size, arrays in wrong_calls(name, model):
        out = [np.full(x.shape, 7.0) for x in run(name, model, *arrays_of(name, model, 6, size))]
        with pytest.raises((tf.TreefactorError, ValueError, TypeError)):
            run_out(name, model, arrays, as_out(out))
        assert all((x == 7.0).all() for x in out)
    arrays = arrays_of(name, model, 6, (COUNT,))
    expected = run(name, model, *arrays)
    for options in ({"num_threads": 0}, {"num_threads": "2"}):
        out = empty(expected)
        with pytest.raises((ValueError, tf.DtypeError), match="num_threads must be"):
            run_out(name, model, arrays, as_out(out), **options)
        assert all(np.isnan(x).all() for x in out)
    for wrong in (
        [np.empty((1, *x.shape)) for x in expected],
        [np.empty(x.shape, np.float32) for x in expected],
        [x.copy().tolist() for x in expected],
        [np.broadcast_to(0.0, x.shape) for x in expected],
    ):
        with pytest.raises((tf.TreefactorError, ValueError, TypeError), match="out"):
            run_out(name, model, arrays, as_out(wrong))


def test_pivots_that_fail_leave_out_as_it_was():
    point = tf.Inertia(1.0, [0, 0, 0], np.zeros((3, 3)))
    turn = tf.Joint("turn", "revolute", axis=[0, 0, 1])
    model = tf.Model(
        [turn, tf.Joint("slide", "prismatic", 0, axis=[1, 0, 0], inertia=point)], (0.0, 0.0, 0.0)
    )
    q, v, moving = (
        np.zeros(2),
        np.array([0.0, 1.0]),
        np.array([0.0, -1.0]),
    )  # no mass at the axis of the hinge
    for function, arrays, options in [
        (tf.inverse_inertia, (q,), {}),
        (tf.forward_dynamics, (q, v, v), {}),
        (tf.aba, (q, v, v), {}),
        (tf.forward_dynamics_jvp, (q, v, v, v, v, v), {}),
        (tf.forward_dynamics_vjp, (q, v, v, v), {"with_value": True}),
        (tf.forward_dynamics_hvp, (q, v, v, v, v, v, v), {}),
        (tf.forward_dynamics_hessian, (q, v, v, v), {}),
        (tf.operational_inertia, (q, "slide"), {}),
        (tf.operational_inertia, (moving, "slide"), {}),  # six rows of two freedoms
        (tf.step, (q, v, v, 0.1), {}),
        (tf.rollout, (moving, v, None, 0.25, 9), {}),
        (tf.rollout, (moving, v, np.zeros((9, 2)), 0.25), {"method": "rk4"}),
    ]:
        apart = moving + 0.1, *arrays[1:]
        damped = {"damping": 1.0} if function is tf.operational_inertia else {}
        out = tuple(np.full(x.shape, 7.0) for x in parts(function(model, *apart, **options, **damped)))
        with pytest.raises(tf.NotPositiveDefiniteError):
            function(model, *arrays, out=as_out(out), **options)
        assert all((x == 7.0).all() for x in out), function.__name__
        if function is not tf.operational_inertia and not any(x is None for x in arrays):
            call = tf.bind(function, model, *arrays, out=as_out(out), **options)
            with pytest.raises(tf.NotPositiveDefiniteError):
                call()
            assert all((x == 7.0).all() for x in out), function.__name__


FACTORED = ("inverse_inertia", "operational_inertia", "operational_bias", "step", "rollout")
FACTORED += tuple(f"forward_dynamics_{name}" for name in ("jvp", "vjp", "hvp", "hessian"))


@pytest.mark.slow
@settings(max_examples=100)
@given(models(max_joints=7), st.integers(0, 2**32 - 1), st.data())
def test_any_model_with_bodies_without_mass(model, seed, data):
    """A batch holds the single results, NaN where these raise; quaternions q and -q give the same."""
    empty_bodies = data.draw(st.sets(st.integers(0, model.njoints - 1), max_size=model.njoints - 1))
    joints = [
        replace(joint, inertia=tf.Inertia(0.0)) if i in empty_bodies else joint
        for i, joint in enumerate(model.joints)
    ]
    model = tf.Model(joints, model.gravity)
    for name in [*MOVING, *STEPPED]:
        arrays = arrays_of(name, model, seed, (3,))
        try:
            assert_single_results(name, model, arrays)
        except tf.InvalidModelError as error:
            assert "mass" in str(error)  # noqa: PT017 -- a subtree may have none
        if name in MOVING and name not in FACTORED:
            q, *others = (x[0] for x in arrays)
            pairs = zip(
                run(name, model, q, *others), run(name, model, turned(model, q), *others), strict=True
            )
            for x, y in pairs:
                np.testing.assert_allclose(x, y, rtol=0, atol=1e-11 * max(1.0, np.abs(x).max(initial=0.0)))


def assert_single_results(name, model, arrays):
    """Assert that rows of a batch are results of single calls."""
    batch = run(name, model, *arrays)
    for i in range(3):
        try:
            one = run(name, model, *(x[i] for x in arrays))
        except tf.NotPositiveDefiniteError:
            assert all(np.isnan(x[i]).any() for x in batch)
            continue
        for own, single in zip(batch, one, strict=True):
            close = 1e-3 if name in FACTORED else 1e-11  # H may be almost singular
            scale = max(1.0, np.nanmax(np.abs(single), initial=0.0))
            np.testing.assert_allclose(own[i], single, rtol=0, atol=close * scale)


def turned(model, q):
    """Return q with all quaternions negated."""
    q = q.copy()
    for kind in {"spherical", "freeflyer"} & set(model.entries):
        for at in model.entries[kind][0]:
            q[at[-4:]] *= -1.0
    return q
