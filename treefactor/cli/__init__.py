"""Implement the command line: one module for each command of `treefactor`.

Exported are `main` and the exit statuses other than 0; statuses of interrupted runs are in `common`.
"""

from .command_line import main
from .common import DISAGREE, FAILED, NOTHING

__all__ = ["DISAGREE", "FAILED", "NOTHING", "main"]
