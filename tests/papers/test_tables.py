"""Test the papers' tables: every figure is the paper's, or differs for a stated reason."""

import re
import shutil
import sys
from decimal import Decimal

import numpy as np
import pytest
from helpers.html_page import Page

from treefactor import OperationCount, arms, cli, families, show_config
from treefactor.check.cells import EXPLAINED
from treefactor.codegen import generate
from treefactor.codegen.program import emit_c
from treefactor.papers import tables
from treefactor.papers.tables import golubev_yaskevich, kane_sum, shimanovsky, tasora
from treefactor.papers.tables.table import (
    ABOUT,
    DERIVED,
    DIFFERS,
    EQUAL,
    HOLDS,
    NOT_ABOVE,
    NOT_BELOW,
    NOT_IN_PAPER,
    AtLeast,
    AtMost,
    Between,
    Derived,
    Identity,
    Limit,
    PaperRow,
    Rule,
    Table,
    plain,
    shown,
)
from treefactor.papers.textbook import stepanenko
from treefactor.report.html import write_tables

VERDICTS = (EQUAL, ABOUT, NOT_ABOVE, NOT_BELOW, HOLDS, EXPLAINED, DIFFERS, DERIVED, NOT_IN_PAPER)
HOSTILE = "<img src=x onerror=alert(1)>&\"'{{ 7 * 7 }}</script></style><!--"


pytestmark = pytest.mark.usefixtures("impatient")


@pytest.fixture
def small(monkeypatch):
    """Keep only small trees."""
    monkeypatch.setattr(shimanovsky, "NODES", 16)
    monkeypatch.setattr(shimanovsky, "SAVINGS", {("binary tree", 4): Decimal("7.75")})


def figures(executed):
    return {
        (table["title"], row["case"], row["what"]): row
        for table in executed[2]["tables"]
        for row in table["rows"]
    }


# ------------------------------------------------------------------------- the papers' figures


def test_every_figure_is_the_papers_or_explained(executed):
    status, printed, _, _ = executed
    assert status == 0
    rows = figures(executed)
    verdicts = [row["verdict"] for row in rows.values()]
    assert set(verdicts) == set(VERDICTS)
    for row in rows.values():
        if row["verdict"] in (EQUAL, DERIVED) and not isinstance(row["paper"], str):
            assert row["ours"] == pytest.approx(row["paper"], rel=0.01, abs=1e-8)
        elif row["verdict"] in (EXPLAINED, DIFFERS):
            assert row["reason"]
        assert (row["paper"] is None) == (row["verdict"] == NOT_IN_PAPER)
    counts = {verdict: verdicts.count(verdict) for verdict in VERDICTS}
    plural = {DIFFERS: "differ"}
    assert ", ".join(f"{count} {plural.get(name, name)}" for name, count in counts.items()) in " ".join(
        printed.split()
    )


@pytest.mark.parametrize(
    ("case", "paper"),
    [
        *(("binary tree, n = 15", 7.75), ("binary tree, n = 255", 434)),
        *(("lattice, n = 16", 5.29), ("lattice, n = 256", 73.9)),
    ],
)
def test_headline_savings(executed, case, paper):
    row = figures(executed)["Savings against dense", case, "times fewer operations"]
    assert (row["paper"], row["verdict"]) == (paper, EQUAL)
    assert {one["peer"] for one in row["timed"]} == {"dense", "LAPACK"}
    assert all(0 < one["low"] <= one["ratio"] <= one["high"] for one in row["timed"])


def test_the_expansion_differs_for_joints_without_freedoms_only(executed):
    rows = [row for (title, *_), row in figures(executed).items() if title.startswith("Table 6.4")]
    welded = [row for row in rows if row["verdict"] == EXPLAINED]
    assert [row["case"] for row in welded] == ["joint 3 welded"] * 2 + ["joint 4 welded"] * 2
    assert welded[0]["ours"] == [0, 1, 2, 2, 1]  # joint 6 hangs on joint 1
    assert welded[2]["ours"] == [0, 1, 1, 2, 2]  # joints 5 and 6 hang on joint 2
    assert all("without freedoms" in row["reason"] for row in welded)
    assert {row["verdict"] for row in rows if row not in welded} == {EQUAL}


def test_first_step_of_tree_1(executed):
    rows = figures(executed)
    assert rows["Tree-1", "Tree-1", "first step"]["ours"] == {"computed": 4, "modified": 6}
    assert rows["Tree-1", "dense, n = 9", "first step"]["ours"] == {"computed": 9, "modified": 36}


def test_figure_4_counts_every_tree(executed):
    counted = {
        row["case"]: row["ours"] for key, row in figures(executed).items() if key[0].startswith("Figure 4")
    }
    assert counted["chain, n = 2"] == 1 + 2
    assert counted["binary tree, n = 255"] == 1538 + 2 * 5630
    assert counted["lattice, n = 256"] == 3840 + 2 * 36160


def test_the_arm_of_the_space_station(executed):
    rows = {key[1:]: row for key, row in figures(executed).items() if key[0] == "SSRMS"}
    assert rows["table 1 at N = 6", "Kane-sum recursion"]["ours"] == [1071, 1443, 2514]
    assert rows["table 1 at N = 6", "kosynka"]["ours"] == [1458, 5856, 7314]
    assert rows["table 1 at N = 6", "Stepanenko"]["ours"] == [1596, 1302, 2898]
    ours = rows["first six joints", "ours"]["ours"]
    assert ours["mul"] + ours["add"] == 605
    assert rows["first six joints", "ours, times fewer than the paper's best"]["ours"] > 4


def test_no_named_arm_takes_more_operations_than_the_literature(executed):
    rows = {key[1:]: row for key, row in figures(executed).items() if key[0] == "Named arms"}
    assert {case for case, _ in rows} == {arm.name for arm in arms.GENERAL}
    assert [key for key, row in rows.items() if row["verdict"] == NOT_IN_PAPER] == [
        ("Stanford", "forward dynamics, no published count found")
    ]
    for row in rows.values():
        assert row["verdict"] in (NOT_ABOVE, NOT_IN_PAPER)
        assert all(row["ours"][kind] <= number for kind, number in (row["paper"] or {}).items())
    station = rows["SSRMS, six moving", "inertia matrix, Kane-sum paper, 2514 in all"]
    assert sum(station["paper"].values()) == 2514
    assert station["ours"]["mul"] + station["ours"]["add"] == 124 + 112


def test_generated_programs_take_fewer_operations_than_numeric_loops(executed):
    rows = {key[1:]: row for key, row in figures(executed).items() if key[0] == "Generated against numeric"}
    assert {case for case, _ in rows} >= {arm.name for arm in golubev_yaskevich.COMPARED}
    for row in rows.values():
        assert row["ours"] >= 1.5
        assert row["verdict"] == NOT_IN_PAPER  # the 4.5 is of a mechanism with loops
        assert [one["peer"] for one in row["timed"]] == ["numeric loops"]


def test_programs_are_timed_with_indices_where_there_is_a_compiler(executed):
    rows = {key[1:]: row for key, row in figures(executed).items() if key[0].startswith("Scalars instead")}
    counts = {key: row for key, row in rows.items() if "operations" in key[1]}
    assert len(counts) == 4
    assert len(rows) - len(counts) == (8 if shutil.which("cc") else 0)
    assert all(row["paper"] == [5, 10] for key, row in rows.items() if key not in counts)
    for (_, what), row in counts.items():
        peers = [one["peer"] for one in row["timed"]]
        assert peers == (["elements of an array", "indices at run time"] if shutil.which("cc") else [])
        assert ("not timed: no C compiler" in what) == (not peers)


def test_nothing_is_timed_with_indices_without_a_compiler(monkeypatch):
    monkeypatch.setenv("CC", "absent")
    row = golubev_yaskevich.unindexed(arms.PUMA_560, "rnea")
    assert "not timed: no C compiler absent" in row.what
    assert not row.timed
    assert row.verdict == NOT_IN_PAPER


def test_rows_become_elements_of_an_array():
    head = '/* t7 of it */\n#include "real.h"\n\n'
    text = f"{head}{{\n    const real t3 = q1;\n    store(out, 0, t3 * t12);\n}}\n"
    body = "static real t[13];\n\n{\n    t[3] = q1;\n    store(out, 0, t[3] * t[12]);\n}\n"
    assert golubev_yaskevich.indexed(text) == head + body


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_elements_of_an_array_compute_the_same():
    program = generate(arms.PUMA_560.model(), ["rnea"])
    texts = emit_c.sources(program)
    changed = {**texts, "rnea.c": golubev_yaskevich.indexed(texts["rnea.c"])}
    assert changed["rnea.c"].count("t[") > 100
    scalars, elements = (golubev_yaskevich.bound_c(program, each)() for each in (texts, changed))
    np.testing.assert_allclose(elements, scalars, rtol=1e-13, atol=1e-13)


def test_only_installed_robots_are_compared(monkeypatch):
    monkeypatch.setattr(golubev_yaskevich, "ROBOTS", ("no such robot",))
    assert len(golubev_yaskevich.models()) == len(golubev_yaskevich.COMPARED)


def test_a_known_difference_is_not_any_difference(monkeypatch):
    monkeypatch.setitem(kane_sum.METHODS, "kosynka", (stepanenko, *kane_sum.METHODS["kosynka"][1:]))
    table = kane_sum.ssrms()
    assert [row.what for row in tables.differing([table])] == ["kosynka"]


# ------------------------------------------------------------------------- verdicts


@pytest.mark.parametrize(
    ("paper", "ours", "verdict"),
    [
        (Decimal("7.75"), 7.7516, EQUAL),
        (Decimal("7.75"), 7.7449, DIFFERS),
        (Decimal("434"), 434.4, EQUAL),
        (Decimal("0E-12"), 3e-16, EQUAL),
        (Decimal("0E-12"), 1e300, DIFFERS),
        (Decimal("0E-12"), float("nan"), DIFFERS),
        (Rule(8.0), 7.0, ABOUT),
        (Rule(8.0), 5.0, DIFFERS),
        (OperationCount(1, 2), OperationCount(1, 2), EQUAL),
        (OperationCount(1, 2), OperationCount(2, 1), DIFFERS),
        (AtMost(2, 3), OperationCount(2, 3, trig=4), NOT_ABOVE),
        (AtMost(2, 3), OperationCount(3, 1), DIFFERS),
        (AtMost(2, 3), OperationCount(2, 3, div=1), DIFFERS),
        (AtMost(2, 3, None), OperationCount(2, 3, div=1), NOT_ABOVE),
        (AtLeast(4.5), 4.5, NOT_BELOW),
        (AtLeast(4.5), 4.4, DIFFERS),
        (Between(5.0, 10.0), 5.0, ABOUT),
        (Between(5.0, 10.0), 4.9, DIFFERS),
        (Between(5.0, 10.0), 10.1, DIFFERS),
        ((0, 1), (0, 1), EQUAL),
        (None, 3, NOT_IN_PAPER),
        (Limit(8), 8, NOT_ABOVE),
        (Limit(8), 9, DIFFERS),
        (Identity(), -1e-13, HOLDS),
        (Identity(), 1e-11, DIFFERS),
        (Identity(), float("nan"), DIFFERS),
        (Derived((3, 4)), (3, 4), DERIVED),
        (Derived(8), 9, DIFFERS),
    ],
)
def test_verdicts(paper, ours, verdict):
    assert PaperRow("case", "what", ours, paper).verdict == verdict


def test_a_reason_explains_a_difference_and_nothing_else():
    assert PaperRow("", "", 1, 2, 1, "misprint").verdict == EXPLAINED
    assert PaperRow("", "", 2, 2, 1, "misprint").verdict == EQUAL
    assert PaperRow("", "", 3, 2, 1, "misprint").verdict == DIFFERS
    assert PaperRow("", "", 2.0, AtLeast(4.5), AtLeast(1.5), "no loops").verdict == EXPLAINED
    assert PaperRow("", "", 1.4, AtLeast(4.5), AtLeast(1.5), "no loops").verdict == DIFFERS


@pytest.mark.parametrize(
    ("value", "text", "json_value"),
    [
        (
            OperationCount(3, 2, 0, 1),
            "3 mul, 2 add, 1 sqrt",
            {"mul": 3, "add": 2, "div": 0, "sqrt": 1, "trig": 0},
        ),
        (OperationCount(), "0", dict.fromkeys(("mul", "add", "div", "sqrt", "trig"), 0)),
        ((6,), "(6)", [6]),
        (Decimal("73.9"), "73.9", 73.9),
        (Rule(381.12), "≈ 381", 381.12),
        (AtMost(3, 2), "≤ 3 mul, 2 add", {"mul": 3, "add": 2, "div": 0}),
        (AtMost(3, 2, None), "≤ 3 mul, 2 add", {"mul": 3, "add": 2}),
        (AtLeast(4.5), "≥ 4.5", 4.5),
        (Limit(171), "≤ 171", 171),
        (Identity(), "equation", 1e-12),
        (Derived((3, 4)), "(3, 4)", [3, 4]),
        (Between(5.0, 10.0), "5 to 10", [5.0, 10.0]),
        ({"n": 3, "N1": 2}, "n = 3, N1 = 2", {"n": 3, "N1": 2}),
        (5624960, "5624960", 5624960),
        (434.372, "434.4", 434.372),
        (None, "", None),
    ],
)
def test_values_are_shown_and_written(value, text, json_value):
    assert shown(value) == text
    assert plain(value) == json_value


# ------------------------------------------------------------------------- the command


@pytest.mark.parametrize("figure", ["saving", "formula"])
def test_a_figure_that_differs_without_reason_fails(small, monkeypatch, capsys, figure):
    if figure == "saving":
        monkeypatch.setitem(shimanovsky.SAVINGS, ("binary tree", 4), Decimal("7.76"))
    else:
        monkeypatch.setitem(shimanovsky.FORMULAS, "lattice", lambda m: (m**2, m**3, m**4))
    assert cli.main(["tables", "shimanovsky"]) == cli.DISAGREE
    assert re.search(r"1 differs|[2-9] differ\b", capsys.readouterr().out)


def test_only_the_named_papers_run(small, capsys):
    assert cli.main(["tables", "shimanovsky", "shimanovsky"]) == 0
    out = capsys.readouterr().out
    assert out.count("Table 2: three families") == 1
    assert "Featherstone" not in out


def test_an_unknown_paper_names_those_there_are(capsys):
    with pytest.raises(SystemExit):
        cli.main(["tables", "newton"])
    assert "featherstone, shimanovsky" in capsys.readouterr().err


def test_nothing_is_executed_for_an_unwritable_page(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tables, "PAPERS", {"featherstone": [lambda: pytest.fail("executed")]})
    assert cli.main(["tables", "--html", str(tmp_path / "absent" / "x.html")]) == cli.FAILED
    assert "cannot write" in capsys.readouterr().err


# ------------------------------------------------------------------------- the page


def test_page_is_complete_and_loads_nothing(executed):
    page = executed[3]
    for said in (
        "Table 6.4",
        "(0, 1, 2, 3, 1, 4, 4, 5)",
        "434.4",
        "! explained",
        "SSRMS",
        "without freedoms",
        "Figure 4",
    ):
        assert said in page.text, said
    assert not re.search(r"https?:|=.?//|@import|url\(", page.source)
    assert not page.of("script") + page.of("link") + page.of("iframe") + page.of("object")
    ids = {element["id"] for element in page.of("section")}
    assert {element["href"] for element in page.of("a")} == {f"#{name}" for name in ids}


def test_figure_4_and_figure_2_are_drawn(executed):
    pytest.importorskip("matplotlib", reason="plots need Matplotlib")
    images = executed[3].of("img")
    assert [image["alt"].split(":")[0] for image in images] == ["Figure 4", "Figure 2"]
    assert all(image["src"].startswith("data:image/svg+xml;base64,") for image in images)


def written(tmp_path, *made):
    file = tmp_path / "tables.html"
    write_tables(file, made, show_config("dicts"))
    return Page(file)


def test_hostile_text_stays_text(tmp_path):
    tree = families.chain(2)
    row = PaperRow(HOSTILE, HOSTILE, HOSTILE, HOSTILE + ".", HOSTILE, HOSTILE)
    page = written(
        tmp_path, Table(HOSTILE, HOSTILE, HOSTILE, [row, PaperRow(HOSTILE, "", "", HOSTILE)], tree)
    )
    assert not page.of("img") + page.of("script")
    assert page.text.count(HOSTILE) > 8
    assert "Not explained" in page.text


def test_without_matplotlib_the_page_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    row = PaperRow("chain", "N", 3, 3)
    page = written(tmp_path, Table("paper", "Figure 4", "", [row], curves={"chain": {2: row}}))
    assert "pip install 'treefactor[plot]'" in page.text
    assert not page.of("img")


# ------------------------------------------------------------------------------------- Tasora


def test_every_claim_of_tasora_is_executed(executed):
    rows = [row for (title, *_), row in figures(executed).items() if title == "Ends"]
    assert "solved" not in {row["ours"] for row in rows if row["what"] == "the procedure as printed"}
    ends = {row["case"]: row["ours"] for row in rows if row["what"] == "the procedure, repaired"}
    assert ends["robot, m = 50"] == ends["spheres, m = 50"] == "solved"
    assert ends["column, m = 50"] == "stops at a step of 0"
    ours = {row["case"]: row["ours"] for row in rows if row["what"] == "ours"}
    assert {ours.pop("infeas, m = 50")} == {"infeasible"}
    assert set(ours.values()) == {"solved"}


def test_the_procedure_as_printed_solves_nothing(executed):
    rows = {key[2]: row for key, row in figures(executed).items() if key[0] == "The procedure as printed"}
    assert (rows["as printed: solved"]["ours"], rows["as printed: solved"]["paper"]) == (0, 21)
    assert rows["as printed: ends at the first pivot, unsolved"]["ours"] == 20
    assert rows["repaired: solved"]["ours"] == 17


def test_an_order_of_magnitude_is_that_of_a_dense_factor(executed):
    rows = {key[1:]: row for key, row in figures(executed).items() if key[0] == "An order of magnitude"}
    dense = [
        (case, row["ours"], row["verdict"]) for (case, what), row in rows.items() if "dense factor" in what
    ]
    assert all(9.5 < ours < 13.3 for case, ours, _ in dense if case.startswith("robot"))
    assert all(73 < ours < 124 for case, ours, _ in dense if case.startswith("spheres"))
    assert [case for case, _, verdict in dense if verdict == EXPLAINED] == ["robot, m = 40"]


def test_a_robot_has_the_same_work_per_row_at_every_size(executed):
    growing = [row for (title, *_), row in figures(executed).items() if title == "Decomposition of O(n)"]
    assert {row["verdict"] for row in growing} == {ABOUT, EXPLAINED}
    assert all(row["ours"] < 1.1 for row in growing if row["verdict"] == ABOUT)


def test_solvers_that_are_missing_are_left_out(monkeypatch):
    monkeypatch.setattr(tasora, "PEERS", ())
    (one,) = tasora.timed(tasora.FAMILIES["robot"](10, 1))
    assert one.peer == "one row at a time"
