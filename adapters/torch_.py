"""Compute dynamics and kinematics of PyTorch tensors on the CPU, with derivatives in all modes of torch.func.

Functions have the names and arguments of treefactor's own. Tensors hold float64 or float32, the same in all
arguments; results hold that, computed in float64. Leading axes broadcast. Tensors of float64 are read in
place, and results are tensors over the memory that was computed into. The model is a constant.

What PyTorch differentiates by the entries of a configuration q is the function of `normalize` of q: gradients
have nq entries and none along the length of a rotation. To optimize on the manifold of configurations, take
the gradient of ``f(integrate(model, q, d))`` by d at d = 0.

Values in float64 have the bits of treefactor's batches; a single state is a batch of one. Where a state is
not finite, a rotation is not of unit length, or a freedom moves no mass, the result of that element is NaN.

First derivatives work with ``backward()``, forward mode, ``grad vjp jvp jacrev jacfwd vmap`` of torch.func in
any nesting, and with ``torch.compile`` of functions that call them. Second derivatives exist where treefactor
has them; third ones raise NotImplementedError. ``torch.compile`` of ``torch.func.grad``, ``vjp`` or ``jvp``
raises an error.

Models, frames and lengths of steps that were used stay in memory for the life of the process: make them once,
not in every call.
"""

from __future__ import annotations

from . import requires

with requires("PyTorch", "torch"):
    from torch import Tensor

from .._util.validation import as_count
from ..dynamics.rollouts import METHODS, count_steps
from ..model.model import Model
from ._torch_arguments import apply, apply_to_state, as_step_length, check_tensor, in_every_step, of_frame
from ._torch_parameters import from_log_cholesky

__all__ = [
    "aba",
    "bias",
    "center_of_mass",
    "center_of_mass_jacobian",
    "centroidal_momentum",
    "crba",
    "difference",
    "forward_dynamics",
    "frame_jacobian",
    "frame_placement",
    "frame_velocity",
    "from_log_cholesky",
    "h_times",
    "integrate",
    "joint_placements",
    "normalize",
    "rnea",
    "rollout",
    "step",
]


def forward_dynamics(
    model: Model,
    q: Tensor,
    v: Tensor,
    tau: Tensor,
    fext: Tensor | None = None,
    method: str = "factor",
    inertias: Tensor | None = None,
) -> Tensor:
    """Compute accelerations as `treefactor.forward_dynamics`.

    Parameters
    ----------
    model : Model
    q, v, tau : torch.Tensor, shapes (..., nq), (..., nv), (..., nv)
        Configuration, velocity and generalized forces; float64 or float32. Leading axes broadcast.
    fext : torch.Tensor, shape (..., njoints, 6), optional
        External force and moment on the body of every joint, at its origin and in its axes; N, N m. With
        external forces there are no second derivatives.
    method : {"factor", "aba"}
        How values are computed; derivatives are the same.
    inertias : torch.Tensor, shape (..., njoints, 10), optional
        In the place of the model's, see ``Model.parameters``: one set, or one for every element. There are no
        second derivatives with them.

    Returns
    -------
    torch.Tensor, shape (..., nv)
        m/s^2, rad/s^2; NaN where there is no solution.

    Raises
    ------
    TypeError, DtypeError, ShapeError, ValueError
        If an argument is not a tensor, or has a wrong dtype, shape, or device; names it.

    Examples
    --------
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
    return apply_to_state("forward_dynamics", model, (q, v, tau), fext, inertias, (("method", method),))[0]


def aba(
    model: Model,
    q: Tensor,
    v: Tensor,
    tau: Tensor,
    fext: Tensor | None = None,
    inertias: Tensor | None = None,
) -> Tensor:
    """Compute accelerations as `treefactor.aba`; arguments as for `forward_dynamics`."""
    return apply_to_state("aba", model, (q, v, tau), fext, inertias)[0]


def rnea(
    model: Model, q: Tensor, v: Tensor, a: Tensor, fext: Tensor | None = None, inertias: Tensor | None = None
) -> Tensor:
    """Compute generalized forces as `treefactor.rnea`, N or N m.

    Parameters
    ----------
    model, q, v, fext, inertias
        As for `forward_dynamics`.
    a : torch.Tensor, shape (..., nv)
        Accelerations.

    Returns
    -------
    torch.Tensor, shape (..., nv)

    Raises
    ------
    TypeError, DtypeError, ShapeError, ValueError
        As for `forward_dynamics`.
    """
    return apply_to_state("rnea", model, (q, v, a), fext, inertias)[0]


def bias(
    model: Model, q: Tensor, v: Tensor, fext: Tensor | None = None, inertias: Tensor | None = None
) -> Tensor:
    """Compute generalized forces as `treefactor.bias`; arguments as for `forward_dynamics`."""
    return apply_to_state("bias", model, (q, v), fext, inertias)[0]


def crba(model: Model, q: Tensor, inertias: Tensor | None = None) -> Tensor:
    """Compute the joint-space inertia matrices H as `treefactor.crba`.

    Parameters
    ----------
    model, q, inertias
        As for `forward_dynamics`.

    Returns
    -------
    torch.Tensor, shape (..., nv, nv)

    Raises
    ------
    TypeError, DtypeError, ShapeError, ValueError
        As for `forward_dynamics`.
    """
    return apply_to_state("crba", model, (q,), None, inertias)[0]


def h_times(model: Model, q: Tensor, x: Tensor, inertias: Tensor | None = None) -> Tensor:
    """Compute H x as `treefactor.h_times`, for x of shape (..., nv); other arguments as for `crba`."""
    return apply_to_state("h_times", model, (q, x), None, inertias)[0]


def integrate(model: Model, q: Tensor, v: Tensor) -> Tensor:
    """Return the configuration reached from q at the constant velocity v after one second.

    Parameters
    ----------
    model : Model
    q, v : torch.Tensor, shapes (..., nq), (..., nv)
        Float64 or float32. Leading axes broadcast.

    Returns
    -------
    torch.Tensor, shape (..., nq)
        As of `treefactor.integrate`; differentiable to any order.

    Raises
    ------
    TypeError, DtypeError, ShapeError, ValueError
        As for `forward_dynamics`.

    Examples
    --------
    >>> import torch, treefactor as tf
    >>> from treefactor.adapters import torch_
    >>> model = tf.Model([tf.Joint("ball", "spherical", inertia=tf.Inertia(1.0))])
    >>> q, v = torch.tensor([0.0, 0.0, 0.0, 1.0]), torch.tensor([torch.pi, 0.0, 0.0])
    >>> torch_.integrate(model, q, v).round(decimals=6).abs()
    tensor([1., 0., 0., 0.])
    """
    return apply("integrate", model, (q, v))[0]


def difference(model: Model, q0: Tensor, q1: Tensor) -> Tensor:
    """Return the shortest constant velocity from q0 to q1 within one second, shape (..., nv).

    As `treefactor.difference`; arguments, errors and derivatives as for `integrate`.
    """
    return apply("difference", model, (q0, q1))[0]


def normalize(model: Model, q: Tensor) -> Tensor:
    """Return q with all (cos, sin) and quaternions scaled to unit length, as `treefactor.normalize`.

    Arguments, errors and derivatives as for `integrate`.
    """
    return apply("normalize", model, (q,))[0]


def step(
    model: Model,
    q: Tensor,
    v: Tensor,
    tau: Tensor,
    h: float,
    method: str = METHODS[0],
    fext: Tensor | None = None,
    inertias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute the state after a time step as `treefactor.step`.

    Parameters
    ----------
    model, q, v, tau, fext, inertias
        As for `forward_dynamics`.
    h : float
        Length of the step, s; a constant.
    method : {"semi_implicit_euler", "rk4"}
        See `treefactor.rollout`.

    Returns
    -------
    q, v : torch.Tensor, shapes (..., nq), (..., nv)
        NaN where there is no solution.

    Raises
    ------
    TypeError, DtypeError, ShapeError, ValueError
        As for `forward_dynamics`.
    """
    options = (("h", as_step_length(h)), ("method", method))
    return apply_to_state("step", model, (q, v, tau), fext, inertias, options)


def rollout(
    model: Model,
    q0: Tensor,
    v0: Tensor,
    tau: Tensor | None,
    h: float,
    steps: int | None = None,
    method: str = METHODS[0],
    fext: Tensor | None = None,
    inertias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute trajectories as `treefactor.rollout`: the initial state and those after each of T time steps.

    Parameters
    ----------
    model : Model
    q0, v0 : torch.Tensor, shapes (..., nq), (..., nv)
        Initial states; float64 or float32. Leading axes broadcast.
    tau : torch.Tensor, shape (..., T, nv), or None
        Generalized forces of every step. With ``steps``: shape (..., nv), the same in all steps; or None for
        no forces.
    h : float
        Length of a step, s; a constant.
    steps : int, optional
        Number of steps T; default: that of tau.
    method : {"semi_implicit_euler", "rk4"}
        See `treefactor.rollout`.
    fext : torch.Tensor, shape (..., T, njoints, 6), or (..., njoints, 6) with ``steps``; optional
        External force and moment on the body of every joint, at its origin and in its axes; N, N m.
    inertias : torch.Tensor, shape (..., njoints, 10), optional
        The same in all steps; see `forward_dynamics`.

    Returns
    -------
    q, v : torch.Tensor, shapes (..., T + 1, nq), (..., T + 1, nv)
        From the step in which there is no solution on, NaN.

    Raises
    ------
    TypeError, DtypeError, ShapeError, ValueError
        As for `forward_dynamics`.

    Notes
    -----
    One call of a kernel computes all values. Gradients go back through the states that the result holds, step
    by step; nothing else is kept. The rule of the derivatives is that of `step`.
    """
    options: tuple = (("h", as_step_length(h)), ("method", method))
    if steps is None:
        if tau is not None:
            check_tensor("tau", tau)
        steps = count_steps(None if tau is None else tuple(tau.shape), getattr(model, "nv", "nv"))
    else:
        steps = as_count(steps, "steps")
        if tau is None:
            check_tensor("v0", v0)
            tau = v0.new_zeros(getattr(model, "nv", 0))
        tau = in_every_step("tau", tau, 1, steps)
        fext = fext if fext is None else in_every_step("fext", fext, 2, steps)
    return apply_to_state("rollout", model, (q0, v0, tau), fext, inertias, (*options, ("steps", int(steps))))


def frame_placement(model: Model, q: Tensor, frame) -> Tensor:
    """Compute the placements [R | p] of frames in the world as `treefactor.frame_placement`.

    Parameters
    ----------
    model, q
        As for `forward_dynamics`.
    frame : str, Frame, -1 for the base, or a list of them

    Returns
    -------
    torch.Tensor, shape (..., 3, 4), or (..., k, 3, 4) for a list of k frames
        Positions in m.

    Raises
    ------
    TypeError, DtypeError, ShapeError, ValueError
        If an argument is no tensor, has a wrong dtype, shape, or device, or no frame has the name; names it.
    """
    return apply("frame_placement", model, (q,), of_frame(frame))[0]


def frame_jacobian(model: Model, q: Tensor, frame, reference: str = "LOCAL") -> Tensor:
    """Compute the Jacobians of frames as `treefactor.frame_jacobian`; it has first derivatives only.

    Parameters
    ----------
    model, q, frame
        As for `frame_placement`.
    reference : {"LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"}
        See `treefactor.frame_velocity`.

    Returns
    -------
    torch.Tensor, shape (..., 6, nv), or (..., k, 6, nv) for a list of k frames
        Linear rows before angular ones.

    Raises
    ------
    TypeError, DtypeError, ShapeError, ValueError
        As for `frame_placement`.
    """
    return apply("frame_jacobian", model, (q,), of_frame(frame, reference))[0]


def frame_velocity(model: Model, q: Tensor, v: Tensor, frame, reference: str = "LOCAL") -> Tensor:
    """Compute spatial velocities of frames, shape (..., 6), as `treefactor.frame_velocity`; m/s, rad/s.

    Arguments and errors as for `frame_jacobian`; it has first derivatives only.
    """
    return apply("frame_velocity", model, (q, v), of_frame(frame, reference))[0]


def joint_placements(model: Model, q: Tensor) -> Tensor:
    """Compute the placements of all joints, shape (..., njoints, 3, 4), as `treefactor.joint_placements`.

    Arguments and errors as for `crba`; it has first derivatives only.
    """
    return apply("joint_placements", model, (q,))[0]


def center_of_mass(model: Model, q: Tensor) -> Tensor:
    """Compute the centre of mass, shape (..., 3), m, as `treefactor.center_of_mass`; for q see `crba`."""
    return apply("center_of_mass", model, (q,))[0]


def center_of_mass_jacobian(model: Model, q: Tensor) -> Tensor:
    """Compute Jacobians as `treefactor.center_of_mass_jacobian`, shape (..., 3, nv).

    Arguments and errors as for `crba`; it has first derivatives only.
    """
    return apply("center_of_mass_jacobian", model, (q,))[0]


def centroidal_momentum(model: Model, q: Tensor, v: Tensor) -> Tensor:
    """Compute the momenta, shape (..., 6), kg m/s and kg m^2/s, as `treefactor.centroidal_momentum`.

    Arguments and errors as for `forward_dynamics`; it has first derivatives only.
    """
    return apply("centroidal_momentum", model, (q, v))[0]
