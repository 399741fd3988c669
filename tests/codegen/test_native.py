"""Compare machine code with NumPy on any batch, and check the fallback to the interpreter."""

import shutil

import numpy as np
import pytest
from helpers.generated_models import every_joint, robot
from helpers.machine_code import deviation, states

import treefactor as tf
from treefactor.codegen import compile

BACKENDS = [
    pytest.param("cc", marks=pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")),
    "llvm",
]


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(params=BACKENDS)
def backend(request):
    if request.param == "llvm":
        pytest.importorskip("llvmlite")
    return request.param


def results(kernels, given, **options):
    q, v, a, tau = given.values()
    return {
        "rnea": kernels.rnea(q, v, a, **options),
        "forward_dynamics": kernels.forward_dynamics(q, v, tau, **options),
    }


@pytest.mark.parametrize("count", [1, 7, 8, 9, 100])
def test_batches_of_any_size(backend, count, monkeypatch, tmp_path_factory):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "kept"))
    model, program = robot("ur5_robot")
    names = ["rnea", "forward_dynamics"]
    given = states(model, count)
    expected = results(compile(program, names, "numpy"), given)
    kernels = compile(program, names, backend)
    assert kernels.backend == backend
    for threads in (1, 2):
        for name, found in results(kernels, given, num_threads=threads).items():
            assert deviation(found, expected[name]) < 1e-13


def test_layouts_and_single_calls(backend):
    model, _ = every_joint()
    kernels, reference = (compile(model, ["crba"], which) for which in (backend, "numpy"))
    q = states(model, 11)["q"]
    for layout in ("dense", "packed", "lanes"):
        assert deviation(kernels.crba(q, layout=layout), reference.crba(q, layout=layout)) < 1e-14
    H = np.zeros((model.nv, model.nv))
    assert kernels.bind("crba", q[0].copy(), out=H)() is H
    assert deviation(H, reference.crba(q[0])) < 1e-14


def test_a_nan_stays_in_its_configuration(backend):
    model, program = robot("ur5_robot")
    kernels, q = compile(program, ["crba"], backend), states(model, 20)["q"]
    expected = kernels.crba(q)
    q[13, 3] = np.nan
    found = kernels.crba(q)
    assert np.isnan(found[13]).any()
    others = np.arange(20) != 13
    np.testing.assert_array_equal(found[others], expected[others])


def test_the_interpreter_takes_the_place_of_a_missing_compiler(monkeypatch):
    model, program = robot("ur5_robot")
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.warns(RuntimeWarning, match="no-such-compiler found; the interpreter takes") as warned:
        kernels = compile(program, ["crba"], "cc")
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert kernels.backend == "interp"
    q = states(model)["q"]
    assert deviation(kernels.crba(q), tf.crba(model, q)) < 1e-13
