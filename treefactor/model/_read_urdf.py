"""Read URDFs by the events of their parser, or by a tree of their elements where these do not suffice."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from . import _urdf_events

if TYPE_CHECKING:
    from ._urdf_joints import Parts


def read_urdf(path, floating: bool, mimic: bool) -> Parts:
    """Return the joints and frames of a URDF file and the name of the robot: see `Model.from_urdf`."""
    is_path = isinstance(path, (str, os.PathLike))
    try:
        parts = _urdf_events.read(_bytes_of(path), False, floating, mimic) if is_path else None
    except (OSError, ValueError):
        parts = None
    if parts is not None:
        return parts
    from . import _urdf_joints

    return _urdf_joints.read(path, floating, mimic)


def read_urdf_text(text: str, floating: bool, mimic: bool) -> Parts:
    """Return the same of the text of a URDF: see `Model.from_urdf_string`."""
    try:
        parts = _urdf_events.read(text.encode(), True, floating, mimic) if isinstance(text, str) else None
    except UnicodeEncodeError:
        parts = None
    if parts is not None:
        return parts
    from . import _urdf_joints

    return _urdf_joints.read_text(text, floating, mimic)


def _bytes_of(path) -> bytes:
    """Return the content of a file; `open` takes three times as long for a small one."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        parts = []
        while part := os.read(descriptor, 2**16):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)
