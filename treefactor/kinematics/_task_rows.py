"""Compute the rows of tasks: stacked Jacobians of frames, and J-dot v."""

from __future__ import annotations

import numpy as np

from ..model.model import Model
from ..quantities.functions import frame_acceleration, frame_jacobian

COMPONENTS = ("linear x", "linear y", "linear z", "angular x", "angular y", "angular z")


def row_name(frame, row: int) -> str:
    """Return the name of a row in messages, for a frame or a list of frames."""
    one = frame[row // 6] if isinstance(frame, list | tuple) else frame
    return f"{COMPONENTS[row % 6]} of frame {str(getattr(one, 'name', one))!r}"


def jacobian_of(model: Model, q, frame, reference, num_threads: int) -> np.ndarray:
    """Return the Jacobian of a frame, or those of a list of frames stacked, shape (..., 6 k, nv)."""
    if not isinstance(frame, list | tuple):
        return frame_jacobian(model, q, frame, reference, num_threads=num_threads)
    J = frame_jacobian(model, q, list(frame), reference, num_threads=num_threads)
    return J.reshape(*J.shape[:-3], 6 * len(frame), model.nv)


def jacobian_dot_v(model: Model, q, v, frame, reference, num_threads: int) -> np.ndarray:
    """Return J-dot v of the stacked Jacobian, shape (..., 6 k): only the aligned axes do not move."""
    name = getattr(reference, "name", reference)
    aligned = type(name) is str and name == "LOCAL_WORLD_ALIGNED"  # frame_acceleration refuses other types
    many = isinstance(frame, list | tuple)
    a = frame_acceleration(
        model, q, v, None, list(frame) if many else frame, reference, aligned, num_threads=num_threads
    )
    return a.reshape(*a.shape[:-2], 6 * len(frame)) if many else a
