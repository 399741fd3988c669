"""The PyTorch adapter: values, first derivatives in all modes, dtypes, memory, errors, threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import treefactor as tf

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from helpers.derivative_cases import TREES  # noqa: E402
from helpers.torch_cases import (  # noqa: E402
    FIXED,
    FLOATING,
    FUNCTIONS,
    MODELS,
    arguments,
    assert_same_bits,
    call,
    moved,
    recorded,
    tangent,
    tensors,
    value,
)
from torch.autograd import gradcheck  # noqa: E402
from torch.func import grad, jacfwd, jacrev, jvp, vjp, vmap  # noqa: E402

from treefactor.adapters import torch_  # noqa: E402
from treefactor.adapters._maps import array_function  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # PyTorch's own use
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
functions = pytest.mark.parametrize("name", FUNCTIONS)


@models
@functions
def test_values_have_the_same_bits(name, model):
    arrays = arguments(name, model, (19,))
    expected = value(name, model, *arrays)
    assert_same_bits(call(name, model, *arrays), expected)
    assert_same_bits(call(name, model, *recorded(*arrays)), expected)
    strided = (x.repeat_interleave(2, 0)[::2].mT.contiguous().mT for x in arrays)
    assert_same_bits(call(name, model, *strided), expected)
    of_one = value(name, model, *(x[:1] for x in arrays))
    assert_same_bits(call(name, model, *(x[:1] for x in arrays)), of_one)
    assert_same_bits(call(name, model, *(x[0] for x in arrays)), of_one[0])


@models
@functions
def test_leading_axes(name, model):
    arrays = arguments(name, model, (2, 3))
    whole = call(name, model, *arrays)
    flat = call(name, model, *(x.flatten(0, 1) for x in arrays))
    assert_same_bits(whole, flat.reshape(2, 3, *flat.shape[1:]).numpy())
    single = call(name, model, *(x[1, 2] for x in arrays))
    assert single.shape == whole.shape[2:]
    torch.testing.assert_close(single, whole[1, 2])
    for empty in [(0,), (2, 0, 3)]:
        made = call(name, model, *(x.new_zeros(*empty, *x.shape[2:]) for x in arrays))
        assert made.shape == (*empty, *whole.shape[2:])
    if len(arrays) > 1:
        spread = arrays[0][:, :1], *(x[0, :] for x in arrays[1:])
        apart = arrays[0][:, :1].expand(2, 3, -1), *(x[:1].expand(2, 3, *x.shape[2:]) for x in arrays[1:])
        assert_same_bits(call(name, model, *spread), call(name, model, *apart).numpy())


@models
def test_motions_have_the_same_bits(model):
    q, v, tau, fext = tensors(model, (5,))
    for arrays in [(q, v), recorded(q, v)]:
        assert_same_bits(torch_.integrate(model, *arrays), tf.integrate(model, q.numpy(), v.numpy()))
    q1 = torch_.integrate(model, q, v)
    assert_same_bits(torch_.difference(model, q, q1), tf.difference(model, q.numpy(), q1.numpy()))
    assert_same_bits(torch_.normalize(model, 2 * q), tf.normalize(model, 2 * q.numpy()))
    for method in ("semi_implicit_euler", "rk4"):
        for forces in (None, fext):
            given = None if forces is None else forces.numpy()
            own = torch_.step(model, q, v, tau, 0.01, method, forces)
            assert_same_bits(own, tf.step(model, *(x.numpy() for x in (q, v, tau)), 0.01, method, given))
            own = torch_.rollout(model, q, v, tau, 0.01, 4, method, forces)
            kept = [x.numpy() for x in (q, v, tau)]
            assert_same_bits(own, tf.rollout(model, *kept, 0.01, 4, method, given))
    of_one = tf.step(model, *(x[:1].numpy() for x in (q, v, tau)), 0.01)
    assert_same_bits(torch_.step(model, q[0], v[0], tau[0], 0.01), tuple(x[0] for x in of_one))
    free = torch_.rollout(model, q, v, None, 0.01, 2)
    assert_same_bits(free, tf.rollout(model, q.numpy(), v.numpy(), None, 0.01, 2))


@functions
def test_first_derivatives(name):
    q, *rest = arguments(name, FLOATING, (2,))
    given = (tangent(FLOATING, (2,)), *recorded(*rest))
    function = moved(name, FLOATING, q)
    assert gradcheck(function, given, check_forward_ad=True, check_batched_grad=True)


def test_first_derivatives_by_external_forces():
    q, v, tau, fext = tensors(FIXED, (2,))
    for function in (torch_.forward_dynamics, torch_.aba, torch_.rnea):
        given = recorded(q, v, tau, fext)
        assert gradcheck(lambda *x, f=function: f(FIXED, *x), given, check_forward_ad=True)
    assert gradcheck(lambda *x: torch_.bias(FIXED, *x), recorded(q, v, fext), check_forward_ad=True)
    stepped = [lambda *x: torch_.step(FIXED, *x[:3], 0.1, fext=x[3])]
    stepped.append(lambda *x: torch_.rollout(FIXED, *x[:3], 0.1, 2, fext=x[3])[1])
    for function in stepped:
        assert gradcheck(function, recorded(q, v, tau, fext), check_forward_ad=True)


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4"])
def test_derivatives_of_motions(method):
    q, v, tau, _ = tensors(FLOATING, (2,))
    checks = {"check_forward_ad": True, "check_batched_grad": True, "fast_mode": True}
    d = tangent(FLOATING, (2,))

    def start(d):
        return torch_.integrate(FLOATING, q, d)

    given = (d, *recorded(v, tau))
    assert gradcheck(lambda d, v, tau: torch_.step(FLOATING, start(d), v, tau, 0.1, method), given, **checks)
    assert gradcheck(
        lambda d, v, tau: torch_.rollout(FLOATING, start(d), v, tau, 0.1, 3, method), given, **checks
    )


@pytest.mark.parametrize("steps", [0, 2])
def test_trajectories_begin_with_the_normalized_configuration(steps):
    q, v, tau, _ = tensors(FLOATING, ())
    weights = torch.linspace(1, 2, (steps + 1) * FLOATING.nq, dtype=torch.float64).reshape(steps + 1, -1)

    def own(q):
        return (weights * torch_.rollout(FLOATING, q, v, tau, 0.01, steps)[0]).sum()

    def normalized(q):
        return own(torch_.normalize(FLOATING, q))

    by_own, by_normalized = (torch.func.grad(f)(q) for f in (own, normalized))
    torch.testing.assert_close(by_own, by_normalized, rtol=1e-12, atol=1e-12)
    change = torch.ones_like(q)
    assert torch.isclose(torch.func.jvp(own, (q,), (change,))[1], by_own @ change, rtol=1e-12)


@pytest.mark.parametrize("external", [False, True], ids=["free", "with external forces"])
def test_gradients_of_rollouts_are_those_of_steps(external):
    """They are computed in another way where no second derivative is wanted, for all kinds of joints."""
    model = TREES["all kinds"]
    q, v, tau, fext = tensors(model, (4,))
    v[2, 0] = torch.nan
    given = recorded(q, v, torch.stack([tau, -tau, 0.5 * tau], 1), torch.stack([fext, 2 * fext, -fext], 1))
    given = given if external else given[:3]
    reached = torch_.rollout(model, *given[:3], 0.05, fext=given[3] if external else None)
    weights = [torch.linspace(-1, 2, x.numel(), dtype=x.dtype).reshape(x.shape) for x in reached]
    own, other = (torch.autograd.grad(reached, given, weights, True, create) for create in (False, True))
    other = [x.detach() for x in other]
    good = [0, 1, 3]
    for x, y in zip(own, other, strict=True):
        assert x[2].isnan().any()
        torch.testing.assert_close(x[good], y[good], rtol=1e-11, atol=1e-12 * float(y[good].abs().max()))


def test_derivatives_of_the_manifold():
    q, v, _, _ = tensors(FLOATING, (2,))
    q1 = torch_.integrate(FLOATING, q, 0.3 * v)
    checks = {"check_forward_ad": True, "check_batched_grad": True}

    def normalized(q):
        return torch_.normalize(FLOATING, q)

    assert gradcheck(normalized, recorded(q), **checks)
    assert gradcheck(lambda q, v: torch_.integrate(FLOATING, normalized(q), v), recorded(q, v), **checks)
    assert gradcheck(
        lambda a, b: torch_.difference(FLOATING, normalized(a), normalized(b)), recorded(q, q1), **checks
    )


@functions
def test_entries_of_q_are_those_of_its_normalized_form(name):
    q, *rest = arguments(name, FLOATING, (2,))
    given = recorded(q, *rest)

    def function(q, *rest):
        return call(name, FLOATING, torch_.normalize(FLOATING, q), *rest)

    assert gradcheck(function, given, check_forward_ad=True, fast_mode=True)
    plain, through = (
        torch.autograd.grad(f(*given).pow(2).sum(), given)
        for f in (lambda *x: call(name, FLOATING, *x), function)
    )
    torch.testing.assert_close(plain, through, rtol=1e-10, atol=1e-10)


@models
def test_transforms_agree_with_backward(model):
    q, v, tau, _ = tensors(model, (4,))
    given = recorded(q, v, tau)

    def function(*x):
        return torch_.forward_dynamics(model, *x)

    def loss(*x):
        return function(*x).pow(2).sum()

    expected = torch.autograd.grad(loss(*given), given)
    close = torch.testing.assert_close
    close(grad(loss, (0, 1, 2))(q, v, tau), expected)
    close(vmap(grad(loss, (0, 1, 2)))(q, v, tau), expected)
    a, pull = vjp(function, q, v, tau)
    close(pull(2 * a), expected)
    one = (q[0], v[0], tau[0])
    backward, forward = (by(function, (0, 1, 2))(*one) for by in (jacrev, jacfwd))
    close(forward, backward, rtol=1e-9, atol=1e-9)
    along = jvp(function, one, one)[1]
    close(along, sum(J @ x for J, x in zip(backward, one, strict=True)), rtol=1e-9, atol=1e-9)
    close(vmap(lambda *x: jvp(function, x, x)[1])(q, v, tau)[0], along)
    close(vmap(jacrev(function))(q, v, tau)[0], backward[0])
    close(vmap(jacfwd(function))(q, v, tau)[0], backward[0], rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore::UserWarning:torch.*")
def test_other_ways_to_derivatives():
    from torch.utils.checkpoint import checkpoint

    given = recorded(*tensors(FLOATING, (3,))[:3])
    bare = [x.detach() for x in given]

    def function(*x):
        return torch_.forward_dynamics(FLOATING, *x)

    close = torch.testing.assert_close
    gradients = torch.autograd.grad(function(*given).sum(), given)
    close(torch.autograd.grad(checkpoint(function, *given, use_reentrant=False).sum(), given), gradients)
    units = torch.eye(3, dtype=torch.float64)[:, :, None].expand(3, 3, FLOATING.nv)
    batched = torch.autograd.grad(function(*given), given, units, is_grads_batched=True)
    close(tuple(x.sum(0) for x in batched), gradients)
    along = torch.func.linearize(function, *bare)[1](*bare)
    close(along, jvp(function, tuple(bare), tuple(bare))[1])


@models
def test_vmap_over_some_arguments_and_axes(model):
    q, v, tau, _ = tensors(model, (4,))

    def function(*x):
        return torch_.forward_dynamics(model, *x)

    expected = function(q, v[:1], tau)
    assert_same_bits(vmap(function, (0, None, 0))(q, v[0], tau), expected.numpy())
    assert_same_bits(vmap(function, (1, None, 0), 1)(q.mT, v[0], tau), expected.mT.numpy())
    grid = vmap(vmap(function, (None, 0, 0)), (0, None, None))(q, v, tau)
    assert_same_bits(grid, function(q[:, None], v, tau).numpy())
    grid = vmap(vmap(function, (0, None, None)), (None, 0, 0))(q, v, tau)
    assert_same_bits(grid, function(q, v[:, None], tau[:, None]).numpy())


def test_float32():
    q, v, tau, _ = (x.float() for x in tensors(FIXED, (6,)))
    made = torch_.forward_dynamics(FIXED, q, v, tau)
    assert made.dtype == torch.float32
    exact = tf.forward_dynamics(FIXED, *(x.double().numpy() for x in (q, v, tau)))
    np.testing.assert_array_equal(made.numpy(), exact.astype(np.float32))
    given = recorded(q, v, tau)
    for x in torch.autograd.grad(torch_.rollout(FIXED, *given, 0.01, 3)[0].sum(), given):
        assert x.dtype == torch.float32
        assert x.abs().max() > 0
    assert jacfwd(lambda q: torch_.crba(FIXED, q))(q[0]).dtype == torch.float32


def test_no_memory_is_copied(monkeypatch):
    q, v, tau, _ = tensors(FIXED, (6,))
    given, made = [], []
    one = array_function("forward_dynamics", FIXED, method="aba").map("value")
    run = one.run

    def seen(inputs, outputs):
        given.extend(x.ctypes.data for x in inputs)
        made.extend(y.ctypes.data for y in outputs)
        run(inputs, outputs)

    monkeypatch.setattr(one, "run", seen)
    a = torch_.forward_dynamics(FIXED, q, v, tau, method="aba")
    assert given == [x.data_ptr() for x in (q, v, tau)]
    assert made == [a.data_ptr()]


def test_bad_states_are_nan_and_others_are_not():
    q, v, tau, _ = tensors(FLOATING, (11,))
    good = torch_.forward_dynamics(FLOATING, q, v, tau)
    v[3, 0] = torch.nan
    given = recorded(q, v, tau)
    made = torch_.forward_dynamics(FLOATING, *given)
    assert made[3].isnan().any()
    others = torch.arange(11) != 3
    torch.testing.assert_close(made[others], good[others], rtol=0, atol=0)
    assert not torch.autograd.grad(made[others].sum(), given)[0][others].isnan().any()
    assert torch_.forward_dynamics(FLOATING, q[3], v[3], tau[3]).isnan().any()


def test_errors_name_the_argument():
    q, v, tau, _ = tensors(FIXED, (3,))
    function = torch_.forward_dynamics
    with pytest.raises(TypeError, match=r"v must be a torch\.Tensor, got ndarray"):
        function(FIXED, q, v.numpy(), tau)
    with pytest.raises(tf.DtypeError, match=r"tau has dtype torch\.float32, but q has torch\.float64"):
        function(FIXED, q, v, tau.float())
    with pytest.raises(tf.DtypeError, match=r"q must hold float64 or float32, got torch\.int64"):
        function(FIXED, q.long(), v, tau)
    with pytest.raises(tf.ShapeError, match=r"v must have shape \(\.\.\., 3\), got \(3, 2\)"):
        function(FIXED, q, v[:, :2], tau)
    with pytest.raises(tf.ShapeError, match="the leading axes do not broadcast"):
        function(FIXED, q, v[:2], tau)
    with pytest.raises(ValueError, match=r"q is on device meta.*q\.cpu\(\)"):
        function(FIXED, q.to("meta"), v, tau)
    with pytest.raises(TypeError, match=r"q must be a strided tensor"):
        function(FIXED, q.to_sparse(), v, tau)
    with pytest.raises(TypeError, match=r"model must be a treefactor\.Model or treefactor\.Kernels, got str"):
        function("panda", q, v, tau)
    with pytest.raises(TypeError, match="h must be a number, got Tensor"):
        torch_.step(FIXED, q, v, tau, torch.tensor(0.1))
    with pytest.raises(tf.ShapeError, match="forces of every step, got None: pass steps=T"):
        torch_.rollout(FIXED, q, v, None, 0.1)
    with pytest.raises(tf.ShapeError, match=r"forces of every step, got shape \(3,\): pass steps=T"):
        torch_.rollout(FIXED, q, v, tau[0], 0.1)
    with pytest.raises(tf.DtypeError, match=r"steps must be a whole number, got 2\.5"):
        torch_.rollout(FIXED, q, v, tau, 0.1, 2.5)
    with pytest.raises(ValueError, match="steps must not be negative, got -1"):
        torch_.rollout(FIXED, q, v, tau, 0.1, -1)
    with pytest.raises(tf.DtypeError, match="frame must be a name or a Frame, got ndarray"):
        torch_.frame_placement(FIXED, q, np.arange(2))


def test_threads_that_call_one_function():
    q, v, tau, _ = tensors(FLOATING, (64,))

    def work(k):
        given = recorded(q, v, tau + k)
        return torch.autograd.grad(torch_.forward_dynamics(FLOATING, *given).pow(2).sum(), given)

    expected = [work(k) for k in range(8)]
    with ThreadPoolExecutor(4) as pool:
        for own, other in zip(pool.map(work, range(8)), expected, strict=True):
            for x, y in zip(own, other, strict=True):
                assert_same_bits(x, y.numpy())


def test_frames_and_references():
    (q, v, _, _), frame = tensors(FLOATING, (3,)), FLOATING.joints[2].name
    for reference in ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"):
        own = torch_.frame_velocity(FLOATING, q, v, frame, reference)
        assert_same_bits(own, tf.frame_velocity(FLOATING, q.numpy(), v.numpy(), frame, reference))
        own = torch_.frame_jacobian(FLOATING, q, frame, reference)
        assert_same_bits(own, tf.frame_jacobian(FLOATING, q.numpy(), frame, reference))
