"""Read what a project compares, and how: ``treefactor.toml``, or ``[tool.treefactor]`` in ``pyproject.toml``.

`configuration` finds the file as ruff and pytest find theirs, from the current folder upwards. Options of the
command line replace its entries by `Configuration.replaced`; `as_toml` writes the result as such a file.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from ...exceptions import TreefactorError
from .. import traps
from ..cells import CRASHED, DISAGREES, EXPLAINED, IMPOSSIBLE, REFUSED
from ..engines import ENGINES, ChosenEngine, title
from . import values
from .quantity_names import quantity_named
from .values import Table

FILE, SHARED_FILE, TABLE = "treefactor.toml", "pyproject.toml", "tool.treefactor"
STALE = "stale"
FAIL_ON = (DISAGREES, REFUSED, CRASHED, EXPLAINED, IMPOSSIBLE, STALE)
OF_ENGINE = (REFUSED, CRASHED)  # failures that concern one engine alone
BASES = ("fixed", "floating")
COMMAND_LINE = Table({}, "")


@dataclass(frozen=True)
class ChosenRobot:
    """Robots of one entry of the configuration.

    Attributes
    ----------
    path : str
        A file, a folder, a pattern such as ``robots/**/*.urdf``, or the name of a bundled robot.
    base : {"", "fixed", "floating"}
        "" leaves it to the robot.
    folder : str
        Folder from which the path leads.
    """

    path: str
    base: str = ""
    folder: str = "."


@dataclass(frozen=True)
class Expectation:
    """Difference that is known, such as a reported defect of an engine.

    Attributes
    ----------
    robot, engine, quantity : str
        Cells concerned, as patterns with ``*``.
    cause : str
        Part of the step or of the text of the cause, or of the reason, as a pattern; "" for any cause.
    link : str
        Address of the upstream report.
    until : date or str or None
        Last day, or last version of the engine, for which the difference is expected: "1.5" includes 1.5.2.
    """

    robot: str = "*"
    engine: str = "*"
    quantity: str = "*"
    cause: str = ""
    link: str = ""
    until: date | str | None = None


@dataclass(frozen=True)
class Configuration:
    """Robots, engines and quantities to compare, and which results count as failures.

    Attributes
    ----------
    robots : tuple of ChosenRobot
        None for the selection of `default_robots`.
    engines : tuple of ChosenEngine
        None for all that are installed, except for those that take minutes.
    quantities : tuple of str
        Among ``ALL_QUANTITIES``; none for all.
    samples : int
        Random states per robot.
    seed : int
    timeout : float or None
        Seconds an engine has for a robot where the engine's own entry names none.
    base : {"", "fixed", "floating"}
        Base of the robots whose entries name none.
    ordinary : bool
        Whether every file is also loaded as it is; otherwise as rewritten only.
    traps : bool
        Whether the small files with one peculiarity each are compared, too.
    fail_on : tuple of str
        Among ``FAIL_ON``: what makes the exit status 1; "crashed" includes timed out. None for `failures`.
    expect : tuple of Expectation
    file : str
        Path of the file these were read from, "" for none.
    narrowed : bool
        Whether the command line chose robots, engines or quantities: expectations about others then hold.
    """

    robots: tuple[ChosenRobot, ...] = ()
    engines: tuple[ChosenEngine, ...] = ()
    quantities: tuple[str, ...] = ()
    samples: int = 3
    seed: int = 0
    timeout: float | None = None
    base: str = ""
    ordinary: bool = True
    traps: bool = False
    fail_on: tuple[str, ...] | None = None
    expect: tuple[Expectation, ...] = ()
    file: str = ""
    narrowed: bool = False

    @property
    def failures(self) -> tuple[str, ...]:
        """Return the states that make the exit status 1.

        By default these are all but "explained" for engines that are named, by the command line or the
        configuration. Where all installed engines are compared, one that crashes or refuses a file decides
        nothing.
        """
        if self.fail_on is not None:
            return self.fail_on
        return (DISAGREES, *(OF_ENGINE if self.engines else ()), IMPOSSIBLE, STALE)

    @property
    def known(self) -> tuple[Expectation, ...]:
        """Return this package's expectations about the traps, if traps are compared."""
        return expected_of_traps() if self.traps else ()

    def replaced(self, **options: Any) -> Configuration:
        """Return this configuration with those options that are not None.

        Robots and engines are strings as users write them; paths lead from the current folder.
        """
        chosen = {key: value for key, value in options.items() if value is not None}
        narrow = self.narrowed or not chosen.keys().isdisjoint(("robots", "engines", "quantities"))
        if "robots" in chosen:
            chosen["robots"] = tuple(ChosenRobot(robot) for robot in chosen["robots"])
        if "engines" in chosen:
            known = {engine.title: engine for engine in self.engines}
            convert = engine_in(".")
            chosen["engines"] = tuple(
                known.get(chosen_value) or COMMAND_LINE.check("engines", convert, chosen_value)
                for chosen_value in dict.fromkeys(chosen["engines"])
            )
        for key, convert in (("quantities", quantity_named), ("fail_on", values.one_of(FAIL_ON))):
            if key in chosen:
                each = (COMMAND_LINE.check(key, convert, chosen_value) for chosen_value in chosen[key])
                chosen[key] = tuple(dict.fromkeys(each))
        if "base" in chosen:  # also of robots whose entries name one
            robots = chosen.get("robots", self.robots)
            chosen["robots"] = tuple(replace(robot, base=chosen["base"]) for robot in robots)
        return replace(self, **chosen, narrowed=narrow)


def configuration(path: Path | str | None = None) -> Configuration:
    """Return the configuration of a file, or of the nearest one from the current folder upwards.

    Parameters
    ----------
    path : path, optional
        ``pyproject.toml``, or a file with the keys of ``treefactor.toml``.

    Returns
    -------
    Configuration
        The defaults if no file is found.

    Raises
    ------
    TreefactorError
        If the file cannot be read, has an unknown key, or a value of the wrong type.
    """
    if path is not None:
        table = _table(Path(path))
        if table is None:
            raise TreefactorError(f"{path} has no table [{TABLE}]")
        return parse(table, path)
    current = Path.cwd()
    for folder in (current, *current.parents):
        for name in (FILE, SHARED_FILE):
            file = folder / name
            table = _table(file) if file.is_file() else None
            if table is not None:
                return parse(table, file)
    return Configuration()


@cache
def expected_of_traps() -> tuple[Expectation, ...]:
    """Return this package's list of how engines treat the traps."""
    return configuration(Path(traps.__file__).with_name("expected.toml")).expect


def parse(table: Mapping[str, Any], file: Path | str) -> Configuration:
    """Return the configuration in the table of a file; paths in it lead from the folder of the file.

    Raises
    ------
    TreefactorError
        If a key is unknown or a value has the wrong type; names the file and the key.
    """
    content = Table(table, str(file))
    content.only([*_SIMPLE, "robots", "engines", "expect"])
    folder = str(Path(file).parent)
    simple = {key: content.get(key, convert) for key, convert in _SIMPLE.items() if key in table}
    return Configuration(
        robots=tuple(_robots(content, folder)),
        engines=_engines(content, folder),
        expect=tuple(map(_expectation, content.tables("expect"))),
        file=str(file),
        **simple,
    )


def engine_in(folder: str) -> values.Converter:
    """Return the check for the name of an engine, or for the path of its Python file from a folder."""

    def convert(value: object) -> ChosenEngine:
        name = values.text(value)
        if not name.endswith(".py"):
            return ChosenEngine(values.one_of(ENGINES)(name))
        file = Path(folder, name).absolute()
        if not file.is_file():
            raise ValueError(f"an engine or a Python file that exists, got {name!r}")
        if file.stem in ENGINES:
            raise ValueError(f"a Python file of another name than treefactor's engines, got {name!r}")
        return ChosenEngine(str(file))

    return convert


def _table(file: Path) -> Mapping[str, Any] | None:
    """Return the table of a TOML file; None for a pyproject.toml without one of ours."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with file.open("rb") as stream:
            content = tomllib.load(stream)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TreefactorError(f"{file} is not valid TOML: {error}") from error
    except OSError as error:
        raise TreefactorError(f"cannot read {file}: {error.strerror}") from error
    if file.name != SHARED_FILE:
        return content
    tool = content.get("tool", {})
    table = tool.get("treefactor") if isinstance(tool, dict) else None
    return table if table is None or isinstance(table, dict) else {"treefactor": table}


def _robots(content: Table, folder: str):
    """Yield the robots of an array of strings and tables."""
    for where, entry in content.entries("robots"):
        if isinstance(entry, str):
            entry = {"path": entry}
        table = content.inner(where, entry, "a path, a name or a table with path and base")
        table.only(("path", "base"))
        yield ChosenRobot(
            table.get("path", values.text, required=True), table.get("base", values.one_of(BASES), ""), folder
        )


def _engines(content: Table, folder: str):
    """Return the engines of an array of names and files, or of tables."""
    listed = content.values.get("engines", [])
    if not isinstance(listed, dict):
        return content.get("engines", values.array(engine_in(folder)), ())
    return tuple(_engine(name, entry, content, folder) for name, entry in listed.items())


def _engine(name: str, entry: object, content: Table, folder: str) -> ChosenEngine:
    """Return the engine of a table."""
    table = content.inner(f"engines.{name}", entry, "a table with python, timeout, options and file")
    table.only(("python", "timeout", "options", "file"))
    python = table.get("python", values.text, "")
    if "file" in table.values:
        chosen = table.get("file", engine_in(folder)).name
        if name in ENGINES:
            table.fail("file", f"must be in a table of another name: {name} is an engine of treefactor")
    else:
        chosen = content.check("engines", values.one_of(ENGINES), name)
    return ChosenEngine(
        chosen,
        str(Path(folder, python).absolute()) if "/" in python else python,
        table.get("timeout", values.seconds),
        table.get("options", values.array(values.text), ()),
        "" if name == title(chosen) else name,
    )


def _expectation(table: Table) -> Expectation:
    """Return an entry of [[expect]]."""
    names = [field.name for field in fields(Expectation)]
    table.only(names)
    if not table.values.keys() & {"robot", "engine", "quantity"}:
        raise TreefactorError(f"{table.file}: {table.prefix[:-1]} needs robot, engine or quantity")
    texts = {name: table.get(name, values.text) for name in names[:-1] if name in table.values}
    if "quantity" in texts and not set(texts["quantity"]) & set("*?["):
        texts["quantity"] = table.get("quantity", quantity_named)
    return Expectation(**texts, until=table.get("until", values.day_or_version))


_SIMPLE = {
    "quantities": values.array(quantity_named),
    "samples": values.whole(1),
    "seed": values.whole(0),
    "timeout": values.seconds,
    "base": values.one_of(BASES),
    "ordinary": values.flag,
    "traps": values.flag,
    "fail_on": values.array(values.one_of(FAIL_ON)),
}


def as_toml(chosen: Configuration) -> str:
    """Return a configuration as a TOML file; paths as they were written, keys not set in a comment."""
    lines = [f"# read from {chosen.file}"] if chosen.file else []
    unset = [
        key
        for key in (*_SIMPLE, "engines", "robots")
        if getattr(chosen, key) in (None, "") or (getattr(chosen, key) == () and key != "fail_on")
    ]
    lines += [f"# not set: {', '.join(unset)}"] if unset else []
    for key in _SIMPLE:
        value = getattr(chosen, key)
        if value not in (None, "") and not (key == "quantities" and not value):
            lines.append(f"{key} = {values.toml(value)}")
    if chosen.engines and all(engine == ChosenEngine(engine.name) for engine in chosen.engines):
        lines.append(f"engines = {values.toml([engine.name for engine in chosen.engines])}")
    else:
        for engine in chosen.engines:
            file = [] if engine.name in ENGINES else [f"file = {values.toml(engine.name)}"]
            entries = _entries(engine, ("name", "label"))
            lines += ["", f"[engines.{values.toml(engine.title)}]", *file, *entries]
    for name, entries in (("robots", chosen.robots), ("expect", chosen.expect)):
        for entry in entries:
            lines += ["", f"[[{name}]]", *_entries(entry, ("folder",))]
    return "\n".join(lines) + "\n"


def _entries(entry, but: Sequence[str]) -> list[str]:
    """Return the lines of a table: what differs from "" and None."""
    pairs = [(field.name, getattr(entry, field.name)) for field in fields(entry)]
    return [
        f"{name} = {values.toml(value)}"
        for name, value in pairs
        if name not in but and value not in ("", None, ())
    ]
