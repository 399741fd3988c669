"""Check the values of a configuration file: every error names the file, the key and what was expected."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NoReturn

from ..._util.messages import similar
from ...exceptions import TreefactorError

VERSION = re.compile(r"\d+(\.\d+)*")
Converter = Callable[[object], Any]  # raises ValueError that continues "must be"


@dataclass(frozen=True)
class Table:
    """Table of a file.

    Attributes
    ----------
    values : mapping
    file : str
        Named in errors; "" for the command line.
    prefix : str
        What errors write in front of a key, such as ``engines.dart.``.
    """

    values: Mapping[str, Any]
    file: str
    prefix: str = ""

    def fail(self, key: str, what: str) -> NoReturn:
        """Raise the error about the value of a key."""
        raise TreefactorError(f"{self.file}: {self.prefix}{key} {what}".removeprefix(": "))

    def only(self, known: Iterable[str]) -> None:
        """Check that all keys are known."""
        known = list(known)
        for key in self.values:
            if key not in known:
                hint = similar(key, known) or f"; known are {', '.join(known)}"
                raise TreefactorError(f"{self.file}: unknown key {self.prefix + key!r}{hint}")

    def get(self, key: str, convert: Converter, default=None, required: bool = False):
        """Return the value of a key, converted, or the default without the key."""
        if key not in self.values:
            return self.fail(key, "is missing") if required else default
        return self.check(key, convert, self.values[key])

    def check(self, key: str, convert: Converter, value: object):
        """Return a value converted, or raise the error that names the key."""
        try:
            return convert(value)
        except ValueError as error:
            self.fail(key, f"must be {error}")

    def entries(self, key: str) -> Iterator[tuple[str, Any]]:
        """Yield name, for errors, and value of every entry of an array."""
        listed = self.values.get(key, [])
        if not isinstance(listed, list):
            self.fail(key, f"must be an array, got {listed!r}")
        for at, entry in enumerate(listed):
            yield f"{key}[{at}]", entry

    def inner(self, where: str, entry: object, what: str) -> Table:
        """Return a table in this table."""
        if not isinstance(entry, dict):
            self.fail(where, f"must be {what}, got {entry!r}")
        return Table(entry, self.file, f"{self.prefix}{where}.")

    def tables(self, key: str) -> Iterator[Table]:
        """Yield the tables of an array of them."""
        for where, entry in self.entries(key):
            yield self.inner(where, entry, f"a table, written as [[{key}]]")


def text(value: object) -> str:
    """Return a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"a text, got {value!r}")
    return value


def flag(value: object) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"true or false, got {value!r}")
    return value


def seconds(value: object) -> float:
    """Return a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ValueError(f"a number of seconds above 0, got {value!r}")
    return float(value)


def whole(least: int) -> Converter:
    """Return the check for whole numbers from `least` on."""

    def convert(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ValueError(f"a whole number from {least} on, got {value!r}")
        return value

    return convert


def one_of(names: Iterable[str]) -> Converter:
    """Return the check for one of some names; its error proposes similar ones."""
    names = list(names)

    def convert(value: object) -> str:
        if value not in names:
            raise ValueError(f"one of {', '.join(names)}, got {value!r}{similar(value, names)}")
        return str(value)

    return convert


def array(convert: Converter) -> Converter:
    """Return the check for arrays; each value counts once."""

    def convert_all(value: object) -> tuple:
        if not isinstance(value, list):
            raise ValueError(f"an array, got {value!r}")
        try:
            return tuple(dict.fromkeys(map(convert, value)))
        except ValueError as error:
            raise ValueError(f"an array in which each value is {error}") from None

    return convert_all


def day_or_version(value: object) -> date | str:
    """Return a date, also written as a text, or a version such as "1.5"."""
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, str):
        if VERSION.fullmatch(value):
            return value
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    raise ValueError(f'a date such as 2027-01-31, or a version in quotes such as "1.5", got {value!r}')


def toml(value: object) -> str:
    """Return a value in TOML."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, date):
        return value.isoformat()
    # JSON's escapes are TOML's, but for DEL
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
