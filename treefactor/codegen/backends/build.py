"""Generated C compiled by the system's compiler, and what it has compiled loaded.

Compiling is a step of its own, never part of a numerical call. Nothing is loaded but bytes that this process
has compiled, or that the cache has found unchanged.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ..._util.validation import Sealed, available_cores
from ..._version import __version__
from ...exceptions import CodegenError
from ..program import emit_c
from . import cache

FLAGS = (
    "-std=c99",
    "-O2",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-tree-slp-vectorize",  # which finds nothing, and takes a tenth of the time and a fifth of the memory
    "-Wno-psabi",
)
NATIVE = "-mcpu=native" if platform.machine() in ("arm64", "aarch64") else "-march=native"
LANES = "-DLANES=8"
SECONDS, MEMORY = 300, 2 * 2**30  # that a compiler may take
LIMITED = """
import os, resource, sys
try:
    resource.setrlimit(resource.RLIMIT_AS, 2 * (int(sys.argv[1]),))
except (OSError, ValueError):
    pass
os.execv(sys.argv[2], sys.argv[2:])
"""  # a process that limits its memory, then becomes the compiler: nothing runs between fork and exec


class Compiled(Sealed):
    """Functions of a program as machine code.

    Parameters
    ----------
    library : ctypes.CDLL
    """

    library: ctypes.CDLL

    def __init__(self, library: ctypes.CDLL):
        self._keep(library=library)

    def one(self, name: str) -> int:
        """Address of a function of (q, v, u, out), one configuration."""
        return self._address(f"tf_{name}")

    def lanes(self, name: str) -> int:
        """Address of its form for eight configurations, entry e of configuration l at 8 e + l."""
        return self._address(f"tf_{name}_x8")

    def _address(self, symbol: str) -> int:
        return ctypes.cast(getattr(self.library, symbol), ctypes.c_void_p).value


def compiled(program, functions: Iterable[str] | None = None) -> Compiled:
    """Functions of a program, compiled by the system's C compiler or taken from the cache.

    Parameters
    ----------
    program : Program
    functions : sequence of str, optional
        Some of those in the program; by default all.

    Raises
    ------
    CodegenError
        Where there is no compiler, or it fails, or takes more time or memory than it may.

    Notes
    -----
    The compiler is what the environment variable CC says, or cc, gcc, clang.
    """
    return compiled_texts(emit_c.sources(program, functions))


def compiled_texts(texts: dict[str, str]) -> Compiled:
    """The same of files by their names, see `emit_c.sources`."""
    compiler = Compiler.find()
    key = _key(texts, compiler)
    with cache.opened(cache.default_folder()) as kept:
        content = kept and kept.read(key)
        if not content or key.encode() not in content:
            content = compiler.library(texts, key)
            if kept:
                kept.write(key, content)
    return _loaded(content, key)


def _key(texts: dict[str, str], compiler: Compiler) -> str:
    """Digest of all that a compiled object depends on."""
    made_of = [*texts, *texts.values(), *compiler.command, compiler.identity()]
    parts = [__version__, str(emit_c.ABI), *made_of]
    return sha256("\0".join(parts).encode()).hexdigest()


def _loaded(content: bytes, key: str) -> Compiled:
    """An object in this process, from a copy that only this process has."""
    with _private() as folder:
        path = Path(folder, f"{key}.so")
        path.write_bytes(content)
        try:
            library = ctypes.CDLL(str(path))
        except OSError as error:
            raise CodegenError(f"compiled code cannot be loaded: {error}") from error
    library.tf_hash.restype = ctypes.c_char_p
    if library.tf_abi() != emit_c.ABI or library.tf_hash() != key.encode():
        raise CodegenError("compiled code is not of this program")
    return Compiled(library)


@dataclass(frozen=True)
class Compiler:
    """A C compiler.

    Attributes
    ----------
    command : tuple of str
        Its path and arguments.
    """

    command: tuple[str, ...]

    @classmethod
    def find(cls) -> Compiler:
        """The compiler that CC names, or the system's."""
        given = shlex.split(os.environ.get("CC", ""))
        for name, *arguments in [given] if given else [["cc"], ["gcc"], ["clang"]]:
            path = shutil.which(name)
            if path:
                return cls((os.path.abspath(path), *arguments, *FLAGS, NATIVE, "-fPIC"))
        raise CodegenError(f"no C compiler {given[0] if given else 'cc, gcc or clang'} found")

    def identity(self) -> str:
        """Its version, and its macros, among them the processor's features that it makes use of."""
        with _private() as folder:
            return self.run(folder, "--version") + self.run(folder, "-dM", "-E", "-x", "c", os.devnull)

    def library(self, texts: dict[str, str], key: str) -> bytes:
        """Shared object of files, with a key in it."""
        with _private() as folder:
            for name, text in texts.items():
                Path(folder, name).write_text(text, encoding="utf-8")
            units = [(name, *form) for name in texts if name.endswith(".c") for form in ((), (LANES,))]
            units.remove(("dynamics.c", LANES))
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
        """What it prints when it runs in a folder."""
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", LIMITED, str(MEMORY), *self.command, *arguments],
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
                os.killpg(process.pid, signal.SIGKILL)  # and what it has started
                process.communicate()
        if process.returncode:
            how = (
                f"status {process.returncode}" if process.returncode > 0 else f"signal {-process.returncode}"
            )
            raise CodegenError(f"{self.command[0]} ended with {how}: {printed[-500:].strip()}")
        return printed


@contextmanager
def _private() -> Iterator[str]:
    """A folder for temporary files that only this user can reach."""
    with tempfile.TemporaryDirectory(prefix="treefactor-") as folder:
        try:
            cache.require_safe(Path(folder).resolve())
        except OSError as error:
            raise CodegenError(f"temporary files are not safe: {error.strerror}") from error
        yield folder


def _environment(folder: str) -> dict[str, str]:
    """Absolute folders of PATH, and nothing that brings libraries, headers or flags from elsewhere."""
    path = [place for place in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(place)]
    return {"PATH": os.pathsep.join(path), "HOME": folder, "TMPDIR": folder, "LC_ALL": "C"}
