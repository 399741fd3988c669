"""Validate configurations, velocities and forces: arrays of one state, or of a batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from .._util.validation import as_real, require_finite
from ..exceptions import ShapeError
from ._unit_rotations import require_rotations


def states(
    arguments: dict,
    tails: Mapping[str, tuple[int, ...]],
    model,
    elements: tuple[int, ...] | None = None,
    configurations: tuple[str, ...] = ("q",),
    any_length: bool = False,
    dtype: np.dtype | type = np.float64,
) -> tuple[dict, tuple[int, ...]]:
    """Return validated arrays by name, and their common leading axes.

    Parameters
    ----------
    arguments : dict of str to array_like
    tails : dict of str to tuple of int
        Shapes without leading axes.
    model : Model or None
        If given, the rotations in configurations must have unit length.
    elements : tuple of int
        Leading axes of inertias that every element of a batch has for itself; by default the model's.
    configurations : tuple of str
        Names of the configurations.
    any_length : bool
        Whether their rotations may have any length but zero.
    dtype : dtype
        Of the validated arrays.

    Raises
    ------
    DtypeError, ShapeError
    NonFiniteError, ConfigurationError
        For a single configuration only; in a batch the kernels return NaN instead.
    """
    arrays = {name: as_real(x, name, dtype) for name, x in arguments.items()}
    batch = _leading_axes(arrays, tails)
    own = (model._elements if model is not None else ()) if elements is None else elements
    if own and batch and batch != own:
        raise ShapeError(f"inertias have leading axes {own}, the other arguments {batch}", batch, own)
    batch = own or batch
    if not batch:
        for name, array in arrays.items():
            require_finite(array, name)
    if not batch and model is not None:
        for name in configurations:
            require_rotations(model, arrays[name], name, any_length)
    return arrays, batch


def common_axes(leads: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the leading axes of several arrays, which must be equal or absent."""
    batch: tuple[int, ...] = ()
    for lead in leads:
        if lead and batch and lead != batch:
            raise ShapeError(f"leading axes {batch} and {lead} differ", batch, lead)
        batch = batch or lead
    return batch


def _leading_axes(arrays: dict[str, np.ndarray], tails: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the leading axes of all arrays that have any; raise ShapeError if they differ."""
    batch = ()
    for name, array in arrays.items():
        tail = tails[name]
        lead = array.shape[: array.ndim - len(tail)]
        if array.shape[len(lead) :] != tail or (lead and batch and lead != batch):
            expected = (*batch, *tail)
            universe = name.endswith("fext") and array.shape[-2:] == (tail[-2] + 1, tail[-1])
            raise ShapeError(
                f"{name} must have shape {expected}{'' if batch else ' or leading axes before it'}, "
                f"got {array.shape}"
                + (f": leave out Pinocchio's universe, {name}[..., 1:, :]" if universe else ""),
                array.shape,
                expected,
            )
        batch = lead or batch
    return batch
