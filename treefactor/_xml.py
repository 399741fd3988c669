"""XML of robot descriptions: read with errors that name the file, and numbers as engines read them."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from pathlib import Path

from .exceptions import AdapterError

NUMBERS = {  # attributes that must be finite; an infinite limit is none
    *("xyz", "rpy", "value", "ixx", "ixy", "ixz", "iyy", "iyz", "izz", "multiplier", "offset"),
    *("damping", "friction", "size", "radius", "length", "scale"),
}
NOT_WELL_FORMED = ET.ParseError, ValueError, LookupError  # the last two: an encoding nobody knows


def parse(path: Path, engine: str | None) -> ET.Element:
    """Root element of an XML file, tags without the namespaces that no reader of URDF heeds.

    Raises
    ------
    AdapterError
        Where the file cannot be read, is not well-formed, or is a URDF with a number that is not finite.
    """
    try:
        top = elements(path)
    except OSError as error:
        raise file_error(path, engine, f"cannot read it: {error.strerror}") from None
    except NOT_WELL_FORMED as error:
        raise file_error(path, engine, f"not well-formed XML: {error}") from None
    require_finite_numbers(top, path, engine)
    return top


def elements(path: Path) -> ET.Element:
    """Root element of an XML file, tags without namespaces."""
    top = ET.fromstring(path.read_bytes().strip())
    for element in top.iter():
        if isinstance(element.tag, str):
            element.tag = element.tag.rpartition("}")[2]
    return top


def require_finite_numbers(top: ET.Element, path: Path, engine: str | None) -> None:
    """Raise AdapterError where a link or joint of a URDF holds a number that is not finite."""
    for part in [*top.iterfind("link"), *top.iterfind("joint")] if top.tag == "robot" else []:
        for element in part.iter():
            for key, value in element.items():
                if key in NUMBERS and not all(map(_is_finite, value.split())):
                    name, where = part.get("name", ""), f"{element.tag} {key}={value!r}"
                    reason = f"{part.tag} {name!r} holds a number that is not finite: {where}"
                    raise file_error(path, engine, reason, name)


def numbers(text: str) -> list[float] | None:
    """Numbers separated by spaces, as engines read them; None if one is no number to them."""
    try:
        return None if "_" in text else [float(word) for word in text.split()]  # Python reads 1_0 as 10
    except ValueError:
        return None


def _is_finite(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:  # no number at all: the engine says so
        return True


def file_error(path: Path, engine: str | None, reason: str, name: str | None = None) -> AdapterError:
    """AdapterError about a file that is to be read for an engine, and a link or joint in it."""
    return AdapterError(f"{path}: {reason}", engine, path, name)
