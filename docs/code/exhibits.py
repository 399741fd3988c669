"""Make the tables, matrices and figures of the pages, as HTML that follows the theme."""

import base64
import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from html import escape
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from treefactor import Tree, cli, report
from treefactor.advice import advise
from treefactor.papers.exhibits import EXHIBITS
from treefactor.papers.tables import Table
from treefactor.quantities.replacements import GROUPS
from treefactor.quantities.table import QUANTITIES
from treefactor.report import duration, ratio
from treefactor.report.html import table_html

MEASURED = Path(__file__).parents[1] / "measured"
STYLE = {"svg.fonttype": "none", "svg.hashsalt": "treefactor", "font.family": "sans-serif", "font.size": 10}


class Html(str):
    """HTML that a page shows unchanged."""

    def _repr_html_(self) -> str:
        return self


def shell(command: str) -> None:
    """Run a command line of treefactor; print it and its output."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()):
        status = cli.main(shlex.split(command)[1:])
    print(f"$ {command}\n{out.getvalue()}")
    if status:
        raise RuntimeError(f"{command}: exit status {status}")


def measured(name: str) -> dict:
    """Read results that `make measure` has stored."""
    return json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))


def origins(*names: str) -> Html:
    """Show where and when stored results were measured, by default all of them."""
    rows = []
    for file in sorted(MEASURED.glob("*.json")):
        stored = measured(file.stem)
        if (config := stored.get("config")) and (file.stem in names or not names):
            cells = (
                config.get("processor"),
                config["used"],
                *(stored.get(key) for key in ("date", "commit", "load")),
            )
            rows.append([file.stem, *("" if cell is None else str(cell) for cell in cells)])
    return grid(["", "processor", "instructions", "date", "commit", "load"], rows)


def multiples(of: str = "seconds") -> Html:
    """Show what derivatives cost in multiples of the dynamics that they differentiate, robot by robot."""
    robots = measured("derivatives")["robots"]
    rows = []
    for way in dict.fromkeys(way for one in robots.values() for way in one[of]):
        base = "forward_dynamics" if way.startswith("forward_dynamics") else "rnea"
        if way != base:
            shares = [one[of][way] / one[of][base] if way in one[of] else None for one in robots.values()]
            rows.append((way, base, *("–" if share is None else f"{share:.1f}" for share in shares)))
    titles = (f"{name}, nv = {one['nv']}" for name, one in robots.items())
    return grid(["", "in multiples of", *titles], rows)


def chains() -> Html:
    """Show operations and times of the inertia matrix of chains by the recursion as printed and by others."""
    figures = measured("chains")["chains"]
    counts, times = figures[0]["operations"], figures[0]["seconds"]
    rows = [
        *([f"operations, {name}", *(f"{one['operations'][name]:,}" for one in figures)] for name in counts),
        *([f"time, {name}", *(duration(one["seconds"][name]) for one in figures)] for name in times),
    ]
    return grid(["", *(f"{one['bodies']} bodies" for one in figures)], rows)


def ways_of_derivatives() -> Html:
    """Show times of the matrices of derivatives by loops over bodies and by programs, beside Pinocchio's."""
    rows = [
        (
            name,
            row["function"],
            row["how"],
            *(duration(row["seconds"][way]) if way in row["seconds"] else "–" for way in WAYS),
        )
        for name, one in measured("derivatives")["robots"].items()
        for row in one["ways"]
    ]
    return grid(["", "function", "how", *WAYS], rows)


def frameworks() -> Html:
    """Show times of functions for JAX and PyTorch, and in brackets in multiples of what they compare with."""
    robots = measured("frameworks")["robots"]
    by_robot = {
        name: {(row["what"], row["peer"]): row for row in one["results"]} for name, one in robots.items()
    }
    rows = (
        [
            *pair,
            *(
                f"{duration(rows[pair]['ours'])} ({ratio(1.0 / rows[pair]['ratio'])})"
                for rows in by_robot.values()
            ),
        ]
        for pair in next(iter(by_robot.values()))
    )
    titles = (f"{name}, nv = {one['nv']}" for name, one in robots.items())
    return grid(["", "compared with", *titles], rows)


@cache
def ratios_to_pinocchio() -> dict[tuple[str, str], list[float]]:
    """Return how many times faster than Pinocchio we are on each robot, by measurement and way of calling."""
    ratios: dict[tuple[str, str], list[float]] = {}
    for results in measured("from_pinocchio")["robots"].values():
        for row in results:
            ratios.setdefault((row["what"], row["target"]), []).append(row["ratio"])
    return ratios


def counterparts() -> Html:
    """Show functions of Pinocchio, what computes the same here, and how many times faster or slower it is."""
    ratios = ratios_to_pinocchio()
    titles = ["Pinocchio", "treefactor", "result", "one call", "bound", "1,024 configurations"]
    body = ""
    for group, rows in GROUPS.items():
        body += f'<tr><th colspan="{len(titles)}" scope="rowgroup">{escape(group)}</th></tr>'
        for row in rows:
            times = "".join(f"<td>{faster(ratios.get((row.measured, how), []))}</td>" for how in HOW)
            ours = codes(row.ours) if row.ours else "use Pinocchio"
            notes = "".join(f"<br>{prose(text)}" for text in (row.note, row.convention) if text)
            body += f"<tr><td>{codes(row.theirs)}</td><td>{ours}{notes}</td><td>{row.shape}</td>{times}</tr>"
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    return Html(
        f'<div class="scroll"><table class="words"><thead><tr>{head}</tr></thead>{body}</table></div>'
    )


def slower() -> Html:
    """Show the functions that take longer than Pinocchio's, how many times as long, and why."""
    from counterparts import REASONS

    robots = measured("from_pinocchio")["robots"]
    times: dict[tuple[str, str], dict[str, float]] = {}
    for name, results in robots.items():
        for row in results:
            times.setdefault((row["what"], row["target"]), {})[name] = 1.0 / row["ratio"]
    lines = [
        [
            row.measured,
            row.ours,
            how,
            *(ratio(taken[name]) for name in robots),
            REASONS.get(row.measured, NOISE),
        ]
        for rows in GROUPS.values()
        for row in rows
        for how in HOW
        if max((taken := times.get((row.measured, how), {})).values(), default=0.0) > 1.0
    ]
    return grid(["Pinocchio", "treefactor", "how", *robots, "why"], lines)


def scripts(step: str) -> Html:
    """Show a script before and after, and how many times faster the whole process is."""
    folder = Path(__file__).parents[2] / "examples" / "from_pinocchio" / step
    texts = {name: (folder / f"{name}.py").read_text(encoding="utf-8") for name in ("before", "after")}
    boxes = (
        f'<p class="note">{name}</p><div class="highlight"><pre>{escape(text)}</pre></div>'
        for name, text in texts.items()
    )
    return Html("".join(boxes))


def advice(step: str) -> None:
    """Print what `treefactor advise` prints about the script before a step."""
    folder = Path(__file__).parents[2] / "examples" / "from_pinocchio" / step
    with redirect_stdout(StringIO()) as out:
        report.print_advice("my_script.py", advise(folder / "before.py"))
    print(f"$ treefactor advise my_script.py\n{out.getvalue()}")


def times_of_scripts() -> Html:
    """Show processor times of the scripts before and after, and of the imports alone."""
    stored = measured("scripts")
    rows = []
    for step, one in stored["scripts"].items():
        loops = [one[name] - stored["imports"][name] for name in ("before", "after")]
        times = (duration(one[name]) for name in ("before", "after"))
        rows.append([step, *times, spread(one), ratio(loops[0] / loops[1])])
    imports = (duration(stored["imports"][name]) for name in ("before", "after"))
    rows.append(["imports alone", *imports, spread(stored["imports"]), ""])
    return grid(["", "before", "after", "times faster, whole script", "without imports"], rows)


def methods_of_wrapper() -> Html:
    """Show what replaces the methods of RobotWrapper, from the declarations."""
    body = "".join(
        f"<tr><td>{codes(', '.join(names))}</td><td>{codes(quantity.name)}</td></tr>"
        for quantity in QUANTITIES.values()
        if (names := [one.name for one in quantity.counterparts if one.name.startswith("RobotWrapper.")])
    )
    head = '<th scope="col">Pinocchio</th><th scope="col">treefactor</th>'
    return Html(
        f'<div class="scroll"><table class="words"><thead><tr>{head}</tr></thead>{body}</table></div>'
    )


def without_counterpart() -> Html:
    """List the public functions that are not timed, and what Pinocchio's Python has in their place."""
    from counterparts import WITHOUT_COUNTERPART

    body = "".join(
        f"<tr><td>{codes(', '.join(names))}</td><td>{escape(instead)}</td></tr>"
        for instead, names in WITHOUT_COUNTERPART.items()
    )
    head = '<th scope="col">treefactor</th><th scope="col">Pinocchio</th>'
    return Html(
        f'<div class="scroll"><table class="words"><thead><tr>{head}</tr></thead>{body}</table></div>'
    )


def codes(names: str) -> str:
    """Format names as code."""
    return ", ".join(f"<code>{escape(name.strip())}</code>" for name in names.split(","))


def prose(text: str) -> str:
    """Format a sentence with code between backticks and formulas between asterisks."""
    return re.sub(r"\*(.+?)\*", r"<i>\1</i>", re.sub("`(.+?)`", r"<code>\1</code>", escape(text)))


def faster(ratios: Sequence[float]) -> str:
    """Say how many times faster or slower: the smallest and the largest of some ratios."""
    if not ratios:
        return "–"
    low, high = min(ratios), max(ratios)
    if low >= 1.0:
        return span(low, high)
    if high <= 1.0:
        return f"<b>slower</b>: {span(1.0 / high, 1.0 / low)}"
    return f"<b>slower</b> {ratio(1.0 / low)} to faster {ratio(high)}"


def span(low: float, high: float) -> str:
    """Format a range of ratios; a single one where both print alike."""
    return "–".join(dict.fromkeys((ratio(low), ratio(high))))


def spread(row: Mapping) -> str:
    """Format a ratio and its quartiles."""
    return f"{ratio(row['ratio'])} ({ratio(row['low'])}–{ratio(row['high'])})"


def paper(table: Table) -> Html:
    """Show a paper's table beside what was executed."""
    return Html(f'<p class="note">{escape(table.note)}</p>{table_html(table)}')


def verdicts(name: str) -> Html:
    """List the numbered items and headline figures of a paper, with our verdicts."""
    listed = EXHIBITS[name]
    return grid(["", "the paper", "verdict", "why"], ([x.name, x.claim, x.verdict, x.reason] for x in listed))


def grid(titles: Sequence[str], rows: Iterable[Sequence]) -> Html:
    """Make a table of numbers."""
    head = "".join(f'<th scope="col">{escape(str(title))}</th>' for title in titles)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return Html(f'<div class="scroll"><table class="grid"><thead><tr>{head}</tr></thead>{body}</table></div>')


def _cell(content) -> str:
    """Return a cell of a table of numbers; a text that is longer than a number may be broken into lines."""
    text = escape(str(content))
    return f'<td class="text">{text}</td>' if len(text) > LONG else f"<td>{text}</td>"


def matrix(A, rows: Sequence, columns: Sequence, mask=None, digits: int = 3) -> Html:
    """Show a small matrix; entries of the pattern `mask`, or those that are not zero, are coloured."""
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


def figure(drawn: Figure, description: str) -> Html:
    """Embed a figure of Matplotlib as SVG with a transparent background and the fonts of the browser."""
    file = BytesIO()
    with rc_context(STYLE):
        drawn.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    data = base64.b64encode(file.getvalue()).decode()
    fitted = "" if drawn.get_figwidth() > NARROW else 'style="width: auto; max-width: 100%" '
    return Html(
        f'<figure><img class="plot" {fitted}alt="{escape(description)}" '
        f'src="data:image/svg+xml;base64,{data}"></figure>'
    )


def curves(
    panels: Mapping[str, Mapping[str, tuple]], x: str, y: str, description: str, scale: str = "log"
) -> Html:
    """Plot lines, with dots on logarithmic axes: one panel for each title, one colour for each name.

    Parameters
    ----------
    panels : mapping
        Maps titles to names to abscissas and ordinates.
    x, y, description : str
        Labels of the axes, and the text of the figure for readers who cannot see it.
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
    return figure(drawn, description)


def packed(tree: Tree) -> Html:
    """Draw the tree, the pattern of H and the packed rows, with one colour for every column."""
    from layout import draw

    return Html(draw(tree))


def elimination(tree: Tree, supports: Sequence[Sequence[int]]) -> Html:
    """Draw two orders of elimination of freedoms and constraints, and their fill."""
    from order import draw

    return Html(draw(tree, supports))


def _number(value: float, digits: int) -> str:
    """Format a number; tiny ones and negative zeros as 0."""
    return "0" if abs(value) < TINY else f"{value:.{digits}g}"


WAYS = ("Pinocchio", "loops over bodies", "interpreter", "cc")  # measure_derivatives.py
HOW = ("one call", "bound call", "batch of 1024")  # measure_from_pinocchio.py
NOISE = "within the spread of the runs"
TINY = 1e-12  # shown as 0
LONG = 22  # characters, of a number with its range
NARROW = 6  # inches; wider figures scroll on a narrow screen instead of shrinking
