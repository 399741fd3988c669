"""What pages show: tables, matrices and figures as HTML that follows the theme."""

import base64
import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from html import escape
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from treefactor import Tree, cli, report
from treefactor.report import duration, ratio
from treefactor.report.html import table_html
from treefactor.tables import Table

MEASURED = Path(__file__).parent / "measured"
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "treefactor", "font.family": "sans-serif", "font.size": 10}


class Html(str):
    """HTML that a page shows as it is."""

    def _repr_html_(self) -> str:
        return self


def shell(command: str) -> None:
    """Print a command line of treefactor and what it prints."""
    report.PIPE_WIDTH = WIDTH
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()):
        status = cli.main(shlex.split(command)[1:])
    print(f"$ {command}\n{out.getvalue()}")
    if status:
        raise RuntimeError(f"{command}: exit status {status}")


def measured(name: str) -> dict:
    """Results that `make measure` has stored."""
    return json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))


def ratios(robots: Sequence[str], targets: Sequence[str]) -> Html:
    """How many times faster than a peer, robot by robot, with the quartiles of the runs."""
    found = {name: {key(row): row for row in measured(name)["results"]} for name in robots}
    keys = dict.fromkeys(k for rows in found.values() for k in rows if k[0] in targets)
    return grid(
        ["", "peer", *robots],
        ([k[1], k[2], *(spread(rows[k]) if k in rows else "" for rows in found.values())] for k in keys),
    )


def counterparts() -> Html:
    """Functions of Pinocchio, what computes the same here, and how many times faster or slower it is."""
    from counterparts import GROUPS

    ratios: dict[tuple[str, str], list[float]] = {}
    for results in measured("from_pinocchio")["robots"].values():
        for row in results:
            ratios.setdefault((row["what"], row["target"]), []).append(row["ratio"])
    titles = ["Pinocchio", "treefactor", "one call", "bound", "1,024 configurations"]
    body = ""
    for group, rows in GROUPS.items():
        body += f'<tr><th colspan="{len(titles)}" scope="rowgroup">{escape(group)}</th></tr>'
        for row in rows:
            times = "".join(f"<td>{faster(ratios.get((row.measured, how), []))}</td>" for how in HOW)
            ours = codes(row.ours) if row.ours else "use Pinocchio"
            note = f"<br>{prose(row.note)}" if row.note else ""
            body += f"<tr><td>{codes(row.theirs)}</td><td>{ours}{note}</td>{times}</tr>"
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    return Html(
        f'<div class="scroll"><table class="words"><thead><tr>{head}</tr></thead>{body}</table></div>'
    )


def codes(names: str) -> str:
    """Names as code."""
    return ", ".join(f"<code>{escape(name.strip())}</code>" for name in names.split(","))


def prose(text: str) -> str:
    """A sentence with code between backticks and formulas between asterisks."""
    return re.sub(r"\*(.+?)\*", r"<i>\1</i>", re.sub("`(.+?)`", r"<code>\1</code>", escape(text)))


def faster(ratios: Sequence[float]) -> str:
    """Smallest and largest of some ratios in words: how many times faster, or slower."""
    if not ratios:
        return "–"
    low, high = min(ratios), max(ratios)
    if low >= 1.0:
        return span(low, high)
    if high <= 1.0:
        return f"<b>slower</b>: {span(1.0 / high, 1.0 / low)}"
    return f"<b>slower</b> {ratio(1.0 / low)} to faster {ratio(high)}"


def span(low: float, high: float) -> str:
    """From one ratio to another, once where they print alike."""
    return "–".join(dict.fromkeys((ratio(low), ratio(high))))


def duels(name: str, targets: Sequence[str], but: Sequence[str] = ()) -> Html:
    """What was timed against whom, with both times and the peer's result, if anything is known of it."""
    found = [row for row in measured(name)["results"] if row["target"] in targets and row["peer"] not in but]
    times = [(duration(row["ours"]), duration(row["theirs"]), spread(row)) for row in found]
    return grid(
        ["", "peer", "ours", "peer's", "times faster", "the peer's result"],
        [
            [
                f"{row['model']}, {row['what'].removeprefix('problem ')}".removesuffix(", cold"),
                row["peer"],
                *time,
                row["note"].replace(", residual", ","),
            ]
            for row, time in zip(found, times, strict=True)
        ],
    )


def key(row: Mapping) -> tuple[str, str, str]:
    """What was timed, and against whom."""
    return row["target"], row["what"], row["peer"]


def spread(row: Mapping) -> str:
    """A ratio and its quartiles."""
    return f"{ratio(row['ratio'])} ({ratio(row['low'])}–{ratio(row['high'])})"


def paper(table: Table) -> Html:
    """A paper's table beside what was executed."""
    return Html(f'<p class="note">{escape(table.note)}</p>{table_html(table)}')


def grid(titles: Sequence[str], rows: Iterable[Sequence]) -> Html:
    """A table of figures."""
    head = "".join(f'<th scope="col">{escape(str(title))}</th>' for title in titles)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return Html(f'<div class="scroll"><table class="grid"><thead><tr>{head}</tr></thead>{body}</table></div>')


def matrix(A, rows: Sequence, columns: Sequence, mask=None, digits: int = 3) -> Html:
    """A small matrix; entries of the pattern `mask`, or those that are not zero, have a ground."""
    A = np.asarray(A)
    mask = np.abs(A) > TINY if mask is None else mask
    head = "".join(f'<th scope="col">{escape(str(name))}</th>' for name in columns)
    body = ""
    for name, values, entries in zip(rows, A, mask, strict=True):
        cells = "".join(
            f'<td class="{"entry" if entry else "zero"}">{_number(value, digits)}</td>'
            for value, entry in zip(values, entries, strict=True)
        )
        body += f'<tr><th scope="row">{escape(str(name))}</th>{cells}</tr>'
    return Html(
        '<div class="scroll"><table class="matrix">'
        f"<thead><tr><th></th>{head}</tr></thead>{body}</table></div>"
    )


def figure(drawn: Figure, says: str) -> Html:
    """A figure of Matplotlib as SVG without a ground, its text that of the browser."""
    file = BytesIO()
    with rc_context(STYLE):
        drawn.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    data = base64.b64encode(file.getvalue()).decode()
    return Html(
        f'<figure><img class="plot" alt="{escape(says)}" src="data:image/svg+xml;base64,{data}"></figure>'
    )


def curves(panels: Mapping[str, Mapping[str, tuple]], x: str, y: str, says: str, scale: str = "log") -> Html:
    """Lines, on logarithmic axes with dots: a panel for each title, one colour for each name in all of them.

    Parameters
    ----------
    panels : mapping
        Of every title, of every name, abscissas and ordinates.
    x, y, says : str
        Names of the axes, and what stands for the figure where it is not seen.
    scale : {"log", "linear"}
    """
    with rc_context(STYLE):
        drawn = Figure(figsize=(8.4, 4.2), layout="constrained")
        axes = drawn.subplots(1, len(panels), sharey=scale == "log", squeeze=False)[0]
        marker = "o" if scale == "log" else ""
        for axis, (title, lines) in zip(axes, panels.items(), strict=True):
            for name, points in lines.items():
                axis.plot(*points, marker=marker, markersize=3, label=name)
            axis.set(title=title, xlabel=x, xscale=scale, yscale=scale)
            axis.grid(alpha=0.3)
        axes[0].set_ylabel(y)
        names = axes[0].get_legend_handles_labels()
        if len(names[0]) > 1:
            drawn.legend(*names, loc="outside lower center", ncols=2, frameon=False)
    return figure(drawn, says)


def packed(tree: Tree) -> Html:
    """The tree, the pattern of H and the packed rows: one colour for every column."""
    from layout import draw

    return Html(draw(tree))


def elimination(tree: Tree, supports: Sequence[Sequence[int]]) -> Html:
    """Orders of elimination of freedoms and constraints, and what they fill."""
    from order import draw

    return Html(draw(tree, supports))


def _number(value: float, digits: int) -> str:
    """A number without a negative or a tiny zero."""
    return "0" if abs(value) < TINY else f"{value:.{digits}g}"


HOW = ("one call", "bound call", "batch of 1024")  # measure_from_pinocchio.py
TINY = 1e-12  # shown as 0
WIDTH = 110  # columns of what a command prints
