"""Call every declared quantity with arrays of every form, size and state; arguments come from the table."""

import pickle

import numpy as np
import pytest
from helpers.array_forms import FORMS, GUARD, guarded
from helpers.declared import MODELS, cases

import treefactor as tf
from treefactor.quantities import dynamics
from treefactor.quantities.declaration import Quantity

pytestmark = pytest.mark.isa

COUNT = 19  # three blocks of lanes, the last one not full
SAME_BITS = [  # of the dynamics, where lanes add up in the same order and do not factorize
    name
    for name, one in vars(dynamics).items()
    if isinstance(one, Quantity)
    and name
    not in (
        *("forward_dynamics", "inverse_inertia", "coriolis_matrix"),
        *("kinetic_energy", "mechanical_energy"),
    )
]
every_case = pytest.mark.parametrize("case", **cases())
cases_with_out = pytest.mark.parametrize("case", **cases(select=lambda case: case.quantity.has_out))
of_all_kinds = pytest.mark.parametrize("case", **cases({"all kinds": MODELS["all kinds"]}))
bound_cases = pytest.mark.parametrize(
    "case", **cases(select=lambda case: case.quantity.bound and case.layout != "lanes")
)


def assert_same(own, expected):
    """Assert that results are equal to the bit."""
    for one, other in zip(own, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def tolerance(case, arrays):
    """Return the relative difference that rounding may make between a single call and a batch."""
    if not (case.quantity.fails and case.model.nv):
        return 1e-12
    return 1e-13 * max(10.0, np.linalg.cond(tf.crba(case.model, arrays["q"])).max())


@every_case
@pytest.mark.parametrize("count", [0, 1, 8, COUNT])
def test_a_batch_is_its_elements(case, count):
    arrays = case.arguments(1, (count,))
    rows = case.rows(case.call(arrays), count)
    assert all(len(x) == count for x in rows)
    lanes = case.layout == "lanes"
    if lanes:
        case = case._replace(options=case.options | {"layout": "packed"})
    for k in range(count):
        single = case.parts(case.call({name: x[k] for name, x in arrays.items()}))
        for own, expected in zip(rows, single, strict=True):
            expected = expected.ravel() if lanes else expected
            assert own[k].shape == expected.shape
            scale = max(1.0, np.abs(expected).max(initial=0.0))
            error = np.abs(np.subtract(own[k], expected, dtype=float)).max(initial=0.0)
            assert error <= tolerance(case, {name: x[k] for name, x in arrays.items()}) * scale
            if case.quantity.name in SAME_BITS:
                np.testing.assert_array_equal(own[k], expected)


@every_case
def test_leading_axes_are_those_of_the_arguments(case):
    arrays = case.arguments(1, (2, 3))
    flat = {name: x.reshape(6, *x.shape[2:]) for name, x in arrays.items()}
    for own, expected in zip(case.parts(case.call(arrays)), case.parts(case.call(flat)), strict=True):
        shape = expected.shape if case.layout == "lanes" else (2, 3, *expected.shape[1:])
        np.testing.assert_array_equal(own, expected.reshape(shape), strict=True)


@every_case
@pytest.mark.parametrize("size", [(), (COUNT,)], ids=["single", "batch"])
def test_forms_of_arrays_and_threads_change_no_bit(case, size):
    arrays = case.arguments(2, size)
    expected = case.parts(case.call(arrays))
    if not case.model.nv:
        return  # arrays without entries have one form
    for form in FORMS.values():
        formed = {name: form(x) if x.ndim else x for name, x in arrays.items()}
        assert_same(case.parts(case.call(formed)), expected)
        for name in case.names:
            assert_same(case.parts(case.call(arrays | {name: formed[name]})), expected)
    for threads in (2, 3, -1):
        assert_same(case.parts(case.call(arrays, num_threads=threads)), expected)


@every_case
def test_an_argument_without_batch_axes_holds_for_all(case):
    arrays = case.arguments(3, (COUNT,))
    for name in case.names if len(case.names) > 1 else ():
        alike = arrays | {name: np.repeat(arrays[name][3:4], COUNT, axis=0)}
        expected = case.parts(case.call(alike))
        assert_same(case.parts(case.call(arrays | {name: arrays[name][3]})), expected)
        stretched = np.broadcast_to(arrays[name][3], arrays[name].shape)
        assert_same(case.parts(case.call(arrays | {name: stretched})), expected)


@every_case
def test_optional_arguments_may_be_left_out(case):
    if any(option.kind == "presence" for option in case.quantity.options):
        return  # these arguments ask for further results
    for size in ((), (COUNT,)):
        given = case.arguments(4, size)
        without = {x.name: None if x.optional else given[x.name] for x in case.quantity.inputs}
        without = {x.name: without[x.name] for x in case.quantity.inputs if x.needed or not x.optional}
        zeros = {x.name: np.zeros_like(given[x.name]) for x in case.quantity.inputs if x.optional}
        own, expected = case.parts(case.call(without)), case.parts(case.call(without | zeros))
        for one, other in zip(own, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
        assert_same(case.parts(case.call(without | dict.fromkeys(zeros))), own)


@cases_with_out
@pytest.mark.parametrize("size", [(), (COUNT,), (2, 3)], ids=str)
@pytest.mark.parametrize(("stride", "order"), [(1, "C"), (2, "C"), (1, "F")])
def test_out_receives_the_result_and_nothing_around_it(case, size, stride, order):
    if case.layout == "lanes" and not size:
        size = (1,)
    arrays = case.arguments(5, size)
    expected = case.call(arrays)
    views = [guarded(x.shape, stride, order) for x in case.parts(expected)]
    out = tuple(view for view, _, _ in views) if isinstance(expected, tuple) else views[0][0]
    assert case.call(arrays, out=out) is out
    for (view, around, guard), result in zip(views, case.parts(expected), strict=True):
        np.testing.assert_array_equal(view, result)
        assert (around[guard] == GUARD).all()


@cases_with_out
@pytest.mark.parametrize("size", [(), (COUNT,)], ids=["single", "batch"])
@pytest.mark.parametrize("shift", [0, 1, 5])
def test_an_out_that_overlaps_an_argument_receives_the_result(case, size, shift):
    """Every argument in turn begins within out, or out within it."""
    arrays = case.arguments(6, size)
    expected = case.call(arrays)
    if isinstance(expected, tuple) or case.layout == "lanes":
        return
    expected = np.asarray(expected)
    for name in case.names:
        for ahead in (False, True):
            given = arrays[name]
            line = np.zeros(given.size + expected.size + shift)
            at, of_out = (shift, 0) if ahead else (0, shift)
            overlapped = line[at : at + given.size].reshape(given.shape)
            overlapped[...] = given
            out = line[of_out : of_out + expected.size].reshape(expected.shape)
            assert case.call(arrays | {name: overlapped}, out=out) is out
            np.testing.assert_array_equal(out, expected)


@every_case
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_bad_element_is_nan_and_its_neighbours_change_no_bit(case, value, threads):
    arrays = case.arguments(7, (COUNT,))
    before = case.rows(case.call(arrays), COUNT)
    for name in case.names:
        if not arrays[name][0].size:
            continue
        for row in (1, 8, COUNT - 1):
            bad = {key: x.copy() for key, x in arrays.items()}
            bad[name][row : row + 1].flat[-1] = value
            further = [{"out": case.empty(case.call(bad))}] if case.quantity.has_out else []
            for results in [case.call(bad, num_threads=threads, **one) for one in ({}, *further)]:
                for own, good in zip(case.rows(results, COUNT), before, strict=True):
                    assert_spoiled(own, good, row)


def assert_spoiled(own, good, row):
    """Assert that one row is NaN, except for zeros outside the pattern, and that all others are unchanged."""
    np.testing.assert_array_equal(np.delete(own, row, axis=0), np.delete(good, row, axis=0))
    if own.dtype == bool:
        assert not own[row]
        return
    spoiled = np.isnan(own[row])
    assert spoiled.any() or not own[row].size
    assert (own[row][~spoiled] == 0).all()
    assert (good[row][~spoiled] == 0).all()


@of_all_kinds
@pytest.mark.parametrize("kind", ["continuous", "spherical", "planar", "freeflyer"])
def test_an_invalid_rotation_spoils_its_element_and_names_the_joint(case, kind):
    if case.quantity.name == "normalize":
        return  # any length is valid
    model, arrays = case.model, case.arguments(8, (COUNT,))
    before = case.rows(case.call(arrays), COUNT)
    joint = next(i for i, joint in enumerate(model.joints) if joint.kind == kind)
    for array in case.quantity.inputs:
        if array.role == "configuration":
            bad = arrays | {array.name: arrays[array.name].copy()}
            bad[array.name][1, model.idx_q[joint] + model.joints[joint].nq - 1] += 1.0
            for own, good in zip(case.rows(case.call(bad), COUNT), before, strict=True):
                assert_spoiled(own, good, 1)
            with pytest.raises(tf.ConfigurationError, match=model.joints[joint].name) as raised:
                case.call({name: x[1] for name, x in bad.items()})
            assert raised.value.joint == model.joints[joint].name


@of_all_kinds
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_single_call_names_the_argument_that_is_not_finite_and_leaves_out(case, value):
    good = case.arguments(9)
    for name in case.names:
        bad = good | {name: good[name].copy()}
        bad[name].flat[-1] = value
        with pytest.raises(tf.NonFiniteError, match=f"^{name} is not finite"):
            case.call(bad)
        if case.layout != "lanes" and case.quantity.has_out:
            out = case.empty(case.call(good))
            with pytest.raises(tf.NonFiniteError, match=f"^{name} is not finite"):
                case.call(bad, out=out)
            assert all(np.isnan(x).all() for x in case.parts(out))


@of_all_kinds
@pytest.mark.parametrize("size", [(), (3,)], ids=["single", "batch"])
def test_wrong_arguments_are_named(case, size):
    good = case.arguments(10, size)
    for name in case.names:
        x = good[name]
        wrong = (x[..., :-1], np.zeros((*size, 0)), np.zeros(())) if x.ndim > len(size) else ()
        for bad in wrong:
            with pytest.raises(tf.ShapeError, match=rf"^{name} must have shape \(") as raised:
                case.call(good | {name: bad})
            assert raised.value.received == bad.shape
        with pytest.raises(tf.DtypeError, match=f"^{name} must hold real numbers"):
            case.call(good | {name: x + 1j})
        with pytest.raises(tf.DtypeError, match=name):
            case.call(good | {name: np.ma.masked_greater(x, 0.0)})
        if size and len(case.names) > 1:
            with pytest.raises(tf.ShapeError, match="must have shape"):
                case.call(good | {name: np.concatenate([x, x])})


@pytest.mark.parametrize(
    "case", **cases({"all kinds": MODELS["all kinds"]}, lambda case: case.quantity.has_out)
)
@pytest.mark.parametrize("size", [(), (3,)], ids=["single", "batch"])
def test_outs_that_cannot_hold_the_result_are_refused(case, size):
    arrays = case.arguments(11, size)
    expected = case.call(arrays)
    if isinstance(expected, tuple):
        with pytest.raises(tf.ShapeError, match="out must be a tuple"):
            case.call(arrays, out=case.empty(expected)[:-1])
        return
    good = np.array(expected)
    locked = good.copy()
    locked.flags.writeable = False
    refused = [
        (good[..., None], tf.ShapeError),
        (good.astype(np.float32), tf.DtypeError),
        (good.tolist(), tf.DtypeError),
        (locked, tf.DtypeError),
    ]
    if good.ndim:  # else there is nothing to cut off or to repeat
        repeated = np.broadcast_to(np.zeros(()), good.shape)
        refused += [(good[..., :-1], tf.ShapeError), (repeated, tf.ShapeError)]
    for bad, error in refused:
        with pytest.raises(error, match="out"):
            case.call(arrays, out=bad)


@of_all_kinds
def test_models_threads_and_options_that_are_wrong(case):
    arrays = case.arguments(12, (3,))
    for model in (None, 3, tf.Tree([-1])):
        with pytest.raises(TypeError, match=r"model must be a treefactor\.Model, got"):
            case._replace(model=model).call(arrays)
    for threads in (0, -2):
        for given in (arrays, {name: x[0] for name, x in arrays.items()}):
            with pytest.raises(ValueError, match="num_threads"):
                case.call(given, num_threads=threads)
    for option in case.quantity.options:
        if option.kind == "choice":
            first = next(repr(choice) for choice in option.choices if choice is not None)
            with pytest.raises(ValueError, match=f"{option.name} must be one of {first}.*got 'x'"):
                case._replace(options=case.options | {option.name: "x"}).call(arrays)
    with pytest.raises(TypeError, match=f"{case.quantity.name} has no argument 'nonsense'"):
        case.call(arrays, nonsense=1)
    with pytest.raises(TypeError, match=f"{case.quantity.name} needs the argument"):
        case.function(case.model)
    with pytest.raises(TypeError, match="takes at most"):
        case.function(case.model, *[None] * 30)
    with pytest.raises(TypeError, match=f"received {case.names[0]} twice"):
        case.function(case.model, arrays[case.names[0]], **arrays)


@bound_cases
def test_a_bound_call_reads_its_arrays_each_time(case):
    arrays, second = case.arguments(13), case.arguments(14)
    out = case.empty(case.call(arrays))
    call = tf.bind(case.function, case.model, **arrays, **case.options, out=out)
    for given in (arrays, second):
        for name in case.names:
            arrays[name][...] = given[name]
        assert call() is out
        assert_same(case.parts(out), case.parts(case.call(arrays)))
    if case.model.nv:
        before = [x.copy() for x in case.parts(out)]
        arrays[case.names[-1]].flat[0] = np.nan
        with pytest.raises(tf.NonFiniteError, match=f"{case.names[-1]} is not finite"):
            call()
        assert_same(case.parts(out), before)


@bound_cases
def test_arrays_that_cannot_be_bound_are_named(case):
    arrays = case.arguments(15)
    out = case.empty(case.call(arrays))
    for name in case.names:
        for bad in (arrays[name][None], arrays[name].tolist(), np.repeat(arrays[name], 2, -1)[..., ::2]):
            if isinstance(bad, np.ndarray) and bad.shape == arrays[name].shape and bad.flags.carray:
                continue  # with at most one entry every stride is contiguous
            with pytest.raises(ValueError, match=f"{name} must .* to be bound"):
                tf.bind(case.function, case.model, **(arrays | {name: bad}), **case.options, out=out)
    first = case.parts(out)[0]
    with pytest.raises(ValueError, match=r"to be bound|must be a tuple"):
        tf.bind(case.function, case.model, **arrays, **case.options, out=first[None])


@pytest.mark.parametrize("case", **cases(select=lambda case: case.quantity.inertias))
def test_elements_with_inertias_of_their_own_are_models_with_these(case):
    model = case.model
    if not model.njoints:
        return
    rng = np.random.default_rng(16)
    factors = rng.uniform(0.5, 2.0, size=(COUNT, model.njoints, 1))
    pi = model.parameters * factors
    arrays = case.arguments(17, (COUNT,))
    for inertias in (pi, tf.Inertias(model, pi[:5], which=np.arange(COUNT) % 5)):
        own = case.rows(case.call(arrays, inertias=inertias), COUNT)
        for k in (0, 7, 8, COUNT - 1):
            changed = case._replace(model=model.with_parameters(pi[k if inertias is pi else k % 5]))
            for batch, expected in zip(own, changed.rows(changed.call(arrays), COUNT), strict=True):
                np.testing.assert_array_equal(batch[k], expected[k])
    one = case.call({name: x[0] for name, x in arrays.items()}, inertias=pi[0])
    changed = case._replace(model=model.with_parameters(pi[0]))
    assert_same(case.parts(one), case.parts(changed.call({name: x[0] for name, x in arrays.items()})))


@pytest.mark.parametrize("case", **cases(select=lambda case: case.layout != "dense"))
@pytest.mark.parametrize("count", [1, 8, COUNT])
def test_layouts_hold_the_entries_of_the_dense_result(case, count):
    arrays = case.arguments(18, (count,))
    dense = case._replace(options=case.options | {"layout": "dense"}).call(arrays)
    packed = case._replace(options=case.options | {"layout": "packed"})
    own = case.call(arrays)
    for one, row, whole in zip(
        case.rows(own, count), packed.parts(packed.call(arrays)), case.parts(dense), strict=True
    ):
        np.testing.assert_array_equal(one.reshape(row.shape), row)
        assert set(row[row != 0].tolist()) == set(whole[whole != 0].tolist())
    if case.layout == "lanes":
        for results in (own, case.call(arrays, out=case.empty(own))):
            assert_padded(case, results, count)
        assert all(x.ctypes.data % 64 == 0 for x in case.parts(own))


def assert_padded(case, results, count):
    """Assert that lanes behind the last element are 0, or identity matrices for symmetric matrices."""
    tree = case.model.tree
    identity = tree.pack(np.eye(tree.n))
    for result in case.parts(results):
        padding = np.moveaxis(result, -1, 1).reshape(8 * len(result), result.shape[1])[count:]
        assert not padding.any() or (padding == identity).all()


@of_all_kinds
def test_functions_are_pickled_by_name(case):
    if case.quantity.module == "treefactor":
        assert pickle.loads(pickle.dumps(case.function)) is case.function
        assert getattr(tf, case.quantity.name) is case.function
