"""Draw figures as dots on a logarithmic axis, and fold tables."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np
from exhibits import STYLE, Html, figure, span
from layout import COLOURS
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

Lines = Mapping[str, Mapping[str, float]]
SIZE = 6  # of dots


def dots(lines: Lines, x: str, description: str, before: Lines | None = None, one: bool = True) -> Html:
    """Draw a line for each name with a dot for each entry, on a logarithmic axis.

    Parameters
    ----------
    lines : mapping
        Maps names to entries to numbers; an entry has one colour in all lines.
    x, description : str
        Label of the axis, and the beginning of the text for readers who cannot see the figure; the range of
        every line follows.
    before : mapping, optional
        Numbers of the same kind with AVX2, drawn as rings.
    one : bool
        Draw a line at 1.
    """
    entries = list(dict.fromkeys(entry for values in lines.values() for entry in values))
    colours = {entry: COLOURS[k % len(COLOURS)] for k, entry in enumerate(entries)}
    with rc_context(STYLE):
        drawn = Figure(figsize=(8.4, 1.4 + 0.28 * len(lines)), layout="constrained")
        axis = drawn.subplots()
        for numbers, style in ((lines, "full"), (before or {}, "none")):
            for entry, colour in colours.items():
                places = [(one[entry], y) for y, one in enumerate(numbers.values()) if entry in one]
                dot = {"ms": SIZE, "fillstyle": style, "color": colour}
                axis.plot(*np.reshape(places, (-1, 2)).T, "o", label=entry if style == "full" else "", **dot)
        if before:
            axis.plot([], [], "o", ms=SIZE, fillstyle="none", color="gray", label="with AVX2")
        if one:
            axis.axvline(1.0, color="gray", linewidth=1)
        axis.set(xscale="log", xlabel=x, yticks=range(len(lines)), yticklabels=list(lines))
        axis.set_ylim(len(lines) - 0.5, -0.5)
        axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.grid(alpha=0.3)
        drawn.legend(loc="outside upper center", ncols=5, frameon=False)
    ranges = "; ".join(f"{name} {span(min(one.values()), max(one.values()))}" for name, one in lines.items())
    return figure(drawn, f"{description}: {ranges}")


def folded(summary: str, table: str) -> Html:
    """Fold a table under a line."""
    return Html(f"<details><summary>{escape(summary)}</summary>{table}</details>")
