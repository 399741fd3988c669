"""Run the text of CUDA kernels on the host, with stand-ins for the driver and for arrays on a device."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from treefactor.codegen.backends import cuda_driver
from treefactor.codegen.backends.nvrtc import folder
from treefactor.codegen.program.emit_cuda import kernel_name, source
from treefactor.codegen.program.precision import DOUBLE

NEEDS_NVRTC = pytest.mark.skipif(folder() is None, reason="no wheel nvidia-cuda-nvrtc-cu12")
NEEDS_CC = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
CONTEXT, OTHER_CONTEXT, MODULE, FUNCTION = 0xC0DE, 0xC0DF, 0x1000, 0x2000
GUARD = 7.25  # beyond the ends of results


def on_host(program, place, precision=DOUBLE):
    """Compile the kernels of a program for the host; return the library of their `run_NAME`."""
    number = precision.c_type
    header = Path(__file__).with_name("cuda_on_host.h")
    files = []
    for k, function in enumerate(program.functions.values()):
        of = ["*(long long *)of[0]"]
        for x in range(len(function.inputs)):
            of += [f"*(const {number} **)of[{3 * x + 1}]"]
            of += [f"*(long long *)of[{3 * x + 2}]", f"*(long long *)of[{3 * x + 3}]"]
        end = 3 * len(function.inputs)
        of += [f"*({number} **)of[{end + 1}]", f"*(long long *)of[{end + 2}]"]
        name = kernel_name(function)
        run = f"RUN({name}, {name}({', '.join(of)}))\n"
        Path(place, f"{k}.c").write_text(f'#include "{header}"\n{source(program, function, precision)}{run}')
        files.append(f"{k}.c")
    alone = ("-Wdouble-promotion",) * precision.is_single  # nothing is computed in double
    flags = (
        *alone,
        "-std=c99",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Wno-unused-parameter",
        "-Werror",
        "-fPIC",
        "-shared",
    )
    subprocess.run(["cc", *flags, *files, "-lm", "-o", "host.so"], cwd=place, check=True)
    return ctypes.CDLL(str(Path(place, "host.so")))


def driver_in_c(place):
    """Compile a stand-in for libcuda.so.1; PTX for it is the path of a library of `on_host`."""
    text, made = Path(__file__).with_name("cuda_driver.c"), Path(place, "cuda.so")
    subprocess.run(["cc", "-fPIC", "-shared", text, "-ldl", "-o", made], check=True)
    return ctypes.CDLL(str(made))


def use(monkeypatch, library):
    """Put a library into the place of the driver's, and return it."""
    driver = cuda_driver.Driver(library)
    monkeypatch.setattr(cuda_driver, "opened", lambda: driver)
    return library


class Driver:
    """Stand-in for libcuda.so.1 that records launches and, given a library of `on_host`, runs them.

    ``device`` is that of the current context; without a context the first call of a thread has to make one.
    """

    def __init__(self, host=None, device=0, current=CONTEXT, fails=None):
        self.host, self.device, self.current, self.fails = host, device, current, fails or {}
        self.calls, self.kernels, self.texts, self.launches = [], [], [], []

    def __getattr__(self, name):
        if not name.startswith("cu"):
            raise AttributeError(name)

        def call(*arguments):
            self.calls.append(name)
            if name in self.fails:
                return self.fails[name]
            getattr(self, f"_{name}", lambda *_: None)(*arguments)
            return 0

        return call

    def cuGetErrorString(self, status, text):
        text._obj.value = f"error number {status}".encode()

    def _cuCtxGetCurrent(self, current):
        current._obj.value = self.current

    def _cuDevicePrimaryCtxRetain(self, context, device):
        context._obj.value = OTHER_CONTEXT + device.value

    def _cuCtxSetCurrent(self, context):
        self.current = context.value

    def _cuCtxGetDevice(self, device):
        device._obj.value = self.device

    def _cuModuleLoadData(self, module, text):
        self.texts.append(text.value.decode())
        module._obj.value = MODULE + len(self.texts)

    def _cuModuleGetFunction(self, function, module, name):
        self.kernels.append(name.value.decode())
        function._obj.value = FUNCTION + len(self.kernels) - 1

    def _cuLaunchKernel(self, function, *rest):
        *grid, shared, stream, places, extra = rest
        assert extra is None
        values = [ctypes.cast(place, ctypes.POINTER(ctypes.c_longlong))[0] for place in places]
        name = self.kernels[function.value - FUNCTION]
        self.launches.append((name, [x.value for x in grid], shared.value, stream.value or 0, values))
        if self.host is not None:
            getattr(self.host, f"run_{name}")(grid[0].value, grid[3].value, places)


class OnDevice:
    """NumPy array that claims to be in the memory of a device."""

    def __init__(self, array, device=(2, 0), **changed):
        self.array, self.device, self.changed = array, device, changed

    @property
    def __cuda_array_interface__(self):
        kept = ("shape", "typestr", "data", "strides")
        interface = {key: self.array.__array_interface__[key] for key in kept}
        return {**interface, "version": 3, **self.changed}

    def __dlpack_device__(self):
        return self.device


def columns(array, apart=0):
    """Return an equal array that holds the numbers of all configurations side by side.

    ``apart`` numbers are between one entry and the next.
    """
    count, tail = len(array), array.shape[1:]
    whole = np.full((*tail, count + apart), GUARD, array.dtype)
    whole[..., :count] = np.moveaxis(array, 0, -1)
    return np.moveaxis(whole[..., :count], -1, 0)
