"""Measure deviations of derivatives, and compute central differences of an engine's values.

Matrices have keys (name, by): τ (inverse dynamics), q̈ (forward dynamics), V and A (velocity and acceleration
of a frame in one of three references), h and ḣ (momentum about the centre of mass, and its rate), ∇q and ∇v
(gradients of a weighted sum of τ), by q (along ``integrate``), v, a or τ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from ... import tolerances

Key = tuple[str, str]
Matrices = dict[Key, np.ndarray]
ARGUMENTS = {"τ": "qva", "q̈": "qvτ", "V": "qv", "A": "qva", "h": "q", "ḣ": "qva", "∇q": "qva", "∇v": "v"}
STEP = 2.0**-9  # larger step of the central differences, which are extrapolated from two steps
NOTHING = 1e-2  # share of the largest entry that rows of one unit have at least


class State(NamedTuple):
    """Configuration, velocity, acceleration and forces."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray

    def displaced(self, by: str, step: np.ndarray, move: Callable) -> State:
        """Return the state after a step of one of its parts; ``move(q, step)`` displaces q."""
        if by == "q":
            return self._replace(q=move(self.q, step))
        part = {"v": "v", "a": "a", "τ": "tau"}[by]
        return self._replace(**{part: getattr(self, part) + step})


def label(key: Key) -> str:
    """Return the text of a key: "∂A/∂q WORLD"."""
    name, _, reference = key[0].partition(" ")
    return f"∂{name}/∂{key[1]} {reference}".rstrip()


def labels(keys: Iterable[Key]) -> str:
    """Return the text of many keys: "∂τ/∂q,v ∂A/∂q"; references are left out."""
    variables: dict[str, dict[str, None]] = {}
    for name, by in keys:
        variables.setdefault(name.partition(" ")[0], {})[by] = None
    return " ".join(f"∂{name}/∂{','.join(parts)}" for name, parts in variables.items())


def differences(values: Callable[[State], dict], move: Callable, state: State) -> Matrices:
    """Return the derivatives of all values by extrapolated central differences."""
    matrices: Matrices = {}
    for by in "qvaτ":
        columns = [_column(values, move, state, by, unit) for unit in np.eye(state.v.size)]
        for name in columns[0] if columns else ():
            if by in ARGUMENTS[name.partition(" ")[0]] and all(name in column for column in columns):
                matrices[name, by] = np.stack([column[name] for column in columns], axis=-1)
    return matrices


def _column(values: Callable, move: Callable, state: State, by: str, unit: np.ndarray) -> dict:
    """Return the derivatives of all values along one direction."""
    slopes = []
    for h in (STEP, STEP / 2):
        ahead, behind = (values(state.displaced(by, step * unit, move)) for step in (h, -h))
        slopes.append({name: (ahead[name] - behind[name]) / (2 * h) for name in ahead if name in behind})
    coarse, fine = slopes
    return {name: (4 * fine[name] - coarse[name]) / 3 for name in fine if name in coarse}


def deviation(key: Key, actual: np.ndarray, expected: np.ndarray, size: np.ndarray, value: float) -> float:
    """Return the largest deviation over the largest entry, in comparable units; NaN where one is NaN.

    ``size`` has the roots of the diagonal of H: forces over them and motions times them have equal units.
    Linear and angular rows of frames and momenta are compared separately; rows that vanish are measured by
    ``value``, the largest entry of the quantity.
    """
    name, by = key
    if actual.shape != expected.shape:
        return float("inf")
    error = np.abs(actual - expected)
    if name in ("τ", "q̈", "∇q", "∇v"):
        rows, columns = 1 / size if name == "q̈" else size, 1 / size if by == "τ" else size
        scale = np.outer(rows, columns)
        return float((error / scale).max(initial=0.0) / np.abs(expected / scale).max(initial=1.0))
    smallest = NOTHING * max(value, np.abs(expected).max(initial=0.0)) or 1.0
    halves = (slice(0, 3), slice(3, 6))
    return float(
        np.max([error[h].max(initial=0.0) / np.abs(expected[h]).max(initial=smallest) for h in halves])
    )


def allowed(key: Key, condition: float, by_differences: bool = False) -> float:
    """Return the tolerance of a deviation; that of q̈ grows with the condition number of H."""
    tolerance = tolerances.BY_DIFFERENCES if by_differences else tolerances.DERIVATIVES
    if key[0] != "q̈":
        return tolerance
    per_condition, at_most = tolerances.DIFFERENCES_QDD if by_differences else tolerances.DERIVATIVES_QDD
    return min(max(tolerance, per_condition * condition), at_most)
