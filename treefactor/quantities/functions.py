"""Public functions of all declared quantities, made from the table when this module is imported."""

from __future__ import annotations

from typing import Any

from .._functions._entry import Entry
from .._functions.binding import make_bindable
from .declaration import NEEDED, Quantity
from .docstrings import docstring
from .table import QUANTITIES

ENTRIES: dict[str, Entry] = {}


def make(quantity: Quantity) -> Entry:
    """Return the entry of a quantity, with its public function."""
    arguments = quantity.arguments
    defaults = tuple(value for value in arguments.values() if value is not NEEDED)
    entry = Entry(quantity, docstring(quantity), tuple(arguments), defaults)
    make_bindable(entry)
    return entry


def functions_of(module: str) -> dict[str, Any]:
    """Return the functions of a public module by name."""
    return {one.quantity.name: one.function for one in ENTRIES.values() if one.quantity.module == module}


for _key, _quantity in QUANTITIES.items():
    ENTRIES[_key] = make(_quantity)
globals().update(functions_of("treefactor") | functions_of(__name__))
