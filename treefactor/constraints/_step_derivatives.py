"""Differentiate a time step at fixed statuses of its rows: momenta, contacts, and steps of the joints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import mlcp, so3
from ..exceptions import InvalidModelError
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
        friction jump, and derivatives by q are NaN; or points act that the step added after a first solution,
        and everything is NaN. UNSUPPORTED: bodies spin too fast for the midpoint rule.
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


def _carried_points_act(contacts, made) -> bool:
    """Return whether points have impulses whose rows depend on a first solution."""
    touch, rows, acting = made.touch, made.rows, made.solution.gamma != 0.0
    if not len(made.carried):
        return False
    slots, pairs = touch.which - (len(contacts.mu) - touch.identities.size), made.carried["pair"]
    is_carried = np.zeros(touch.identities.shape, dtype=bool)
    for pair, identity in zip(pairs, made.carried["at"]["identity"], strict=True):
        is_carried[pair] |= touch.identities[pair] == identity
    near = np.where(slots >= 0, is_carried.ravel()[slots], False)
    return bool(near[rows.of[acting[: len(rows.of)]]].any())


def step_derivatives(stepper, made, q: np.ndarray, v: np.ndarray) -> StepDerivatives:
    """Differentiate a step whose problem has been solved."""
    model, n = stepper.model, stepper.model.nv
    if stepper.correction != "velocity":
        raise InvalidModelError("derivatives of a step need correction='velocity'")
    if _carried_points_act(stepper._contacts, made):
        return StepDerivatives(mlcp.SensitivityStatus.DEGENERATE, *np.full((6, n, n), np.nan))
    sensitivity = mlcp.sensitivity(made.solution)
    v_new = made.solution.v
    pushed = momentum_derivatives(stepper, made.H, q, v, v_new)
    if pushed is None:
        nothing = np.full((6, n, n), np.nan)
        return StepDerivatives(mlcp.SensitivityStatus.UNSUPPORTED, *nothing)
    at = BodyMotions(model, q, v_new)
    c, force = _bilateral_derivatives(stepper, at, v_new, made)
    d, push, kinked = _unilateral_derivatives(
        stepper, at, v_new, BodyMotions(model, q, v), v, made, sensitivity
    )
    pushed[0][...] += force + push
    given = (np.concatenate([x, np.zeros((len(x), 3 * n - x.shape[1]))], axis=1) for x in (c, d))
    dv = sensitivity.jvp(np.concatenate(pushed, axis=1), *given).v
    q_q, q_v, v_v = integration_derivatives(model, v_new, stepper.h)
    parts = np.hsplit(dv, 3)
    after = [q_v @ part for part in parts]
    after[0] += q_q
    status = mlcp.SensitivityStatus.DEGENERATE if kinked else sensitivity.status
    return StepDerivatives(status, *after, *(v_v @ part for part in parts))


def _bilateral_derivatives(
    stepper, at: BodyMotions, v_new: np.ndarray, made
) -> tuple[np.ndarray, np.ndarray]:
    """Return derivatives by q of c - C v_new, and of the forces of loops."""
    rows, n = prepared_rows(stepper._loops, ()), stepper.model.nv
    still = np.zeros(n)
    derivatives = rows.rows(at, v_new, still)
    derivative = -stepper.stabilization / stepper.h * derivatives.J - derivatives.drate[:, :n]
    return derivative, rows.force_derivatives(at, v_new, still, made.solution.gamma_c)


def _unilateral_derivatives(
    stepper, at, v_new, before, v, made, sensitivity
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return derivatives by q and v of d - D v_new, by q of the forces of contacts, and whether some are NaN.

    Bodies move with v_new in the state `at`, and with v in the state `before`.
    """
    model, rows, touch, contacts = stepper.model, made.rows, made.touch, stepper._contacts
    count, n, K = len(rows.of), stepper.model.nv, stepper.stabilization
    share = np.where(rows.gap > 0.0, 1.0, K)[:, None] / stepper.h
    gaps, moved, push = np.zeros((len(rows.gap), n)), np.zeros((len(rows.gap), n)), np.zeros((n, n))
    _, k, sign, _ = stepper._limits
    gaps[count + np.arange(len(k)), k] = sign
    near = np.repeat(np.arange(len(touch.which)), np.diff(touch.start))
    normals = np.zeros((len(touch.which), n))
    normals[near, touch.column] = touch.data[0]
    gaps[:count] = rows.along[:, :1] * normals[rows.of]
    rebounds = rows.d > -share[:, 0] * rows.gap  # Newton: d = -e n . v
    e = contacts.restitution[touch.which][rows.of, None]
    by_v, by_q = np.zeros_like(gaps), np.zeros_like(gaps)
    by_v[:count] = np.where(rebounds[:count, None], -e * normals[rows.of], 0.0)
    acting = np.flatnonzero((sensitivity.held | sensitivity.full)[:count])
    half, first = freedoms_of(model).path.shape[1], len(touch.which) - len(touch.places)
    for of_shapes in (False, True):
        some = acting[(rows.of[acting] >= first) == of_shapes]
        if not len(some):
            continue
        points, of = np.unique(rows.of[some], return_inverse=True)
        geometry, gap = _geometry(contacts, touch, points, at, v_new)
        if gap is not None:
            gaps[some] = rows.along[some, :1] * to_v(at, gap.derivative[:, 0, :half])[of]
        moved[some] = to_v(at, geometry.rates(of, rows.along[some])[:, :half])
        forces = np.zeros((len(points), 3))
        np.add.at(forces, of, rows.along[some] * made.solution.gamma[some, None])
        push += geometry.force_derivatives(model, forces)
        if rebounds[some].any():
            approach, _ = _geometry(contacts, touch, points, before, v)
            rates = approach.rates(of, np.broadcast_to([1.0, 0.0, 0.0], (len(some), 3)))
            by_q[some] = -e[some] * to_v(at, rates[:, :half])
    by_q = np.where(rebounds[:, None], by_q, -share * gaps) - moved
    kink = np.zeros_like(gaps, dtype=bool)
    if K < 1.0:
        at_zero = sensitivity.held & ~rebounds & negligible(made.solution, rows.gap / stepper.h)
        kink = at_zero[:, None] & (gaps != 0.0)
        by_q[kink] = np.nan
    by_q[np.abs(by_q) <= NOISE / stepper.h * np.abs(rows.D[2]).max(initial=0.0)] = 0.0
    return np.concatenate([by_q, by_v], axis=1), push, bool(kink.any() or np.isnan(push).any())


def _geometry(contacts, touch, points: np.ndarray, at: BodyMotions, v: np.ndarray):
    """Return the geometry of near contacts while bodies move with v, and the gaps of points of shapes."""
    units, first = unit_motions(at, v, np.zeros(len(v))), len(touch.which) - len(touch.places)
    if points[0] >= first:
        return touching_shapes(at, units, contacts, touch, points - first)
    return touching(at, units, contacts.structs[contacts.owner[touch.which[points]]]), None
