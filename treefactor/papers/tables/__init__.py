"""Every table and figure of the source papers as executed output, beside what the paper printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import featherstone, golubev_yaskevich, kane_sum, shimanovsky, tasora
from .table import DIFFERS, Row, Table

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
    """Functions that each execute one table of the papers named, or of all."""
    return [make for paper in dict.fromkeys(papers or PAPERS) for make in PAPERS[paper]]


def differing(tables: Sequence[Table]) -> list[Row]:
    """Rows that differ from their paper without a reason."""
    return [row for table in tables for row in table.rows if row.verdict == DIFFERS]
