"""Validate public array arguments; kernels assume validated input.

Hot functions first try a fast path, whose checks are in `_fast_arrays.pxd`. It returns None for input that it
does not support; the general path then converts and validates with these functions, and raises.
"""

from __future__ import annotations

import math
import operator
import os
import sys
from typing import TYPE_CHECKING

import numpy as np

from ..exceptions import DtypeError, NonFiniteError, ShapeError
from .foreign_arrays import from_dlpack, require_no_tangent, unreadable
from .messages import not_an_array, received, writable_view

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Array:
    """Type of an attribute that accepts anything array-like and is kept as an array."""

    def __get__(self, instance: object, owner: type) -> np.ndarray: ...  # type: ignore[empty-body]
    def __set__(self, instance: object, value: ArrayLike) -> None: ...


class MaybeArray:
    """As `Array`, or None."""

    def __get__(self, instance: object, owner: type) -> np.ndarray | None: ...
    def __set__(self, instance: object, value: ArrayLike | None) -> None: ...


class ReadOnly:
    """Base class that keeps arrays read-only when an object is unpickled."""

    def __setstate__(self, state: dict):
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        self.__dict__.update(state)


class Sealed:
    """Base class of objects whose attributes cannot be set or deleted; their own methods use `_keep`.

    Kernels rely on attributes that fit together.
    """

    def _keep(self, **attributes: object) -> None:
        """Set attributes; writing to ``__dict__`` instead would make later method calls 20 ns slower."""
        for name, value in attributes.items():
            super().__setattr__(name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name!r} of a {type(self).__name__} cannot be set: make a new object")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name!r} of a {type(self).__name__} cannot be deleted")


NO_BATCH = (
    "a bound call computes one configuration; call the function itself, which computes a batch at once, or "
    "bind an array of shape {shape} and copy {name}[k] into it before call k"
)
MANY_THREADS = 2**15  # more than any machine can use; fits every integer type of C


def as_real(values, name: str, dtype=np.float64) -> np.ndarray:
    """Return values as an array of float64 or of another real dtype, without a copy where possible.

    Raises
    ------
    DtypeError
        If the elements are not real numbers (complex, object, text), or those of a sparse matrix or of a
        masked array.
    """
    array = as_array(values, name)
    if array.dtype.kind not in "fiub":
        if hasattr(values, "tocsr"):
            raise DtypeError(f"{name} is sparse: Tree.pack takes its entries into an array", values.dtype)
        forces = getattr(next(iter(array.flat), None), "vector", None) is not None  # of Pinocchio
        advice = f": pass np.array([force.vector for force in {name}[1:]])" if forces else ""
        kind = f"dtype {array.dtype}" if array.shape else received(values)
        advice = advice or not_an_array(values)
        raise DtypeError(f"{name} must hold real numbers, got {kind}{advice}", array.dtype)
    if array.dtype is not dtype:
        array = array.astype(dtype, copy=False)
    return array if array.flags.aligned else array.copy()


def as_array(values, name: str) -> np.ndarray:
    """Return values as an array, or raise DtypeError or, for ragged lists, ShapeError.

    DtypeError is for a masked array and for values of other libraries that NumPy cannot read, or only without
    their derivatives.
    """
    if type(values) is np.ndarray:
        return values
    require_unmasked(values, name)
    require_no_tangent(values, name)
    try:
        array = np.asarray(values)
    except ValueError as error:  # ragged nesting
        raise ShapeError(f"{name} is not a rectangular array: {error}") from None
    except (TypeError, RuntimeError) as error:
        raise unreadable(values, name, error) from error
    return from_dlpack(values, name) if array.dtype == object and hasattr(values, "__dlpack__") else array


def shape_of(values) -> tuple[int, ...]:
    """Return the shape of values; () of those that validation will refuse by their names."""
    try:
        return np.shape(values) if hasattr(values, "shape") else as_array(values, "values").shape
    except (DtypeError, ShapeError):
        return ()


def require_unmasked(values, name: str) -> None:
    """Raise DtypeError if values are a masked array, or lists that hold one: NumPy would drop the mask."""
    if "numpy.ma" not in sys.modules:  # importing it takes half as long as NumPy
        return
    kinds = set(map(type, values)) if isinstance(values, (list, tuple)) else {type(values)}
    if any(issubclass(kind, np.ma.MaskedArray) for kind in kinds):
        raise DtypeError(
            f"{name} is a masked array: pass {name}.filled(value), or {name}.data to ignore the mask"
        )
    if isinstance(values, (list, tuple)) and not kinds.isdisjoint((list, tuple)):
        for part in values:
            if isinstance(part, (list, tuple)):
                require_unmasked(part, name)


def as_float(dtype) -> np.dtype:
    """Return float64 or float32, or raise DtypeError."""
    try:
        known = np.dtype(dtype)
    except TypeError:
        known = None
    if known not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise DtypeError(f"dtype must be float64 or float32, got {dtype}", dtype)
    return known


def lane_count(dtype: np.dtype) -> int:
    """Return the number of matrices side by side in the lanes layout: 64 bytes of entries."""
    return 64 // dtype.itemsize


def aligned(shape: tuple[int, ...], dtype=np.float64) -> np.ndarray:
    """Return an array of zeros that begins at a multiple of 64 bytes."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.zeros(size + 64, dtype=np.uint8)
    address, _ = room.__array_interface__["data"]
    return np.ndarray(shape, dtype, room, -address % 64)


def as_vector(values, size: int, name: str) -> np.ndarray:
    """Return values as a finite float64 vector of that size, or raise ShapeError or NonFiniteError."""
    array = as_real(values, name)
    if array.shape != (size,):
        raise ShapeError(f"{name} must have shape ({size},), got {array.shape}", array.shape, (size,))
    require_finite(array, name)
    return array


def as_number(value, name: str) -> float:
    """Return a finite number, or raise DtypeError, ShapeError or NonFiniteError."""
    if type(value) is float and math.isfinite(value):
        return value
    array = _scalar(value, name)
    require_finite(array, name)
    return float(array)


def as_size(value, name: str) -> float:
    """Return a number from 0 to inf, or raise ValueError, DtypeError or ShapeError."""
    if type(value) is float and value >= 0.0:
        return value
    array = _scalar(value, name)
    if not array >= 0.0:
        raise ValueError(f"{name} must not be negative, got {value}")
    return float(array)


def _scalar(value, name: str) -> np.ndarray:
    """Return a number as an array without axes."""
    array = as_real(value, name)
    if array.shape:
        raise ShapeError(f"{name} must be one number, got shape {array.shape}", array.shape, ())
    return array


def as_count(value, name: str, least: int = 0) -> int:
    """Return a whole number of at least `least`, or raise DtypeError or ValueError."""
    require_unmasked(value, name)
    count = _whole(value, name)
    if count < least:
        wanted = {0: "not be negative", 1: "be positive"}.get(least, f"be at least {least}")
        raise ValueError(f"{name} must {wanted}, got {count}")
    return count


def _whole(value, name: str) -> int:
    """Return a whole number, or raise DtypeError."""
    try:
        if not isinstance(value, bool | np.bool_):  # indices to Python, and to NumPy before 2.3
            return operator.index(value)
    except TypeError:
        pass
    raise DtypeError(f"{name} must be a whole number, got {value!r}")


def as_tuple(values, name: str) -> tuple:
    """Return values as a tuple, or raise DtypeError."""
    try:
        return tuple(values)
    except TypeError:
        raise DtypeError(f"{name} must be a sequence, got {values!r:.200}") from None


def as_shift(shift, n: int, batch: tuple[int, ...], dtype=np.float64) -> np.ndarray:
    """Return the shift of diagonals, C-contiguous: (n,) for a single matrix, else (batch or 1, n)."""
    shift = as_real(shift, "shift", dtype)
    if shift.ndim and shift.shape not in ((n,), (*batch, n)):
        raise ShapeError(
            f"shift must be a number or have shape ({n},) or {(*batch, n)}, got {shift.shape}",
            shift.shape,
            (n,),
        )
    if not batch:
        require_finite(shift, "shift")
    if shift.ndim <= 1:
        shift = np.broadcast_to(shift, (1, n) if batch else (n,))
    return np.ascontiguousarray(flatten(shift, 1) if batch else shift)


def as_output(out, shape: tuple[int, ...], dtype=np.float64, name: str = "out") -> np.ndarray:
    """Return out if it can hold a result of the given shape and dtype."""
    if not isinstance(out, np.ndarray):
        raise DtypeError(f"{name} must be a NumPy array, got {type(out).__name__}{writable_view(out, name)}")
    if type(out) is not np.ndarray:
        require_unmasked(out, name)
    if out.shape != shape:
        raise ShapeError(f"{name} must have shape {shape}, got {out.shape}", out.shape, shape)
    if out.dtype != dtype:
        raise DtypeError(f"{name} must have dtype {np.dtype(dtype)}, got {out.dtype}", out.dtype)
    if (
        out.size
        and 0 in out.strides
        and any(size > 1 and step == 0 for size, step in zip(shape, out.strides, strict=True))
    ):
        raise ShapeError(f"{name} overlaps itself", out.shape, shape)
    if not out.flags.writeable:
        raise DtypeError(f"{name} is read-only")
    return out


def fill_outputs(out: tuple, results: tuple) -> tuple:
    """Copy results to arrays of their shapes, a tuple of as many, and return it; raise ShapeError."""
    if not isinstance(results, tuple):
        raise ShapeError(f"out must be one array, got a tuple of {len(out)}", (len(out),), (1,))
    require_count(out, len(results))
    arrays = [as_output(to, x.shape, x.dtype) for to, x in zip(out, map(np.asarray, results), strict=True)]
    for to, result in zip(arrays, results, strict=True):
        to[...] = result
    return out


def require_count(out: tuple, count: int) -> None:
    """Raise ShapeError unless out has an array for every result."""
    if len(out) != count:
        raise ShapeError(
            f"out must be a tuple of {count} arrays, got a tuple of {len(out)}", (len(out),), (count,)
        )


def require_bindable(array, shape: tuple[int, ...], name: str, dtype=np.float64) -> None:
    """Raise ValueError unless an array can be bound: of that shape and dtype, and contiguous."""
    number = np.dtype(dtype)
    wanted = f"{name} must be a contiguous NumPy array of {number} to be bound"
    kind = "float" if number == np.float64 else f"np.{number}"
    if type(array) is not np.ndarray:
        raise ValueError(
            f"{wanted}, got {type(array).__name__}: bind an array made by np.array({name}, {kind})"
        )
    if array.dtype != number:
        raise ValueError(f"{wanted}, got {array.dtype}: bind {name}.astype({kind}), and write into that")
    if array.shape != shape:
        batch = array.ndim > len(shape) and array.shape[array.ndim - len(shape) :] == shape
        advice = f": {NO_BATCH.format(name=name, shape=shape)}" if batch else ""
        reason = f"{name} must have shape {shape} to be bound, got {array.shape}{advice}"
        raise ShapeError(reason, array.shape, shape)
    if not array.flags.c_contiguous:
        raise ValueError(
            f"{wanted}, got strides {array.strides}: bind np.ascontiguousarray({name}), and write into that"
        )
    if not array.flags.aligned:
        raise ValueError(f"{wanted}, got one that is not aligned: bind {name}.copy(), and write into that")


def require_apart(out: np.ndarray, arrays: dict[str, np.ndarray]) -> None:
    """Raise ValueError if a bound result cannot be written or shares memory with a bound argument."""
    if not out.flags.writeable:
        raise ValueError("out is read-only and cannot be bound: bind an array that can be written")
    for name, array in arrays.items():
        if np.may_share_memory(out, array):
            raise ValueError(f"out shares memory with {name} and cannot be bound: bind another array as out")


def flatten(array: np.ndarray, tail: int) -> np.ndarray:
    """Return an array whose axes before the last `tail` ones are merged into one."""
    lead = array.ndim - tail
    return array.reshape(math.prod(array.shape[:lead]), *array.shape[lead:])


def check_choice(name: str, value, choices: tuple[str, ...]) -> None:
    """Raise ValueError unless value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")


def leading_axes(b: np.ndarray, n: int, batch: tuple[int, ...], name: str) -> tuple[tuple[int, ...], bool]:
    """Return the leading axes of the result for b, and whether b holds many vectors for each matrix."""
    if b.shape == (*batch, n):
        return batch, False
    if b.shape[:-1] == (*batch, n):
        return batch, True
    if b.shape == (n,):
        return batch, False
    if b.ndim == 2 and b.shape[0] == n:
        return batch, True
    if not batch and b.ndim > 2 and b.shape[-2] == n:
        return b.shape[:-2], True
    lead = "".join(f"{size}, " for size in batch)
    raise ShapeError(
        f"{name} must have shape {(*batch, n)} or ({lead}{n}, k), got {b.shape}", b.shape, (*batch, n)
    )


def require_finite(array: np.ndarray, name: str) -> None:
    """Raise NonFiniteError if the array holds a NaN or an infinity."""
    finite = np.isfinite(array)
    if not finite.all():
        bad = np.argwhere(~finite)
        where = f": {name}[{', '.join(map(str, bad[0]))}]" if array.ndim else ""
        raise NonFiniteError(f"{name} is not finite{where}", row=int(bad[0][0]) if array.ndim else None)


def thread_count(num_threads: int) -> int:
    """Return the number of threads that num_threads means: -1 is all cores."""
    count = _whole(num_threads, "num_threads")
    if count != -1 and count < 1:
        raise ValueError(f"num_threads must be positive, or -1 for all cores; got {count}")
    return available_cores() if count == -1 else min(count, MANY_THREADS)


def require_sound(matrix, name: str) -> None:
    """Raise ShapeError if the indices of a sparse matrix do not fit its shape, which SciPy does not check."""
    try:
        if hasattr(matrix, "check_format"):  # compressed rows or columns
            matrix.check_format(full_check=True)
        elif matrix.format != "coo":
            matrix.tocsr().check_format(full_check=True)
        elif matrix.ndim == 2:  # the constructor checks its indices
            type(matrix)((matrix.data, (matrix.row, matrix.col)), matrix.shape)
    except ValueError as error:
        raise ShapeError(
            f"{name} is not a sparse matrix of shape {matrix.shape}: {error}", matrix.shape
        ) from None


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
