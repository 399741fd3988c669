"""Inertial parameters in PyTorch."""

from __future__ import annotations

import torch

from ._log_cholesky import parameters_of
from ._torch_arguments import as_tensor


def from_log_cholesky(theta: torch.Tensor) -> torch.Tensor:
    """Return the parameters of log-Cholesky coordinates: those of a body that can exist, for any theta.

    Parameters
    ----------
    theta : torch.Tensor, shape (..., 10)
        See `treefactor.identification.from_log_cholesky`, whose values these are; ``to_log_cholesky`` of
        that module gives those to start from.

    Returns
    -------
    torch.Tensor, shape (..., 10)
        For ``inertias``; in operations of PyTorch, which can be differentiated to any order.

    Raises
    ------
    TypeError, DtypeError, ShapeError, ValueError
        If theta is not a tensor, or has a wrong dtype, shape, or device.

    Examples
    --------
    >>> import torch
    >>> from treefactor.adapters import torch_
    >>> theta = torch.zeros(10, requires_grad=True)
    >>> torch.autograd.grad(torch_.from_log_cholesky(theta)[0], theta)[0].tolist()
    [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    return parameters_of(as_tensor(theta, "theta", (10,)), torch)
