"""Compare results that are computed together with those computed one by one."""

import pickle
from inspect import signature

import numpy as np
import pytest
from helpers.dynamics_cases import MODELS, arguments

import treefactor as tf
from treefactor.quantities.functions import QUANTITIES

MODEL = MODELS["all kinds"]
TIP = tf.Frame("tip", 5, p=[0.1, 0.2, 0.3])
WANTED = {
    "placements": [TIP, "j3", -1],
    "velocities": ["j1", (TIP, "WORLD"), ("j8", "LOCAL_WORLD_ALIGNED")],
    "accelerations": [(TIP, "LOCAL", "classical"), ("j7", "WORLD"), "j2"],
    "jacobians": [TIP, ("j8", "WORLD", "packed"), (["j1", "j2"], "LOCAL_WORLD_ALIGNED")],
    "jacobian_dots": [(TIP, "LOCAL_WORLD_ALIGNED", "packed"), -1],
    "center_of_mass_velocity": ["j1", -1, 4],
    "center_of_mass_acceleration": True,
    "center_of_mass_jacobian": ["j8", "j2"],
}
WANTED = {name: WANTED.get(name, True) for name in signature(tf.Kinematics).parameters if name != "model"}


def one_by_one(q, v, a):
    """Return the results of WANTED from functions of frames, or of the quantities of the same names."""
    J, dJ, stack = tf.frame_jacobian, tf.frame_jacobian_dot, lambda parts: np.stack(parts, axis=q.ndim - 1)
    results = {
        "placements": tf.frame_placement(MODEL, q, [TIP, "j3", -1]),
        "velocities": stack([
            tf.frame_velocity(MODEL, q, v, *one)
            for one in (["j1"], [TIP, "WORLD"], ["j8", "LOCAL_WORLD_ALIGNED"])
        ]),
        "accelerations": stack([
            tf.frame_acceleration(MODEL, q, v, a, *one)
            for one in ([TIP, "LOCAL", True], ["j7", "WORLD"], ["j2"])
        ]),
        "jacobians": (
            J(MODEL, q, TIP),
            J(MODEL, q, "j8", "WORLD", "packed"),
            J(MODEL, q, ["j1", "j2"], "LOCAL_WORLD_ALIGNED"),
        ),
        "jacobian_dots": (dJ(MODEL, q, v, TIP, "LOCAL_WORLD_ALIGNED", "packed"), dJ(MODEL, q, v, -1)),
        "center_of_mass_velocity": tuple(
            tf.center_of_mass(MODEL, q, v, root=root)[1] for root in ("j1", None, 4)
        ),
        "center_of_mass_acceleration": tf.center_of_mass(MODEL, q, v, a)[2],
        "center_of_mass_jacobian": tuple(tf.center_of_mass_jacobian(MODEL, q, root) for root in ("j8", "j2")),
    }  # fmt: skip
    state = {"q": q, "v": v, "a": a}
    for name in WANTED.keys() - results.keys():
        given = [state[one.name] for one in QUANTITIES[name].inputs if one.needed or not one.optional]
        results[name] = getattr(tf, name)(MODEL, *given)
    return tuple(results[name] for name in WANTED)


def flat(result):
    """Return the arrays of a result."""
    return [x for part in result for x in (part if isinstance(part, tuple) else [part])]


def assert_same(results, expected):
    for own, other in zip(flat(results), flat(expected), strict=True):
        assert own.shape == other.shape
        assert (own == other).all()


@pytest.mark.parametrize("size", [(), (21,), (2, 5)])
def test_results_are_those_of_the_functions(size):
    q, v, a, _ = arguments(MODEL, 1, size)
    request = tf.Kinematics(MODEL, **WANTED)
    results = request(q, v, a)
    assert results._fields == request.fields == tuple(WANTED)
    expected = one_by_one(q, v, a)
    assert_same(results, expected)
    assert_same(request(q.tolist(), v, a, num_threads=2), expected)
    out = request.empty(*size)
    assert request(q, v, a, out=out) is out
    assert_same(out, expected)


@pytest.mark.parametrize("field", WANTED)
def test_each_result_can_be_requested_alone(field):
    q, v, a, _ = arguments(MODEL, 1, (9,))
    request = tf.Kinematics(MODEL, **{field: WANTED[field]})
    expected = one_by_one(q, v, a)[list(WANTED).index(field)]
    for given in ((q, v, a), (q.tolist(), v, a)):
        assert_same(request(*given), (expected,))
    out = request.empty(9)
    assert request(q, v, a, out) is out
    assert_same(out, (expected,))


def test_a_bound_request_follows_its_arrays():
    q, v, a, _ = arguments(MODEL, 1)
    request = tf.Kinematics(MODEL, **WANTED)
    out = request.empty()
    step = request.bind(q, v, a, out=out)
    for seed in (2, 3):
        for x, y in zip((q, v, a), arguments(MODEL, seed), strict=False):
            x[:] = y
        assert step() is out
        assert_same(out, one_by_one(q, v, a))
    q[0] = np.nan
    with pytest.raises(tf.NonFiniteError):
        step()


def test_a_request_is_pickled():
    q, v, a, _ = arguments(MODEL, 1)
    request = tf.Kinematics(MODEL, **WANTED)
    assert_same(pickle.loads(pickle.dumps(request))(q, v, a), request(q, v, a))


def test_wrong_requests_are_named():
    with pytest.raises(ValueError, match="no result is requested"):
        tf.Kinematics(MODEL)
    with pytest.raises(TypeError, match="placements must be a list"):
        tf.Kinematics(MODEL, placements="j1")
    with pytest.raises(tf.InvalidModelError, match="'j99' is not"):
        tf.Kinematics(MODEL, velocities=[("j99", "WORLD")])
    with pytest.raises(ValueError, match="reference must be one of"):
        tf.Kinematics(MODEL, velocities=[("j1", "BODY")])
    with pytest.raises(ValueError, match="layout must be one of"):
        tf.Kinematics(MODEL, jacobians=[("j1", "WORLD", "sparse")])
    with pytest.raises(ValueError, match="'spatial' or 'classical'"):
        tf.Kinematics(MODEL, accelerations=[("j1", "WORLD", "true")])
    with pytest.raises(TypeError, match="centroidal_map must be True or False"):
        tf.Kinematics(MODEL, centroidal_map=["j1"])
    with pytest.raises(TypeError, match="placements must be a list"):
        tf.Kinematics(MODEL, placements=True)
    with pytest.raises(tf.InvalidModelError, match="root 'j99' is not"):
        tf.Kinematics(MODEL, center_of_mass=["j99"])
    with pytest.raises(TypeError, match="a pair or a triple"):
        tf.Kinematics(MODEL, jacobians=[()])
    request = tf.Kinematics(MODEL, velocities=["j1"], jacobians=["j1", "j2"])
    q, v, _, _ = arguments(MODEL)
    with pytest.raises(TypeError, match="v is needed"):
        request(q)
    with pytest.raises(tf.ShapeError, match="must have the fields velocities, jacobians"):
        request(q, v, out=(np.empty((1, 6)),))
    with pytest.raises(tf.ShapeError, match="got 1 arrays in jacobians instead of 2"):
        request(q, v, out=(np.empty((1, 6)), (np.empty((6, MODEL.nv)),)))


def test_results_pickle():
    q, v, _a, _ = arguments(MODEL, 1)
    results = tf.Kinematics(MODEL, placements=["j3"], jacobians=["j1", "j2"])(q)
    again = pickle.loads(pickle.dumps(results))
    assert type(again) is type(results)
    np.testing.assert_array_equal(again.placements, results.placements)
    np.testing.assert_array_equal(again.jacobians, results.jacobians)
    again = pickle.loads(pickle.dumps(tf.all_terms(MODEL, q, v)))
    np.testing.assert_array_equal(again.H, tf.crba(MODEL, q))
