"""Check Kernels as objects: construction, bound calls, and errors."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.interp_cases import call, functions, kernels, model, states

import treefactor as tf
from treefactor.codegen import Program
from treefactor.codegen.program import ARGUMENTS

pytestmark = pytest.mark.isa


@pytest.mark.parametrize("backend", ["interp", "numpy"])
def test_bound_calls(backend):
    own = kernels("solo12", backend)
    for function in functions("solo12"):
        given = states("solo12")
        out = np.empty_like(call(own, function, given))
        bound = own.bind(function, *(given[key] for key in ARGUMENTS[function]), out=out)
        for _ in range(2):
            given["v"] *= 1.5
            assert bound() is out
            np.testing.assert_array_equal(out, call(own, function, given))


def test_errors_of_bound_calls_name_the_fault():
    given, out = states("solo12"), np.empty(18)
    bound = kernels("solo12").bind("bias", given["q"], given["v"], out=out)
    given["v"][2] = np.nan
    with pytest.raises(tf.NonFiniteError, match=r"v\[2\]"):
        bound()
    given["v"][2] = 0
    given["q"][3:7] *= 2
    with pytest.raises(tf.ConfigurationError):
        bound()


@pytest.mark.parametrize(
    "out", [np.empty(5), np.empty((6, 1)), np.empty(6, np.float32), np.empty(12)[::2], np.zeros(6).tolist()]
)
def test_arrays_that_cannot_be_bound_raise(out):
    given = states("ur5")
    with pytest.raises(ValueError, match=r"^out must .* to be bound, got"):
        kernels("ur5").bind("bias", given["q"], given["v"], out=out)
    with pytest.raises(ValueError, match="bias takes 2 arrays: q, v; got 1"):
        kernels("ur5").bind("bias", given["q"], out=np.empty(6))


def test_a_subset_of_functions():
    own = tf.compile(model("ur5"), ["rnea"])
    assert list(own.program.functions) == ["rnea"]
    with pytest.raises(tf.CodegenError, match="'crba' was not generated, only rnea"):
        own.crba(np.zeros(6))
    with pytest.raises(tf.CodegenError, match="'aba'"):
        tf.compile(own.program, "aba")
    assert list(tf.compile(kernels("ur5").program, "bias").program.functions) == ["bias"]


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        ((np.zeros(5),), {}, tf.ShapeError),
        ((np.zeros((3, 7)),), {}, tf.ShapeError),
        ((0.0,), {}, tf.ShapeError),
        ((None,), {}, tf.DtypeError),
        ((np.zeros(6, complex),), {}, tf.DtypeError),
        (([0, 0, np.inf, 0, 0, 0],), {}, tf.NonFiniteError),
        ((np.zeros(6),), {"out": np.empty((5, 6))}, tf.ShapeError),
        ((np.zeros(6),), {"out": np.empty((6, 6), np.float32)}, tf.DtypeError),
        ((np.zeros((2, 6)),), {"out": np.broadcast_to(np.empty((6, 6)), (2, 6, 6))}, tf.ShapeError),
        ((np.zeros(6),), {"layout": "sparse"}, ValueError),
        ((np.zeros((2, 6)),), {"num_threads": 0}, ValueError),
    ],
)
@pytest.mark.parametrize("backend", ["interp", "numpy"])
def test_what_crba_refuses(backend, arguments, options, error):
    with pytest.raises(error):
        kernels("ur5", backend).crba(*arguments, **options)


def test_batches_must_match():
    with pytest.raises(tf.ShapeError, match="v must have shape"):
        kernels("ur5").bias(np.zeros((3, 6)), np.zeros((4, 6)))


def test_unknown_backends():
    with pytest.raises(ValueError, match="'interp', 'cc', 'llvm', 'numpy'"):
        tf.compile(model("ur5"), backend="fortran")


def test_a_stretched_arm_with_all_its_mass_at_the_tip():
    tip = tf.Inertia(1.0, [1.0, 0, 0], np.zeros((3, 3)))
    shoulder = tf.Joint("shoulder", "revolute", axis=[0, 0, 1.0])
    elbow = tf.Joint("elbow", "revolute", 0, p=[1.0, 0, 0], axis=[0, 0, 1.0], inertia=tip)
    own, q = tf.compile(tf.Model([shoulder, elbow])), np.array([[0.3, 0.0], [0.3, 1.0]])
    for function in ("aba", "forward_dynamics", "minv"):
        given = {"q": q, "v": np.zeros(2), "tau": np.ones(2)}
        results = call(own, function, given)
        assert np.isnan(results[0]).all()
        assert np.isfinite(results[1]).all()
        with pytest.raises(tf.NotPositiveDefiniteError, match="shoulder"):
            call(own, function, {**given, "q": q[0]})


def test_programs_from_files(tmp_path):
    kernels("ur5").program.save(tmp_path / "ur5.npz")
    own, given = tf.compile(Program.load(tmp_path / "ur5.npz")), states("ur5", 9)
    for function in functions("ur5"):
        np.testing.assert_array_equal(call(own, function, given), call(kernels("ur5"), function, given))


def test_programs_are_checked_before_they_run():
    program = kernels("ur5").program
    function = program.functions["bias"]
    for column, value in {"a": 10**6, "b": -1, "op": 200, "output": -3, "sign": 0}.items():
        changed = getattr(function, column).copy()
        changed[-1] = value % 256 if column == "op" else value
        tampered = replace(program, functions={"bias": replace(function, **{column: changed})})
        with pytest.raises(tf.CodegenError, match="bias"):
            tf.compile(tampered)
    with pytest.raises(tf.CodegenError):
        tf.compile(replace(program, nq=-1))
