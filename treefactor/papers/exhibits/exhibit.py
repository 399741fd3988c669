"""Define an exhibit: what a paper prints, and whether our tables reproduce it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from ...check.cells import EXPLAINED
from ..tables.table import (
    ABOUT,
    DERIVED,
    DIFFERS,
    EQUAL,
    HOLDS,
    NOT_ABOVE,
    NOT_BELOW,
    NOT_IN_PAPER,
    PaperRow,
    Table,
)

REPRODUCED, NOT_EXECUTABLE, NOT_IMPLEMENTED = "reproduced", "not executable", "not implemented"
VERDICTS = (REPRODUCED, HOLDS, DERIVED, EXPLAINED, DIFFERS, NOT_EXECUTABLE, NOT_IMPLEMENTED)
ABSENT = (NOT_EXECUTABLE, NOT_IMPLEMENTED)  # verdicts on what no row shows


@dataclass(frozen=True)
class Exhibit:
    """A numbered table, figure or equation of a paper, or one of its headline figures, with our verdict.

    Attributes
    ----------
    paper : str
        Key of `treefactor.papers.tables.PAPERS`.
    name : str
        As the paper numbers it ("Table 6.1", "Fig. 9", "eq. (10)"), or where it stands ("abstract").
    claim : str
        What the paper states there, in our words.
    verdict : str
        REPRODUCED: figures of the paper equal ours, or a rule of thumb holds within its range. HOLDS: an
        equation without a figure holds, or a limit on one side. DERIVED: a figure follows from others of the
        paper. EXPLAINED: a row differs, for a reason that was checked. DIFFERS: a row differs, and no
        reason accounts for it. NOT_EXECUTABLE: there is nothing that a program could run. NOT_IMPLEMENTED:
        there is, and this package does not have it.
    reason : str
        Why the verdict is one of the last four.
    table : str
        Title of our table that shows it.
    rows : tuple of str
        Parts of "case: what" that select rows of that table; without any, all rows.
    """

    paper: str
    name: str
    claim: str
    verdict: str = REPRODUCED
    reason: str = ""
    table: str = ""
    rows: tuple[str, ...] = ()

    def shown_by(self, tables: Iterable[Table]) -> list[PaperRow]:
        """Return the rows of our tables that show the exhibit."""
        return [
            row
            for table in tables
            if table.title == self.table
            for row in table.rows
            if not self.rows or any(part in f"{row.case}: {row.what}" for part in self.rows)
        ]

    def fits(self, rows: Sequence[PaperRow]) -> bool:
        """Return whether the verdict is that of these rows."""
        return not rows if self.verdict in ABSENT else self.verdict == verdict_of(rows)

    def as_dict(self) -> dict:
        """Return all values, for JSON."""
        return asdict(self)


def verdict_of(rows: Sequence[PaperRow]) -> str:
    """Return the verdict that follows from rows, "" if none of them compares anything."""
    verdicts = {row.verdict for row in rows} - {NOT_IN_PAPER}
    for worst in (DIFFERS, EXPLAINED):
        if worst in verdicts:
            return worst
    if verdicts & {NOT_ABOVE, NOT_BELOW}:
        return HOLDS
    if verdicts & {EQUAL, ABOUT}:
        return REPRODUCED
    return HOLDS if HOLDS in verdicts else DERIVED if verdicts else ""


def each(
    paper: str,
    names: Iterable[str],
    claim: str,
    verdict: str = REPRODUCED,
    reason: str = "",
    table: str = "",
    rows: tuple[str, ...] = (),
) -> tuple[Exhibit, ...]:
    """Return exhibits that the same rows show."""
    return tuple(Exhibit(paper, name, claim, verdict, reason, table, rows) for name in names)


def contradicted(exhibits: Iterable[Exhibit], tables: Sequence[Table]) -> list[Exhibit]:
    """Return the exhibits without a reason for their verdict, or whose rows do not show it."""
    wrong, titles = [], {table.title for table in tables}
    for exhibit in exhibits:
        explained = exhibit.reason or exhibit.verdict in (REPRODUCED, HOLDS, DERIVED)
        if not explained or (exhibit.table in titles and not exhibit.fits(exhibit.shown_by(tables))):
            wrong.append(exhibit)
    return wrong
