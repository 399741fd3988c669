"""Programs of float32 with PyTorch: no conversion of arguments, results or gradients, and what is refused."""

from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from helpers.single_programs import BAD, FLOATING, assert_gradients, program, states  # noqa: E402

import treefactor as tf  # noqa: E402
from treefactor.adapters import _torch_ops, torch_  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # PyTorch's own use
KERNELS = program()


def gradients(kernels, arrays):
    """Return the gradients of the weighted accelerations."""
    *state, w = (torch.from_numpy(x) for x in arrays)
    state = [x.requires_grad_() for x in state]
    (w * torch_.forward_dynamics(kernels, *state)).sum().backward()
    return [x.grad.numpy() for x in state]


def test_values_and_gradients_have_the_bits_of_the_program():
    arrays = states()
    *state, w = map(torch.from_numpy, arrays)
    expected = KERNELS.forward_dynamics(*arrays[:3])
    for a in (
        torch_.forward_dynamics(KERNELS, *state),
        torch.vmap(lambda *x: torch_.forward_dynamics(KERNELS, *x))(*state),
        torch.compile(lambda *x: torch_.forward_dynamics(KERNELS, *x), backend="eager")(*state),
    ):
        assert a.dtype == torch.float32
        np.testing.assert_array_equal(a, expected)
    wanted = KERNELS.forward_dynamics_vjp(*arrays)
    assert_gradients(gradients(KERNELS, arrays), wanted)
    by_tau = torch.func.grad(lambda tau: (w * torch_.aba(KERNELS, *state[:2], tau)).nansum())(state[2])
    np.testing.assert_array_equal(np.delete(by_tau.numpy(), BAD, 0), np.delete(wanted[2], BAD, 0))


def test_memory_is_read_and_written_in_place(monkeypatch):
    state, seen = [torch.from_numpy(x).requires_grad_() for x in states()[:3]], {}
    options = (("method", "aba"),)
    function = _torch_ops._function(_torch_ops.signature("forward_dynamics", KERNELS, options).number)[0]

    def note(one, run, inputs, outputs):
        seen[one.name] = inputs[:3], outputs
        run(inputs, outputs)

    for kind in ("value", "vjp"):
        one = function.map(kind)
        monkeypatch.setattr(one, "run", partial(note, one, one.run))
    a = torch_.forward_dynamics(KERNELS, *state, method="aba")
    a.sum().backward()
    for inputs, outputs in seen.values():
        assert {x.dtype for x in (*inputs, *outputs)} == {np.dtype(np.float32)}
        assert [x.ctypes.data for x in inputs] == [x.data_ptr() for x in state]
    assert list(seen) == ["forward_dynamics of a program", "forward_dynamics_vjp of a program"]
    assert seen["forward_dynamics of a program"][1][0].ctypes.data == a.data_ptr()


def test_float64_tensors_are_refused_with_the_remedy():
    q, v, tau, _ = map(torch.from_numpy, states())
    with pytest.raises(tf.DtypeError, match=r"q must have dtype torch.float32, got .*: .* with q\.float\(\)"):
        torch_.forward_dynamics(KERNELS, q.double(), v.double(), tau.double())
    with pytest.raises(tf.DtypeError, match=r"v must have dtype torch.float32, got .*: .* with v\.float\(\)"):
        torch_.integrate(KERNELS, q, v.double())
    with pytest.raises(tf.CodegenError, match="'rnea' was not generated"):
        torch_.rnea(KERNELS, q, v, tau)
    with pytest.raises(tf.CodegenError, match="no inertias as inputs inside JAX and PyTorch"):
        torch_.crba(KERNELS, q, torch.zeros(FLOATING.njoints, 10))


def test_programs_of_float64_take_both_types():
    arrays = states()
    wide = program(dtype=np.float64)
    for given in (arrays, [x.astype(float) for x in arrays]):
        expected = [x.astype(given[0].dtype) for x in wide.forward_dynamics_vjp(*given)]
        assert_gradients(gradients(wide, given), expected)


def test_trajectories_and_their_gradients_are_those_of_the_program():
    q, v, tau, _ = (x[:3] for x in states())
    controls = np.repeat(tau[:, None], 6, axis=1)
    expected = KERNELS.rollout(q, v, controls, 1e-3)
    motion = torch_.rollout(KERNELS, *map(torch.from_numpy, (q, v, controls)), 1e-3)
    for own, wanted in zip(motion, expected, strict=True):
        np.testing.assert_array_equal(own, wanted)

    def gradient(kernels, create_graph):
        given = torch.from_numpy(controls).requires_grad_()
        q_t, v_t = torch_.rollout(kernels, torch.from_numpy(q), torch.from_numpy(v), given, 1e-3)
        return torch.autograd.grad((q_t * v_t.sum()).sum(), given, create_graph=create_graph)[0].detach()

    bare = program(functions=["forward_dynamics"])
    cases = (KERNELS, False), (bare, False), (KERNELS, True), (bare, True), (FLOATING, False)
    own, without, by_steps, by_steps_without, of_model = (gradient(*case) for case in cases)
    assert own.dtype == torch.float32
    assert (own != without).any()  # at the same states, by derivatives of the model
    assert (by_steps != by_steps_without).any()
    for other in (without, by_steps, of_model):
        torch.testing.assert_close(own, other, rtol=0, atol=1e-5 * own.abs().max().item())
