"""Call every quantity with arrays of every form, size and state; arguments come from the table."""

import importlib
import itertools
import pickle
from functools import partial

import numpy as np
import pytest
from helpers.array_forms import FORMS, GUARD, UNBOUND, guarded
from helpers.declared import MODELS, each_case

import treefactor as tf
from treefactor.quantities import dynamics
from treefactor.quantities.declaration import NEEDED, Quantity

pytestmark = pytest.mark.isa

COUNT = 19  # three blocks of lanes, the last one not full
SAME_BITS = [
    one.name for one in vars(dynamics).values() if isinstance(one, Quantity) and not one.batch_rounds
]
PLAIN = {(3, 4): np.eye(3, 4), (3, 3): np.eye(3), (7,): np.eye(7)[6], (4,): np.eye(4)[3]}
ALL_KINDS = {"all kinds": MODELS["all kinds"]}
IN_PLACE = {  # arguments over which results may be written
    "integrate": ("q",),
    "interpolate": ("q0",),
    "normalize": ("q",),
    "step": ("q", "v"),
}


def with_out(case):
    """Return whether the function takes out=."""
    return case.quantity.has_out


def is_bound(case):
    """Return whether the function can be bound."""
    return case.quantity.bound and case.layout != "lanes"


def asks_by_arguments(case):
    """Return whether optional arguments ask for further results."""
    return any(option.kind == "presence" for option in case.quantity.options)


every_case = each_case(undeclared=True)
cases_with_out = each_case(select=with_out, undeclared=True)
of_all_kinds = each_case(ALL_KINDS)
of_all_kinds_and_undeclared = each_case(ALL_KINDS, undeclared=True)
of_all_kinds_with_out = each_case(ALL_KINDS, with_out, undeclared=True)
bound_cases = each_case(select=is_bound)
bound_cases_of_all_kinds = each_case(ALL_KINDS, is_bound)
sizes = pytest.mark.parametrize("size", [(), (COUNT,)], ids=["single", "batch"])


def assert_same(own, expected):
    """Assert that results are equal to the bit."""
    for one, other in zip(own, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def tolerance(case, arrays):
    """Return the relative difference that rounding may make between a single call and a batch."""
    if not (case.quantity.fails and case.model.nv and "q" in arrays):
        return 1e-12
    return 1e-13 * max(10.0, np.linalg.cond(tf.crba(case.model, arrays["q"])).max())


@pytest.mark.wheel
@every_case
def test_a_batch_is_its_elements(case):
    lanes = case.layout == "lanes"
    one = case._replace(options=case.options | {"layout": "packed"}) if lanes else case
    for count in (0, 1, 8, COUNT):
        arrays = case.arguments(1, (count,))
        rows = case.rows(case.call(arrays), count)
        assert all(len(x) == count for x in rows)
        for k in range(count):
            single = one.parts(one.call({name: x[k] for name, x in arrays.items()}))
            for own, expected in zip(rows, single, strict=True):
                expected = expected.ravel() if lanes else expected
                assert own[k].shape == expected.shape
                scale = max(1.0, np.abs(expected).max(initial=0.0))
                error = np.abs(np.subtract(own[k], expected, dtype=float)).max(initial=0.0)
                assert error <= tolerance(case, {name: x[k] for name, x in arrays.items()}) * scale
                if case.quantity.name in SAME_BITS:
                    reason = "lanes round as a single call does, or the quantity declares batch_rounds"
                    np.testing.assert_array_equal(own[k], expected, reason)


@every_case
def test_leading_axes_are_those_of_the_arguments(case):
    for size in ((2, 3), (0, 3), (2, 0)):
        arrays, count = case.arguments(1, size), size[0] * size[1]
        flat = {name: x.reshape(count, *x.shape[2:]) for name, x in arrays.items()}
        for own, expected in zip(case.parts(case.call(arrays)), case.parts(case.call(flat)), strict=True):
            shape = expected.shape if case.layout == "lanes" else (*size, *expected.shape[1:])
            np.testing.assert_array_equal(own, expected.reshape(shape), strict=True)


@pytest.mark.wheel
@every_case
@sizes
def test_forms_of_arrays_and_threads_change_no_bit_and_no_argument(case, size):
    arrays = case.arguments(2, size)
    copies = {name: x.copy() for name, x in arrays.items()}
    expected = case.parts(case.call(arrays))
    if case.model and not case.model.nv:
        return  # arrays without entries have one form
    for form in FORMS.values():
        formed = {name: form(x) if x.ndim else x for name, x in arrays.items()}
        assert_same(case.parts(case.call(formed)), expected)
        for name in case.names:
            assert_same(case.parts(case.call(arrays | {name: formed[name]})), expected)
    for threads in (2, 3, 100, -1, np.int64(2)):
        assert_same(case.parts(case.call(arrays, num_threads=threads)), expected)
    assert_same(arrays.values(), copies.values())


@every_case
def test_other_numbers_are_converted(case):
    for size, dtype in itertools.product(((), (COUNT,)), (np.float32, np.int8, np.int64, bool)):
        arrays, rng = case.arguments(2, size), np.random.default_rng(2)
        for array in case.quantity.inputs:
            shape = arrays[array.name].shape
            if array.role == "configuration" or array.shape in PLAIN:  # whole numbers, too
                plain = PLAIN[array.shape] if array.shape in PLAIN else tf.neutral(case.model)
                arrays[array.name] = np.broadcast_to(plain, shape)
            elif array.name == "damping":
                arrays[array.name] = np.ones(shape)
            elif dtype != np.float32:
                arrays[array.name] = rng.integers(0, 2, shape)
        given = {name: np.asarray(x).astype(dtype) for name, x in arrays.items()}
        expected = case.call({name: x.astype(float) for name, x in given.items()})
        assert_same(case.parts(case.call(given)), case.parts(expected))


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
    if asks_by_arguments(case):
        return
    for size in ((), (COUNT,)):
        given = case.arguments(4, size)
        absent = [x.name for x in case.quantity.inputs if case.may_be_absent(x)]
        without = {name: None if name in absent else x for name, x in given.items()}
        without = {x.name: without[x.name] for x in case.quantity.inputs if x.needed or not x.optional}
        zeros = {name: np.zeros_like(given[name]) for name in absent}
        own, expected = case.parts(case.call(without)), case.parts(case.call(without | zeros))
        for one, other in zip(own, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
        assert_same(case.parts(case.call(without | dict.fromkeys(zeros))), own)


@each_case(select=asks_by_arguments)
@sizes
def test_arguments_that_ask_for_results_change_no_bit_of_the_others(case, size):
    given = case.arguments(4, size)
    whole = case.parts(case.call(given))
    asking = [option.name for option in case.quantity.options if option.kind == "presence"]
    for count in (*range(len(asking) + 1), 0):
        without = given | dict.fromkeys(asking[count:])
        kept = [one.when in ("", *asking[:count]) for one in case.quantity.results]
        assert_same(case.parts(case.call(without)), itertools.compress(whole, kept))


@cases_with_out
def test_out_receives_the_result_and_nothing_around_it(case):
    for size, (stride, order) in itertools.product(((), (COUNT,), (2, 3)), ((1, "C"), (2, "C"), (1, "F"))):
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


@pytest.mark.wheel
@cases_with_out
@sizes
def test_out_in_one_line_with_an_argument_that_it_overlaps(case, size):
    """Every argument in turn begins within the first result, or that within it; the results follow."""
    for shift in (0, 1, 5):
        if case.layout == "lanes" and not size:
            continue
        arrays = case.arguments(6, size)
        expected = case.call(arrays)
        parts = case.parts(expected)
        ends = np.cumsum([0, *(x.size for x in parts)])
        for name in case.names:
            for ahead in (False, True):
                given = arrays[name]
                line = np.full(given.size + ends[-1] + shift + 9, GUARD)
                at, of_out = (shift, 0) if ahead else (0, shift)
                overlapped = line[at : at + given.size].reshape(given.shape)
                overlapped[...] = given
                before = line.copy()
                views = [
                    line[of_out + i : of_out + j].reshape(x.shape)
                    for i, j, x in zip(ends[:-1], ends[1:], parts, strict=True)
                ]
                out = tuple(views) if isinstance(expected, tuple) else views[0]
                assert case.call(arrays | {name: overlapped}, out=out) is out
                assert_same(views, [np.asarray(x) for x in parts])
                around = np.delete(np.arange(line.size), slice(of_out, of_out + ends[-1]))
                np.testing.assert_array_equal(line[around], before[around])


@cases_with_out
@sizes
def test_vectors_and_out_may_be_parts_of_one_array(case, size):
    """Vectors are the first entries of the first argument, over which the first result is written."""
    if not case.configurations or (case.layout == "lanes" and not size):
        return
    arrays = case.arguments(36, size)
    first, *others = case.names
    width = arrays[first].shape[-1]
    for array in case.quantity.inputs:
        if array.name in others and array.shape == ("nv",):
            arrays[array.name] = arrays[first][..., : case.model.nv]
    expected = case.call({name: x.copy() for name, x in arrays.items()})
    parts = [np.array(x) for x in case.parts(expected)]
    targets = [np.full(x.shape, np.nan) for x in parts]
    if parts[0].shape[len(size) :] and parts[0].shape[:-1] == size and parts[0].shape[-1] <= width:
        targets[0] = arrays[first][..., : parts[0].shape[-1]]
    out = tuple(targets) if isinstance(expected, tuple) else targets[0]
    assert case.call(arrays, out=out) is out
    assert_same(targets, parts)


@pytest.mark.wheel
@every_case
def test_a_bad_element_is_nan_and_its_neighbours_change_no_bit(case):
    for value, threads in itertools.product((np.nan, np.inf), (1, 2)):
        arrays = case.arguments(7, (COUNT,))
        before = case.rows(case.call(arrays), COUNT)
        for name in case.names:
            size = arrays[name][0].size
            for row, entry in ((1, 0), (8, size // 2), (COUNT - 1, size - 1)) if size else ():
                bad = {key: x.copy() for key, x in arrays.items()}
                bad[name][row : row + 1].flat[entry] = value
                further = [{"out": case.empty(case.call(bad))}] if case.quantity.has_out else []
                for results in [case.call(bad, num_threads=threads, **one) for one in ({}, *further)]:
                    for own, good in zip(case.rows(results, COUNT), before, strict=True):
                        assert_spoiled(own, good, row, case)


def assert_spoiled(own, good, row, case):
    """Assert that a row is NaN, except for zeros outside the pattern, and that all others are unchanged.

    Entries of poses need not depend on all arguments, nor does the first state of a rollout.
    """
    np.testing.assert_array_equal(np.delete(own, row, axis=0), np.delete(good, row, axis=0))
    if case.has_first_state or not (case.quantity.kernel and case.quantity.has_model):
        return
    if own.dtype == bool:
        assert not own[row]
        return
    spoiled = np.isnan(own[row])
    assert spoiled.any() or not own[row].size
    assert (own[row][~spoiled] == 0).all()
    assert (good[row][~spoiled] == 0).all()


@each_case(ALL_KINDS, lambda case: case.configurations)
def test_an_invalid_rotation_spoils_its_element_and_names_the_joint(case):
    if case.quantity.name == "normalize":
        return  # any length is valid
    model, arrays = case.model, case.arguments(8, (COUNT,))
    before = case.rows(case.call(arrays), COUNT)
    turns = {"continuous": 2, "spherical": 4, "planar": 2, "freeflyer": 4}.items()
    for (kind, entries), name, length in itertools.product(turns, case.configurations, (0.0, 1.001, 1e200)):
        joint = next(i for i, joint in enumerate(model.joints) if joint.kind == kind)
        end = model.idx_q[joint] + model.joints[joint].nq
        bad = arrays | {name: arrays[name].copy()}
        bad[name][1, end - entries : end] *= length
        for own, good in zip(case.rows(case.call(bad), COUNT), before, strict=True):
            assert_spoiled(own, good, 1, case)
        with pytest.raises(tf.ConfigurationError, match=model.joints[joint].name) as raised:
            case.call({key: x[1] for key, x in bad.items()})
        assert raised.value.joint == model.joints[joint].name


@of_all_kinds_and_undeclared
def test_a_single_call_names_the_argument_that_is_not_finite_and_leaves_out(case):
    for value in (np.nan, np.inf, -np.inf):
        good = case.arguments(9)
        for name in case.names:
            bad = good | {name: good[name].copy()}
            bad[name].flat[-1] = value
            with pytest.raises(tf.NonFiniteError, match=f"^{name} is not finite"):
                case.call(bad)
            with pytest.raises(tf.NonFiniteError, match=f"^{name} is not finite"):
                case.call({key: x.tolist() for key, x in bad.items()})
            if case.layout != "lanes" and case.quantity.has_out:
                out = case.empty(case.call(good))
                with pytest.raises(tf.NonFiniteError, match=f"^{name} is not finite"):
                    case.call(bad, out=out)
                assert all(np.isnan(x).all() for x in case.parts(out))


@pytest.mark.wheel
@of_all_kinds_with_out
@pytest.mark.parametrize("size", [(), (3,)], ids=["single", "batch"])
def test_wrong_arguments_are_named_and_leave_out(case, size):
    good = case.arguments(10, size)
    lead = size or (1,) * (case.layout == "lanes")
    out = case.empty(case.call(case.arguments(10, lead)))

    def refused(error, match, **changed):
        with pytest.raises(error, match=match) as raised:
            case.call(good | changed, out=out)
        assert all(np.isnan(x).all() for x in case.parts(out))
        return raised.value

    for array in case.quantity.inputs:
        name, x = array.name, good[array.name]
        wrong = []
        if array.shape:
            wrong += [x[..., :-1], np.zeros((*size, 0)), np.zeros(())]
            first = len(size) + case.counts_steps(array)  # any length of that axis is right
            wrong += [np.repeat(x, 3, axis) for axis in range(first, x.ndim)]
            wrong += [x[..., None]] * (array.role != "direction")
        for bad in wrong:
            assert refused(tf.ShapeError, rf"^{name} must have shape \(", **{name: bad}).received == bad.shape
        for odd in (x + 1j, 10**400 if array.role == "number" else "x"):
            refused(tf.DtypeError, f"^{name} must hold real numbers", **{name: odd})
        refused(tf.DtypeError, f"^{name} is a masked array", **{name: np.ma.masked_greater(x, 0.0)})
        if not array.optional:
            why = "is needed" if case.quantity.kernel else "(is needed|must hold real numbers)"
            refused(tf.DtypeError, f"^{name} {why}, got None", **{name: None})
        if size and len(case.names) > 1:
            for bad in (np.concatenate([x, x]), x[:1], x[:0], x[:, None]):
                if array.role != "direction" or bad.ndim == x.ndim:  # one direction for every state
                    refused(tf.ShapeError, "must have shape|leading axes", **{name: bad})
    for threads in (0, -2, "2", 2.5, 1.0, None):
        with pytest.raises((ValueError, TypeError), match="num_threads must be"):
            case.call(good, out=out, num_threads=threads)
        assert all(np.isnan(x).all() for x in case.parts(out))


@pytest.mark.wheel
@of_all_kinds_with_out
@pytest.mark.parametrize("size", [(), (3,)], ids=["single", "batch"])
def test_outs_that_cannot_hold_the_result_are_refused(case, size):
    if case.layout == "lanes":
        size = size or (1,)
    arrays = case.arguments(11, size)
    expected = case.call(arrays)
    parts = [np.array(x) for x in case.parts(expected)]
    if isinstance(expected, tuple):
        for bad in (case.empty(expected)[:-1], (*case.empty(expected), parts[0]), parts[0]):
            with pytest.raises(
                (tf.ShapeError, tf.DtypeError), match=r"out must (be a tuple|have the fields)"
            ):
                case.call(arrays, out=bad)
    for k, good in enumerate(parts):
        for bad, error in unfit(good):
            out = [np.full(x.shape, np.nan) for x in parts]
            out[k] = bad
            place = rf"^out\[{k}\] " if isinstance(expected, tuple) and case.quantity.kernel else "out"
            with pytest.raises(error, match=place):
                case.call(arrays, out=tuple(out) if isinstance(expected, tuple) else bad)
            assert all(np.isnan(x).all() for j, x in enumerate(out) if j != k)
    for k, j in [(0, 1), (len(parts) - 1, 0)] if len(parts) > 1 else ():
        line = np.full(max(parts[k].size, parts[j].size) + 1, np.nan)
        out = [np.full(x.shape, np.nan) for x in parts]
        for place, at in ((k, 0), (j, min(1, parts[k].size - 1))):
            out[place] = line[at : at + parts[place].size].reshape(parts[place].shape)
        with pytest.raises(
            tf.ShapeError, match=rf"arrays ({min(k, j)} and {max(k, j)}|q and v) of out share memory"
        ):
            case.call(arrays, out=tuple(out))
        assert all(np.isnan(x).all() for x in out)


def unfit(good):
    """Yield arrays that cannot hold a result, and the errors that they raise."""
    locked = good.copy()
    locked.flags.writeable = False
    yield good[..., None], tf.ShapeError
    yield np.empty((2, *good.shape)), tf.ShapeError
    yield good.astype(np.float32), tf.DtypeError
    yield good.tolist(), tf.DtypeError
    yield np.ma.array(good), tf.DtypeError
    yield locked, tf.DtypeError
    if good.ndim:  # else there is nothing to cut off or to repeat
        yield good[..., :-1], tf.ShapeError
        yield np.broadcast_to(np.zeros(()), good.shape), tf.ShapeError


@of_all_kinds
def test_models_threads_and_options_that_are_wrong(case):
    arrays = case.arguments(12, (3,))
    given = [case.model] * case.quantity.has_model
    for model in (None, 3, tf.Tree([-1])) if given else ():
        with pytest.raises(TypeError, match=r"model must be a treefactor\.Model, got"):
            case._replace(model=model).call(arrays)
    for option in case.quantity.options:
        if option.kind in ("choice", "reference"):
            listed = ", ".join(repr(choice) for choice in option.choices if choice is not None)
            odd = ["x", 7, np.zeros(2), np.array(["dense", "packed"])] + [None] * (None not in option.choices)
            for value in odd:
                with pytest.raises(ValueError, match=f"^{option.name} must be one of {listed}; got"):
                    case._replace(options=case.options | {option.name: value}).call(arrays)
    with pytest.raises(TypeError, match=f"{case.quantity.name} has no argument 'nonsense'"):
        case.call(arrays, nonsense=1)
    with pytest.raises(TypeError, match=f"{case.quantity.name} needs the argument"):
        case.function(*given)
    with pytest.raises(TypeError, match="takes at most"):
        case.function(*given, *[None] * 30)
    with pytest.raises(TypeError, match=f"received {case.names[0]} twice"):
        case.function(*given, arrays[case.names[0]], **arrays)


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
        if case.configurations and any(joint.kind == "freeflyer" for joint in case.model.joints):
            q = arrays[case.configurations[0]].copy()
            if case.quantity.name != "normalize":  # where any length is valid
                arrays[case.configurations[0]][...] *= 2.0
                with pytest.raises(tf.ConfigurationError):
                    call()
                assert_same(case.parts(out), before)
            arrays[case.configurations[0]][...] = q
        arrays[case.names[-1]].flat[0] = np.nan
        with pytest.raises(tf.NonFiniteError, match=f"{case.names[-1]} is not finite"):
            call()
        assert_same(case.parts(out), before)


@bound_cases_of_all_kinds
def test_arrays_that_cannot_be_bound_are_named(case):
    arrays = case.arguments(15)
    expected = case.call(arrays)
    parts = [np.array(x) for x in case.parts(expected)]

    def bind(given, out):
        return tf.bind(case.function, case.model, **given, **case.options, out=out)

    kept = {one.name for one in case.quantity.inputs if one.default is not NEEDED}  # Python's numbers hold
    for form, (change, why) in UNBOUND.items():
        for name in case.names:
            if arrays[name].ndim or (form != "strided" and (form != "list" or name not in kept)):
                with pytest.raises(ValueError, match=f"^{name} must .*{why}"):
                    bind(arrays | {name: change(arrays[name])}, case.empty(expected))
        for k, part in enumerate(parts):
            if part.ndim or form not in ("strided",):
                out = [*parts[:k], change(part), *parts[k + 1 :]]
                place = rf"out\[{k}\]" if isinstance(expected, tuple) else "out"
                with pytest.raises(ValueError, match=f"^{place} must .*{why}"):
                    bind(arrays, tuple(out) if isinstance(expected, tuple) else out[0])


@bound_cases_of_all_kinds
def test_calls_that_cannot_be_bound_are_explained(case):
    arrays = case.arguments(15)
    expected = case.call(arrays)
    out, count = case.empty(expected), len(case.parts(expected))
    bind = partial(tf.bind, case.function, case.model)
    for k, part in enumerate(case.parts(out)):
        memory = np.zeros(max(part.size, *(x.size for x in arrays.values())))
        parts = case.parts(out)
        parts[k] = memory[: part.size].reshape(part.shape)
        shared = tuple(parts) if isinstance(out, tuple) else parts[0]
        for name in case.names:
            bad = memory[: arrays[name].size].reshape(arrays[name].shape)
            if part.size and bad.size and (name,) != IN_PLACE.get(case.quantity.name, ())[k : k + 1]:
                with pytest.raises(ValueError, match=rf"^out(\[{k}\])? shares memory with {name}"):
                    bind(**(arrays | {name: bad}), **case.options, out=shared)
        parts[k] = part.copy()
        parts[k].flags.writeable = False
        with pytest.raises(ValueError, match=r"^out(\[\d\])? is read-only"):
            bind(**arrays, **case.options, out=tuple(parts) if isinstance(out, tuple) else parts[0])
    if isinstance(out, tuple):
        with pytest.raises(ValueError, match=f"out must be a tuple of {count} arrays, got ndarray"):
            bind(**arrays, **case.options, out=out[0])
        whole = np.zeros(max(x.size for x in out))
        with pytest.raises(ValueError, match="arrays 0 and 1 of out share memory"):
            bind(**arrays, **case.options, out=tuple(whole[: x.size].reshape(x.shape) for x in out))
    for array in case.quantity.inputs:
        if not array.optional:
            with pytest.raises(ValueError, match=f"^{array.name} must be"):
                bind(**(arrays | {array.name: None}), **case.options, out=out)
    for name in ("foo", "num_threads"):
        with pytest.raises(ValueError, match=rf"takes no {name} to be bound, only {case.names[0]}.* and out"):
            bind(**arrays, **case.options, out=out, **{name: 2})
    with pytest.raises(ValueError, match=f"received {case.names[0]} twice"):
        bind(arrays[case.names[0]], **arrays, **case.options, out=out)
    with pytest.raises(ValueError, match=rf"takes \d arguments? after the model: {case.names[0]}.*; got 0"):
        bind(out=out)
    with pytest.raises(TypeError, match=r"model must be a treefactor\.Model"):
        tf.bind(case.function, None, **arrays, **case.options, out=out)
    for option in case.quantity.options:
        if option.choices:
            why = "must be one of" if option.name != "layout" else "must be one of 'dense', 'packed'; got"
            for value in ("x", *({"lanes"} & {*option.choices})):
                with pytest.raises(ValueError, match=f"^{option.name} {why}"):
                    bind(**arrays, **(case.options | {option.name: value}), out=out)


with_inertias = each_case(select=lambda case: case.quantity.inertias and case.model.njoints, undeclared=True)


@with_inertias
@pytest.mark.parametrize("count", [1, 8, COUNT])
def test_elements_with_inertias_of_their_own_are_models_with_these(case, count):
    model, rng = case.model, np.random.default_rng(16)
    pi = model.parameters * rng.uniform(0.5, 2.0, size=(count, model.njoints, 1))
    armature = rng.random((count, model.nv))
    arrays = case.arguments(17, (count,))
    which = rng.integers(0, min(count, 5), count)
    sets = (np.arange(count), which, np.sort(which))
    made = [tf.Inertias(model, pi, armature)]
    made += [tf.Inertias(model, pi[:5], armature[:5], which) for which in sets[1:]]
    rows = [case.rows(case.call(arrays, inertias=inertias), count) for inertias in made]
    for k in sorted({0, min(7, count - 1), count - 1}):
        for own, chosen in zip(rows, sets, strict=True):
            one = model.with_parameters(pi[chosen[k]], armature[chosen[k]])
            changed = case._replace(model=one)
            for batch, expected in zip(own, changed.rows(changed.call(arrays), count), strict=True):
                np.testing.assert_array_equal(batch[k], expected[k])
    for threads in (2, -1):
        assert_same(case.rows(case.call(arrays, inertias=made[0], num_threads=threads), count), rows[0])


@with_inertias
def test_inertias_of_one_state_are_a_model_and_those_of_a_batch_make_one(case):
    model, rng = case.model, np.random.default_rng(18)
    pi = model.parameters * rng.uniform(0.5, 2.0, size=(2, 3, model.njoints, 1))
    arrays = case.arguments(19)
    one = case.call(arrays, inertias=pi[0, 0])
    changed = case._replace(model=model.with_parameters(pi[0, 0]))
    assert_same(case.parts(one), case.parts(changed.call(arrays)))
    flat = case.parts(case.call(arrays, inertias=pi.reshape(6, *pi.shape[2:])))
    for own, expected in zip(case.parts(case.call(arrays, inertias=pi)), flat, strict=True):
        shape = expected.shape if case.layout == "lanes" else (2, 3, *expected.shape[1:])
        np.testing.assert_array_equal(own, expected.reshape(shape))
    given = {name: np.repeat(x[None], 6, axis=0) for name, x in arrays.items()}
    assert_same(flat, case.parts(case.call(given, inertias=pi.reshape(6, *pi.shape[2:]))))
    none = case.call({name: x[:0] for name, x in given.items()}, inertias=pi[:0, 0])
    assert all(x.size == 0 for x in case.parts(none))
    with pytest.raises(tf.ShapeError, match=r"inertias have leading axes \(3,\), the other .* \(6,\)"):
        case.call(given, inertias=pi[0])
    with pytest.raises(tf.ShapeError, match=r"inertias must have shape \(\.\.\., \d+, 10\), .* 10 numbers"):
        case.call(given, inertias=pi[..., :9])
    with pytest.raises(tf.NonFiniteError, match="inertias is not finite: m of joint"):
        case.call(given, inertias=np.nan * pi)
    with pytest.raises(tf.DtypeError, match="inertias must hold real numbers"):
        case.call(given, inertias="heavy")
    if is_bound(case) and case.quantity.kernel:
        bound = {**arrays, **case.options, "out": case.empty(one)}
        assert_same(case.parts(tf.bind(case.function, model, **bound, inertias=pi[0, 0])()), case.parts(one))
        with pytest.raises(ValueError, match="cannot be bound"):
            tf.bind(case.function, model, **bound, inertias=pi[0])


@each_case(select=lambda case: case.layout != "dense")
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
        tree, square = case.model.tree, whole.ndim == row.ndim + 1
        if square and row.shape[-1] == tree.nnz:
            np.testing.assert_array_equal(row, tree.pack(whole))
        if square and row.shape[-1] == 2 * tree.nnz - tree.n:
            np.testing.assert_array_equal(row, tree.pack_pair(whole))
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


def has_flags(case):
    """Return whether the options ask for further results."""
    return any(result.when and case.options.get(result.when) is True for result in case.quantity.results)


def shown(case):
    """Return the results that the options ask for."""
    return [result for result in case.quantity.results if not result.when or case.options.get(result.when)]


@each_case(select=has_flags)
@sizes
def test_further_results_change_no_bit_of_the_others(case, size):
    arrays = case.arguments(20, size)
    flags = [option.name for option in case.quantity.options if option.kind == "flag"]
    plain = case._replace(options={name: x for name, x in case.options.items() if name not in flags})
    kept = dict(zip(shown(plain), plain.parts(plain.call(arrays)), strict=True))
    for result, own in zip(shown(case), case.parts(case.call(arrays)), strict=True):
        assert_same([own], [kept.get(result, own)])


@of_all_kinds
def test_functions_are_pickled_by_name(case):
    assert pickle.loads(pickle.dumps(case.function)) is case.function
    assert getattr(importlib.import_module(case.quantity.module), case.quantity.name) is case.function
