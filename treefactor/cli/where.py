"""Run `treefactor where`: print where a quantity is declared, compiled and checked."""

from __future__ import annotations

import argparse

from .._util.messages import similar
from ..quantities.functions import QUANTITIES
from ..quantities.places import places, quantity_of
from .common import FAILED


def run_where(options: argparse.Namespace) -> int:
    """Print files and lines; return 2 if there is no such quantity."""
    quantity = quantity_of(options.quantity)
    if quantity is None:
        print(f"{options.quantity!r} is not a declared quantity{similar(options.quantity, QUANTITIES)}")
        return FAILED
    for what, place in places(quantity):
        print(f"{what:15}{place}")
    return 0
