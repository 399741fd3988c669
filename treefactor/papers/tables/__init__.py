"""Execute what the source papers print, beside the printed numbers; ``exhibits`` lists the verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import featherstone, golubev_yaskevich, kane_sum, shimanovsky, tasora
from .table import DIFFERS, PaperRow, Table

__all__ = ["PAPERS", "differing", "makers"]

# of every paper, functions that each execute one table
PAPERS: dict[str, Sequence[Callable[[], Table]]] = {
    "featherstone": featherstone.TABLES,
    "shimanovsky": shimanovsky.TABLES,
    "kane-sum": kane_sum.TABLES,
    "golubev-yaskevich": golubev_yaskevich.TABLES,
    "tasora": tasora.TABLES,
}


def makers(papers: Sequence[str] = ()) -> list[Callable[[], Table]]:
    """Return the functions that execute one table each, of the papers named or of all."""
    return [make for paper in dict.fromkeys(papers or PAPERS) for make in PAPERS[paper]]


def differing(tables: Sequence[Table]) -> list[PaperRow]:
    """Return the entries that differ from their paper, and are not what they are known to be."""
    return [row for table in tables for row in table.rows if row.verdict == DIFFERS and not row.is_known]
