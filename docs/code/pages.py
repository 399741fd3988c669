"""Change the sources of pages before Sphinx reads them.

The glossary's words become entries of the index on the page of their function, where the search finds them
first. The lists of tests on the page of promises are folded.
"""

from __future__ import annotations

import re
from pathlib import Path

ROW = re.compile(r"^\| (?P<words>[^|]+) \| \{py:obj\}`[\w.]+ <(?P<function>[\w.]+)>` \|", re.MULTILINE)
PROMISE = re.compile(r"^\| ([^|\n]+) \| ([^|\n]+) \| (`tests/[^|\n]+`) \|$", re.MULTILINE)
GENERATED = "api/generated/"  # pages of functions


def synonyms() -> dict[str, list[str]]:
    """Return the words of the glossary by the function that they lead to."""
    text = (Path(__file__).parents[1] / "glossary.md").read_text(encoding="utf-8")
    return {row["function"]: row["words"].split(", ") for row in ROW.finditer(text)}


def with_entries(text: str, words: list[str]) -> str:
    """Return the page of a function with words in the index, as its main entries."""
    entries = "".join(f"   ! single: {word}\n" for word in words)
    return f".. index::\n{entries}\n{text}"


def folded(text: str) -> str:
    """Return the page of promises in two columns; tests and the pages that make a promise are folded."""

    def row(match: re.Match) -> str:
        promise, made_in, tests = match.groups()
        count = tests.count("::")
        summary = f"<summary>{count} test{'s' * (count > 1)}</summary>"
        return f"| {promise} | <details>{summary}{tests.replace('` `', '`<br>`')}<br>in {made_in}</details> |"

    heads = text.replace(
        "| promise | made in | tests |\n| --- | --- | --- |", "| promise | shown by |\n| --- | --- |"
    )
    return PROMISE.sub(row, heads)


def change(app, docname: str, source: list[str]) -> None:
    """Change the source of a page, for Sphinx's event ``source-read``."""
    if docname == "promises":
        source[0] = folded(source[0])
    elif docname.startswith(GENERATED):
        name, pages = docname.removeprefix(GENERATED), app.env.found_docs
        for function, words in synonyms().items():  # functions of a module may have no page of their own
            inside = function.startswith(f"{name}.") and GENERATED + function not in pages
            if function == name or inside:
                source[0] = with_entries(source[0], words)


def setup(app) -> dict:
    """Connect the changes to Sphinx, and add the style of the cheat sheet."""
    app.connect("source-read", change)
    app.add_css_file("cheat_sheet.css")
    return {"parallel_read_safe": True}
