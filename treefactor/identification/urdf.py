"""Write a URDF with new inertias; the rest of the file stays unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

import numpy as np

from .._util.files import replacing
from .._util.validation import check_choice
from .._util.xml import as_path, file_error
from ..exceptions import InvalidModelError
from ..model import _urdf
from ..model._urdf_joints import KINDS
from ..model.joints import Inertia
from ..model.model import Model, require_model
from ..model.parameters import fault_of, moved_parameters

ROOT_JOINT = "root_joint"  # name of the first joint of a model with a floating base
UNCHANGED = 1e-13  # bodies that differ less, relative to their largest parameter, keep their text
PLACED = 1e-9  # placements of joints that differ less are equal
UTF_16 = b"\xff\xfe", b"\xfe\xff", b"\x00<", b"<\x00"  # first bytes


def write_urdf(path_in, path_out, model: Model, merged: str = "keep") -> tuple[str, ...]:
    """Write a URDF with the inertias of a model, for instance of an identified one.

    Parameters
    ----------
    path_in : path-like
        The URDF from which the model was made.
    path_out : path-like
        May be the same file.
    model : Model
        Joints are found by name; ``root_joint`` carries the root link.
    merged : {"keep", "clear"}
        A body of the model consists of the child link of its joint and of the links on fixed joints that
        are merged into it. "keep" leaves the merged links as they are, and gives the child link the rest of
        the body. "clear" gives the child link the whole body, and takes the inertias of the merged links
        out of the file.

    Returns
    -------
    tuple of str
        Links that have another inertia than before.

    Raises
    ------
    InvalidModelError
        If no body can have the inertia that a link would get, or the model has joints that the file lacks
        or places elsewhere; names the link or joint.
    AdapterError
        If the URDF cannot be read.
    TreefactorError
        If the file cannot be written.

    Notes
    -----
    The text outside of the replaced ``<inertial>`` elements stays as it is, with comments and order.
    Bodies that the model does not change keep their text. The new elements hold the centre of mass, and the
    tensor about it in the axes of the link. `treefactor.Model.from_urdf` of the new file returns the
    parameters of the model to rounding.

    A URDF has no rotor inertias, and friction without units: neither is written.

    Examples
    --------
    >>> import tempfile, pathlib, treefactor as tf
    >>> from treefactor.identification import write_urdf
    >>> path = pathlib.Path(tempfile.mkdtemp(), "door.urdf")
    >>> _ = path.write_text('''<robot name="door"><link name="frame"/><link name="leaf">
    ...   <inertial><mass value="9"/>
    ...     <inertia ixx="3" ixy="0" ixz="0" iyy="4" iyz="0" izz="1"/></inertial></link>
    ...   <joint name="hinge" type="continuous"><parent link="frame"/><child link="leaf"/></joint>
    ... </robot>''')
    >>> model = tf.Model.from_urdf(path)
    >>> heavier = model.with_parameters(2 * model.parameters)
    >>> write_urdf(path, path, heavier)
    ('leaf',)
    >>> tf.Model.from_urdf(path).mass
    18.0
    """
    require_model(model)
    check_choice("merged", merged, ("keep", "clear"))
    path_in, path_out = as_path(path_in, None), as_path(path_out, None)
    robot = _urdf.read(path_in, None, {*KINDS, "fixed"})
    text = path_in.read_bytes()
    if text.startswith(UTF_16):
        raise file_error(path_in, None, "expected a text in UTF-8, found one in UTF-16")
    new = _new_links(path_in, robot, model, merged == "keep")
    edited = _replaced(text, new)
    with replacing(path_out) as draft:
        draft.write_bytes(edited)
    return tuple(new)


def _new_links(path: Path, robot: _urdf.Robot, model: Model, keep: bool) -> dict[str, np.ndarray | None]:
    """Return the new parameters of the links that change, in link axes; None takes an inertia out."""
    bodies = _bodies(robot)
    own = {joint.name: joint.child for joint in robot.joints if joint.type != "fixed"}
    own.setdefault(ROOT_JOINT, robot.root)
    _require_same_joints(path, own, model)
    changed: dict[str, np.ndarray | None] = {}
    for joint, body in zip(model.joints, model.parameters, strict=True):
        link, others = own[joint.name], bodies[own[joint.name]]
        before = {name: moved_parameters(robot.links[name].parameters, R, p) for name, R, p in others}
        rest = sum(before.values(), np.zeros(10))
        whole = robot.links[link].parameters + rest
        if np.abs(body - whole).max() <= UNCHANGED * np.abs(whole).max():
            continue
        changed[link] = body - rest if keep else body
        _require_possible(joint.name, link, list(before), body, changed[link])
        if not keep:
            changed |= {name: None for name, inertia in before.items() if inertia.any()}
    return changed


def _bodies(robot: _urdf.Robot) -> dict[str, list[tuple[str, np.ndarray, np.ndarray]]]:
    """Return by carrying link the links on fixed joints that are merged into it, with their placements."""
    merged: dict[str, list] = {robot.root: []}
    for joint, carrier, R, r in _urdf.carried_joints(robot):
        if joint.type == "fixed":
            merged[carrier].append((joint.child, R, r))
        else:
            merged[joint.child] = []
    return merged


def _require_same_joints(path: Path, own: dict[str, str], model: Model) -> None:
    """Raise InvalidModelError unless the file has all joints of the model, at the same places."""
    floating = any(joint.name == ROOT_JOINT and joint.kind == "freeflyer" for joint in model.joints)
    written = Model.from_urdf(path, floating)
    places = {joint.name: joint for joint in written.joints}
    for joint in model.joints:
        if joint.name not in own or joint.name not in places:
            raise InvalidModelError(f"{path}: it has no joint {joint.name!r} that moves", joint=joint.name)
        in_model = places[joint.name]
        if np.abs(joint.R - in_model.R).max() > PLACED or np.abs(joint.p - in_model.p).max() > PLACED:
            raise InvalidModelError(
                f"{path}: joint {joint.name!r} is at another place than in the model: parameters are about "
                "the origins of joints, so take the file from which the model was made",
                joint=joint.name,
            )


def _require_possible(joint: str, link: str, others: list[str], body: np.ndarray, rest: np.ndarray) -> None:
    """Raise InvalidModelError if no body can have the inertia that a link would get."""
    fault = fault_of(rest)
    if fault is None:
        return
    if fault_of(body) is not None:
        raise InvalidModelError(f"body of joint {joint!r}: {fault_of(body)}: nothing is written", joint=joint)
    raise InvalidModelError(
        f"link {link!r} would get what the body of joint {joint!r} has beyond the merged links "
        f"{', '.join(map(repr, others))}, and no body can have that: {fault}; merged='clear' gives it the "
        "whole body and takes the inertias of the merged links out of the file",
        joint=joint,
    )


def _replaced(text: bytes, new: dict[str, np.ndarray | None]) -> bytes:
    """Return the text with other <inertial> elements of some links."""
    parts, done = [], 0
    for name, start, end, inside in _places(text):
        if name in new and (inside or new[name] is not None):
            edit = _exchanged if inside else _inserted
            start, end, instead = edit(text, start, end, _element(new[name]))
            parts += [text[done:start], instead]
            done = end
    return b"".join([*parts, text[done:]])


def _exchanged(text: bytes, start: int, end: int, element: list[bytes]) -> tuple[int, int, bytes]:
    """Return the bytes of an <inertial> to replace, and the new text; without any, its line goes, too."""
    line = text.rfind(b"\n", 0, start) + 1
    alone = not text[line:start].strip()
    if element:
        return start, end, (_newline(text) + text[line:start] * alone).join(element)
    after = text.find(b"\n", end) + 1
    if alone and after and not text[end:after].strip():
        return line, after, b""
    return start, end, b""


def _inserted(text: bytes, start: int, end: int, element: list[bytes]) -> tuple[int, int, bytes]:
    """Return the bytes to replace, and the new text, to insert an <inertial> behind the tag of its link."""
    newline = _newline(text)
    inner = (newline + b"    ").join([b"", *element])
    if text[end - 2 : end] != b"/>":
        return end, end, inner
    tag = text[start + 1 : end - 2].split(None, 1)[0]
    return end - 2, end, b">" + inner + newline + b"  </" + tag + b">"


def _newline(text: bytes) -> bytes:
    """Return the line ending of a text."""
    return b"\r\n" if b"\r\n" in text else b"\n"


def _element(pi: np.ndarray | None) -> list[bytes]:
    """Return the lines of an <inertial> element, none without parameters."""
    if pi is None:
        return []
    inertia = Inertia.from_parameters(pi)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.tensor.tolist()
    tensor = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
    xyz = " ".join(map(repr, inertia.com.tolist()))
    entries = " ".join(f'{key}="{value!r}"' for key, value in tensor.items())
    lines = [
        "<inertial>",
        f'  <origin xyz="{xyz}" rpy="0 0 0"/>',
        f'  <mass value="{inertia.mass!r}"/>',
        f"  <inertia {entries}/>",
        "</inertial>",
    ]
    return [line.encode("ascii") for line in lines]


def _places(text: bytes) -> Iterator[tuple[str, int, int, bool]]:
    """Yield by link its name, and first and last byte of its <inertial> (True), or of its own tag (False)."""
    places: list[tuple[str, int, int, bool]] = []
    open_tags: list[tuple[str, int]] = []
    lead = len(text) - len(text.lstrip())
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        place = parser.CurrentByteIndex + lead
        if tag == "link" and len(open_tags) == 1:
            places.append((attributes["name"], place, _tag_end(text, place), False))
        open_tags.append((tag, place))

    def end(tag: str) -> None:
        tag, place = open_tags.pop()
        first = len(open_tags) == 2 and open_tags[1][0] == "link" and not places[-1][3]
        if tag == "inertial" and first:
            last = _tag_end(text, place)
            if text[last - 2 : last] != b"/>":
                last = text.index(b">", parser.CurrentByteIndex + lead) + 1
            places[-1] = (places[-1][0], place, last, True)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(text.strip(), True)
    yield from places


def _tag_end(text: bytes, start: int) -> int:
    """Return the end of a tag, behind its >; attributes may contain the character, too."""
    quote = 0
    for place in range(start, len(text)):
        byte = text[place]
        if quote:
            quote = 0 if byte == quote else quote
        elif byte in b"\"'":
            quote = byte
        elif byte == ord(">"):
            return place + 1
    raise ValueError("expected a complete tag")
