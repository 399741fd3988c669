"""Inverse kinematics and iterative LQR of PyTorch's tensors: values, transforms, gradients, errors."""

import numpy as np
import pytest

import treefactor as tf
from treefactor import control, robots

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch.func import jacfwd, jacrev, vmap  # noqa: E402

from treefactor.adapters import torch_  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # PyTorch's own use
FOOT = "FL_FOOT"


@pytest.fixture(scope="module")
def problem():
    """Return a quadruped, poses of a foot and starts."""
    model = tf.Model.from_urdf(robots.find("solo12").path, floating=True)
    q, q0 = tf.random_configuration(model, 0, size=(2, 4))
    return model, torch.from_numpy(tf.frame_placement(model, q, FOOT)), torch.from_numpy(q0)


def test_values_and_transforms(problem):
    model, targets, q0 = problem
    wanted = control.inverse_kinematics(model, targets.numpy(), FOOT, q0=q0.numpy())
    solution = torch_.inverse_kinematics(model, targets, FOOT, q0)
    assert solution.status.dtype is torch.int8
    assert solution.status.tolist() == wanted.status.tolist() == [0] * 4
    assert (solution.q.numpy() == wanted.q).all()
    solve = lambda target, start: torch_.inverse_kinematics(model, target, FOOT, start).q  # noqa: E731
    assert torch.equal(vmap(solve)(targets, q0), solution.q)
    assert torch.equal(solve(targets[0], q0[0]), solution.q[0])
    backward, forward = (vmap(mode(solve))(targets, q0) for mode in (jacrev, jacfwd))
    np.testing.assert_allclose(backward, forward, rtol=1e-9, atol=1e-9)
    leaf, start = targets.clone().requires_grad_(), q0.clone().requires_grad_()
    solve(leaf, start).sum().backward()
    np.testing.assert_allclose(leaf.grad, backward.sum(1), rtol=1e-9, atol=1e-9)
    assert start.grad is None
    compiled = torch.compile(lambda x: solve(x, q0).sum(), backend="aot_eager", fullgraph=True)
    again = targets.clone().requires_grad_()
    compiled(again).backward()
    np.testing.assert_allclose(again.grad, leaf.grad, rtol=1e-9, atol=1e-9)
    with pytest.raises(NotImplementedError, match="second derivatives of inverse_kinematics"):
        torch.func.hessian(lambda x: solve(x, q0[0]).sum())(targets[0])


def test_unsolved_targets_are_nan_or_masked(problem):
    model, targets, _ = problem
    legs = [joint.name for joint in model.joints[1:]]
    leaf = targets[:2, :, 3].clone()
    leaf[1] += 9.0
    leaf.requires_grad_()
    q, status = torch_.inverse_kinematics(model, leaf, FOOT, joints=legs, iterations=100)
    assert status[1].item() == control.Status.STALLED
    (masked,) = torch.autograd.grad(torch.where(status[:, None] == 0, q, 0.0).sum(), leaf, retain_graph=True)
    assert not masked[1].any()
    (gradient,) = torch.autograd.grad(q.sum(), leaf)
    assert gradient[1].isnan().all()


def test_motions_of_least_cost():
    rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.1]))
    model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
    cost = [control.StateCost([1.0], at="final"), control.ControlCost(weight=1e-2)]
    q0, v0, u = torch.zeros(3, 1), torch.zeros(1), torch.zeros(20, 1)
    motion = torch_.ilqr(model, q0.double(), v0.double(), u.double(), cost, 0.02)
    wanted = control.ilqr(model, q0.numpy(), v0.numpy(), u.numpy(), cost, 0.02)
    for name in ("q", "v", "u", "cost", "status"):
        np.testing.assert_array_equal(getattr(motion, name), getattr(wanted, name))
    assert torch_.ilqr(model, q0, v0, u, cost, 0.02).u.dtype is torch.float32
    with pytest.raises(NotImplementedError, match="no derivatives of ilqr"):
        torch_.ilqr(model, q0.requires_grad_(), v0, u, cost, 0.02).cost.sum().backward()
