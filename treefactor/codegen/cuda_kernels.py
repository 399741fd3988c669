"""Call generated functions on NVIDIA GPUs: `compile` makes `CudaKernels` for its backend "cuda"."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import c_longlong, c_void_p
from dataclasses import dataclass
from numbers import Integral
from threading import Lock
from types import MappingProxyType
from typing import NoReturn

import numpy as np

from .._util.elsewhere import no_attribute
from .._util.validation import Sealed, as_float
from ..exceptions import CodegenError, DtypeError, ShapeError
from .backends import cuda_driver
from .backends.device_arrays import DeviceArray, tail_of
from .program.emit_cuda import THREADS, kernel_name
from .program.names import name_of
from .program.program import Function, Program


class CudaKernels(Sealed):
    """Generated functions of one robot as kernels for NVIDIA GPUs: one thread computes one configuration.

    Compiled to PTX, and checked on the host as C; not yet run on a GPU. Arrays are those of a library with
    ``__cuda_array_interface__`` (CuPy, PyTorch, JAX, Numba), of the kernels' dtype, on the current device.
    They have shape (batch, size), with the numbers of all configurations side by side in memory:
    ``torch.empty(size, batch, dtype=torch.float64, device="cuda").T``. Arguments of shape (size,) are those
    of every configuration.

    Parameters
    ----------
    program : Program
    ptx : mapping of str to str
        PTX of the functions by name.
    dtype : {float64, float32}
        That the PTX computes with.

    Attributes
    ----------
    program : Program
    ptx : mapping of str to str
    backend : str
        "cuda".
    dtype : numpy.dtype

    Raises
    ------
    CodegenError
        If the program is not valid, or the PTX of a function is missing.

    Notes
    -----
    Thread-safe.

    Values of arguments are not checked. A configuration with an argument that is not finite, with a
    quaternion that has not length 1 or with a pivot that is not positive has results that are not valid, NaN
    for such a pivot; others are not affected.

    At the first call of a function on a device the driver translates its PTX, and keeps the result in a cache
    of its own; the kernel stays loaded until the process ends. The driver must be as new as the NVRTC that
    wrote the PTX, and the device of compute capability 7.0 or later. A pickle holds the PTX.
    """

    program: Program
    ptx: Mapping[str, str]
    backend: str
    dtype: np.dtype
    _loaded: dict[tuple[int, str], int]  # kernels by context and function
    _lock: Lock

    def __init__(self, program: Program, ptx: Mapping[str, str], dtype=np.float64):
        program.validate()
        for name in program.functions:
            if name not in ptx:
                raise CodegenError(f"the PTX of {name!r} is missing; there is that of {', '.join(ptx)}")
        self._keep(program=program, ptx=MappingProxyType(dict(ptx)), backend="cuda", dtype=as_float(dtype))
        self._keep(_loaded={}, _lock=Lock())

    def __reduce__(self):
        return CudaKernels, (self.program, dict(self.ptx), self.dtype)

    def __repr__(self) -> str:
        functions = ", ".join(self.program.functions)
        return f"<CudaKernels {self.program.model!r}: {functions}; {self.backend}, {self.dtype}>"

    def __getattr__(self, name: str) -> NoReturn:
        functions = self.__dict__["program"].functions if "program" in self.__dict__ else {}
        if name not in functions:
            raise no_attribute("CudaKernels", name, dir(self))
        taken = ", ".join(argument for argument, _ in functions[name].inputs)
        raise AttributeError(f"CudaKernels has no attribute {name!r}: use call({name!r}, {taken}, out=out)")

    def call(self, name, *arguments, out, stream: int = 0):
        """Start the kernel of a function of the program, or of a group of functions.

        Parameters
        ----------
        name : str or sequence of str
            Name of a function, for example "forward_dynamics", or those of a group.
        *arguments : device arrays, shapes (batch, size) or (size,)
            The arguments that `treefactor.generate` lists for the function; of a group, those of all parts.
        out : device array, shape (batch, ...)
            The shape that the function has for a configuration, or flat: packed rows for "crba", and several
            results one after the other. Without the first axis, one configuration is computed.
        stream : int
            Handle of the stream of the current device, such as
            ``torch.cuda.current_stream().cuda_stream`` or ``cupy.cuda.get_current_stream().ptr``.

        Returns
        -------
        device array
            ``out``, which can be read on the same stream, or after the stream has been synchronized.

        Raises
        ------
        CodegenError
            If the function was not generated, there is no driver, or it refuses the kernel.
        DtypeError, ShapeError, ValueError
            If an array is not on the current device, not of the kernels' dtype or not laid out as above, or
            ``out`` overlaps an argument.
        """
        function = self._function(name_of(name), arguments)
        if not isinstance(stream, Integral) or stream < 0:
            raise DtypeError(f"stream must be the handle of a stream, a whole number; got {stream!r:.200}")
        driver = cuda_driver.opened()
        context, device = driver.context()
        launch = _Launch.of(function, arguments, out, device, self.dtype)
        if launch.count:
            kernel = self._kernel(driver, context, function)
            blocks = -(-launch.count // THREADS)
            driver.launch(kernel, blocks, THREADS, int(stream), launch.arguments)
        return out

    def _function(self, name: str, arguments: tuple) -> Function:
        """Return a function; raise if it does not exist or takes other arguments."""
        if name not in self.program.functions:
            raise CodegenError(f"{name!r} was not generated, only {', '.join(self.program.functions)}")
        function = self.program.functions[name]
        if len(arguments) != len(function.inputs):
            taken = ", ".join(argument for argument, _ in function.inputs)
            raise ValueError(f"{name} takes {len(function.inputs)} arrays: {taken}; got {len(arguments)}")
        return function

    def _kernel(self, driver: cuda_driver.Driver, context: int, function: Function) -> int:
        """Return the kernel of a function in a context, loaded when it is first used there."""
        with self._lock:
            if (context, function.name) not in self._loaded:
                kernel = driver.load(self.ptx[function.name], kernel_name(function))
                self._loaded[context, function.name] = kernel
            return self._loaded[context, function.name]


@dataclass(frozen=True)
class _Launch:
    """Number of configurations and validated arguments of a kernel, as `emit_cuda.source` orders them."""

    count: int
    arguments: list[c_longlong | c_void_p]

    @classmethod
    def of(cls, function: Function, arguments: tuple, out, device: int, dtype: np.dtype) -> _Launch:
        """Validate the arrays of a call."""
        result = DeviceArray.of(out, "out", device, dtype)
        if not result.writeable:
            raise ValueError("out is read-only: give an array that can be written")
        shapes = [function.shape, (function.output.size,)]
        tail, batch = tail_of(result, shapes)
        count, distance = 1 if batch is None else batch, result.entries(tail, batch)
        number, spans = c_longlong(count if function.output.size else 0), []
        passed: list[c_longlong | c_void_p] = [number]
        for (name, size), values in zip(function.inputs, arguments, strict=True):
            array = DeviceArray.of(values, name, device, dtype)
            _, own = tail_of(array, [(size,)])
            if own is not None and own != batch:
                text = f"{name} has {own} configurations, out has {count if batch is not None else 'one'}"
                raise ShapeError(text, array.shape, (count, size))
            stride = array.entries((size,), own)
            spans.append((name, array.address, array.end((size,), own, stride)))
            passed += [c_void_p(array.address), c_longlong(stride), c_longlong(0 if own is None else 1)]
        end = result.end(tail, batch, distance)
        for name, first, stop in spans:
            if count and max(first, result.address) < min(stop, end):
                raise ValueError(f"out overlaps {name} in memory: give another array")
        return cls(number.value, [*passed, c_void_p(result.address), c_longlong(distance)])
