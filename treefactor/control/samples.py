"""Hold the motions of samples, and what control by sampling returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

import numpy as np

from .._util.validation import Sealed
from ..model.model import Model
from ..quantities import functions as tf


class SamplingStatus(IntEnum):
    """How a plan was made.

    UPDATED: of the samples. NON_FINITE: the state, or the costs of all samples, are not finite, and the plan
    is that of before.

    Notes
    -----
    Immutable.
    """

    UPDATED = 0
    NON_FINITE = 1


class _Placements(Sealed):
    """Placements of frames of samples, which are computed when they are looked up."""

    _model: Model
    _q: np.ndarray

    def __init__(self, model: Model, q: np.ndarray):
        self._keep(_model=model, _q=q)

    def __getitem__(self, frame) -> np.ndarray:
        return tf.frame_placement(self._model, self._q, frame)


class SampledMotions(Sealed):
    """Motions of all samples at some times: what a function of costs gets.

    Attributes
    ----------
    q, v : ndarray, shapes (..., samples, times, nq) and (..., samples, times, nv)
        States; leading axes are robots. Read-only.
    u : ndarray, shape (..., samples, times, nu)
        Controls of the steps that end at these times.
    placement : mapping
        ``placement[frame]`` has shape (..., samples, times, 3, 4).
    time : ndarray, shape (times,)
        s, from the given state on; the last one is the end of the horizon.

    Notes
    -----
    Thread-compatible.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> slide = tf.Joint("slide", "prismatic", axis=[1, 0, 0], inertia=tf.Inertia(1.0))
    >>> def far(motions):
    ...     return ((motions.placement["slide"][..., 0, 3] - 0.3) ** 2).sum(axis=-1)
    >>> controller = tf.control.SamplingController(tf.Model([slide]), far, horizon=20, dt=0.02, noise=5.0)
    >>> controller.plan([0.0], [0.0]).cost.shape
    (1024,)
    """

    q: np.ndarray
    v: np.ndarray
    time: np.ndarray
    placement: _Placements
    _controls: Callable

    def __init__(self, model: Model, q: np.ndarray, v: np.ndarray, time: np.ndarray, controls: Callable):
        self._keep(q=q, v=v, time=time, placement=_Placements(model, q), _controls=controls)

    @cached_property
    def u(self) -> np.ndarray:
        """Return the controls."""
        return self._controls()

    def __repr__(self) -> str:
        return f"<SampledMotions of {self.q.shape[-3]} samples at {self.q.shape[-2]} times>"


@dataclass(frozen=True, eq=False)
class SamplingResult:
    """A plan of controls, and the samples that it was made of.

    Attributes
    ----------
    u, best_u : ndarray, shape (..., horizon, nu)
        The plan, and the sample of least cost.
    cost : ndarray, shape (..., samples)
        NaN of motions that are not finite. The first sample is the plan before.
    weights : ndarray, shape (..., samples)
        Of the samples in the plan; they sum up to 1, or are 0 where the plan was kept.
    effective_samples : ndarray, shape (...)
        1 over the sum of squared weights: 1 if one sample alone counts, the temperature is then too low; near
        the number of samples if costs hardly count.
    q, v : ndarray, shapes (..., horizon + 1, nq) and (..., horizon + 1, nv)
        States of the plan, in the precision of its program.
    status : ndarray of int8, shape (...)
        A `SamplingStatus` for every robot.

    Notes
    -----
    Thread-compatible.

    Examples
    --------
    >>> import treefactor as tf
    >>> model = tf.Model([tf.Joint("slide", "prismatic", axis=[1, 0, 0], inertia=tf.Inertia(1.0))])
    >>> cost = tf.control.StateCost([0.3])
    >>> controller = tf.control.SamplingController(model, cost, horizon=20, dt=0.02, samples=64, noise=5.0)
    >>> controller.plan([0.0], [0.0])
    <SamplingResult of 1 robot: 1 UPDATED>
    """

    u: np.ndarray
    best_u: np.ndarray
    cost: np.ndarray
    weights: np.ndarray
    effective_samples: np.ndarray
    q: np.ndarray
    v: np.ndarray
    status: np.ndarray

    def summary(self) -> str:
        """Return one line: how many robots have a new plan."""
        counts = np.bincount(self.status.ravel(), minlength=len(SamplingStatus))
        parts = [f"{counts[one]} {one.name}" for one in SamplingStatus if counts[one]]
        count = self.status.size
        return f"{count} robot{'s' * (count != 1)}: {', '.join(parts) or 'none'}"

    def __repr__(self) -> str:
        return f"<SamplingResult of {self.summary()}>"
