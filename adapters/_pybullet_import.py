"""Import PyBullet without the line about its build that it writes to standard error."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile

BUILD_LINE = re.compile(rb"pybullet build time: [^\n]*\n")


@contextmanager
def without_build_line() -> Iterator[None]:
    """Hold back standard error, C code included; then write it without the build line."""
    try:
        kept = os.dup(2)
    except OSError:  # standard error is closed
        yield
        return
    with TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            written = BUILD_LINE.sub(b"", file.read())
            while written:
                written = written[os.write(2, written) :]


with without_build_line():
    import pybullet  # noqa: F401
