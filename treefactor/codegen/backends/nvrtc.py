"""Compile kernels of generated functions to PTX with NVIDIA's NVRTC, which needs no GPU.

PTX is text for all GPUs from `emit_cuda.ARCHITECTURE` on; the driver of a GPU translates it when it loads it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache as cached
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from ..._util.validation import available_cores
from ..._version import __version__
from ...exceptions import CodegenError
from ..program import emit_cuda
from ..program.precision import DOUBLE, Precision
from . import cache

LIBRARY = "libnvrtc.so.12"
OPTIONS = (f"--gpu-architecture={emit_cuda.ARCHITECTURE}", "--fmad=true", "--disable-warnings")


def compiled(
    program, functions: Iterable[str] | None = None, precision: Precision = DOUBLE
) -> dict[str, str]:
    """Compile functions of a program to PTX, or take it from the cache.

    Parameters
    ----------
    program : Program
    functions : sequence of str, optional
        Names of functions of the program. Default: all.
    precision : Precision

    Returns
    -------
    dict of str to str
        PTX by name of the function; the kernel in it is `emit_cuda.kernel_name`.

    Raises
    ------
    CodegenError
        If NVRTC is not installed, or fails.
    """
    chosen, library = program.chosen(functions), loaded()
    texts = [emit_cuda.source(program, function, precision) for function in chosen]
    with (
        cache.opened(cache.default_folder()) as kept,
        ThreadPoolExecutor(min(available_cores(), len(texts)) or 1) as pool,
    ):
        modules = list(pool.map(partial(_compiled, library, kept), texts))
    return {function.name: ptx for function, ptx in zip(chosen, modules, strict=True)}


def folder() -> Path | None:
    """Return the folder of NVRTC in its wheel, None if it is not installed."""
    try:
        spec = find_spec("nvidia.cuda_nvrtc")
    except ModuleNotFoundError:  # no wheel of NVIDIA is installed
        return None
    places = [Path(place, "lib") for place in (spec and spec.submodule_search_locations) or ()]
    return next((place for place in places if (place / LIBRARY).is_file()), None)


@cached
def loaded() -> ctypes.CDLL:
    """Load NVRTC from its wheel; raise CodegenError if it is not installed."""
    place = folder()
    if place is None:
        raise CodegenError(
            "NVRTC 12 is missing: pip install 'treefactor[cuda]' (Linux), which brings "
            "nvidia-cuda-nvrtc-cu12. No GPU is needed to compile"
        )
    try:
        for builtins in place.glob("libnvrtc-builtins.so.*"):
            ctypes.CDLL(str(builtins))  # NVRTC opens it by name, wherever the loader then looks
        library = ctypes.CDLL(str(place / LIBRARY))
    except OSError as error:
        raise CodegenError(f"NVRTC cannot be loaded: {error}") from error
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    return library


def version(library) -> str:
    """Return the version of NVRTC."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return f"{major.value}.{minor.value}"


def _compiled(library, kept: cache.Cache | None, text: str) -> str:
    """Return the PTX of a text, from the cache if it is there."""
    parts = (__version__, version(library), *OPTIONS, text)
    key = sha256("\0".join(parts).encode()).hexdigest()
    content = kept.read(key) if kept else None
    if content is None:
        content = _ptx(library, text)
        if kept:
            kept.write(key, content)
    return content.decode()


def _ptx(library, text: str) -> bytes:
    """Compile a text to PTX."""
    program = ctypes.c_void_p()
    _require(library, library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"", 0, None, None))
    try:
        options = (ctypes.c_char_p * len(OPTIONS))(*(option.encode() for option in OPTIONS))
        status = library.nvrtcCompileProgram(program, len(OPTIONS), options)
        if status:
            _require(library, status, _text(library, program, "ProgramLog").decode(errors="replace"))
        return _text(library, program, "PTX")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _text(library, program: ctypes.c_void_p, what: str) -> bytes:
    """Return the log of a compilation, or its result."""
    size = ctypes.c_size_t()
    _require(library, getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _require(library, getattr(library, f"nvrtcGet{what}")(program, buffer))
    return buffer.value


def _require(library, status: int, log: str = "") -> None:
    """Raise CodegenError if a call of NVRTC has failed."""
    if status:
        raise CodegenError(f"{library.nvrtcGetErrorString(status).decode()}: {log[-500:].strip()}")
