"""Run `treefactor advise`: say how scripts that call Pinocchio become faster."""

from __future__ import annotations

import argparse

from .. import report
from .._util.files import replacing
from ..advice import advise


def run_advise(options: argparse.Namespace) -> int:
    """Print the advice about all scripts."""
    reports = {str(path): advise(path) for path in options.script}
    for name, one in reports.items():
        report.print_advice(name, one)
    report.print_basis()
    with replacing(options.json) as file:
        report.write_json(file, {name: report.advice_figures(one) for name, one in reports.items()})
    return 0
