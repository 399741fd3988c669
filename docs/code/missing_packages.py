"""Build the pages where packages are not installed, and say so on those that need them.

The code of such a page is shown without running it; of a page on which only cells with the tag "optional"
need the package, that of these cells. Adapters are documented all the same, except those that cannot be
imported with a mock in the place of their package: they are left out of the reference.
"""

from __future__ import annotations

import ast
import itertools
import re
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from sphinx.ext.autodoc.mock import mock

PACKAGES = {  # of adapters
    "adam_": "adam",
    "dart_": "dartpy",
    "dask_": "dask",
    "drake_": "pydrake",
    "idyntree_": "idyntree",
    "jax_": "jax",
    "mujoco_": "mujoco",
    "newton_": "newton",
    "pinocchio_": "pinocchio",
    "pybullet_": "pybullet",
    "rtb_": "roboticstoolbox",
    "torch_": "torch",
}
OPTIONAL = ":tags: [optional]\n"
MOCKED = [package for package in PACKAGES.values() if not find_spec(package)]
CELL = re.compile(r"^```\{code-cell\}\n((?::[^\n]*\n)*)(.*?)^```\n", re.MULTILINE | re.DOTALL)
HEAD = re.compile(r"\A---\n.*?^---\n", re.MULTILINE | re.DOTALL)
NOTE = """
```{{note}}
This page was built where {} not installed: its code was not run, and its output is left out.
```
"""
OPTIONAL_NOTE = """```{{note}}
This page was built without {}: the code of this section was not run.
```

"""


@cache
def left_out() -> tuple[str, ...]:
    """Return the adapters that cannot be imported, with mocks in the places of missing packages."""
    names = []
    for name in (name for name, package in PACKAGES.items() if package in MOCKED):
        try:
            with mock(MOCKED):
                import_module(f"treefactor.adapters.{name}")
        except Exception:  # whatever a mock leads to
            names.append(f"adapters.{name}")
    return tuple(names)


def is_left_out(name: str) -> bool:
    """Return whether a name of the reference belongs to an adapter that is left out."""
    return name.removeprefix("treefactor.").startswith(left_out())


def missing(text: str, optional: bool = False) -> list[str]:
    """Return the packages that cells of a page import, those that are optional or not, if they are absent."""
    names = set()
    for code in (code for options, code in CELL.findall(text) if (OPTIONAL in options) == optional):
        for line in ast.parse(code).body:
            if isinstance(line, ast.Import):
                names |= {one.name for one in line.names}
            elif isinstance(line, ast.ImportFrom):
                names.add(line.module)
    return sorted(name for name in {name.partition(".")[0] for name in names} if not find_spec(name))


def without_output(text: str, packages: list[str]) -> str:
    """Return a page whose code is shown and not run, with a note below its title; hidden code is dropped."""
    listed = " and ".join(f"`{name}`" for name in packages)
    note = NOTE.format(f"{listed} {'are' if packages[1:] else 'is'}")
    text = CELL.sub(lambda cell: "" if "remove-" in cell[1] else f"```python\n{cell[2]}```\n", text)
    return re.sub(r"^# .*\n", lambda title: title[0] + note, HEAD.sub("", text), count=1, flags=re.MULTILINE)


def without_optional(text: str, packages: list[str]) -> str:
    """Return a page whose optional cells are shown and not run, with a note before the first of them."""
    listed, count = " and ".join(f"`{name}`" for name in packages), itertools.count()

    def shown(cell):
        if OPTIONAL not in cell[1]:
            return cell[0]
        note = "" if next(count) else OPTIONAL_NOTE.format(listed)
        return f"{note}```python\n{cell[2].lstrip()}```\n"

    return CELL.sub(shown, text)


def change(app, docname: str, source: list[str]) -> None:
    """Change a page, for Sphinx's event ``source-read``."""
    if packages := missing(source[0]):
        source[0] = without_output(source[0], packages)
    elif packages := missing(source[0], optional=True):
        source[0] = without_optional(source[0], packages)


def setup(app) -> dict:
    """Change pages when they are read."""
    app.connect("source-read", change)
    return {"parallel_read_safe": True}
