"""Check the dynamics on batches and on arrays of any layout, and the errors for invalid input."""

import numpy as np
import pytest
from helpers.array_forms import FORMS, GUARD, guarded
from helpers.dynamics_cases import CALLS, MODELS, TAKES, arguments, names_of, results

import treefactor as tf

pytestmark = [pytest.mark.wheel, pytest.mark.isa]

BATCHES = (0, 1, 7, 8, 9, 100)
PAIRS = [(which, name) for which, model in MODELS.items() for name in names_of(model)]
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
each = pytest.mark.parametrize(("which", "name"), PAIRS)
calls_of_all_kinds = pytest.mark.parametrize("name", CALLS)
batches = pytest.mark.parametrize("count", BATCHES)
ALL_KINDS = MODELS["all kinds"]
ROUNDING = 1e-13  # relative to the largest entry; of accelerations, to what H's condition makes of it


def assert_same(own, expected):
    assert own.keys() == expected.keys()
    for name in own:
        np.testing.assert_array_equal(own[name], expected[name], err_msg=name, strict=True)


def one_by_one(model, name, given):
    """Return results of single calls."""
    return np.array([CALLS[name](model, *each) for each in zip(*given, strict=True)])


@batches
@each
def test_a_batch_is_its_elements(which, name, count):
    model = MODELS[which]
    given = arguments(model, 1, count)
    own = CALLS[name](model, *given)
    if name == "lanes":
        own = model.tree.unpack(own, layout="lanes")[:count]
        name = "crba"
    assert own.shape[0] == count
    if not count:
        return
    expected = one_by_one(model, name, given)
    condition = 1.0
    if name in ("aba", "factor") and model.nv:
        condition = np.linalg.cond(tf.crba(model, given[0])).max()
    assert np.abs(own - expected).max(initial=0) <= ROUNDING * condition * np.abs(expected).max(initial=0)


@models
def test_leading_axes(model):
    given = arguments(model, 1, (2, 3))
    flat = [x.reshape(6, *x.shape[2:]) for x in given]
    own, expected = results(model, given), results(model, flat)
    for name in own:
        shape = own[name].shape if name == "lanes" else (2, 3, *expected[name].shape[1:])
        np.testing.assert_array_equal(own[name], expected[name].reshape(shape), err_msg=name, strict=True)


@models
@pytest.mark.parametrize("shared", ["q", "v", "x", "fext"])
def test_an_argument_without_batch_axes_holds_for_all(model, shared):
    given = dict(zip(("q", "v", "x", "fext"), arguments(model, 1, 9), strict=True))
    one = given[shared][0].copy()
    expected = results(model, (given | {shared: np.repeat(one[None], 9, axis=0)}).values())
    own = results(model, (given | {shared: one}).values())
    for name in own:
        if TAKES[name] != [shared]:
            np.testing.assert_array_equal(own[name], expected[name], err_msg=name, strict=True)


@each
@pytest.mark.parametrize("size", [(), (9,)], ids=["single", "batch"])
def test_forms_of_arrays_change_no_bit(which, name, size):
    model = MODELS[which]
    if not model.nv:
        return  # arrays without entries have one form
    given = arguments(model, 1, size)
    given = [*given[:3], None] if not size else given  # a single call without fext takes the fast path
    expected = CALLS[name](model, *given)
    for form, make in FORMS.items():
        own = CALLS[name](model, *[None if x is None else make(x) for x in given])
        if size:
            np.testing.assert_array_equal(own, expected, err_msg=form, strict=True)
        else:
            np.testing.assert_allclose(own, expected, rtol=1e-9, atol=1e-9, err_msg=form)


@each
@pytest.mark.parametrize("size", [(), (9,), (2, 3)], ids=str)
@pytest.mark.parametrize(("stride", "order"), [(1, "C"), (2, "C"), (1, "F")])
def test_out_receives_the_result_and_nothing_around_it(which, name, size, stride, order):
    model = MODELS[which]
    given = [*arguments(model, 1, size)[:3], None]
    expected = CALLS[name](model, *given)
    out, big, guards = guarded(expected.shape, stride, order)
    assert CALLS[name](model, *given, out=out) is out
    tolerance = {} if size else {"rtol": 1e-9, "atol": 1e-9}  # a single call takes another way for such outs
    np.testing.assert_allclose(out, expected, **({"rtol": 0, "atol": 0} | tolerance))
    assert (big[guards] == GUARD).all()


@each
@pytest.mark.parametrize("size", [(), (9,)], ids=["single", "batch"])
def test_an_out_within_a_line_of_guards(which, name, size):
    model = MODELS[which]
    given = [*arguments(model, 1, size)[:3], None]
    expected = CALLS[name](model, *given)
    line = np.full(expected.size + 34, GUARD)
    out = line[17 : 17 + expected.size].reshape(expected.shape)
    assert CALLS[name](model, *given, out=out) is out
    np.testing.assert_array_equal(out, expected)
    assert (np.delete(line, np.arange(17, 17 + expected.size)) == GUARD).all()


@pytest.mark.parametrize("size", [(), (9,)], ids=["single", "batch"])
@pytest.mark.parametrize("name", ["rnea", "bias", "h_times", "factor", "aba"])
def test_an_out_that_is_an_argument_or_overlaps_one(name, size):
    model = ALL_KINDS
    q, v, x, _ = arguments(model, 1, size)
    expected = CALLS[name](model, q, v, x, None)
    for shift in (0, 1, model.nv - 1):
        for which in range(2):
            line = np.zeros(v.size + shift)
            given = [v.copy(), x.copy()]
            overlapped = line[shift:].reshape(v.shape)
            overlapped[...] = given[which]
            given[which] = overlapped
            out = line[: v.size].reshape(v.shape)
            CALLS[name](model, q, *given, None, out=out)
            np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-9)


def test_h_over_its_configuration():
    model = MODELS["one"]
    q = np.array([0.3])
    expected = tf.crba(model, q)
    tf.crba(model, q, out=q.reshape(1, 1))
    np.testing.assert_array_equal(q.reshape(1, 1), expected)


@models
@batches
def test_layouts_hold_the_same_numbers(model, count):
    q = arguments(model, 1, count)[0]
    H = tf.crba(model, q)
    np.testing.assert_array_equal(tf.crba(model, q, layout="packed"), model.tree.pack(H), strict=True)
    lanes = tf.crba(model, q, layout="lanes")
    np.testing.assert_array_equal(lanes, model.tree.pack(H, layout="lanes"), strict=True)
    assert lanes.ctypes.data % 64 == 0


@batches
def test_lanes_are_what_factor_takes(count):
    model = ALL_KINDS
    q, _, x, _ = arguments(model, 1, count)
    f = tf.factor(tf.crba(model, q, layout="lanes"), model.tree, layout="lanes")
    direct = tf.factor(tf.crba(model, q), model.tree)
    np.testing.assert_array_equal(f.status[:count], direct.status)
    padded = np.zeros((len(f.status), model.nv))
    padded[:count] = x
    np.testing.assert_array_equal(f.solve(padded)[:count], direct.solve(x))


@models
@pytest.mark.parametrize("num_threads", [2, 3, 100, -1])
@pytest.mark.parametrize("count", [0, 1, 9, 50])
def test_threads_change_no_bit(model, num_threads, count):
    given = arguments(model, 1, count)
    assert_same(results(model, given, num_threads=num_threads), results(model, given))


BAD = {
    "nan": lambda x: x.__setitem__((1, ..., -1), np.nan),
    "inf": lambda x: x.__setitem__((1, ..., 0), np.inf),
}


def spoiled(given, which, how):
    """Return arguments of which one is invalid in its element 1."""
    given = {name: x.copy() for name, x in given.items()}
    BAD[how](given[which])
    return given


@each
@pytest.mark.parametrize("how", BAD)
def test_a_bad_element_is_nan_and_its_neighbours_change_no_bit(which, name, how):
    model = MODELS[which]
    if not model.nv:
        return
    given = dict(zip(("q", "v", "x", "fext"), arguments(model, 1, 11), strict=True))
    before = CALLS[name](model, *given.values())
    for argument in TAKES[name]:
        own = CALLS[name](model, *spoiled(given, argument, how).values())
        assert_spoiled(model, own, before, name)


def assert_spoiled(model, own, before, name):
    """Assert that element 1 is NaN except for the zeros of H, and that all others are unchanged."""
    if name == "lanes":
        own, before = (np.moveaxis(x, -1, 1).reshape(-1, x.shape[1]) for x in (own, before))
    bad = own[1][model.tree.mask()] if own.ndim == 3 else own[1]
    assert np.isnan(bad).all()
    np.testing.assert_array_equal(np.delete(own, 1, axis=0), np.delete(before, 1, axis=0))


@calls_of_all_kinds
@pytest.mark.parametrize("kind", ["continuous", "spherical", "planar", "freeflyer"])
def test_a_rotation_that_is_none_spoils_its_element(name, kind):
    model = ALL_KINDS
    given = list(arguments(model, 1, 11))
    before = CALLS[name](model, *given)
    joint = next(i for i, joint in enumerate(model.joints) if joint.kind == kind)
    given[0] = given[0].copy()
    given[0][1, model.idx_q[joint] + model.joints[joint].nq - 1] += 1.0
    assert_spoiled(model, CALLS[name](model, *given), before, name)
    with pytest.raises(tf.ConfigurationError, match=model.joints[joint].name) as raised:
        CALLS[name](model, *(x[1] for x in given))
    assert raised.value.joint == model.joints[joint].name


@calls_of_all_kinds
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_single_call_says_what_is_not_finite(name, value):
    given = dict(zip(("q", "v", "x", "fext"), arguments(ALL_KINDS, 1), strict=True))
    for argument in TAKES[name]:
        bad = given | {argument: np.full_like(given[argument], value)}
        shown = {"x": "(a|tau|x)"}.get(argument, argument)
        with pytest.raises(tf.NonFiniteError, match=f"^{shown} is not finite"):
            CALLS[name](ALL_KINDS, *bad.values())


def test_huge_numbers_are_no_error_of_the_configuration():
    model = MODELS["freeflyer"]
    q = arguments(model)[0]
    q[3:7] = 1e200
    with pytest.raises(tf.ConfigurationError):
        tf.crba(model, q)
    assert np.isnan(tf.crba(model, q[None], layout="packed")).all()


@calls_of_all_kinds
def test_what_is_missing_is_named(name):
    given = dict(zip(("q", "v", "x", "fext"), arguments(ALL_KINDS, 1), strict=True))
    for argument in TAKES[name]:
        if argument != "fext":
            with pytest.raises(
                tf.DtypeError, match=f"^({argument}|a|tau|x|b) must hold real numbers, got NoneType"
            ):
                CALLS[name](ALL_KINDS, *(given | {argument: None}).values())


@calls_of_all_kinds
@pytest.mark.parametrize("size", [(), (3,)], ids=["single", "batch"])
def test_wrong_shapes_are_told(name, size):
    given = dict(zip(("q", "v", "x", "fext"), arguments(ALL_KINDS, 1, size), strict=True))
    for argument in TAKES[name]:
        x = given[argument]
        for bad in (x[..., :-1], x[..., None], np.zeros((*size, 0)), np.zeros(())):
            with pytest.raises(tf.ShapeError, match=r"must have shape \(") as raised:
                CALLS[name](ALL_KINDS, *(given | {argument: bad}).values())
            assert raised.value.received == bad.shape


@pytest.mark.parametrize("batch", [(4,), (1,), (0,), (3, 1)])
def test_batches_of_different_sizes_never_broadcast(batch):
    q, _, x, _ = arguments(ALL_KINDS, 1, 3)
    with pytest.raises(tf.ShapeError, match="must have shape"):
        tf.rnea(ALL_KINDS, q, np.zeros((*batch, ALL_KINDS.nv)), x)


@calls_of_all_kinds
@pytest.mark.parametrize("size", [(), (3,)], ids=["single", "batch"])
def test_outs_that_cannot_hold_the_result(name, size):
    given = arguments(ALL_KINDS, 1, size)
    good = CALLS[name](ALL_KINDS, *given)
    fixed = good.copy()
    fixed.flags.writeable = False
    repeated = np.broadcast_to(np.zeros(()), good.shape)
    for bad, error in [
        (good[..., :-1], tf.ShapeError),
        (good.astype(np.float32), tf.DtypeError),
        (good.tolist(), tf.DtypeError),
        (fixed, tf.DtypeError),
        (repeated, tf.ShapeError),
    ]:
        with pytest.raises(error, match="out"):
            CALLS[name](ALL_KINDS, *given, out=bad)


@calls_of_all_kinds
@pytest.mark.parametrize("model", [None, 3, tf.Tree([-1])], ids=repr)
def test_what_is_no_model_is_told(name, model):
    with pytest.raises(TypeError, match=r"model must be a treefactor\.Model, got"):
        CALLS[name](model, *arguments(MODELS["one"]))


@calls_of_all_kinds
@pytest.mark.parametrize("threads", [0, -2])
def test_wrong_numbers_of_threads(name, threads):
    with pytest.raises(ValueError, match="num_threads"):
        CALLS[name](ALL_KINDS, *arguments(ALL_KINDS, 1, 3), num_threads=threads)


def test_names_that_are_unknown():
    q, v, x, _ = arguments(ALL_KINDS)
    with pytest.raises(ValueError, match="layout must be one of 'dense', 'packed', 'lanes'; got 'sparse'"):
        tf.crba(ALL_KINDS, q, layout="sparse")
    with pytest.raises(ValueError, match="method must be one of 'aba', 'factor'; got 'crba'"):
        tf.forward_dynamics(ALL_KINDS, q, v, x, method="crba")


@pytest.mark.parametrize("method", ["aba", "factor"])
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "spherical"])
def test_a_leaf_without_mass_is_named(kind, method):
    body = tf.Inertia(1.0, [0.1, 0.2, 0.3], np.eye(3))
    axis = None if kind == "spherical" else [0, 0, 1]
    joints = [tf.Joint("arm", "revolute", axis=[0, 1, 0], inertia=body), tf.Joint("tip", kind, 0, axis=axis)]
    model = tf.Model(joints)
    q, v, x, _ = arguments(model, 1, 9)
    with pytest.raises(tf.NotPositiveDefiniteError, match="tip") as raised:
        tf.forward_dynamics(model, q[0], v[0], x[0], method=method)
    assert raised.value.row == model.nv - 1
    assert raised.value.name == model.tree.names[-1]
    assert np.isnan(tf.forward_dynamics(model, q, v, x, method=method)).all()
    armed = tf.Model([joints[0], tf.Joint("tip", kind, 0, axis=axis, armature=0.1)])
    assert np.isfinite(tf.forward_dynamics(armed, q, v, x, method=method)).all()


@pytest.mark.parametrize("method", ["aba", "factor"])
def test_a_configuration_without_inertia_spoils_itself_alone(method):
    """Uses a point mass that slides through its axis of rotation."""
    bead = tf.Inertia(1.0)
    model = tf.Model([
        tf.Joint("hinge", "revolute", axis=[0, 0, 1]),
        tf.Joint("slide", "prismatic", 0, axis=[1, 0, 0], inertia=bead),
    ])  # fmt: skip
    q, v, x, _ = arguments(model, 1, 11)
    before = tf.forward_dynamics(model, q, v, x, method=method)
    q[1, 1] = 0.0
    assert_spoiled(model, tf.forward_dynamics(model, q, v, x, method=method), before, method)
    with pytest.raises(tf.NotPositiveDefiniteError, match="hinge"):
        tf.forward_dynamics(model, q[1], v[1], x[1], method=method)


def test_the_articulated_bodies_refuse_followers():
    model = MODELS["followers"]
    assert model.coupling
    for size in ((), (3,)):
        given = arguments(model, 1, size)
        for call in (tf.aba, lambda *a: tf.forward_dynamics(*a, method="aba")):
            with pytest.raises(ValueError, match=r"method='factor'"):
                call(model, *given[:3])


BOUND = {
    tf.crba: "q",
    tf.rnea: "qvx",
    tf.bias: "qv",
    tf.h_times: "qx",
    tf.aba: "qvx",
    tf.forward_dynamics: "qvx",
}


@pytest.mark.parametrize("function", BOUND, ids=lambda function: function.__name__)
def test_a_bound_call_reads_its_arrays_each_time(function):
    first, second = (dict(zip("qvx", arguments(ALL_KINDS, seed)[:3], strict=True)) for seed in (1, 2))
    arrays = [first[name] for name in BOUND[function]]
    out = np.empty_like(function(ALL_KINDS, *arrays))
    call = tf.bind(function, ALL_KINDS, *arrays, out=out)
    for given in (first, second):
        for name, array in zip(BOUND[function], arrays, strict=True):
            array[...] = given[name]
        assert call() is out
        np.testing.assert_array_equal(out, function(ALL_KINDS, *arrays))
    arrays[0][0] = np.nan
    with pytest.raises(tf.NonFiniteError, match="q is not finite"):
        call()


def test_what_cannot_be_bound():
    q, v, x, _ = arguments(ALL_KINDS)
    out = np.empty(ALL_KINDS.nv)
    for last, why in (
        *((array, "tau must .* to be bound, got") for array in (None, x[None], x[:-1], x.tolist())),
        *((array, "out shares memory with tau") for array in (out, out[:])),
    ):
        with pytest.raises(ValueError, match=why):
            tf.bind(tf.aba, ALL_KINDS, q, v, last, out=out)
    with pytest.raises(ValueError, match="takes 3 arrays after the model: q, v, tau; got 2"):
        tf.bind(tf.aba, ALL_KINDS, q, v, out=out)
    with pytest.raises(TypeError, match=r"model must be a treefactor\.Model"):
        tf.bind(tf.aba, None, q, v, x, out=out)
    with pytest.raises(ValueError, match="to be bound, got"):
        tf.bind(tf.factor, ALL_KINDS, q, out=out)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("forces", [False, True])
def test_a_batch_and_strides_change_no_bit(name, forces):
    """Forward dynamics by the factor is left out: one state and a batch are factorized by other kernels."""
    model = MODELS[name]
    batch = [*arguments(model, size=(9,))[: 3 + forces], *[None] * (not forces)]
    one = [x if x is None else x[4] for x in batch]
    spaced = [x if x is None else np.repeat(x[..., None], 2, axis=-1)[..., 0] for x in one]
    for function in set(names_of(model)) - {"packed", "lanes"}:
        own = CALLS[function](model, *one)
        np.testing.assert_array_equal(CALLS[function](model, *spaced), own)
        out = np.zeros((*own.shape, 2))[..., 0]
        np.testing.assert_array_equal(CALLS[function](model, *one, out=out), own)
        if function != "factor" or forces:
            np.testing.assert_array_equal(CALLS[function](model, *batch)[4], own)
