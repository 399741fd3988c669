"""Say where and when figures were measured."""

from __future__ import annotations

import os
import subprocess
from datetime import date
from pathlib import Path

from ..config import show_config

CHECKOUT = Path(__file__).parents[2]


def circumstances() -> dict:
    """Return what figures depend on: the configuration, the date, the load, and the commit of a checkout.

    The load is the average number of running processes over the last minute; it is left out where the system
    does not count them, and the commit where treefactor is installed without its history.
    """
    known = {"config": show_config("dicts"), "date": date.today().isoformat()}
    if hasattr(os, "getloadavg"):
        known["load"] = round(os.getloadavg()[0], 2)
    commit = _commit()
    return known | ({"commit": commit} if commit else {})


def _commit() -> str | None:
    """Return the commit of the folder that treefactor is imported from, if that is a checkout."""
    if not (CHECKOUT / ".git").exists():
        return None
    command = ("git", "-C", str(CHECKOUT), "rev-parse", "--short=12", "HEAD")
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
