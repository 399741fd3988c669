"""Run `treefactor tables`: execute the papers' tables and figures."""

from __future__ import annotations

import argparse

from .. import report
from .._util.files import replacing
from ..config import show_config
from ..papers import tables
from .common import DISAGREE, progress


def run_tables(options: argparse.Namespace) -> int:
    """Print the papers' tables beside our results; return 1 if a figure differs without a known reason."""
    chosen = tables.makers(options.paper)
    found: list[tables.Table] = []
    meta = show_config("dicts")
    with replacing(options.json) as json_file, replacing(options.html) as html_file:
        executed = (make() for make in chosen)
        for table in progress(executed, len(chosen), "executing", lambda table: table.title):
            found.append(table)
        report.write_json(json_file, {"config": meta, "tables": [table.as_dict() for table in found]})
        if html_file is not None:
            from ..report.html import write_tables

            write_tables(html_file, found, meta)
    report.print_tables(found)
    if options.html is None:
        report.print_next("`treefactor tables --html` writes them as a page")
    return DISAGREE if tables.differing(found) else 0
