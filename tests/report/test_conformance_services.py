"""Test the files of a comparison for services: JUnit XML, SARIF, Markdown and badges."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from helpers.conformance_reports import HOSTILE, META, ROBOTS, only, reports, sample
from hypothesis import given

from treefactor.check.cells import (
    AGREES,
    CRASHED,
    DISAGREES,
    EXPECTED,
    EXPLAINED,
    GOOD,
    REFUSED,
    STATES,
    TIMED_OUT,
    Cause,
    Cell,
    CheckedRobot,
    Report,
    UsedEngine,
)
from treefactor.exceptions import TreefactorError
from treefactor.report.conformance import write_badge, write_junit, write_markdown, write_sarif
from treefactor.report.conformance.markdown import LARGEST, escaped

# attributes and children that the schemas of Jenkins and pytest know
SUITE = {"name", "tests", "failures", "errors", "skipped", "time"}
CASE = {"name", "classname", "time"}
CHILDREN = {"properties", "failure", "error", "skipped", "system-out"}
RESULT = {
    *("ruleId", "ruleIndex", "level", "message", "locations", "relatedLocations", "partialFingerprints"),
    *("properties", "suppressions"),
}


def junit(folder, report):
    file = folder / "report.xml"
    write_junit(file, report)
    root = ElementTree.fromstring(file.read_bytes())
    assert root.tag == "testsuites"
    for suite in root:
        assert suite.tag == "testsuite"
        assert set(suite.attrib) == SUITE
        cases = suite.findall("testcase")
        assert [
            len(cases),
            *(len(suite.findall(f"testcase/{tag}")) for tag in ("failure", "error", "skipped")),
        ] == [int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped")]
        for case in cases:
            assert set(case.attrib) == CASE
            assert {child.tag for child in case} <= CHILDREN
            assert len([child for child in case if child.tag in ("failure", "error", "skipped")]) <= 1
            assert all(set(one.attrib) == {"name", "value"} for one in case.iter("property"))
            assert all(
                {"type", "message"} == set(one.attrib)
                for one in case
                if one.tag in CHILDREN - {"properties", "system-out"}
            )
    assert int(root.get("tests")) == len(root.findall("testsuite/testcase"))
    return root


def sarif(folder, report):
    file = folder / "report.sarif"
    write_sarif(file, report)
    content = json.loads(file.read_text(encoding="utf-8"))
    assert content["version"] == "2.1.0"
    assert content["$schema"].endswith("sarif-2.1.0.json")
    (run,) = content["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"]
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", driver["version"])
    rules = driver["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        assert re.fullmatch("[a-z0-9/-]+", rule["id"])
        assert rule["shortDescription"]["text"]
        assert re.match("https?://[!-~]*$", rule.get("helpUri", "http://"))
    for result in run["results"]:
        assert set(result) <= RESULT
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "note")
        assert result["message"]["text"]
        for location in [*result["locations"], *result.get("relatedLocations", ())]:
            assert location["logicalLocations"][0]["name"]
            if "physicalLocation" in location:
                place = location["physicalLocation"]
                assert place["region"]["startLine"] >= 1
                assert re.fullmatch("[!-~]+", place["artifactLocation"]["uri"])
        assert all(len(fingerprint) == 32 for fingerprint in result["partialFingerprints"].values())
    return run


def markdown(folder, report):
    file = folder / "report.md"
    write_markdown(file, report)
    text = file.read_text(encoding="utf-8")
    assert len(text.encode()) < 2**20
    return text


def cases(root):
    return {(case.get("classname"), case.get("name")): case for case in root.iter("testcase")}


def test_junit_has_a_test_for_every_cell_and_expectation(tmp_path):
    report = sample()
    root = junit(tmp_path, report)
    by_name = cases(root)
    assert len(by_name) == len(report.cells) + 2
    failed = by_name["panda, fixed base, rtb", "bias"].find("failure")
    assert failed.get("type") == DISAGREES
    assert "axes with a negative sign turn the other way (joint2, joint4), by 4.9e-01" in failed.text
    assert by_name["tiago_dual, fixed base, adam", "H"].find("failure").get("type") == REFUSED
    assert by_name["talos_reduced, floating base, dart", "H"].find("error").get("type") == CRASHED
    assert by_name["icub, floating base, newton", "H"].find("error").get("type") == TIMED_OUT
    assert by_name["icub, floating base, adam", "H"].find("skipped").get("message").startswith(EXPECTED)
    explained = by_name["panda, fixed base, pybullet", "H"]
    assert "bullet3/issues/1671" in explained.find("system-out").text
    values = {one.get("name"): one.get("value") for one in explained.iter("property")}
    assert values["state"] == EXPLAINED
    assert float(values["ordinary"]) > 1e-3 > float(values["error"])
    (stale,) = (case for case in root.findall("testsuite[@name='expectations']/testcase") if len(case))
    assert "engine = dart" in stale.get("name")


@pytest.mark.parametrize("state", STATES)
def test_states_fail_or_pass(tmp_path, state):
    (case,) = cases(junit(tmp_path, only(state))).values()
    failed = case.find("failure") is not None or case.find("error") is not None
    assert failed == (state not in GOOD)
    assert (case.find("skipped") is not None) == (state in GOOD and state not in (AGREES, EXPLAINED))
    results = sarif(tmp_path, only(state))["results"]
    assert [result["level"] for result in results] == ([] if state in GOOD else ["error"])
    text = markdown(tmp_path, only(state))
    assert (f"mujoco **{state}** (H): why" in text) == (state not in GOOD)


@given(report=reports())
def test_hostile_reports_are_valid(tmp_path_factory, report):
    folder = tmp_path_factory.mktemp("services")
    assert len(junit(folder, report).findall(".//testcase")) == len(report.cells) + 2
    sarif(folder, report)
    text = markdown(folder, report)
    assert "<img" not in text
    assert all(line.count("|") == row.count("|") for line, row in pairs_of_table(text))
    for name in ("badge.svg", "badge.json"):
        write_badge(folder / name, report)
    ElementTree.parse(folder / "badge.svg")
    assert json.loads((folder / "badge.json").read_text())["schemaVersion"] == 1


def pairs_of_table(text):
    """Return the lines of the first table, each with its head."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [(lines[0], line) for line in lines]


def test_sarif_puts_causes_on_lines_of_the_file(tmp_path):
    run = sarif(tmp_path, sample())
    on_lines = [r for r in run["results"] if "physicalLocation" in r["locations"][0]]
    assert {r["properties"]["robot"] for r in on_lines} == {"models/two_links.urdf, fixed base"}
    (inertia,) = (r for r in on_lines if "collision shapes" in r["message"]["text"])
    place = inertia["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "models/two_links.urdf", "uriBaseId": "%SRCROOT%"}
    assert place["region"]["startLine"] == 120
    others = [one["physicalLocation"]["region"]["startLine"] for one in inertia["relatedLocations"]]
    assert others == [98, 77, 60, 41]
    assert inertia["level"] == "note"
    wrong = [r for r in run["results"] if r["level"] == "error"]
    assert {r["properties"]["state"] for r in wrong} == {DISAGREES, REFUSED, CRASHED, TIMED_OUT}
    (axes,) = (r for r in wrong if r["properties"]["state"] == DISAGREES)
    assert "rtb disagrees: axes with a negative sign" in axes["message"]["text"]
    assert "By 49% in bias, q̈" in axes["message"]["text"]
    assert [r["properties"]["engine"] for r in run["results"] if "suppressions" in r] == ["adam"]


@pytest.mark.parametrize(
    ("file", "address"),
    [
        ("a b/%41ü.urdf", {"uri": "a%20b/%2541%C3%BC.urdf", "uriBaseId": "%SRCROOT%"}),
        ("/elsewhere/a.urdf", {"uri": "file:///elsewhere/a.urdf"}),
        ("{here}/a.urdf", {"uri": "a.urdf", "uriBaseId": "%SRCROOT%"}),
    ],
)
def test_addresses_of_files(tmp_path, monkeypatch, file, address):
    monkeypatch.chdir(tmp_path)
    report = only(DISAGREES)
    report.robots[:] = [replace(report.robots[0], file=file.format(here=tmp_path))]
    (result,) = sarif(tmp_path, report)["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == address


def test_characters_outside_xml_are_escaped(tmp_path):
    report = only(DISAGREES)
    report.cells[:] = [replace(report.cells[0], reason="\x1b[31mred\x00 \udcff \uffff & <b>")]
    (case,) = cases(junit(tmp_path, report)).values()
    assert case.find("failure").get("message") == r"\x1b[31mred\x00 \xdcff \xffff & <b>"


def test_markdown_has_one_table_and_what_failed(tmp_path):
    text = markdown(tmp_path, sample())
    assert text.count("| :-- |") == 1
    assert "| <code>panda, fixed base</code> | A | A | E | E | A | A | E | E | **D** | E | A |" in text
    assert text.count("\n- ") == 5
    assert "adam **refused** (every quantity): NotImplementedError: prismatic joint" in text
    assert "explained**" not in text


def test_markdown_of_many_robots_counts_states(tmp_path):
    robots = [*ROBOTS, *((f"robot_{k}", "floating", 30) for k in range(70))]
    text = markdown(tmp_path, sample(robots))
    assert "| engine | agrees | explained |" in text
    assert "<code>robot&#95;3" not in text


def test_markdown_stays_below_the_limit(tmp_path):
    report = only(DISAGREES)
    cell = report.cells[0]
    report.cells[:] = [replace(cell, robot=f"robot {k}", reason=f"{k} " + "x" * 10_000) for k in range(2000)]
    text = markdown(tmp_path, report)
    assert LARGEST * 0.9 < len(text) < LARGEST + 200
    assert re.search(r"- and \d+ more: see the JSON or HTML report\n$", text)


@pytest.mark.parametrize("text", [HOSTILE, "a|b\nc", "*x* _y_ `z` [l](u) <b> ~~s~~ &amp; @me #1 $m$ \\"])
def test_markdown_shows_any_text_as_it_is(text):
    markdown_it = pytest.importorskip("markdown_it", reason="part of treefactor[docs]")
    source = f"| a | b |\n| --- | --- |\n| <code>{escaped(text)}</code> | {escaped(text)} |\n"
    html = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(source)
    cells = list(ElementTree.fromstring(html).iter("td"))
    shown = " ".join(text.split())
    assert ["".join(cell.itertext()) for cell in cells] == [shown, shown]
    assert [child.tag for cell in cells for child in cell.iter()] == ["td", "code", "td"]


@pytest.mark.parametrize(
    ("states", "message", "colour"),
    [
        ([AGREES], "1 engine agrees", "brightgreen"),
        ([AGREES, EXPLAINED], "1 engine, every difference explained", "blue"),
        ([AGREES, DISAGREES, REFUSED], "2 of 3 not explained", "red"),
        ([], "nothing compared", "lightgrey"),
    ],
)
def test_badge_counts(tmp_path, states, message, colour):
    cells = [Cell("arm", "fixed", "mujoco", f"q{k}", state) for k, state in enumerate(states)]
    robot = CheckedRobot("arm", "fixed", "arm.urdf", "urdf", "", 3)
    report = Report(META, [UsedEngine("mujoco", "1")], [robot], [c.quantity for c in cells], cells)
    write_badge(tmp_path / "b.json", report)
    content = json.loads((tmp_path / "b.json").read_text())
    assert (content["label"], content["message"], content["color"]) == ("treefactor check", message, colour)
    write_badge(tmp_path / "b.svg", report)
    drawn = ElementTree.parse(tmp_path / "b.svg").getroot()
    assert message in "".join(drawn.itertext())
    report.expectations[:] = [{"cause": "a", "stale": True}]
    write_badge(tmp_path / "b.json", report)
    assert json.loads((tmp_path / "b.json").read_text())["color"] == "red"


def test_badges_of_other_kinds_are_refused(tmp_path):
    with pytest.raises(TreefactorError, match=r"ends in \.svg or \.json"):
        write_badge(tmp_path / "badge.png", sample())


def test_rules_of_causes_with_addresses_link_to_them(tmp_path):
    cause = Cause("step", "does things", link="https://a.b/ü")
    report = only(EXPLAINED)
    report.cells[:] = [replace(report.cells[0], causes=(cause,))]
    (rule,) = sarif(tmp_path, report)["tool"]["driver"]["rules"]
    assert rule["helpUri"] == "https://a.b/%C3%BC"
