"""Compare machine code with NumPy on any batch, and check the fallback to the interpreter."""

import shutil

import numpy as np
import pytest
from helpers.generated_models import every_joint, robot
from helpers.machine_code import deviation, states

import treefactor as tf
from treefactor.codegen import compile
from treefactor.codegen.backends import choice
from treefactor.codegen.program import blocks

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
        for name, result in results(kernels, given, num_threads=threads).items():
            assert deviation(result, expected[name]) < 1e-13


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("together", [2, 3, 8])
def test_results_do_not_depend_on_the_groups_evaluated_together(together, monkeypatch, tmp_path_factory):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "kept"))
    monkeypatch.setattr(blocks, "LIMIT", 100)
    monkeypatch.setattr(blocks, "SIZE", 60)
    model, program = robot("ur5_robot")
    monkeypatch.setattr(choice, "groups_in_cache", lambda slots: 1)
    alone = compile(program, ["forward_dynamics"], "cc")
    monkeypatch.setattr(choice, "groups_in_cache", lambda slots: together)
    kernels = compile(program, ["forward_dynamics"], "cc")
    for count in (1, 8, 15, 16, 17, 63, 64, 65, 200):
        q, v, _, tau = states(model, count).values()
        expected = alone.forward_dynamics(q, v, tau)
        for threads in (1, 3):
            assert np.array_equal(kernels.forward_dynamics(q, v, tau, num_threads=threads), expected)
        columns = [np.asfortranarray(x) for x in (q, v, tau)]
        assert np.array_equal(kernels.forward_dynamics(*columns), expected)
        assert np.array_equal(kernels.forward_dynamics(q, v[0], tau), alone.forward_dynamics(q, v[0], tau))


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_invalid_configurations_of_a_group_do_not_change_others(monkeypatch):
    monkeypatch.setattr(blocks, "LIMIT", 100)
    monkeypatch.setattr(blocks, "SIZE", 60)
    model, program = robot("ur5_robot")
    kernels = compile(program, ["forward_dynamics"], "cc")
    q, v, _, tau = states(model, 70).values()
    expected = kernels.forward_dynamics(q, v, tau)
    v[[3, 20, 69], 1] = np.nan
    qdd = kernels.forward_dynamics(q, v, tau)
    good = np.isfinite(v).all(axis=1)
    assert np.isnan(qdd[~good]).all()
    assert np.array_equal(qdd[good], expected[good])


@pytest.mark.parametrize(
    ("size", "slots", "expected"),
    [(2**20, 900, 8), (2**20, 1600, 5), (2**20, 10_000, 1), (2**19, 900, 4), (0, 900, 4)],
)
def test_groups_fit_into_the_cache(size, slots, expected, monkeypatch):
    monkeypatch.setattr(choice, "second_cache", lambda: size)
    assert choice.groups_in_cache(slots) == expected


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
    H = kernels.crba(q)
    assert np.isnan(H[13]).any()
    others = np.arange(20) != 13
    np.testing.assert_array_equal(H[others], expected[others])


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
