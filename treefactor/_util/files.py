"""Write files atomically: a file is complete, or it does not exist."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

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
        draft = target.with_name(f".{target.stem[:100]}.{secrets.token_hex(8)}{target.suffix}")
        draft.touch(0o600 if target.exists() else 0o666, exist_ok=False)
        yield draft
        with open(draft, "rb") as file:
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    except OSError as error:
        raise TreefactorError(f"cannot write {path}: {error.strerror}") from error
    finally:
        if draft is not None:
            with suppress(OSError):
                draft.unlink()
