"""Rows of the page *From Pinocchio to treefactor*."""

from __future__ import annotations

from typing import NamedTuple

from treefactor.quantities.declaration import Quantity, Timed
from treefactor.quantities.table import section

SEVERAL = {2: "two", 3: "three", 4: "four"}


class Counterpart(NamedTuple):
    """Functions of Pinocchio and what replaces them.

    Attributes
    ----------
    theirs : str
        Names in ``pinocchio``, separated by commas.
    ours : str
        Names in ``treefactor``, separated by commas; empty where scripts should use Pinocchio.
    note : str
        Plain text with code between backticks.
    what : str
        Name of the measurement, by default the first of theirs.
    shape : str
        Shape or type of our result for one configuration; batches have leading axes.
    convention : str
        Axes, order and sign of the result, written like the note.
    """

    theirs: str
    ours: str = ""
    note: str = ""
    what: str = ""
    shape: str = ""
    convention: str = ""

    @property
    def measured(self) -> str:
        """Name of the measurement in measure_from_pinocchio.py."""
        return self.what or self.theirs.split(",")[0]


def declared(name: str) -> tuple[Counterpart, ...]:
    """Return the rows of the quantities that are declared in a section of the table."""
    return tuple(row(quantity, line) for quantity in section(name) for line in quantity.timed)


def row(quantity: Quantity, line: Timed) -> Counterpart:
    """Return the row of a line of a declaration."""
    theirs, shape = line.names or quantity.counterparts[0].name, line.shape or shape_of(quantity)
    return Counterpart(theirs, quantity.key, line.note, line.what, shape, line.convention)


def shape_of(quantity: Quantity) -> str:
    """Return the shape of the results that are always there."""
    shapes = []
    for result in quantity.results:
        axes = [str(axis) for axis in result.shape if axis != "frames"]
        shapes += [f"({', '.join(axes)})" if axes else "number"] * (not result.when)
    if len(set(shapes)) > 1:
        return "named tuple"
    return f"{SEVERAL[len(shapes)]} {shapes[0]}" if len(shapes) > 1 else shapes[0]
