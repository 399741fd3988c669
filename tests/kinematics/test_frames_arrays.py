"""Pass arrays of all forms, lists of frames and wrong arguments to the functions of frames."""

import gc
import weakref

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS, arguments

import treefactor as tf
from treefactor._functions import general_path

pytestmark = pytest.mark.parametrize("name", [name for name in MODELS if name != "nothing"])

CALLS = {  # by name: function of (model, q, v, a, frame), and how many of q, v, a it reads
    "placement": (lambda m, q, v, a, f, **o: tf.frame_placement(m, q, f, **o), 1),
    "joints": (lambda m, q, v, a, f, **o: tf.joint_placements(m, q, **o), 1),
    "velocity": (lambda m, q, v, a, f, **o: tf.frame_velocity(m, q, v, f, "WORLD", **o), 2),
    "acceleration": (lambda m, q, v, a, f, **o: tf.frame_acceleration(m, q, v, a, f, **o), 3),
    "jacobian": (lambda m, q, v, a, f, **o: tf.frame_jacobian(m, q, f, "LOCAL_WORLD_ALIGNED", **o), 1),
    "packed": (lambda m, q, v, a, f, **o: tf.frame_jacobian(m, q, f, "WORLD", "packed", **o), 1),
    "joint_jacobian": (lambda m, q, v, a, f, **o: tf.joint_jacobian(m, q, 0, **o), 1),
    "jacobian_dot": (lambda m, q, v, a, f, **o: tf.frame_jacobian_dot(m, q, v, f, **o), 2),
    "center": (lambda m, q, v, a, f, **o: tf.center_of_mass(m, q, **o), 1),
    "subtree": (lambda m, q, v, a, f, **o: tf.center_of_mass_jacobian(m, q, m.njoints - 1, **o), 1),
    "center_jacobian": (lambda m, q, v, a, f, **o: tf.center_of_mass_jacobian(m, q, **o), 1),
    "map": (lambda m, q, v, a, f, **o: tf.centroidal_map(m, q, **o), 1),
    "map_dot": (lambda m, q, v, a, f, **o: tf.centroidal_map_dot(m, q, v, **o), 2),
    "momentum": (lambda m, q, v, a, f, **o: tf.centroidal_momentum(m, q, v, **o), 2),
    "rate": (lambda m, q, v, a, f, **o: tf.centroidal_momentum_rate(m, q, v, a, **o), 3),
    "inertia": (lambda m, q, v, a, f, **o: tf.centroidal_inertia(m, q, **o), 1),
}


def state(name, size=()):
    """Return a model and q, v, a."""
    return MODELS[name], arguments(MODELS[name], 1, size)[:3]


def last(model):
    """Return a frame on the last joint."""
    return tf.Frame("tip", model.njoints - 1, p=[0.1, 0.2, 0.3])


@pytest.mark.parametrize("call", CALLS)
def test_batches_are_single_ones(name, call):
    model, (q, v, a) = state(name, (3, 7))
    function, _ = CALLS[call]
    frame = last(model)
    found = function(model, q, v, a, frame)
    for i in np.ndindex(3, 7):
        single = function(model, q[i], v[i], a[i], frame)
        assert found[i].shape == single.shape
        np.testing.assert_allclose(found[i], single, rtol=0, atol=1e-13 * (1 + np.abs(single).max(initial=0)))


@pytest.mark.parametrize("call", CALLS)
def test_forms_of_arrays_change_no_bit(name, call):
    model, arrays = state(name, (21,))
    function, _ = CALLS[call]
    frame = last(model)
    expected = function(model, *arrays, frame)
    wide = [np.repeat(x, 2, axis=-1)[..., ::2] for x in arrays]
    fortran = [np.asfortranarray(x) for x in arrays]
    for same in (wide, fortran, [x.tolist() for x in arrays], [x[None] for x in arrays]):
        assert (function(model, *same, frame).reshape(expected.shape) == expected).all()
    assert (function(model, *arrays, frame, num_threads=2) == expected).all()
    single = function(model, *(x[3] for x in arrays), frame)
    assert (function(model, *(x[3].tolist() for x in arrays), frame) == single).all()


@pytest.mark.parametrize("call", CALLS)
def test_out_receives_the_result(name, call):
    model, arrays = state(name, (9,))
    function, _ = CALLS[call]
    frame = last(model)
    for given in (arrays, [x[0] for x in arrays]):
        expected = function(model, *given, frame)
        out = np.full(expected.shape, np.nan)
        assert function(model, *given, frame, out=out) is out
        assert (out == expected).all()
        strided = np.full((*expected.shape, 2), np.nan)[..., 0]
        assert function(model, *given, frame, out=strided) is strided
        assert (strided == expected).all()
        with pytest.raises(tf.ShapeError, match="out must have shape"):
            function(model, *given, frame, out=np.empty((1, *expected.shape)))


@pytest.mark.parametrize("call", CALLS)
def test_states_that_are_not_finite_mark_their_rows_only(name, call):
    model, arrays = state(name, (21,))
    function, count = CALLS[call]
    frame = last(model)
    expected = function(model, *arrays, frame)
    for j in range(count):
        bad = [x.copy() for x in arrays]
        bad[j][5, -1] = np.nan
        bad[j][17, 0] = np.inf
        found = function(model, *bad, frame)
        good = np.setdiff1d(np.arange(21), [5, 17])
        assert (found[good] == expected[good]).all()
        assert np.isnan(found[[5, 17]]).reshape(2, -1).any(axis=1).all()
        with pytest.raises(tf.NonFiniteError, match=f"^{'qva'[j]} is not finite"):
            function(model, *(x[5] for x in bad), frame)


def test_a_quaternion_of_another_length_is_refused(name):
    model, (q, _, _) = state(name, (9,))
    if not any(joint.kind in ("freeflyer", "spherical", "continuous", "planar") for joint in model.joints):
        return
    q[3] *= 1.1
    frame = last(model)
    assert np.isnan(tf.frame_placement(model, q, frame)[3]).all()
    with pytest.raises(tf.ConfigurationError, match=r"has length 1\.1"):
        tf.frame_placement(model, q[3], frame)


def test_a_list_of_frames_adds_an_axis(name):
    model, (q, v, a) = state(name, (5,))
    frames = [last(model), -1, model.joints[0].name, model.joints[-1].name]
    for function, arrays in [
        (tf.frame_placement, (q,)),
        (tf.frame_velocity, (q, v)),
        (tf.frame_acceleration, (q, v, a)),
        (tf.frame_jacobian, (q,)),
        (tf.frame_jacobian_dot, (q, v)),
    ]:
        for given in (arrays, [x[2] for x in arrays]):
            together = function(model, *given, frames)
            axis = np.ndim(given[0]) - 1
            for k, frame in enumerate(frames):
                assert (np.take(together, k, axis) == function(model, *given, frame)).all()
            assert function(model, *given, []).shape[axis] == 0
    with pytest.raises(ValueError, match="takes one frame"):
        tf.frame_jacobian(model, q, frames, "LOCAL", "packed")


def test_the_pair_holds_the_jacobian_and_the_placement(name):
    model, (q, _, _) = state(name, (11,))
    frame = last(model)
    for given in (q, q[0], q.tolist()):
        for layout in ("dense", "packed"):
            J, T = tf.frame_jacobian(model, given, frame, "WORLD", layout, placement=True)
            assert (J == tf.frame_jacobian(model, given, frame, "WORLD", layout)).all()
            assert (T == tf.frame_placement(model, given, frame)).all()
            out = np.empty_like(J), np.empty_like(T)
            assert tf.frame_jacobian(model, given, frame, "WORLD", layout, True, out=out) is out
            assert (out[0] == J).all()
            assert (out[1] == T).all()


def test_packed_holds_the_columns_of_the_support(name):
    model, (q, v, _) = state(name, (11,))
    for joint in (-1, *(joint.name for joint in model.joints)):
        support = model.support(joint)
        for function, arrays in [(tf.frame_jacobian, (q,)), (tf.frame_jacobian_dot, (q, v))]:
            for given in (arrays, [x[0] for x in arrays]):
                dense = function(model, *given, joint)
                assert (function(model, *given, joint, layout="packed") == dense[..., support]).all()
                others = np.setdiff1d(np.arange(model.nv), support)
                assert (dense[..., others] == 0.0).all()


def test_wrong_arguments_are_named(name):
    model, (q, v, _) = state(name)
    with pytest.raises(tf.InvalidModelError, match=r"frame 'j00' is not .*did you mean 'j0'"):
        tf.frame_placement(model, q, "j00")
    with pytest.raises(tf.InvalidModelError, match="joint 'j00' is not"):
        tf.joint_jacobian(model, q, "j00")
    with pytest.raises(tf.DtypeError, match="frame must be a name or a Frame, got 99"):
        tf.frame_jacobian(model, q, 99)
    for wrong in ("local", None, 1):
        with pytest.raises(
            ValueError, match="reference must be one of 'LOCAL', 'WORLD', 'LOCAL_WORLD_ALIGNED'"
        ):
            tf.frame_velocity(model, q, v, "j0", wrong)
    with pytest.raises(ValueError, match="layout must be one of 'dense', 'packed'"):
        tf.frame_jacobian(model, q, "j0", layout="lanes")
    with pytest.raises(TypeError, match=r"model must be a treefactor\.Model"):
        tf.frame_placement(None, q, "j0")
    with pytest.raises(tf.ShapeError, match="q must have shape"):
        tf.frame_placement(model, np.append(q, 0.0), "j0")
    with pytest.raises(TypeError, match="v is needed"):
        tf.frame_velocity(model, q, None, "j0")
    tf.frame_placement(model, q, -1)
    with pytest.raises(tf.DtypeError):
        tf.frame_placement(model, q, 0.0)


def test_pinocchios_enum_is_a_reference(name):
    pin = pytest.importorskip("pinocchio", reason="its enum")
    model, (q, _, _) = state(name)
    for reference in (pin.LOCAL, pin.WORLD, pin.LOCAL_WORLD_ALIGNED):
        for _ in range(2):
            J = tf.frame_jacobian(model, q, "j0", reference)
            assert (J == tf.frame_jacobian(model, q, "j0", reference.name)).all()


def test_bound_calls_follow_their_arrays(name):
    model, (q, v, a) = state(name)
    frame = last(model)
    _, (q2, v2, a2) = state(name, (2,))
    for function, options, arrays in [
        (tf.frame_placement, {}, (q,)),
        (tf.frame_velocity, {"reference": "WORLD"}, (q, v)),
        (tf.frame_acceleration, {"classical": True}, (q, v, a)),
        (tf.frame_jacobian, {"layout": "packed"}, (q,)),
        (tf.frame_jacobian, {"placement": True}, (q,)),
        (tf.frame_jacobian_dot, {}, (q, v)),
    ]:
        expected = function(model, *arrays, frame, **options)
        out = tuple(map(np.empty_like, expected)) if isinstance(expected, tuple) else np.empty_like(expected)
        own = [x.copy() for x in arrays]
        step = tf.bind(function, model, *own, frame, **options, out=out)
        for given in (arrays, [x[1] for x in (q2, v2, a2)]):
            for x, y in zip(own, given, strict=False):
                x[:] = y
            assert step() is step.out
            wanted = function(model, *own, frame, **options)
            for x, y in zip(out, wanted, strict=True):
                assert (x == y).all()
        own[0][0] = np.nan
        with pytest.raises(tf.NonFiniteError):
            step()


def test_requests_of_frames_that_are_gone_are_forgotten(name):
    model, (q, _, _) = state(name)
    model = tf.Model(model.joints, model.gravity)
    frame = last(model)
    gone = weakref.ref(frame)
    tf.frame_placement(model, q, frame)
    del frame
    for k in range(general_path.MOST_KEPT):
        tf.frame_placement(model, q, tf.Frame("f", 0, p=[0.0, 0.0, k]))
    gc.collect()
    assert gone() is None
    assert len(model._requests) <= general_path.MOST_KEPT


def test_what_cannot_be_bound_is_named(name):
    model, (q, v, _) = state(name)
    with pytest.raises(tf.ShapeError, match="out must have shape"):
        tf.bind(tf.frame_placement, model, q, "j0", out=np.empty(12))
    with pytest.raises(ValueError, match="out shares memory with q"):
        tf.bind(tf.joint_placements, model, q, out=np.lib.stride_tricks.as_strided(q, (model.njoints, 3, 4)))
    with pytest.raises(tf.InvalidModelError, match="'j00' is not"):
        tf.bind(tf.frame_velocity, model, q, v, "j00", out=np.empty(6))
    with pytest.raises(ValueError, match="takes no reference to be bound, only q, layout, inertias and out"):
        tf.bind(tf.crba, model, q, reference="WORLD", out=np.empty((model.nv, model.nv)))
