"""Pages and first lines of docstrings use the words of docs/notation.md, and none of those it replaces."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = ("treefactor", "adapters", "docs", "examples", "asv_bench", "fuzz", "tests")
BANNED = (  # regular expressions of whole words, in any case
    "duels?",
    "fights?",
    "contests?",
    "gates?",
    "walk(?:s|ed)?",
    "stride",  # of an array: "strides"
    "rooms?",
    "loosen(?:s|ed)?",
    "(?:is|are|was|were) told",
    "(?:is|are) (?-i:none)",
    "is no (?:vector|array|matrix|number|result)",
    "hand(?:s|ed)? up",
    "quick(?:ly)?",
    "slowly",
    "asks?",
    "asked",
    "speaks?",
    "nobody",
    "whoever",
    r"what (?:\w+ )*says?",
)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
WORDS = re.compile(rf"\b(?:{'|'.join(BANNED)})\b", re.IGNORECASE)
CODES = re.compile(r"\b[SA](?:[1-9]|10)\b")  # of benchmarks: pages and first lines say what is measured
CODE = re.compile(r"^ *(```+).*?^ *\1 *$|`[^`\n]*`|\$[^$\n]*\$|\]\([^)\n]*\)", re.MULTILINE | re.DOTALL)
CYTHON = re.compile(r'^[ \t]*(?:r?"""|/\*\*?)[ \t]*(.+?)(?:"""|\*/)?[ \t]*$', re.MULTILINE)


def sources():
    """Yield all Python, Cython and C sources that are written by hand."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            by_hand = path.suffix in {".py", ".pyx", ".pxd"} or (
                path.suffix == ".h" and "kernels" in path.parts
            )
            if by_hand and "generated" not in path.parts and path != Path(__file__):
                yield path


def prose(text):
    """Return a page without code, links and names."""
    return CODE.sub(" ", text)


def first_lines(path):
    """Return first lines of the docstrings of a source, or of its comments in C."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return CYTHON.findall(text)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, DOCUMENTED)]
    return [doc.splitlines()[0] for doc in map(ast.get_docstring, nodes) if doc]


def name(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_pages_use_plain_words(path):
    assert WORDS.findall(prose(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_pages_name_no_codes_of_targets(path):
    assert CODES.findall(prose(path.read_text(encoding="utf-8"))) == []


def test_first_lines_use_plain_words():
    found = {
        f"{name(path)}: {line}" for path in sources() for line in first_lines(path) if WORDS.search(line)
    }
    assert sorted(found) == []


def test_first_lines_name_no_codes_of_targets():
    found = {
        f"{name(path)}: {line}"
        for path in sources()
        for line in first_lines(path)
        if CODES.search(prose(line))
    }
    assert sorted(found) == []


def test_names_of_tests_use_plain_words():
    found = set()
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        names = re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        found |= {f"{name(path)}: {one}" for one in names if WORDS.search(one.replace("_", " "))}
    assert sorted(found) == []


@pytest.mark.parametrize(
    "line", ["The gate every array passes", "Pivots are told, by name", "What an error says"]
)
def test_banned_words_are_found(line):
    assert WORDS.search(line)


@pytest.mark.parametrize("line", ["`bench.Duel` takes two calls", "Strided arrays", "a is None", "bedrooms"])
def test_other_words_are_not(line):
    assert not WORDS.search(prose(line))
