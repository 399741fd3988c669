"""Show the versions, the instruction sets and the cores that treefactor uses on this machine."""

from __future__ import annotations

import platform
import sys

import numpy as np

from ._util.processor import processor_name
from ._util.validation import available_cores
from ._version import __version__
from .tree import _pattern


def show_config(mode: str = "stdout") -> dict | None:
    """Show versions and the instruction set the kernels use.

    The best one that build and processor share is chosen at import; the environment variable
    ``TREEFACTOR_ISA`` ("baseline", "avx2", "avx512") forces another.

    Parameters
    ----------
    mode : {"stdout", "dicts"}
        Print, or return a dict, as `numpy.show_config` does.

    Returns
    -------
    dict or None
        With mode "dicts".

    Raises
    ------
    ValueError
        If the mode is another one.
    """
    settings = {
        "treefactor": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processor": processor_name(),
        "cores": available_cores(),
        "instruction sets": list(_pattern.INSTRUCTION_SETS),
        "used": _pattern.USED,
        "rows of a tile": _pattern.TILE,
    }
    if mode == "dicts":
        return settings
    if mode != "stdout":
        raise ValueError(f"mode must be 'stdout' or 'dicts', got {mode!r}")
    for name, value in settings.items():
        sys.stdout.write(f"{name:18}{', '.join(value) if isinstance(value, list) else value}\n")
    return None
