"""Check that invalid arguments of the dynamics raise errors, or spoil only their element of a batch."""

import numpy as np
import pytest
from helpers.dynamics_cases import CALLS, MODELS, TAKES, arguments, names_of

import treefactor as tf

pytestmark = [pytest.mark.wheel, pytest.mark.isa]

PAIRS = [(which, name) for which, model in MODELS.items() for name in names_of(model)]
each = pytest.mark.parametrize(("which", "name"), PAIRS)
calls_of_all_kinds = pytest.mark.parametrize("name", CALLS)
ALL_KINDS = MODELS["all kinds"]
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
    bad = own[1][model.tree.mask()] if name in ("crba", "coriolis") else own[1]
    assert np.isnan(bad).all()
    np.testing.assert_array_equal(np.delete(own, 1, axis=0), np.delete(before, 1, axis=0))


@calls_of_all_kinds
@pytest.mark.parametrize("kind", ["continuous", "spherical", "planar", "freeflyer"])
def test_an_invalid_rotation_spoils_only_its_element(name, kind):
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
def test_a_single_call_names_the_argument_that_is_not_finite(name, value):
    given = dict(zip(("q", "v", "x", "fext"), arguments(ALL_KINDS, 1), strict=True))
    for argument in TAKES[name]:
        bad = given | {argument: np.full_like(given[argument], value)}
        shown = {"x": "(a|tau|x)"}.get(argument, argument)
        with pytest.raises(tf.NonFiniteError, match=f"^{shown} is not finite"):
            CALLS[name](ALL_KINDS, *bad.values())


def test_huge_quaternions_raise_or_give_nan():
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
            with pytest.raises(tf.DtypeError, match=f"^({argument}|a|tau|x|b) is needed, got None"):
                CALLS[name](ALL_KINDS, *(given | {argument: None}).values())


@calls_of_all_kinds
@pytest.mark.parametrize("size", [(), (3,)], ids=["single", "batch"])
def test_wrong_shapes_raise(name, size):
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
    good = np.array(CALLS[name](ALL_KINDS, *given))
    fixed = good.copy()
    fixed.flags.writeable = False
    cases = [
        (good[..., None], tf.ShapeError),
        (good.astype(np.float32), tf.DtypeError),
        (good.tolist(), tf.DtypeError),
        (fixed, tf.DtypeError),
    ]
    if good.ndim:  # else there is nothing to cut off or to repeat
        repeated = np.broadcast_to(np.zeros(()), good.shape)
        cases += [(good[..., :-1], tf.ShapeError), (repeated, tf.ShapeError)]
    for bad, error in cases:
        with pytest.raises(error, match="out"):
            CALLS[name](ALL_KINDS, *given, out=bad)


@calls_of_all_kinds
@pytest.mark.parametrize("model", [None, 3, tf.Tree([-1])], ids=repr)
def test_other_types_than_models_raise(name, model):
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
    with pytest.raises(ValueError, match="method must be one of 'factor', 'aba'; got 'crba'"):
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


def test_arrays_that_cannot_be_bound_raise():
    q, v, x, _ = arguments(ALL_KINDS)
    out = np.empty(ALL_KINDS.nv)
    for last, why in (
        *((array, "tau must .* to be bound, got") for array in (None, x[None], x[:-1], x.tolist())),
        *((array, "out shares memory with tau") for array in (out, out[:])),
    ):
        with pytest.raises(ValueError, match=why):
            tf.bind(tf.aba, ALL_KINDS, q, v, last, out=out)
    with pytest.raises(ValueError, match="takes 3 arguments after the model: q, v, tau; got 2"):
        tf.bind(tf.aba, ALL_KINDS, q, v, out=out)
    with pytest.raises(TypeError, match=r"model must be a treefactor\.Model"):
        tf.bind(tf.aba, None, q, v, x, out=out)
    with pytest.raises(ValueError, match="to be bound, got"):
        tf.bind(tf.factor, ALL_KINDS, q, out=out)
