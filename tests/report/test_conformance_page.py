"""Test the page of a comparison."""

import re
import shutil
import subprocess

import pytest
from helpers.conformance_reports import HOSTILE, META, QUANTITIES, ROBOTS, VERSIONS, only, reports, sample
from helpers.html_page import Page
from hypothesis import given

from treefactor.check.cells import EXPLAINED, STATES, Cause, Cell, CheckedRobot, Report, UsedEngine
from treefactor.report.conformance import write_html
from treefactor.report.conformance.summary import LETTERS


def written(folder, report):
    file = folder / "report.html"
    write_html(file, report)
    return Page(file)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return written(tmp_path_factory.mktemp("page"), sample())


def test_page_loads_nothing_and_states_a_policy(page):
    assert not re.search(r"@import|url\(", page.source)
    assert not page.of("link") + page.of("iframe") + page.of("img") + page.of("object") + page.of("image")
    assert [script.get("src") for script in page.of("script")] == [None]
    (policy,) = (meta["content"] for meta in page.of("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none'")


def test_links_lead_to_robots_of_the_page_or_to_reports(page):
    ids = [element["id"] for _, element in page.elements if "id" in element]
    assert len(set(ids)) == len(ids)
    targets = {element["href"] for element in page.of("a")}
    assert {target for target in targets if target.startswith("#")} <= {f"#{name}" for name in ids}
    assert {target for target in targets if not target.startswith("#")} == {
        "https://github.com/bulletphysics/bullet3/issues/1671",
        "https://github.com/petercorke/robotics-toolbox-python/issues/636",
    }


def test_every_robot_is_a_line_of_letters_that_opens(page):
    lines = page.of("details", **{"class": "line"})
    assert [line["id"] for line in lines] == [f"r{k}" for k in range(len(ROBOTS))]
    labels = [element["aria-label"] for element in page.of("span") if ": " in element.get("aria-label", "")]
    assert len(labels) == len(ROBOTS) * len(VERSIONS)
    assert labels[len(VERSIONS) : len(VERSIONS) + 4] == [
        *("pinocchio: agrees", "treefactor: agrees", "mujoco: explained", "pybullet: explained")
    ]
    letters = [element["data-letters"] for element in page.of("tr") if "data-letters" in element]
    assert len(letters) == len(labels)
    assert {len(cells) for cells in letters} == {len(QUANTITIES)}


def test_all_facts_are_on_the_page(page):
    for said in (
        *("treefactor 0.2.0", "seed 7", "samples 3", "pinocchio 4.1.0", "newton 1.8.0 (float32)", "n = 26"),
        *("2 disagrees", "no answer within 120 s", "prismatic joint 'torso'", "pip install mujoco-mjx"),
        *("inertias are recomputed from collision shapes", "78%", "line 120", "all but tree, placements"),
        *(
            "agrees after the edit, or with the option, merged fixed links",
            "bulletphysics/bullet3/issues/1671",
            "6 robots , most in panda",
        ),
        *(
            "two_links.urdf",
            "stale expectation",
            "Of the same 105 for every engine",
            "differs by 31% in bias, 31% in q̈",
        ),
    ):
        assert said in page.text, said
    tips = [element["title"] for element in page.of("td") if "title" in element]
    assert "disagrees, as it is 3.3e-01, rewritten 3.1e-01, allowed 1.4e-14" in tips


def test_denominators_are_the_same_for_every_engine(page):
    report = sample()
    table = page.source.split("Cells by engine and state")[1].split("</table>")[0]
    rows = re.findall(r"<tr><th scope=\"row\">([^<]*)</th>(.*?)</tr>", table)
    assert len(rows) == len(VERSIONS)
    for _, row in rows:
        *counts, total = [int(cell or 0) for cell in re.findall(r"<td>(\d*)</td>", row)]
        assert sum(counts) == total == len(report.robots) * len(QUANTITIES)


@pytest.mark.parametrize("state", STATES)
def test_every_state_has_its_letter_and_class(tmp_path, state):
    page = written(tmp_path, only(state))
    chips = [element for element in page.of("span") if element.get("aria-label") == f"mujoco: {state}"]
    assert [chip["class"] for chip in chips] == [f"s {state.replace(' ', '-')}"]
    assert [element["data-letters"] for element in page.of("tr") if "data-letters" in element] == [
        LETTERS[state]
    ]


@given(report=reports())
def test_hostile_reports_are_balanced_and_run_nothing(tmp_path_factory, report):
    page = written(tmp_path_factory.mktemp("page"), report)
    assert not page.of("img")
    assert len(page.of("script")) == len(page.of("style")) == 1
    assert not any(key.startswith("on") for _, element in page.elements for key in element)
    assert all(re.match("#|https?://", element["href"]) for element in page.of("a"))
    assert len(page.of("details", **{"class": "line"})) == len(report.robots)


def test_hostile_names_are_text(tmp_path):
    cause = Cause(HOSTILE, HOSTILE, (HOSTILE,) * 20, 0.5, "javascript:alert(1)", (1,))
    cell = Cell(HOSTILE, HOSTILE, HOSTILE, HOSTILE, EXPLAINED, 0.1, 1.0, 0.5, (cause,), HOSTILE)
    robot = CheckedRobot(HOSTILE, HOSTILE, HOSTILE, "urdf", HOSTILE, 3)
    report = Report({**META, HOSTILE: HOSTILE}, [UsedEngine(HOSTILE, HOSTILE)], [robot], [HOSTILE], [cell])
    page = written(tmp_path, report)
    assert page.text.count(HOSTILE) > 30
    assert page.of("a") == [element for element in page.of("a") if element["href"].startswith("#")]
    assert "javascript:alert(1)" in page.text


def test_nothing_to_compare(tmp_path):
    assert "No robot was checked" in written(tmp_path, Report(META)).text


def test_same_report_same_bytes_and_9000_cells_below_two_megabytes(tmp_path):
    robots = [*ROBOTS, *((f"robot_{k}", "floating", 30) for k in range(45))]
    first = written(tmp_path, sample(robots)).source
    assert first == written(tmp_path, sample(robots)).source
    assert len(first.encode()) < 2e6


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("chromium"), reason="Chromium is not installed")
@pytest.mark.parametrize(
    ("change", "lines"),
    [("controls[3].value = 'D'", ["panda"]), ("controls[0].value = 'prismatic'", ["tiago_dual"])],
)
def test_filter_in_a_browser(tmp_path, change, lines):
    source = written(tmp_path, sample()).source
    script = (
        f"<script>const controls = document.getElementById('filter').children; {change};"
        "for (const one of controls) { one.dispatchEvent(new Event('input')); "
        "one.dispatchEvent(new Event('change')); }</script></body>"
    )
    file = tmp_path / "filtered.html"
    file.write_text(source.replace("</body>", script), encoding="utf-8")
    command = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", file.as_uri())
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    shown = re.findall(
        r'<details class="line([^"]*)"[^>]*>\s*<summary><span class="first">'
        r'<span class="name">(.*?)</span>',
        dom,
    )
    assert [re.sub("<wbr>", "", name) for hidden, name in shown if "gone" not in hidden] == lines
