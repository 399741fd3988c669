"""Tolerances are where `treefactor.tolerances` claims them, and docstrings begin as the others do."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "treefactor", "adapters"
SUFFIXES = {".py", ".pyi", ".pyx", ".pxd", ".h"}  # of sources that are written by hand
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# folders whose tolerances are in tolerances.py; algorithms in the others keep theirs beside their code
CLAIMED = "adapters", *(f"treefactor/{folder}" for folder in ("_util", "check", "linalg", "model", "tree"))
RANGE = 1e-15, 1e-5  # of tolerances; smaller numbers are limits of float64, larger ones are settings
NOUNS = re.compile(r"(?:an?|the|those|that|what|where|and|or|at|of|by|as|its|whether)\b", re.IGNORECASE)
PROPERTIES = {"property", "cached_property"}


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
    found = {
        f"{path}:{node.lineno}": node.value
        for path, text in sources(*CLAIMED)
        for node in (nodes(text, ast.Constant) if path.endswith(".py") else ())
        if isinstance(node.value, float) and RANGE[0] < node.value < RANGE[1]
    }
    assert found == {}


def test_first_lines_of_functions_have_a_verb():
    found = []
    for path, text in sources(*PACKAGE, "tests", "examples", "fuzz", "asv_bench"):
        for node in nodes(text, FUNCTIONS) if path.endswith(".py") else ():
            decorators = {ast.unparse(one).split(".")[-1] for one in node.decorator_list}
            first = (ast.get_docstring(node) or "").partition("\n")[0]
            if not node.name.startswith("test_") and not decorators & PROPERTIES:
                found += [f"{path}: {first}"] if NOUNS.match(first) else []
    assert found == []


def test_conditions_of_errors_begin_with_if():
    found = [
        f"{path}: {line.strip()}"
        for path, text in sources(*PACKAGE)
        for section in re.findall(r"Raises\n\s*-+\n(.*?)(?:\n\n|\"\"\")", text, re.DOTALL)
        for line in section.splitlines()
        if re.match(r"\s+(?:Where|When)\b", line)
    ]
    assert found == []
