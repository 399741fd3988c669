"""Test the HTML page of a cross-validation."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.html_page import Page, heat_map

from treefactor import families
from treefactor.check import AGREES, CANNOT_LOAD, DISAGREES, EXPLAINED, Row
from treefactor.check.differences import REFUSED, Cause
from treefactor.check.run import listed
from treefactor.report.html import write_html

META = {
    "treefactor": "0.1.0",
    "engines": {"pinocchio": "3.9.0", "pybullet": "3.2.7"},
    "samples": 3,
    "seed": 7,
}
HOSTILE = "<img src=x onerror=alert(1)>&\"'[0]/{{ 7 * 7 }}</script></style><!--"


def row(robot, engine="pinocchio", base="fixed", **values):
    return Row(robot, base, engine, **values)


def detail(tree, scale=1e-15, names=None):
    delta = tree.mask() * scale
    names = names or [f"joint_{k}" for k in range(tree.n)]
    return SimpleNamespace(
        parent=tuple(map(int, tree.parent)), names=tuple(names), delta=delta, delta_plain=delta * 1e13
    )


def compared(robot, tree, **values):
    """Return results of two engines; the second is explained."""
    figures = {
        "n": tree.n,
        "density": tree.density,
        "condition": 1.2e4,
        "error_h": 3e-15,
        "error_factor": 1e-16,
    }
    figures |= {"error_qdd": 5e-15, "detail": detail(tree), "verdict": AGREES} | values
    causes = (
        Cause("inertia recomputed from collision shapes", 0.34, ("trunk", "thigh"), "default flags"),
        Cause("principal axes are iterated", 2.7e-11, tuple(f"link{k}" for k in range(30)), "FROM_FILE"),
    )
    other = figures | {"error_own": 8e-16, "error_plain": 0.34, "verdict": EXPLAINED, "causes": causes}
    return [row(robot, **figures), row(robot, "pybullet", **other)]


def written(tmp_path, rows, meta=META):
    file = tmp_path / "report.html"
    write_html(file, rows, meta)
    return Page(file)


@pytest.fixture
def page(tmp_path):
    rows = compared("arm", families.chain(7)) + compared("tree", families.binary_tree(4), base="floating")
    rows += [row("broken", verdict=CANNOT_LOAD, reason="H is singular: no mass moves with joint a_b")]
    rows += [row("broken", "pybullet", verdict=DISAGREES, n=2, error_h=0.2, reason="H by 2.0e-01")]
    return written(tmp_path, rows)


def test_all_facts_are_on_the_page(page):
    for said in (
        *("arm", "tree", "broken", "pinocchio 3.9.0", "pybullet 3.2.7", "treefactor 0.1.0", "seed 7"),
        *("3 random states", "no mass moves with joint a_b", "H by 2.0e-01", "floating, n = 15"),
        *("2 ✓ agrees", "2 ≈ explained", "1 ✗ disagrees", "1 ∅ cannot load"),
        *("inertia recomputed from collision shapes", "34 %", "2.7e-11", "and 22 more", "5.0e-15", "1.2e+4"),
        *(
            "trunk",
            "link29",
            "default flags",
            "FROM_FILE",
            "joint_6",
            "28 entries",
            "2 robots",
            "ΔL, ΔD",
            "same tree",
        ),
    ):
        assert said in page.text, said


def test_page_needs_no_network_and_loads_nothing(page):
    assert not re.search(r"https?:|=.?//|@import|url\(", page.source)
    assert not page.of("link") + page.of("iframe") + page.of("img") + page.of("object")
    assert [script.get("src") for script in page.of("script")] == [None]
    assert not page.of("image")
    (policy,) = (meta["content"] for meta in page.of("meta") if "http-equiv" in meta)
    assert policy.startswith("default-src 'none'")


def test_links_lead_to_sections_that_exist_once(page):
    ids = [found["id"] for _, found in page.elements if "id" in found]
    assert len(set(ids)) == len(ids)
    targets = [found["href"] for found in page.of("a")]
    assert set(targets) == {f"#{name}" for name in ids}


def test_cells_show_error_verdict_and_colour(page):
    cells = [found for found in page.of("a") if found.get("class", "").startswith("cell")]
    assert [found["class"].split()[2] for found in cells] == [
        *("agrees", "explained") * 2,
        "cannot-load",
        "disagrees",
    ]
    grounds = [re.match("background:#(..)(..)(..)", found.get("style", "")) for found in cells]
    red, green, _ = (int(part, 16) for part in grounds[0].groups())
    assert green > red
    assert grounds[4] is None
    red, green, _ = (int(part, 16) for part in grounds[5].groups())
    assert red > 2 * green


def test_hostile_names_are_text(tmp_path):
    tree = families.chain(3)
    rows = compared(HOSTILE, tree, detail=detail(tree, names=[HOSTILE] * 3), base=HOSTILE)
    rows[1] = replace(rows[1], causes=(Cause(HOSTILE, 0.5, (HOSTILE,) * 20, HOSTILE),))
    rows.append(row("other", HOSTILE, verdict=DISAGREES, reason=HOSTILE))
    meta = META | {"treefactor": HOSTILE, "engines": {HOSTILE: HOSTILE}}
    page = written(tmp_path, rows, meta)
    assert page.text.count(HOSTILE) > 30
    assert not page.of("img")
    assert len(page.of("script")) == len(page.of("style")) == 1
    assert not any(key.startswith("on") for _, found in page.elements for key in found)


def test_names_that_are_not_text_are_written(tmp_path):
    assert "\\udcff" in written(tmp_path, [row("a\udcff", reason="b\x00")]).text


@pytest.mark.parametrize("rows", [[], [row("gone", reason="refused")]], ids=["no rows", "none loads"])
def test_nothing_to_compare(tmp_path, rows):
    page = written(tmp_path, rows)
    assert ("No robot was checked" in page.text) == (not rows)
    assert ("refused" in page.text) == bool(rows)


def test_nan_and_infinity_are_shown_as_such(tmp_path):
    tree = families.binary_tree(3)
    shown = detail(tree)
    shown.delta[2, 1] = np.nan
    shown.delta_plain = np.full((tree.n, tree.n), np.inf)
    rows = compared("odd", tree, detail=shown, verdict=DISAGREES, error_qdd=np.nan, condition=np.inf)
    page = written(tmp_path, [replace(rows[0], error_plain=np.nan), *rows[1:]])
    for said in ("NaN", "inf", "at most NaN at (2, 1)"):
        assert said in page.text


def test_rows_without_detail_and_with_half_of_it(tmp_path):
    rows = compared("arm", families.chain(2))
    rows[0].detail.delta_plain = None
    page = written(tmp_path, [rows[0], replace(rows[1], detail=None)])
    assert len(page.of("g", **{"class": "heat"})) == 1
    assert written(tmp_path, [Row("plain", "fixed", "pinocchio")]).of("g", **{"class": "heat"}) == []


@pytest.mark.parametrize(
    ("effect", "said"),
    [
        (2.675, "268 %"),
        (0.996, "100 %"),
        (0.5, "50 %"),
        (0.0976, "9.8 %"),
        (2e-4, "0.02 %"),
        (3e-11, "3.0e-11"),
    ],
)
def test_effects_are_percentages_where_that_is_short(tmp_path, effect, said):
    rows = [row("r", causes=(Cause("cause", effect),), verdict=EXPLAINED, reason="cause")]
    assert f"{said} cause" in written(tmp_path, rows).text


def test_two_robots_of_one_name_are_kept_apart(tmp_path):
    page = written(tmp_path, compared("robot", families.chain(2)) + compared("robot", families.chain(3)))
    assert len(page.of("details", **{"class": "robot"})) == 2


def test_refusals_are_counted_as_one_cause(tmp_path):
    rows = [
        row(f"r{k}", causes=(Cause(f"{REFUSED}: reason {k}", way="w"),), verdict=EXPLAINED) for k in range(3)
    ]
    text = written(tmp_path, rows).text
    assert f"{REFUSED} 3 robots" in text
    assert "reason 2" in text


def test_reason_is_given_without_the_causes_that_are_listed_anyway(tmp_path):
    causes = (Cause("friction", 0.2, ("knee",), "simulated", "q̈"),)
    values = {"causes": causes, "verdict": DISAGREES, "reason": f"0.1 unexplained. {listed(causes)}"}
    text = written(tmp_path, [row("dog", "mujoco", **values)]).text
    assert text.count("0.1 unexplained") == 2
    assert "friction, 20%" not in text
    assert "20 % friction (effect on q̈) knee" in text


def test_remark_of_a_row_that_agrees_is_given(tmp_path):
    shown = written(tmp_path, [row("box", n=0, verdict=AGREES, reason="no joint moves")])
    assert "no joint moves" in shown.text
    assert "Equal to rounding" not in shown.text


def test_tree_is_drawn_joint_by_joint(tmp_path):
    # a floating base with two legs, one joint of which has two freedoms that share no line with the base's
    parent = [-1, 0, 1, 2, 3, 4, 5, 6, 5, 8]
    names = [f"root[{d}]" for d in range(6)] + ["hip", "k" * 90, "ball[0]", "ball[1]"]
    shown = SimpleNamespace(parent=parent, names=names, delta=None, delta_plain=None)
    page = written(tmp_path, [row("biped", n=10, detail=shown, verdict=AGREES)])
    assert len(page.of("circle")) == 4
    for said in ("0–5 root", "6 hip", "8–9 ball", "k" * 90):
        assert said in page.text
    positions = [(float(found["cx"]), float(found["cy"])) for found in page.of("circle")]
    assert positions[2][0] == positions[1][0] == positions[3][0] > positions[0][0]
    assert len({y for _, y in positions}) == 4


@pytest.mark.parametrize("n", [1, 7, 300])
def test_heat_map_holds_the_matrix(tmp_path, n):
    tree = families.chain(n)
    shown = detail(tree, 1e-15)
    shown.delta[n // 2, n - 1] = 1e-3
    shown.delta_plain = None
    page = written(tmp_path, [row("robot", n=n, detail=shown, verdict=AGREES)])
    drawn = heat_map(page, min(n, 150))  # 300 rows share 150
    assert drawn.all()
    assert drawn.max() == min(n, 2)
    rows, columns = np.nonzero(drawn == drawn.max())
    assert rows.tolist() == [n // 2 * len(drawn) // n]
    assert columns.tolist() == [len(drawn) - 1]


def test_entries_outside_the_pattern_show_only_if_not_zero(tmp_path):
    tree = families.binary_tree(2)
    shown = detail(tree)
    shown.delta[1, 2] = 1e-6
    shown.delta_plain = None
    page = written(tmp_path, [row("robot", n=3, detail=shown, verdict=AGREES)])
    entries = heat_map(page, 3)
    assert entries[2, 1] == 0 < entries[0, 0] < entries[1, 2]


def test_same_rows_same_bytes_and_no_large_ones(tmp_path):
    rng = np.random.default_rng(0)
    rows = []
    for k in range(40):
        tree = families.random_tree(38, rng)
        rows += compared(f"robot{k}", tree)
        for each in rows[-2:]:
            each.detail.delta = tree.mask() * 10.0 ** rng.uniform(-18, 0, (38, 38))
    first = written(tmp_path, rows).source
    assert first == written(tmp_path, rows).source
    assert len(first.encode()) < 2e6
