"""Second derivatives in the PyTorch adapter: in every nesting of modes; missing and third ones raise."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from helpers.torch_cases import (  # noqa: E402
    FIXED,
    FLOATING,
    SECOND,
    arguments,
    call,
    moved,
    recorded,
    tangent,
    tensors,
)
from torch.autograd import gradgradcheck  # noqa: E402
from torch.func import grad, hessian, jacfwd, jacrev, vmap  # noqa: E402

from treefactor.adapters import torch_  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # PyTorch's own use
NESTED = {f"{a.__name__} of {b.__name__}": (a, b) for a in (jacfwd, jacrev) for b in (jacfwd, jacrev)}

EVERY = (
    "forward_dynamics",
    "crba",
    "frame_placement",
)  # in every nesting; others in one, or in the slow tests
CASES = [
    pytest.param(
        name,
        nested,
        id=f"{name}-{label}",
        marks=() if name in EVERY or label == "jacfwd of jacrev" else pytest.mark.slow,
    )
    for name in SECOND
    for label, nested in NESTED.items()
]


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives(name):
    q, *rest = arguments(name, FLOATING, (2,))
    given = (tangent(FLOATING, (2,)), *recorded(*rest))
    assert gradgradcheck(moved(name, FLOATING, q), given, check_fwd_over_rev=True, fast_mode=True)


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4"])
def test_second_derivatives_of_motions(method):
    q, v, tau, _ = tensors(FLOATING, (1,))
    given = (tangent(FLOATING, (1,)), *recorded(v, tau))

    def stepped(d, v, tau):
        return torch_.step(FLOATING, torch_.integrate(FLOATING, q, d), v, tau, 0.1, method)

    def moving(d, v, tau):
        return torch_.rollout(FLOATING, torch_.integrate(FLOATING, q, d), v, tau, 0.1, 2)

    assert gradgradcheck(stepped, given, check_fwd_over_rev=method != "rk4", fast_mode=True)
    if method != "rk4":
        assert gradgradcheck(moving, given, fast_mode=True)


def second_differences(function, x, step=1e-4):
    """Return the matrix of second derivatives of a scalar function by central differences of its gradient."""
    rows = []
    for e in torch.eye(len(x), dtype=x.dtype) * step:
        ahead, behind = grad(function)(x + e), grad(function)(x - e)
        rows.append((ahead - behind) / (2 * step))
    return torch.stack(rows)


@pytest.mark.parametrize(("name", "nested"), CASES)
def test_every_nesting_gives_the_same(name, nested):
    """Along a tangent of q, and by the entries of q, where rotations bring terms of the manifold."""
    outer, inner = nested
    q, *rest = (x[0] for x in arguments(name, FLOATING))

    def on_manifold(d):
        return moved(name, FLOATING, q)(d, *rest).square().sum()

    def by_entries(q):
        return call(name, FLOATING, torch_.normalize(FLOATING, q), *rest).square().sum()

    for function, x in [(on_manifold, torch.zeros(FLOATING.nv, dtype=q.dtype)), (by_entries, q)]:
        own, other = outer(inner(function))(x), second_differences(function, x)
        scale = other.abs().max()
        torch.testing.assert_close(own / scale, other / scale, rtol=0, atol=1e-6)
        torch.testing.assert_close(own, hessian(function)(x), rtol=1e-9, atol=float(scale) * 1e-12)
    plain = outer(inner(lambda q: call(name, FLOATING, q, *rest).square().sum()))(q)
    scale = plain.abs().max()
    torch.testing.assert_close(plain / scale, outer(inner(by_entries))(q) / scale, rtol=0, atol=1e-12)


def test_mapped_hessians():
    q, v, tau, _ = tensors(FLOATING, (3,))

    def loss(*x):
        return torch_.forward_dynamics(FLOATING, *x).square().sum()

    every = vmap(hessian(loss, (0, 1, 2)))(q, v, tau)
    for k in range(3):
        one = hessian(loss, (0, 1, 2))(q[k], v[k], tau[k])
        for row, others in zip(one, every, strict=True):
            for x, y in zip(row, others, strict=True):
                torch.testing.assert_close(x, y[k], rtol=1e-10, atol=1e-9)


def test_gradient_of_a_rollout_by_forward_mode_agrees_with_reverse():
    q, v, tau, _ = (x[0] for x in tensors(FIXED))

    def cost(tau):
        return torch_.rollout(FIXED, q, v, tau, 0.05, 5)[0].square().sum()

    torch.testing.assert_close(jacfwd(cost)(tau), jacrev(cost)(tau))
    torch.testing.assert_close(hessian(cost)(tau), jacfwd(jacfwd(cost))(tau))


@pytest.mark.parametrize("outer", [jacfwd, jacrev])
def test_third_derivatives_raise(outer):
    q, v, tau, _ = (x[0] for x in tensors(FIXED))

    def loss(q):
        return torch_.forward_dynamics(FIXED, q, v, tau).square().sum()

    with pytest.raises(NotImplementedError, match=r"no third derivatives.*forward_dynamics.*detach\(\)"):
        outer(hessian(loss))(q)


def test_missing_second_derivatives_raise():
    q, v, tau, fext = (x[0] for x in tensors(FIXED))
    functions = {
        "frame_velocity": lambda q: torch_.frame_velocity(FIXED, q, v, FIXED.joints[1].name),
        "forward_dynamics with external forces": lambda q: torch_.forward_dynamics(FIXED, q, v, tau, fext),
    }
    for name, function in functions.items():
        for by in (hessian, lambda f: jacrev(jacrev(f)), lambda f: jacfwd(jacfwd(f))):
            with pytest.raises(NotImplementedError, match=f"no second derivatives of {name}"):
                by(lambda q, f=function: f(q).square().sum())(q)
