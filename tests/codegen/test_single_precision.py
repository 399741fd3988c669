"""Kernels of float32: accuracy, equal bits wherever a configuration stands, and what they refuse."""

from __future__ import annotations

import ctypes
import pickle

import numpy as np
import pytest
from helpers.generated_models import robot
from helpers.precisions import BACKENDS, LLVM, states

import treefactor as tf
from treefactor import mechanisms
from treefactor.codegen.backends import build
from treefactor.codegen.backends._routine import atan2_address, sincos_address
from treefactor.codegen.program.precision import PRECISIONS
from treefactor.exceptions import CodegenError, DtypeError, NonFiniteError, NotPositiveDefiniteError

FLOATS = ctypes.POINTER(ctypes.c_float)


def addresses(*arrays: np.ndarray) -> list:
    return [x.ctypes.data_as(FLOATS) for x in arrays]


@pytest.fixture(scope="module", params=["ur5_robot", "solo12"])
def model(request):
    return robot(request.param)[0]


@pytest.fixture(scope="module", params=[*BACKENDS, LLVM])
def kernels(request, model):
    return tf.compile(model, ["forward_dynamics", "crba", "rnea"], request.param, dtype=np.float32)


def test_sines_are_accurate_next_to_multiples_of_a_right_angle():
    quarters = np.arange(-63_000, 63_000, dtype=np.float64) * (np.pi / 2)
    near = (quarters[:, None] + np.linspace(-1e-3, 1e-3, 5)).ravel()
    x = np.concatenate([near, np.random.default_rng(0).uniform(-10, 10, 100_000)]).astype(np.float32)
    x = np.append(x, np.zeros(-x.size % 16, np.float32))
    sine, cosine = np.empty_like(x), np.empty_like(x)
    compute = ctypes.CFUNCTYPE(None, ctypes.c_ssize_t, FLOATS, FLOATS, FLOATS)(sincos_address(True))
    compute(x.size, *addresses(x, sine, cosine))
    for values, exact in ((sine, np.sin(x.astype(float))), (cosine, np.cos(x.astype(float)))):
        assert np.abs(values - exact).max() < 9e-8
        small = np.abs(x) < 10
        ulp = np.spacing(np.abs(exact[small]).astype(np.float32))
        assert (np.abs(values[small] - exact[small]) / ulp).max() < 2.0


@pytest.mark.parametrize("x", [2e5, -3e7, np.inf, np.nan])
def test_large_angles_take_the_slow_path(x):
    compute = ctypes.CFUNCTYPE(None, ctypes.c_ssize_t, FLOATS, FLOATS, FLOATS)(sincos_address(True))
    for lane in range(16):
        angles = np.full(16, 0.5, np.float32)
        angles[lane] = x
        sine, cosine = np.empty_like(angles), np.empty_like(angles)
        compute(16, *addresses(angles, sine, cosine))
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(sine, np.sin(angles.astype(float)), atol=1e-7)
            np.testing.assert_allclose(cosine, np.cos(angles.astype(float)), atol=1e-7)


def test_arc_tangents_are_accurate_in_all_quadrants():
    rng = np.random.default_rng(1)
    y, x = rng.normal(size=(2, 64_000)).astype(np.float32) * np.float32(10.0) ** rng.integers(
        -6, 6, (2, 64_000)
    )
    y, x = y.astype(np.float32), x.astype(np.float32)
    y[:16], x[:16] = np.repeat([0, 0, 1, -1], 4), np.tile([1, -1, 0, 2], 4)
    angle = np.empty_like(x)
    compute = ctypes.CFUNCTYPE(None, ctypes.c_ssize_t, FLOATS, FLOATS, FLOATS)(atan2_address(True))
    compute(x.size, *addresses(y, x, angle))
    exact = np.arctan2(y.astype(float), x.astype(float))
    assert (
        np.abs(angle - exact) / np.spacing(np.abs(exact).astype(np.float32) + np.float32(1e-30))
    ).max() < 3


def test_accelerations_round_like_arguments_of_single_precision(model, kernels):
    q, v, tau = (x.astype(np.float64) for x in states(model, 300))
    exact = tf.forward_dynamics(model, q, v, tau)
    computed = kernels.forward_dynamics(*(x.astype(np.float32) for x in (q, v, tau)))
    assert computed.dtype == np.float32
    rng = np.random.default_rng(3)
    moved = [x * (1 + rng.choice([-1, 1], x.shape) * 2.0**-25) for x in (q, v, tau)]
    moved[0] = tf.normalize(model, moved[0])
    size = np.linalg.norm(exact, axis=1)
    by_inputs = np.linalg.norm(tf.forward_dynamics(model, *moved) - exact, axis=1) / size
    error = np.linalg.norm(computed - exact, axis=1) / size
    assert np.median(error) < 3 * np.median(by_inputs)
    assert np.quantile(error, 0.99) < 3 * np.quantile(by_inputs, 0.99)
    residual = tf.rnea(model, q, v, computed.astype(np.float64)) - tau
    H, bias = tf.crba(model, q), tf.bias(model, q, v)
    scale = np.linalg.norm(H, axis=(1, 2)) * size + np.linalg.norm(tau - bias, axis=1)
    assert (np.linalg.norm(residual, axis=1) / scale).max() < 1e-6


def errors_of(kernels, model, arguments, exact):
    """Return median and 99 % of the errors of accelerations relative to their norm."""
    apart = kernels.forward_dynamics(*arguments) - exact
    error = np.linalg.norm(apart, axis=1) / np.linalg.norm(exact, axis=1)
    return np.quantile(error, [0.5, 0.99])


@pytest.mark.parametrize("name", ["so101", "double_pendulum"])
def test_single_precision_takes_articulated_bodies_where_double_takes_the_factor(name):
    """The factor has 12.8 times the error of the arguments in the worst 1 %, or 26 times the median."""
    model, _ = robot(name)
    program = tf.generate(model, ["forward_dynamics", "minv + kinetic_energy", "rnea"])
    double, kernels = tf.compile(program), tf.compile(program, dtype=np.float32)
    assert double.program.functions == program.functions
    forms, functions = kernels.program.functions, program.functions
    for function, method in ((functions, ["factor"]), (forms, ["aba"])):
        assert [one.variant.split(", ")[1:2] for one in function.values()] == [method, method, []]
    group = "minv + kinetic_energy"
    counts = [one.operations.total for one in functions[group].alternatives if "aba" in one.variant]
    assert len(counts) == 2
    assert forms[group].operations.total <= min(counts) - (name == "so101")  # where common factors save some
    assert forms["rnea"] is functions["rnea"]
    arguments = states(model, 2000)
    wide = [x.astype(float) for x in arguments]
    exact = tf.forward_dynamics(model, *wide)
    rng = np.random.default_rng(4)
    moved = [x + rng.choice([-0.5, 0.5], x.shape) * np.spacing(x) for x in arguments]
    least = errors_of(double, model, moved, exact)
    assert (errors_of(kernels, model, arguments, exact) < np.multiply([3, 10], least)).all()
    unfused = {
        variants: tf.compile(
            tf.generate(model, ["forward_dynamics"], variants=variants), None, "numpy", dtype=np.float32
        )
        for variants in ("both", "frames")
    }
    times = {key: errors_of(one, model, arguments, exact)[0] / least[0] for key, one in unfused.items()}
    assert times["frames"] < 3
    assert (times["both"] > 3) == (name == "double_pendulum")


def test_a_configuration_has_the_same_bits_wherever_it_stands(model, kernels):
    if kernels.backend == "numpy":
        pytest.skip("NumPy's sines may differ by the place in an array")
    q, v, tau = states(model, 131)
    whole = kernels.forward_dynamics(q, v, tau)
    for count in (1, 2, 15, 16, 17, 33, 64, 65):
        np.testing.assert_array_equal(
            kernels.forward_dynamics(q[:count], v[:count], tau[:count]), whole[:count]
        )
    np.testing.assert_array_equal(kernels.forward_dynamics(q[::-1], v[::-1], tau[::-1]), whole[::-1])
    for k in (0, 77):
        np.testing.assert_array_equal(kernels.forward_dynamics(q[k], v[k], tau[k]), whole[k])
    columns = [np.asfortranarray(x) for x in (q, v, tau)]
    np.testing.assert_array_equal(kernels.forward_dynamics(*columns), whole)
    out = np.empty((model.nv, 131), np.float32).T
    assert kernels.forward_dynamics(*columns, out=out) is out
    np.testing.assert_array_equal(out, whole)
    np.testing.assert_array_equal(kernels.forward_dynamics(q, v, tau, num_threads=2), whole)
    copied = pickle.loads(pickle.dumps(kernels))
    assert copied.dtype == np.float32
    np.testing.assert_array_equal(copied.forward_dynamics(q, v, tau), whole)
    a = np.empty(model.nv, np.float32)
    call = kernels.bind("forward_dynamics", q[5], v[5], tau[5], out=a)
    call()
    np.testing.assert_array_equal(a, whole[5])


def test_several_groups_of_lanes_of_a_large_program():
    model, program = robot("talos_reduced")
    kernels = tf.compile(program, ["rnea"], "cc", dtype=np.float32)
    _, live = build.compiled(kernels.program, precision=PRECISIONS[np.dtype(np.float32)]).groups("rnea")
    assert live > 0, "rnea is one block: the test needs a larger program"
    q, v, a = states(model, 300)
    v[::70] = np.nan
    whole = kernels.rnea(q, v, a)
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(whole).any(axis=1)), np.arange(0, 300, 70))
    for first, stop in ((1, 17), (130, 131), (250, 290)):
        given = (x[first:stop] for x in (q, v, a))
        np.testing.assert_array_equal(kernels.rnea(*given), whole[first:stop])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_entry_that_is_not_finite_marks_its_own_row_only(model, kernels, value):
    given = states(model, 40)
    whole = kernels.rnea(*given)
    for k, array in enumerate(given):
        rows = np.arange(array.shape[1]) + 1  # row e + 1 has it in entry e
        bad = array.copy()
        bad[rows, rows - 1] = value
        marked = kernels.rnea(*given[:k], bad, *given[k + 1 :])
        assert np.isnan(marked[rows]).all()
        others = np.setdiff1d(np.arange(40), rows)
        np.testing.assert_array_equal(marked[others], whole[others])
        with pytest.raises(NonFiniteError, match=f"{('q', 'v', 'a')[k]} "):
            kernels.rnea(*(x[2] for x in (*given[:k], bad, *given[k + 1 :])))


def test_rotations_must_have_unit_length_as_in_double_precision(model, kernels):
    if model.nq == model.nv:
        pytest.skip(f"{model.name} has no rotations in q")
    q, v, tau = states(model, 20)
    assert np.isfinite(kernels.forward_dynamics(q, v, tau)).all()
    for row, length in ((4, 1.01), (18, 0.99), (19, 0.0)):
        q[row, 3:7] *= np.float32(length)
    spoiled = np.isnan(kernels.forward_dynamics(q, v, tau)).all(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(spoiled), [4, 18, 19])
    with pytest.raises(tf.exceptions.ConfigurationError, match=r"has length 1\.009"):
        kernels.forward_dynamics(q[4], v[4], tau[4])


def test_matrices_have_the_layouts_of_double_precision(model, kernels):
    q, _, _ = states(model, 19)
    exact = tf.crba(model, q.astype(np.float64))
    H = kernels.crba(q)
    np.testing.assert_allclose(H, exact, atol=2e-6 * np.abs(exact).max())
    packed, lanes = kernels.crba(q, layout="packed"), kernels.crba(q, layout="lanes")
    np.testing.assert_array_equal(model.tree.pack(H), packed)
    assert lanes.shape == (2, model.tree.nnz, 16)
    assert lanes.dtype == np.float32
    np.testing.assert_array_equal(np.moveaxis(lanes, 1, 2).reshape(32, -1)[:19], packed)


@pytest.mark.parametrize("name", ["q", "v", "tau"])
def test_other_dtypes_are_refused_with_the_remedy(model, kernels, name):
    given = dict(zip(("q", "v", "tau"), states(model, 4), strict=True))
    for dtype in (np.float64, np.float16, np.int64):
        with pytest.raises(
            DtypeError, match=rf"{name} must have dtype float32, got {np.dtype(dtype)}: convert"
        ):
            kernels.forward_dynamics(*(given | {name: given[name].astype(dtype)}).values())
    with pytest.raises(DtypeError, match="out must have dtype float32"):
        kernels.forward_dynamics(*given.values(), out=np.empty((4, model.nv)))
    row = {key: x[0] for key, x in given.items()} | {"q": given["q"][0].astype(float)}
    with pytest.raises(ValueError, match=r"NumPy array of float32 to be bound, got float64: bind q\.astype"):
        kernels.bind("forward_dynamics", *row.values(), out=np.empty(model.nv, np.float32))
    lists = [x.tolist() for x in given.values()]
    np.testing.assert_array_equal(kernels.forward_dynamics(*lists), kernels.forward_dynamics(*given.values()))


def test_subnormal_numbers_are_zero_inside_and_as_before_outside():
    inertias = {"heavy": 1e4, "light": 1e-2}
    hinges = [
        tf.Joint(name, "revolute", axis=[0, 0, 1], inertia=tf.Inertia(1.0, np.zeros(3), size * np.eye(3)))
        for name, size in inertias.items()
    ]
    model = tf.Model(hinges, gravity=np.zeros(3))
    read, written = [1e-40, 0.0], [0.0, 1e-37]  # times the inertia: a subnormal argument, a subnormal result
    a = np.array([read, written] * 20, np.float32)
    still = np.zeros_like(a)
    for backend in ("interp", "cc"):
        kernels = tf.compile(model, ["rnea"], backend, dtype=np.float32)
        for few in (a, a[:1], a[1:2]):
            assert not kernels.rnea(still[: len(few)], still[: len(few)], few).any()
        for one in a[:2]:
            assert not kernels.rnea(still[0], still[0], one).any()
        lanes = [tf.to_lanes(x, dtype=np.float32) for x in (still, still, a)]
        assert not kernels.rnea(*lanes, layout="lanes").any()
        assert a[0, 0] * np.float32(0.5) > 0
        assert a[1, 1] * np.float32(1e-2) > 0


@pytest.mark.parametrize("backend", ["interp", "cc"])
def test_every_function_and_parameters_in_single_precision(backend):
    arm, _ = robot("panda")
    names = list(tf.generate(arm).functions)
    double, single = (tf.compile(arm, names, backend, dtype=dtype) for dtype in (np.float64, np.float32))
    rng = np.random.default_rng(5)
    for name, function in single.program.functions.items():
        given = [rng.uniform(-1, 1, (21, size)).astype(np.float32) for _, size in function.inputs]
        exact, computed = (
            np.concatenate(
                [np.reshape(part, (21, -1)) for part in (x if isinstance(x, tuple) else (x,))], axis=1
            )
            for x in (double.call(name, *(x.astype(float) for x in given)), single.call(name, *given))
        )
        assert computed.dtype == np.float32
        error = np.linalg.norm(computed - exact, axis=1) / np.linalg.norm(exact, axis=1)
        assert np.median(error) < 2e-6, name
    pi = tf.generate(arm, ["rnea"], parameters="base").parameters()
    by_pi = tf.compile(arm, ["rnea"], backend, parameters="base", dtype=np.float32)
    q, v, a = states(arm, 5)
    np.testing.assert_allclose(
        by_pi.rnea(q, v, a, pi.astype(np.float32)), single.rnea(q, v, a), rtol=0, atol=1e-3
    )


def test_what_has_no_single_precision_is_refused():
    arm, _ = robot("ur5_robot")
    with pytest.raises(DtypeError, match="dtype must be float64 or float32, got float16"):
        tf.compile(arm, ["rnea"], dtype="float16")
    linkage = mechanisms.five_bar().model
    with pytest.raises(CodegenError, match="loop_step: functions that close loops need float64"):
        tf.compile(linkage, ["loop_step"], dtype=np.float32)


@pytest.mark.parametrize("mass", [1e-40, 1e39])
def test_constants_that_single_precision_cannot_hold_are_refused(mass):
    rod = tf.Inertia(mass, [0, 0, -0.5], mass * np.diag([0.1, 0.1, 0.01]))
    pendulum = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    tf.compile(pendulum, ["rnea"])
    for backend in ("interp", "cc"):
        with pytest.raises(CodegenError, match=r"rnea has the constant .* which float32 cannot hold"):
            tf.compile(pendulum, ["rnea"], backend, dtype=np.float32)


def test_a_pivot_that_is_not_positive_spoils_its_row_and_names_its_joint():
    nothing, point = (tf.Inertia(m, [1.0, 0, 0], np.zeros((3, 3))) for m in (0.0, 1.0))
    hinge, above = {"kind": "revolute", "axis": [0, 0, 1]}, {"p": [1.0, 0, 0]}
    joints = [
        tf.Joint("first", **hinge, inertia=point),
        tf.Joint("shoulder", **hinge, inertia=nothing),
        tf.Joint("second", **hinge, inertia=point),
        tf.Joint("elbow", parent=1, **hinge, **above, inertia=point),
    ]
    kernels = tf.compile(tf.Model(joints), ["forward_dynamics"], dtype=np.float32)
    zero = np.zeros(4, np.float32)
    assert np.isfinite(kernels.forward_dynamics(np.ones(4, np.float32), zero, zero)).all()
    with pytest.raises(NotPositiveDefiniteError, match="shoulder"):
        kernels.forward_dynamics(zero, zero, zero)
    assert np.isnan(kernels.forward_dynamics(zero[None], zero, zero)).all()
