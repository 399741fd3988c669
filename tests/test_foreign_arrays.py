"""Test arrays of other libraries: those that NumPy reads give results, all others an error that helps."""

import numpy as np
import pytest
from helpers.message_cases import ARM, Q, V, foreign, functions_of
from test_masked import CASES

import treefactor as tf
from treefactor.exceptions import DtypeError, ShapeError

FUNCTIONS = {  # of a configuration of ARM, a list of two of them, or a result
    "dynamics": lambda q: tf.rnea(ARM, q, V, V),
    "kinematics": lambda q: tf.frame_placement(ARM, q, "wrist"),
    "derivatives": lambda q: tf.rnea_derivatives(ARM, q, V, V),
    "configurations": lambda q: tf.integrate(ARM, q, V),
    "poses": tf.se3.exp,  # Q has 6 entries, too
    "trajectories": lambda q: tf.rollout(ARM, q, V, V, 0.1, 2),
}
NO_ARRAYS_HERE = ("bind", "BoundFactor", "stream")  # bound calls want NumPy's own, streams call any function


QUIET = pytest.mark.filterwarnings("ignore:.torch.jit.script:DeprecationWarning")  # of torch's own modules


class Exchanged:
    """Array that only the DLPack protocol gives out."""

    def __init__(self, values, device=1):
        self.values, self.device = values, device

    def __dlpack__(self, **options):
        if self.device != 1:
            raise BufferError("not on the CPU")
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device, 0


class OnDevice(Exchanged):
    """Imitate an array of CuPy, which refuses implicit copies."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")


def imitation(module, name, error, **attributes):
    """Return an object of a class of another package that NumPy cannot read."""

    def refuse(self, dtype=None, copy=None):
        raise type(error)(*error.args)

    return type(name, (), {"__module__": module, "__array__": refuse, **attributes})()


TRACER = imitation("jax._src.core", "Tracer", TypeError("The numpy.ndarray conversion method"))
REQUIRES_GRAD = imitation("torch", "Tensor", RuntimeError("Can't call numpy()"), requires_grad=True)


def same(result, expected):
    """Compare results, which are arrays or tuples of them."""
    if isinstance(expected, tuple):
        return all(same(a, b) for a, b in zip(result, expected, strict=True))
    return result is None or not isinstance(expected, np.ndarray) or np.array_equal(result, expected)


@pytest.mark.parametrize("name", [name for name in CASES if not any(part in name for part in NO_ARRAYS_HERE)])
def test_every_function_names_what_cannot_be_read(name):
    function, *arrays = CASES[name]
    for k in range(len(arrays)):
        for odd, why in (
            (TRACER, r"JAX tracer.*adapters\.jax_"),
            (REQUIRES_GRAD, r"adapters\.torch_.*detach"),
        ):
            with pytest.raises(
                (DtypeError, tf.InvalidModelError), match=f"{why}|must be a NumPy array|whole"
            ):
                function(*arrays[:k], odd, *arrays[k + 1 :])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_objects_of_the_dlpack_protocol_are_read(name):
    function, q = FUNCTIONS[name], Q.copy()
    assert same(function(Exchanged(q)), function(q))
    wide = np.stack([q, q, q])
    assert same(function(Exchanged(wide[::2])), function(wide[::2].copy()))
    assert same(function(Exchanged(q.astype(np.float32))), function(q.astype(np.float32)))
    with pytest.raises(ShapeError):
        function(Exchanged(q[1:]))
    with pytest.raises(DtypeError, match="real numbers, got dtype complex128"):
        function(Exchanged(q.astype(complex)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_not_on_the_cpu_is_not_copied(name):
    with pytest.raises(DtypeError, match="memory of the CPU, got Exchanged on DLPack device 2: copy it"):
        FUNCTIONS[name](Exchanged(Q, device=2))
    with pytest.raises(DtypeError, match=r"cannot be read as a NumPy array: Implicit conversion.*\.get\(\)"):
        FUNCTIONS[name](OnDevice(Q, device=2))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_models_and_data_are_not_arrays(name):
    for model in (ARM, foreign("pinocchio", "Model"), foreign("mujoco", "MjModel")):
        with pytest.raises(DtypeError, match="Model: an array belongs here, and a model in the argument of"):
            FUNCTIONS[name](model)
    with pytest.raises(DtypeError, match="got Tree: an array belongs here"):
        FUNCTIONS[name](ARM.tree)
    for package, kind in (("pinocchio", "Data"), ("mujoco", "MjData")):
        with pytest.raises(DtypeError, match=f"got {package}.{kind}: functions of treefactor take no data"):
            FUNCTIONS[name](foreign(package, kind))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jax_names_its_adapter_inside_transformations(name):
    jax = pytest.importorskip("jax")
    function, q = FUNCTIONS[name], jax.numpy.asarray(Q)

    def of_list(x):
        return function([x[k] for k in range(len(Q))])

    for one in (function, of_list):
        for transformed in (jax.jit(one), jax.grad(one), lambda x, f=one: jax.jvp(f, (x,), (x,))):
            with pytest.raises(DtypeError, match=r"is a JAX tracer.*treefactor\.adapters\.jax_"):
                transformed(q)
        with pytest.raises(DtypeError, match=r"is a JAX tracer.*treefactor\.adapters\.jax_"):
            jax.vmap(one)(q[None])


@QUIET
@pytest.mark.parametrize("name", FUNCTIONS)
def test_torch_names_its_adapter_where_derivatives_would_be_lost(name):
    torch = pytest.importorskip("torch")
    function, q = FUNCTIONS[name], torch.as_tensor(Q)
    loose = q.clone().requires_grad_()
    for odd in (loose, list(loose), torch.nn.Parameter(q)):
        with pytest.raises(DtypeError, match=r"requires grad.*treefactor\.adapters\.torch_.*detach\(\)"):
            function(odd)
    for transformed in (torch.func.grad(function), torch.func.vmap(function)):
        with pytest.raises(DtypeError, match=r"treefactor\.adapters\.torch_"):
            transformed(q if transformed.__name__ == "grad_wrapper" else q[None])
    with pytest.raises(DtypeError, match=r"treefactor\.adapters\.torch_"):
        torch.func.jvp(function, (q,), (q,))
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(q, torch.ones_like(q))
        for odd in (dual, list(dual), (dual, dual)):
            with pytest.raises(DtypeError, match=r"with a tangent.*treefactor\.adapters\.torch_"):
                function(odd)
    assert same(function(loose.detach()), function(q))


@QUIET
def test_tensors_that_numpy_cannot_read_keep_the_words_of_torch():
    torch = pytest.importorskip("torch")
    for odd in (torch.zeros(len(Q)).bfloat16(), torch.empty(len(Q), device="meta")):
        with pytest.raises(DtypeError, match=r"^q cannot be read as a NumPy array: .*(BFloat16|meta)"):
            tf.rnea(ARM, odd, V, V)
    with pytest.raises(DtypeError, match=r"^out must be a NumPy array, got Tensor: pass out\.numpy\(\)"):
        tf.rnea(ARM, Q, V, V, out=torch.empty(ARM.nv))


def test_arrays_of_jax_cannot_be_written():
    jax = pytest.importorskip("jax")
    with pytest.raises(DtypeError, match=r"^out must be .*: arrays of JAX cannot be written"):
        tf.rnea(ARM, Q, V, V, out=jax.numpy.zeros(ARM.nv))


# --------------------------------------------------------------------------------------------------- options


@pytest.mark.parametrize("name", ["layout", "method", "reference"])
def test_arrays_as_options_are_named(name):
    tried = 0
    for function, arguments in option_calls(name):
        for odd in (np.zeros(2), np.array(["dense", "packed"]), np.array(0.0), None):
            with pytest.raises(ValueError, match=f"^{name} must be one of '"):
                function(*arguments, **{name: odd})
        tried += 1
    assert tried >= 3


def option_calls(name):
    """Yield functions that have an option of that name, and valid arguments without it."""
    H, tree = np.eye(2), tf.Tree([-1, 0])
    v, tau = V, V
    arguments = {
        tf.crba: (ARM, Q),
        tf.coriolis_matrix: (ARM, Q, v),
        tf.rnea_derivatives: (ARM, Q, v, v),
        tf.rnea_hessian: (ARM, Q, v, v, v),
        tf.frame_jacobian: (ARM, Q, "wrist"),
        tf.frame_jacobian_dot: (ARM, Q, v, "wrist"),
        tf.frame_velocity: (ARM, Q, v, "wrist"),
        tf.frame_acceleration: (ARM, Q, v, v, "wrist"),
        tf.frame_derivatives: (ARM, Q, v, v, "wrist"),
        tf.joint_jacobian: (ARM, Q, "wrist"),
        tf.task_bias: (ARM, Q, v, "wrist"),
        tf.operational_bias: (ARM, Q, v, "wrist"),
        tf.operational_space: (ARM, Q, "wrist"),
        tf.operational_inertia: (ARM, Q, "wrist"),
        tf.delassus: (ARM, Q, "wrist"),
        tf.forward_dynamics: (ARM, Q, v, tau),
        tf.step: (ARM, Q, v, tau, 0.1),
        tf.rollout: (ARM, Q, v, tau, 0.1, 2),
        tf.factor: (H, tree),
        tf.solve: (H, tree, np.ones(2)),
        tf.multiply: (H, tree, np.ones(2)),
        tf.Factor: (tree, ()),
        tf.BoundFactor: (H, tree),
    }
    for case in functions_of(name):
        if case.values[0] in arguments:
            yield case.values[0], arguments[case.values[0]]


# --------------------------------------------------------------------------------------------------- outputs


@pytest.mark.parametrize("function", [tf.integrate_derivatives, tf.difference_derivatives])
@pytest.mark.parametrize("lead", [(), (3,)])
def test_pairs_of_results_are_validated_before_one_is_written(function, lead):
    second = V if function is tf.integrate_derivatives else Q
    arguments = (
        np.broadcast_to(Q, (*lead, ARM.nq)).copy(),
        np.broadcast_to(second, (*lead, *second.shape)).copy(),
    )
    shape = (*lead, ARM.nv, ARM.nv)
    read_only = np.empty(shape)
    read_only.flags.writeable = False
    odd = [np.empty((*shape, 1)), np.empty(shape, np.float32), read_only, None, [1.0]]
    odd += [np.ma.zeros(shape), np.broadcast_to(0.0, shape), np.empty((2, *shape))]
    for bad in odd:
        good = np.full(shape, 7.0)
        for out in ((good, bad), (bad, good)):
            with pytest.raises((DtypeError, ShapeError), match="out"):
                function(ARM, *arguments, out=out)
            assert (good == 7.0).all()
    strided = np.empty((*shape, 2))[..., 0]
    for array, expected in zip(
        function(ARM, *arguments, out=(np.empty(shape), strided)), function(ARM, *arguments), strict=True
    ):
        np.testing.assert_array_equal(array, expected)
