"""Name the processor."""

from __future__ import annotations

import platform
from pathlib import Path


def processor_name() -> str:
    """Return the name that Linux knows, elsewhere that of the platform; it may be empty."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
