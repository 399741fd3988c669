"""Run `treefactor tables`: execute what the papers print, and summarize the verdicts."""

from __future__ import annotations

import argparse

from .. import report
from .._util.files import replacing
from .._util.threads import one_blas_thread
from ..config import show_config
from ..papers import exhibits, tables
from .common import DISAGREE, progress


def run_tables(options: argparse.Namespace) -> int:
    """Print the papers' tables beside our results, and a summary of their exhibits.

    Returns 1 if a figure differs without a known reason, or an exhibit's verdict does not follow from its
    rows.
    """
    listed = {paper: exhibits.EXHIBITS.get(paper, ()) for paper in options.paper or tables.PAPERS}
    chosen = tables.makers(options.paper)
    computed: list[tables.Table] = []
    meta = show_config("dicts")
    with replacing(options.json) as json_file, replacing(options.html) as html_file:
        executed = (make() for make in chosen)
        with one_blas_thread():  # waiting threads would take processor time
            for table in progress(executed, len(chosen), "executing", lambda table: table.title):
                computed.append(table)
        report.write_json(
            json_file,
            {"config": meta, "tables": [table.as_dict() for table in computed], **_as_dicts(listed)},
        )
        if html_file is not None:
            from ..report.html import write_tables

            write_tables(html_file, computed, meta, listed)
    report.print_tables(computed)
    report.print_exhibits(listed)
    wrong = [exhibit for listing in listed.values() for exhibit in exhibits.contradicted(listing, computed)]
    report.print_contradicted(wrong)
    if options.html is None:
        report.print_next("`treefactor tables --html` writes them as a page")
    return DISAGREE if tables.differing(computed) or wrong else 0


def _as_dicts(listed: dict) -> dict:
    """Return the exhibits for JSON."""
    return {"exhibits": [exhibit.as_dict() for listing in listed.values() for exhibit in listing]}
