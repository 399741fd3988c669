"""Read where motions start, and which controls they may use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._util.messages import received, similar
from .._util.validation import as_number, as_real
from ..exceptions import ConfigurationError, DtypeError, InvalidModelError, ShapeError
from ..model.model import Model


def positive(value, name: str) -> float:
    """Return a positive number."""
    number = as_number(value, name)
    if not 0.0 < number < np.inf:
        raise ValueError(f"{name} must be positive, and finite, got {value}")
    return number


def limits_of(limits, nu: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the lower and upper limits of controls."""
    if limits is None:
        return None
    if not isinstance(limits, tuple | list) or len(limits) != 2:
        raise DtypeError(f"control_limits must be a pair (lower, upper), got {received(limits)}")
    pair = []
    for values, name in zip(limits, ("lower", "upper"), strict=True):
        array = as_real(values, f"{name} control_limits")
        if array.shape not in ((), (nu,)) or np.isnan(array).any():
            raise ShapeError(
                f"{name} control_limits must be one number or {nu}, got {array}", array.shape, (nu,)
            )
        pair.append(np.ascontiguousarray(np.broadcast_to(array, nu)))
    if (pair[0] > pair[1]).any():
        k = int(np.argmax(pair[0] > pair[1]))
        raise ConfigurationError(f"control {k} has limits {pair[0][k]:.9g} > {pair[1][k]:.9g}")
    return pair[0], pair[1]


def actuation_of(model: Model, actuated) -> np.ndarray:
    """Return the matrix (nv, nu) that maps controls to generalized forces."""
    if actuated is None:
        return np.eye(model.nv)
    if isinstance(actuated, str):
        raise DtypeError(
            f"actuated must be a list of names or a matrix, got {actuated!r}: pass [{actuated!r}]"
        )
    if isinstance(actuated, list | tuple) and all(isinstance(name, str) for name in actuated):
        columns: list[int] = []
        for name in actuated:
            if name not in model.numbers:
                known = [joint.name for joint in model.joints]
                raise InvalidModelError(f"{name!r} is not a joint of the model{similar(name, known)}", name)
            joint, first = model.joints[model.numbers[name]], model.idx_v[model.numbers[name]]
            columns += range(first, first + joint.nv)
        if not columns:
            raise ValueError("actuated must name at least one joint, got none")
        return np.ascontiguousarray(np.eye(model.nv)[:, columns])
    matrix = as_real(actuated, "actuated")
    if matrix.ndim != 2 or matrix.shape[0] != model.nv or not matrix.shape[1]:
        raise ShapeError(
            f"actuated must be a list of names or have shape ({model.nv}, nu), got {matrix.shape}",
            matrix.shape,
        )
    if not np.isfinite(matrix).all():
        raise ValueError("actuated must be finite")
    return matrix.copy()


@dataclass(frozen=True, eq=False)
class Start:
    """First motions of B problems: q (B, T + 1 or 1, nq), v likewise, and u (B, T, nu); fresh arrays."""

    q: np.ndarray
    v: np.ndarray
    u: np.ndarray


def start_of(model: Model, values, matrix, multiple: bool) -> tuple[Start, tuple[int, ...]]:
    """Return what motions start from, and the leading axes of q0, v0, u and perhaps all states q, v."""
    q0, v0, u, q, v = values
    if (q is None) != (v is None):
        raise ValueError("q and v must be given together")
    if q is not None and not multiple:
        raise ValueError("q and v must be left out with method='single', whose states are those that u gives")
    nu = matrix.shape[1]
    wanted = {"q0": (model.nq,), "v0": (model.nv,), "u": (None, nu)}
    arrays = [_array(values, name, wanted[name]) for values, name in ((q0, "q0"), (v0, "v0"), (u, "u"))]
    steps = arrays[2].shape[-2]
    if not steps:
        raise ShapeError("u must have at least one step, got 0", arrays[2].shape)
    if q is not None:
        arrays += [_array(q, "q", (steps + 1, model.nq)), _array(v, "v", (steps + 1, model.nv))]
    axes = [1, 1, 2, 2, 2][: len(arrays)]
    leading = [x.shape[: x.ndim - count] for x, count in zip(arrays, axes, strict=True)]
    try:
        batch = np.broadcast_shapes(*leading)
    except ValueError:
        names = "q0, v0 and u" if q is None else "q0, v0, u, q and v"
        raise ShapeError(f"leading axes of {names} do not match: {leading}", *leading[:1]) from None
    count = int(np.prod(batch))
    rows = [
        np.array(np.broadcast_to(x, batch + x.shape[x.ndim - own :]), order="C").reshape(
            (count, *x.shape[x.ndim - own :])
        )
        for x, own in zip(arrays, axes, strict=True)
    ]
    q0, v0, u = rows[:3]
    if q is None:
        return Start(q0[:, None], v0[:, None], u), batch
    q, v = rows[3:]
    q[:, 0], v[:, 0] = q0, v0
    return Start(q, v, u), batch


def _array(values, name: str, end: tuple) -> np.ndarray:
    """Return an array whose last axes have given lengths, of which None is any."""
    array = as_real(values, name)
    own = array.shape[max(0, array.ndim - len(end)) :]
    if len(own) < len(end) or any(want not in (None, length) for want, length in zip(end, own, strict=True)):
        wanted = ", ".join("T" if length is None else str(length) for length in end)
        raise ShapeError(f"{name} must have shape (..., {wanted}), got {array.shape}", array.shape)
    return array
