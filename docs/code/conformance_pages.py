"""Make the pages of the comparison of engines from the stored results: tables, the matrix, upstream reports.

``python docs/code/conformance_pages.py RESULT.json ...`` joins results of `treefactor check --json` and
stores them; as an extension of Sphinx it writes the page robots x engines beside the others.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from exhibits import Html, grid
from upstream import DEFECTS, Defect

from treefactor._util.files import replacing
from treefactor.check.cells import AGREES, DISAGREES, EXPECTED, EXPLAINED, NOT_INSTALLED, STATES, Cell, Report
from treefactor.check.traps import traps
from treefactor.exceptions import TreefactorError
from treefactor.report.conformance import read_json, write_html, write_json
from treefactor.report.conformance.summary import (
    DIFFERS,
    FAILURES,
    MEANINGS,
    by_robot,
    causes_by_engine,
    cells_per_engine,
    counts,
    effect,
    number,
    total_counts,
    version_of,
)

ALIKE = ("schema", "treefactor", "seed", "samples")  # that runs must share to be joined
STORED = Path(__file__).parents[1] / "measured" / "conformance.json"
MATRIX = Path("conformance", "matrix.html")
DIFFERENT = (EXPLAINED, EXPECTED, *FAILURES)
NOTHING = "The stored comparison found no deviation."
BY_CODE = "The lines of Python show it."
OURS = re.compile(r"(; )?[a-z ]+, as expected: .*")  # end of the reasons of expected cells
REFERENCES = {  # of the stored comparison, by the format of a file
    **dict.fromkeys(("urdf", "sdf"), "Pinocchio, relative to the size of the quantity"),
    "mjcf": "the model that MuJoCo compiles, relative to the size of the quantity",
}
SUFFIXES = {"urdf": "urdf", "mjcf": "xml", "sdf": "sdf"}


def joined(reports: Sequence[Report]) -> Report:
    """Return one report of several runs; of a robot, engine and quantity that two have, the later one.

    What another run has of an engine replaces that it is not installed.

    Raises
    ------
    TreefactorError
        If there is no report, or if the runs are not of one version of treefactor, with the same states of
        the same files in the same versions of the engines.
    """
    if not reports:
        raise TreefactorError("expected results of `treefactor check --json`, got none")
    for name in ALIKE:
        _require_one("runs", name, [report.meta.get(name) for report in reports])
    for (name, base), group in _groups(reports, "robots", lambda one: (one.name, one.base)).items():
        _require_one(f"runs of {name}, {base} base,", "sha256", [one.sha256 for one in group])
    for name, group in _groups(reports, "engines", lambda one: one.name).items():
        _require_one(f"runs of {name}", "version", [one.version for one in group if one.version])
    cells = sorted((cell for report in reports for cell in report.cells), key=_is_there)
    engines = sorted((one for report in reports for one in report.engines), key=lambda one: bool(one.version))
    order = dict.fromkeys(one.name for report in reports for one in report.engines)
    return Report(
        dict(reports[0].meta),
        list({**order, **{one.name: one for one in engines}}.values()),
        list({(one.name, one.base): one for report in reports for one in report.robots}.values()),
        list(dict.fromkeys(name for report in reports for name in report.quantities)),
        list({(one.robot, one.base, one.engine, one.quantity): one for one in cells}.values()),
        [entry for report in reports for entry in report.expectations],
    )


def _is_there(cell: Cell) -> bool:
    return cell.state != NOT_INSTALLED


def _groups(reports: Sequence[Report], part: str, key) -> dict:
    """Return the entries of a part of all reports by key."""
    groups: dict = {}
    for report in reports:
        for one in getattr(report, part):
            groups.setdefault(key(one), []).append(one)
    return groups


def _require_one(what: str, name: str, values: Sequence) -> None:
    """Raise TreefactorError unless all values are the same."""
    if len(different := list(dict.fromkeys(map(str, values)))) > 1:
        raise TreefactorError(f"expected {what} with one {name}, got {' and '.join(different)}")


def stored() -> Report:
    """Read the results that `make matrix` has stored."""
    return read_json(STORED)


def facts() -> None:
    """Print what was compared, and with which versions."""
    report = stored()
    names = dict.fromkeys(robot.name for robot in report.robots)
    small = sum(name.startswith("traps/") for name in names)
    coupled = sum(robot.base.endswith("mimic") for robot in report.robots)
    more = f", {coupled} of them also with mimic joints coupled" if coupled else ""
    print(f"{len(names) - small} robots and {small} traps{more}")
    print(f"{len(report.engines)} engines, {len(report.cells)} results")
    print(", ".join(version_of(engine) for engine in report.engines))
    print(", ".join(f"{name} {value}" for name, value in report.meta.items() if name != "schema"))


def scores() -> Html:
    """Show how many results of every engine have which state."""
    report = stored()
    total, by_engine = total_counts(report), counts(report)
    states = [state for state in dict.fromkeys([AGREES, EXPLAINED, EXPECTED, *STATES]) if total[state]]
    versions = {engine.name: version_of(engine) for engine in report.engines}
    rows = [
        [versions[engine], *(by_engine[engine][state] or "" for state in states), cells_per_engine(report)]
        for engine in by_engine
    ]
    return grid(["", *states, "all"], rows)


def meanings() -> Html:
    """Show what the states that occur mean."""
    total = total_counts(stored())
    entries = (f"<li><b>{state}</b>: {escape(MEANINGS[state])}</li>" for state in STATES if total[state])
    return Html(f"<ul>{''.join(entries)}</ul>")


def causes() -> Html:
    """Show the causes of every engine: number of robots, largest effect, upstream report."""
    report = stored()
    versions = {engine.name: version_of(engine) for engine in report.engines}
    parts = []
    for engine, causes in groupby(causes_by_engine(report), key=lambda one: one.engine):
        parts.append(f'<tr><th scope="rowgroup" colspan="4">{escape(versions[engine])}</th></tr>')
        for one in causes:
            first = f"{len(one.robots)} robots, such as " if len(one.robots) > 1 else ""
            robots = first + one.most[0]
            cells = [escape(one.text) + anchor(one.link), escape(robots), escape(effect(one.effect))]
            parts.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = "".join(f'<th scope="col">{name}</th>' for name in ("what it does", "where", "largest effect"))
    table = f'<table class="words"><thead><tr>{head}</tr></thead>{"".join(parts)}</table>'
    return Html(f'<div class="scroll">{table}</div>')


def anchor(address: str) -> str:
    """Return a link to an upstream report, "" without an address."""
    if not address.startswith("https://"):
        return ""
    return f' (<a href="{escape(address)}">{escape(address.removeprefix("https://github.com/"))}</a>)'


def reports() -> Html:
    """Show all defects: versions, minimal file, numbers, and a text to paste into a report."""
    report = stored()
    return Html("".join(_section(defect, report) for defect in DEFECTS))


def _section(defect: Defect, report: Report) -> str:
    """Return one defect as HTML."""
    facts = [defect.text, f"Expected: {defect.expected}", f"Observed: {' '.join(evidence(defect, report))}"]
    shown = {f"{file_of(defect)}: {trap_of(defect).about}": trap_of(defect).text} if defect.trap else {}
    shown |= {"Lines of Python": defect.code.strip()} if defect.code else {}
    shown["Text to paste"] = paste(defect, report)
    return (
        f"<h3>{escape(defect.engine)}: {escape(defect.title)}{anchor(defect.link)}</h3>"
        + "".join(f"<p>{escape(text)}</p>" for text in facts)
        + "".join(
            f"<details><summary>{escape(title)}</summary>{_code(text)}</details>"
            for title, text in shown.items()
        )
    )


def _code(text: str) -> str:
    return f'<div class="highlight"><pre>{escape(text)}</pre></div>'


def trap_of(defect: Defect):
    """Return the trap file of a defect that has one."""
    return {trap.name: trap for trap in traps()}[f"traps/{defect.trap}"]


def file_of(defect: Defect) -> str:
    """Return the name of the file that shows a defect."""
    return f"{defect.trap}.{SUFFIXES[trap_of(defect).format]}"


def evidence(defect: Defect, report: Report) -> list[str]:
    """Return what the stored comparison found of a defect: deviations, refusals, and who agrees."""
    versions = {engine.name: version_of(engine) for engine in report.engines}
    lines = [f"{versions.get(defect.engine, defect.engine)}."]
    if not defect.trap:
        return [*lines, BY_CODE]
    of_trap = [engines for (robot, _), engines in by_robot(report).items() if robot == f"traps/{defect.trap}"]
    cells = [cell for engines in of_trap for cell in engines.get(defect.engine, ())]
    if not cells:
        return ["The stored comparison does not have it."]
    errors = {cell.quantity: cell.error if cell.state == DISAGREES else cell.ordinary for cell in cells}
    different = [cell for cell in cells if cell.state in DIFFERENT]
    worse = [one.quantity for one in different if errors[one.quantity] is not None]
    if worse and not defect.code:  # otherwise the lines of code show it
        listed = ", ".join(f"{name} {effect(errors[name])}" for name in worse)
        lines.append(f"Deviations from {REFERENCES[trap_of(defect).format]}: {listed}.")
        causes = dict.fromkeys(cause.text for cell in different for cause in cell.causes)
        if len(causes) > 1:
            lines.append(f"They have these causes together: {'; '.join(causes)}.")
    reasons = [OURS.sub("", cell.reason).rstrip(".") for cell in different]
    reasons = [one for one in dict.fromkeys(reasons) if one and not one.startswith(DIFFERS)]
    lines += [f"The file as it is: {reason}." for reason in reasons]
    if defect.code and not reasons:
        return [*lines, BY_CODE]
    quantities = [cell.quantity for cell in different]
    if not quantities:
        return [*lines, NOTHING]
    agreeing = [
        versions.get(engine, engine)
        for engines in of_trap
        for engine, others in engines.items()
        if not any(one.state in DIFFERENT for one in others if one.quantity in quantities)
        and any(one.state == AGREES for one in others if one.quantity in quantities)
    ]
    if agreeing:
        lines.append(f"In these quantities these engines agree with each other: {', '.join(agreeing)}.")
    return lines


def paste(defect: Defect, report: Report) -> str:
    """Return the text of an upstream report, in Markdown."""
    python = report.meta.get("python", "")
    parts = [
        f"### {defect.title}",
        defect.text,
        f"**Expected:** {defect.expected}" if defect.expected else "",
        "**Observed:** " + " ".join(evidence(defect, report)),
        f"Python {python}, {report.meta.get('machine', '')}." if python else "",
        f"```python\n{defect.code.strip()}\n```" if defect.code else "",
        *(_file(defect) if defect.trap else ()),
        "" if defect.code else f"`treefactor check {file_of(defect)} --engine {defect.engine}` repeats it.",
        f"See also {defect.link}." if defect.link else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _file(defect: Defect) -> tuple[str, str]:
    """Return the minimal file of a defect in Markdown: its name with what is peculiar, and its text."""
    trap = trap_of(defect)
    return f"`{file_of(defect)}`, {trap.about}:", f"```xml\n{trap.text.strip()}\n```"


def setup(app) -> dict:
    """Let Sphinx write the page robots x engines."""
    app.connect("build-finished", _write_matrix)
    return {"parallel_read_safe": True}


def _write_matrix(app, error) -> None:
    if error is None and app.builder.format == "html":
        path = Path(app.outdir) / MATRIX
        path.parent.mkdir(parents=True, exist_ok=True)
        write_html(path, stored())


def main(paths: Iterable[str]) -> None:
    """Join results, and store them for the pages."""
    try:
        report = joined([read_json(Path(path)) for path in paths])
        with replacing(STORED) as draft:
            write_json(draft, report, compact=True)
    except TreefactorError as error:
        sys.exit(f"{Path(__file__).name}: {error}")
    print(f"{STORED}: {len(report.cells)} results, {number(STORED.stat().st_size / 1e6)} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
