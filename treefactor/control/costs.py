"""Define the costs of motions, and evaluate them and their derivatives for batches of problems."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import se3
from .._util.messages import received
from .._util.validation import as_real
from ..exceptions import ConfigurationError, DtypeError, ShapeError
from ..kinematics.plans import Item, item_of, items_of_masses
from ..model.frames import frame_of
from ..model.model import Model
from ..quantities import functions as tf
from ._riccati import add_squares, add_values
from .weights import weights_of

GROUPS = ("continuous", "spherical", "planar", "freeflyer")  # joints whose entries of q do not add up


@dataclass(frozen=True, eq=False)
class StateCost:
    """Half the squared deviations of states from a motion, or from a state at rest.

    Parameters
    ----------
    q : array_like, shape (..., T + 1, nq) or broadcast to it
        The deviation is ``difference(model, q, actual)``.
    v : array_like, shape (..., T + 1, nv) or broadcast to it
    weight_q, weight_v : float or array_like, shape (nv,)
        Per squared unit of v. Like all weights they are multiplied by dt at running times, not at the end.
    at : {"all", "running", "final"} or array_like, shape (T + 1,)
        Times that count, or factors of the weights.

    Notes
    -----
    Thread-compatible.

    Examples
    --------
    >>> import treefactor as tf
    >>> tf.control.StateCost(q=[0.5, 0.0], weight_v=0.1).at
    'all'
    """

    q: Any
    v: Any = 0.0
    weight_q: Any = 1.0
    weight_v: Any = 1.0
    at: Any = "all"


@dataclass(frozen=True, eq=False)
class ControlCost:
    """Half the squared deviations of controls from others, which cost nothing.

    Parameters
    ----------
    u : array_like, shape (..., T, nu) or broadcast to it
    weight : float or array_like, shape (nu,)
        Multiplied by dt.

    Notes
    -----
    Thread-compatible.

    Examples
    --------
    >>> import treefactor as tf
    >>> tf.control.ControlCost(weight=1e-3).u
    0.0
    """

    u: Any = 0.0
    weight: Any = 1.0


@dataclass(frozen=True, eq=False)
class FrameCost:
    """Half the squared distance of a frame from a placement.

    The distance is the logarithm of the placement seen from the target: a way and a rotation vector.

    Parameters
    ----------
    frame : str or Frame
    target : array_like, shape (..., T + 1, 3, 4) or (..., T + 1, 4, 4), or broadcast to it
        One for each of B problems at all times has shape (B, 1, 3, 4).
    weight : float or array_like, shape (6,)
        Of the way, 1/m^2, and of the rotation, 1/rad^2, in the axes of the target; multiplied by dt at
        running times, not at the end.
    at : {"all", "running", "final"} or array_like, shape (T + 1,)
        Times that count, or factors of the weights.

    Notes
    -----
    Thread-compatible.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> tf.control.FrameCost("tool", np.eye(3, 4), weight=[1, 1, 1, 0, 0, 0], at="final").at
    'final'
    """

    frame: Any
    target: Any
    weight: Any = 1.0
    at: Any = "all"


@dataclass(frozen=True, eq=False)
class FrameVelocityCost:
    """Half the squared deviation of the velocity of a frame from another one.

    Parameters
    ----------
    frame : str or Frame
    target : array_like, shape (..., T + 1, 6) or broadcast to it
        m/s, rad/s; linear before angular.
    weight : float or array_like, shape (6,)
        Multiplied by dt at running times, not at the end.
    reference : {"LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"}
        As that of `treefactor.frame_velocity`.
    at : {"all", "running", "final"} or array_like, shape (T + 1,)
        Times that count, or factors of the weights.

    Notes
    -----
    Thread-compatible.

    Examples
    --------
    >>> import treefactor as tf
    >>> tf.control.FrameVelocityCost("tool", at="final").reference
    'LOCAL'
    """

    frame: Any
    target: Any = 0.0
    weight: Any = 1.0
    reference: Any = "LOCAL"
    at: Any = "all"


@dataclass(frozen=True, eq=False)
class ComCost:
    """Half the squared distance of the centre of mass from a point.

    Parameters
    ----------
    target : array_like, shape (..., T + 1, 3) or broadcast to it
        m, in the axes of the world.
    weight : float or array_like, shape (3,)
        1/m^2; multiplied by dt at running times, not at the end.
    at : {"all", "running", "final"} or array_like, shape (T + 1,)
        Times that count, or factors of the weights.

    Notes
    -----
    Thread-compatible.

    Examples
    --------
    >>> import treefactor as tf
    >>> tf.control.ComCost([0.0, 0.0, 0.8]).weight
    1.0
    """

    target: Any
    weight: Any = 1.0
    at: Any = "all"


@dataclass(frozen=True, eq=False)
class LimitCost:
    """Half the squared excess of joints over limits: a soft limit.

    Parameters
    ----------
    lower, upper : array_like, shape (nq,), optional
        By default those of the model. Rotations with (cos, sin) or a quaternion have none.
    weight : float or array_like, shape (nv,)
        Multiplied by dt at running times, not at the end.
    at : {"all", "running", "final"} or array_like, shape (T + 1,)
        Times that count, or factors of the weights.

    Notes
    -----
    Thread-compatible.

    Examples
    --------
    >>> import treefactor as tf
    >>> tf.control.LimitCost(weight=100.0).lower is None
    True
    """

    lower: Any = None
    upper: Any = None
    weight: Any = 1.0
    at: Any = "all"


@dataclass(frozen=True, eq=False)
class CustomCost:
    """A cost by functions of whole batches.

    Parameters
    ----------
    value : callable
        ``value(q, v, u)`` returns the costs at all times, shape (..., T + 1), of q (..., T + 1, nq),
        v (..., T + 1, nv) and u (..., T, nu); the leading axes are those of the problems. Nothing is
        multiplied by dt.
    derivatives : callable
        ``derivatives(q, v, u)`` returns (lx, lu, lxx, luu, lux) of shapes (..., T + 1, 2 nv), (..., T, nu),
        (..., T + 1, 2 nv, 2 nv), (..., T, nu, nu) and (..., T, nu, 2 nv), by changes (dq, dv) along
        `treefactor.integrate`.

    Notes
    -----
    Thread-compatible.

    Both get the motions of all problems, of which some may be done: what they return for these is not used.

    Examples
    --------
    >>> import numpy as np, treefactor as tf
    >>> def value(q, v, u):
    ...     return 0.5 * (v**2).sum(axis=-1)
    >>> def derivatives(q, v, u):
    ...     n, lx = v.shape[-1], np.concatenate([np.zeros_like(v), v], axis=-1)
    ...     lxx = np.broadcast_to(np.diag(np.repeat([0.0, 1.0], n)), (*lx.shape, 2 * n))
    ...     nu = u.shape[-1]
    ...     return lx, np.zeros_like(u), lxx, np.zeros((*u.shape, nu)), np.zeros((*u.shape, 2 * n))
    >>> tf.control.CustomCost(value, derivatives).value is value
    True
    """

    value: Callable
    derivatives: Callable


COSTS = (StateCost, ControlCost, FrameCost, FrameVelocityCost, ComCost, LimitCost, CustomCost)


@dataclass(frozen=True)
class Sizes:
    """What all terms of a problem share: `steps`, `controls`, `dt`, and the leading axes of the problems."""

    model: Model
    steps: int
    controls: int
    dt: float
    batch: tuple[int, ...]

    @property
    def count(self) -> int:
        """Return the number of problems."""
        return math.prod(self.batch)


class _Term:
    """Weighted squares of residuals of one cost.

    Parameters
    ----------
    sizes : Sizes
    at : str or array_like
    weight : float or array_like
    size : int
        Of the residual.
    name : str
        Of the cost, for errors.
    """

    full = False  # whether the Hessian has entries other than those by q
    source, kind = (
        "q",
        "deviation",
    )  # of the residual in lanes: what it reads, and how it differs from the target

    def __init__(self, sizes: Sizes, at, weight, size: int, name: str):
        self.sizes, self.model = sizes, sizes.model
        self.time = _times(at, sizes, name)
        self.weight = weights_of(weight, size, f"weight of {name}")

    def add_values(self, q, v, u, rows, cost):
        """Add the costs of motions of the problems `rows`."""
        add_values(self.residual(q, v, u, rows), self.weight, self.time, cost)

    def item(self) -> Item:
        """Return what the source "item" reads of the kinematics."""
        raise NotImplementedError

    def residual(self, q, v, u, rows) -> np.ndarray:
        """Return the residuals (A, times, size) of motions of the problems `rows`."""
        raise NotImplementedError

    def add_constants(self, diagonal):
        """Add to the constant diagonal (T + 1, m) of the Hessian."""

    def add_derivatives(self, q, v, u, rows, sums):
        """Add gradients and Hessians, but what `add_constants` adds."""
        raise NotImplementedError


class _StateTerm(_Term):
    """Deviation of q."""

    def __init__(self, sizes, cost):
        _Term.__init__(self, sizes, cost.at, cost.weight_q, sizes.model.nv, "StateCost")
        self.target = _targets(cost.q, sizes, (sizes.model.nq,), sizes.steps + 1, "q of StateCost")
        self.linear = not any(joint.kind in GROUPS for joint in sizes.model.joints)
        self.kind = "deviation" if self.linear and sizes.model.nq == sizes.model.nv else "change"

    def residual(self, q, v, u, rows):
        return self._from_target(tf.difference, q, rows)

    def _from_target(self, function, q, rows, *options):
        chosen = np.broadcast_to(_rows(self.target, rows), q.shape)
        if self.linear and not options:
            return q - chosen if q.shape[-1] == self.model.nv else function(self.model, chosen, q)
        return function(self.model, chosen, q, *options)

    def add_constants(self, diagonal):
        if self.linear:
            m, n = diagonal.shape[1], self.model.nv
            diagonal[:, m - 2 * n : m - n] += self.time[:, None] * self.weight

    def add_derivatives(self, q, v, u, rows, sums):
        first, r = self.sizes.controls, self.residual(q, v, u, rows)
        if self.linear:
            sums.gradient[..., first : first + self.model.nv] += self.time[:, None] * self.weight * r
        else:
            J = self._from_target(tf.d_difference, q, rows, "ARG1")
            add_squares(r, J, None, self.weight, self.time, sums.gradient, sums.by_q, first, 0)


class _VelocityTerm(_Term):
    """Deviation of v."""

    source = "v"

    def __init__(self, sizes, cost):
        _Term.__init__(self, sizes, cost.at, cost.weight_v, sizes.model.nv, "StateCost")
        self.target = _targets(cost.v, sizes, (sizes.model.nv,), sizes.steps + 1, "v of StateCost")

    def residual(self, q, v, u, rows):
        return v - _rows(self.target, rows)

    def add_constants(self, diagonal):
        diagonal[:, -self.model.nv :] += self.time[:, None] * self.weight

    def add_derivatives(self, q, v, u, rows, sums):
        sums.gradient[..., -self.model.nv :] += (
            self.time[:, None] * self.weight * self.residual(q, v, u, rows)
        )


class _ControlTerm(_Term):
    """Deviation of u."""

    source = "u"

    def __init__(self, sizes, cost):
        _Term.__init__(self, sizes, "running", cost.weight, sizes.controls, "ControlCost")
        self.time = self.time[:-1]
        self.target = _targets(cost.u, sizes, (sizes.controls,), sizes.steps, "u of ControlCost")

    def residual(self, q, v, u, rows):
        return u - _rows(self.target, rows)

    def add_constants(self, diagonal):
        diagonal[:-1, : self.sizes.controls] += self.time[:, None] * self.weight

    def add_derivatives(self, q, v, u, rows, sums):
        change = self.time[:, None] * self.weight * self.residual(q, v, u, rows)
        sums.gradient[:, :-1, : self.sizes.controls] += change


class _FrameTerm(_Term):
    """Distance of a frame from its target."""

    source, kind = "item", "pose"

    def __init__(self, sizes, cost):
        _Term.__init__(self, sizes, cost.at, cost.weight, 6, "FrameCost")
        self.frame = frame_of(sizes.model, cost.frame)
        target = as_real(cost.target, "target of FrameCost")
        if target.shape[-2:] == (4, 4):
            target = target[..., :3, :]
        _require_rotations(target)
        self.target = _targets(target, sizes, (3, 4), sizes.steps + 1, "target of FrameCost")

    def item(self):
        return item_of(self.model, "frame_placement", self.frame, "LOCAL")

    def residual(self, q, v, u, rows):
        return se3.log(self._error(tf.frame_placement(self.model, q, self.frame), rows))

    def _error(self, placement, rows):
        return se3.between(np.broadcast_to(_rows(self.target, rows), placement.shape), placement)

    def add_derivatives(self, q, v, u, rows, sums):
        J, placement = tf.frame_jacobian(self.model, q, self.frame, placement=True)
        error = self._error(placement, rows)
        add_squares(
            se3.log(error), J, se3.jlog(error), self.weight, self.time, sums.gradient, sums.by_q,
            self.sizes.controls, 0,
        )  # fmt: skip


class _FrameVelocityTerm(_Term):
    """Deviation of the velocity of a frame."""

    full = True
    source = "item"

    def __init__(self, sizes, cost):
        _Term.__init__(self, sizes, cost.at, cost.weight, 6, "FrameVelocityCost")
        self.frame, self.reference = frame_of(sizes.model, cost.frame), cost.reference
        self.target = _targets(cost.target, sizes, (6,), sizes.steps + 1, "target of FrameVelocityCost")

    def item(self):
        return item_of(self.model, "frame_velocity", self.frame, self.reference)

    def residual(self, q, v, u, rows):
        return tf.frame_velocity(self.model, q, v, self.frame, self.reference) - _rows(self.target, rows)

    def add_derivatives(self, q, v, u, rows, sums):
        derivatives = tf.frame_derivatives(self.model, q, v, np.zeros_like(v), self.frame, self.reference)
        J = np.concatenate([derivatives.velocity_q, derivatives.jacobian], axis=-1)
        first = self.sizes.controls
        r = self.residual(q, v, u, rows)
        add_squares(r, J, None, self.weight, self.time, sums.gradient, sums.hessian, first, first)


class _ComTerm(_Term):
    """Distance of the centre of mass from its target."""

    source = "item"

    def __init__(self, sizes, cost):
        _Term.__init__(self, sizes, cost.at, cost.weight, 3, "ComCost")
        self.target = _targets(cost.target, sizes, (3,), sizes.steps + 1, "target of ComCost")

    def item(self):
        return items_of_masses(self.model, "center_of_mass", -1)[0]

    def residual(self, q, v, u, rows):
        return tf.center_of_mass(self.model, q) - _rows(self.target, rows)

    def add_derivatives(self, q, v, u, rows, sums):
        r, J = self.residual(q, v, u, rows), tf.center_of_mass_jacobian(self.model, q)
        add_squares(r, J, None, self.weight, self.time, sums.gradient, sums.by_q, self.sizes.controls, 0)


class _LimitTerm(_Term):
    """Excess over limits."""

    kind = "excess"

    def __init__(self, sizes, cost):
        model = sizes.model
        _Term.__init__(self, sizes, cost.at, cost.weight, model.nv, "LimitCost")
        limits = []
        for values, own, name in ((cost.lower, model.lower, "lower"), (cost.upper, model.upper, "upper")):
            values = own if values is None else as_real(values, f"{name} of LimitCost")
            if values.shape != (model.nq,) or np.isnan(values).any():
                raise ShapeError(
                    f"{name} of LimitCost must be {model.nq} numbers, got {values}", values.shape
                )
            limits.append(values)
        places = [
            (v + k, q + k)
            for joint, q, v in zip(model.joints, model.idx_q, model.idx_v, strict=True)
            if joint.kind not in GROUPS and not joint.mimic
            for k in range(joint.nv)
        ]
        self.at_v, self.at_q = np.array(places, int).reshape(-1, 2).T
        self.lower, self.upper = (x[self.at_q] for x in limits)
        if (self.lower > self.upper).any():
            k = int(np.argmax(self.lower > self.upper))
            name = model.joints[int(np.flatnonzero(np.asarray(model.idx_v) <= self.at_v[k])[-1])].name
            raise ConfigurationError(
                f"joint {name!r} has limits {self.lower[k]:.9g} > {self.upper[k]:.9g}",
                name,
            )
        self.weight = np.ascontiguousarray(self.weight[self.at_v])

    def residual(self, q, v, u, rows):
        x = np.take(q, self.at_q, axis=-1)
        return np.maximum(x - self.upper, 0.0) + np.minimum(x - self.lower, 0.0)

    def add_derivatives(self, q, v, u, rows, sums):
        r = self.residual(q, v, u, rows)
        weight = self.time[:, None] * self.weight
        sums.gradient[..., self.sizes.controls + self.at_v] += weight * r
        sums.by_q[..., self.at_v, self.at_v] += np.where(r != 0.0, weight, 0.0)


TERMS = {
    StateCost: (_StateTerm, _VelocityTerm),
    ControlCost: (_ControlTerm,),
    FrameCost: (_FrameTerm,),
    FrameVelocityCost: (_FrameVelocityTerm,),
    ComCost: (_ComTerm,),
    LimitCost: (_LimitTerm,),
}


class _CustomTerm:
    """Functions of the user, which get all problems."""

    def __init__(self, sizes: Sizes, cost: CustomCost):
        self.sizes, self.cost = sizes, cost

    def values(self, q, v, u):
        """Return the costs of motions of all problems."""
        steps, batch = self.sizes.steps, self.sizes.batch
        value = as_real(self.cost.value(*self._shaped(q, v, u)), "value of CustomCost")
        if value.shape != (*batch, steps + 1):
            shape = (*batch, steps + 1)
            raise ShapeError(
                f"value of CustomCost must have shape {shape}, got {value.shape}", value.shape, shape
            )
        return value.reshape(-1, steps + 1).sum(axis=1)

    def derivatives(self, q, v, u):
        """Return what the user's function returns for all problems, with one leading axis."""
        nx, nu, steps, batch = (
            2 * self.sizes.model.nv,
            self.sizes.controls,
            self.sizes.steps,
            self.sizes.batch,
        )
        results = self.cost.derivatives(*self._shaped(q, v, u))
        if not isinstance(results, tuple | list) or len(results) != 5:
            raise DtypeError(
                f"derivatives of CustomCost must return (lx, lu, lxx, luu, lux), got {received(results)}"
            )
        ends = ((steps + 1, nx), (steps, nu), (steps + 1, nx, nx), (steps, nu, nu), (steps, nu, nx))
        arrays = []
        for name, result, end in zip(("lx", "lu", "lxx", "luu", "lux"), results, ends, strict=True):
            array = as_real(result, f"{name} of CustomCost")
            if array.shape != (*batch, *end):
                raise ShapeError(
                    f"{name} of CustomCost must have shape {(*batch, *end)}, got {array.shape}",
                    array.shape, (*batch, *end),
                )  # fmt: skip
            arrays.append(array.reshape(-1, *end))
        return arrays

    def add_derivatives(self, arrays, rows, sums):
        """Add derivatives of the problems `rows`."""
        nu = self.sizes.controls
        lx, lu, lxx, luu, lux = (x[rows] for x in arrays)
        sums.gradient[..., nu:] += lx
        sums.gradient[:, :-1, :nu] += lu
        sums.hessian[..., nu:, nu:] += lxx
        sums.hessian[:, :-1, :nu, :nu] += luu
        sums.hessian[:, :-1, :nu, nu:] += lux

    def _shaped(self, *arrays):
        """Return arrays with the leading axes of the problems, which the function cannot change."""
        shaped = [x.reshape(self.sizes.batch + x.shape[1:]).view() for x in arrays]
        for x in shaped:
            x.flags.writeable = False
        return shaped


def terms_of(cost, sizes: Sizes) -> tuple[list[_Term], list[_CustomTerm]]:
    """Return the terms of a list of costs, and those by functions of the user."""
    costs = [cost] if isinstance(cost, COSTS) else cost
    if not isinstance(costs, list | tuple) or not costs:
        raise DtypeError(
            f"cost must be a list of costs such as StateCost and ControlCost, got {received(cost)}"
        )
    terms: list[_Term] = []
    custom = []
    for one in costs:
        if isinstance(one, CustomCost):
            custom.append(_CustomTerm(sizes, one))
        elif type(one) in TERMS:
            terms += [make(sizes, one) for make in TERMS[type(one)]]  # type: ignore[call-arg]
        else:
            names = ", ".join(kind.__name__ for kind in COSTS)
            raise DtypeError(f"a cost must be one of {names}, got {received(one)}")
    return terms, custom


def _times(at, sizes: Sizes, name: str) -> np.ndarray:
    """Return the factors (T + 1,) of a term at all times."""
    scale = np.full(sizes.steps + 1, sizes.dt)
    scale[-1] = 1.0
    if isinstance(at, str):
        if at not in ("all", "running", "final"):
            raise ValueError(f"at of {name} must be 'all', 'running', 'final' or numbers, got {at!r}")
        if at != "all":
            scale[: -1 if at == "final" else None] *= at == "running"
            scale[-1] *= at == "final"
        return scale
    factors = as_real(at, f"at of {name}")
    if factors.shape != scale.shape:
        raise ShapeError(
            f"at of {name} must be 'all', 'running', 'final', or of shape {scale.shape}, got {factors.shape}",
            factors.shape, scale.shape,
        )  # fmt: skip
    if not ((factors >= 0.0) & (factors < np.inf)).all():
        raise ValueError(f"at of {name} must not be negative, and finite")
    return scale * factors


def _targets(values, sizes: Sizes, end: tuple[int, ...], times: int, name: str) -> np.ndarray:
    """Return targets of shape (B or 1, times or 1, *end); numbers are for all entries."""
    array = as_real(values, name)
    shape = (*sizes.batch, times, *end)
    try:
        wide = np.broadcast_to(array, shape)
    except ValueError:
        raise ShapeError(
            f"{name} must broadcast to {shape}: problems, times, entries; got shape {array.shape}",
            array.shape,
            shape,
        ) from None
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite")
    tail = len(end) + 1
    same = all(
        step == 0 or length == 1 for step, length in zip(wide.strides[:-tail], shape[:-tail], strict=True)
    )
    if same:
        wide = wide[(0,) * len(sizes.batch)] if sizes.count else np.broadcast_to(array, shape[-tail:])
        return np.ascontiguousarray(wide[:1] if wide.strides[0] == 0 else wide)[None]
    if wide.strides[-tail] == 0:
        wide = np.moveaxis(np.moveaxis(wide, -tail, 0)[:1], 0, -tail)
    return np.ascontiguousarray(wide).reshape(sizes.count, -1, *end)


def _require_rotations(poses: np.ndarray) -> None:
    """Raise an error if a pose has no rotation."""
    if poses.shape[-2:] != (3, 4):
        return  # the error of the shape follows
    R = poses[..., :3]
    gram = np.einsum("...ki,...kj->...ij", R, R)
    if (abs(gram - np.eye(3)) > 1e-6).any() or (np.linalg.det(R) < 0.0).any():
        raise ValueError(
            "target of FrameCost has no rotation: columns must be unit vectors at right angles, right-handed"
        )


def _rows(target: np.ndarray, rows) -> np.ndarray:
    """Return the targets of some problems."""
    return target if len(target) == 1 else target[rows]
