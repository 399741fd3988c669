"""Test the lists of exhibits: complete, with reasons, and with verdicts that follow from executed rows."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from treefactor import cli, tables
from treefactor.check.results import EXPLAINED
from treefactor.papers import exhibits
from treefactor.papers.exhibits import EXHIBITS, NOT_EXECUTABLE, REPRODUCED, Exhibit, contradicted
from treefactor.papers.tables import tasora, tasora_figures
from treefactor.papers.tables.table import DERIVED, DIFFERS, Derived, Row, Table


def numbers(first, last, chapter=""):
    return {f"{chapter}{k}" for k in range(first, last + 1)}


NUMBERED = {  # items of the papers' texts, counted there by hand
    "featherstone": {
        "eq": numbers(1, 25, "6."),
        "Fig": numbers(1, 4, "6."),
        "Table": numbers(1, 6, "6."),
    },
    "shimanovsky": {
        "eq": numbers(1, 13),
        "Fig": numbers(1, 4),
        "Table": numbers(1, 2),
        "Algorithm": numbers(1, 3),
    },
    "kane-sum": {"eq": numbers(1, 21) | {"12a", "12b"}, "Fig": numbers(1, 2), "Table": {"1"}},
    "golubev-yaskevich": {"eq": numbers(1, 6, "1."), "Fig": numbers(1, 4)},
    "tasora": {
        "eq": numbers(1, 9, "2.") | numbers(1, 3, "3."),
        "Fig": numbers(1, 5),
        "Theorem": numbers(1, 2),
        "Corollary": numbers(1, 2, "1."),
    },
}
KINDS = r"(?:(eq|Fig|Table|Algorithm|Theorem|Corollary|line|section)s?\.? )"
ITEM = re.compile(rf"{KINDS}?\(?(\d[\d.]*[ab]?)\)?(?: to \(?(\d[\d.]*)\)?)?")


def items(name):
    """Yield kinds and numbers of the items that a name lists: "eqs. (4), (5), Table 1 line 2"."""
    kind = ""
    for found in ITEM.finditer(name):
        kind, first, last = found[1] or kind, found[2], found[3] or found[2]
        chapter = first.rpartition(".")[0]
        prefix = f"{chapter}." if chapter else ""
        if first == last:
            yield kind, first
        else:
            yield from (
                (kind, k) for k in numbers(int(first[len(prefix) :]), int(last[len(prefix) :]), prefix)
            )


LISTED = [
    pytest.param(one, id=f"{paper}, {one.name}") for paper, listed in EXHIBITS.items() for one in listed
]


@pytest.fixture(scope="session")
def found(executed):
    """Return titles and rows of all executed tables."""
    return [
        SimpleNamespace(title=table["title"], rows=[SimpleNamespace(**row) for row in table["rows"]])
        for table in executed[2]["tables"]
    ]


def test_every_list_belongs_to_a_paper():
    assert set(NUMBERED) == set(EXHIBITS) == set(tables.PAPERS)


def test_items_of_names():
    assert list(items("section 3.2, m x 2")) == [("section", "3.2"), ("section", "2")]
    assert set(items("eqs. (6.8) to (6.10), Table 6.2")) == {("eq", f"6.{k}") for k in (8, 9, 10)} | {
        ("Table", "6.2")
    }
    assert list(items("eq. (12a), (12b), Table 1 lines 3 and 4")) == [
        *(("eq", "12a"), ("eq", "12b"), ("Table", "1"), ("line", "3"), ("line", "4"))
    ]


@pytest.mark.parametrize("paper", EXHIBITS)
def test_every_numbered_item_is_listed(paper):
    names = [one.name for one in EXHIBITS[paper]]
    assert len(names) == len(set(names))
    found = {item for name in names for item in items(name)}
    for kind, expected in NUMBERED[paper].items():
        assert {number for one, number in found if one == kind} == expected


@pytest.mark.parametrize("one", LISTED)
def test_verdicts_have_reasons_and_tables(one):
    assert one.paper in tables.PAPERS
    assert one in EXHIBITS[one.paper]
    assert one.verdict in exhibits.VERDICTS
    assert one.reason or one.verdict == REPRODUCED
    assert one.table or one.verdict == NOT_EXECUTABLE
    assert one.claim


@pytest.mark.parametrize("one", LISTED)
def test_verdicts_follow_from_rows(one, found):
    rows = one.shown_by(found)
    assert bool(rows) == bool(one.table)
    assert one.fits(rows), [(row.case, row.what, row.verdict) for row in rows]
    for part in one.rows:
        assert replace(one, rows=(part,)).shown_by(found), part


def test_titles_name_one_table(found):
    titles = [table.title for table in found]
    assert len(titles) == len(set(titles))


def row(verdict):
    return {
        REPRODUCED: Row("a", "b", 1, 1),
        EXPLAINED: Row("a", "b", 1, 2, 1, "misprint"),
        DIFFERS: Row("a", "b", 1, 2),
        DERIVED: Row("a", "b", 1, Derived(1)),
        "ours": Row("a", "b", 1),
    }[verdict]


@pytest.mark.parametrize(
    ("verdict", "rows", "fits"),
    [
        (REPRODUCED, [REPRODUCED, "ours"], True),
        (REPRODUCED, ["ours"], False),
        (REPRODUCED, [DERIVED], False),
        (NOT_EXECUTABLE, [DERIVED, "ours"], True),
        (REPRODUCED, [REPRODUCED, EXPLAINED], False),
        (REPRODUCED, [REPRODUCED, DIFFERS], False),
        (EXPLAINED, [REPRODUCED, EXPLAINED], True),
        (EXPLAINED, [REPRODUCED], False),
        (EXPLAINED, [EXPLAINED, DIFFERS], False),
        (DIFFERS, [EXPLAINED], True),
        (DIFFERS, [REPRODUCED], False),
        (NOT_EXECUTABLE, [], True),
        (NOT_EXECUTABLE, [REPRODUCED], False),
    ],
)
def test_a_verdict_fails_with_its_rows(verdict, rows, fits):
    reason = "" if verdict == REPRODUCED else "why"
    one = Exhibit("tasora", "Fig. 1", "Claim", verdict, reason, "title")
    table = Table("paper", "title", "", [row(kind) for kind in rows])
    assert one.fits(one.shown_by([table])) is fits
    assert contradicted([one], [table]) == ([one] if rows and not fits else [])


def test_a_verdict_without_a_reason_is_contradicted():
    assert contradicted([Exhibit("tasora", "Fig. 1", "Claim", NOT_EXECUTABLE)], [])


def test_the_command_prints_a_summary_and_fails_with_an_exhibit(monkeypatch, capsys):
    monkeypatch.setattr(tables, "PAPERS", {"tasora": [tasora_figures.figure_3]})
    assert cli.main(["tables", "tasora"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"Exhibits of tasora: \d+ reproduced, \d+ explained, \d+ not executable", printed)
    assert "Fig. 1, " in printed
    wrong = Exhibit("tasora", "Fig. 3", "Claim", EXPLAINED, "why", tasora.figure_3().title)
    monkeypatch.setitem(EXHIBITS, "tasora", (wrong,))
    assert cli.main(["tables", "tasora"]) == cli.DISAGREE
    assert "does not follow" in capsys.readouterr().out
