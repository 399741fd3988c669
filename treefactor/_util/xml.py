"""Read the XML of robot descriptions, with errors that name the file, and numbers as engines read them."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from contextlib import suppress
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
BROKEN = re.compile(r"=\s*(?:\"[^\"<]*[\n\t\r]|'[^'<]*[\n\t\r])")  # an attribute with a break or a tab
ATTRIBUTE = re.compile(r"\"[^\"]*\"|'[^']*'")
REFERENCES = {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
LIMITS = {"lower", "upper", "effort", "velocity"}  # attributes that must be numbers, perhaps infinite
XACRO = "run `xacro FILE > robot.urdf` first, and read robot.urdf"
NOT_WELL_FORMED = expat.ExpatError, ValueError, LookupError  # the last two: an unknown encoding


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
        reason = f"cannot read it: {getattr(error, 'strerror', error)}"
        if isinstance(error, FileNotFoundError) and not path.suffix and not path.is_absolute():
            reason += (
                f"; if this is the name of a robot, treefactor.robots.find({str(path)!r}).path is its file"
            )
        raise file_error(path, engine, reason) from None


def parse(path: Path, engine: str | None, text: str | bytes | None = None) -> ET.Element:
    """Return the root element of an XML file, names with their prefixes as written.

    With `text`, path is only its name in errors.

    Raises
    ------
    AdapterError
        If the file cannot be read, is not well-formed, or is one for xacro.
    """
    content = content_of(path, engine) if text is None else text
    try:
        top = elements(content)
    except NOT_WELL_FORMED as error:
        hint = f"; it looks like a xacro file: {XACRO}" if _is_in("<xacro:", content) else ""
        raise file_error(path, engine, f"not well-formed XML: {error}{hint}") from None
    if _is_in("xacro", content):
        _refuse_xacro(top, path, engine)
    return top


def elements(content: str | bytes, placed: Callable[[ET.Element, int], None] | None = None) -> ET.Element:
    """Return the root element of an XML text, names with their prefixes as written, bound or not.

    A prefix is a part of the name, as for the engines that read URDFs: <drake:joint> is no <joint>.
    Attributes keep their breaks and tabs, see `as_written`.

    Parameters
    ----------
    content : str or bytes
        May begin and end with blanks.
    placed : callable, optional
        Called with every element and the line on which it begins, counted from one.

    Raises
    ------
    xml.parsers.expat.ExpatError, ValueError, LookupError
        If the text is not well-formed, or has an unknown encoding.
    """
    builder, reader = ET.TreeBuilder(), expat.ParserCreate()
    text = content.strip()
    before = len(content[: len(content) - len(content.lstrip())].splitlines())

    def start(tag, attributes):
        placed(builder.start(tag, attributes), reader.CurrentLineNumber + before)

    reader.buffer_text = True
    reader.StartElementHandler = start if placed else builder.start
    reader.EndElementHandler, reader.CharacterDataHandler = builder.end, builder.data
    reader.Parse(as_written(text), True)
    return builder.close()


def as_written(content):
    """Return the text of an XML file, str or bytes, of which a parser keeps breaks and tabs in attributes.

    A parser that follows the specification reads them as blanks, tinyxml2 as they are: with one, engines
    refuse numbers or read other ones. Elements stay on their lines.
    """
    if isinstance(content, bytes):
        if b"\0" in content:  # UTF-16
            return content
        return as_written(content.decode("latin-1")).encode("latin-1")  # keeps every byte
    return MARKUP.sub(_tag_as_written, content) if BROKEN.search(content) else content


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


def elements_with_lines(content: str | bytes) -> tuple[ET.Element, dict[ET.Element, int]]:
    """Return the root element, and the line on which every element begins, counted from one."""
    lines: dict[ET.Element, int] = {}
    return elements(content, lines.__setitem__), lines


def root_tag(path: Path) -> str:
    """Return the name of the first element of an XML file, whatever follows it; "" for another file."""
    names: list[str] = []
    reader = expat.ParserCreate()
    reader.StartElementHandler = lambda tag, attributes: names.append(tag)
    with suppress(OSError, *NOT_WELL_FORMED):
        reader.Parse(path.read_bytes().strip(), True)
    return names[0] if names else ""


def line_of(content: str | bytes, name: str) -> int:
    """Return the line on which the link or joint of that name begins, 0 for none."""
    try:
        top, lines = elements_with_lines(content)
    except NOT_WELL_FORMED:
        return 0
    parts = [*top.iterfind("link"), *top.iterfind("joint")]
    return next((lines[part] for part in parts if part.get("name") == name), 0)


def fault_of_xml(path: Path) -> str:
    """Return why a file is not well-formed XML, or one for xacro; "" if it is neither."""
    try:
        parse(path, None)
    except AdapterError as error:
        return str(error).removeprefix(f"{path}: ")
    return ""


def _is_in(word: str, content: str | bytes) -> bool:
    return word in content if isinstance(content, str) else word.encode() in content


def _refuse_xacro(top: ET.Element, path: Path, engine: str | None) -> None:
    """Raise AdapterError if an element has xacro's prefix, or one that is bound to xacro's namespace."""
    prefixes = {"xacro"}
    for element in top.iter():
        bound = [key for key, value in element.items() if key.startswith("xmlns:") and "xacro" in value]
        prefixes |= {key.removeprefix("xmlns:") for key in bound}
        prefix, _, name = element.tag.rpartition(":")
        if prefix in prefixes:
            raise file_error(path, engine, f"it is a xacro file, with <xacro:{name}>: {XACRO}")


def require_numbers(top: ET.Element, path: Path, engine: str | None, text: str | bytes | None = None) -> None:
    """Raise AdapterError if a link or joint of a URDF holds a number that is not finite, or not decimal.

    Other words in the place of numbers are left to the reader of the element.
    """
    for part in [*top.iterfind("link"), *top.iterfind("joint")] if top.tag == "robot" else []:
        for element in part.iter():
            for key, value in element.items():
                fault = _fault(key, value) if key in NUMBERS or key in LIMITS else ""
                if fault:
                    name, where = part.get("name", ""), f"{element.tag} {key}={value!r}"
                    reason = f"{part.tag} {name!r} holds {fault}: {where}"
                    raise part_error(path, engine, reason, name, text)


def _fault(key: str, value: str) -> str:
    """Return what is wrong with the numbers of an attribute, "" for nothing, or for other words."""
    values = numbers(value)
    if values is None:
        return "what is not a number in a URDF" if _is_number_in_python(value) else ""
    return "a number that is not finite" if key in NUMBERS and not all(map(math.isfinite, values)) else ""


def numbers(text: str) -> list[float] | None:
    """Return numbers separated by blanks, None if one is not a number as engines read them.

    A number is a decimal one in ASCII, such as -1, +.5 or 2.E-3, "inf", "infinity" or "nan" in any case and
    with any sign. What Python alone reads is not: 1_000, digits of other scripts, hard blanks.
    """
    try:
        return [float(word) for word in text.split()] if text.isascii() and "_" not in text else None
    except ValueError:
        return None


def _is_number_in_python(text: str) -> bool:
    try:
        return bool([float(word) for word in text.split()])
    except ValueError:
        return False


def file_error(path: Path, engine: str | None, reason: str, name: str | None = None) -> AdapterError:
    """Return an AdapterError about a file for an engine, and a link or joint in it."""
    return AdapterError(f"{path}: {reason}", engine, path, name)


def part_error(
    path: Path, engine: str | None, reason: str, name: str | None, text: str | bytes | None = None
) -> AdapterError:
    """Return an AdapterError about a file, or other text of it, with the line of a link or joint if known."""
    content = text
    if content is None:
        with suppress(OSError, ValueError):
            content = path.read_bytes()
    line = line_of(content, name) if name and content else 0
    return file_error(path, engine, f"line {line}: {reason}" if line else reason, name)
