"""Inertias as inputs of functions of tensors: values, derivatives, maps, types, errors."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("pinocchio", reason="Pinocchio is not installed")

from helpers.inertia_cases import ARGUMENTS, FLOATING, bodies, gradient, loaded, state, value  # noqa: E402
from helpers.torch_cases import FIXED, assert_same_bits, recorded, tensors  # noqa: E402
from helpers.torch_cases import FLOATING as TREE  # noqa: E402
from torch.autograd import gradcheck  # noqa: E402
from torch.func import grad, hessian, jvp, vmap  # noqa: E402
from torch.library import opcheck  # noqa: E402

import treefactor as tf  # noqa: E402
from treefactor.adapters import _torch_ops, torch_  # noqa: E402
from treefactor.model import parameters  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),  # PyTorch's own uses
    pytest.mark.filterwarnings("ignore::UserWarning:torch.*"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*"),
]


def scaled(model, size=(), seed=0):
    """Return the model's parameters, each body's times a number of its own."""
    rng = np.random.default_rng(seed)
    return torch.from_numpy(model.parameters * rng.uniform(0.8, 1.2, (*size, model.njoints, 1)))


@pytest.mark.parametrize("robot", FLOATING)
@pytest.mark.parametrize("name", ARGUMENTS)
def test_gradients_are_differences_of_pinocchio(name, robot):
    robot, model = loaded(robot)
    rng = np.random.default_rng(1)
    x, pi = state(model, name, rng), bodies(model, rng)
    w = rng.normal(size=(model.nv, model.nv) if name == "crba" else model.nv)
    change, arrays = torch.from_numpy(rng.normal(size=pi.shape)), [*map(torch.from_numpy, x)]

    def function(pi):
        return getattr(torch_, name)(model, *arrays, inertias=pi)

    (given,) = recorded(torch.from_numpy(pi))
    result = function(given)
    (torch.from_numpy(w) * result).sum().backward()
    wanted = value(name, robot, x, pi)
    np.testing.assert_allclose(result.detach(), wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())
    wanted = gradient(name, robot, x, pi, w)
    np.testing.assert_allclose(given.grad, wanted, rtol=0, atol=1e-6 * np.abs(wanted).max())
    along = (torch.from_numpy(w) * jvp(function, (given.detach(),), (change,))[1]).sum()
    torch.testing.assert_close(along, (given.grad * change).sum(), rtol=1e-9, atol=0)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_mapped_axis_of_inertias_is_a_batch(name):
    _, model = loaded("solo12")
    rng = np.random.default_rng(2)
    x, pi = state(model, name, rng, (5,)), bodies(model, rng, (5,))
    own, arrays = getattr(torch_, name), [*map(torch.from_numpy, x)]
    wanted = getattr(tf, name)(model, *x, inertias=pi)
    given = torch.from_numpy(pi)
    assert_same_bits(own(model, *arrays, inertias=given), wanted)
    assert_same_bits(vmap(lambda pi, *x: own(model, *x, inertias=pi))(given, *arrays), wanted)
    one = getattr(tf, name)(model, *x, inertias=pi[0])
    assert_same_bits(own(model, *arrays, inertias=given[0]), one)


@pytest.mark.parametrize("name", ["forward_dynamics", "rnea"])
def test_gradients_under_vmap_are_those_of_each_element(name):
    q, v, tau, _ = tensors(TREE, (4,))
    pi = scaled(TREE, (4,))
    each = grad(lambda pi, *x: getattr(torch_, name)(TREE, *x, inertias=pi).square().sum())
    gradients = vmap(each)(pi, q, v, tau)
    wanted = torch.stack([each(*one) for one in zip(pi, q, v, tau, strict=True)])
    torch.testing.assert_close(gradients, wanted, rtol=1e-10, atol=1e-8)
    (given,) = recorded(pi)
    getattr(torch_, name)(TREE, q, v, tau, inertias=given).square().sum().backward()
    torch.testing.assert_close(given.grad, wanted, rtol=1e-10, atol=1e-8)


CALLS = {
    "forward_dynamics": lambda q, v, a, fext, pi: torch_.forward_dynamics(FIXED, q, v, a, fext, inertias=pi),
    "rnea": lambda q, v, a, fext, pi: torch_.rnea(FIXED, q, v, a, fext, pi),
    "bias": lambda q, v, a, fext, pi: torch_.bias(FIXED, q, v, fext, pi),
    "crba": lambda q, v, a, fext, pi: torch_.crba(FIXED, q, pi),
    "step": lambda q, v, a, fext, pi: torch_.step(FIXED, q, v, a, 0.1, fext=fext, inertias=pi),
    "rk4": lambda q, v, a, fext, pi: torch_.step(FIXED, q, v, a, 0.1, "rk4", fext, pi),
    "rollout": lambda q, v, a, fext, pi: torch_.rollout(FIXED, q, v, a, 0.1, 2, fext=fext, inertias=pi),
}


@pytest.mark.parametrize("name", CALLS)
def test_derivatives_by_all_arguments(name):
    """Of motions, too, which pass the inertias on to all their steps."""
    pi = scaled(FIXED, (2,))

    def function(*given):
        return CALLS[name](*given[:4], pi * given[4])

    given = recorded(*tensors(FIXED, (2,)), torch.ones_like(pi))
    checks = {"check_forward_ad": True, "check_batched_grad": True, "fast_mode": True}
    assert gradcheck(function, given, **checks)


@pytest.mark.parametrize("external", [False, True], ids=["free", "with external forces"])
def test_gradients_of_rollouts_are_those_of_steps(external):
    q, v, tau, fext = tensors(TREE, (3,))
    given = recorded(q, v, tau, scaled(TREE, (3,)), fext)
    forces = given[4] if external else None

    def rollout(q, v, tau, pi, _):
        return torch_.rollout(TREE, q, v, tau, 0.01, 3, fext=forces, inertias=pi)

    def steps(q, v, tau, pi, _):
        states = [(torch_.normalize(TREE, q), v)]
        for _ in range(3):
            states.append(torch_.step(TREE, *states[-1], tau, 0.01, fext=forces, inertias=pi))
        return tuple(torch.stack(each, 1) for each in zip(*states, strict=True))

    totals = [sum(x.square().sum() for x in f(*given)) for f in (rollout, steps)]
    leaves = given if external else given[:4]
    own, wanted = (torch.autograd.grad(total, leaves) for total in totals)
    torch.testing.assert_close(own, wanted, rtol=1e-9, atol=1e-9)
    again = grad(lambda pi: sum(x.square().sum() for x in rollout(*given[:3], pi, fext)))(given[3].detach())
    torch.testing.assert_close(again, wanted[3], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["value", "jvp", "vjp"])
def test_operators(kind):
    number = _torch_ops.signature("forward_dynamics", TREE, (("inertias", True),)).number
    q, v, tau, _ = tensors(TREE, (2,))
    pi = scaled(TREE, (2,))
    more = {"value": (), "vjp": (v,), "jvp": (tau, v, tau, pi)}[kind]
    operator = getattr(torch.ops.treefactor, kind).default
    assert set(opcheck(operator, (number, [q, v, tau, pi, *more])).values()) == {"SUCCESS"}
    if kind == "value":
        given = list(recorded(q, v, tau, pi))
        assert set(opcheck(operator, (number, given)).values()) == {"SUCCESS"}


def test_compiled_functions_have_the_same_gradients():
    q, v, tau, _ = tensors(FIXED, (3,))
    theta = torch.from_numpy(parameters.to_log_cholesky(FIXED.parameters, floor=1e-3))

    def loss(theta):
        pi = torch_.from_log_cholesky(theta)
        return torch_.forward_dynamics(FIXED, q, v, tau, inertias=pi).square().sum()

    torch._dynamo.reset()
    compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)
    (given,) = recorded(theta)
    own, wanted = (torch.autograd.grad(f(given), given)[0] for f in (compiled, loss))
    torch.testing.assert_close(own, wanted, rtol=1e-12, atol=1e-12)


def test_float32_stays_float32():
    q, v, tau, _ = tensors(FIXED, (3,))
    pi = scaled(FIXED)
    each = grad(lambda pi, *x: torch_.forward_dynamics(FIXED, *x, inertias=pi).sum())
    single, wanted = each(*(x.float() for x in (pi, q, v, tau))), each(pi, q, v, tau)
    assert single.dtype == torch.float32
    torch.testing.assert_close(single.double(), wanted, rtol=0, atol=1e-4 * float(wanted.abs().max()))
    with pytest.raises(tf.DtypeError, match="inertias has dtype"):
        torch_.forward_dynamics(FIXED, q, v, tau, inertias=pi.float())


def test_impossible_inertias_are_nan_in_their_element():
    q, v, tau, _ = tensors(FIXED, (3,))
    pi = scaled(FIXED, (3,))
    wanted = torch_.forward_dynamics(FIXED, q, v, tau, inertias=pi)
    pi[1, -1, 0] = np.nan
    qdd = torch_.forward_dynamics(FIXED, q, v, tau, inertias=pi)
    assert qdd[1].isnan().all()
    assert torch.equal(qdd[::2], wanted[::2])


def test_errors():
    q, v, a, _ = tensors(FIXED, ())
    pi = scaled(FIXED)
    with pytest.raises(NotImplementedError, match="no second derivatives of rnea with inertias"):
        hessian(lambda pi: torch_.rnea(FIXED, q, v, a, inertias=pi).sum())(pi)
    with pytest.raises(tf.ShapeError, match="inertias must have shape"):
        torch_.rnea(FIXED, q, v, a, inertias=pi[:, :9])
    with pytest.raises(TypeError, match=r"inertias must be a torch\.Tensor, got ndarray"):
        torch_.rnea(FIXED, q, v, a, inertias=pi.numpy())


def test_log_cholesky_coordinates():
    theta = torch.from_numpy(np.random.default_rng(9).normal(size=(4, 3, 10)))
    wanted = parameters.from_log_cholesky(theta.numpy())
    scale = np.abs(wanted).max(-1, keepdims=True)
    for inertias in (torch_.from_log_cholesky(theta), vmap(torch_.from_log_cholesky)(theta)):
        assert (np.abs(inertias.numpy() - wanted) <= 1e-15 * scale).all()
    jacobians = vmap(torch.func.jacfwd(torch_.from_log_cholesky))(theta[0])
    wanted = parameters.log_cholesky_jacobian(theta[0].numpy())
    np.testing.assert_allclose(jacobians, wanted, rtol=1e-14, atol=1e-14)
    assert gradcheck(torch_.from_log_cholesky, recorded(theta[0, 0]), check_forward_ad=True)
    with pytest.raises(tf.ShapeError, match=r"theta must have shape \(\.\.\., 10\), got \(9,\)"):
        torch_.from_log_cholesky(theta[0, 0, :9])
    with pytest.raises(TypeError, match=r"theta must be a torch\.Tensor"):
        torch_.from_log_cholesky(theta.numpy())
