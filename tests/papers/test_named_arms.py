"""Test counts of named arms, and their comparison with the published ones."""

import re
from pathlib import Path

import pytest

from treefactor import arms
from treefactor.papers.tables import named_arms
from treefactor.papers.tables.table import DIFFERS, EXPLAINED, NOT_ABOVE, NOT_IN_PAPER, AtMost

OURS = {  # multiplications, additions, divisions of H, inverse and forward dynamics; none may grow
    "PUMA 560": ((132, 117, 0), (245, 226, 0), (454, 395, 5)),
    "RX-90": ((113, 102, 0), (234, 215, 0), (425, 368, 5)),
    "Stanford": ((87, 84, 0), (208, 192, 0), (370, 324, 5)),
    "LWR, WAM": ((143, 123, 0), (274, 252, 0), (523, 468, 6)),
    "SSRMS, six moving": ((124, 112, 0), (245, 226, 0), (445, 390, 5)),
    "SSRMS, 7R": ((178, 156, 0), (301, 280, 0), (595, 521, 6)),
    "general 6R": ((323, 252, 0), (378, 316, 0), (777, 624, 5)),
    "general 7R": ((452, 343, 0), (459, 385, 0), (1027, 817, 6)),
    "PUMA 560, inertias of Armstrong et al.": ((85, 68, 0), (180, 154, 0), (321, 264, 4)),
    "PUMA 560, centre of link 6 left out": ((54, 43, 0), (143, 125, 0), (221, 177, 4)),
    "Stanford, zeros of Paul (1981)": ((60, 51, 0), (138, 111, 0), (261, 202, 5)),
    "RX-90, spherical wrist": ((67, 56, 0), (144, 125, 0), (231, 185, 5)),
    "RX-90, centres along the links": ((60, 47, 0), (115, 91, 0), (181, 131, 5)),
}


@pytest.mark.parametrize("arm", [*arms.GENERAL, *named_arms.SIMPLIFIED], ids=lambda arm: arm.name)
def test_no_program_grows(arm):
    for function, most in zip(named_arms.QUANTITIES, OURS[arm.name], strict=True):
        assert AtMost(*most).admits(named_arms.counted(arm)[function]), function


def test_formulas_for_any_geometry():
    stated = {name: formula(6).stated for name, (_, formula) in named_arms.FORMULAS.items()}
    assert stated["rnea"] == {"mul": 425, "add": 369, "div": 0}
    assert stated["crba"] == {"mul": 460, "add": 395, "div": 0}
    assert stated["forward_dynamics"] == {"mul": 1085, "add": 982}


def test_the_page_says_which_counts_are_at_second_hand():
    page = Path(__file__).parents[2] / "docs" / "papers" / "golubev-yaskevich.md"
    (sentence,) = re.findall(r"At second hand are .*?: we found no copy", page.read_text(), re.DOTALL)
    rows = {row.what for row in named_arms.named_arms().rows if "at second hand" in row.what}
    documents = {re.search(r", (.+?) \(", what)[1] for what in rows}
    assert set(re.findall(r"\((\S+ & [^)]+)\)", sentence)) == documents


def test_the_best_count_is_chosen():
    (row,) = named_arms.general(arms.RX_90, "rnea")
    assert row.paper == AtMost(253, 238)
    assert row.what.endswith("(2002), base parameters, at second hand")
    (measured,) = named_arms.general(arms.PUMA_560, "crba")
    assert measured.paper == named_arms.MEASURED[arms.PUMA_560]["crba"]
    (nothing,) = named_arms.general(arms.STANFORD, "forward_dynamics")
    assert nothing.verdict == NOT_IN_PAPER


def test_a_count_that_is_undercut_by_another_differs(monkeypatch):
    monkeypatch.setitem(named_arms.MEASURED, arms.PUMA_560, {"crba": AtMost(100, 313)})
    (row,) = named_arms.general(arms.PUMA_560, "crba")
    assert row.verdict == DIFFERS


def test_simplified_arms_are_compared_with_the_same_simplification():
    rows = {(row.case, row.what.partition(",")[0]): row for row in named_arms.simplified_arms().rows}
    puma, short, stanford, wrist, along = (arm.name for arm in named_arms.SIMPLIFIED)
    verdicts = {
        **{(puma, "inertia matrix"): EXPLAINED, (puma, "inverse dynamics"): EXPLAINED},
        **{(short, "inertia matrix"): EXPLAINED, (short, "inverse dynamics"): NOT_ABOVE},
        (stanford, "forward dynamics"): NOT_ABOVE,
        **{(wrist, "inverse dynamics"): EXPLAINED, (along, "inverse dynamics"): NOT_ABOVE},
        (short, "change of H"): NOT_ABOVE,
    }
    assert {key: row.verdict for key, row in rows.items() if row.verdict != NOT_IN_PAPER} == verdicts
    assert all("no published count found" in row.what for row in rows.values() if row.verdict == NOT_IN_PAPER)
