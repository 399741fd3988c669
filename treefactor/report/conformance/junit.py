"""Write a comparison as JUnit XML: a suite for every robot, a test for every engine and quantity."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from ...check.causes import cause_line
from ...check.cells import (
    CRASHED,
    EXCLUDED,
    EXPECTED,
    EXPLAINED,
    NOT_INSTALLED,
    NOT_OFFERED,
    TIMED_OUT,
    Cell,
    Fault,
    Report,
)
from .summary import FAILURES, by_robot, expectation_text, stale, title, versions

ERRORS = (CRASHED, TIMED_OUT)
SKIPPED = (EXPECTED, NOT_INSTALLED, EXCLUDED, NOT_OFFERED)
OUTSIDE_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, report: Report) -> None:
    """Write a comparison as JUnit XML.

    A suite is a robot on a base, a test one engine and quantity. "disagrees" and "refused" are failures,
    "crashed" and "timed out" errors; "expected" and what was not compared are skipped. Errors of the numbers
    are properties of the tests. Impossible links and joints, and a file that treefactor refuses,
    are tests that fail. Stale expectations are failures of a suite of their own.
    """
    root = ElementTree.Element("testsuites", name="treefactor check")
    faults: dict[tuple[str, str], list[Fault]] = {}
    for faulty, fault in report.impossible:
        faults.setdefault((faulty.name, faulty.base), []).append(fault)
    for robot, engines in by_robot(report).items():
        suite = ElementTree.SubElement(root, "testsuite", name=_text(title(robot)))
        _properties(suite, {"engines": ", ".join(versions(report)), **_facts(report)})
        for cells in engines.values():
            for cell in cells:
                _case(suite, cell)
        for fault in faults.get(robot, ()):
            _fault(suite, title(robot), fault)
    if report.expectations:
        _expectations(ElementTree.SubElement(root, "testsuite", name="expectations"), report)
    for suite in [*root]:
        _count(suite)
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    ElementTree.indent(root)
    Path(path).write_bytes(ElementTree.tostring(root, "utf-8", xml_declaration=True) + b"\n")


def _text(text: object) -> str:
    """Return text with an escape for every character that XML cannot hold."""
    return OUTSIDE_XML.sub(lambda match: f"\\x{ord(match[0]):02x}", str(text))


def _facts(report: Report) -> dict:
    return {name: value for name, value in sorted(report.meta.items()) if name != "schema"}


def _properties(parent: ElementTree.Element, values: dict) -> None:
    held = ElementTree.SubElement(parent, "properties")
    for name, value in values.items():
        ElementTree.SubElement(held, "property", name=_text(name), value=_text(value))


def _case(suite: ElementTree.Element, cell: Cell) -> None:
    """Append the test of one cell."""
    names = {"classname": _text(f"{title((cell.robot, cell.base))}, {cell.engine}")}
    case = ElementTree.SubElement(suite, "testcase", name=_text(cell.quantity), time="0", **names)
    numbers = {"error": cell.error, "allowed": cell.allowed, "ordinary": cell.ordinary}
    _properties(
        case,
        {"state": cell.state}
        | {name: f"{value:.3g}" for name, value in numbers.items() if value is not None},
    )
    causes = "\n".join(map(cause_line, cell.causes))
    if cell.state in FAILURES:
        kind = "error" if cell.state in ERRORS else "failure"
        message = _text(cell.reason or cell.state)
        element = ElementTree.SubElement(case, kind, type=cell.state, message=message)
        element.text = _text("\n".join(filter(None, [cell.reason, causes])))
    elif cell.state in SKIPPED:
        message = ": ".join(filter(None, [cell.state, cell.reason]))
        ElementTree.SubElement(case, "skipped", type=cell.state, message=_text(message))
    if causes and cell.state in (EXPLAINED, EXPECTED):
        ElementTree.SubElement(case, "system-out").text = _text(causes)


def _fault(suite: ElementTree.Element, robot: str, fault: Fault) -> None:
    """Append the test of an impossible link or joint, or of a file that treefactor refuses."""
    name = (
        f"inertia of {fault.link}"
        if fault.link
        else f"joint {fault.joint}"
        if fault.joint
        else "read by treefactor"
    )
    names = {"name": _text(name), "classname": _text(f"{robot}, file")}
    case = ElementTree.SubElement(suite, "testcase", time="0", **names)
    tag = "skipped" if fault.expected else "failure"
    message = _text(f"{fault.word}: {fault}{f' ({fault.expected})' if fault.expected else ''}")
    ElementTree.SubElement(case, tag, type=fault.word, message=message)


def _expectations(suite: ElementTree.Element, report: Report) -> None:
    """Append a test for every expectation; it fails if the expectation is stale."""
    old = stale(report)
    for entry in report.expectations:
        name = _text(expectation_text(entry))
        case = ElementTree.SubElement(suite, "testcase", name=name, classname="expectations", time="0")
        if entry in old:
            message = "stale: nothing that it describes differs; delete it from the configuration"
            ElementTree.SubElement(case, "failure", type="stale", message=message)


def _count(suite: ElementTree.Element) -> None:
    """Set how many tests of a suite there are, failed, or were skipped."""
    suite.set("tests", str(len(suite.findall("testcase"))))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("time", "0")
