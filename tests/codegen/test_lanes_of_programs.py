"""Generated functions of arguments in the layout "lanes": bits of rows, errors, NaN, padding."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.generated_models import robot
from helpers.precisions import BACKENDS, states

import treefactor as tf
from treefactor.exceptions import CodegenError, DtypeError, ShapeError

NAMES = ("forward_dynamics", "rnea", "bias", "minv", "crba", "rnea_derivatives", "kinetic_energy")

pytestmark = pytest.mark.isa


@pytest.fixture(scope="module", params=[np.float64, np.float32], ids=["float64", "float32"])
def dtype(request):
    return request.param


@pytest.fixture(scope="module", params=BACKENDS)
def backend(request):
    return request.param


@pytest.fixture(scope="module")
def model():
    return robot("solo12")[0]


@pytest.fixture(scope="module")
def kernels(model, backend, dtype):
    return tf.compile(model, NAMES, backend, dtype=dtype)


def in_lanes(*arrays: np.ndarray) -> list[np.ndarray]:
    return [tf.to_lanes(x, dtype=x.dtype) for x in arrays]


def copied(lanes: np.ndarray) -> np.ndarray:
    """Return a copy that begins at a multiple of 64 bytes: such arrays are read where they are."""
    return tf.to_lanes(tf.from_lanes(lanes), dtype=lanes.dtype)


def assert_bits(lanes, rows, backend: str) -> None:
    """Rows may differ in the last bit for NumPy, whose sines depend on the place in an array."""
    own = tf.from_lanes(lanes, count=len(rows)).reshape(rows.shape)
    assert own.dtype == rows.dtype
    if backend == "numpy":
        np.testing.assert_allclose(own, rows, rtol=0, atol=1e3 * np.finfo(rows.dtype).eps * abs(rows).max())
    else:
        np.testing.assert_array_equal(own, rows)


@pytest.mark.parametrize("count", [1, 8, 16, 37, 210])
def test_results_have_the_bits_of_rows(model, kernels, backend, dtype, count):
    if backend == "numpy" and count > 40:
        pytest.skip("slow")
    given = states(model, count, dtype)
    lanes = in_lanes(*given)
    for name, arity in (("forward_dynamics", 3), ("rnea", 3), ("bias", 2), ("minv", 1)):
        rows, method = getattr(kernels, name)(*given[:arity]), getattr(kernels, name)
        computed = method(*lanes[:arity], layout="lanes")
        assert computed.shape == (len(lanes[0]), rows[0].size, 64 // computed.itemsize)
        assert_bits(computed, rows, backend)
        assert_bits(method(*lanes[:arity], layout="lanes", num_threads=2), rows, backend)
        out = np.empty_like(computed)
        assert method(*lanes[:arity], layout="lanes", out=out) is out
        np.testing.assert_array_equal(out, computed)
        strided = np.empty((len(out), 2 * out.shape[1], out.shape[2]), dtype)[:, ::2]
        assert method(*lanes[:arity], layout="lanes", out=strided) is strided
        np.testing.assert_array_equal(strided, computed)
    assert_bits(kernels.call("kinetic_energy", *lanes[:2], layout="lanes"),
                kernels.call("kinetic_energy", *given[:2])[:, None], backend)  # fmt: skip
    packed = kernels.rnea_derivatives(*given, layout="packed")
    several = kernels.rnea_derivatives(*lanes, layout="lanes")
    assert type(several) is type(packed)
    for own, rows in zip(several, packed, strict=True):
        assert_bits(own, rows, backend)
    outs = tuple(np.empty(x.shape, dtype) for x in several)
    assert kernels.rnea_derivatives(*lanes, layout="lanes", out=outs) is outs
    np.testing.assert_array_equal(outs[1], several[1])


def test_crba_takes_rows_as_before(model, kernels, dtype):
    q = states(model, 9, dtype)[0]
    H = kernels.crba(q, layout="lanes")
    np.testing.assert_array_equal(model.tree.from_lanes(H)[:9], kernels.crba(q, layout="packed"))
    factor = tf.factor(H, model.tree, layout="lanes", dtype=dtype)
    assert factor.batch == (len(H) * H.shape[2],)


def test_one_block_serves_for_all(model, kernels, backend, dtype):
    q, v, tau = states(model, 40, dtype)
    Q, V, _ = in_lanes(q, v, tau)
    still = tf.to_lanes(tau[3], dtype=dtype)
    expected = kernels.forward_dynamics(q, v, np.repeat(tau[3:4], 40, axis=0))
    for threads in (1, 2):
        computed = kernels.forward_dynamics(Q, V, still, layout="lanes", num_threads=threads)
        assert_bits(computed, expected, backend)
    lanes = Q.shape[2]
    each = np.ascontiguousarray(Q[:1])  # lane l of the block belongs to lane l of every block
    computed = tf.from_lanes(kernels.bias(each, V, layout="lanes"), 40)
    np.testing.assert_array_equal(
        computed[lanes + 1], tf.from_lanes(kernels.bias(each, V[1:2], layout="lanes"))[1]
    )


def test_what_is_not_finite_marks_its_own_lane(model, kernels, backend, dtype):
    given = in_lanes(*states(model, 61, dtype))
    lanes = given[0].shape[2]
    expected = kernels.rnea(*given, layout="lanes")
    for k, (bad, at) in enumerate(((np.nan, 4), (np.inf, 17), (-np.inf, 60))):
        spoiled = list(map(copied, given))
        spoiled[k][at // lanes, -1, at % lanes] = bad  # of a leaf, whose number few results need
        computed = kernels.rnea(*spoiled, layout="lanes")
        assert np.isnan(computed[at // lanes, :, at % lanes]).all()
        others = np.arange(len(given[0]) * lanes) != at
        np.testing.assert_array_equal(tf.from_lanes(computed)[others], tf.from_lanes(expected)[others])
    padded = copied(given[0])
    padded[-1, :, 61 % lanes :] = 0.0  # no rotation
    computed = tf.from_lanes(kernels.rnea(padded, *given[1:], layout="lanes"))
    np.testing.assert_array_equal(computed[:61], tf.from_lanes(expected, 61))
    assert np.isnan(computed[61:]).all()


def test_arrays_of_any_memory_are_read(model, kernels, dtype):
    Q, V, A = in_lanes(*states(model, 33, dtype))
    expected = kernels.rnea(Q, V, A, layout="lanes")
    shifted = np.empty(V.nbytes + 4, np.uint8)[4:].view(dtype).reshape(V.shape)
    shifted[:] = V
    read_only = A.copy()
    read_only.flags.writeable = False
    strided = np.asfortranarray(Q)
    np.testing.assert_array_equal(kernels.rnea(strided, shifted, read_only, layout="lanes"), expected)
    own = V.copy()  # the result over an argument
    assert kernels.rnea(Q, own, A, layout="lanes", out=own) is own
    np.testing.assert_array_equal(own, expected)
    nothing = kernels.rnea(Q[:0], V[:0], A[:1], layout="lanes")
    assert nothing.shape == (0, model.nv, Q.shape[2])


def test_what_is_refused(model, kernels, dtype):
    rows = states(model, 64, dtype)
    Q, V, A = in_lanes(*rows)
    lanes, name = Q.shape[2], np.dtype(dtype).name
    other, owner = (8, "float64") if lanes == 16 else (16, "float32")
    wrong = np.zeros((64, model.nq, other), dtype)
    text = (
        rf'expected q of shape \(blocks, {model.nq}, {lanes}\) for layout "lanes" of {name}, got '
        rf"\(64, {model.nq}, {other}\): {other} lanes belong to {owner}"
    )
    with pytest.raises(ShapeError, match=text):
        kernels.rnea(wrong, V, A, layout="lanes")
    with pytest.raises(
        ShapeError, match=rf"expected v of shape .*, got \(64, {model.nv}\): pass treefactor.to_lanes"
    ):
        kernels.rnea(Q, rows[1], A, layout="lanes")
    with pytest.raises(ShapeError, match=r"expected a of shape"):
        kernels.rnea(Q, V, A[:, 1:], layout="lanes")
    with pytest.raises(
        ShapeError, match=f"expected a of {len(Q)} blocks as other arguments, or of 1 for all, got 2"
    ):
        kernels.rnea(Q, V, A[:2], layout="lanes")
    with pytest.raises(ShapeError, match="expected q of shape"):
        kernels.rnea(rows[0][0], rows[1][0], rows[2][0], layout="lanes")
    with pytest.raises(ShapeError, match="out must have shape"):
        kernels.rnea(Q, V, A, layout="lanes", out=np.empty_like(rows[1]))
    if dtype == np.float32:
        with pytest.raises(DtypeError, match=r"v must have dtype float32, got float64"):
            kernels.rnea(Q, V.astype(float), A, layout="lanes")
    with pytest.raises(DtypeError, match=f"out must have dtype {name}"):
        kernels.rnea(Q, V, A, layout="lanes", out=np.empty(V.shape, owner))
    with pytest.raises(CodegenError, match="'rnea' has no layout 'packed'"):
        kernels.rnea(Q, V, A, layout="packed")
    with pytest.raises(ValueError, match="layout must be one of"):
        kernels.rnea(Q, V, A, layout="columns")


def test_a_pivot_that_is_not_positive_spoils_its_lane(backend, dtype):
    nothing, point = (tf.Inertia(m, [1.0, 0, 0], np.zeros((3, 3))) for m in (0.0, 1.0))
    hinge, above = {"kind": "revolute", "axis": [0, 0, 1]}, {"p": [1.0, 0, 0]}
    joints = [
        tf.Joint("first", **hinge, inertia=point),
        tf.Joint("shoulder", **hinge, inertia=nothing),
        tf.Joint("second", **hinge, inertia=point),
        tf.Joint("elbow", parent=1, **hinge, **above, inertia=point),
    ]
    kernels = tf.compile(tf.Model(joints), ["forward_dynamics"], backend, dtype=dtype)
    q = np.ones((20, 4), dtype)
    q[18] = 0.0
    zero = tf.to_lanes(np.zeros(4), dtype=dtype)
    computed = tf.from_lanes(kernels.forward_dynamics(*in_lanes(q), zero, zero, layout="lanes"), 20)
    np.testing.assert_array_equal(np.isnan(computed), np.repeat(np.arange(20)[:, None] == 18, 4, axis=1))
    q[17, 0] = np.nan  # no result depends on it
    rows = kernels.forward_dynamics(q, *np.zeros((2, 4), dtype))
    spoiled = np.isin(np.arange(20)[:, None], [17, 18])
    np.testing.assert_array_equal(np.isnan(rows), np.repeat(spoiled, 4, axis=1))


def test_inertial_parameters_in_lanes(model, dtype):
    kernels = tf.compile(model, ["rnea"], parameters="base", dtype=dtype)
    given = states(model, 21, dtype)
    random = np.random.default_rng(1).uniform(0.9, 1.1, (21, model.njoints, 1)) * model.parameters
    pi = kernels.program.parameters(random).astype(dtype)
    expected = kernels.rnea(*given, pi)
    assert_bits(kernels.rnea(*in_lanes(*given, pi), layout="lanes"), expected, "interp")


def test_several_groups_of_lanes_of_a_large_program(dtype):
    model, program = robot("talos_reduced")
    kernels = tf.compile(program, ["rnea"], "cc", dtype=dtype)
    given = states(model, 300, dtype)
    given[1][::70] = np.nan
    expected = kernels.rnea(*given)
    assert_bits(kernels.rnea(*in_lanes(*given), layout="lanes"), expected, "cc")
