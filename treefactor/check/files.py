"""Choose the file that an engine gets: the robot's own, a rewriting of it, or a translation."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import unescape

from ..exceptions import AdapterError, TreefactorError
from ..model import _urdf
from ..model._urdf_joints import joint_of
from ..model.joints import Inertia, fault_of_limits
from .cells import IMPOSSIBLE, UNREADABLE, Fault
from .rewriting import Edit, _mjcf_file, _urdf_file, read_sdf
from .rewriting._frames import WORLD
from .rewriting.mjcf_causes import causes_of_mjcf
from .rewriting.mjcf_edits import rewrite_mjcf
from .rewriting.translate import translated
from .rewriting.urdf_edits import SPELLING, edits
from .robots import Robot

MARKS = {"package.xml", "manifest.xml"}  # files that make a folder a package
LEVELS = 6  # folders above a file in which its packages are looked for
NEGATIVE = "has a negative mass"  # in the reason of the refusal
MOVES_NOTHING = "moves no mass: H is singular, and forward dynamics has no solution"
BUNDLED = "the file of an installed package"  # why a fault does not count as the user's
Carried = dict  # maps each link of the original file to the link that carries it, and its pose there


def file_for(
    robot: Robot, reads: Collection[str], chosen: Iterable[Edit], folder: Path
) -> tuple[Path, Carried]:
    """Return the path of the file to load, and where the links of the original are in it.

    Parameters
    ----------
    robot : Robot
    reads : collection of str
        Formats of the engine, the one to prefer first.
    chosen : iterable of Edit
    folder : pathlib.Path
        For files that are written.
    """
    if robot.format == "sdf" and "sdf" not in reads:
        return file_for(as_urdf(robot, folder), reads, chosen, folder)
    if robot.format in reads and not chosen:
        return robot.path, {}
    if robot.is_mjcf:
        text, suffix, carried = rewrite_mjcf(robot.path, chosen), ".xml", {}
    else:
        wanted = robot.format if robot.format in reads else next(iter(reads))
        text, suffix, carried = translated(robot.path, chosen, wanted, robot.floating)
    place = shadow(robot.path, folder, text) if 'filename="' in text else folder
    path = place / f"{robot.path.stem}_{len(list(place.glob('*_*')))}{suffix}"  # engines keep files by name
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return path, carried


def shadow(path: Path, folder: Path, text: str) -> Path:
    """Return a folder in which a rewriting of a file finds what the file finds in the folders above it.

    The names of the folders are the same, as far up as a package may begin. Linked are files that mark a
    package, and what the names of files in the text lead through: folders such as /tmp hold thousands more.
    """
    path = path.resolve()
    chain = list(path.parents)[:LEVELS][::-1]
    used = {part for name in re.findall(r'filename="([^"]*)"', text) for part in unescape(name).split("/")}
    for above in chain:
        folder = folder / (above.name or "root")
        folder.mkdir(exist_ok=True)  # of an earlier rewriting
        for entry in map(above.joinpath, (used - {"", ".", ".."}) | MARKS):
            link = folder / entry.name
            if entry not in chain and entry != path and entry.exists() and not link.is_symlink():
                link.symlink_to(entry)
    return folder


def as_urdf(robot: Robot, folder: Path) -> Robot:
    """Write the URDF of an SDF into a folder."""
    path = folder / f"{robot.path.stem}.urdf"
    path.write_text(read_sdf(robot.path).text, encoding="utf-8")
    return replace(robot, path=path)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, "" if there is no such file.

    Raises
    ------
    TreefactorError
        If the file cannot be read.
    """
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise TreefactorError(f"cannot read {path}: {error.strerror}") from error


def with_own_base(robot: Robot) -> Robot:
    """Return a robot on the base that its file states.

    A URDF states one if a floating joint carries the robot on a root link called world, which engines take
    for the world itself: they do not let it float.
    """
    try:
        if robot.format == "sdf":
            return replace(robot, floating=read_sdf(robot.path).floating)
        if robot.format == "urdf" and robot.floating:
            whole = _urdf_file.read(robot.path).robot
            free = {joint.parent for joint in whole.joints if joint.type == "floating"}
            return replace(robot, floating=not (whole.root == WORLD and WORLD in free))
    except AdapterError:  # reported when it is loaded
        pass
    return robot


def all_edits(robot: Robot) -> tuple[Edit, ...]:
    """Return all edits that would change something of a robot's file; none of a file that cannot be read."""
    try:
        candidates = causes_of_mjcf(robot.path) if robot.is_mjcf else edits(robot.path)
    except AdapterError:
        return ()
    return tuple(edit for edit in candidates if not (robot.mimic and edit.kind == "mimic"))


def spelling_edits(robot: Robot) -> tuple[Edit, ...]:
    """Return the edits after which every engine reads the numbers that a URDF states."""
    return () if robot.is_mjcf else tuple(edit for edit in all_edits(robot) if edit.kind in SPELLING)


def faults_of(robot: Robot) -> tuple[Fault, ...]:
    """Return the impossible links and joints of a URDF or SDF, or why the file cannot be read: see `Fault`.

    MuJoCo itself refuses an MJCF with such a link or joint.
    """
    expected = BUNDLED if robot.bundled else ""
    try:
        if robot.is_mjcf:
            _mjcf_file.read(robot.path)
            return ()
        urdf = _urdf_file.read(robot.path)
        moving = _urdf.without_fixed_joints(urdf.robot)
        joints = [joint_of(robot.path, joint, -1, Inertia(), None) for joint in moving.joints]
    except AdapterError as error:
        reason = str(error).removeprefix(f"{robot.path}: ")
        line = re.search(r"\bline (\d+)", reason)
        word = IMPOSSIBLE if NEGATIVE in reason else UNREADABLE
        return (Fault("", int(line[1]) if line else 0, reason, expected, word),)
    elements, links = urdf.names("link"), urdf.robot.links
    reasons = {name: inertia.fault() for name, inertia in links.items()}
    impossible = [
        Fault(name, urdf.lines[elements[name]], reason, expected)
        for name, reason in reasons.items()
        if reason
    ]
    elements = urdf.names("joint")
    reasons = {joint.name: fault_of_limits(joint) for joint in joints}
    for name in _without_mass(moving, robot.mimic):
        reasons[name] = "; ".join(filter(None, (reasons.get(name), MOVES_NOTHING)))
    impossible += [
        Fault("", urdf.lines[elements[name]], reason, expected, joint=name)
        for name, reason in reasons.items()
        if reason
    ]
    return tuple(impossible)


def _without_mass(robot: _urdf.Robot, mimic: bool) -> list[str]:
    """Return the names of the joints that move no mass; with ``mimic`` followers move with their leaders.

    No link of the robot is on a fixed joint.
    """
    heavy = {name for name, inertia in robot.links.items() if inertia.mass or inertia.tensor.any()}
    for joint in reversed(robot.joints):  # children before parents
        if joint.child in heavy:
            heavy.add(joint.parent)
    moving = {joint.name for joint in robot.joints if joint.child in heavy}
    leaders = {joint.name: joint.mimic.get("joint") for joint in robot.joints if mimic and joint.mimic}
    for name in [*moving]:
        while (name := leaders.get(name)) and name not in moving:
            moving.add(name)
    return [joint.name for joint in robot.joints if joint.name not in moving | leaders.keys()]


def lines_of(robot: Robot) -> dict[str, int]:
    """Return the line on which every link and joint, or body and joint, of a robot's file begins."""
    try:
        if robot.is_mjcf:
            mjcf = _mjcf_file.read(robot.path)
            return {
                element.get("name", ""): mjcf.lines[element] for element in (*mjcf.bodies(), *mjcf.joints())
            }
        urdf = _urdf_file.read(robot.path)
    except AdapterError:
        return {}
    elements = {**urdf.names("joint"), **urdf.names("link")}
    return {name: urdf.lines[element] for name, element in elements.items()}


def with_coupled(robots: Iterable[Robot]) -> list[Robot]:
    """Return robots, and after each that has mimic joints the same with these joints coupled."""
    listed = []
    for robot in robots:
        listed.append(robot)
        if robot.format == "urdf" and robot.path.is_file() and b"<mimic" in robot.path.read_bytes():
            listed.append(replace(robot, mimic=True))
    return listed
