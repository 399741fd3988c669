"""Call every declared quantity with frames, keys, several directions, and pivots that fail."""

import gc
import pickle
import weakref

import numpy as np
import pytest
from helpers.array_forms import every_other
from helpers.declared import KEYS, MODELS, Case, each_case, options_of
from helpers.undeclared import tip
from test_declared_calls import COUNT, assert_same, assert_spoiled, is_bound

import treefactor as tf
from treefactor._functions import general_path
from treefactor.quantities.functions import QUANTITIES

pytestmark = pytest.mark.isa

JOINTED = {key: model for key, model in MODELS.items() if model.njoints}
ROD = tf.Inertia(1.0, [0.1, 0.2, 0.3], np.eye(3))
POINT = tf.Model([  # the point has no inertia at the axis of the hinge
    tf.Joint("turn", "revolute", axis=[0, 0, 1]),
    tf.Joint("slide", "prismatic", 0, axis=[1, 0, 0], inertia=tf.Inertia(1.0)),
])  # fmt: skip
LEAF = tf.Model(
    [
        tf.Joint("arm", "revolute", axis=[0, 1, 0], inertia=ROD),
        tf.Joint("tip", "revolute", 0, axis=[0, 0, 1]),
    ]
)


def frame_option(quantity):
    """Return the option that is a frame, if there is one."""
    return next((option for option in quantity.options if option.kind == "frame"), None)


def with_frame(case):
    """Return whether the case takes a frame and has no options but defaults."""
    return case.is_plain and frame_option(case.quantity) is not None


def takes_lists(case):
    """Return whether a list of frames adds an axis to the results."""
    return with_frame(case) and case.quantity.results[0].shape[0] == "frames"


def frames(case):
    """Return frames that the case may take: new ones, and names and numbers of those of the model."""
    model, option = case.model, frame_option(case.quantity)
    names = [model.joints[0].name, model.joints[-1].name]
    if option.name == "joint":
        return [*names, *range(-1, model.njoints)]
    if option.name == "root":
        return [*names, *range(-1, model.njoints), None]
    return [tf.Frame("tool", 0, p=[0.1, 0.2, 0.3]), tf.Frame("tool", 0), -1, *names]


def at(case, value):
    """Return the case with another frame."""
    return case._replace(options=case.options | {frame_option(case.quantity).name: value})


@each_case(JOINTED, with_frame)
def test_functions_of_other_frames_do_not_mix(case):
    """A new model has no functions of other frames."""
    arrays = case.arguments(21, (COUNT,))
    for _ in range(2):
        for frame in frames(case):
            new = pickle.loads(pickle.dumps(case.model))
            expected = at(case, frame)._replace(model=new).call(arrays)
            assert_same(case.parts(at(case, frame).call(arrays)), case.parts(expected))


@each_case(JOINTED, takes_lists)
def test_a_list_of_frames_adds_an_axis(case):
    chosen = frames(case)
    for size in ((), (COUNT,)):
        arrays = case.arguments(22, size)
        for several in (chosen, chosen[:1], chosen[::-1], tuple(chosen), [*chosen[:2], chosen[1]], []):
            together = case.parts(at(case, several).call(arrays))
            assert all(x.shape[len(size)] == len(several) for x in together)
            for k, frame in enumerate(several):
                alone = case.parts(at(case, frame).call(arrays))
                assert_same([np.take(x, k, len(size)) for x in together], alone)
    if "layout" in case.options:
        packed = case._replace(options=case.options | {"layout": "packed"})
        with pytest.raises(ValueError, match="takes one frame"):
            at(packed, chosen).call(arrays)


@each_case(JOINTED, lambda case: with_frame(case) and "layout" in case.options)
def test_packed_jacobians_hold_the_columns_of_the_support(case):
    packed = case._replace(options=case.options | {"layout": "packed"})
    for frame in (-1, *(joint.name for joint in case.model.joints)):
        support = case.model.support(frame)
        for size in ((), (COUNT,)):
            arrays = case.arguments(23, size)
            dense = at(case, frame).call(arrays)
            np.testing.assert_array_equal(at(packed, frame).call(arrays), dense[..., support])
            assert not np.delete(dense, support, axis=-1).any()


@pytest.mark.parametrize("model", JOINTED.values(), ids=JOINTED)
@pytest.mark.parametrize("layout", ["dense", "packed"])
def test_the_placement_beside_a_jacobian_is_that_of_the_frame(model, layout):
    frame = tip(model)
    for size in ((), (COUNT,)):
        q = tf.random_configuration(model, 0, size=size)
        J, T = tf.frame_jacobian(model, q, frame, "WORLD", layout, placement=True)
        np.testing.assert_array_equal(J, tf.frame_jacobian(model, q, frame, "WORLD", layout))
        np.testing.assert_array_equal(T, tf.frame_placement(model, q, frame))


@each_case({"one": MODELS["one"]}, with_frame)
def test_wrong_frames_are_named(case):
    arrays = case.arguments(24)
    kind = frame_option(case.quantity).name
    with pytest.raises(tf.InvalidModelError, match=r"'j00' is not .*did you mean 'j0'"):
        at(case, "j00").call(arrays)
    for odd, said in ((99, "99"), (0.0, "float")) if kind == "frame" else ():
        with pytest.raises(tf.DtypeError, match=f"frame must be a name or a Frame, got {said}"):
            at(case, odd).call(arrays)
    if is_bound(case):
        out = case.empty(case.call(arrays))
        with pytest.raises(tf.InvalidModelError, match="'j00' is not"):
            tf.bind(case.function, case.model, **arrays, **at(case, "j00").options, out=out)


@each_case({"one": MODELS["one"]}, lambda case: with_frame(case) and "frame" in case.options)
def test_functions_of_frames_that_are_gone_are_forgotten(case):
    arrays = case.arguments(25)
    new = case._replace(model=tf.Model(case.model.joints, case.model.gravity))
    frame = tf.Frame("gone", 0)
    gone = weakref.ref(frame)
    at(new, frame).call(arrays)
    del frame
    for k in range(general_path.MOST_KEPT):
        at(new, tf.Frame("f", 0, p=[0.0, 0.0, k])).call(arrays)
    gc.collect()
    assert gone() is None
    assert len(new.model._requests) <= general_path.MOST_KEPT


@each_case({"one": MODELS["one"]}, lambda case: case.is_plain and {"reference"} & {*case.options})
def test_pinocchios_enum_is_a_reference(case):
    pin = pytest.importorskip("pinocchio", reason="its enum")
    arrays = case.arguments(26)
    for reference in (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED):
        named, given = (
            case._replace(options=case.options | {"reference": one}) for one in (reference.name, reference)
        )
        for _ in range(2):
            assert_same(case.parts(given.call(arrays)), case.parts(named.call(arrays)))


@each_case({"all kinds": MODELS["all kinds"]}, lambda case: case.options and case.is_plain)
def test_functions_of_other_options_do_not_mix(case):
    """A new model has no functions of other options."""
    for options in [*options_of(case.quantity, case.model)] * 2:
        one = case._replace(options=options)
        arrays = one.arguments(35, (3,))
        new = one._replace(model=pickle.loads(pickle.dumps(case.model)))
        assert_same(case.parts(one.call(arrays)), case.parts(new.call(arrays)))


def flags(case):
    """Return the names of the options that are true or false."""
    return [option.name for option in case.quantity.options if option.kind == "flag"]


@each_case({"one": MODELS["one"]}, lambda case: case.is_plain and flags(case))
def test_flags_are_what_is_true_or_false(case):
    arrays = case.arguments(37)
    for flag in flags(case):
        for odd in (0, 1, np.False_, np.True_):
            one, new = (
                case._replace(options=case.options | {flag: value}, model=tf.Model(case.model.joints))
                for value in (odd, bool(odd))
            )
            assert_same(case.parts(one.call(arrays)), case.parts(new.call(arrays)))


def is_keyed(case):
    """Return whether the case has an option of any value, with the default."""
    return case.is_plain and bool(KEYS.keys() & case.options.keys())


@each_case(JOINTED, is_keyed)
def test_functions_of_other_keys_do_not_mix(case):
    arrays, name = case.arguments(27, (COUNT,)), next(iter(KEYS.keys() & case.options.keys()))
    values = [KEYS[name], KEYS[name][:2], KEYS[name][1::-1], KEYS[name]]
    for value in [*values, *map(list, values)]:
        one = case._replace(options=case.options | {name: value})
        new = one._replace(model=pickle.loads(pickle.dumps(case.model)))
        assert_same(case.parts(one.call(arrays)), case.parts(new.call(arrays)))


@each_case(JOINTED, lambda case: case.directions)
def test_a_state_may_have_several_directions(case):
    """Functions for other numbers of them must not mix: first there are three, then two, then four."""
    for count, (size, several) in [(COUNT, ((COUNT,), 3)), (8, ((2, 4), 2)), (1, ((1,), 4)), (3, ((3,), 0))]:
        arrays = case.arguments(28, size)
        rng = np.random.default_rng(28)
        for name in case.directions:
            x = arrays[name]
            arrays[name] = rng.normal(size=(*size, several, *x.shape[len(size) :]))
        together = case.parts(case.call(arrays))
        for s in range(several):
            one = {
                name: x[(slice(None),) * len(size) + (s,)] if name in case.directions else x
                for name, x in arrays.items()
            }
            for own, expected in zip(together, case.parts(case.call(one)), strict=True):
                own = np.take(own, s, len(size)) if own.ndim > expected.ndim else own
                np.testing.assert_allclose(own, expected, rtol=1e-9, atol=1e-9)
        assert_same(case.parts(case.call(arrays, num_threads=2)), together)
        spaced = {name: every_other(x) for name, x in arrays.items()}
        assert_same(case.parts(case.call(spaced)), together)
        if case.quantity.has_out:
            out = case.empty(case.call(arrays))
            assert case.call(arrays, out=out) is out
            assert_same(case.parts(out), together)
        first = (0,) * len(size)
        for name in case.names if count and several else ():
            if case.directions != [name]:  # directions alone may be a batch
                alike = np.broadcast_to(arrays[name][first], arrays[name].shape)
                expected = case.parts(case.call(arrays | {name: alike}))
                assert_same(case.parts(case.call(arrays | {name: arrays[name][first]})), expected)
        if count and several:
            bad = arrays | {case.directions[0]: arrays[case.directions[0]].copy()}
            bad[case.directions[0]].reshape(count, -1)[-1, -1] = np.nan
            for own, good in zip(case.parts(case.call(bad)), together, strict=True):
                own, good = (x.reshape(count, -1) for x in (own, good))
                np.testing.assert_array_equal(own[:-1], good[:-1])
                assert np.isnan(own[-1]).all()


@each_case(JOINTED, lambda case: case.directions and case.is_plain)
def test_directions_of_one_state_are_a_batch(case):
    arrays = case.arguments(29)
    batch = {name: np.stack([x, 2 * x]) if name in case.directions else x for name, x in arrays.items()}
    repeated = {name: x if name in case.directions else np.stack([x, x]) for name, x in batch.items()}
    assert_same(case.parts(case.call(batch)), case.parts(case.call(repeated)))


@each_case({"point": POINT}, lambda case: case.quantity.fails, undeclared=True)
def test_pivots_that_fail_spoil_their_element_and_leave_out(case):
    arrays = case.arguments(30, (COUNT,))
    q = case.configurations[0]
    before = case.parts(case.call(arrays))
    bad = arrays | {q: arrays[q].copy()}
    bad[q][[4, COUNT - 1], 1] = 0.0
    for threads in (1, 2):
        for given in (bad, {name: x.tolist() for name, x in bad.items()}):
            for own, good in zip(case.parts(case.call(given, num_threads=threads)), before, strict=True):
                assert_spoiled(own[: COUNT - 1], good[: COUNT - 1], 4, case)
                assert np.isnan(own[-1]).any()
    one = {name: x[4].copy() for name, x in bad.items()}
    out = case.empty(case.call({name: x[0] for name, x in arrays.items()}))
    for given in (one, {name: every_other(x) for name, x in one.items()}):
        for options in ({}, {"out": out}, {"out": out, "num_threads": 2}):
            with pytest.raises(tf.NotPositiveDefiniteError, match=r"(turn|slide)"):
                case.call(given, **options)
            assert all(np.isnan(x).all() for x in case.parts(out))
    if case.quantity.kernel and is_bound(case):
        call = tf.bind(case.function, case.model, **one, **case.options, out=out)
        with pytest.raises(tf.NotPositiveDefiniteError):
            call()
        assert all(np.isnan(x).all() for x in case.parts(out))


@each_case({"leaf": LEAF}, lambda case: case.quantity.fails, undeclared=True)
def test_a_leaf_without_mass_has_no_acceleration(case):
    arrays = case.arguments(32, (3,))
    for own in case.parts(case.call(arrays)):
        assert np.isnan(own.reshape(3, -1)).any(axis=1).all()
    with pytest.raises(tf.NotPositiveDefiniteError, match="tip") as raised:
        case.call({name: x[0] for name, x in arrays.items()})
    if case.quantity.kernel:
        assert (raised.value.row, raised.value.name) == (1, "tip")


def without_root(case):
    """Return whether the case is a quantity about the centre of mass."""
    return case.is_plain and any("no mass" in why for _, why in case.quantity.errors)


@each_case({"one": MODELS["one"]}, without_root)
def test_models_without_mass_have_no_centre(case):
    hinge = tf.Joint("hinge", "revolute", axis=[0, 0, 1])
    for model in (tf.Model([hinge]), tf.Model([])):
        empty = case._replace(model=model)
        with pytest.raises(tf.InvalidModelError, match=r"has no centre of mass.* Inertia with mass > 0"):
            empty.call(empty.arguments())


def test_quantities_without_mimic_joints_name_what_to_call():
    model = MODELS["followers"]
    refusing = [(one, {}) for one in QUANTITIES.values() if not one.mimic]
    refusing += [(QUANTITIES["forward_dynamics"], {"method": "aba"})]
    for quantity, options in refusing:
        case = Case(quantity, model, options)
        for size in ((), (3,)):
            with pytest.raises(ValueError, match=r"mimic joints.*method='factor'"):
                case.call(case.arguments(31, size))
