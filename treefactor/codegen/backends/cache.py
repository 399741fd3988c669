"""Compiled objects kept between processes, in a folder that nobody else can write to.

What is read is compared with its digest before anyone runs it, and those bytes run: no name is opened twice.
"""

from __future__ import annotations

import os
import secrets
import stat
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

import platformdirs

LIMIT = 256 * 2**20  # bytes that are kept
DIGEST = 32  # bytes at the beginning of a file
DAY = 86400.0  # seconds after which a file that was never finished will not be
OTHERS = stat.S_IWGRP | stat.S_IWOTH
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def default_folder() -> Path | None:
    """The user's folder for caches; None where there is no home."""
    folder = platformdirs.user_cache_path("treefactor")
    return folder if os.environ.get("HOME") and folder.is_absolute() else None


@contextmanager
def opened(folder: Path | None) -> Iterator[Cache | None]:
    """The cache in a folder, which is made; None where it could not be trusted, after a warning."""
    if folder is None:
        yield None
        return
    try:
        descriptor = _open(folder)
    except OSError as error:
        _warn(f"compiled code is not kept in {folder}: {error.strerror or error}")
        yield None
        return
    try:
        yield Cache(descriptor)
    finally:
        os.close(descriptor)


class Cache:
    """Objects by their keys.

    Parameters
    ----------
    folder : int
        Descriptor of the folder, which stays the caller's.
    """

    def __init__(self, folder: int):
        self.folder = folder

    def read(self, key: str) -> bytes | None:
        """Object of a key; None where there is none, or one that is not as it was written."""
        try:
            with open(os.open(key, READ | os.O_NONBLOCK, dir_fd=self.folder), "rb") as file:
                info = os.fstat(file.fileno())
                if not stat.S_ISREG(info.st_mode):
                    raise PermissionError(0, "it is not a file")
                _require_own(info)
                digest, content = file.read(DIGEST), file.read()
                if sha256(content).digest() != digest:
                    raise PermissionError(0, "it is not as it was written")
                os.utime(file.fileno())
                return content
        except FileNotFoundError:
            return None
        except OSError as error:
            _warn(f"compiled code {key} is not used: {error.strerror or error}")
            return None

    def write(self, key: str, content: bytes) -> None:
        """Publish an object, all at once: who comes second replaces it by the same."""
        draft = f"{key}.{secrets.token_hex(8)}"
        try:
            with open(os.open(draft, CREATE, 0o600, dir_fd=self.folder), "wb") as file:
                file.write(sha256(content).digest() + content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, key, src_dir_fd=self.folder, dst_dir_fd=self.folder)
        except OSError as error:
            _warn(f"compiled code is not kept: {error.strerror or error}")
        finally:
            with suppress(OSError):
                os.unlink(draft, dir_fd=self.folder)
        self._shrink(key)

    def _shrink(self, key: str) -> None:
        """Remove what was not used for longest while there is too much: those who read it have a copy."""
        with os.scandir(self.folder) as entries:
            files = [(entry.name, info) for entry in entries if (info := self._info(entry.name))]
        drafts = [name for name, info in files if "." in name and info.st_mtime < time.time() - DAY]
        kept = sorted(
            ((name, info) for name, info in files if "." not in name and name != key),
            key=lambda file: file[1].st_mtime,
        )
        excess = sum(info.st_size for name, info in files) - LIMIT
        for name, info in kept:
            if excess <= 0:
                break
            drafts.append(name)
            excess -= info.st_size
        for name in drafts:
            with suppress(OSError):
                os.unlink(name, dir_fd=self.folder)

    def _info(self, name: str) -> os.stat_result | None:
        """What a file is, or None where another process has removed it."""
        with suppress(OSError):
            return os.stat(name, dir_fd=self.folder, follow_symlinks=False)
        return None


def _open(folder: Path) -> int:
    """Descriptor of the user's own folder, which no other user can write to or put another in place of."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    if folder.is_symlink():
        raise PermissionError(0, "it is a symbolic link")
    real = folder.resolve()
    require_safe(real)
    descriptor = os.open(real, READ | os.O_DIRECTORY)
    try:
        _require_own(os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def require_safe(real: Path) -> None:
    """Raise where another user could put something in the place of a path without symbolic links."""
    for parent in real.parents:
        info = os.lstat(parent)
        sticky = info.st_mode & stat.S_ISVTX and info.st_uid == 0  # only owners can rename what is in it
        if info.st_uid not in (0, os.geteuid()) or (info.st_mode & OTHERS and not sticky):
            raise PermissionError(0, f"others own {parent} or can write to it")


def _require_own(info: os.stat_result) -> None:
    """Raise where another user owns or can write to something."""
    if info.st_uid != os.geteuid():
        raise PermissionError(0, "it belongs to another user")
    if info.st_mode & OTHERS:
        raise PermissionError(0, "others can write to it")


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=2)
