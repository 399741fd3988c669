"""Read where motions start, and which controls they may use."""

from __future__ import annotations

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


def start_of(model: Model, q0, v0, u, matrix) -> tuple[tuple, tuple[int, ...]]:
    """Return initial states and controls as fresh rows, and the leading axes."""
    nu, arrays = matrix.shape[1], []
    for values, end, name in ((q0, (model.nq,), "q0"), (v0, (model.nv,), "v0"), (u, (None, nu), "u")):
        array = as_real(values, name)
        if array.ndim < len(end) or array.shape[-1] != end[-1]:
            wanted = f"(..., {model.nq if name == 'q0' else end[-1]})" if len(end) == 1 else f"(..., T, {nu})"
            raise ShapeError(f"{name} must have shape {wanted}, got {array.shape}", array.shape)
        arrays.append((array, array.shape[: array.ndim - len(end)], array.shape[array.ndim - len(end) :]))
    if not arrays[2][2][0]:
        raise ShapeError("u must have at least one step, got 0", arrays[2][0].shape)
    leading = [axes for _, axes, _ in arrays]
    try:
        batch = np.broadcast_shapes(*leading)
    except ValueError:
        raise ShapeError(f"leading axes of q0, v0 and u do not match: {leading}", *leading[:1]) from None
    count = int(np.prod(batch))
    rows = (
        np.array(np.broadcast_to(array, (*batch, *end)), order="C").reshape((count, *end))
        for array, _, end in arrays
    )
    return tuple(rows), batch
