"""Read the XML of robot descriptions, with errors that name the file, and numbers as engines read them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from xml.parsers import expat

from ..exceptions import AdapterError
from .messages import received

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET

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
DECLARATION = re.compile(r"([ \t\r\n]+)(<\?xml\s.*?\?>)", re.DOTALL)  # with blanks before it
REFERENCE = re.compile(  # a comment, text, instruction or document type, or a reference to an entity
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>|&([^\s&;#]+);", re.DOTALL
)
REFERENCES = {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
LIMITS = {"lower", "upper", "effort", "velocity"}  # attributes that must be numbers, perhaps infinite
NOT_A_NUMBER = "is not a number"
XACRO = "run `xacro FILE > robot.urdf` first, and read robot.urdf"
SHOWN = 40  # characters of a number in messages
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
    from xml.etree.ElementTree import TreeBuilder

    builder, reader = TreeBuilder(), expat.ParserCreate()

    def start(tag, attributes):
        placed(builder.start(tag, attributes), reader.CurrentLineNumber)

    reader.buffer_text = True
    reader.StartElementHandler = start if placed else builder.start
    reader.EndElementHandler, reader.CharacterDataHandler = builder.end, builder.data
    reader.Parse(as_written(content), True)
    return builder.close()


def as_written(content):
    """Return the text of an XML file, str or bytes, of which a parser keeps breaks and tabs in attributes.

    A parser that follows the specification reads them as blanks, tinyxml2 as they are: with one, engines
    refuse numbers or read other ones. It also refuses blanks before the declaration: they go behind it.
    Elements stay on their lines.
    """
    if isinstance(content, bytes):
        if b"\0" in content:  # UTF-16
            return content
        return as_written(content.decode("latin-1")).encode("latin-1")  # keeps every byte
    begun = DECLARATION.match(content)
    if begun:
        blanks = begun[1].replace("\r\n", "\n").replace("\r", "\n")  # no break of them joins one behind
        content = f"{begun[2]}{blanks}{content[begun.end() :]}"
    return MARKUP.sub(_tag_as_written, content) if BROKEN.search(content) else content


def _tag_as_written(tag: re.Match) -> str:
    text = tag[0]
    if text[1] in "!?" or not any(mark in text for mark in REFERENCES):
        return text
    return ATTRIBUTE.sub(_attribute_as_written, text)


def _attribute_as_written(attribute: re.Match) -> str:
    """Return an attribute with references to its breaks and tabs, and behind it as many breaks."""
    text = attribute[0].replace("\r\n", "\n")
    breaks = text.count("\n") + text.count("\r")
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
        reader.Parse(as_written(path.read_bytes()), True)
    return names[0] if names else ""


def line_of(content: str | bytes, name: str | None, tag: str = "", at: int = 0) -> int:
    """Return the line on which a link or joint of that name begins, 0 for none.

    Parameters
    ----------
    content : str or bytes
    name : str, optional
        None for one without the attribute.
    tag : {"", "link", "joint"}
        Which of both it is; "" for either.
    at : int
        Its number among those of that name.
    """
    try:
        top, lines = elements_with_lines(content)
    except NOT_WELL_FORMED:
        return 0
    parts = [part for kind in ("link", "joint") if tag in ("", kind) for part in top.iterfind(kind)]
    placed = [lines[part] for part in parts if part.get("name") == name]
    return placed[at] if at < len(placed) else 0


def own_entities(content: str | bytes) -> dict[str, tuple[str, int]]:
    """Return the text of every entity that a well-formed XML file declares and uses, and the line of its use.

    tinyxml2, by which Pinocchio reads, knows no such entities, and keeps references to them as they are.
    """
    text = content if isinstance(content, str) else content.decode("latin-1")
    if "<!ENTITY" not in text:
        return {}
    declared: dict[str, str] = {}
    reader = expat.ParserCreate()
    reader.EntityDeclHandler = lambda name, _, value, *others: declared.setdefault(name, value or "")
    reader.Parse(as_written(content), True)
    used: dict[str, tuple[str, int]] = {}
    for reference in REFERENCE.finditer(text):
        if reference[1] in declared:
            line = text.count("\n", 0, reference.start()) + 1
            used.setdefault(reference[1], (declared[reference[1]], line))
    return used


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
    """Raise AdapterError if a joint or inertia of a URDF holds a number that is not finite, or not decimal.

    Other words in the place of numbers are left to the reader of the element. Shapes are not looked at.
    """
    for part in [*top.iterfind("link"), *top.iterfind("joint")] if top.tag == "robot" else []:
        for element in part.iterfind("inertial//*" if part.tag == "link" else ".//*"):
            for key, value in element.items():
                fault = _fault(key, value) if key in NUMBERS or key in LIMITS else ""
                if fault:
                    name = part.get("name", "")
                    reason = fault_of_number(part.tag, name, element.tag, key, value, fault)
                    raise part_error(path, engine, reason, name, text, part.tag)


def _fault(key: str, value: str) -> str:
    """Return what is wrong with the numbers of an attribute, "" for nothing, or for other words."""
    values = numbers(value)
    if values is None:
        return NOT_A_NUMBER if _is_number_in_python(value) else ""
    return "is not finite" if key in NUMBERS and not all(map(math.isfinite, values)) else ""


def fault_of_number(
    tag: str, name: str, element: str, key: str, value: str, fault: str = NOT_A_NUMBER
) -> str:
    """Return a sentence about a number of a link or joint, which names element and attribute.

    Of several numbers, it names the first that is none.
    """
    words = [word for word in value.split() if numbers(word) is None]
    wrong = f": {shown(words[0])}" if words and words[0] != value else ""
    return f"{tag} {name!r}: <{element} {key}={shown(value)}>{wrong} {fault}"


def shown(text: str) -> str:
    """Return the text of a number in quotes, shortened if it is long."""
    return repr(text if len(text) <= SHOWN else f"{text[: SHOWN - 10]}...{text[-7:]}")


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
    path: Path,
    engine: str | None,
    reason: str,
    name: str | None,
    text: str | bytes | None = None,
    tag: str = "",
    at: int = 0,
) -> AdapterError:
    """Return an AdapterError about a file, or other text of it, with the line of a link or joint if known.

    For name, tag and at see `line_of`; without name and tag it is about neither.
    """
    content = text
    if content is None:
        with suppress(OSError, ValueError):
            content = path.read_bytes()
    line = line_of(content, name, tag, at) if (name or tag) and content else 0
    return file_error(path, engine, f"line {line}: {reason}" if line else reason, name)
