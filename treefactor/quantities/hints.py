"""Point from names that other packages have for a quantity to its function, in errors about unknown names."""

from __future__ import annotations

from .._util.messages import plain
from .declaration import NEEDED, Quantity
from .table import QUANTITIES


def hints() -> dict[str, str]:
    """Map names elsewhere, without capitals and underscores, to calls of functions here."""
    named = {
        plain(counterpart.name.rpartition(".")[2]): call_of(quantity)
        for quantity in QUANTITIES.values()
        for counterpart in quantity.counterparts
    }
    for quantity in QUANTITIES.values():
        named |= dict.fromkeys(map(plain, quantity.other_names.split(", ")), call_of(quantity))
    own = {plain(quantity.name) for quantity in QUANTITIES.values() if quantity.has_model}
    return {name: call for name, call in named.items() if name not in own}


def call_of(quantity: Quantity) -> str:
    """Return the call of a function with the arguments that it needs."""
    arguments = [name for name, value in quantity.arguments.items() if value is NEEDED]
    return f"{quantity.module}.{quantity.name}({', '.join(arguments)})"
