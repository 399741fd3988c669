"""Cache compiled objects between processes, in a folder that no other user can write to.

Every object is compared with its digest before it is loaded, and exactly those bytes are loaded: no file is
opened a second time by name.
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

from ..._util.files import cache_folder

LIMIT = 256 * 2**20  # most bytes in the cache
DIGEST = 32  # bytes of the digest at the start of a file
DAY = 86400.0  # seconds after which an unfinished file is removed
OTHERS = stat.S_IWGRP | stat.S_IWOTH
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def default_folder() -> Path | None:
    """Return the user's cache folder, None if there is no home folder."""
    folder = cache_folder()
    return folder if os.environ.get("HOME") and folder.is_absolute() else None


@contextmanager
def opened(folder: Path | None) -> Iterator[Cache | None]:
    """Open the cache in a folder, created if needed; yields None after a warning if it is not safe."""
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
    """Compiled objects by key.

    Parameters
    ----------
    folder : int
        Descriptor of the folder; the caller closes it.
    """

    def __init__(self, folder: int):
        self.folder = folder

    def read(self, key: str) -> bytes | None:
        """Return the object of a key; None if it is missing or was changed."""
        try:
            with open(os.open(key, READ | os.O_NONBLOCK, dir_fd=self.folder), "rb") as file:
                info = os.fstat(file.fileno())
                if not stat.S_ISREG(info.st_mode):
                    raise PermissionError(0, "it is not a regular file")
                _require_own(info)
                digest, content = file.read(DIGEST), file.read()
                if sha256(content).digest() != digest:
                    raise PermissionError(0, "its content was changed after it was written")
                os.utime(file.fileno())
                return content
        except FileNotFoundError:
            return None
        except OSError as error:
            _warn(f"compiled code {key} is not used: {error.strerror or error}")
            return None

    def write(self, key: str, content: bytes) -> None:
        """Write an object atomically; concurrent writers of one key write the same content."""
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
        """Remove the least recently used objects above the limit; readers hold their own copies."""
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
        """Return the status of a file, None if another process has removed it."""
        with suppress(OSError):
            return os.stat(name, dir_fd=self.folder, follow_symlinks=False)
        return None


def _open(folder: Path) -> int:
    """Return a descriptor of the user's own folder, which no other user can write to or replace."""
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
    """Raise PermissionError if another user could replace a path without symbolic links."""
    for parent in real.parents:
        info = os.lstat(parent)
        sticky = info.st_mode & stat.S_ISVTX and info.st_uid == 0  # only owners can rename entries
        if info.st_uid not in (0, os.geteuid()) or (info.st_mode & OTHERS and not sticky):
            raise PermissionError(0, f"others own {parent} or can write to it")


def _require_own(info: os.stat_result) -> None:
    """Raise PermissionError if another user owns a file or folder, or can write to it."""
    if info.st_uid != os.geteuid():
        raise PermissionError(0, "it belongs to another user")
    if info.st_mode & OTHERS:
        raise PermissionError(0, "others can write to it")


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=2)
