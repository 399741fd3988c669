"""Print tables and trees on the console, and write JSON files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree as RichTree

from ..bench.scaling import Growth
from ..bench.timing import BUSY, Result, busy
from ..check.cells import (
    AGREES,
    CRASHED,
    DISAGREES,
    EXCLUDED,
    EXPECTED,
    EXPLAINED,
    NOT_INSTALLED,
    NOT_OFFERED,
    REFUSED,
    TIMED_OUT,
)
from ..codegen import Verdict
from ..papers.exhibits import NOT_EXECUTABLE, NOT_IMPLEMENTED, REPRODUCED, Exhibit
from ..papers.tables.table import (
    ABOUT,
    DERIVED,
    DIFFERS,
    EQUAL,
    HOLDS,
    NOT_ABOVE,
    NOT_BELOW,
    NOT_IN_PAPER,
    PaperRow,
    shown,
)
from ..papers.tables.table import Table as PaperTable
from ..tree.tree import CostKind, OperationCount, Tree

COLOURS = {  # colours of the states of cells and of the verdicts on derivatives
    AGREES: "green",
    EXPLAINED: "cyan",
    EXPECTED: "magenta",
    DISAGREES: "bold red",
    REFUSED: "yellow",
    TIMED_OUT: "bold red",
    CRASHED: "bold red",
    NOT_INSTALLED: "dim",
    EXCLUDED: "dim",
    NOT_OFFERED: "dim",
}
VERDICTS = {
    EQUAL: "green",
    ABOUT: "green",
    NOT_ABOVE: "green",
    NOT_BELOW: "green",
    HOLDS: "green",
    EXPLAINED: "cyan",
    DIFFERS: "bold red",
    DERIVED: "dim",
    NOT_IN_PAPER: "dim",
}  # colours of the verdicts on a paper's figures
EXHIBITS = {
    **{REPRODUCED: "green", HOLDS: "green", DERIVED: "dim", EXPLAINED: "cyan", DIFFERS: "yellow"},
    **{NOT_EXECUTABLE: "dim", NOT_IMPLEMENTED: "yellow"},
}
PLURAL = {AGREES: "agree", DISAGREES: "disagree", DIFFERS: "differ"}
DETAILED = 5  # robots up to which every reason is printed; of more, a table of the causes
PIPE_WIDTH = 100  # columns of a table that no terminal limits


class _Console(Console):
    """Console that leaves the exit status to the caller when the reader of a pipe has gone."""

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError again; rich would exit with 1, the status for a disagreement."""
        raise


def console(width: int = PIPE_WIDTH) -> Console:
    """Return a console as wide as the terminal; in a pipe by default `PIPE_WIDTH` columns wide."""
    plain = _Console(highlight=False)
    return plain if plain.is_terminal else _Console(highlight=False, width=width)


def counted(verdicts: Sequence[str], styles: Mapping[str, str], zeros: bool = False) -> Text:
    """Count the verdicts of each kind, of absent ones too if zeros: "1 agrees, 2 disagree"."""
    counts = {verdict: verdicts.count(verdict) for verdict in styles}
    return Text(", ").join(
        Text(f"{count} {verdict if count == 1 else PLURAL.get(verdict, verdict)}", style=styles[verdict])
        for verdict, count in counts.items()
        if count or zeros
    )


def print_next(text: str) -> None:
    """Print a suggestion for the user's next command, if there is one."""
    if text:
        console().print(Text(f"Next: {text}", style="dim"), soft_wrap=True)


def tree_figures(tree: Tree) -> dict:
    """Return sizes, density and exact costs of a tree as text."""
    return {
        "n": tree.n,
        "depth": int(tree.depth.max(initial=0)),
        "nnz": tree.nnz,
        "D1": tree.D1,
        "D2": tree.D2,
        "density": tree.density,
        "cost": {
            kind: {"total": (count := tree.cost(kind)).total, **vars(count)} for kind in CostKind.__args__
        },
    }


def print_tree(name: str, tree: Tree) -> None:
    """Print the tree with its joints' names and depths, and its figures."""
    out = console()
    out.print(_drawing(name, tree))
    figures = tree_figures(tree)
    out.print(
        f"n = {tree.n}, depth {figures['depth']}, {tree.nnz} entries in the lower triangle, "
        f"D1 = {tree.D1}, D2 = {tree.D2}, density {tree.density:.3f}"
    )
    table = Table("operation", header_style="bold", box=SIMPLE_HEAD)
    columns = ("mul", "add", "div", "sqrt", "total")
    for title in (*columns, "dense", "saved"):
        table.add_column(title, justify="right")
    dense = Tree(np.arange(-1, tree.n - 1))
    for kind, count in figures["cost"].items():
        full = dense.cost(kind).total
        saved = f"{full / count['total']:.2f}x" if count["total"] else "-"
        table.add_row(kind, *(str(count[c]) for c in columns), str(full), saved)
    out.print(table)


def print_operations(title: str, operations: dict[str, OperationCount]) -> None:
    """Print the costs of generated functions."""
    table = Table(title=Text(title), title_justify="left", header_style="bold", box=SIMPLE_HEAD)
    table.add_column("operations of", no_wrap=True)
    roots = ("sqrt",) if any(count.sqrt for count in operations.values()) else ()
    columns = ("mul", "add", "div", *roots, "trig", "total")
    for name in columns:
        table.add_column(name, justify="right")
    for name, count in operations.items():
        table.add_row(name, *(str(getattr(count, column)) for column in columns))
    console().print(table)


def print_branch(branch: Sequence[tuple[str, int]]) -> None:
    """Print the signs of the square roots that close loops, if there are any."""
    if branch:
        signs = " ".join(f"{name}={sign}" for name, sign in branch)
        console().print(Text(f"Signs of position_closure: {signs}"), soft_wrap=True)


def print_verdicts(title: str, verdicts: Sequence[Verdict]) -> None:
    """Print how the intermediates of generated functions compare with numeric matrices."""
    table = Table(title=Text(title), title_justify="left", header_style="bold", box=SIMPLE_HEAD)
    for name in ("function", "variant"):
        table.add_column(name, no_wrap=True)
    for name in ("intermediates", "largest error"):
        table.add_column(name, justify="right")
    table.add_column("first that differs")
    for verdict in verdicts:
        table.add_row(
            verdict.function,
            verdict.variant,
            str(verdict.elements),
            f"{verdict.error:.1e}",
            Text(verdict.first or "none"),
        )
    console().print(table)


def print_results(title: str, results: Sequence[Result], caption: str, goals: bool = False) -> None:
    """Print the results of `treefactor bench`; with goals, also this project's targets and goals."""
    table = Table(title=Text(title), title_justify="left", header_style="bold", box=SIMPLE_HEAD)
    for name in ("target", "what", "peer")[not goals :]:
        table.add_column(name)
    for name in ("ours", "peer's", "times faster", "goal")[: 3 + goals]:
        table.add_column(name, justify="right")
    noted = any(result.note for result in results)
    if noted:
        table.add_column("the peer's result")
    models = len({result.model for result in results}) > 1
    for result in results:
        table.add_row(
            *(result.subject, f"{result.model}, {result.what}" if models else result.what, result.peer)[
                not goals :
            ],
            *(duration(result.ours), duration(result.theirs)),
            f"{ratio(result.ratio)} ({ratio(result.low)}-{ratio(result.high)})",
            *([goal(result)] if goals else []),
            *([result.note] if noted else []),
        )
    out = console()
    out.print(table)
    out.print(Text(caption, style="dim"))


def print_busy(results: Sequence[Result]) -> None:
    """Warn if the machine did other work while results were measured, and state the rule."""
    if busy(results):
        width = np.median([result.spread for result in results])
        text = (
            "The machine was busy: in half of the comparisons the quartiles lie more than "
            f"{width:.0%} of the ratio apart, on an idle machine less than {BUSY:.0%}. Repeat this when "
            "nothing else runs."
        )
        console().print(Text(text, style="yellow"))


ROBOT_CAPTION = (
    "Medians per matrix or configuration of runs taken in turns, quartiles of their ratios in brackets. FMA "
    "peak: what the registers of a core could do. Differences: central ones of products of Pinocchio's "
    "matrices."
)
ROBOT_GOALS = " Goals of batches of matrices are for robots with 18 freedoms or more."
PROBLEMS_CAPTION = (
    "Medians of the processor's time of runs taken in turns, in one thread; quartiles of their ratios in "
    "brackets. The peer's result: the status it reports, and the largest |min(gamma, A gamma + q)|, computed "
    "anew, rows scaled by 1 / sqrt(A_ii). Dantzig's and Lemke's methods are given A, unless A is named."
)
FRAMEWORKS_CAPTION = (
    "Medians of the processor's time per configuration or step of runs in turns, in one thread; quartiles of "
    "their ratios in brackets. JAX: compiled by jit, float64; gradient: of the sum of accelerations by q, "
    "v and tau. Our forward dynamics: as many, with NumPy. JAX's own functions: a product of two arrays."
)
LOOPS_CAPTION = (
    "Medians of the processor's time per state of runs taken in turns, in one thread; quartiles of their "
    "ratios in brackets. Pinocchio's constraintDynamics is called once per state; interpreter and cc: "
    "generated programs."
)
CONTACTS_CAPTION = (
    "Medians of the processor's time per step and world of runs taken in turns, in one thread; quartiles of "
    "their ratios in brackets. The first 100 steps of 2 ms from one state, 400 of the dominoes, "
    "1000 of robots, which fall without motors. MuJoCo: stiff contacts, elliptic cones; the worlds by its "
    "rollout. PyBullet: its defaults."
)
CONTROL_CAPTION = (
    "Medians per target, or per problem and iteration, of runs taken in turns, in one thread; quartiles of "
    "their ratios in brackets. Pinocchio: a loop over its functions with NumPy, which clips steps at the "
    "limits and begins again after 20 of them; the processor's time. Crocoddyl: SolverDDP, one problem after "
    "the other in a process of its own; elapsed time."
)


def print_growth(grown: Sequence[Growth]) -> None:
    """Print counts, times and memory of ever larger trees."""
    table = Table("family", header_style="bold", box=SIMPLE_HEAD)
    for name in ("n", "N1", "N2", "N1 + 2 N2", "saved", "time", "per operation", "bytes per entry"):
        table.add_column(name, justify="right", no_wrap=True)
    for entry in grown:
        tree = entry.tree
        table.add_row(
            *(entry.family, str(tree.n), str(tree.D1), str(tree.D2), str(entry.operations)),
            f"{entry.dense / entry.operations:.3g}x",
            duration(entry.seconds),
            duration(entry.seconds / entry.operations),
            f"{entry.memory / tree.nnz:.1f}",
        )
    console().print(table)


def print_tables(tables: Sequence[PaperTable]) -> None:
    """Print the results of `treefactor tables`, and the number of figures of each kind."""
    out = console()
    for table in tables:
        out.print(_paper_table(table))
        reasons = dict.fromkeys(
            f"{row.verdict}: {row.reason}"
            for row in table.rows
            if row.verdict in (EXPLAINED, DIFFERS) and row.reason
        )
        for line in (*reasons, f"{table.note}\n"):
            out.print(Text(line, style="dim"))
    out.print(Text(TABLES_CAPTION, style="dim"))
    verdicts = [row.verdict for table in tables for row in table.rows]
    out.print(counted(verdicts, VERDICTS))


def print_exhibits(listed: Mapping[str, Sequence[Exhibit]]) -> None:
    """Print of every paper how many exhibits have which verdict, and those with a reason."""
    out = console()
    for paper, exhibits in listed.items():
        if exhibits:
            counts = counted([x.verdict for x in exhibits], EXHIBITS, zeros=True)
            out.print(Text(f"Exhibits of {paper}: ").append(counts))
        for exhibit in exhibits:
            if exhibit.reason:
                line = Text(f"  {exhibit.name}, {exhibit.claim} ")
                line.append(exhibit.verdict, style=EXHIBITS[exhibit.verdict])
                out.print(line.append(f": {exhibit.reason}", style="default"))


def print_contradicted(exhibits: Sequence[Exhibit]) -> None:
    """Print the exhibits whose rows show another verdict, or that lack a reason."""
    for exhibit in exhibits:
        verdict = f"{exhibit.verdict!r} does not follow from the rows of {exhibit.table!r}"
        text = f"{exhibit.paper}, {exhibit.name}: {verdict}"
        console().print(Text(text, style="bold red"))


def _paper_table(table: PaperTable) -> Table:
    """Return the paper's figures beside ours as a table."""
    timed = any(row.timed for row in table.rows)
    title = Text(f"{table.paper}\n{table.title}")
    output = Table(title=title, title_justify="left", header_style="bold", box=SIMPLE_HEAD)
    for name in ("", "what", "paper", "ours", "verdict", "time")[: 5 + timed]:
        output.add_column(name, overflow="fold")
    last = None
    for row in table.rows:
        case = "" if row.case == last else row.case
        cells = [Text(cell) for cell in (case, row.what, shown(row.paper), shown(row.ours))]
        verdict = Text(row.verdict, style=VERDICTS[row.verdict])
        output.add_row(*cells, verdict, *([Text(speed(row))] if timed else []))
        last = row.case
    return output


TABLES_CAPTION = (
    "Time: of our kernel, and how many times longer its peers take in turns with it. Dense: the same kernel "
    "on a dense matrix of that size. LAPACK: its Cholesky on one thread. Pinocchio: its CRBA. "
    "Numeric loops: our compiled recursions."
)


def speed(row: PaperRow) -> str:
    """Format our time, and the ratio of the peers' times to it."""
    ours = [duration(row.timed[0].ours)] if row.timed else []
    return "; ".join([*ours, *(f"{result.peer} {ratio(result.ratio)}x" for result in row.timed)])


def duration(seconds: float) -> str:
    """Format seconds with three digits and a suitable unit."""
    for factor, unit in ((1e9, "ns"), (1e6, "µs"), (1e3, "ms")):
        if seconds * factor < 999.5:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def ratio(value: float) -> str:
    """Format a ratio with two digits, a larger one with three."""
    return f"{value:.0f}" if value >= 100 else f"{value:#.2g}" if value < 9.95 else f"{value:.1f}"


def goal(result: Result) -> Text:
    """Format the goal, and whether it is reached."""
    if result.reached is None:
        return Text("")
    word, style = ("reached", "green") if result.reached else ("missed", "red")
    wanted = duration(result.most) if result.goal is None else ratio(result.goal)
    return Text(f"{wanted} {word}", style=style)


def _drawing(name: str, tree: Tree) -> RichTree:
    """Draw a tree as text: chains stay level, every branch is indented."""
    root = RichTree(Text(name, style="bold"))
    # number of children of the base and of every node
    children = np.bincount(tree.parent + 1, minlength=tree.n + 1)
    nodes: list[RichTree] = []  # drawn node of every tree node
    levels: list[RichTree] = []  # where an only child is drawn: beside its parent
    for k, i in enumerate(tree.parent):
        above = root if i < 0 else levels[i] if children[i + 1] == 1 else nodes[i]
        label = Text(f"{k} ", style="dim").append(tree.name(k) or "-", style="default")
        nodes.append(above.add(label.append(f" depth {tree.depth[k]}")))
        levels.append(above)
    return root


def write_json(path: Path | None, content: dict) -> None:
    """Write content to path, with a null for every number that JSON cannot hold."""
    if path is not None:
        text = json.dumps(_finite(content), indent=2, ensure_ascii=False) + "\n"
        # file names may hold bytes that are not text: as \udc80, which JSON has, too
        path.write_text(text, encoding="utf-8", errors="backslashreplace")


def _finite(value):
    """Return the value with NaN and infinities replaced by None."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
