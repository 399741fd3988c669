"""Hold what measurements determine: values, standard deviations and what they leave open."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .._util.messages import similar
from .._util.validation import ReadOnly
from ..model.model import Model
from ._combinations import combination
from ._sample_rows import SampleRows

FELT = 1e-9  # share of a row, columns scaled, along a direction of null that makes its torque unknown


def _value_of(name: str, names: tuple[str, ...], values: np.ndarray) -> float:
    """Return the value of a name, or raise ValueError."""
    if name not in names:
        raise ValueError(f"{name!r} is not one of the parameters{similar(name, names)}")
    return float(values[names.index(name)])


@dataclass(frozen=True, eq=False)
class Residuals(ReadOnly):
    """Measured minus predicted torques of many samples.

    Attributes
    ----------
    residuals : ndarray, shape (nv,)
        Root mean square, N m or N; NaN for freedoms without rows.
    torques : ndarray, shape (nv,)
        Root mean square of the measured torques, less those of known parameters.
    relative : float
        Norm of all residuals over the norm of all torques.

    Notes
    -----
    Immutable.
    """

    residuals: np.ndarray
    torques: np.ndarray
    relative: float

    def __post_init__(self):
        self.__setstate__(dict(self.__dict__))


@dataclass(frozen=True, eq=False)
class Estimate(ReadOnly):
    """Values of the base parameters and of the other columns; made by `treefactor.Identification.solve`.

    Attributes
    ----------
    names : tuple of str, length p
    values : ndarray, shape (p,)
        In kg, kg m, kg m^2, N m s/rad, N m, ...; NaN where the samples do not determine them.
    standard_deviations : ndarray, shape (p,)
        From the weighted residual, for errors of the torques that are independent from row to row. Samples
        that follow each other closely have errors that are not, and real deviations are then larger. NaN
        where not determined, and where there are no more rows than parameters.
    rank : int
        Number of independent columns; p if everything is determined.
    cond : float
        Condition number of the independent columns, each scaled to unit norm.
    not_excited : tuple of str
        Names of the parameters without a value.
    null : ndarray, shape (p - rank, p)
        Changes of the parameters that change no torque of the samples.
    unfelt : tuple of str, length p - rank
        The rows of `null` as text, such as "offset of lift - 0.101937 m of lift".
    residuals : Residuals
        Of the samples of the estimate.
    rows : ndarray of int, shape (nv,)
        Number of rows used.
    weights : ndarray, shape (nv,)
        By which the rows were multiplied.

    Notes
    -----
    Immutable.
    """

    names: tuple[str, ...]
    values: np.ndarray
    standard_deviations: np.ndarray
    rank: int
    cond: float
    null: np.ndarray
    residuals: Residuals
    rows: np.ndarray
    weights: np.ndarray
    solution: np.ndarray = field(repr=False)  # a minimizer without NaN, and how its columns are scaled
    scale: np.ndarray = field(repr=False)
    _rows: SampleRows = field(repr=False)

    def __post_init__(self):
        self.__setstate__(dict(self.__dict__))

    def __repr__(self) -> str:
        share = f"residual {self.residuals.relative:.2%}"
        return f"<Estimate: {self.rank} of {len(self.names)} parameters determined, {share}>"

    @property
    def not_excited(self) -> tuple[str, ...]:
        """Return the names of the parameters without a value."""
        return tuple(name for name, value in zip(self.names, self.values, strict=True) if np.isnan(value))

    @property
    def unfelt(self) -> tuple[str, ...]:
        """Return the changes of parameters that change no torque of the samples, as text."""
        names = [f"({name})" if " + " in name or " - " in name else name for name in self.names]
        last = [int(np.flatnonzero(row == 1.0)[-1]) for row in self.null]
        return tuple(combination(row, names, k) for row, k in zip(self.null, last, strict=True))

    def predict(self, q, v, a, extra=None) -> np.ndarray:
        """Return the torques of motions at the estimated values.

        Parameters
        ----------
        q : array_like, shape (nq,) or (N, nq)
        v, a : array_like, shape (nv,) or (N, nv)
        extra : array_like, shape (N, nv, count), optional
            Entries of the extra columns: see `treefactor.Identification.add`.

        Returns
        -------
        ndarray, shape (nv,) or (N, nv)
            N m or N; NaN where a torque depends on what the samples did not determine.
        """
        given = {"q": q, "v": v, "a": a}
        arrays, further = self._rows.validated(given, extra)
        tau = np.empty_like(arrays[1])
        for part in self._rows.chunks(len(tau)):
            chunk = [array[part] for array in arrays]
            Y = self._rows.matrix(*chunk, further[part])
            tau[part] = np.where(self.leaves_open(Y), np.nan, Y @ self.solution) + self._rows.known(*chunk)
        return tau[0] if np.ndim(q) == 1 else tau

    def leaves_open(self, rows: np.ndarray) -> np.ndarray:
        """Return for which rows (..., p) the samples do not determine the torque."""
        if not len(self.null):
            return np.zeros(rows.shape[:-1], dtype=bool)
        directions = self.null * self.scale
        directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
        scaled = rows / self.scale
        return np.abs(scaled @ directions.T).max(axis=-1) > FELT * np.linalg.norm(scaled, axis=-1)

    def value_of(self, name: str) -> float:
        """Return the value of one parameter by its name, one of ``names``; ValueError for another one."""
        return _value_of(name, self.names, self.values)

    def report(self) -> str:
        """Return a table of values, standard deviations and residuals as text."""
        lines = [f"{'value':>12}  {'std. dev.':>10}  parameter"]
        for name, value, deviation in zip(self.names, self.values, self.standard_deviations, strict=True):
            text = "not excited" if np.isnan(value) else f"{value:.5g}"
            lines.append(f"{text:>12}  {deviation:10.2g}  {name}")
        lines += [
            "",
            f"rank {self.rank} of {len(self.names)}, condition of the scaled columns {self.cond:.3g}",
        ]
        lines += [f"no torque of the samples depends on {change}" for change in self.unfelt]
        lines += ["", "root mean square of residual and torque:"]
        residuals = self.residuals
        for name, residual, torque, rows in zip(
            self._rows.model.tree.names, residuals.residuals, residuals.torques, self.rows, strict=True
        ):
            share = f" ({residual / torque:.1%})" if torque > 0 else ""
            lines.append(f"  {name}: {residual:.4g} of {torque:.4g}{share}, {rows} rows")
        lines.append(f"  all: {residuals.relative:.2%} of the norm of the torques")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class PhysicalEstimate(ReadOnly):
    """Parameters of bodies that can exist; made by `treefactor.Identification.physical`.

    Attributes
    ----------
    model : Model
        The robot with these inertias and armatures.
    names : tuple of str
        As of `Identification`.
    values : ndarray
        Base parameters of the model, then friction and the others.
    residuals : Residuals
        Of the samples of the estimate.
    parameters : ndarray, shape (njoints, 10)
        Of all bodies.
    divergences : ndarray, shape (njoints,)
        How far every body is from the prior: see `PhysicalFit`.
    iterations : int
    converged : bool

    Notes
    -----
    Immutable.
    """

    model: Model
    names: tuple[str, ...]
    values: np.ndarray
    residuals: Residuals
    parameters: np.ndarray
    divergences: np.ndarray
    iterations: int
    converged: bool

    def __post_init__(self):
        self.__setstate__(dict(self.__dict__))

    def __repr__(self) -> str:
        share = f"residual {self.residuals.relative:.2%}"
        return f"<PhysicalEstimate of {self.model.name!r}: {len(self.names)} parameters, {share}>"

    def value_of(self, name: str) -> float:
        """Return the value of one parameter by its name, one of ``names``; ValueError for another one."""
        return _value_of(name, self.names, self.values)
