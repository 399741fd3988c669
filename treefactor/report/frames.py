"""Print the frames of a model, and the columns of v that move them."""

from __future__ import annotations

from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from ..model.model import Model
from .console import console


def frame_figures(model: Model) -> list[dict]:
    """Return name, joint (None for the base), type, parent, placement and support of all frames as text."""
    return [
        {
            "name": frame.name,
            "joint": model.joints[frame.joint].name if frame.joint >= 0 else None,
            "type": frame.type,
            "parent": frame.parent,
            "placement": frame.placement.tolist(),
            "support": model.support(frame).tolist(),
        }
        for frame in model.frames
    ]


def print_frames(model: Model) -> None:
    """Print all frames with their joints, types and supports."""
    table = Table("number", "frame", "joint", "type", "columns of v", header_style="bold", box=SIMPLE_HEAD)
    for k, figures in enumerate(frame_figures(model)):
        joint = figures["joint"] or "base"
        texts = (str(k), figures["name"], joint, figures["type"], ranges(figures["support"]))
        table.add_row(*map(Text, texts))
    console().print(table)


def ranges(numbers: list[int]) -> str:
    """Return ascending numbers with runs of them as ranges, such as "0-6, 10"."""
    runs = [[k for _, k in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)
