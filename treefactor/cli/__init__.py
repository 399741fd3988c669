"""Implement the command line: one module for each command of `treefactor`."""

from .bench import NO_PEER, run_bench
from .check import NO_REFERENCE, run_check
from .command_line import COMMANDS, main, run_help
from .common import DISAGREE, FAILED, INTERRUPTED, NOTHING, TERMINATED
from .families import run_families
from .generate import run_generate
from .identify import run_identify
from .info import run_info
from .options import CONTACTS, LOOPS
from .tables import run_tables

__all__ = [
    "COMMANDS",
    "CONTACTS",
    "DISAGREE",
    "FAILED",
    "INTERRUPTED",
    "LOOPS",
    "NOTHING",
    "NO_PEER",
    "NO_REFERENCE",
    "TERMINATED",
    "main",
    "run_bench",
    "run_check",
    "run_families",
    "run_generate",
    "run_help",
    "run_identify",
    "run_info",
    "run_tables",
]
