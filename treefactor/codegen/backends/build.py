"""Compile generated C with the system's compiler and load the result.

Numerical calls never compile. Only bytes that this process has compiled, or that the cache has verified by
their digest, are loaded.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ..._util.validation import available_cores
from ..._version import __version__
from ...exceptions import CodegenError
from ..program import emit_c
from ..program.names import identifier
from ..program.precision import DOUBLE, Precision
from . import cache
from .addresses import MachineCode

FLAGS = (
    "-std=c99",
    "-O2",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-tree-slp-vectorize",  # finds nothing here, but costs 10 % of the time and 20 % of the memory
    "-Wno-psabi",
)
NATIVE = "-mcpu=native" if platform.machine() in ("arm64", "aarch64") else "-march=native"
# Order the statements of the form for eight lanes. Measured with GCC 12: the first pair saves 7 % to 19 % of
# forward dynamics in short files, but makes RNEA of humanoids 10 % slower; there the last flag saves 3 %.
SHORT, SCHEDULED, SHRUNK = 64_000, ("-fschedule-insns", "-fsched-pressure"), ("-flive-range-shrinkage",)
SECONDS, MEMORY = 300, 2 * 2**30  # limits of one compiler run; memory in bytes
LIMITED = 'ulimit -v "$0" 2>&-; exec "$@"'  # shell script: limits its memory (KiB), then becomes the compiler


class Compiled(MachineCode):
    """Machine code of functions of a program, loaded from a shared object.

    Parameters
    ----------
    library : ctypes.CDLL
    precision : Precision
    """

    library: ctypes.CDLL

    def __init__(self, library: ctypes.CDLL, precision: Precision):
        self._keep(library=library, precision=precision)

    def groups(self, name: str) -> tuple[int, int]:
        """Return the address and the slots of the form for several groups, see `emit_c`."""
        form = f"tf_{identifier(name)}_x{self.precision.lanes}"
        if not hasattr(self.library, f"{form}_groups"):
            return 0, 0
        live = ctypes.c_int.in_dll(self.library, f"{form}_live")
        return self._address(f"{form}_groups"), live.value

    def _address(self, symbol: str) -> int:
        return ctypes.cast(getattr(self.library, symbol), ctypes.c_void_p).value


def compiled(program, functions: Iterable[str] | None = None, precision: Precision = DOUBLE) -> Compiled:
    """Compile functions of a program with the system's C compiler, or take them from the cache.

    Parameters
    ----------
    program : Program
    functions : sequence of str, optional
        Names of functions of the program. Default: all.
    precision : Precision

    Raises
    ------
    CodegenError
        If there is no compiler, it fails, or it exceeds the limits of time or memory.

    Notes
    -----
    Uses the compiler named by the environment variable CC, otherwise cc, gcc or clang.
    """
    return compiled_texts(emit_c.sources(program, functions, precision), precision)


def compiled_texts(texts: dict[str, str], precision: Precision = DOUBLE) -> Compiled:
    """Compile the texts of files by name, see `emit_c.sources`."""
    compiler = Compiler.find()
    key = _key(texts, compiler)
    with cache.opened(cache.default_folder()) as kept:
        content = kept and kept.read(key)
        if not content or key.encode() not in content:
            content = compiler.library(texts, key, precision)
            if kept:
                kept.write(key, content)
    return _loaded(content, key, precision)


def _key(texts: dict[str, str], compiler: Compiler) -> str:
    """Return a digest of everything the compiled object depends on: texts, compiler, version."""
    made_of = [*texts, *texts.values(), *compiler.command, *SCHEDULED, *SHRUNK, compiler.identity()]
    parts = [__version__, str(emit_c.ABI), *made_of]
    return sha256("\0".join(parts).encode()).hexdigest()


def _loaded(content: bytes, key: str, precision: Precision = DOUBLE) -> Compiled:
    """Load a shared object into this process from a private copy, and check its key."""
    with _private() as folder:
        path = Path(folder, f"{key}.so")
        path.write_bytes(content)
        try:
            library = ctypes.CDLL(str(path))
        except OSError as error:
            raise CodegenError(f"compiled code cannot be loaded: {error}") from error
    library.tf_hash.restype = ctypes.c_char_p
    if library.tf_abi() != emit_c.ABI or library.tf_hash() != key.encode():
        raise CodegenError("compiled code is not of this program: its hash differs")
    return Compiled(library, precision)


@dataclass(frozen=True)
class Compiler:
    """C compiler with its flags.

    Attributes
    ----------
    command : tuple of str
        Path and arguments.
    """

    command: tuple[str, ...]

    @classmethod
    def find(cls) -> Compiler:
        """Find the compiler that CC names, or the system's."""
        named = shlex.split(os.environ.get("CC", ""))
        for name, *arguments in [named] if named else [["cc"], ["gcc"], ["clang"]]:
            path = shutil.which(name)
            if path:
                return cls((os.path.abspath(path), *arguments, *FLAGS, NATIVE, "-fPIC"))
        raise CodegenError(f"no C compiler {named[0] if named else 'cc, gcc or clang'} found")

    def identity(self) -> str:
        """Return its version and predefined macros, which include the processor features it uses."""
        with _private() as folder:
            return self.run(folder, "--version") + self.run(folder, "-dM", "-E", "-x", "c", os.devnull)

    def library(self, texts: dict[str, str], key: str, precision: Precision = DOUBLE) -> bytes:
        """Compile files, in parallel, into a shared object that contains the key; return its bytes."""
        ordered = "__clang__" not in self.identity()  # clang has no such flags
        with _private() as folder:
            for name, text in texts.items():
                Path(folder, name).write_text(text, encoding="utf-8")
            sources = [name for name in texts if name.endswith(".c")]
            units: list[tuple[str, ...]] = [("dynamics.c",)]
            for name in sources:
                if name != "dynamics.c":
                    order = SCHEDULED if len(texts[name]) < SHORT else SHRUNK
                    units += [(name,)] * (not precision.is_single)
                    units.append((name, f"-DLANES={precision.lanes}", *(order if ordered else ())))
            objects = [f"{k}.o" for k in range(len(units))]
            with ThreadPoolExecutor(min(available_cores(), len(units))) as pool:
                list(
                    pool.map(
                        lambda unit, to: self.run(folder, "-c", *unit, f'-DTF_HASH="{key}"', "-o", to),
                        units,
                        objects,
                    )
                )
            self.run(folder, "-shared", *objects, "-lm", "-o", "library.so")
            return Path(folder, "library.so").read_bytes()

    def run(self, folder: str, *arguments: str) -> str:
        """Run the compiler in a folder, within the limits of time and memory; return what it prints."""
        process = subprocess.Popen(
            ["/bin/sh", "-c", LIMITED, str(MEMORY // 1024), *self.command, *arguments],
            cwd=folder,
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            printed, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise CodegenError(f"{self.command[0]} took more than {SECONDS} s") from None
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)  # also kills its child processes
                process.communicate()
        if process.returncode:
            how = (
                f"status {process.returncode}" if process.returncode > 0 else f"signal {-process.returncode}"
            )
            raise CodegenError(f"{self.command[0]} ended with {how}: {printed[-500:].strip()}")
        return printed


@contextmanager
def _private() -> Iterator[str]:
    """Create a temporary folder that only this user can access."""
    with tempfile.TemporaryDirectory(prefix="treefactor-") as folder:
        try:
            cache.require_safe(Path(folder).resolve())
        except OSError as error:
            raise CodegenError(f"temporary files are not safe: {error.strerror}") from error
        yield folder


def _environment(folder: str) -> dict[str, str]:
    """Return a minimal environment: absolute entries of PATH, no variables that add libraries or flags."""
    path = [place for place in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(place)]
    return {"PATH": os.pathsep.join(path), "HOME": folder, "TMPDIR": folder, "LC_ALL": "C"}
