"""General path of rotations and poses: validate arrays of any form, spread batches on threads."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from .._util.threads import spread
from .._util.validation import as_output, as_real, flatten, require_finite, shape_of, thread_count
from ..exceptions import ConfigurationError, ShapeError
from ._poses import NUMBERS, call, run_batch, shapes_of
from ._states import common_axes

LANES = 8
NAMES = {  # of the arguments, in messages, by the part of an operation's name that decides
    "exp": ("v",),
    "jexp": ("v",),
    "from_xyzquat": ("x",),
    "from_quaternion": ("q",),
    "act": ("M", "x"),
    "between": ("M0", "M1"),
    "interpolate": ("M0", "M1"),
    "compose": ("M0", "M1"),
}
ON_MOTIONS = {  # operations on points, and on motions
    NUMBERS["se3_act"]: NUMBERS["se3_act_on_motion"],
    NUMBERS["se3_act_inverse"]: NUMBERS["se3_act_inverse_on_motion"],
}
INTERPOLATIONS = (NUMBERS["se3_interpolate"], NUMBERS["so3_interpolate"])
OF_QUATERNIONS = (NUMBERS["se3_from_xyzquat"], NUMBERS["so3_from_quaternion"])


def general_path(op: int, a, b, u, out, num_threads: int) -> np.ndarray:
    """Validate arrays of any form and run an operation on them; raise the error that names the bad one."""
    threads = thread_count(num_threads)
    if op in ON_MOTIONS and shape_of(b)[-1:] == (6,):
        op = ON_MOTIONS[op]
    first, second, tail = shapes_of(op)
    names = _names(op)
    arrays = [_elements(a, first, names[0])]
    if second is not None:
        arrays.append(_elements(b, second, names[1]))
    numbers = as_real(u, "u") if op in INTERPOLATIONS else None
    batch = common_axes(
        [x.shape[: x.ndim - len(shape)] for x, shape in zip(arrays, (first, second), strict=False)]
        + ([] if numbers is None else [numbers.shape])
    )
    if not batch:
        for name, array in zip(names, arrays, strict=False):
            require_finite(array, name)
        if op in OF_QUATERNIONS and not arrays[0][-4:].any():
            raise ConfigurationError(
                f"the quaternion in {names[0]} has length 0: (0, 0, 0, 1) is the identity"
            )
    shape = (*batch, *tail)
    if out is not None:
        as_output(out, shape)
    read = arrays if numbers is None else [*arrays, numbers]
    direct = out is not None and out.flags.carray and not any(np.may_share_memory(out, x) for x in read)
    result = out if direct else np.empty(shape)
    if batch:
        count = math.prod(batch)
        rows = [
            flatten(np.ascontiguousarray(x), len(shape)).reshape(-1, math.prod(shape))
            for x, shape in zip(arrays, (first, second), strict=False)
        ]
        rows += [None] * (2 - len(rows))
        rows.append(None if numbers is None else np.ascontiguousarray(numbers).reshape(-1, 1))
        work = partial(run_batch, op, count, rows, result)
        spread(work, -(-count // LANES), threads, 4 * result.size)
    else:
        a, b = [*map(np.ascontiguousarray, arrays), None][:2]
        result[...] = call(op, a, b, None if numbers is None else _number(numbers), None, 1, None)
    if out is not None and not direct:
        out[...] = result
    return result if out is None else out


def _names(op: int) -> tuple[str, ...]:
    """Return the names of the arguments of an operation."""
    group, _, name = next(name for name, number in NUMBERS.items() if number == op).partition("_")
    if name == "from_rpy":
        return ("xyz", "rpy") if group == "se3" else ("rpy",)
    name = "act" if name.startswith("act_") else name
    names = NAMES.get(name, ("M",))
    return names if group == "se3" else tuple(one.replace("M", "R").replace("v", "w") for one in names)


def _elements(values, shape: tuple[int, ...], name: str) -> np.ndarray:
    """Return an array whose last axes have that shape."""
    array = as_real(values, name)
    if array.shape[max(0, array.ndim - len(shape)) :] != shape:
        wanted = f"(..., {', '.join(map(str, shape))})"
        raise ShapeError(f"{name} must have shape {wanted}, got {array.shape}", array.shape, ("...", *shape))
    return array


def _number(u: np.ndarray) -> float:
    """Return u as a finite number."""
    require_finite(u, "u")
    return float(u)
