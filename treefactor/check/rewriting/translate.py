"""Rewrite a URDF, then write it in the format that an engine reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..._util.xml import as_path, file_error, parse
from ...model import _urdf
from ._frames import Frames
from .sdf import TYPES, sdf_of
from .sdf_reader import BEFORE_FRAMES
from .urdf_edits import Edit, rewrite

SDF_VERSIONS = {"sdf": "1.9", "sdf16": "1.6"}  # version of SDF by name of the format
FORMATS = ("urdf", *SDF_VERSIONS, "mjcf")


def translated(
    path, chosen: Iterable[Edit] = (), format: str = "urdf", floating: bool = False
) -> tuple[str, str, Frames]:
    """Return the text of a rewritten URDF in a format.

    Parameters
    ----------
    path : str or os.PathLike
        URDF, or SDF.
    chosen : iterable of Edit
        Among `edits` of the file.
    format : {"urdf", "sdf", "sdf16", "mjcf"}
        "sdf" is version 1.9, or 1.6 of an SDF before 1.7; "sdf16" is version 1.6. An MJCF has a body for
        every link that moves against its parent, and sites for all others, which have the names of the links.
    floating : bool
        Whether the root moves freely, for formats that state it.

    Returns
    -------
    text : str
    suffix : str
        Of a file with that text, with its dot.
    frames : dict
        As `Rewritten.frames`.

    Raises
    ------
    AdapterError
        If the file cannot be read, or the format cannot hold the robot.
    ValueError
        If the format or the kind of an edit is unknown.
    """
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    rewritten = rewrite(path, chosen)
    if format == "urdf":
        return rewritten.text, ".urdf", rewritten.frames
    path = as_path(path, None)
    if format == "mjcf":
        return _mjcf(path, rewritten.text, floating), ".xml", rewritten.frames
    robot = _urdf.read(path, None, {*TYPES, "fixed"}, rewritten.text)
    text, names = sdf_of(robot, path, _version(path, format), floating)
    frames = {link: (names.get(own, own), pose) for link, (own, pose) in rewritten.frames.items()}
    return text, ".sdf", frames


def _version(path: Path, format: str) -> str:
    """Return the version of SDF to write: an engine that reads an old one may refuse 1.9."""
    old = path.suffix == ".sdf" and parse(path, None).get("version", "") in BEFORE_FRAMES
    return SDF_VERSIONS["sdf16" if old else format]


def _mjcf(path: Path, urdf: str, floating: bool) -> str:
    """Return the text of an MJCF; raise AdapterError for bodies that MuJoCo does not compile."""
    from ...adapters._mjcf import mjcf  # imports SciPy

    text, odd = mjcf(path, floating, urdf)
    if odd:
        some = ", ".join(list(odd)[:5])
        reason = (
            f"an MJCF cannot hold moving bodies without mass or with impossible moments of inertia: {some}"
        )
        raise file_error(path, "mujoco", reason, next(iter(odd)))
    return text
