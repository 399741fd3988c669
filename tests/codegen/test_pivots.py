"""Check pivots of programs: errors name the freedom, as in `treefactor.forward_dynamics`."""

import shutil
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from helpers.codegen_models import model, random_model, states

import treefactor as tf
from treefactor.codegen import Function, Program
from treefactor.codegen.program import ARGUMENTS, COLUMNS
from treefactor.codegen.program.expressions import OPERATIONS, RECIP

BACKENDS = [
    "interp",
    "numpy",
    "llvm",
    pytest.param("cc", marks=pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")),
]
FUNCTIONS = ("aba", "forward_dynamics", "minv", "delassus")


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path_factory):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "pivots"))


@pytest.fixture(params=BACKENDS)
def backend(request):
    if request.param == "llvm":
        pytest.importorskip("llvmlite")
    return request.param


def compiled(model, backend):
    """Return kernels with all joints as tips."""
    program = tf.generate(model, FUNCTIONS, [joint.name for joint in model.joints])
    kernels = tf.codegen.Kernels(program, backend, model)
    assert kernels.backend == backend
    return kernels


@cache
def compiled_arms(backend):
    """Return kernels of two arms."""
    return compiled(arms(), backend)


def call(kernels, function, q):
    """Return arguments at rest with unit forces."""
    given = {"q": q, "v": np.zeros(kernels.program.nv), "tau": np.ones(kernels.program.nv)}
    return getattr(kernels, function)(*(given[name] for name in ARGUMENTS[function]))


def arms():
    """Return two arms with all mass at their tips: if stretched, a shoulder moves no mass of its own."""
    tip = tf.Inertia(1.0, [1.0, 0, 0], np.zeros((3, 3)))
    joints = []
    for side in ("left", "right"):
        joints.append(tf.Joint(f"{side} shoulder", "revolute", axis=[0, 0, 1.0]))
        joints.append(
            tf.Joint(
                f"{side} elbow", "revolute", len(joints) - 1, p=[1.0, 0, 0], axis=[0, 0, 1.0], inertia=tip
            )
        )
    return tf.Model(joints)


def inverse(sign):
    """Return a program of one freedom whose pivot is q, or -q."""
    columns = {"op": ["INPUT", "RECIP"], "a": [0, 0], "b": [0, sign], "value": [0.0, 0.0]}
    columns["op"] = [OPERATIONS.index(name) for name in columns["op"]]
    columns |= {"output": [1], "sign": [sign]}
    arrays = {name: np.array(values, COLUMNS[name]) for name, values in columns.items()}
    function = Function("minv", (("q", 1),), **arrays, shape=(1, 1))
    return Program("one", np.array([-1]), 1, 1, (), 0.0, {"minv": function})


def expected(model, q):
    """Return the error raised by the compiled recursions."""
    with pytest.raises(tf.NotPositiveDefiniteError) as caught:
        tf.forward_dynamics(model, q, np.zeros(model.nv), np.ones(model.nv))
    return caught.value


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("bad", [[0.3, 0.0, 0.3, 1.0], [0.3, 1.0, 0.3, 0.0]], ids=["left", "right"])
def test_a_single_call_names_the_joint_and_a_batch_goes_on(backend, bad, function):
    bad, good = np.array(bad), np.array([0.3, 1.0, 0.3, 1.0])
    kernels, error = compiled_arms(backend), expected(arms(), bad)
    with pytest.raises(tf.NotPositiveDefiniteError, match="its pivot is not positive") as caught:
        call(kernels, function, bad)
    assert (caught.value.row, caught.value.name) == (error.row, error.name)
    alone = call(kernels, function, good)
    assert np.isfinite(alone).all()
    for size in (1, 7, 8, 9, 63, 64, 65):
        q = np.tile(good, (size, 1))
        q[size // 2] = bad
        results = call(kernels, function, q)
        assert np.isnan(results[size // 2]).all()
        q[size // 2] = good
        others = np.arange(size) != size // 2
        np.testing.assert_array_equal(results[others], call(kernels, function, q)[others])


def test_a_bound_call_names_the_joint(backend):
    q, kernels, out = np.array([0.3, 1.0, 0.3, 0.0]), compiled_arms(backend), np.empty(4)
    bound = kernels.bind("aba", q, np.zeros(4), np.ones(4), out=out)
    with pytest.raises(tf.NotPositiveDefiniteError) as caught:
        bound()
    assert caught.value.name == "right shoulder"
    q[3] = 1.0
    assert np.isfinite(bound()).all()


def floating_twice(mass):
    """Return a robot on a free-flyer below another one, as from a file with a floating joint of its own."""
    bodies = tf.Inertia(mass, [0, 0, 0], mass * np.eye(3)), tf.Inertia(1.0, [0, 0, 0.1], np.eye(3))
    names = zip(("root_joint", "base"), bodies, strict=True)
    return tf.Model(
        [tf.Joint(name, "freeflyer", k - 1, inertia=body) for k, (name, body) in enumerate(names)]
    )


def test_a_robot_that_floats_twice_is_said_to():
    robot, twice = floating_twice(0.0), "root_joint carries no mass of its own and base is a free-flyer, too"
    q, v, tau = tf.neutral(robot), np.zeros(12), np.ones(12)
    with pytest.raises(tf.NotPositiveDefiniteError, match=twice) as caught:
        tf.forward_dynamics(robot, q, v, tau)
    assert caught.value.name == robot.tree.name(caught.value.row)
    with pytest.raises(tf.CodegenError, match=twice):
        tf.generate(robot, ["aba"])
    tf.forward_dynamics(floating_twice(1.0), q, v, tau)
    assert str(expected(arms(), np.zeros(4))).endswith("its pivot is not positive")


def test_kernels_say_what_they_are():
    kernels = tf.compile(model("ur5"), ["crba", "rnea"], backend="interp", dtype=np.float32)
    assert repr(kernels) == f"<Kernels {model('ur5').name!r}: crba, rnea; interp, float32>"


def test_large_arguments_are_not_a_pivots_fault(backend):
    robot, v = arms(), np.array([1e200, 0.0, 0.0, 0.0])
    qdd = compiled_arms(backend).aba(np.array([0.3, 1.0, 0.3, 1.0]), v, np.zeros(4))
    assert not np.isfinite(qdd).all()
    assert not np.isfinite(tf.aba(robot, [0.3, 1.0, 0.3, 1.0], v, np.zeros(4))).all()


def test_errors_of_a_program_from_a_file_name_the_row(tmp_path):
    tf.generate(arms(), "aba").save(tmp_path / "arms.npz")
    kernels = tf.compile(Program.load(tmp_path / "arms.npz"))
    with pytest.raises(tf.NotPositiveDefiniteError) as caught:
        call(kernels, "aba", np.array([0.3, 1.0, 0.3, 0.0]))
    assert (caught.value.row, caught.value.name) == (2, None)


@pytest.mark.parametrize("name", ["ur5", "solo12", "stanford"])
def test_every_pivot_that_is_not_constant_is_in_the_program(name):
    for function in tf.generate(model(name), ("aba", "minv")).functions.values():
        assert (function.b[function.op == RECIP] != 0).all()
        assert len(np.unique(np.abs(function.b[function.op == RECIP]))) <= model(name).nv


@pytest.mark.parametrize("sign", [1, -1])
def test_pivots_that_are_not_positive_numbers(backend, sign):
    kernels = tf.compile(inverse(sign), backend=backend)
    pivots = np.array([2.0, -2.0, 0.0, -0.0, 1e-320, -1e-320, 1e308, -1e308, 1e-300, 0.5])
    inverses = kernels.minv(sign * pivots[:, None])[:, 0, 0]
    good = np.isin(pivots, [2.0, 1e308, 1e-300, 0.5])
    np.testing.assert_allclose(inverses[good], 1 / pivots[good], rtol=1e-15)
    assert np.isnan(inverses[~good]).all()
    for pivot, expected in zip(pivots, inverses, strict=True):
        if np.isfinite(expected):
            assert kernels.minv(np.array([sign * pivot])) == expected
        else:
            with pytest.raises(tf.NotPositiveDefiniteError) as caught:
                kernels.minv(np.array([sign * pivot]))
            assert caught.value.row == 0


def test_a_freedom_that_never_moves_mass_cannot_be_generated():
    with pytest.raises(tf.CodegenError, match=r"freedom 0 \(hinge\) moves no mass"):
        tf.generate(tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1.0])]), "aba")


def test_pivots_of_no_freedom_are_refused():
    program = tf.generate(model("ur5"), "aba")
    function = program.functions["aba"]
    for wrong in (7, -7, -(2**31)):
        b = np.where(function.op == RECIP, wrong, function.b).astype(np.int32)
        with pytest.raises(tf.CodegenError, match="does not belong to a freedom"):
            replace(program, functions={"aba": replace(function, b=b)}).validate()


def test_where_joints_follow_others():
    robot = random_model(np.random.default_rng(0), ["revolute", "prismatic", "revolute"], 0.1, {1: 0})
    q, v, tau = states(robot, 5)
    kernels = tf.compile(robot, ["forward_dynamics"])
    np.testing.assert_allclose(
        kernels.forward_dynamics(q, v, tau), tf.forward_dynamics(robot, q, v, tau), rtol=1e-10
    )
