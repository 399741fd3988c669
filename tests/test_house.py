"""Only `treefactor.tolerances` defines tolerances of some folders; no variable is called `found`."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SUFFIXES = {".py", ".pyi", ".pyx", ".pxd", ".h"}  # of sources that are written by hand
# folders whose tolerances are in tolerances.py; algorithms in the others keep theirs beside their code
CLAIMED = "adapters", *(f"treefactor/{folder}" for folder in ("_util", "check", "linalg", "model", "tree"))
NAMED = "treefactor", "adapters", "docs/code", "examples", "tests"  # folders without variables called `found`
RANGE = 1e-15, 1e-5  # of tolerances; smaller numbers are limits of float64, larger ones are settings


def sources(*folders):
    """Yield paths and texts of files that are written by hand."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES:
                yield path.relative_to(ROOT).as_posix(), text_of(path)


@cache
def text_of(path):
    return path.read_text(encoding="utf-8")


@cache
def nodes(text, kinds):
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]


def test_tolerances_are_in_one_file():
    literals = {
        f"{path}:{node.lineno}": node.value
        for path, text in sources(*CLAIMED)
        for node in (nodes(text, ast.Constant) if path.endswith(".py") else ())
        if isinstance(node.value, float) and RANGE[0] < node.value < RANGE[1]
    }
    assert literals == {}


def test_no_variable_is_called_found():
    places = [
        f"{path}:{node.lineno}"
        for path, text in sources(*NAMED)
        if path.endswith(".py") and "found" in text
        for node in nodes(text, (ast.Name, ast.Attribute, ast.arg))
        if "found" in (getattr(node, field, None) for field in ("id", "attr", "arg"))
    ]
    assert not places, f"name these after what they hold: {places}"
