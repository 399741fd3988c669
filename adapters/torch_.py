"""Compute dynamics and kinematics of PyTorch tensors on the CPU, with derivatives in all modes of torch.func.

Functions have the names and arguments of treefactor's own. Tensors hold float64 or float32, the same in all
arguments; results hold that, computed in float64. Leading axes broadcast. Tensors of float64 are read in
place, and results are tensors over the memory that was computed into. The model is a constant.

A `treefactor.Kernels` object may take the place of the model: its program computes the values, and the
derivatives whose functions were generated; others come from the model that it was made of. Kernels of float32
take and return float32, without conversion.

What PyTorch differentiates by the entries of a configuration q is the function of `normalize` of q: gradients
have nq entries and none along the length of a rotation. To optimize on the manifold of configurations, take
the gradient of ``f(integrate(model, q, d))`` by d at d = 0.

Values in float64 have the bits of treefactor's batches; a single state is a batch of one. Where a state is
not finite, a rotation is not of unit length, or a freedom moves no mass, the result of that element is NaN.

`inverse_kinematics` and `ilqr` are those of ``treefactor.control``, and return tensors: solutions of the
former can be differentiated by their targets.

First derivatives work with ``backward()``, forward mode, ``grad vjp jvp jacrev jacfwd vmap`` of torch.func in
any nesting, and with ``torch.compile`` of functions that call them. Second derivatives exist where treefactor
has them; third ones raise NotImplementedError. ``torch.compile`` of ``torch.func.grad``, ``vjp`` or ``jvp``
raises an error.

Models, frames and lengths of steps that were used stay in memory for the life of the process: make them once,
not in every call.

>>> import numpy as np, torch, treefactor as tf
>>> from treefactor.adapters import torch_
>>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
>>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
>>> q = torch.zeros(1, dtype=torch.float64, requires_grad=True)
>>> a = torch_.forward_dynamics(model, q, torch.zeros_like(q), torch.ones_like(q))
>>> a.sum().backward()
>>> a.detach(), q.grad
(tensor([2.8571], dtype=torch.float64), tensor([-14.0143], dtype=torch.float64))
"""

from __future__ import annotations

from . import requires

with requires("PyTorch", "torch"):
    import torch

from ..quantities.frameworks import TORCH
from ._public_functions import Adapter, public_functions
from ._public_solvers import solvers
from ._torch_arguments import apply, as_length, as_tensor
from ._torch_parameters import from_log_cholesky

_adapter = Adapter(
    *(TORCH, torch, apply, as_tensor, as_length),
    constant=torch.Tensor.detach,
    as_int8=lambda x: x.to(torch.int8),
)
_functions = public_functions(_adapter) | solvers(_adapter) | {"from_log_cholesky": from_log_cholesky}
globals().update(_functions)
__all__ = sorted(_functions)
