"""Define the costs of motions, and evaluate them and their derivatives for batches of problems."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._util.messages import received
from .._util.validation import as_real
from ..exceptions import ConfigurationError, DtypeError, ShapeError
from ..kinematics._request import Request
from ..kinematics.masses import results_of
from ..kinematics.plans import Item, View, items_of_masses, reference_name, request_of
from ..kinematics.requests import kept
from ..model._configurations import configurations_of
from ..model.frames import frame_of, support_of
from ..model.model import Model
from ..tolerances import SLANTED
from ._costs import KINDS, Terms
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


@dataclass(frozen=True)
class _Term:
    """A residual: the struct of the kernels, and what requests compute for its value and its derivatives."""

    struct: dict
    of_value: tuple[Item, ...] = ()
    of_derivatives: tuple[Item, ...] = ()


def _state_terms(sizes: Sizes, cost: StateCost) -> list[_Term]:
    """Return the deviations of q and of v."""
    model, times = sizes.model, sizes.steps + 1
    q = _struct("configuration", sizes, cost.at, cost.weight_q, model.nv, "StateCost")
    v = _struct("velocity", sizes, cost.at, cost.weight_v, model.nv, "StateCost")
    q["target"] = _targets(cost.q, sizes, (model.nq,), times, "q of StateCost")
    v["target"] = _targets(cost.v, sizes, (model.nv,), times, "v of StateCost")
    return [_Term(q), _Term(v)]


def _control_terms(sizes: Sizes, cost: ControlCost) -> list[_Term]:
    """Return the deviation of u."""
    struct = _struct("control", sizes, "running", cost.weight, sizes.controls, "ControlCost")
    struct["target"] = _targets(cost.u, sizes, (sizes.controls,), sizes.steps, "u of ControlCost")
    return [_Term(struct)]


def _frame_terms(sizes: Sizes, cost: FrameCost) -> list[_Term]:
    """Return the distance of a frame from its target."""
    struct, view = _struct("pose", sizes, cost.at, cost.weight, 6, "FrameCost"), _view(sizes, cost.frame)
    target = as_real(cost.target, "target of FrameCost")
    if target.shape[-2:] == (4, 4):
        target = target[..., :3, :]
    _require_rotations(target)
    struct["target"] = _targets(target, sizes, (3, 4), sizes.steps + 1, "target of FrameCost")
    struct["jacobian"], struct["columns"] = (1, -1), (_columns(sizes, view), NOTHING)
    placement, jacobian = (
        Item(kind, (view,), layout="packed") for kind in ("frame_placement", "frame_jacobian")
    )
    return [_Term(struct, (placement,), (placement, jacobian))]


def _frame_velocity_terms(sizes: Sizes, cost: FrameVelocityCost) -> list[_Term]:
    """Return the deviation of the velocity of a frame."""
    struct = _struct("measured", sizes, cost.at, cost.weight, 6, "FrameVelocityCost")
    view = _view(sizes, cost.frame, reference_name(cost.reference))
    struct["target"] = _targets(cost.target, sizes, (6,), sizes.steps + 1, "target of FrameVelocityCost")
    columns = _columns(sizes, view)
    struct["jacobian"] = 2, 1  # the first two of the four results are the Jacobian and the derivative by q
    struct["columns"] = columns, columns + sizes.model.nv
    velocity, derivatives = (Item(kind, (view,)) for kind in ("frame_velocity", "frame_derivatives"))
    return [_Term(struct, (velocity,), (velocity, derivatives))]


def _com_terms(sizes: Sizes, cost: ComCost) -> list[_Term]:
    """Return the distance of the centre of mass from its target."""
    struct = _struct("measured", sizes, cost.at, cost.weight, 3, "ComCost")
    struct["target"] = _targets(cost.target, sizes, (3,), sizes.steps + 1, "target of ComCost")
    struct["jacobian"] = 1, -1
    struct["columns"] = np.arange(sizes.controls, sizes.controls + sizes.model.nv), NOTHING
    kinds = ("center_of_mass", "center_of_mass_jacobian")
    center, jacobian = (items_of_masses(sizes.model, kind, -1)[0] for kind in kinds)
    return [_Term(struct, (center,), (center, jacobian))]


def _limit_terms(sizes: Sizes, cost: LimitCost) -> list[_Term]:
    """Return the excess over limits."""
    model = sizes.model
    struct = _struct("excess", sizes, cost.at, cost.weight, model.nv, "LimitCost")
    places = [
        (v + k, q + k)
        for joint, q, v in zip(model.joints, model.idx_q, model.idx_v, strict=True)
        if joint.kind not in GROUPS and not joint.mimic
        for k in range(joint.nv)
    ]
    at_v, at_q = np.array(places, np.intp).reshape(-1, 2).T
    for values, own, name in ((cost.lower, model.lower, "lower"), (cost.upper, model.upper, "upper")):
        values = own if values is None else as_real(values, f"{name} of LimitCost")
        if values.shape != (model.nq,) or np.isnan(values).any():
            raise ShapeError(f"{name} of LimitCost must be {model.nq} numbers, got {values}", values.shape)
        struct[name] = values[at_q]
    if (struct["lower"] > struct["upper"]).any():
        k = int(np.argmax(struct["lower"] > struct["upper"]))
        joint = model.joints[int(np.flatnonzero(np.asarray(model.idx_v) <= at_v[k])[-1])].name
        raise ConfigurationError(
            f"joint {joint!r} has limits {struct['lower'][k]:.9g} > {struct['upper'][k]:.9g}", joint
        )
    struct["weight"] = np.ascontiguousarray(struct["weight"][at_v])
    struct["entry"] = np.concatenate([at_q, sizes.controls + at_v])
    return [_Term(struct)]


def _struct(kind: str, sizes: Sizes, at, weight, size: int, name: str) -> dict:
    """Return what all terms have; `size` is that of the residual, `name` that of the cost, for errors."""
    weight = np.ascontiguousarray(weights_of(weight, size, f"weight of {name}"))
    return {"kind": KINDS[kind], "time": _times(at, sizes, name), "weight": weight}


def _view(sizes: Sizes, frame, reference: str = "LOCAL") -> View:
    return View(frame_of(sizes.model, frame), reference)


def _columns(sizes: Sizes, view: View) -> np.ndarray:
    """Return the entries of (u, q, v) that move a frame: those of q."""
    return sizes.controls + support_of(sizes.model, view.frame)


TERMS = {
    StateCost: _state_terms,
    ControlCost: _control_terms,
    FrameCost: _frame_terms,
    FrameVelocityCost: _frame_velocity_terms,
    ComCost: _com_terms,
    LimitCost: _limit_terms,
}
NOTHING = np.empty(0, np.intp)
MEASURED = 12  # terms whose results one request computes


def compiled(terms: list[_Term], sizes: Sizes) -> Terms:
    """Return the terms as the kernels evaluate them."""
    measured = [term for term in terms if term.of_value]
    requests, first = [], np.zeros(2, int)
    for k in range(0, len(measured), MEASURED):
        part = measured[k : k + MEASURED]
        for term in part:
            jacobian = tuple(int(first[1]) + j if j >= 0 else -1 for j in term.struct["jacobian"])
            term.struct.update(item=tuple(map(int, first)), jacobian=jacobian)
            first += [sum(_results(item) for item in items) for items in (term.of_value, term.of_derivatives)]
        items = [
            [item for term in part for item in getattr(term, name)] for name in ("of_value", "of_derivatives")
        ]
        requests.append(tuple(_request(sizes.model, own) for own in items))
    structs = [term.struct for term in terms]
    return Terms(configurations_of(sizes.model), sizes.controls, structs, requests)


def _request(model: Model, items: list[Item]) -> Request:
    """Return the request of items, which the model keeps for the next search."""
    frames = [
        (item.kind, item.layout, view.frame.joint, view.frame.R.tobytes(), view.frame.p.tobytes(), *view[1:])
        for item in items
        for view in item.views  # of which each has one
    ]
    return kept(model, ("costs", *frames), lambda: request_of(model, items))


def _results(item: Item) -> int:
    return results_of(item.kind)[1]


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

    def add_derivatives(self, arrays, rows, gradient, hessian):
        """Add derivatives of the problems `rows`."""
        nu = self.sizes.controls
        lx, lu, lxx, luu, lux = (x[rows] for x in arrays)
        gradient[..., nu:] += lx
        gradient[:, :-1, :nu] += lu
        hessian[..., nu:, nu:] += lxx
        hessian[:, :-1, :nu, :nu] += luu
        hessian[:, :-1, :nu, nu:] += lux

    def _shaped(self, *arrays):
        """Return arrays with the leading axes of the problems, which the function cannot change."""
        shaped = [x.reshape(self.sizes.batch + x.shape[1:]).view() for x in arrays]
        for x in shaped:
            x.flags.writeable = False
        return shaped


def terms_of(cost, sizes: Sizes) -> tuple[Terms, list[_CustomTerm]]:
    """Return the compiled terms of a list of costs, and those by functions of the user."""
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
            terms += TERMS[type(one)](sizes, one)  # type: ignore[operator]
        else:
            names = ", ".join(kind.__name__ for kind in COSTS)
            raise DtypeError(f"a cost must be one of {names}, got {received(one)}")
    return compiled(terms, sizes), custom


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
    if (abs(gram - np.eye(3)) > SLANTED).any() or (np.linalg.det(R) < 0.0).any():
        raise ValueError(
            "target of FrameCost has no rotation: columns must be unit vectors at right angles, right-handed"
        )
