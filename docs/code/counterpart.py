"""Rows of the page *From Pinocchio to treefactor*."""

from __future__ import annotations

from typing import NamedTuple


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
