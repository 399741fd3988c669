"""Check CUDA kernels without a GPU: they become PTX, and compute on the host what the interpreter does."""

import pickle
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from helpers import cuda_host
from helpers.cuda_host import GUARD, NEEDS_CC, NEEDS_NVRTC, OnDevice, columns
from helpers.generated_models import robot
from helpers.message_cases import ARM

import treefactor as tf
from treefactor import mechanisms
from treefactor.codegen import CudaKernels, generate
from treefactor.codegen.backends import nvrtc
from treefactor.codegen.program import ARGUMENTS, CLOSURES, LOOP_FUNCTIONS, blocks
from treefactor.codegen.program.emit_cuda import ARCHITECTURE, THREADS, kernel_name, source
from treefactor.codegen.program.names import OF_FRAMES
from treefactor.codegen.program.precision import SINGLE

FRAMES = tuple(f"{kind}:hand" for kind in OF_FRAMES)
GROUP = ("frame_jacobian:hand:WORLD:packed", "center_of_mass")
OF_LOOPS = (*LOOP_FUNCTIONS, *CLOSURES)
OF_ARM = (*(name for name in ARGUMENTS if name not in OF_LOOPS), *FRAMES, GROUP)
COUNTS = (1, THREADS, 2 * THREADS + 5)
SAME = 1e-13  # relative to the largest entry


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@cache
def programs():
    """Return programs of all functions by the name of their model, and the models."""
    linkage = mechanisms.five_bar().model
    return {
        "arm": (ARM, generate(ARM, OF_ARM, tips=["wrist"])),
        "linkage": (linkage, generate(linkage, OF_LOOPS)),
        "inputs": (ARM, generate(ARM, ["rnea", "forward_dynamics"], parameters="base")),
    }


FUNCTIONS = [
    *(("arm", name if isinstance(name, str) else " + ".join(name)) for name in OF_ARM),
    *(("linkage", name) for name in OF_LOOPS),
    *(("inputs", name) for name in ("rnea", "forward_dynamics")),
]


def arguments(model, program, function, count, seed=0):
    """Return arguments of so many configurations, that close loops if there are any."""
    rng = np.random.default_rng(seed)
    by_name = {name: rng.normal(size=(count, size)) for name, size in function.inputs}
    by_name["q"] = tf.random_configuration(model, rng, size=count)
    if model.loops:
        linkage = mechanisms.five_bar()
        by_name["q"] = np.array([linkage.random(rng) for _ in range(count)])
    if "pi" in by_name:
        by_name["pi"] = program.parameters()[None] * rng.uniform(0.9, 1.1, (count, 1))
    return [by_name[name] for name, _ in function.inputs]


def reference(program, name, given, out):
    """Compute with the interpreter, in the layout that the kernels write."""
    result = tf.compile(program).call(name, *given, layout="packed" if name == "crba" else "dense")
    if name == "rnea_derivatives":
        result = program.functions[name].evaluate(*given)
    if isinstance(result, tuple):
        result = np.concatenate([x.reshape(len(out), -1) for x in result], axis=1)
    return np.asarray(result).reshape(out.shape)


@pytest.fixture(scope="module")
def on_host(tmp_path_factory):
    """Return a function that compiles all kernels of a program for the host, once."""

    @cache
    def compiled(name):
        return cuda_host.on_host(programs()[name][1], tmp_path_factory.mktemp(name))

    return compiled


@pytest.fixture
def use(monkeypatch):
    """Return a function that puts a library into the place of the driver's."""
    return partial(cuda_host.use, monkeypatch)


# ------------------------------------------------------------------------------------------------------ PTX


def assert_ptx(ptx, function):
    assert f".visible .entry {kernel_name(function)}(" in ptx
    assert f".target {ARCHITECTURE.replace('compute', 'sm')}" in ptx
    assert f".maxntid {THREADS}" in ptx
    assert "st.global" in ptx or "st.f64" in ptx


@NEEDS_NVRTC
@pytest.mark.parametrize(("of", "name"), FUNCTIONS)
def test_every_function_becomes_ptx(of, name):
    program = programs()[of][1]
    function = program.functions[name]
    ptx = nvrtc.compiled(program, [name])[name]
    assert_ptx(ptx, function)
    assert "ld.global.nc.f64" in ptx
    assert "st.global.f64" in ptx
    if function.operations.mul and function.operations.add:
        assert "fma.rn.f64" in ptx


@NEEDS_NVRTC
def test_functions_of_a_quadruped_become_ptx():
    _, program = robot("solo12")
    for name, ptx in nvrtc.compiled(program, ["crba", "aba"]).items():
        assert_ptx(ptx, program.functions[name])


@NEEDS_NVRTC
def test_blocks_keep_values_in_the_memory_of_the_thread(monkeypatch):
    program = programs()["arm"][1]
    monkeypatch.setattr(blocks, "LIMIT", 30)
    monkeypatch.setattr(blocks, "SIZE", 20)
    ptx = nvrtc.compiled(program, ["aba"])["aba"]
    assert_ptx(ptx, program.functions["aba"])
    assert ptx.count(".func ") > 3
    assert ".local .align" in ptx


@NEEDS_NVRTC
def test_ptx_is_kept_in_the_cache(monkeypatch):
    program = programs()["arm"][1]
    first = nvrtc.compiled(program, ["crba"])
    monkeypatch.setattr(nvrtc, "_ptx", lambda *_: pytest.fail("it is compiled again"))
    assert nvrtc.compiled(program, ["crba"]) == first


@NEEDS_NVRTC
def test_an_error_of_nvrtc_has_its_log():
    with pytest.raises(tf.CodegenError, match=r"(?s)NVRTC_ERROR_COMPILATION: .*undefined"):
        nvrtc._ptx(nvrtc.loaded(), "void f() { nothing(); }")


def test_without_nvrtc_there_is_an_error_and_no_other_backend(monkeypatch):
    nvrtc.loaded.cache_clear()
    monkeypatch.setattr(nvrtc, "folder", lambda: None)
    with pytest.raises(tf.CodegenError, match=r"NVRTC 12 is missing: pip install 'treefactor\[cuda\]'"):
        tf.compile(ARM, ["crba"], backend="cuda")


def test_a_library_that_cannot_be_loaded_is_an_error(monkeypatch, tmp_path):
    nvrtc.loaded.cache_clear()
    (tmp_path / nvrtc.LIBRARY).write_text("no library")
    monkeypatch.setattr(nvrtc, "folder", lambda: tmp_path)
    with pytest.raises(tf.CodegenError, match="NVRTC cannot be loaded"):
        nvrtc.loaded()


def test_the_text_is_deterministic_and_names_only_what_it_reads():
    program = programs()["arm"][1]
    text = source(program, program.functions["rnea_vjp"])
    assert text == source(program, program.functions["rnea_vjp"])
    assert "#include" not in text
    assert "const double *restrict weight, long long weight_stride, long long weight_step" in text
    crba = source(program, program.functions["crba"])
    assert (
        "KERNEL void tf_crba(\n    long long count,\n    const double *restrict q, long long q_stride, "
        in crba
    )


# --------------------------------------------------------------------------------------------------- values


@NEEDS_CC
@pytest.mark.parametrize(("of", "name"), FUNCTIONS)
def test_the_text_on_the_host_computes_what_the_interpreter_does(of, name, on_host, use):
    model, program = programs()[of]
    function, kernels = program.functions[name], CudaKernels(program, dict.fromkeys(program.functions, ""))
    library = use(cuda_host.Driver(on_host(of)))
    for count in COUNTS:
        given = arguments(model, program, function, count, seed=count)
        out = columns(np.full((count, *function.shape), GUARD), apart=3)
        passed = [OnDevice(columns(x, apart=k)) for k, x in enumerate(given)]
        result = OnDevice(out)
        assert kernels.call(name, *passed, out=result) is result
        expected = reference(program, name, given, out)
        np.testing.assert_allclose(out, expected, rtol=0, atol=SAME * max(1.0, np.abs(expected).max()))
        whole = out.base if out.base.shape[-1] == count + 3 else out.base.base
        assert (whole[..., count:] == GUARD).all()
        assert library.launches[-1][1] == [-(-count // THREADS), 1, 1, THREADS, 1, 1]


@NEEDS_CC
def test_blocks_compute_what_one_function_does(monkeypatch, tmp_path, use):
    model, program = programs()["arm"]
    program = replace(program, functions={"aba": program.functions["aba"]})
    monkeypatch.setattr(blocks, "LIMIT", 30)
    monkeypatch.setattr(blocks, "SIZE", 20)
    assert "BLOCK void aba_3" in source(program, program.functions["aba"])
    use(cuda_host.Driver(cuda_host.on_host(program, tmp_path)))
    given = arguments(model, program, program.functions["aba"], 70)
    out = columns(np.zeros((70, model.nv)))
    CudaKernels(program, {"aba": ""}).call("aba", *(OnDevice(columns(x)) for x in given), out=OnDevice(out))
    np.testing.assert_allclose(out, tf.aba(model, *given), rtol=1e-11)


@NEEDS_CC
def test_arguments_of_all_configurations_single_calls_and_empty_batches(on_host, use):
    _, program = programs()["inputs"]
    kernels = CudaKernels(program, dict.fromkeys(program.functions, ""))
    library = use(cuda_host.Driver(on_host("inputs")))
    q, v, a, pi = arguments(ARM, program, program.functions["rnea"], 70)
    out, host = columns(np.zeros((70, ARM.nv))), tf.compile(program)
    batch = [OnDevice(columns(x)) for x in (q, v)]
    kernels.call("rnea", *batch, OnDevice(a[0]), OnDevice(pi[0]), out=OnDevice(out))
    np.testing.assert_allclose(out, host.rnea(q, v, a[0], pi[0]), rtol=0, atol=1e-12)
    single = np.zeros(ARM.nv)
    kernels.call("rnea", *(OnDevice(x[5]) for x in (q, v, a, pi)), out=OnDevice(single))
    np.testing.assert_allclose(single, host.rnea(q[5], v[5], a[5], pi[5]), rtol=0, atol=1e-12)
    assert len(library.launches) == 2
    kernels.call("rnea", *(OnDevice(x[:0]) for x in (q, v, a, pi)), out=OnDevice(out[:0]))
    assert len(library.launches) == 2


@NEEDS_CC
def test_a_pivot_that_is_not_positive_gives_nan_in_its_configuration(tmp_path, use):
    model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=tf.Inertia(1.0, [0, 0, 1.0]))])
    program = generate(model, ["forward_dynamics"], parameters="base")
    use(cuda_host.Driver(cuda_host.on_host(program, tmp_path)))
    pi = program.parameters(np.stack([model.parameters, -model.parameters]))
    out, zero = np.zeros((2, 1)), OnDevice(np.zeros(1))
    kernels = CudaKernels(program, {"forward_dynamics": ""})
    kernels.call("forward_dynamics", zero, zero, zero, OnDevice(columns(pi)), out=OnDevice(out))
    assert np.isnan(out[:, 0]).tolist() == [False, True]


# -------------------------------------------------------------------------------------------------- float32

SINGLE_FUNCTIONS = ["forward_dynamics", "crba", "rnea_vjp", "frame_placement:hand"]


@NEEDS_CC
def test_the_text_of_float32_computes_in_float32_only(monkeypatch, tmp_path, use):
    program = generate(ARM, SINGLE_FUNCTIONS)
    monkeypatch.setattr(blocks, "LIMIT", 200)  # some functions of one block, others of several
    monkeypatch.setattr(blocks, "SIZE", 100)
    use(cuda_host.Driver(cuda_host.on_host(program, tmp_path, SINGLE)))
    kernels = CudaKernels(program, dict.fromkeys(program.functions, ""), np.float32)
    assert pickle.loads(pickle.dumps(kernels)).dtype == kernels.dtype == np.float32
    for name, function in program.functions.items():
        given = [x.astype(np.float32) for x in arguments(ARM, program, function, 70)]
        out = columns(np.full((70, *function.shape), GUARD, np.float32), apart=3)
        kernels.call(name, *(OnDevice(columns(x, apart=1)) for x in given), out=OnDevice(out))
        expected = reference(program, name, [x.astype(float) for x in given], out)
        error = abs(out - expected).max() / abs(expected).max()
        assert 1e-9 < error < 1e-5, name
    q = OnDevice(columns(np.zeros((70, ARM.nq))))
    with pytest.raises(tf.DtypeError, match="q must be of float32 without a mask, got float64"):
        kernels.call("crba", q, out=OnDevice(columns(np.zeros((70, ARM.tree.nnz), np.float32))))


@NEEDS_NVRTC
def test_ptx_of_float32_computes_in_float32():
    kernels = tf.compile(ARM, ["forward_dynamics"], "cuda", dtype=np.float32)
    assert kernels.dtype == np.float32
    ptx = kernels.ptx["forward_dynamics"]
    for instruction in ("ld.global.nc.{}", "st.global.{}", "fma.rn.{}"):
        assert instruction.format("f32") in ptx
        assert instruction.format("f64") not in ptx
    assert ptx.count(".f64") <= 1 + 3 * ARM.nq  # in the slow path of sinf, for huge angles
    tiny = tf.Inertia(1e-40, [0, 0, -0.5], 1e-41 * np.eye(3))
    pendulum = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=tiny)])
    with pytest.raises(tf.CodegenError, match=r"rnea has the constant .* which float32 cannot hold"):
        tf.compile(pendulum, ["rnea"], "cuda", dtype=np.float32)
