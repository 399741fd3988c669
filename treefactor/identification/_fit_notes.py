"""Judge a fit of measurements: notes on delays and on rows left out, and what makes it fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .estimate import Estimate
from .identification import Identification
from .measurements import Measurements
from .samples import TorqueDelay, deviation_of_sum, least_ratio, torque_delay

LONGEST = 0.25  # s: longer differences in time are those of a motion that repeats itself
DELAYED = 0.25  # share of a residual that a difference in time explains, where it is noted
SUSPECTED = 2.0  # standard deviations of a delay that is fitted together with the parameters, as a test
UNEXPLAINED = 0.5  # residual of the fit above which the model does not describe the torques
OVERFITTED, NEGLIGIBLE = (
    2.0,
    0.01,
)  # held-out residuals above both, the first times that of the fit, have failed
OPPOSITE = -0.5  # correlation with the torques of the model below which a sign is wrong


def at_values(estimate: Estimate, values: np.ndarray) -> Estimate:
    """Return an estimate that predicts torques at other values, all of them known."""
    return replace(estimate, solution=values, null=np.zeros((0, len(values))))


def rows_left_out(measurements: Measurements, used, held, predicted) -> list[str]:
    """Return notes about rows that are left out."""
    rows = np.broadcast_to(measurements.measured, used.shape)
    notes = []
    if slow := int((rows & ~used).sum()):
        notes.append(f"{slow} of {int(rows.sum())} rows are left out: their joints hardly move")
    if not held.any():
        notes.append("nothing was held out: the residual of the fit does not show how well it predicts")
    if unknown := int((used & np.isnan(predicted)).sum()):
        notes.append(
            f"{unknown} torques cannot be predicted: they depend on parameters that the samples of the fit "
            "do not excite"
        )
    return notes


def late_torques(
    measurements: Measurements, identification: Identification, estimate: Estimate, rows, joints
) -> list[str]:
    """Return a note about torques that come later or earlier than predicted ones, beyond chance."""
    step = float(measurements.t[1] - measurements.t[0])
    predicted = at_values(estimate, estimate.solution).predict(measurements.q, measurements.v, measurements.a)
    delays = torque_delay(measurements.tau, predicted, step)
    slopes = np.sqrt(np.mean(np.diff(predicted, axis=0) ** 2, axis=0)) / step
    residuals = np.array([joint.fit * joint.torque for joint in joints[:-1]])
    noted = np.abs(delays.values) > SUSPECTED * delays.standard_deviations
    noted &= np.abs(delays.values) < LONGEST
    noted &= slopes * np.abs(delays.values) > DELAYED * residuals
    if noted.any():
        freedoms = np.flatnonzero(noted)
        beside = _delays_beside_parameters(measurements, identification, estimate, rows, freedoms)
        noted &= beside.significant & (beside.values * delays.values > 0.0)
    late = [
        f"{joints[k].name} {1000 * abs(delay):.3g} ± {1000 * deviation:.2g} ms "
        + ("later" if delay > 0 else "earlier")
        for k, (delay, deviation) in enumerate(zip(*delays, strict=True))
        if noted[k]
    ]
    return [f"torques come later or earlier than predicted ones: {', '.join(late)}"] if late else []


def _delays_beside_parameters(
    measurements: Measurements, identification: Identification, estimate: Estimate, rows, freedoms
) -> TorqueDelay:
    """Return the delays of some freedoms that are fitted together with all parameters, NaN of the others.

    Noise of the positions makes estimates of inertias too small, and a residual that looks like a delay of
    the predicted torques. Beside the parameters only the part of the slope of the torque counts that no
    change of parameters explains (Frisch and Waugh 1933, Partial time regressions).
    """
    motion = measurements.q, measurements.v, measurements.a
    step, weights = float(measurements.t[1] - measurements.t[0]), estimate.weights
    values = estimate.solution, np.zeros_like(estimate.solution)
    predicted, known = (at_values(estimate, x).predict(*motion) for x in values)
    rest = np.where(rows, measurements.tau - predicted, 0.0) * weights
    delays = TorqueDelay(*np.full((2, len(weights)), np.nan))
    for k in freedoms:
        slope = np.zeros_like(predicted)
        slope[:, k] = np.gradient(predicted[:, k], step)
        fit = Identification(identification.model, identification.columns, weights, base=identification.base)
        fit.add(*motion, known + slope, rows)
        explained = fit.solve()
        own = known + slope - at_values(explained, explained.solution).predict(*motion)
        own = np.where(rows, own, 0.0) * weights
        size = np.sum(own**2)
        delays.values[k] = -np.sum(own * rest) / size
        errors = (rest + delays.values[k] * own) * own
        delays.standard_deviations[k] = deviation_of_sum(errors.sum(axis=1)) / size
    return delays


def failures_of(estimate: Estimate, joints, bodies) -> list[str]:
    """Return the reasons why the result must not be used."""
    failures, whole = [], joints[-1]
    if not whole.torque > 0:
        failures.append("all measured torques are zero")
    if missing := estimate.not_excited:
        failures.append(f"the motion does not excite {len(missing)} parameters: {'; '.join(missing)}")
    if (worst := max(joints, key=lambda joint: np.nan_to_num(joint.fit))).fit > 1 or whole.fit > UNEXPLAINED:
        failures.append(
            f"the residual of the fit is {worst.fit:.0%} of the torques of {worst.name}: check signs, units, "
            "the order of the joints and the times of the measurements"
        )
    if whole.held_out > max(OVERFITTED * whole.fit, NEGLIGIBLE):
        failures.append(
            f"held-out torques are predicted with a residual of {whole.held_out:.1%}, those of the fit with "
            f"{whole.fit:.1%}: the parameters describe the samples of the fit only"
        )
    if bodies is not None and not bodies.converged:
        failures.append("the fit of bodies that can exist did not converge")
    return failures


def opposite_signs(tau: np.ndarray, expected: np.ndarray, used: np.ndarray, joints) -> list[str]:
    """Return a failure if torques have the opposite sign of those of the model: such fits can be good.

    Their correlation must be strong, and farther from 0 than chance explains.
    """
    opposite, least = [], least_ratio(tau.shape[1])
    for k, joint in enumerate(joints[:-1]):
        x, y = tau[used[:, k], k], expected[used[:, k], k]
        x, y = x - x.mean() if x.size else x, y - y.mean() if y.size else y
        size, expected_size = np.linalg.norm(x), np.linalg.norm(y)
        if expected_size > NEGLIGIBLE * size and x @ y < OPPOSITE * size * expected_size:
            rest = x - (x @ y) / (y @ y) * y
            if -(x @ y) > least * deviation_of_sum(rest * y):
                opposite.append(joint.name)
    if not opposite:
        return []
    return [
        f"torques of {', '.join(opposite)} have the opposite sign of those with the inertias of the model: "
        "check the signs of torques and positions"
    ]
