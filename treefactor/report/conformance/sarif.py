"""Write a comparison as SARIF 2.1.0: every cause is a result on a line of the robot's file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path, PurePath
from urllib.parse import quote

from ..._version import __version__
from ...check.cells import (
    DISAGREES,
    EXPECTED,
    IMPOSSIBLE,
    STATES,
    UNREADABLE,
    Cause,
    Cell,
    CheckedRobot,
    Fault,
    Report,
)
from .summary import (
    FAILURES,
    MEANINGS,
    by_robot,
    causes_on_robot,
    effect,
    in_order,
    names_of_quantities,
    title,
    version_of,
    worst,
)

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RELATED = 50  # further lines of one cause
RULES = {
    IMPOSSIBLE: "a link or joint cannot exist",
    UNREADABLE: "treefactor refuses the file",
}


def write_sarif(path: Path, report: Report) -> None:
    """Write a comparison as SARIF 2.1.0, for code scanning.

    A result is one cause of one engine on one robot, on the first line of `Cause.lines`; a failure without a
    cause is a result of its own, and so is an impossible link or joint, or a file that treefactor refuses.
    Rules are the causes' texts. Results of cells that fail have the level "error", others "note"; those that
    the configuration expects are suppressed. Cells that agree, and robots that are no files, have no results
    on lines.
    """
    rules: dict[str, dict] = {}
    files = {(robot.name, robot.base): robot for robot in report.robots}
    results = []
    for key, engines in by_robot(report).items():
        for cells in engines.values():
            results += _results(cells, files.get(key), report, rules)
    results += [_fault(robot, fault, report, rules) for robot, fault in report.impossible]
    positions = {name: k for k, name in enumerate(rules)}
    for result in results:
        result["ruleIndex"] = positions[result["ruleId"]]
    driver = {
        "name": "treefactor",
        "version": __version__,
        "rules": list(rules.values()),
        "properties": {"engines": [version_of(engine) for engine in report.engines]},
    }
    run = {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}
    content = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    Path(path).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def _results(cells: list[Cell], robot: CheckedRobot | None, report: Report, rules: dict) -> Iterable[dict]:
    """Yield the results of one engine on one robot."""
    failed = [cell for cell in cells if cell.state in FAILURES]
    for bad in (True, False):
        group = failed if bad else [cell for cell in cells if cell.state not in FAILURES]
        for on_robot in causes_on_robot(group):
            states = [cell.state for cell in group if cell.quantity in on_robot.quantities]
            yield _result(cells[0], on_robot.cause, on_robot.quantities, worst(states), robot, report, rules)
    reasons: dict[tuple[str, str], list[str]] = {}
    for cell in failed:
        if not cell.causes:
            reasons.setdefault((cell.state, cell.reason), []).append(cell.quantity)
    for (state, reason), quantities in reasons.items():
        cause = Cause(state, MEANINGS[state])
        yield _result(cells[0], cause, quantities, state, robot, report, rules, reason)


def _result(
    cell: Cell, cause: Cause, quantities, state, robot: CheckedRobot | None, report, rules: dict, reason=""
) -> dict:
    """Return one result, and add its rule."""
    rule = _rule(cause, rules)
    names = in_order(quantities, names_of_quantities(report))
    where = f" ({', '.join(cause.where)})" if cause.where else ""
    size = effect(cause.effect)
    text = (
        f"{cell.engine} {state}: {reason or cause.text}{where}. {f'By {size} in ' if size else 'In '}{names}."
    )
    result = {
        "ruleId": rule,
        "level": "error" if state in FAILURES else "note",
        "message": {"text": f"{text} {cause.link}".strip()},
        "locations": [_location(cell, robot, cause.lines[0] if cause.lines else 1)],
        "partialFingerprints": {"treefactor/v1": _digest(cell.robot, cell.base, cell.engine, rule, state)},
        "properties": {"robot": title((cell.robot, cell.base)), "engine": cell.engine, "state": state},
    }
    if len(cause.lines) > 1:
        more = list(zip(cause.lines, cause.where, strict=False))[1 : RELATED + 1]
        result["relatedLocations"] = [
            _location(cell, robot, line) | {"id": k, "message": {"text": name}}
            for k, (line, name) in enumerate(more, 1)
        ]
    if state == EXPECTED:
        result["suppressions"] = [{"kind": "external", "justification": cell.reason or MEANINGS[state]}]
    return result


def _fault(robot: CheckedRobot, fault: Fault, report: Report, rules: dict) -> dict:
    """Return the result of an impossible link or joint, or of a file that treefactor refuses."""
    cell = Cell(
        robot.name, robot.base, "", "", EXPECTED if fault.expected else DISAGREES, reason=fault.expected
    )
    what = f"{fault.word}: {RULES[fault.word]}"
    part = fault.link or fault.joint
    cause = Cause(DISAGREES, what, (part,), lines=(fault.line,))
    result = _result(cell, cause, (), cell.state, robot, report, rules)
    result["message"]["text"] = f"{fault.word}: {fault}"
    result["properties"]["state"] = fault.word
    result["partialFingerprints"]["treefactor/v1"] = _digest(robot.name, robot.base, fault.word, part)
    return result


def _rule(cause: Cause, rules: dict) -> str:
    """Return the identifier of a cause's rule, which is added to the rules."""
    words = "-".join(re.findall("[a-z0-9]+", cause.text.lower()))[:60].strip("-")
    name = "/".join(filter(None, ["treefactor", words or "cause"])) + f"-{_digest(cause.text)[:6]}"
    level = "error" if cause.step in STATES else "note"
    text = cause.text or cause.step or DISAGREES
    rule = {
        "id": name,
        "shortDescription": {"text": text},
        "fullDescription": {"text": text},
        "defaultConfiguration": {"level": level},
    }
    if cause.link.startswith(("https://", "http://")):
        rule["helpUri"] = quote(cause.link.encode("utf-8", "backslashreplace"), safe=":/?#@!$&'()*+,;=%~")
    rules.setdefault(name, rule)
    return name


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _location(cell: Cell, robot: CheckedRobot | None, line: int) -> dict:
    """Return a line of the robot's file, or the robot's name if it is not a file."""
    location: dict = {"logicalLocations": [{"name": cell.robot or "robot", "kind": "resource"}]}
    file = robot.file if robot else ""
    if PurePath(file).suffix:
        location["physicalLocation"] = {
            "artifactLocation": _address(file),
            "region": {"startLine": max(line, 1)},
        }
    return location


def _address(file: str) -> dict:
    """Return the address of a file, relative to the current folder if it is inside."""
    path = Path(file)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    uri = quote(path.as_posix().encode("utf-8", "surrogateescape"), safe="/")
    return {"uri": f"file://{uri}"} if path.is_absolute() else {"uri": uri, "uriBaseId": "%SRCROOT%"}
