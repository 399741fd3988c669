"""Turn errors of engines into AdapterError that names the file and the link or joint; silence warnings."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._util.xml import fault_of_xml
from ..exceptions import AdapterError, TreefactorError
from ._plain_urdf import name_at


@contextmanager
def refusals(engine: str, message: str, path: Path | None = None, text: str | None = None) -> Iterator[None]:
    """Turn errors about a file into AdapterError; a line of its text becomes the link or joint there."""
    try:
        yield
    except (RuntimeError, ValueError) as error:
        if isinstance(error, TreefactorError):
            raise
        reason = " ".join(str(error).split())
        line = re.search(r"\.\w+:(\d+): \w+: ", reason)
        if line and text is None and path is not None:
            text = path.read_text(errors="replace")
        name = name_at(text or "", int(line[1])) if line else None
        reason = f"{message}: {f'{name!r}: ' if name else ''}{reason[line.end() :] if line else reason}"
        fault = fault_of_xml(path) if path is not None else ""
        reason += f" ({fault})" if fault else ""
        raise AdapterError(f"{path}: {reason}" if path else reason, engine, path, name) from error


@contextmanager
def unwarned(name: str) -> Iterator[None]:
    """Keep the logger of that name from writing warnings."""
    logger = logging.getLogger(name)
    kept = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(kept)
