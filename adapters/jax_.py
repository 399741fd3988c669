"""Dynamics and kinematics inside JAX, on CPUs: jit, vmap, grad, jvp, scan and second derivatives.

Functions have the names and arguments of treefactor, without ``out`` and ``num_threads``; they take JAX's
arrays and return them, float32 or float64 as their arguments. The model is not an array: it is closed over. A
`treefactor.Kernels` object may take its place: its program computes the values, and the derivatives whose
functions were generated; others come from the model that it was made of. Kernels of float32 take and return
float32, without conversion.

q keeps its nq entries. The derivative by q is that of the function of ``normalize(q)``: zero along the length
of a quaternion. On the manifold of configurations, differentiate ``f(integrate(model, q, d))`` by d at d = 0.

Values have the bits of treefactor's for the same arrays, and under ``vmap`` those of its batches (float64,
numbers that are not denormal). Where JAX does not accept treefactor's handler, functions are called by
callbacks, and a single state is computed as a batch of one, which may differ in the last bit.

`inverse_kinematics` and `ilqr` are those of ``treefactor.control``, and return arrays: solutions of the
former can be differentiated by their targets.

A state without a solution, or that is not a configuration, gives NaN. Functions of dynamics,
`frame_placement` and `center_of_mass` can be differentiated twice, those with external forces or inertias and
the other functions of kinematics once; `integrate`, `difference` and `normalize` without limit. Beyond that
NotImplementedError is raised.

>>> import jax, numpy as np, treefactor as tf
>>> from treefactor.adapters import jax_
>>> rod = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
>>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 1, 0], inertia=rod)])
>>> gradient = jax.grad(lambda tau: jax_.forward_dynamics(model, [0.0], [0.0], tau).sum())
>>> print(gradient(jax.numpy.zeros(1)).round(3))
[2.857]
"""

from __future__ import annotations

from ._jax_version import jax  # isort: skip

from ..quantities.frameworks import JAX
from ._jax_functions import as_array, as_length, evaluate
from ._jax_parameters import from_log_cholesky
from ._public_functions import Adapter, public_functions
from ._public_solvers import solvers

_adapter = Adapter(
    *(JAX, jax.numpy, evaluate, as_array, as_length),
    constant=jax.lax.stop_gradient,
    as_int8=lambda x: x.astype(jax.numpy.int8),
)
_functions = public_functions(_adapter) | solvers(_adapter) | {"from_log_cholesky": from_log_cholesky}
globals().update(_functions)
__all__ = sorted(_functions)
