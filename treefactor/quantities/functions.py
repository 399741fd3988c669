"""Public functions of all declared quantities, made from the table when this module is imported."""

from __future__ import annotations

import sys
from importlib import import_module

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
    owner = sys.modules.get(quantity.module) or import_module(quantity.module)
    entry = Entry(quantity, owner, docstring(quantity), tuple(arguments), defaults)
    make_bindable(entry)
    return entry


for _quantity in QUANTITIES.values():
    ENTRIES[_quantity.name] = make(_quantity)
    globals()[_quantity.name] = ENTRIES[_quantity.name].function
