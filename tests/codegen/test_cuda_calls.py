"""Check launches and errors of CUDA kernels with stand-ins for the driver and for arrays on a device."""

import ctypes
import os
import pickle
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from helpers import cuda_host
from helpers.cuda_host import CONTEXT, NEEDS_CC, OTHER_CONTEXT, OnDevice, columns
from helpers.message_cases import ARM

import treefactor as tf
from treefactor.codegen import CudaKernels, generate
from treefactor.codegen.backends import cuda_driver
from treefactor.codegen.program.emit_cuda import THREADS


@pytest.fixture
def use(monkeypatch):
    """Return a function that puts a library into the place of the driver's."""
    return partial(cuda_host.use, monkeypatch)


def small():
    """Return kernels of one function of a hinge, without PTX."""
    model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], armature=2.0)])
    return CudaKernels(generate(model, ["forward_dynamics"]), {"forward_dynamics": "its PTX"})


def test_geometry_arguments_and_stream_of_a_launch(use):
    library, kernels = use(cuda_host.Driver()), small()
    q, v, tau, out = (np.zeros((130, 1)) for _ in range(4))
    for stream in (0, 0x7F00DEADBEEF):
        kernels.call("forward_dynamics", *map(OnDevice, (q, v, tau[0])), out=OnDevice(out), stream=stream)
    addresses = [x.__array_interface__["data"][0] for x in (q, v, tau, out)]
    values = [130, addresses[0], 130, 1, addresses[1], 130, 1, addresses[2], 1, 0, addresses[3], 130]
    geometry = [3, 1, 1, THREADS, 1, 1]
    assert library.launches == [
        ("tf_forward_dynamics", geometry, 0, 0, values),
        ("tf_forward_dynamics", geometry, 0, 0x7F00DEADBEEF, values),
    ]
    assert library.texts == ["its PTX"]  # loaded once


@NEEDS_CC
def test_a_driver_in_c_receives_values_of_its_types(tmp_path, use):
    program = generate(ARM, ["bias"])
    cuda_host.on_host(program, tmp_path)
    library = use(cuda_host.driver_in_c(tmp_path))
    kernels = CudaKernels(program, {"bias": str(tmp_path / "host.so")})
    rng = np.random.default_rng(0)
    q, v = tf.random_configuration(ARM, rng, size=100), rng.normal(size=(100, ARM.nv))
    out = columns(np.zeros((100, ARM.nv)))
    passed = [OnDevice(columns(x), (2, 3)) for x in (q, v)]
    kernels.call("bias", *passed, out=OnDevice(out, (2, 3)), stream=2**47 + 8)
    np.testing.assert_allclose(out, tf.bias(ARM, q, v), rtol=0, atol=1e-12)
    assert list((ctypes.c_ulonglong * 9).in_dll(library, "launched")) == [
        2,
        1,
        1,
        THREADS,
        1,
        1,
        0,
        2**47 + 8,
        0,
    ]
    with pytest.raises(tf.CodegenError, match=r"not a library \(cuModuleLoadData returned 218\)"):
        CudaKernels(program, {"bias": "no path"}).call("bias", *passed, out=OnDevice(out, (2, 3)))


def test_every_context_loads_its_own_kernel(use):
    library, kernels, x = use(cuda_host.Driver()), small(), OnDevice(np.zeros((1, 1)))
    for context in (CONTEXT, CONTEXT + 8, CONTEXT):
        library.current = context
        kernels.call("forward_dynamics", x, x, x, out=OnDevice(np.zeros((1, 1))))
    assert len(library.texts) == 2
    assert len(library.launches) == 3


def test_a_thread_without_a_context_uses_the_first_device(use):
    library, x = use(cuda_host.Driver(current=None)), OnDevice(np.zeros((1, 1)))
    small().call("forward_dynamics", x, x, x, out=OnDevice(np.zeros((1, 1))))
    assert library.current == OTHER_CONTEXT
    assert len(library.launches) == 1


def test_a_pickle_holds_the_ptx():
    again = pickle.loads(pickle.dumps(small()))
    assert re.fullmatch(r"<CudaKernels '.*': forward_dynamics; cuda, float64>", repr(again))
    assert (again.ptx, again.backend) == ({"forward_dynamics": "its PTX"}, "cuda")


def test_without_a_driver_the_error_names_it(monkeypatch):
    cuda_driver.opened.cache_clear()
    monkeypatch.setattr(cuda_driver, "LIBRARY", "libcuda.missing.so.1")
    with pytest.raises(tf.CodegenError, match=r"libcuda.missing.so.1 is missing: .* install the driver"):
        small().call("forward_dynamics", *[OnDevice(np.zeros((1, 1)))] * 3, out=OnDevice(np.zeros((1, 1))))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("cuLaunchKernel", r"CUDA: error number 700 \(cuLaunchKernel returned 700\)"),
        ("cuModuleLoadData", r"700 .*; the kernel needs a device of compute_70 or later, and a driver"),
    ],
)
def test_errors_of_the_driver_have_its_words(function, message, use):
    use(cuda_host.Driver(fails={function: 700}))
    with pytest.raises(tf.CodegenError, match=message):
        small().call("forward_dynamics", *[OnDevice(np.zeros((1, 1)))] * 3, out=OnDevice(np.zeros((1, 1))))


def test_a_driver_without_a_device_is_an_error():
    with pytest.raises(tf.CodegenError, match=r"error number 100 \(cuInit returned 100\)"):
        cuda_driver.Driver(cuda_host.Driver(fails={"cuInit": 100}))


ROWS = np.zeros((4, 6))
BAD = {  # wrong q of shape (4, 6): the error, and what it says
    "host": (
        np.zeros((4, 6)),
        tf.DtypeError,
        r"q must be an array in the memory of a CUDA.*numpy\.nd",
    ),
    "list": ([[0.0] * 6] * 4, tf.DtypeError, "got list, which has no __cuda_array_interface__"),
    "float32": (OnDevice(columns(ROWS).astype("f4")), tf.DtypeError, "q must be of float64 .*float32"),
    "mask": (OnDevice(columns(ROWS), mask=OnDevice(ROWS)), tf.DtypeError, "without a mask"),
    "other device": (OnDevice(columns(ROWS), (2, 1)), ValueError, "q is on CUDA device 1, but .* is 0"),
    "pinned": (OnDevice(columns(ROWS), (3, 0)), ValueError, r"q is on DLPack device \(3, 0\)"),
    "rows": (OnDevice(ROWS), ValueError, r"side by side, got strides \(6, 1\): make .* shape \(6, 4\) and"),
    "every other": (OnDevice(np.zeros((6, 8)).T[::2]), ValueError, r"got strides \(2, 8\)"),
    "repeated": (OnDevice(np.broadcast_to(0.0, (4, 6))), ValueError, r"got strides \(0, 0\)"),
    "backwards": (OnDevice(np.zeros((6, 4))[::-1].T), ValueError, r"got strides \(1, -4\)"),
    "unaligned": (OnDevice(ROWS, strides=(12, 96)), ValueError, "expected multiples of 8"),
    "entries": (OnDevice(np.zeros((4, 5))), tf.ShapeError, r"q must have shape \(batch, 6\) or \(6,\), got"),
    "axes": (OnDevice(np.zeros((2, 2, 6))), tf.ShapeError, r"got \(2, 2, 6\)"),
    "batch": (OnDevice(columns(np.zeros((5, 6)))), tf.ShapeError, "q has 5 configurations, out has 4"),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_arrays_are_errors(case, use):
    library = use(cuda_host.Driver())
    wrong, error, message = BAD[case]
    kernels = CudaKernels(generate(ARM, ["crba"]), {"crba": ""})
    out = OnDevice(columns(np.zeros((4, ARM.tree.nnz))))
    with pytest.raises(error, match=message):
        kernels.call("crba", wrong, out=out)
    assert library.launches == []


def test_wrong_results_are_errors(use):
    library, q = use(cuda_host.Driver()), columns(np.zeros((4, 6)))
    kernels = CudaKernels(generate(ARM, ["minv"]), {"minv": ""})
    out = columns(np.zeros((4, 5, 5)))
    for wrong, error, message in (
        (OnDevice(out, data=(8, True)), ValueError, "out is read-only"),
        (np.zeros((4, 5, 5)), tf.DtypeError, "out must be an array in the memory"),
        (
            OnDevice(np.zeros((4, 5, 5))),
            ValueError,
            r"out of shape \(4, 5, 5\) .* of shape \(25, 4\)",
        ),
        (OnDevice(out.transpose(0, 2, 1)), ValueError, "side by side"),
        (
            OnDevice(out[:, :4]),
            tf.ShapeError,
            r"shape \(batch, 5, 5\) or \(5, 5\), got",
        ),
        (OnDevice(out[:3]), tf.ShapeError, "q has 4 configurations, out has 3"),
        (OnDevice(out[0]), tf.ShapeError, "q has 4 configurations, out has one"),
    ):
        with pytest.raises(error, match=message):
            kernels.call("minv", OnDevice(q), out=wrong)
    assert library.launches == []
    kernels.call("minv", OnDevice(q), out=OnDevice(out.reshape(4, 25), strides=(8, 32)))
    assert len(library.launches) == 1


def test_a_result_must_not_overlap_an_argument(use):
    library, memory = use(cuda_host.Driver()), np.zeros((3, 4))
    given = [OnDevice(row[:, None]) for row in memory]
    with pytest.raises(ValueError, match="out overlaps v in memory"):
        small().call("forward_dynamics", *given, out=OnDevice(memory[1][:, None]))
    assert library.launches == []


def test_wrong_names_numbers_of_arguments_and_streams_are_errors(use):
    use(cuda_host.Driver())
    kernels, x = small(), OnDevice(np.zeros((1, 1)))
    with pytest.raises(tf.CodegenError, match="'crba' was not generated, only forward_dynamics"):
        kernels.call("crba", x, out=x)
    with pytest.raises(ValueError, match="forward_dynamics takes 3 arrays: q, v, tau; got 1"):
        kernels.call("forward_dynamics", x, out=x)
    with pytest.raises(tf.DtypeError, match="stream must be the handle of a stream"):
        kernels.call("forward_dynamics", x, x, x, out=x, stream=object())
    with pytest.raises(tf.CodegenError, match="the PTX of 'forward_dynamics' is missing"):
        CudaKernels(kernels.program, {"crba": ""})


def test_measuring_without_a_gpu_is_refused():
    script = Path(__file__).parents[2] / "docs" / "code" / "measure_cuda.py"
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("this measures on a GPU: ")


def test_arrays_without_a_device_number_are_taken(use):
    class Numba:
        def __init__(self, array):
            self.__cuda_array_interface__ = OnDevice(array).__cuda_array_interface__

    library, arrays = use(cuda_host.Driver()), [np.zeros((2, 1)) for _ in range(4)]
    *given, out = map(Numba, arrays)
    small().call("forward_dynamics", *given, out=out)
    assert len(library.launches) == 1
