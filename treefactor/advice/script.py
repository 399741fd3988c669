"""Read scripts and notebooks as syntax trees."""

from __future__ import annotations

import ast
import json
import tokenize
import warnings
from pathlib import Path
from typing import NamedTuple

from ..exceptions import TreefactorError

TIMED = "%%time", "%%timeit", "%%capture"  # cell magics before Python; others are before other languages


class Script(NamedTuple):
    """A script.

    Attributes
    ----------
    tree : ast.Module
    lines : list of str
        Text that was parsed.
    places : list of str
        Where each line is: "line 3", or "cell 2, line 1" of a notebook.
    """

    tree: ast.Module
    lines: list[str]
    places: list[str]


def read(path: Path) -> Script:
    """Read a script or a notebook.

    Raises
    ------
    TreefactorError
        If it is not a file with Python code.
    """
    if path.is_dir():
        raise TreefactorError(f"{path} is a folder: pass its scripts, such as {path / '*.py'}")
    if not path.exists():
        raise TreefactorError(f"{path} does not exist")
    notebook = path.suffix == ".ipynb"
    places: list[str] = []
    try:
        lines, places = _cells(path) if notebook else _lines(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in the strings of the script
            tree = ast.parse("\n".join(lines))
    except SyntaxError as error:
        where = f": {error.text.strip()!r}" if error.text else ""
        line = f", {places[error.lineno - 1]}," if error.lineno and error.lineno <= len(places) else ""
        raise TreefactorError(f"{path}{line} is not Python 3{where} ({error.msg})") from None
    except (ValueError, RecursionError) as error:  # no text, null bytes, or no notebook
        kind = "a notebook" if notebook else "Python"
        raise TreefactorError(f"{path} is not {kind}: {error}") from None
    return Script(tree, lines, places)


def _lines(path: Path) -> tuple[list[str], list[str]]:
    with tokenize.open(path) as file:
        lines = file.read().split("\n")
    return lines, [f"line {number}" for number, _ in enumerate(lines, 1)]


def _cells(path: Path) -> tuple[list[str], list[str]]:
    """Return the code of a notebook; commands of IPython become statements without effect."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (KeyError, TypeError) as error:
        raise ValueError(f"its cells cannot be read ({error})") from None
    lines, places = [], []
    for number, text in enumerate(texts, 1):
        if not text.startswith("%%") or text.startswith(TIMED):
            own = text.split("\n")
            lines += [_without_magic(line) for line in own]
            places += [f"cell {number}, line {line}" for line, _ in enumerate(own, 1)]
    return lines, places


def _without_magic(line: str) -> str:
    text = line.lstrip()
    is_magic = text.startswith(("%", "!", "?")) or text.rstrip().endswith("?")
    return line[: len(line) - len(text)] + "pass" if is_magic else line
