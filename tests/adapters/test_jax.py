"""Functions inside JAX: values bit for bit, types, shapes, errors, programs, and the call by callbacks."""

import gc
import itertools
import runpy

import numpy as np
import pytest
from helpers.derivative_cases import random_case
from helpers.jax_cases import ARM, MODELS, TURNING, as_tuple, calls, chain, jax, jax_, precision
from helpers.sweeps import sweep

import treefactor as tf
from treefactor.adapters import _jax_calls, _jax_functions, _jax_version

NAMES = list(calls(ARM))


@pytest.fixture(autouse=True)
def _float64():
    with precision(True):
        yield


def equal(results, wanted):
    pairs = list(zip(as_tuple(results), as_tuple(wanted), strict=True))
    return all(isinstance(mine, jax.Array) and np.array_equal(mine, theirs) for mine, theirs in pairs)


def test_all_functions_are_public():
    assert sorted([*NAMES, "from_log_cholesky", "ilqr", "inverse_kinematics"]) == jax_.__all__


@pytest.mark.parametrize(
    ("name", "robot"),
    sweep(
        itertools.product(NAMES, MODELS), lambda case: case[1] == "all kinds" or case == ("aba", "followers")
    ),
)
def test_values_are_those_of_treefactor_bit_for_bit(name, robot):
    model = MODELS[robot]
    if (name, robot) == ("aba", "followers"):
        with pytest.raises(ValueError, match="mimic joints"):
            jax_.aba(model, *calls(model)[name])
        return
    for size, fext in (((5,), True), ((2, 3), False)):
        arguments = calls(model, size, fext)[name]
        wanted = getattr(tf, name)(model, *arguments)
        assert equal(getattr(jax_, name)(model, *arguments), wanted), size


@pytest.mark.parametrize("name", NAMES)
def test_single_states_have_the_bits_of_single_states(name):
    """Kernels for one state and for eight at a time differ in the last bit."""
    if _jax_calls._handler() is None:
        pytest.skip("the handler is not there: single states are batches of one")
    model = MODELS["all kinds"]
    arguments = calls(model)[name]
    assert equal(getattr(jax_, name)(model, *arguments), getattr(tf, name)(model, *arguments))


@pytest.mark.parametrize("name", ["forward_dynamics", "integrate", "step"])
def test_elements_under_vmap_have_the_bits_of_a_batch(name):
    model = MODELS["all kinds"]
    arguments = calls(model, (3,))[name]
    arrays = [x for x in arguments if isinstance(x, np.ndarray)]
    fixed = arguments[len(arrays) :]
    results = jax.vmap(lambda *x: getattr(jax_, name)(model, *x, *fixed))(*arrays)
    assert equal(results, getattr(tf, name)(model, *arguments))


@pytest.mark.parametrize("name", NAMES)
def test_jit_changes_no_bit(name):
    arguments = calls(TURNING, (3,))[name]
    arrays = [x for x in arguments if isinstance(x, np.ndarray)]
    fixed = [x for x in arguments if not isinstance(x, np.ndarray)]
    place = [k for k, x in enumerate(arguments) if isinstance(x, np.ndarray)]

    @jax.jit
    def compiled(*arrays):
        others = iter(fixed)
        given = iter(arrays)
        both = [next(given) if k in place else next(others) for k in range(len(arguments))]
        return getattr(jax_, name)(TURNING, *both)

    assert equal(compiled(*arrays), getattr(tf, name)(TURNING, *arguments))


@pytest.mark.parametrize("name", NAMES)
def test_float32_stays_float32(name):
    arguments = calls(TURNING, (3,))[name]
    wanted = as_tuple(getattr(tf, name)(TURNING, *arguments))
    short = [x.astype(np.float32) if isinstance(x, np.ndarray) else x for x in arguments]
    for float64 in (True, False):
        with precision(float64):
            for mine, theirs in zip(as_tuple(getattr(jax_, name)(TURNING, *short)), wanted, strict=True):
                assert mine.dtype == np.float32
                np.testing.assert_allclose(mine, theirs, atol=1e-4 * np.abs(theirs).max())


@pytest.mark.parametrize("name", NAMES)
def test_empty_batches(name):
    arguments = [x[:0] if isinstance(x, np.ndarray) else x for x in calls(TURNING, (2,))[name]]
    wanted = as_tuple(getattr(tf, name)(TURNING, *arguments))
    results = as_tuple(getattr(jax_, name)(TURNING, *arguments))
    assert [x.shape for x in results] == [x.shape for x in wanted]


def test_leading_axes_broadcast():
    q, v, tau = calls(TURNING, (2, 3))["forward_dynamics"]
    qdd = jax_.forward_dynamics(TURNING, q[0, 0], v[:, :1], tau[1])
    wanted = [[tf.forward_dynamics(TURNING, q[0, 0], v[i, 0], tau[1, j]) for j in range(3)] for i in range(2)]
    np.testing.assert_allclose(qdd, wanted, rtol=1e-12)


def test_frames_are_not_given_by_number():
    q = calls(TURNING)["crba"][0]
    for frame in (1, ["j0", 1], np.int64(1), [-1, np.int64(1)]):
        with pytest.raises(tf.DtypeError, match="frame must be a name or a Frame, got 1: joint 1 is"):
            jax_.frame_placement(TURNING, q, frame)
    for frame in (-1, np.int64(-1), [-1, TURNING.joints[0].name]):
        assert equal(jax_.frame_placement(TURNING, q, frame), tf.frame_placement(TURNING, q, frame))


def test_lists_may_hold_tracers():
    q, v, _ = calls(ARM)["forward_dynamics"]

    def of_list(x):
        return jax_.bias(ARM, [x, *q[1:]], v)

    def of_array(x):
        return jax_.bias(ARM, jax.numpy.asarray(q).at[0].set(x), v)

    assert equal(jax.jacfwd(of_list)(q[0]), jax.jacfwd(of_array)(q[0]))


def test_numbers_of_python_and_whole_numbers():
    joints = [tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=tf.Inertia(1.0, [0, 0, -0.5], np.eye(3)))]
    model = tf.Model(joints)
    qdd = jax_.forward_dynamics(model, [0], np.zeros(1, int), [1.0])
    assert qdd.dtype == np.float64
    assert qdd == pytest.approx(tf.forward_dynamics(model, [0.0], [0.0], [1.0]), rel=1e-15)


def test_bad_states_are_nan_and_leave_the_others_alone():
    q, v, tau = calls(TURNING, (4,))["forward_dynamics"]
    wanted = tf.forward_dynamics(TURNING, q, v, tau)
    q[1] *= 1.1  # a quaternion without unit length
    v[2, 0] = np.nan
    qdd = np.asarray(jax_.forward_dynamics(TURNING, q, v, tau))
    assert np.isnan(qdd[1:3]).all()
    assert np.array_equal(qdd[[0, 3]], wanted[[0, 3]])
    assert np.isnan(jax_.forward_dynamics(TURNING, q[1], v[1], tau[1])).all()
    turned = np.asarray(jax_.integrate(TURNING, q, v))
    assert np.isnan(turned[1]).all()
    assert np.array_equal(turned[[0, 3]], tf.integrate(TURNING, q[[0, 3]], v[[0, 3]]))


def test_rollouts_with_the_same_forces_in_all_steps():
    q, v, _, tau, fext = random_case(TURNING, 1, (3,))
    for forces, external in ((tau, None), (None, None), (tau[0], fext)):
        wanted = tf.rollout(TURNING, q, v, forces, 0.01, steps=5, fext=external)
        motion = jax_.rollout(TURNING, q, v, forces, 0.01, steps=5, fext=external)
        assert equal(motion, wanted)


WRONG = {
    "shape of q": (
        lambda q, v, t: jax_.forward_dynamics(TURNING, q[:-1], v, t),
        tf.ShapeError,
        "expected q of",
    ),
    "leading axes": (
        lambda q, v, t: jax_.forward_dynamics(TURNING, np.stack([q] * 2), np.stack([v] * 3), t),
        tf.ShapeError,
        "leading axes do not broadcast: q",
    ),
    "mixed types": (
        lambda q, v, t: jax_.forward_dynamics(TURNING, q.astype(np.float32), v, t),
        tf.DtypeError,
        "expected arrays of one type, float32 or float64, got q float32, v float64",
    ),
    "half precision": (
        lambda q, v, t: jax_.bias(TURNING, q.astype(np.float16), v),
        tf.DtypeError,
        "q must be",
    ),
    "complex": (lambda q, v, t: jax_.bias(TURNING, q, v + 1j), tf.DtypeError, "v must be float32"),
    "no model": (lambda q, v, t: jax_.crba("panda", q), TypeError, "model must be a treefactor.Model"),
    "method": (
        lambda q, v, t: jax_.step(TURNING, q, v, t, 0.1, "euler"),
        ValueError,
        "method must be one of",
    ),
    "length of the step": (
        lambda q, v, t: jax.jit(lambda h: jax_.step(TURNING, q, v, t, h))(0.1),
        TypeError,
        "h must be a number of Python",
    ),
    "frame": (lambda q, v, t: jax_.frame_placement(TURNING, q, "tool"), tf.InvalidModelError, "tool"),
    "reference": (
        lambda q, v, t: jax_.frame_jacobian(TURNING, q, -1, "BASE"),
        ValueError,
        "reference must be one of",
    ),
    "words": (lambda q, v, t: jax_.bias(TURNING, "zero", v), tf.DtypeError, "q must hold numbers, got str"),
    "nothing": (
        lambda q, v, t: jax_.bias(TURNING, None, v),
        tf.DtypeError,
        "must hold numbers, got NoneType",
    ),
    "no steps": (
        lambda q, v, t: jax_.rollout(TURNING, q, v, None, 0.1),
        tf.ShapeError,
        "forces of every step, got None: pass steps=T",
    ),
    "forces of one step": (
        lambda q, v, t: jax_.rollout(TURNING, q, v, t, 0.1),
        tf.ShapeError,
        r"forces of every step, got shape \(6,\): pass steps=T",
    ),
    "frames in an array": (
        lambda q, v, t: jax_.frame_placement(TURNING, q, np.arange(2)),
        tf.DtypeError,
        "frame must be a name or a Frame, got ndarray",
    ),
    "mask": (lambda q, v, t: jax_.bias(TURNING, np.ma.masked_array(q, q > 0), v), TypeError, "mask"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments(case):
    call, error, message = WRONG[case]
    with pytest.raises(error, match=message):
        call(*calls(TURNING)["forward_dynamics"])


def test_a_number_that_no_map_has():
    if _jax_calls._handler() is None:
        pytest.skip("the handler is not there: functions are called by callbacks")
    call = jax.ffi.ffi_call("treefactor", jax.ShapeDtypeStruct((2,), np.float64))
    with pytest.raises(Exception, match="this model is not known in this process"):
        call(np.zeros(2), function=np.int64(1))


def test_a_program_outlives_the_name_of_its_model():
    model = chain("planar", seed=9)
    arguments = calls(model, (3,))["forward_dynamics"]
    wanted = tf.forward_dynamics(model, *arguments)
    compiled = jax.jit(lambda *x, model=model: jax_.forward_dynamics(model, *x))
    first = compiled(*arguments)
    del model
    gc.collect()
    assert equal(first, wanted)
    assert equal(compiled(*arguments), wanted)


def test_equal_models_share_compiled_functions():
    one, two = chain("planar", seed=11), chain("planar", seed=11)
    first, second = (_jax_functions.function_of("bias", model) for model in (one, two))
    assert first == second
    assert hash(first) == hash(second)
    assert first != _jax_functions.function_of("bias", chain("planar", seed=12))
    compiled = [tf.compile(model, ["bias"], backend="interp") for model in (one, two)]
    first, second = (_jax_functions.function_of("bias", kernels) for kernels in compiled)
    assert first == second != _jax_functions.function_of("bias", one)


def test_programs_compute_the_values_and_models_the_derivatives():
    kernels = tf.compile(ARM, ["forward_dynamics", "crba", "frame_placement:j2"])
    q, v, tau = calls(ARM, (3,))["forward_dynamics"]
    assert equal(jax_.forward_dynamics(kernels, q, v, tau), kernels.forward_dynamics(q, v, tau))
    assert equal(jax_.crba(kernels, q), kernels.crba(q))
    assert equal(jax_.frame_placement(kernels, q, "j2"), kernels.call("frame_placement:j2", q))
    for method in ("semi_implicit_euler", "rk4"):
        assert equal(jax_.step(kernels, q, v, tau, 0.01, method), kernels.step(q, v, tau, 0.01, method))
    assert equal(jax_.integrate(kernels, q, v), tf.integrate(ARM, q, v))
    gradient = jax.grad(lambda x: jax_.forward_dynamics(kernels, x, v, tau).sum())(q)
    assert equal(gradient, tf.forward_dynamics_vjp(ARM, q, v, tau, np.ones_like(v)).q)
    with pytest.raises(tf.CodegenError, match="'rnea' was not generated"):
        jax_.rnea(kernels, q, v, tau)
    with pytest.raises(tf.CodegenError, match="no external forces"):
        jax_.forward_dynamics(kernels, q, v, tau, np.zeros((ARM.njoints, 6)))
    with pytest.raises(tf.CodegenError, match="derivatives need the model"):
        jax_.crba(tf.compile(kernels.program), q)


def test_callbacks_take_the_place_of_the_handler(monkeypatch):
    """Where JAX refuses the handler, one warning is given; single states are computed as batches of one."""

    def refuse(*_, **__):
        raise ValueError("unsupported version")

    _jax_calls._handler.cache_clear()
    monkeypatch.setattr(jax.ffi, "register_ffi_target", refuse)
    model = chain("planar", seed=13)
    arguments = calls(model, (3,))["forward_dynamics"]
    try:
        with pytest.warns(RuntimeWarning, match=r"unsupported version.*jax.pure_callback") as noted:
            qdd = jax_.forward_dynamics(model, *arguments)
        assert len(noted) == 1
        gradient = jax.grad(lambda q: jax_.forward_dynamics(model, q, *arguments[1:]).sum())(arguments[0])
        single = jax_.forward_dynamics(model, *(x[1] for x in arguments))
    finally:
        _jax_calls._handler.cache_clear()
    assert equal(qdd, tf.forward_dynamics(model, *arguments))
    assert np.isfinite(gradient).all()
    assert equal(single, tf.forward_dynamics(model, *(x[1:2] for x in arguments))[0])


def test_a_version_of_jax_that_is_too_old_is_refused_by_name(monkeypatch):
    monkeypatch.setattr(jax, "__version__", "0.6.2")
    monkeypatch.setattr(jax, "__version_info__", (0, 6, 2))
    with pytest.raises(tf.AdapterError, match=r"JAX 0\.6\.2 is too old: .* 0\.10 or later.*Python 3\.11"):
        runpy.run_path(_jax_version.__file__, run_name="treefactor.adapters.again")
