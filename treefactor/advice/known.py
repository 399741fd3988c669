"""Functions of Pinocchio with what replaces them, from the declarations, and stored ratios of times."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..quantities.declaration import Quantity
from ..quantities.replacements import GROUPS, Replacement, row
from ..quantities.table import QUANTITIES

CALL, BOUND, BATCH = "one call", "bound call", "batch of 1024"
STORED = Path(__file__).parents[1] / "quantities" / "ratios.json"
Gain = tuple[float, float]  # the smallest and the largest ratio over robots


class Known(NamedTuple):
    """What replaces a function of Pinocchio.

    Attributes
    ----------
    ours : str
        Name in ``treefactor``; empty where scripts should use Pinocchio.
    row : Replacement
    quantity : Quantity, optional
        Of a declared function.
    """

    ours: str
    row: Replacement
    quantity: Quantity | None = None

    @property
    def name(self) -> str:
        """Name with the prefix that scripts write."""
        return self.ours if self.ours.startswith(("se3.", "so3.")) else f"tf.{self.ours}"


def _known() -> dict[str, Known]:
    """Map names in Pinocchio to what replaces them; of several rows, to the one named after a function."""
    known: dict[str, Known] = {}
    rows = [one for group in GROUPS.values() for one in group if not one.parts]
    declared = [one for one in rows if one.ours in QUANTITIES]
    for one in (*sorted(declared, key=_is_named_otherwise), *sorted(rows, key=_is_named_otherwise)):
        ours = one.ours.split(", ")[0]
        for name in one.theirs.split(", "):
            known.setdefault(name, Known(ours, one, _of_models(ours)))
    for quantity in QUANTITIES.values():
        for counterpart in quantity.counterparts:
            first = next((row(quantity, line) for line in quantity.timed), Replacement("", quantity.key))
            known.setdefault(counterpart.name, Known(quantity.key, first, _of_models(quantity.key)))
    del known["SE3"]  # a class; its constructor from angles has a row
    return known


def _of_models(key: str) -> Quantity | None:
    """Return the declared function of models with this name."""
    quantity = QUANTITIES.get(key)
    return quantity if quantity and quantity.has_model else None


def _is_named_otherwise(one: Replacement) -> bool:
    return one.measured != one.theirs.split(", ")[0]


KNOWN = _known()
TOGETHER = [one for group in GROUPS.values() for one in group if one.parts]  # rows that replace several calls
ATTRIBUTES = {  # of Data, after the functions that fill them
    name.partition(".")[2]: one for name, one in KNOWN.items() if name.startswith("Data.")
}


@cache
def stored() -> dict:
    """Return the stored ratios to Pinocchio's times."""
    return json.loads(STORED.read_text(encoding="utf-8"))


def gain(what: str, way: str) -> Gain | None:
    """Return how many times faster a call is than Pinocchio's, or None if that was not measured."""
    ratios = stored()["ratios"].get(what, {}).get(way)
    return (ratios[0], ratios[1]) if ratios else None
