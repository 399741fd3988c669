"""Load and launch kernels through the C interface of NVIDIA's driver; no other package is needed."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_char_p, c_int, c_void_p
from functools import cache

from ..._util.validation import Sealed
from ...exceptions import CodegenError
from ..program.emit_cuda import ARCHITECTURE

LIBRARY = "libcuda.so.1"


class Driver(Sealed):
    """The driver, initialized.

    Parameters
    ----------
    library : ctypes.CDLL
        Its library.
    """

    def __init__(self, library):
        self._keep(_library=library)
        self._call("cuInit", 0)

    def context(self) -> tuple[int, int]:
        """Return the current context of this thread and its device; without one, device 0 gets current."""
        current, device = c_void_p(), c_int()
        self._call("cuCtxGetCurrent", byref(current))
        if not current.value:
            self._call("cuDeviceGet", byref(device), 0)
            self._call("cuDevicePrimaryCtxRetain", byref(current), device)
            self._call("cuCtxSetCurrent", current)
        self._call("cuCtxGetDevice", byref(device))
        return current.value or 0, device.value

    def load(self, ptx: str, kernel: str) -> int:
        """Translate PTX for the current device; return its kernel, which stays loaded in this context."""
        module, function = c_void_p(), c_void_p()
        try:
            self._call("cuModuleLoadData", byref(module), c_char_p(ptx.encode()))
        except CodegenError as error:
            needed = f"a device of {ARCHITECTURE} or later, and a driver as new as the NVRTC that compiled it"
            raise CodegenError(f"{error}; the kernel needs {needed}") from error
        self._call("cuModuleGetFunction", byref(function), module, c_char_p(kernel.encode()))
        return function.value or 0

    def launch(self, kernel: int, blocks: int, threads: int, stream: int, arguments: Sequence) -> None:
        """Start a kernel on a stream; arguments are values of ctypes."""
        places = (c_void_p * len(arguments))(*(ctypes.addressof(value) for value in arguments))
        grid = (c_int(blocks), c_int(1), c_int(1), c_int(threads), c_int(1), c_int(1))
        self._call("cuLaunchKernel", c_void_p(kernel), *grid, c_int(0), c_void_p(stream), places, None)

    def _call(self, name: str, *arguments) -> None:
        """Call a function of the driver; raise CodegenError if it fails."""
        status = getattr(self._library, name)(*arguments)
        if status:
            text = c_char_p()
            self._library.cuGetErrorString(status, byref(text))
            what = (text.value or b"unknown error").decode(errors="replace")
            raise CodegenError(f"CUDA: {what} ({name} returned {status})")


@cache
def opened() -> Driver:
    """Return the driver of this machine; raise CodegenError if it is missing."""
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise CodegenError(
            f"{LIBRARY} is missing: running kernels of backend 'cuda' needs an NVIDIA GPU and its driver; "
            "install the driver, or call where there is one (compiling needs neither)"
        ) from error
    return Driver(library)
