"""Write files atomically, so that a file is complete or does not exist, and refuse damaged archives."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE
from typing import BinaryIO, TypeVar

from ..exceptions import TreefactorError

Place = TypeVar("Place", Path, None)


@contextmanager
def replacing(path: Place) -> Iterator[Place]:
    """Yield a new file beside path that replaces it at the end, or is deleted after any failure.

    The new file gets the permissions of an older one. It is made first, so that a folder without write
    permission raises before the work starts. A path that is not a regular file (a pipe, /dev/stdout) is
    written to directly. A killed process leaves the older file unchanged, and the new one, whose name begins
    with a dot.

    Raises
    ------
    TreefactorError
        If the file cannot be written.
    """
    if path is None:
        yield None
        return
    draft = None
    try:
        target = path.resolve()
        if target.is_dir() or not path.name:
            raise TreefactorError(f"cannot write {path}: it is a folder")
        if target.exists() and not target.is_file():
            yield target
            return
        draft = target.with_name(f".{target.stem[:100]}.{os.urandom(8).hex()}{target.suffix}")
        draft.touch(0o600 if target.exists() else 0o666, exist_ok=False)
        yield draft
        with open(draft, "rb") as file:
            os.fsync(file.fileno())
        if target.exists():
            draft.chmod(S_IMODE(target.stat().st_mode))
        draft.replace(target)
    except OSError as error:
        raise TreefactorError(f"cannot write {path}: {error.strerror}") from error
    finally:
        if draft is not None:
            with suppress(OSError):
                draft.unlink()


def require_intact(file: BinaryIO) -> None:
    """Raise ValueError unless an archive, such as an .npz file, has the content that was written.

    NumPy parses the first bytes of an array before it has compared their checksum, and damaged ones can
    raise an exception of whatever module they reach.
    """
    from zipfile import ZipFile  # few processes read archives

    try:
        with ZipFile(file) as archive:
            damaged = archive.testzip()
    except Exception as error:  # of zipfile, zlib, struct: whatever damaged bytes lead to
        raise ValueError(str(error)) from error
    if damaged is not None:
        raise ValueError(f"{damaged} has another checksum than was written")
    file.seek(0)


def cache_folder() -> Path:
    """Return treefactor's folder among the caches of the user, a relative one if there is no home folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "treefactor")
