"""Fit a robot's parameters to a part of its measurements, and predict the torques of the other part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._util.validation import ReadOnly
from ..dynamics import rnea
from ..exceptions import TreefactorError
from ..model.model import Model, require_model
from ._fit_notes import at_values, failures_of, late_torques, opposite_signs, rows_left_out
from .columns import KINDS
from .estimate import Estimate
from .identification import Identification
from .measurements import Measurements
from .parameter_bases import BaseParameters
from .samples import slow_rows

ALL = "all joints"
UNITS = {"m": "kg", "h": "kg m", "I": "kg m²", "armature": "kg m²"} | {
    "viscous friction": "N m s",
    "dry friction": "N m",
    "offset": "N m",
}
LINEAR_UNITS = {"armature": "kg", "viscous friction": "N s/m", "dry friction": "N", "offset": "N"}


@dataclass(frozen=True)
class FittedParameter:
    """Parameter beside its value in the robot's description.

    Attributes
    ----------
    name, unit : str
    value, standard_deviation : float
        Least-squares estimate and its standard deviation; NaN where the motion does not excite it.
    bodies : float
        Of the fitted bodies that can exist; NaN without these.
    before : float
        Of the model; NaN for friction and offsets, which a model does not have.

    Notes
    -----
    Immutable.
    """

    name: str
    unit: str
    value: float
    standard_deviation: float
    bodies: float
    before: float


@dataclass(frozen=True)
class JointResidual:
    """Norms of a freedom's residuals as shares of the norm of its torques; NaN without rows.

    Attributes
    ----------
    name : str
    torque : float
        Root mean square of the measured torques, N m or N.
    before : float
        Of all samples, with the inertias of the model, and the other columns fitted.
    fit, held_out : float
        Least-squares estimate: of the samples of the fit, and of those held out.
    bodies : float
        Of those held out, with the fitted bodies that can exist.

    Notes
    -----
    Immutable.
    """

    name: str
    torque: float
    before: float
    fit: float
    held_out: float
    bodies: float


@dataclass(frozen=True, eq=False)
class MeasuredFit(ReadOnly):
    """Parameters fitted to a part of the measurements, and how well they predict the other part.

    Attributes
    ----------
    estimate : Estimate
        Least-squares estimate of the base parameters and of friction.
    model : Model or None
        With the fitted bodies that can exist, if they were requested.
    parameters : tuple of FittedParameter
    joints : tuple of JointResidual
        One for every freedom, then one for all torques together.
    t : ndarray, shape (N,)
    measured, predicted : ndarray, shape (N, nv)
        Torques of all samples, N m or N; predicted by the bodies if they were requested.
    used, held : ndarray of bool, shapes (N, nv) and (N,)
        Rows that count, and samples that were held out of the fit.
    notes : tuple of str
        What was derived, left out or changed.
    failures : tuple of str
        What keeps the result from being used as it is.

    Notes
    -----
    Immutable.
    """

    estimate: Estimate
    model: Model | None
    parameters: tuple[FittedParameter, ...]
    joints: tuple[JointResidual, ...]
    t: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray
    used: np.ndarray
    held: np.ndarray
    notes: tuple[str, ...]
    failures: tuple[str, ...]

    def __post_init__(self):
        self.__setstate__(dict(self.__dict__))


def fit_measurements(
    model: Model,
    measurements: Measurements,
    columns: Sequence[str] = KINDS,
    hold_out: float = 0.3,
    block: float = 0.5,
    slow_share: float = 0.01,
    physical: bool = False,
    base: BaseParameters | None = None,
) -> MeasuredFit:
    """Fit parameters to blocks of a motion in turns, and predict the torques of the blocks between them.

    Parameters
    ----------
    model : Model
        The robot before the measurement: prior of the bodies that can exist.
    measurements : Measurements
    columns : sequence of str
        What to estimate: see `treefactor.Identification`.
    hold_out, block : float
        Share of the blocks to hold out, and their length in seconds.
    slow_share : float
        Rows of freedoms below this share of their largest speed are left out if dry friction is estimated:
        the sign of their velocity is noise.
    physical : bool
        Also fit bodies that can exist: physically consistent parameters, see `Identification.physical`.
    base : BaseParameters, optional
        See `treefactor.Identification`: ``base_parameters(model, snap=1e-5)`` for a URDF with rounded angles.

    Returns
    -------
    MeasuredFit

    Raises
    ------
    TreefactorError
        If no row is left.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> from treefactor.identification import Measurements, fit_measurements
    >>> arm = tf.Inertia(1.0, [0, 0, -0.5], np.diag([0.1, 0.1, 0.0]))
    >>> model = tf.Model([tf.Joint("shoulder", "revolute", axis=[0, 1, 0], inertia=arm)])
    >>> t = np.arange(5000) / 500
    >>> q = np.sin(2 * t + np.sin(t))[:, None]
    >>> motion = Measurements.of(model, t, q, np.zeros_like(q), cutoff=20)
    >>> tau = tf.rnea(model, motion.q, motion.v, motion.a) + 0.3 * motion.v
    >>> measured = Measurements.of(model, motion.t, motion.q, tau, motion.v, motion.a, cutoff=0)
    >>> fit = fit_measurements(model, measured, columns=("inertia", "viscous"))
    >>> bool(abs(fit.estimate.value_of("viscous friction of shoulder") - 0.3) < 1e-6)
    True
    """
    require_model(model)
    held = measurements.held_out(hold_out, block)
    used = np.broadcast_to(measurements.measured, measurements.tau.shape)
    if "dry" in columns:
        used = used & ~slow_rows(measurements.v, slow_share)
    fitted = used & ~held[:, None]
    if not fitted.any():
        raise TreefactorError("no torque is left to fit: hold out less, or leave out fewer slow rows")
    identification = _of(model, measurements, columns, fitted, base)
    estimate = identification.solve()
    motion = measurements.q, measurements.v, measurements.a
    predicted = estimate.predict(*motion)
    bodies = identification.physical(prior=model) if physical else None
    by_bodies = np.full_like(predicted, np.nan)
    if bodies is not None:
        by_bodies = at_values(estimate, bodies.values).predict(*motion)
    before = _before(model, measurements, columns, used)
    joints = _residuals(model, measurements.tau, used, held, before, predicted, by_bodies)
    notes = (
        *measurements.notes,
        *rows_left_out(measurements, used, held, predicted),
        *late_torques(measurements, identification, estimate, fitted, joints),
    )
    return MeasuredFit(
        estimate,
        None if bodies is None else bodies.model,
        _parameters(model, identification, estimate, bodies),
        joints,
        measurements.t,
        measurements.tau,
        predicted if bodies is None else by_bodies,
        used,
        held,
        notes,
        (
            *failures_of(estimate, joints, bodies),
            *opposite_signs(measurements.tau, rnea(model, *motion), used, joints),
        ),
    )


def _of(
    model: Model, measurements: Measurements, columns: Sequence[str], rows: np.ndarray, base=None
) -> Identification:
    """Return an identification with these rows."""
    identification = Identification(model, columns, base=base)
    identification.add(measurements.q, measurements.v, measurements.a, measurements.tau, mask=rows)
    return identification


def _before(model: Model, measurements: Measurements, columns: Sequence[str], rows: np.ndarray) -> np.ndarray:
    """Return the torques with the inertias of the model, and the other columns fitted to all rows."""
    others = [column for column in columns if column != "inertia"]
    motion = measurements.q, measurements.v, measurements.a
    if not others:
        return rnea(model, *motion)
    return _of(model, measurements, others, rows).solve().predict(*motion)


def _residuals(model, tau, used, held, before, predicted, by_bodies) -> tuple[JointResidual, ...]:
    """Return the residuals of every freedom and of all."""

    def share(torques: np.ndarray, rows: np.ndarray) -> float:
        rows = rows & np.isfinite(torques)
        norm = np.linalg.norm(tau[rows])
        return float(np.linalg.norm((tau - torques)[rows]) / norm) if norm else np.nan

    choices = [*np.eye(model.nv, dtype=bool), np.ones(model.nv, dtype=bool)]
    result = []
    for name, freedoms in zip((*model.tree.names, ALL), choices, strict=True):
        rows = used & freedoms
        fit, held_out = rows & ~held[:, None], rows & held[:, None]
        torque = float(np.sqrt(np.mean(tau[rows] ** 2))) if rows.any() else np.nan
        shares = (
            share(before, rows),
            share(predicted, fit),
            share(predicted, held_out),
            share(by_bodies, held_out),
        )
        result.append(JointResidual(name, torque, *shares))
    return tuple(result)


def _parameters(model: Model, identification, estimate: Estimate, bodies) -> tuple[FittedParameter, ...]:
    """Return the estimated parameters beside those of the model and of the bodies."""
    before, from_bodies = {}, {}
    if (base := identification.base) is not None:
        before = dict(zip(base.names, base.values(model).tolist(), strict=True))
    if bodies is not None:
        from_bodies = dict(zip(bodies.names, bodies.values.tolist(), strict=True))
    linear = _linear_freedoms(model)
    given = zip(estimate.names, estimate.values, estimate.standard_deviations, strict=True)
    return tuple(
        FittedParameter(
            *(name, _unit(name, linear), float(value), float(deviation)),
            *(from_bodies.get(name, np.nan), before.get(name, np.nan)),
        )
        for name, value, deviation in given
    )


def _linear_freedoms(model: Model) -> set[str]:
    """Return the names of the freedoms that move along a line."""
    counts = {"prismatic": 1, "translation": 3, "freeflyer": 3, "planar": 2}
    free = [joint for joint in model.joints if not joint.mimic]
    along = [k < counts.get(joint.kind, 0) for joint in free for k in range(joint.nv)]
    return {name for name, linear in zip(model.tree.names, along, strict=True) if linear}


def _unit(name: str, linear: set[str]) -> str:
    """Return the unit of a parameter, or of the first term of a sum."""
    kind, _, owner = name.partition(" of ")
    units = LINEAR_UNITS if owner in linear else UNITS
    return units.get(kind) or UNITS.get(kind[:1], "")
