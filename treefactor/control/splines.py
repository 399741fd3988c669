"""Interpolate controls between knots."""

from __future__ import annotations

import numpy as np

from .._util.validation import Sealed, check_choice
from ._sampling import Splines

SPLINES = ("zero", "linear", "cubic")


class Spline(Sealed):
    """Interpolation of controls between knots.

    Parameters
    ----------
    kind : str
    knots, steps : int

    Attributes
    ----------
    fit : ndarray, shape (knots, steps)
        Knots of the nearest spline to controls of all steps.
    ends : ndarray of int
        Steps after the knots, in order: state numbers.
    """

    kind: str
    knots: int
    steps: int
    fit: np.ndarray
    ends: np.ndarray
    _after_one: tuple[np.ndarray, np.ndarray]

    def __init__(self, kind: str, knots: int, steps: int):
        check_choice("spline", kind, SPLINES)
        least = 1 if kind == "zero" else 2
        if not least <= knots <= steps:
            raise ValueError(f"knots must be {least} to the horizon {steps} for spline {kind!r}, got {knots}")
        places = np.arange(knots) * (steps / knots) if kind == "zero" else np.linspace(0, steps - 1, knots)
        begins = np.ceil(places[1:] - 1e-9) if kind == "zero" else np.round(places) + 1
        ends = np.unique(np.r_[begins.astype(int), steps])
        self._keep(kind=kind, knots=knots, steps=steps, ends=ends)
        self._keep(fit=np.linalg.pinv(self.basis(np.arange(steps))))
        self._keep(_after_one=self._factors_after(1.0))

    def after(self, steps: float) -> tuple[np.ndarray, np.ndarray]:
        """Return what makes knots of a plan some steps later, and of what follows it.

        Factors (knots, knots) of the knots, and (knots,) of the controls beyond the plan.
        """
        return self._after_one if steps == 1.0 else self._factors_after(steps)

    def _factors_after(self, steps: float) -> tuple[np.ndarray, np.ndarray]:
        times = np.arange(self.steps) + steps
        beyond = np.clip(times - (self.steps - 1), 0.0, 1.0)
        return self.fit @ ((1.0 - beyond)[:, None] * self.basis(times)), self.fit @ beyond

    def basis(self, times: np.ndarray) -> np.ndarray:
        """Return the factors (times, knots) of knots in controls at times, in steps; the last ones stay."""
        times = np.clip(times, 0.0, self.steps - 1.0)
        identity = np.eye(self.knots)
        if self.kind == "zero":  # the mean over a step that begins at the time
            step = np.floor(times).astype(int)
            of_step = identity[np.arange(self.steps) * self.knots // self.steps]
            after, part = np.minimum(step + 1, self.steps - 1), (times - step)[:, None]
            return (1.0 - part) * of_step[step] + part * of_step[after]
        at = times * ((self.knots - 1) / (self.steps - 1))
        k = np.minimum(at.astype(int), self.knots - 2)
        x = (at - k)[:, None]
        if self.kind == "linear":
            return (1.0 - x) * identity[k] + x * identity[k + 1]
        ahead = 2.0 * identity[:1] - identity[1:2], 2.0 * identity[-1:] - identity[-2:-1]
        wide = np.concatenate([ahead[0], identity, ahead[1]])  # straight beyond the ends
        cubic = (
            (-0.5 * x + x**2 - 0.5 * x**3, 1.0 - 2.5 * x**2 + 1.5 * x**3),
            (0.5 * x + 2.0 * x**2 - 1.5 * x**3, -0.5 * x**2 + 0.5 * x**3),
        )
        return sum(f * wide[k + 2 * pair + n] for pair, two in enumerate(cubic) for n, f in enumerate(two))

    def compiled(self, lower: np.ndarray, upper: np.ndarray, mix: np.ndarray | None) -> Splines:
        """Return the compiled spline with limits of controls, and a matrix that mixes their noise."""
        basis = self.basis(np.arange(self.steps))
        order = min(self.knots, {"zero": 1, "linear": 2, "cubic": 4}[self.kind])
        first = np.minimum((basis != 0.0).argmax(axis=1), self.knots - order)
        weight = np.take_along_axis(basis, first[:, None] + np.arange(order), axis=1)
        return Splines(first.astype(np.intp), np.ascontiguousarray(weight), lower, upper, mix, self.knots)
