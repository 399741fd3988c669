"""Print advice about scripts that call Pinocchio, and return it as figures for JSON."""

from __future__ import annotations

from rich.text import Text

from ..advice import Advice, Report
from ..advice.known import stored
from .console import console, ratio

TITLES = {
    "batch": "Batch over configurations: the loop becomes the leading axis of one call",
    "fuse": "Fuse calls on one state",
    "replace": "Replace calls one for one",
}
NOT_MEASURED = "not measured"


def print_advice(name: str, report: Report) -> None:
    """Print what to write instead of the calls of a script, the larger gains first."""
    out = console()

    def line(text: str, style: str = "default", indent: int = 0) -> None:
        out.print(Text(" " * indent + text, style=style), soft_wrap=True)

    if not report.imports_pinocchio:
        line(f"{name} does not import Pinocchio")
        return
    line(f"{name}: {report.in_loops} calls of Pinocchio in loops, {report.outside} others", "bold")
    if report.models:
        line("Once, before the loops:", "bold")
        line("import treefactor as tf", indent=4)
        line("from treefactor.adapters import pinocchio_", indent=4)
        for theirs, ours in report.models.items():
            line(f"{ours} = pinocchio_.model({theirs})", indent=4)
        line("It is a copy; q and v keep their layout. Our functions take no data.", "dim", 2)
    number = 0
    for step, title in TITLES.items():
        listed = [one for one in report.advice if one.step == step]
        if listed:
            number += 1
            line(f"{number}. {title}", "bold")
        for one in listed:
            for place, text in dict.fromkeys(zip(one.places, one.source, strict=True)):
                line(f"{place}: {text}", indent=2)
            line(one.ours, "green", 6)
            line(f"{expected(one)}; {one.loop}", "dim", 6)
            if one.note:
                line(one.note, "dim", 6)
    if report.dependent:
        line("Not batched, because iterations depend on earlier ones", "bold")
        for loop, names in report.dependent.items():
            line(f"{loop} ({', '.join(names)})", indent=2)
        line("Several such runs, from other starts or targets, can go side by side in one batch.", "dim", 2)
    if report.stay:
        line("Stay with Pinocchio: no counterpart", "bold")
        for function, places in report.stay.items():
            line(f"{function}: {', '.join(places)}", indent=2)
    if not report.advice and not report.stay:
        line("Nothing to do: no loop calls functions of Pinocchio.")


def print_basis() -> None:
    """Print what the gains are."""
    measurement = stored()
    text = (
        "Gains are ratios of processor times to Pinocchio's, the smallest and the largest of "
        f"{', '.join(measurement['robots'])}, on one thread with {measurement['used']}: of batches of 1,024, "
        "of single calls, and of those bound by `tf.bind`; of the calls alone, not of the whole script."
    )
    console().print(Text(text, style="dim"))


def expected(one: Advice) -> str:
    """Return the expected gain in words."""
    if one.gain is None:
        return NOT_MEASURED
    bound = f", {_range(one.bound)} bound" if one.bound else ""
    return f"{_range(one.gain)} times as fast{bound}"


def advice_figures(report: Report) -> dict:
    """Return advice as JSON has it."""
    return {**report._asdict(), "advice": [one._asdict() for one in report.advice]}


def _range(gain: tuple[float, float]) -> str:
    return " to ".join(dict.fromkeys(map(ratio, gain)))
