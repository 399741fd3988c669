"""Define an exhibit: what a paper prints, and whether our tables reproduce it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from ...check.cells import EXPLAINED
from ..tables.table import DERIVED, DIFFERS, NOT_IN_PAPER, PaperRow, Table

REPRODUCED, NOT_EXECUTABLE = "reproduced", "not executable"
VERDICTS = (REPRODUCED, EXPLAINED, DIFFERS, NOT_EXECUTABLE)


@dataclass(frozen=True)
class Exhibit:
    """A numbered table, figure or equation of a paper, or one of its headline figures, with our verdict.

    Attributes
    ----------
    paper : str
        Key of `treefactor.tables.PAPERS`.
    name : str
        As the paper numbers it ("Table 6.1", "Fig. 9", "eq. (10)"), or where it stands ("abstract").
    claim : str
        What the paper states there, in our words.
    verdict : str
        REPRODUCED: all rows agree. EXPLAINED: rows differ, for a reason that was checked. DIFFERS: our
        result is another one. NOT_EXECUTABLE: nothing to run.
    reason : str
        Why the verdict is not REPRODUCED.
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
        """Return whether the verdict follows from the verdicts of these rows."""
        verdicts = {row.verdict for row in rows} - {NOT_IN_PAPER, DERIVED}  # neither compares a run
        if self.verdict == REPRODUCED:
            return bool(verdicts) and not verdicts & {DIFFERS, EXPLAINED}
        if self.verdict == EXPLAINED:
            return EXPLAINED in verdicts and DIFFERS not in verdicts
        return bool(verdicts & {DIFFERS, EXPLAINED}) if self.verdict == DIFFERS else not rows

    def as_dict(self) -> dict:
        """Return all values, for JSON."""
        return asdict(self)


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
    """Return the exhibits without a reason for their verdict, or whose rows show another verdict."""
    wrong = []
    for exhibit in exhibits:
        rows = exhibit.shown_by(tables)
        if (exhibit.verdict != REPRODUCED and not exhibit.reason) or (rows and not exhibit.fits(rows)):
            wrong.append(exhibit)
    return wrong
