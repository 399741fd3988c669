"""Run `treefactor families`: cost, time and memory of the papers' trees."""

from __future__ import annotations

import argparse

from .. import report
from .._util.files import replacing
from ..bench import scaling as growth
from .common import progress


def run_families(options: argparse.Namespace) -> int:
    """Print how the costs of the papers' trees grow."""
    grown: list[growth.Growth] = []
    with replacing(options.json) as json_file, replacing(options.plot) as plot_file:
        measured = (growth.growth(family, options.nodes) for family in growth.FAMILIES)
        for of_family in progress(
            measured, len(growth.FAMILIES), "timing", lambda of_family: of_family[-1].family
        ):
            grown += of_family
        report.print_growth(grown)
        report.write_json(json_file, report.circumstances() | {"trees": [entry.as_dict() for entry in grown]})
        if plot_file is not None:
            from ..report.plots import draw_growth

            draw_growth(grown, plot_file)
    if options.plot is None:
        report.print_next("`treefactor families --plot FILE` draws them")
    return 0
