"""Differentiate a time step at fixed statuses of its rows: momenta, contacts, and steps of the joints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .. import mlcp, so3
from ..kinematics.jacobians import BodyMotions
from ..mlcp.sensitivities import negligible
from ..model.gravity import without_gravity
from ..model.model import Model
from ..quantities.functions import bias, rnea_derivatives
from ._constrained_dynamics import prepared_rows
from ._contact_derivatives import to_v, touching
from ._frame_derivatives import freedoms_of, unit_motions
from ._shape_derivatives import touching_shapes

NOISE = (
    1e-12  # relative to D / h; smaller changes of rows are rounding errors, which may contradict each other
)
TURNING = {"planar": [0, 1, 5], "freeflyer": [0, 1, 2, 3, 4, 5]}  # entries of linear and angular velocity


def skew(x: np.ndarray) -> np.ndarray:
    """Return the matrix of x × y."""
    return np.cross(x, np.eye(3), axisb=0, axisc=0)


def rate_derivatives(model: Model, v: np.ndarray) -> np.ndarray:
    """Return the derivatives (nv, nv) of ω × (v + ω × com) of free-flying and planar joints by v."""
    by_v = np.zeros((model.nv, model.nv))
    for at, kept, linear, angular, com in _turning(model, v):
        block = np.zeros((6, 6))
        lever = skew(com)
        block[:3, :3] = skew(angular)
        block[:3, 3:] = -skew(linear + np.cross(angular, com)) - skew(angular) @ lever
        by_v[at, at] = block[np.ix_(kept, kept)]
    return by_v


def integration_derivatives(
    model: Model, v: np.ndarray, h: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return derivatives (nv, nv) of q after h by q and v, and of v after h by v, of `advanced`.

    With E = exp(h ω) and y = v + ω × com, which keeps its direction in the base: p' = p + R com + h R y -
    R E com and v' = Eᵀ y - ω × com.
    """
    by_q, by_v, own = np.eye(model.nv), h * np.eye(model.nv), np.eye(model.nv)
    for joint, k in zip(model.joints, model.idx_v, strict=True):
        if joint.kind == "spherical" and not joint.mimic:
            at, turn = slice(k, k + 3), h * v[k : k + 3]
            by_q[at, at], by_v[at, at] = so3.exp(-turn), h * so3.jexp(turn)
    for at, kept, linear, angular, com in _turning(model, v):
        back, turned = so3.exp(-h * angular), h * so3.jexp(h * angular)
        y, lever, pair = linear + np.cross(angular, com), skew(com), np.ix_(kept, kept)
        ahead = np.eye(6)
        ahead[:3, :3] = ahead[3:, 3:] = back
        ahead[:3, 3:] = -back @ skew(com + h * y) + lever @ back
        by_q[at, at] = ahead[pair]
        step = np.zeros((6, 6))
        step[:3, :3], step[3:, 3:] = h * back, turned
        step[:3, 3:] = -h * back @ lever + lever @ turned
        by_v[at, at] = step[pair]
        after = np.eye(6)
        after[:3, :3] = back
        after[:3, 3:] = -back @ lever + skew(back @ y) @ turned + lever
        own[at, at] = after[pair]
    return by_q, by_v, own


def _turning(model: Model, v: np.ndarray):
    """Yield columns, entries, velocities and centres of mass of free-flying and planar joints."""
    for joint, k in zip(model.joints, model.idx_v, strict=True):
        kept = TURNING.get(joint.kind)
        if kept is None or joint.mimic:
            continue
        at = slice(k, k + len(kept))
        motion = np.zeros(6)
        motion[kept] = v[at]
        com = np.array(joint.inertia.com)
        if joint.kind == "planar":
            com[2] = 0.0
        yield at, kept, motion[:3], motion[3:], com


class StepDerivatives(NamedTuple):
    """Derivatives of the state after a step by the state before and tau, all of shape (nv, nv).

    Attributes
    ----------
    status : mlcp.SensitivityStatus
        STRICT, or DEPENDENT where rows depend on each other, as those of a cone of friction that sticks: all
        derivatives exist, except NaN. DEGENERATE: rows neither act nor are open, and everything is NaN; or
        a gap is zero within rounding, so that the stabilization differs on both sides, and the columns by q
        that change this gap are NaN; or other features of two shapes begin to touch, or directions of
        friction jump, and derivatives by q are NaN. UNSUPPORTED: bodies spin too fast for the midpoint rule.
    dq_dq, dq_dv, dq_dtau : ndarray
        Of the configuration after the step, as velocities of `treefactor.integrate`.
    dv_dq, dv_dv, dv_dtau : ndarray
        Of the velocity after the step.
    """

    status: mlcp.SensitivityStatus
    dq_dq: np.ndarray
    dq_dv: np.ndarray
    dq_dtau: np.ndarray
    dv_dq: np.ndarray
    dv_dv: np.ndarray
    dv_dtau: np.ndarray


def momentum_derivatives(stepper, H, q, v, v_new):
    """Return the derivatives of g - H v_new by q, v and tau; None where the step has no midpoint rule."""
    model, h = stepper.model, stepper.h
    zeros, identity = np.zeros(model.nv), np.eye(model.nv)
    if not stepper._is_implicit:
        rates = stepper._integrator.velocity_rates(v)
        x = (v_new - v) / h - rates
        by_q, by_v, H = rnea_derivatives(model, q, v, x)
        return -h * by_q, H @ (identity + h * rate_derivatives(model, v)) - h * by_v, h * identity
    u = stepper._midpoint().midpoint(H, q, v, bias(model, q, v))
    if u is None:
        return None
    middle = 0.5 * (v + u)
    x = (u - v) / h - stepper._integrator.velocity_rates(middle)
    by_q, by_v, H = rnea_derivatives(model, q, middle, x)
    half = 0.5 * (by_v - H @ rate_derivatives(model, middle))
    u_q, u_v = np.hsplit(np.linalg.solve(half + H / h, np.concatenate([-by_q, H / h - half], axis=1)), 2)
    moved = rnea_derivatives(without_gravity(model), q, zeros, v_new - u)[0]
    return H @ u_q - moved, H @ u_v, h * identity


def step_derivatives(stepper, made, q: np.ndarray, v: np.ndarray) -> StepDerivatives:
    """Differentiate a step whose problem has been solved."""
    model, n = stepper.model, stepper.model.nv
    sensitivity = mlcp.sensitivity(made.solution)
    status, v_new = sensitivity.status, made.solution.v
    pushed = momentum_derivatives(stepper, made.H, q, v, v_new)
    if pushed is None:
        nothing = np.full((6, n, n), np.nan)
        return StepDerivatives(mlcp.SensitivityStatus.UNSUPPORTED, *nothing)
    at = BodyMotions(model, q, v_new)
    c, force = _bilateral_derivatives(stepper, at, v_new, made.solution, stepper.stabilization)
    d, push, kinked = _unilateral_derivatives(
        stepper, at, v_new, BodyMotions(model, q, v), v, made, sensitivity
    )
    pushed[0][...] += force + push
    given = (np.concatenate([x, np.zeros((len(x), 3 * n - x.shape[1]))], axis=1) for x in (c, d))
    dv = sensitivity.jvp(np.concatenate(pushed, axis=1), *given).v
    moved, dmoved = v_new, dv
    if made.removal is not None:
        du, of_removal, kinked_there = _removal_derivatives(stepper, made, q, at, dv)
        moved, dmoved, kinked = v_new + made.removal[1].v, dv + du, kinked or kinked_there
        status = max(status, of_removal, key=lambda one: one.value)
    q_q, q_v, _ = integration_derivatives(model, moved, stepper.h)
    after = [q_v @ part for part in np.hsplit(dmoved, 3)]
    after[0] += q_q
    v_v = integration_derivatives(model, v_new, stepper.h)[2]
    status = mlcp.SensitivityStatus.DEGENERATE if kinked else status
    return StepDerivatives(status, *after, *(v_v @ part for part in np.hsplit(dv, 3)))


def _bilateral_derivatives(
    stepper, at: BodyMotions, v: np.ndarray, solution, share: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return derivatives by q of c - C v, where c removes a share of errors, and of the forces of loops."""
    rows, n = prepared_rows(stepper._loops, ()), stepper.model.nv
    still = np.zeros(n)
    derivatives = rows.rows(at, v, still)
    by_q = -share / stepper.h * derivatives.J - derivatives.drate[:, :n]
    return by_q, rows.force_derivatives(at, v, still, solution.gamma_c)


def _unilateral_derivatives(
    stepper, at, v_new, before, v, made, sensitivity
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return derivatives by q and v of d - D v_new, by q of the forces of contacts, and whether some are NaN.

    Bodies move with v_new in the state `at`, and with v in the state `before`.
    """
    rows, touch, contacts, count = made.rows, made.touch, stepper._contacts, len(made.rows.of)
    K = 0.0 if stepper.correction == "split" else stepper.stabilization
    share = np.where(rows.gap > 0.0, 1.0, K)[:, None] / stepper.h
    gaps, moved, push = _row_derivatives(stepper, touch, rows, made.solution, sensitivity, at, v_new)
    rebounds = rows.d > -share[:, 0] * rows.gap  # Newton: d = -e n . v
    e = contacts.restitution[touch.which][rows.of, None]
    by_v, by_q = np.zeros_like(gaps), np.zeros_like(gaps)
    by_v[:count] = np.where(rebounds[:count, None], -e * _normals(stepper, touch)[rows.of], 0.0)
    if rebounds.any():
        along = np.broadcast_to([1.0, 0.0, 0.0], (count, 3))
        by_q[:count] = -e * _moved(stepper, touch, rows.of, along, sensitivity, before, v)
    by_q = np.where(rebounds[:, None], by_q, -share * gaps) - moved
    kink = np.zeros_like(gaps, dtype=bool)
    if K < 1.0:
        kink = _at_zero(stepper, rows, made.solution, sensitivity, gaps) & ~rebounds[:, None]
    _clean(stepper, by_q, kink, rows)
    return np.concatenate([by_q, by_v], axis=1), push, bool(kink.any() or np.isnan(push).any())


def _removal_derivatives(
    stepper, made, q: np.ndarray, at: BodyMotions, dv: np.ndarray
) -> tuple[np.ndarray, mlcp.SensitivityStatus, bool]:
    """Return derivatives (nv, 3 nv) of the motion that removes overlaps, their status, whether some are NaN.

    Those of v_new, with which bodies move in the state `at`, are dv. Rows of gaps that are open may close by
    what v_new leaves of them.
    """
    (rows, solution), model, h = made.removal, stepper.model, stepper.h
    n, u, sensitivity = model.nv, solution.v, mlcp.sensitivity(solution)
    moving = BodyMotions(model, q, u)
    c, force = _bilateral_derivatives(stepper, moving, u, solution, 0.0)
    gaps, moved, push = _row_derivatives(stepper, made.touch, rows, solution, sensitivity, moving, u)
    count, is_open = len(rows.of), rows.gap >= 0.0
    left = np.zeros_like(gaps)
    left[:count] = _moved(stepper, made.touch, rows.of, rows.along, sensitivity, at, made.solution.v)
    share = np.where(is_open, 1.0, stepper.stabilization)[:, None] / h
    by_q = -share * gaps - moved - np.where(is_open[:, None], left, 0.0)
    kink = _at_zero(stepper, rows, solution, sensitivity, gaps)
    _clean(stepper, by_q, kink, rows)
    turned = rnea_derivatives(without_gravity(model), q, np.zeros(n), u)[0]
    changes = [
        np.concatenate([x, np.zeros((len(x), 2 * n))], axis=1) for x in (push + force - turned, c, by_q)
    ]
    changes[2][is_open] -= solution.problem.D.toarray()[is_open] @ dv
    status = sensitivity.status
    return sensitivity.jvp(*changes).v, status, bool(kink.any() or np.isnan(push).any())


def _row_derivatives(
    stepper, touch, rows, solution, sensitivity, at: BodyMotions, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return derivatives by q of gaps, of D v at a constant v, and of the forces of contacts.

    Bodies move with v in the state `at`. Rows of contacts that do not act have those of their gaps only.
    """
    model, count, n = stepper.model, len(rows.of), stepper.model.nv
    gaps, moved, push = np.zeros((len(rows.gap), n)), np.zeros((len(rows.gap), n)), np.zeros((n, n))
    _, k, sign, _ = stepper._limits
    gaps[count + np.arange(len(k)), k] = sign
    gaps[:count] = rows.along[:, :1] * _normals(stepper, touch)[rows.of]
    half = freedoms_of(model).path.shape[1]
    for some, points, of in _acting(touch, rows.of, sensitivity):
        geometry, gap = _geometry(stepper._contacts, touch, points, at, v)
        if gap is not None:
            gaps[some] = rows.along[some, :1] * to_v(at, gap.derivative[:, 0, :half])[of]
        moved[some] = to_v(at, geometry.rates(of, rows.along[some])[:, :half])
        forces = np.zeros((len(points), 3))
        np.add.at(forces, of, rows.along[some] * solution.gamma[some, None])
        push += geometry.force_derivatives(model, forces)
    return gaps, moved, push


def _moved(stepper, touch, rows_of, along, sensitivity, at: BodyMotions, v: np.ndarray) -> np.ndarray:
    """Return derivatives by q of the velocities along directions at contacts, of rows that act."""
    moved, half = np.zeros((len(rows_of), len(v))), freedoms_of(stepper.model).path.shape[1]
    for some, points, of in _acting(touch, rows_of, sensitivity):
        geometry, _ = _geometry(stepper._contacts, touch, points, at, v)
        moved[some] = to_v(at, geometry.rates(of, along[some])[:, :half])
    return moved


def _acting(touch, rows_of: np.ndarray, sensitivity) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield rows that act, their contacts, and which of these each row belongs to: spheres, then shapes."""
    acting = np.flatnonzero((sensitivity.held | sensitivity.full)[: len(rows_of)])
    first = len(touch.which) - len(touch.places)
    for some in (acting[rows_of[acting] < first], acting[rows_of[acting] >= first]):
        if len(some):
            yield some, *np.unique(rows_of[some], return_inverse=True)


def _normals(stepper, touch) -> np.ndarray:
    """Return the rows of the normals of near contacts, shape (contacts, nv)."""
    normals = np.zeros((len(touch.which), stepper.model.nv))
    normals[np.repeat(np.arange(len(touch.which)), np.diff(touch.start)), touch.column] = touch.data[0]
    return normals


def _at_zero(stepper, rows, solution, sensitivity, gaps: np.ndarray) -> np.ndarray:
    """Return which derivatives by q change gaps that are zero within rounding, of rows that hold."""
    at_zero = sensitivity.held & negligible(solution, rows.gap / stepper.h)
    return at_zero[:, None] & (gaps != 0.0)


def _clean(stepper, by_q: np.ndarray, kink: np.ndarray, rows) -> None:
    """Write NaN where there is a kink, and 0 for rounding errors."""
    by_q[kink] = np.nan
    by_q[np.abs(by_q) <= NOISE / stepper.h * np.abs(rows.D[2]).max(initial=0.0)] = 0.0


def _geometry(contacts, touch, points: np.ndarray, at: BodyMotions, v: np.ndarray):
    """Return the geometry of near contacts while bodies move with v, and the gaps of points of shapes."""
    units, first = unit_motions(at, v, np.zeros(len(v))), len(touch.which) - len(touch.places)
    if points[0] >= first:
        return touching_shapes(at, units, contacts, touch, points - first)
    return touching(at, units, contacts.structs[contacts.owner[touch.which[points]]]), None
