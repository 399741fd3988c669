"""Test the lists of exhibits: complete, with reasons, and with verdicts that follow from executed rows."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from helpers.sweeps import in_turn

from treefactor import cli
from treefactor.check.cells import EXPLAINED
from treefactor.papers import exhibits, tables
from treefactor.papers.exhibits import (
    EXHIBITS,
    NOT_EXECUTABLE,
    NOT_IMPLEMENTED,
    REPRODUCED,
    Exhibit,
    contradicted,
    verdict_of,
)
from treefactor.papers.tables import golubev_yaskevich_systems as systems
from treefactor.papers.tables import tasora, tasora_figures
from treefactor.papers.tables.table import (
    ABOUT,
    DERIVED,
    DIFFERS,
    HOLDS,
    Derived,
    Identity,
    Limit,
    PaperRow,
    Table,
)

NUMBERED = {  # items of the papers' texts, counted there by hand
    "featherstone": {
        "eq.": [f"(6.{k})" for k in range(1, 26)],
        "Fig.": [f"6.{k}" for k in range(1, 5)],
        "Table": [f"6.{k}" for k in range(1, 7)],
    },
    "shimanovsky": {"eq.": [f"({k})" for k in range(1, 14)], "Fig.": [*"1234"], "Table": [*"12"]},
    "kane-sum": {"eq.": [f"({k})" for k in range(1, 22)], "Fig.": [*"12"], "Table": ["1"]},
    "golubev-yaskevich": {"eq.": [f"(1.{k})" for k in range(1, 7)], "Fig.": [*"1234"], "Table": []},
    "tasora": {
        "eq.": [f"(2.{k})" for k in range(1, 10)] + [f"(3.{k})" for k in range(1, 4)],
        "Fig.": [*"12345"],
        "Table": [],
        "Theorem": [*"12"],
        "Corollary": ["1.1", "1.2"],
    },
}
ITEM = re.compile(r"(eq\.|Fig\.|Table|Theorem|Corollary) ([\d.()]+)")
LISTED = [pytest.param({one.name: one for one in listed}, id=paper) for paper, listed in EXHIBITS.items()]


@pytest.fixture(scope="session")
def executed_tables(executed):
    """Return titles and rows of all executed tables."""
    return [
        SimpleNamespace(title=table["title"], rows=[SimpleNamespace(**row) for row in table["rows"]])
        for table in executed[2]["tables"]
    ]


def test_every_list_belongs_to_a_paper():
    assert set(NUMBERED) == set(EXHIBITS) == set(tables.PAPERS)


@pytest.mark.parametrize("paper", NUMBERED)
def test_every_numbered_item_is_listed(paper):
    names = [one.name for one in EXHIBITS[paper]]
    assert len(names) == len(set(names))
    items = [ITEM.fullmatch(name).groups() for name in names if ITEM.match(name)]
    for kind, numbers in NUMBERED[paper].items():
        assert sorted(number for one, number in items if one == kind) == sorted(numbers)


@in_turn("one", LISTED)
def test_verdicts_have_reasons_and_tables(one):
    assert one.paper in tables.PAPERS
    assert one in EXHIBITS[one.paper]
    assert one.verdict in exhibits.VERDICTS
    assert bool(one.reason) == (one.verdict not in (REPRODUCED, HOLDS, DERIVED))
    assert bool(one.table) == (one.verdict not in (NOT_EXECUTABLE, NOT_IMPLEMENTED))
    assert one.claim[0].isupper() or not one.claim[0].isalpha() or " = " in one.claim
    assert not one.claim.endswith(".")


@in_turn("one", LISTED)
def test_verdicts_follow_from_rows(one, executed_tables):
    rows = one.shown_by(executed_tables)
    assert bool(rows) == (one.verdict not in (NOT_EXECUTABLE, NOT_IMPLEMENTED))
    assert one.fits(rows), [(row.case, row.what, row.verdict) for row in rows]
    for part in one.rows:
        assert replace(one, rows=(part,)).shown_by(executed_tables), part


def test_titles_name_one_table(executed_tables):
    titles = [table.title for table in executed_tables]
    assert len(titles) == len(set(titles))


@pytest.mark.parametrize("part", ["share of the loops, program", "docking mechanism, "])
def test_bodies_of_revolution_are_the_only_ones_outside(executed_tables, part):
    """A claim that one of three docking mechanisms does not fulfil has a row for each."""
    rows = {
        (row.case, row.what): row.verdict
        for table in executed_tables
        for row in table.rows
        if part in row.what
    }
    assert len(rows) == len(systems.mechanisms())
    assert {key for key, verdict in rows.items() if verdict != ABOUT} == {
        key for key in rows if systems.ROUND in ", ".join(key)
    }


def row(verdict):
    return {
        REPRODUCED: PaperRow("a", "b", 1, 1),
        EXPLAINED: PaperRow("a", "b", 1, 2, 1, "misprint"),
        DIFFERS: PaperRow("a", "b", 1, 2),
        HOLDS: PaperRow("a", "b", 0.0, Identity()),
        "limit": PaperRow("a", "b", 1, Limit(2)),
        DERIVED: PaperRow("a", "b", 1, Derived(1)),
        "known": PaperRow("a", "b", 1, 2, 1, "quoted", is_explained=False),
        "ours": PaperRow("a", "b", 1),
    }[verdict]


@pytest.mark.parametrize(
    ("verdict", "rows", "fits"),
    [
        (REPRODUCED, [REPRODUCED, "ours"], True),
        (REPRODUCED, [REPRODUCED, HOLDS, DERIVED], True),
        (REPRODUCED, [REPRODUCED, "limit"], False),
        (REPRODUCED, [HOLDS], False),
        (HOLDS, [REPRODUCED, "limit"], True),
        (HOLDS, [HOLDS, DERIVED], True),
        (HOLDS, [REPRODUCED], False),
        (DERIVED, [DERIVED, "ours"], True),
        (DERIVED, [DERIVED, HOLDS], False),
        (REPRODUCED, ["ours"], False),
        (REPRODUCED, [DERIVED], False),
        (REPRODUCED, [REPRODUCED, EXPLAINED], False),
        (REPRODUCED, [REPRODUCED, DIFFERS], False),
        (EXPLAINED, [REPRODUCED, EXPLAINED], True),
        (EXPLAINED, [REPRODUCED], False),
        (EXPLAINED, [EXPLAINED, DIFFERS], False),
        (DIFFERS, ["known", EXPLAINED], True),
        (DIFFERS, [EXPLAINED], False),
        (DIFFERS, [REPRODUCED], False),
        (NOT_IMPLEMENTED, [], True),
        (NOT_IMPLEMENTED, [REPRODUCED], False),
        (NOT_EXECUTABLE, [], True),
        (NOT_EXECUTABLE, [REPRODUCED], False),
    ],
)
def test_a_verdict_fails_with_its_rows(verdict, rows, fits):
    reason = "" if verdict in (REPRODUCED, HOLDS, DERIVED) else "why"
    one = Exhibit("tasora", "Fig. 1", "Claim", verdict, reason, "title")
    table = Table("paper", "title", "", [row(kind) for kind in rows])
    assert one.fits(one.shown_by([table])) is fits
    assert contradicted([one], [table]) == ([] if fits else [one])
    assert verdict_of([]) == ""


def test_a_verdict_without_a_reason_is_contradicted():
    assert contradicted([Exhibit("tasora", "Fig. 1", "Claim", NOT_EXECUTABLE)], [])


def test_the_command_prints_a_summary_and_fails_with_an_exhibit(monkeypatch, capsys):
    monkeypatch.setattr(tables, "PAPERS", {"tasora": [tasora_figures.figure_3]})
    assert cli.main(["tables", "tasora"]) == 0
    printed = capsys.readouterr().out
    verdicts = [one.verdict for one in EXHIBITS["tasora"]]
    counts = ", ".join(
        f"{verdicts.count(verdict)} {'differ' if verdict == DIFFERS else verdict}"
        for verdict in exhibits.VERDICTS
    )
    assert f"Exhibits of tasora: {counts}" in " ".join(printed.split())
    assert "Fig. 1, " in printed
    wrong = Exhibit("tasora", "Fig. 3", "Claim", EXPLAINED, "why", tasora.figure_3().title)
    monkeypatch.setitem(EXHIBITS, "tasora", (wrong,))
    assert cli.main(["tables", "tasora"]) == cli.DISAGREE
    assert "does not follow" in capsys.readouterr().out


def test_an_exhibit_without_its_rows_is_contradicted():
    one = Exhibit("tasora", "Fig. 3", "Claim", table="title", rows=("absent",))
    assert contradicted([one], [Table("paper", "title", "", [row(REPRODUCED)])]) == [one]
    assert contradicted([one], [Table("paper", "another", "", [row(REPRODUCED)])]) == []


def test_what_differs_fails_unless_it_is_known():
    rows = [row(DIFFERS), row("known"), row(EXPLAINED), PaperRow("a", "b", 2, instead=1)]
    assert tables.differing([Table("paper", "title", "", rows)]) == [rows[0], rows[3]]
