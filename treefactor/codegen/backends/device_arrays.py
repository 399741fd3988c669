"""Read and check arrays in the memory of GPUs by the protocol of CuPy, PyTorch, JAX and Numba."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...exceptions import DtypeError, ShapeError

CUDA = 2  # kDLCUDA of the DLPack standard; other numbers are of the host, of managed memory, of other GPUs
MANAGED = 13  # kDLCUDAManaged: every device reads it
INTERFACE = "__cuda_array_interface__"


@dataclass(frozen=True)
class DeviceArray:
    """Array of real numbers on a device.

    Attributes
    ----------
    name : str
        Of the argument.
    address : int
    shape : tuple of int
    strides : tuple of int
        In numbers.
    writeable : bool
    itemsize : int
        Bytes of a number.
    """

    name: str
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    writeable: bool
    itemsize: int

    @classmethod
    def of(cls, values, name: str, device: int, expected: np.dtype) -> DeviceArray:
        """Read an array; raise DtypeError or ValueError unless it is of this dtype and on a device."""
        interface = getattr(values, INTERFACE, None)
        if interface is None:
            kind = f"{type(values).__module__}.{type(values).__qualname__}".removeprefix("builtins.")
            raise DtypeError(
                f"{name} must be an array in the memory of a CUDA device, of CuPy or PyTorch for example; "
                f"got {kind}, which has no {INTERFACE}: copy it to the device"
            )
        _require_device(values, name, device)
        dtype = np.dtype(interface["typestr"])
        if dtype != expected or interface.get("mask") is not None:
            raise DtypeError(f"{name} must be of {expected} without a mask, got {dtype}", dtype)
        shape = tuple(map(int, interface["shape"]))
        address, readonly = interface["data"]
        size = expected.itemsize
        strides = interface.get("strides") or _contiguous(shape, size)
        if any(step % size for step in strides):
            raise ValueError(f"{name} has strides of {strides} bytes; expected multiples of {size}")
        strides = tuple(step // size for step in strides)
        return cls(name, int(address or 0), shape, strides, not readonly, size)

    def entries(self, tail: tuple[int, ...], count: int | None) -> int:
        """Return the distance of entries that follow one another.

        Parameters
        ----------
        tail : tuple of int
            Shape of one configuration.
        count : int or None
            Number of configurations in the axis before it; None without this axis.

        Raises
        ------
        ValueError
            Unless entries have equal distances, and the numbers of all configurations are between them.
        """
        strides = self.strides if count is None else self.strides[1:]
        across = 1 if count is None else count
        moving = [k for k, size in enumerate(tail) if size > 1 and math.prod(tail)]  # axes with a stride
        distance = strides[moving[-1]] if moving else across
        even = all(strides[k] == distance * math.prod(tail[k + 1 :]) for k in moving)
        side_by_side = across <= 1 or self.strides[0] == 1
        if not even or not side_by_side or distance < across:
            flat = (math.prod(tail), *([] if count is None else [count]))
            raise ValueError(
                f"{self.name} of shape {self.shape} must hold the numbers of all configurations side by "
                f"side, got strides {self.strides}: make an array of shape {flat} and transpose it"
            )
        return distance

    def end(self, tail: tuple[int, ...], count: int | None, distance: int) -> int:
        """Return the first address after the array, for entries at this distance."""
        numbers = (math.prod(tail) - 1) * distance + (1 if count is None else count)
        return self.address + self.itemsize * numbers


def tail_of(array: DeviceArray, tails: list[tuple[int, ...]]) -> tuple[tuple[int, ...], int | None]:
    """Return which of the shapes of one configuration an array has, and the size of the axis before it.

    Raises
    ------
    ShapeError
        If it has none of them.
    """
    for tail in tails:
        if array.shape == tail:
            return tail, None
        if array.shape[1:] == tail and len(array.shape) == len(tail) + 1:
            return tail, array.shape[0]
    inner = ", ".join(map(str, tails[0]))
    expected = f"(batch, {inner})" if tails[0] else "(batch,)"
    raise ShapeError(f"{array.name} must have shape {expected} or {tails[0]}, got {array.shape}", array.shape)


def _contiguous(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return the strides of a C-contiguous array."""
    return tuple(itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape)))


def _require_device(values, name: str, device: int) -> None:
    """Raise ValueError if an array names a device that is not the current one."""
    if not hasattr(values, "__dlpack_device__"):
        return
    kind, number = (int(x) for x in values.__dlpack_device__())
    if kind != MANAGED and (kind, number) != (CUDA, device):
        where = f"CUDA device {number}" if kind == CUDA else f"DLPack device ({kind}, {number})"
        raise ValueError(
            f"{name} is on {where}, but the current device is {device}: copy it there, or make the other "
            "device current"
        )
