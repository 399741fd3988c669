"""Judge samples of a motion before and after an identification: slow rows, and torques that come late."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._util.validation import as_number, as_real
from ..exceptions import ShapeError

ROUNDING = 1e-11  # change of a mean square that is rounding, relative to the torques
BLOCKS = 12  # blocks of samples; errors of different blocks are taken as independent
FALSE_ALARMS = 1e-3  # probability that any of some numbers counts as significant by chance


def slow_rows(v, share: float = 0.01) -> np.ndarray:
    """Return the rows whose velocity is so small that its sign is noise.

    Dry friction is the sign of the velocity times a constant. Leave these rows out: ``mask=~slow_rows(v)``.

    Parameters
    ----------
    v : array_like, shape (N, nv)
        Velocities.
    share : float
        Of the largest speed of the freedom.

    Returns
    -------
    ndarray of bool, shape (N, nv)

    Examples
    --------
    >>> import treefactor.identification as identification
    >>> identification.slow_rows([[1.0], [0.005], [-0.5]]).T
    array([[False,  True, False]])
    """
    speed = np.abs(as_real(v, "v"))
    if speed.ndim != 2:
        raise ShapeError(f"expected v of shape (N, nv), got {speed.shape}", speed.shape)
    return speed <= as_number(share, "share") * speed.max(axis=0, initial=0.0)


class TorqueDelay(NamedTuple):
    """Delays of measured torques; made by `torque_delay`.

    Attributes
    ----------
    values : ndarray, shape (nv,)
        By how much the torques come later than predicted ones, s; NaN where a torque is constant.
    standard_deviations : ndarray, shape (nv,)
        s; NaN where there are too few samples.
    significant : ndarray of bool, shape (nv,)
        Delays that chance does not explain, by Student's t-test: of torques without delay, one in a
        thousand comparisons of a robot's torques has any.

    Notes
    -----
    Thread-compatible.
    """

    values: np.ndarray
    standard_deviations: np.ndarray

    @property
    def significant(self) -> np.ndarray:
        """Return which delays are larger than chance explains."""
        return np.abs(self.values) > least_ratio(len(self.values)) * self.standard_deviations


def torque_delay(tau, predicted, step: float) -> TorqueDelay:
    """Return by how much measured torques come later than predicted ones, and how certain that is.

    The delay of every freedom is the shift with the smallest mean square difference, between samples by a
    parabola. An estimate from late torques takes part of the delay into its parameters: the delay found is
    too small then. Friction that was not estimated looks like a delay.

    Parameters
    ----------
    tau, predicted : array_like, shape (N, nv)
        Measured torques, and `Estimate.predict` of samples that follow each other at equal steps.
    step : float
        Time between samples, s.

    Returns
    -------
    TorqueDelay
        ``values`` and ``standard_deviations``, shape (nv,), s, and which are ``significant``.

    Raises
    ------
    ShapeError

    Notes
    -----
    The standard deviation is that of the sums, over 12 blocks of the samples, of the error times the slope
    that decide about the delay: errors may depend on each other within a block.

    Examples
    --------
    >>> import numpy as np, treefactor.identification as identification
    >>> t = 0.01 * np.arange(500)[:, None]
    >>> noise = 0.1 * np.random.default_rng(0).normal(size=t.shape)
    >>> delay = identification.torque_delay(np.sin(3 * (t - 0.05)) + noise, np.sin(3 * t), 0.01)
    >>> delay.values.round(2), delay.significant
    (array([0.05]), array([ True]))
    """
    tau, predicted = as_real(tau, "tau"), as_real(predicted, "predicted")
    if tau.ndim != 2 or tau.shape != predicted.shape or len(tau) < 3:
        raise ShapeError(
            f"expected two arrays of shape (N, nv), N >= 3, got {tau.shape} and {predicted.shape}"
        )
    step, half, freedoms = as_number(step, "step"), len(tau) // 2, range(tau.shape[1])
    squares = _mean_square_differences(tau, predicted)
    best = np.clip(squares.argmin(axis=0), 1, len(squares) - 2)
    before, at, after = (squares[best + k, freedoms] for k in (-1, 0, 1))
    bend = before - 2 * at + after
    rounding = ROUNDING * (np.mean(tau**2, axis=0) + np.mean(predicted**2, axis=0))
    bend[~(bend > rounding)] = np.nan
    inside = np.clip((before - after) / (2 * bend), -1, 1)
    spreads = [_spread(tau[:, k], predicted[:, k], int(best[k]) - half, inside[k]) for k in freedoms]
    return TorqueDelay((best - half + inside) * step, np.array(spreads) / (bend / 2) * step)


def _spread(tau: np.ndarray, predicted: np.ndarray, shift: int, inside: float) -> float:
    """Return the standard deviation of the mean product of error and slope of one torque at its delay."""
    late, early = max(shift, 0), max(-shift, 0)
    slope = np.gradient(predicted)[early : len(tau) - late]
    error = tau[late : len(tau) - early] - predicted[early : len(tau) - late] + inside * slope
    return deviation_of_sum(error * slope) / len(error)


def least_ratio(count: int) -> float:
    """Return how many deviations of `deviation_of_sum` one of `count` numbers may be from 0 by chance.

    By Student's t-test; all of them together have the probability `FALSE_ALARMS` of being farther off.
    """
    from scipy.special import stdtrit

    return float(stdtrit(BLOCKS - 1, 1.0 - FALSE_ALARMS / (2 * max(count, 1))))


def deviation_of_sum(terms: np.ndarray) -> float:
    """Return the standard deviation of the sum of a series (N,) whose terms may depend on their neighbours.

    It follows from the sums of blocks of successive terms; NaN for few terms.
    """
    if len(terms) < 2 * BLOCKS:
        return np.nan
    sums = np.add.reduceat(terms, np.arange(BLOCKS) * len(terms) // BLOCKS)
    return float(np.sqrt(BLOCKS / (BLOCKS - 1) * np.sum((sums - sums.mean()) ** 2)))


def _mean_square_differences(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the means of (x[t + s] - y[t])^2 over all t, for the shifts s from -N // 2 to N // 2."""
    N, half = len(x), len(x) // 2
    shifts = np.arange(-half, half + 1)
    spectra = [np.fft.rfft(each, 2 * N, axis=0) for each in (x, y)]
    products = np.roll(np.fft.irfft(spectra[0] * spectra[1].conj(), axis=0), half, axis=0)[: len(shifts)]
    start, stop = np.maximum(shifts, 0), np.minimum(N + shifts, N)  # of x; those of y lie s before
    sums = [np.vstack([np.zeros((1, x.shape[1])), np.cumsum(each**2, axis=0)]) for each in (x, y)]
    squares = sums[0][stop] - sums[0][start] + sums[1][stop - shifts] - sums[1][start - shifts]
    return (squares - 2 * products) / (stop - start)[:, None]
