"""Write the trap files, and return them as robots."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..robots import Robot
from .mjcf_traps import MJCF_TRAPS
from .sdf_traps import SDF_TRAPS
from .urdf_traps import URDF_TRAPS

SUFFIXES = {"urdf": ".urdf", "mjcf": ".xml", "sdf": ".sdf"}


@dataclass(frozen=True)
class Trap:
    """Small robot with one peculiarity.

    Attributes
    ----------
    name : str
        ``traps/`` and the name of its file without ending.
    about : str
        What is peculiar.
    format : {"urdf", "mjcf", "sdf"}
    text : str
    """

    name: str
    about: str
    format: str
    text: str


def traps() -> tuple[Trap, ...]:
    """Return all traps, URDFs first.

    Examples
    --------
    >>> from treefactor.check.traps import traps
    >>> [trap.name for trap in traps() if "negative" in trap.name]
    ['traps/negative_moment', 'traps/axis_negative', 'traps/axis_negative_y']
    """
    listed = {"urdf": URDF_TRAPS, "mjcf": MJCF_TRAPS, "sdf": SDF_TRAPS}
    return tuple(
        Trap(f"traps/{name}", about, kind, text)
        for kind, texts in listed.items()
        for name, (about, text) in texts.items()
    )


def trap_robots(folder) -> list[Robot]:
    """Write all traps into a folder, and return them as robots on a fixed base.

    Parameters
    ----------
    folder : path-like
        Exists; files of the same names are replaced.
    """
    robots = []
    for trap in traps():
        path = Path(folder, f"{trap.name.removeprefix('traps/')}{SUFFIXES[trap.format]}")
        path.write_text(trap.text, encoding="utf-8")
        robots.append(Robot(trap.name, path, bundled=True))
    return robots
