"""Write the self-contained HTML page of an identification, with torques and residuals as drawings."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ..identification.measured_fit import FittedParameter, MeasuredFit
from .html import render
from .identification import number, share

WIDTH, TORQUE, RESIDUAL, BETWEEN = 360, 120, 50, 14  # pixels of a drawing: width and heights
# space for labels on the left and at the bottom, and width of a letter, in pixels
LEFT, BOTTOM, LETTER = 38, 16, 10
POINTS = 900  # most points of a curve; longer ones show the least and greatest sample of every group
SPREAD = 3.0  # standard deviations that whiskers show, each way


def write_identification(path: Path, title: str, fit: MeasuredFit, meta: dict) -> None:
    """Write the page of `treefactor identify`.

    Parameters
    ----------
    path : path-like
    title : str
    fit : MeasuredFit
    meta : dict
        ``treefactor`` (version), ``robot``, ``data``, ``rate``, ``cutoff`` and ``samples``.
    """
    values = {"isnan": math.isnan, "figure": number, "share": share, "width": WIDTH, "left": LEFT}
    groups = _groups(fit.parameters)
    render(
        path,
        "identification.html",
        meta=meta,
        title=title,
        fit=fit,
        groups=[
            (name, [(entry, _whisker(entry)) for entry in group], _has_bodies(group))
            for name, group in groups
        ],
        drawings=[_drawing(fit, k) for k in range(fit.measured.shape[1]) if fit.used[:, k].any()],
        widest=max(
            [1e-9, *(_finite(entry.fit, entry.held_out, entry.before, entry.bodies) for entry in fit.joints)]
        ),
        **values,
    )


def _finite(*values: float) -> float:
    """Return the largest value that is not NaN, at most 1."""
    return min(1.0, max((value for value in values if not math.isnan(value)), default=0.0))


def _groups(parameters: Iterable[FittedParameter]) -> list[tuple[str, list[FittedParameter]]]:
    """Return the parameters by kind: inertias of bodies, rotor inertias, friction, offsets and others."""
    kinds = {"armature of ": "rotor inertia", "viscous friction of ": "viscous friction"}
    kinds |= {"dry friction of ": "dry friction", "offset of ": "offset"}
    groups: dict[str, list[FittedParameter]] = {}
    for parameter in parameters:
        start = next(
            (start for start in kinds if parameter.name.startswith(start) and " + " not in parameter.name), ""
        )
        groups.setdefault(kinds.get(start, "inertias"), []).append(parameter)
    return list(groups.items())


def _has_bodies(group: Iterable[FittedParameter]) -> bool:
    """Return whether bodies that can exist have one of these parameters."""
    return any(not math.isnan(parameter.bodies) for parameter in group)


def _whisker(parameter: FittedParameter) -> dict | None:
    """Return the places, 0 to 100, of value, deviation and value of the file on a common scale."""
    if math.isnan(parameter.value) or math.isnan(parameter.before):
        return None
    reach = SPREAD * (0.0 if math.isnan(parameter.standard_deviation) else parameter.standard_deviation)
    ends = 0.0, parameter.before, parameter.value - reach, parameter.value + reach
    low, high = min(ends), max(ends)
    scale = 100 / (high - low) if high > low else 0.0
    places = {"zero": 0.0, "before": parameter.before, "value": parameter.value}
    places |= {"low": parameter.value - reach, "high": parameter.value + reach}
    return {name: round((place - low) * scale, 1) for name, place in places.items()}


def _drawing(fit: MeasuredFit, k: int) -> dict:
    """Return curves of the torque of a freedom and of its residual, in pixels."""
    t, measured, predicted = fit.t, fit.measured[:, k], fit.predicted[:, k]
    residual = measured - predicted
    x = LEFT + (WIDTH - LEFT) * (t - t[0]) / max(t[-1] - t[0], 1e-12)
    low, high = _limits(measured, predicted[fit.used[:, k]])
    reach = max(abs(limit) for limit in _limits(residual[fit.used[:, k]]))
    torque = _Scale(low, high, 0.0, TORQUE)
    own = _Scale(-reach, reach, TORQUE + BETWEEN, RESIDUAL)
    used = fit.used[:, k]
    return {
        "joint": fit.joints[k],
        "bands": _bands(fit.held, x),
        "measured": _path(x, torque(measured)),
        "predicted": _path(x, torque(np.where(used, predicted, np.nan))),
        "residual": _path(x, own(np.where(used, residual, np.nan))),
        "ticks": [*torque.ticks(3), *own.ticks(1)],
        "times": [
            (float(LEFT + (WIDTH - LEFT) * s), f"{t[0] + s * (t[-1] - t[0]):.3g}") for s in (0, 0.5, 1)
        ],
        "zero": round(float(own(np.zeros(1))[0]), 1),
        "height": TORQUE + BETWEEN + RESIDUAL,
        "total": TORQUE + BETWEEN + RESIDUAL + BOTTOM,
    }


class _Scale:
    """Map values linearly to pixels, the greatest at the top."""

    def __init__(self, low: float, high: float, top: float, height: float):
        self.low, self.high, self.top, self.height = low, high, top, height

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return ordinates."""
        return self.top + self.height * (self.high - values) / (self.high - self.low)

    def ticks(self, count: int) -> list[tuple[float, str]]:
        """Return places and texts of about so many round values on each side of zero, zero included."""
        step = _round_step(max(abs(self.low), abs(self.high)) / (count + 0.5))
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        values = np.arange(first, last + 1) * step
        places = [(round(float(self(value)), 1), f"{value:.6g}") for value in values]
        return [(place, text) for place, text in places if place >= LETTER / 2]


def _round_step(least: float) -> float:
    """Return the next number of 1, 2, 5, 10 ... times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= least * (1 - 1e-9))


def _limits(*curves: np.ndarray) -> tuple[float, float]:
    """Return the least and greatest finite value of curves and zero, never equal."""
    values = np.concatenate([[0.0], *curves])
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (-1.0, 1.0)


def _bands(held: np.ndarray, x: np.ndarray) -> list[tuple[float, float]]:
    """Return left end and width of the blocks that were held out."""
    steps = np.diff(held.astype(int), prepend=0, append=0)
    starts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
    return [
        (round(float(x[a]), 1), round(float(x[b - 1] - x[a]), 1)) for a, b in zip(starts, ends, strict=True)
    ]


def _path(x: np.ndarray, y: np.ndarray) -> str:
    """Return an SVG path with gaps where y is NaN, of at most `POINTS` points."""
    size = max(1, -(-2 * len(x) // POINTS))
    if size > 2:
        groups = np.arange(0, len(x), size)
        ends = np.column_stack([np.fmin.reduceat(y, groups), np.fmax.reduceat(y, groups)])
        x, y = np.repeat(x[groups], 2), ends.ravel()
    parts, pen = [], "M"
    for a, b in zip(x, y, strict=True):
        if math.isnan(b):
            pen = "M"
            continue
        parts.append(f"{pen}{a:.1f} {b:.1f}")
        pen = "L"
    return "".join(parts)
