"""Judge samples of a motion before and after an identification: slow rows, and torques that come late."""

from __future__ import annotations

import numpy as np

from .._util.validation import as_number, as_real
from ..exceptions import ShapeError

ROUNDING = 1e-11  # change of a mean square that is rounding, relative to the torques


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


def torque_delay(tau, predicted, step: float) -> np.ndarray:
    """Return by how much measured torques come later than predicted ones.

    The delay of every freedom is the shift with the smallest mean square difference, between samples by a
    parabola. An estimate from late torques takes part of the delay into its parameters: the delay found is
    too small then.

    Parameters
    ----------
    tau, predicted : array_like, shape (N, nv)
        Measured torques, and `Estimate.predict` of samples that follow each other at equal steps.
    step : float
        Time between samples, s.

    Returns
    -------
    ndarray, shape (nv,)
        s; NaN where a torque is constant.

    Examples
    --------
    >>> import numpy as np, treefactor.identification as identification
    >>> t = 0.01 * np.arange(500)[:, None]
    >>> identification.torque_delay(np.sin(3 * (t - 0.05)), np.sin(3 * t), 0.01).round(2)
    array([0.05])
    """
    tau, predicted = as_real(tau, "tau"), as_real(predicted, "predicted")
    if tau.ndim != 2 or tau.shape != predicted.shape or len(tau) < 3:
        raise ShapeError(
            f"expected two arrays of shape (N, nv), N >= 3, got {tau.shape} and {predicted.shape}"
        )
    squares = _mean_square_differences(tau, predicted)
    best = np.clip(squares.argmin(axis=0), 1, len(squares) - 2)
    before, at, after = (squares[best + k, range(tau.shape[1])] for k in (-1, 0, 1))
    bend = before - 2 * at + after
    rounding = ROUNDING * (np.mean(tau**2, axis=0) + np.mean(predicted**2, axis=0))
    inside = np.divide(before - after, 2 * bend, out=np.full_like(bend, np.nan), where=bend > rounding)
    return (best - len(squares) // 2 + np.clip(inside, -1, 1)) * as_number(step, "step")


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
