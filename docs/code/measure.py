"""Measure the times that the pages show: `python docs/code/measure.py [NAME ...]`, all of them by default.

Each name has a module `measure_NAME.py`; its figures are stored in docs/measured. Times are taken in turns
in one process, processor times on one thread unless the module says otherwise. No path and no name of the
machine is stored. A peer with its own Python is measured where a variable of the environment names that
Python; its stored figures are kept otherwise. `--small --out FILE` tries one name in small sizes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from treefactor import report

MEASURED = Path(__file__).parents[1] / "measured"
NAMES = {  # and the packages whose versions are stored
    "chains": (),
    "choosing": ("pin", "numpy"),
    "constraints": (),
    "derivatives": (),
    "fixed_costs": ("pin", "numpy"),
    "frameworks": ("jax", "torch", "numpy"),
    "from_pinocchio": ("pin", "numpy"),
    "maximal": ("numpy", "scipy"),
    "parameters": ("pin", "numpy"),
    "precision": ("pin", "mujoco", "numpy"),
    "scripts": ("pin", "numpy"),
    "controllers": ("numpy", "pin", "mujoco", "jax", "torch"),
}


def main() -> None:
    """Measure and write a file for each name."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help=f"what to measure: {', '.join(NAMES)}")
    parser.add_argument("--small", action="store_true", help="take small sizes")
    parser.add_argument("--out", type=Path, help="file to write, in place of the stored one")
    options = parser.parse_args()
    if unknown := set(options.name) - set(NAMES):
        parser.error(f"expected names among {', '.join(NAMES)}, got {', '.join(sorted(unknown))}")
    for name in options.name or NAMES:
        report.write_json(options.out or MEASURED / f"{name}.json", content(name, options.small))


def content(name: str, small: bool = False) -> dict:
    """Return what is stored: settings, versions, sizes and figures."""
    module, file = import_module(f"measure_{name}"), MEASURED / f"{name}.json"
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    sizes = getattr(module, "SMALL" if small else "FULL", {})
    head = {"versions": versions(name), "sizes": sizes}
    head = report.circumstances() | {key: value for key, value in head.items() if value}
    return head | module.measured(before, **sizes)


def versions(name: str) -> dict[str, str]:
    """Return the versions of the packages behind figures; those that are not installed are left out."""
    listed = {}
    for package in NAMES[name]:
        with suppress(PackageNotFoundError):
            listed[package] = version(package)
    return listed


def python_of(peer: str, variable: str, stored: bool) -> str | None:
    """Return the Python of a peer; None, with a printed sentence, where its variable is not set."""
    python = os.environ.get(variable)
    if not python:
        kept = "its stored figures are kept" if stored else "there are no stored figures to keep"
        print(f"{peer} is left out: {variable} is not set; {kept}")
    return python


def output_of(python: str, code: str, *arguments: str) -> str:
    """Return what code prints in another Python."""
    command = (python, "-c", code, *arguments)
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
