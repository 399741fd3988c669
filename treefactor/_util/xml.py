"""Read the XML of robot descriptions, with errors that name the file, and numbers as engines read them."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from xml.parsers import expat

from ..exceptions import AdapterError
from .messages import received

NUMBERS = {  # attributes that must be finite; an infinite limit means unlimited
    *("xyz", "rpy", "value", "ixx", "ixy", "ixz", "iyy", "iyz", "izz", "multiplier", "offset"),
    *("damping", "friction", "size", "radius", "length", "scale"),
}
MARKUP = re.compile(  # a comment, text or instruction, which is skipped, or a tag with its attributes
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>"
    r"|<[^\s<>/!?][^<>\"']*(?:(?:\"[^\"]*\"|'[^']*')[^<>\"']*)*>",
    re.DOTALL,
)
ATTRIBUTE = re.compile(r"\"[^\"]*\"|'[^']*'")
REFERENCES = {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
XACRO = "run `xacro FILE > robot.urdf` first, and read robot.urdf"
NOT_WELL_FORMED = ET.ParseError, ValueError, LookupError  # the last two: an unknown encoding


def as_path(path, engine: str | None) -> Path:
    """Return the path of a robot description, or raise AdapterError for its text or another type.

    Raises
    ------
    AdapterError
    """
    if isinstance(path, str | bytes) and path.lstrip()[:1] in ("<", b"<"):
        advice = "treefactor.Model.from_urdf_string(text) reads it"
        raise AdapterError(f"path must be that of a file, got the text of a robot: {advice}", engine)
    try:
        return Path(path)
    except TypeError:
        raise AdapterError(f"path must be that of a file, got {received(path)}", engine) from None


def content_of(path: Path, engine: str | None) -> bytes:
    """Return the bytes of a file.

    Raises
    ------
    AdapterError
        If it cannot be read.
    """
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:  # the latter: a null byte in its name
        raise file_error(path, engine, f"cannot read it: {getattr(error, 'strerror', error)}") from None


def parse(path: Path, engine: str | None, text: str | bytes | None = None) -> ET.Element:
    """Return the root element of an XML file, tags without the namespaces that readers of URDF ignore.

    With `text`, path is only its name in errors.

    Raises
    ------
    AdapterError
        If the file cannot be read, is not well-formed, is one for xacro, or is a URDF with a number that
        is not finite.
    """
    content = content_of(path, engine) if text is None else text
    try:
        top = _elements(content, path, engine)
    except NOT_WELL_FORMED as error:
        hint = (
            f"; it looks like a xacro file: {XACRO}"
            if (b"<xacro:" if isinstance(content, bytes) else "<xacro:") in content
            else ""
        )
        raise file_error(path, engine, f"not well-formed XML: {error}{hint}") from None
    require_finite_numbers(top, path, engine)
    return top


def elements(path: Path, engine: str | None) -> ET.Element:
    """Return the root element of an XML file, tags without namespaces."""
    return _elements(path.read_bytes(), path, engine)


def _elements(content: str | bytes, path: Path, engine: str | None) -> ET.Element:
    top = ET.fromstring(as_written(content.strip()))
    for element in top.iter():
        if isinstance(element.tag, str):
            space, _, element.tag = element.tag.rpartition("}")
            if "xacro" in space:
                raise file_error(path, engine, f"it is a xacro file, with <xacro:{element.tag}>: {XACRO}")
    return top


def elements_with_lines(content: str | bytes) -> tuple[ET.Element, dict[ET.Element, int]]:
    """Return the root element, and the line on which every element begins."""
    builder = ET.TreeBuilder()
    reader = expat.ParserCreate("utf-8" if isinstance(content, str) else None)
    lines: dict[ET.Element, int] = {}
    content = content.encode() if isinstance(content, str) else content
    before = content[: len(content) - len(content.lstrip())].count(b"\n")

    def start(tag, attributes):
        lines[builder.start(tag, attributes)] = reader.CurrentLineNumber + before

    reader.buffer_text = True
    reader.StartElementHandler, reader.EndElementHandler = start, builder.end
    reader.CharacterDataHandler = builder.data
    reader.Parse(as_written(content.strip()), True)
    return builder.close(), lines


def as_written(content):
    """Return the text of an XML file, str or bytes, of which a parser keeps breaks and tabs in attributes.

    A parser that follows the specification reads them as blanks, tinyxml2 as they are: with one, engines
    refuse numbers or read other ones. Elements stay on their lines.
    """
    if isinstance(content, bytes):
        if b"\0" in content:  # UTF-16
            return content
        return as_written(content.decode("latin-1")).encode("latin-1")  # keeps every byte
    return MARKUP.sub(_tag_as_written, content)


def _tag_as_written(tag: re.Match) -> str:
    text = tag[0]
    if text[1] in "!?" or not any(mark in text for mark in REFERENCES):
        return text
    return ATTRIBUTE.sub(_attribute_as_written, text)


def _attribute_as_written(attribute: re.Match) -> str:
    """Return an attribute with references to its breaks and tabs, and behind it as many breaks."""
    text = attribute[0].replace("\r\n", "\n")
    breaks = text.count("\n")
    for mark, reference in REFERENCES.items():
        text = text.replace(mark, reference)
    return text + "\n" * breaks


def require_finite_numbers(top: ET.Element, path: Path, engine: str | None) -> None:
    """Raise AdapterError if a link or joint of a URDF holds a number that is not finite."""
    for part in [*top.iterfind("link"), *top.iterfind("joint")] if top.tag == "robot" else []:
        for element in part.iter():
            for key, value in element.items():
                if key in NUMBERS and not all(map(_is_finite, value.split())):
                    name, where = part.get("name", ""), f"{element.tag} {key}={value!r}"
                    reason = f"{part.tag} {name!r} holds a number that is not finite: {where}"
                    raise file_error(path, engine, reason, name)


def numbers(text: str) -> list[float] | None:
    """Return numbers separated by spaces, as engines read them; None if they reject one."""
    try:
        return None if "_" in text else [float(word) for word in text.split()]  # Python reads 1_0 as 10
    except ValueError:
        return None


def _is_finite(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:  # not a number: the engine reports it
        return True


def file_error(path: Path, engine: str | None, reason: str, name: str | None = None) -> AdapterError:
    """Return an AdapterError about a file for an engine, and a link or joint in it."""
    return AdapterError(f"{path}: {reason}", engine, path, name)
