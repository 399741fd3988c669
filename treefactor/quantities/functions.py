"""Public functions of all declared quantities, each made from the table when it is first used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._functions._entry import Entry
from .._functions.binding import make_bindable
from .._util import lazy_names
from .._util.bindable import NAMES
from .declaration import NEEDED, Quantity
from .docstrings import docstring
from .table import QUANTITIES


def make(quantity: Quantity) -> Entry:
    """Return the entry of a quantity, with its public function."""
    arguments = quantity.arguments
    defaults = tuple(value for value in arguments.values() if value is not NEEDED)
    entry = Entry(quantity, docstring(quantity), tuple(arguments), defaults)
    make_bindable(entry)
    return entry


class Entries(Mapping[str, Entry]):
    """Entries of quantities by their names."""

    def __init__(self) -> None:
        self._made: dict[str, Entry] = {}

    def __getitem__(self, name: str) -> Entry:
        if name not in self._made:
            quantity = QUANTITIES[name]
            with lazy_names.lock:
                if name not in self._made:
                    self._made[name] = make(quantity)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(QUANTITIES)

    def __len__(self) -> int:
        return len(QUANTITIES)


ENTRIES = Entries()
NAMES.update(one.name for one in QUANTITIES.values() if one.bound)


def functions_of(module: str) -> dict[str, Any]:
    """Return the functions of a public module by name."""
    return {one.name: ENTRIES[key].function for key, one in QUANTITIES.items() if one.module == module}


def __getattr__(name: str) -> Any:
    """Make the public function of a quantity when it is first used."""
    if name not in QUANTITIES:
        raise AttributeError(f"{__name__} has no attribute {name!r}")
    function = ENTRIES[name].function
    globals()[name] = function
    return function
