"""Compute neutral and random configurations, integrate velocities, and subtract configurations.

The configurations of a joint form a manifold: a circle for "continuous", rigid motions of the plane and of
space for "planar" and "freeflyer". `integrate` applies the exponential map and `difference` the logarithm, as
Pinocchio does.
"""

from __future__ import annotations

import numpy as np

from .._util import rotations
from .._util.validation import as_output, as_real, require_finite
from ..exceptions import ConfigurationError, ShapeError
from ..tolerances import UNIT_SQUARE
from .joints import ROTATIONS
from .model import Model, require_model

LENGTHS = {"prismatic": 1, "translation": 3, "planar": 2, "freeflyer": 3}  # leading entries of q in m


def neutral(model: Model) -> np.ndarray:
    """Return the configuration of zeros and identity rotations.

    Parameters
    ----------
    model : Model

    Returns
    -------
    ndarray, shape (nq,)
    """
    require_model(model)
    q = np.zeros(model.nq)
    for kind, turned in ROTATIONS.items():
        if kind in model.entries:
            at = model.entries[kind][0][:, turned]
            q[at[:, 0 if at.shape[1] == 2 else 3]] = 1.0
    return q


def random_configuration(model: Model, rng, lower=None, upper=None, size=()) -> np.ndarray:
    """Return random configurations: uniform between limits; rotations without limits uniform over all.

    Parameters
    ----------
    model : Model
    rng : numpy.random.Generator or int
    lower, upper : array_like, shape (nq,), optional
        Limits, by default those of the model. An infinite limit is replaced by one at least pi, or 1 m, from
        zero and from the other limit. Limits do not apply to (cos, sin) and quaternions.
    size : int or tuple of int
        Shape of the batch.

    Returns
    -------
    ndarray, shape ``(*size, nq)``

    Raises
    ------
    ConfigurationError
        If a lower limit exceeds the upper one; names the joint.
    """
    require_model(model)
    rng = np.random.default_rng(rng)
    shape = (*np.broadcast_shapes(size), model.nq)
    low, high = _finite_limits(model, lower, upper)
    q = rng.uniform(low, high, shape)
    for kind, turned in ROTATIONS.items():
        if kind in model.entries:
            at = model.entries[kind][0][:, turned]
            direction = rng.standard_normal((*shape[:-1], *at.shape))
            q[..., at] = direction / np.linalg.norm(direction, axis=-1, keepdims=True)
    return q


def integrate(model: Model, q, v, out=None) -> np.ndarray:
    """Return the configuration reached from q at the constant velocity v after one second.

    Parameters
    ----------
    model : Model
    q : array_like, shape (..., nq)
    v : array_like, shape (..., nv)
        Leading axes equal those of q; either array may lack them.
    out : ndarray, shape (..., nq), optional

    Returns
    -------
    ndarray, shape (..., nq)

    Raises
    ------
    ShapeError
    NonFiniteError
        For single configurations; in batches NaN stays in its element.
    ConfigurationError
        If a (cos, sin) or a quaternion does not have unit length; names the joint.

    Notes
    -----
    For a free joint, q ∘ exp v with v in body axes (Lie group SE(3)), as ``pinocchio.integrate``.
    """
    require_model(model)
    q, v = _configurations(model, q, "q"), _entries(v, model.nv, "v")
    result = np.empty((*_batch(q, v), model.nq))
    with np.errstate(invalid="ignore"):  # infinities of a batch
        for kind, (at_q, at_v) in model.entries.items():
            x, y = q[..., at_q], v[..., at_v]
            result[..., at_q] = _by_components(STEPS[kind], x, y) if kind in STEPS else x + y
    return _written(result, out)


def difference(model: Model, q0, q1, out=None) -> np.ndarray:
    """Return the shortest constant velocity from q0 to q1 within one second: the inverse of `integrate`.

    Parameters
    ----------
    model : Model
    q0, q1 : array_like, shape (..., nq)
        Either may lack the leading axes of the other.
    out : ndarray, shape (..., nv), optional

    Returns
    -------
    ndarray, shape (..., nv)

    Raises
    ------
    ShapeError, NonFiniteError, ConfigurationError
        As for `integrate`.
    """
    require_model(model)
    q0, q1 = _configurations(model, q0, "q0"), _configurations(model, q1, "q1")
    result = np.empty((*_batch(q0, q1), model.nv))
    with np.errstate(invalid="ignore"):
        for kind, (at_q, at_v) in model.entries.items():
            x, y = q0[..., at_q], q1[..., at_q]
            result[..., at_v] = _by_components(DIFFERENCES[kind], x, y) if kind in DIFFERENCES else y - x
    return _written(result, out)


# ----------------------------------------------------------------------------------------- one kind of joint


def _by_components(step, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Apply a step to the entries, shapes (..., joints, nq or nv), of all joints of one kind."""
    if x.size == x.shape[-1] and y.size == y.shape[-1]:
        return np.array(step(x.ravel().tolist(), y.ravel().tolist()))
    return np.stack(np.broadcast_arrays(*step(np.moveaxis(x, -1, 0), np.moveaxis(y, -1, 0))), axis=-1)


def _step_circle(q, v):
    """Return (cos, sin) after a turn by v."""
    moved = rotations.turn(q, (np.cos(v[0]), np.sin(v[0])))
    return rotations.scaled(moved, 1.0 / rotations.length(moved))


def _step_sphere(q, v):
    """Return the quaternion after the rotation vector v."""
    return rotations.product(q, rotations.exp_quaternion(v))


def _step_plane(q, v):
    """Return x, y, cos, sin after a planar motion v."""
    x, y, angle = v
    *flat, _ = rotations.exp_translation((0.0, 0.0, angle), (x, y, 0.0))
    moved = rotations.turn(q[2:], flat)
    return [q[0] + moved[0], q[1] + moved[1], *_step_circle(q[2:], v[2:])]


def _step_space(q, v):
    """Return position and quaternion after a rigid motion v."""
    moved = rotations.rotate(q[3:], rotations.exp_translation(v[3:], v[:3]))
    turned = _step_sphere(q[3:], v[3:])
    nearer = np.copysign(1.0, rotations.dot(turned, q[3:]))  # the nearer of both quaternions, as in Pinocchio
    return [*(x + y for x, y in zip(q[:3], moved, strict=True)), *rotations.scaled(turned, nearer)]


def _between_circle(q0, q1):
    """Return the angle from q0 to q1."""
    c, s = rotations.turn((q0[0], -q0[1]), q1)
    return [np.arctan2(s, c)]


def _between_sphere(q0, q1):
    """Return the rotation vector from q0 to q1."""
    return rotations.log_quaternion(rotations.product(rotations.conjugate(q0), q1))


def _between_plane(q0, q1):
    """Return the planar motion from q0 to q1."""
    [angle] = _between_circle(q0[2:], q1[2:])
    x, y = rotations.turn((q0[2], -q0[3]), (q1[0] - q0[0], q1[1] - q0[1]))
    *flat, _ = rotations.log_translation((0.0, 0.0, angle), (x, y, 0.0))
    return [*flat, angle]


def _between_space(q0, q1):
    """Return the rigid motion from q0 to q1."""
    omega = _between_sphere(q0[3:], q1[3:])
    shift = [x - y for x, y in zip(q1[:3], q0[:3], strict=True)]
    moved = rotations.rotate(rotations.conjugate(q0[3:]), shift)
    return [*rotations.log_translation(omega, moved), *omega]


STEPS = {
    "continuous": _step_circle,
    "spherical": _step_sphere,
    "planar": _step_plane,
    "freeflyer": _step_space,
}
DIFFERENCES = {
    "continuous": _between_circle,
    "spherical": _between_sphere,
    "planar": _between_plane,
    "freeflyer": _between_space,
}


# ------------------------------------------------------------------------------------------------- arguments


def _entries(values, size: int, name: str) -> np.ndarray:
    """Return vectors of that size; a single one must be finite."""
    array = as_real(values, name)
    if array.shape[-1:] != (size,):
        raise ShapeError(
            f"{name} must have shape (..., {size}), got {array.shape}", array.shape, ("...", size)
        )
    if array.ndim == 1:
        require_finite(array, name)
    return array


def _configurations(model: Model, values, name: str) -> np.ndarray:
    """Return configurations after checking that their rotations have unit length."""
    q = _entries(values, model.nq, name)
    require_rotations(model, q, name)
    return q


def require_rotations(model: Model, q: np.ndarray, name: str) -> None:
    """Raise ConfigurationError if a finite (cos, sin) or quaternion does not have unit length."""
    for kind, turned in ROTATIONS.items():
        if kind in model.entries:
            x = q[..., model.entries[kind][0][:, turned]]
            with np.errstate(over="ignore"):
                square = (x * x).sum(-1)
            odd = (np.abs(square - 1.0) > UNIT_SQUARE) & np.isfinite(x).all(-1)
            if odd.any():
                _complain(model, kind, square, odd, name)


def _complain(model: Model, kind: str, square: np.ndarray, odd: np.ndarray, name: str) -> None:
    """Raise ConfigurationError that names the first rotation of another length."""
    for *element, k in np.argwhere(odd).tolist():
        joint = [joint.name for joint in model.joints if joint.kind == kind and not joint.mimic][k]
        what = "quaternion" if kind in ("spherical", "freeflyer") else "(cos, sin)"
        where = f"{name}{element}" if element else name
        length = np.sqrt(square[(*element, k)])
        raise ConfigurationError(f"the {what} of joint {joint!r} in {where} has length {length:.9g}", joint)


def _batch(a: np.ndarray, b: np.ndarray) -> tuple[int, ...]:
    """Return the leading axes of both, which must be equal or absent."""
    first, second = a.shape[:-1], b.shape[:-1]
    if first and second and first != second:
        raise ShapeError(f"leading axes {first} and {second} differ", first, second)
    return first or second


def _written(result: np.ndarray, out) -> np.ndarray:
    """Return the result, copied to out if there is one."""
    if out is None:
        return result
    as_output(out, result.shape)[...] = result
    return out


def _finite_limits(model: Model, lower, upper) -> tuple[np.ndarray, np.ndarray]:
    """Return finite limits of every entry of q."""
    low = _limits(model, lower, model.lower, "lower")
    high = _limits(model, upper, model.upper, "upper")
    reach = np.full(model.nq, np.pi)
    for kind, count in LENGTHS.items():
        if kind in model.entries:
            reach[model.entries[kind][0][:, :count]] = 1.0
    low, high = (
        np.where(np.isinf(low), np.minimum(-reach, high - reach), low),
        np.where(np.isinf(high), np.maximum(reach, low + reach), high),
    )
    for k in np.flatnonzero(low > high):
        joint = next(j.name for j, at in zip(model.joints, model.idx_q, strict=True) if 0 <= k - at < j.nq)
        raise ConfigurationError(f"joint {joint!r} has limits {low[k]:.9g} > {high[k]:.9g}", joint)
    return low, high


def _limits(model: Model, values, default: np.ndarray, name: str) -> np.ndarray:
    """Return validated limits, or the default."""
    limits = default if values is None else as_real(values, name)
    if limits.shape != (model.nq,) or np.isnan(limits).any():
        raise ShapeError(f"{name} must be {model.nq} numbers, got {limits}", limits.shape, (model.nq,))
    return limits
