"""Print the joints of a model with their entries of q and v."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from ..model.joint_entries import described
from ..model.model import Model
from .console import console


def joint_figures(model: Model) -> list[dict]:
    """Return name, kind, entries of q and v, and what these are, of every joint."""
    return [joint._asdict() for joint in described(model)]


def print_joints(model: Model) -> None:
    """Print all joints with their entries of q and v."""
    table = Table("joint", "kind", "q", "v", "entries of q", "of v", header_style="bold", box=SIMPLE_HEAD)
    for joint in described(model):
        table.add_row(*map(Text, joint))
    console().print(table)
