"""Measured motions and torques: read from files, filtered without delay, differentiated and split."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._util.validation import ReadOnly, as_count, as_number, as_real
from ..exceptions import ShapeError, TreefactorError
from ..model.model import Model, require_model
from ..quantities.functions import difference
from ._coordinates import configurations, coordinate_names, coordinates_of, odd_rotation, unwrapped
from ._measurement_files import Recording, read_recording

CUTOFF = 50.0, 0.1  # Hz, and share of the sampling rate: the lower one is the default cutoff
KEPT_RATE = 4  # samples kept by default for every period of the cutoff
ORDER = 4  # order of the Butterworth filter, which runs forwards and backwards
PADDING = 3  # periods of the cutoff that continue a signal at its ends, by reflection
EDGE = 2  # periods of the cutoff that are left out at both ends
JITTER, GAP = 0.01, 5  # steps of time that differ more are made even; longer ones are an error


@dataclass(frozen=True, eq=False)
class Measurements(ReadOnly):
    """Samples of a motion that fit together: positions, velocities, accelerations and torques.

    `read_measurements` reads them from a file, `Measurements.of` makes them of arrays.

    Attributes
    ----------
    t : ndarray, shape (N,)
        s, in even steps.
    q : ndarray, shape (N, nq)
    v, a : ndarray, shape (N, nv)
        Tangents, as `treefactor.integrate` reads them.
    tau : ndarray, shape (N, nv)
        N m or N; 0 where it was not measured.
    measured : ndarray of bool, shape (nv,)
        Freedoms with measured torques: the six of a floating base usually have none.
    rate, cutoff : float
        Hz; sampling rate of the file and cutoff of the filter, 0 without a filter.
    notes : tuple of str
        What was derived, left out or changed.

    Notes
    -----
    Immutable.
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray
    measured: np.ndarray
    rate: float
    cutoff: float
    notes: tuple[str, ...] = ()

    def __post_init__(self):
        self.__setstate__(dict(self.__dict__))

    @classmethod
    def of(
        cls,
        model: Model,
        t,
        q,
        tau,
        v=None,
        a=None,
        cutoff: float | None = None,
        decimate: int | None = None,
    ) -> Measurements:
        """Return the measurements of arrays, filtered, differentiated and decimated.

        Parameters
        ----------
        model : Model
        t : array_like, shape (N,), or float
            Ascending times or the step between samples, s.
        q : array_like, shape (N, nq)
            rad and m; a continuous joint may have its angle instead of cosine and sine.
        tau : array_like, shape (N, nv)
            N m and N; NaN in the whole column of a freedom that was not measured.
        v, a : array_like, shape (N, nv), optional
            By default central differences of the filtered positions and velocities.
        cutoff : float, optional
            Cutoff of a Butterworth filter of order 4 that runs forwards and backwards over q, v, a and tau,
            Hz; 0 leaves them as they are. By default the lower one of 50 Hz and a tenth of the sampling
            rate.
        decimate : int, optional
            Keep every ``decimate``-th sample. By default as many as leave four samples for a period of the
            cutoff.

        Raises
        ------
        ShapeError, DtypeError, NonFiniteError, TreefactorError
            If the arrays do not fit together, times do not ascend or have a gap, or samples are too few.

        Notes
        -----
        Times with steps that differ by more than 1 % are made even by linear interpolation. Two periods of
        the cutoff are left out at each end, where a filter lacks samples. The same filter for positions and
        torques is essential: filters that differ shift one against the other.

        Examples
        --------
        >>> import numpy as np, treefactor as tf
        >>> from treefactor.identification import Measurements
        >>> model = tf.Model([tf.Joint("hinge", "revolute", axis=[0, 0, 1])])
        >>> t = np.arange(1000) / 500
        >>> motion = Measurements.of(model, t, np.sin(t)[:, None], np.zeros((1000, 1)), cutoff=20)
        >>> bool(np.abs(motion.v[:, 0] - np.cos(motion.t)).max() < 1e-3)
        True
        """
        require_model(model)
        arrays = {"t": t, "q": q, "tau": tau, "v": v, "a": a}
        arrays = {kind: as_real(array, kind) for kind, array in arrays.items() if array is not None}
        return _prepared(model, Recording(arrays), None, cutoff, decimate)

    def held_out(self, share: float = 0.3, seconds: float = 0.5) -> np.ndarray:
        """Return which samples to hold out of a fit: blocks in turns, so that both see all of the motion.

        Parameters
        ----------
        share : float
            Share of the blocks to hold out, from 0 up to but not including 1.
        seconds : float
            Length of a block.

        Returns
        -------
        ndarray of bool, shape (N,)
        """
        share, seconds = as_number(share, "share"), as_number(seconds, "seconds")
        if not 0 <= share < 1:
            raise ValueError(f"share must be from 0 up to but not including 1, got {share}")
        if not seconds > 0:
            raise ValueError(f"seconds must be positive, got {seconds}")
        block = np.floor((self.t - self.t[0]) / seconds + 1e-9)
        return np.floor((block + 1) * share + 1e-9) > np.floor(block * share + 1e-9)


def read_measurements(
    path, model: Model, cutoff: float | None = None, decimate: int | None = None, rate: float | None = None
) -> Measurements:
    """Read positions and torques of a robot's joints from a file, filter and differentiate them.

    Parameters
    ----------
    path : path-like
        A text with a header, or an .npz file: see Notes.
    model : Model
    cutoff, decimate
        As for `Measurements.of`.
    rate : float, optional
        Sampling rate, Hz, of files without times.

    Returns
    -------
    Measurements

    Raises
    ------
    TreefactorError
        If the file cannot be read or has other columns; names file, line and column. Also as for
        `Measurements.of`.

    Notes
    -----
    Texts have one header line, then one line for every sample, with cells between commas, semicolons,
    tabulators or spaces. Columns are called by what they hold and by their joint, or are numbered:
    ``t, q_elbow, v_elbow, tau_elbow`` or ``t, q0, q1, v0, v1, tau0, tau1``. Velocities (``v``) and
    accelerations (``a``) may be missing. Joints with several freedoms have ``q_base[0]``, ``q_base[1]`` ...;
    for q also quaternions. Other columns are left out.

    An .npz file holds arrays t (N,), or the step ts, q, v and tau in the order of the model.

    Units are s, rad, N m, for prismatic joints m and N; another unit in brackets after a name is an error.
    """
    require_model(model)
    recording = read_recording(path, model)
    if "t" not in recording.arrays:
        if rate is None:
            raise TreefactorError(f"{path}: it has no times t: give the sampling rate, Hz")
        recording.arrays["t"] = np.array(1.0 / _positive(rate, "rate"))
    try:
        return _prepared(model, recording, path, cutoff, decimate)
    except ShapeError as error:
        raise TreefactorError(f"{path}: {error}") from None


def filtered(values, rate: float, cutoff: float) -> np.ndarray:
    """Return signals without frequencies above the cutoff, and without delay.

    Parameters
    ----------
    values : array_like, shape (N, ...)
    rate, cutoff : float
        Hz; the cutoff is below half of the sampling rate.

    Returns
    -------
    ndarray, shape (N, ...)

    Notes
    -----
    Butterworth filter of order 4, run forwards and backwards: together of order 8, with half of the power at
    0.9 of the cutoff.
    """
    from scipy.signal import butter, sosfiltfilt

    if not 0 < cutoff < rate / 2:
        raise ValueError(
            f"cutoff must lie between 0 and half of the sampling rate, {rate / 2:g}, got {cutoff}"
        )
    values = as_real(values, "values")
    sections = butter(ORDER, cutoff, fs=rate, output="sos")
    least = 3 * (2 * len(sections) + 1)
    if len(values) <= least:
        raise ShapeError(f"expected more than {least} samples to filter, got {len(values)}")
    padding = min(len(values) - 1, max(least, round(PADDING * rate / cutoff)))  # at both ends
    return sosfiltfilt(sections, values, axis=0, padlen=padding)


def differentiate(model: Model, q, step: float) -> np.ndarray:
    """Return velocities by central differences of configurations; at the ends by one-sided ones.

    Parameters
    ----------
    model : Model
    q : array_like, shape (N, nq)
    step : float
        Time between samples, s.

    Returns
    -------
    ndarray, shape (N, nv)
        Tangents, as `treefactor.integrate` reads them.
    """
    q = as_real(q, "q")
    before, after = np.r_[0, : len(q) - 1], np.r_[1 : len(q), len(q) - 1]
    apart = np.full((len(q), 1), 2 * step)
    apart[[0, -1]] = step
    return difference(model, q[before], q[after]) / apart


def _prepared(model: Model, recording: Recording, path, cutoff, decimate) -> Measurements:
    """Return measurements of raw arrays; errors name the file."""
    place = "" if path is None else f"{path}: "
    notes = list(recording.notes)
    arrays = _checked(model, recording, place)
    step, even = _even(arrays, recording, place)
    if even:
        notes.append(even)
    rate = 1 / step
    cutoff = min(CUTOFF[0], CUTOFF[1] * rate) if cutoff is None else as_number(cutoff, "cutoff")
    if not 0 <= cutoff < rate / 2:
        raise TreefactorError(
            f"{place}the cutoff must lie below half of the sampling rate, {rate / 2:g} Hz, got {cutoff:g} Hz"
        )
    if cutoff:
        arrays |= {kind: filtered(arrays[kind], rate, cutoff) for kind in arrays.keys() - {"t", "measured"}}
    q = configurations(model, arrays["q"])
    for kind in ("v", "a"):
        if kind not in arrays:
            differences = (
                differentiate(model, q, step) if kind == "v" else np.gradient(arrays["v"], step, axis=0)
            )
            arrays[kind] = differences
            notes.append(f"{kind} is derived by central differences")
    edge = round(EDGE * rate / cutoff) if cutoff else 1
    every = as_count(decimate, "decimate", 1) if decimate is not None else _decimation(rate, cutoff)
    kept = slice(edge, len(q) - edge, every)
    if len(q[kept]) < 2:
        raise TreefactorError(f"{place}{len(q)} samples are too few for a cutoff of {cutoff:g} Hz")
    if missing := [name for name, ok in zip(model.tree.names, arrays["measured"], strict=True) if not ok]:
        notes.append(f"no torques of {', '.join(missing)}: their rows are left out")
    t, v, a, tau = (arrays[kind][kept].copy() for kind in ("t", "v", "a", "tau"))
    return Measurements(t, q[kept].copy(), v, a, tau, arrays["measured"], rate, cutoff, tuple(notes))


def _decimation(rate: float, cutoff: float) -> int:
    """Return the default distance of the samples that are kept."""
    return max(1, int(rate / (KEPT_RATE * cutoff) + 1e-9)) if cutoff else 1


def _checked(model: Model, recording: Recording, place: str) -> dict[str, np.ndarray]:
    """Return the arrays with q as coordinates; raise unless their shapes fit and all values are finite."""
    arrays = dict(recording.arrays)
    count = len(np.atleast_1d(arrays["q"]))
    coordinates = len(coordinate_names(model))
    if count < 2 <= arrays["q"].ndim:
        raise TreefactorError(f"{place}expected at least two samples, got {count}")
    if arrays["t"].ndim == 0:
        arrays["t"] = _positive(arrays["t"], "t") * np.arange(count)
    for kind, array in arrays.items():
        widths = {"t": (), "q": (coordinates, model.nq)}.get(kind, (model.nv,))
        if array.shape != (count, *widths[:1]) and array.shape != (count, *widths[-1:]):
            shape = (count, *widths[-1:])
            raise ShapeError(f"{kind} must have shape {shape}, got {array.shape}", array.shape, shape)
    missing = np.isnan(arrays["tau"]).all(axis=0)
    arrays["tau"] = np.where(missing, 0.0, arrays["tau"])
    for kind, array in arrays.items():
        faults = np.argwhere(~np.isfinite(array.reshape(count, -1)))
        if len(faults):
            sample, column = faults[0]
            raise TreefactorError(f"{place}{recording.where(sample)}, entry {column} of {kind} is not finite")
    if odd := odd_rotation(model, arrays["q"]):
        raise TreefactorError(
            f"{place}{recording.where(odd[0])}: the rotation of joint {odd[1]!r} in q must have length 1"
        )
    if arrays["q"].shape[1] == model.nq:
        arrays["q"] = coordinates_of(model, arrays["q"])
    arrays["q"] = unwrapped(model, arrays["q"])
    return arrays | {"measured": ~missing}


def _even(arrays: dict[str, np.ndarray], recording: Recording, place: str) -> tuple[float, str]:
    """Make the steps of time even in place where they are not; return the step and a note about it."""
    t = arrays["t"]
    steps = np.diff(t)
    if (steps <= 0).any():
        raise TreefactorError(
            f"{place}{recording.where(int(np.argmax(steps <= 0)) + 1)}: the time does not ascend"
        )
    step = float(np.median(steps))
    worst = int(np.argmax(steps))
    if steps[worst] > GAP * step:
        raise TreefactorError(
            f"{place}{recording.where(worst + 1)}: a gap of {steps[worst]:.3g} s between samples, usually "
            f"{step:.3g} s: split the file there"
        )
    if np.abs(steps / step - 1).max() <= JITTER:
        return float((t[-1] - t[0]) / (len(t) - 1)), ""
    even = t[0] + step * np.arange(int((t[-1] - t[0]) / step) + 1)
    for kind in arrays.keys() - {"t", "measured"}:
        arrays[kind] = np.column_stack([np.interp(even, t, column) for column in arrays[kind].T])
    arrays["t"] = even
    return step, "uneven times: interpolated linearly to even ones"


def _positive(value, name: str) -> float:
    """Return a positive number."""
    value = as_number(value, name)
    if not value > 0:
        raise ValueError(f"{name} must be positive, got {value}")
    return value
