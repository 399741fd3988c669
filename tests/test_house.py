"""Files, functions and folders stay small, and tolerances are where `treefactor.tolerances` claims them."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILE, FUNCTION, ENTRIES = 400, 45, 28  # lines, lines without docstring, files and folders of treefactor/
PACKAGE = "treefactor", "adapters"
SUFFIXES = {".py", ".pyi", ".pyx", ".pxd", ".h"}  # of sources that are written by hand
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
CYTHON = re.compile(r"^( *)(?:cp?def|def)\b(?! class| extern| enum| struct)[^=\n]*\([^\n]*\n", re.MULTILINE)
DOCSTRING = re.compile(r'\s*r?"""(?:[^"]|"(?!""))*"""\s*\n')
# folders whose tolerances are in tolerances.py; algorithms in the others keep theirs beside their code
CLAIMED = "adapters", *(f"treefactor/{folder}" for folder in ("_util", "check", "linalg", "model", "tree"))
REASONS = {  # of functions that are longer
    "treefactor/codegen/backends/_routine.pyx: cdef bint run(": "its steps share a dozen local pointers",
}
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


def python_functions(text):
    """Yield name and number of lines of the body of every function, without its docstring."""
    for node in nodes(text, FUNCTIONS):
        documented = ast.get_docstring(node, clean=False) is not None
        yield (
            node.name,
            node.end_lineno - (node.body[0].end_lineno if documented else node.body[0].lineno - 1),
        )


def cython_functions(text):
    """Yield header and number of lines of the body of every function, without its docstring."""
    for found in CYTHON.finditer(text):
        rest = text[found.start() :].splitlines(keepends=True)
        start = next((i for i, line in enumerate(rest) if line.rstrip().endswith(":")), None)
        if start is None or any(
            line.strip() and indent(line) <= len(found[1]) for line in rest[1 : start + 1]
        ):
            continue  # a declaration
        stop = start + 1
        while stop < len(rest) and (not rest[stop].strip() or indent(rest[stop]) > len(found[1])):
            stop += 1
        body = "".join(rest[start + 1 : stop])
        documented = DOCSTRING.match(body)
        yield found[0].strip(), len(body[documented.end() if documented else 0 :].strip().splitlines())


def indent(line):
    return len(line) - len(line.lstrip())


def test_no_file_is_long():
    lengths = {path: text.count("\n") for path, text in sources(*PACKAGE, "tests", "fuzz", "asv_bench")}
    assert {path: length for path, length in lengths.items() if length > FILE} == {}


def test_no_function_is_long():
    long = {}
    for path, text in sources(*PACKAGE, "tests"):
        found = python_functions(text) if path.endswith(".py") else ()
        found = cython_functions(text) if path.endswith((".pyx", ".pxd")) else found
        long |= {f"{path}: {function}": length for function, length in found if length > FUNCTION}
    assert [function for function in long if not function.startswith(tuple(REASONS))] == []


def test_the_package_has_few_entries():
    entries = [
        path.name
        for path in (ROOT / "treefactor").iterdir()
        if path.suffix in {*SUFFIXES, ".typed"} or (path.is_dir() and path.name != "__pycache__")
    ]
    assert len(entries) <= ENTRIES, sorted(entries)


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


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("def f(x):\n    return x\n\n\ny = 1\n", 1),
        ('    cdef int f(self,\n               int k) noexcept:\n        """Say."""\n        return k\n', 1),
        ("cdef double f(double x):\n    if x:\n\n        return x\n    return 0\n", 4),
    ],
)
def test_lines_of_cython_are_counted(text, length):
    assert [lines for _, lines in cython_functions(text)] == [length]


def test_declarations_of_cython_are_no_functions():
    assert list(cython_functions("cdef int f(double x) noexcept\ncdef class A:\n    pass\n")) == []
