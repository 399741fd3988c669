"""Add to the API reference what Pinocchio has for a function, measured ratios, and names for the search.

All of it follows from the declarations, replacements.py, counterparts.py and the ratios in docs/measured. The
words of the glossary are added by pages.py.
"""

from __future__ import annotations

import re
import sys
from functools import cache

from controllers import SETS
from counterparts import WITHOUT_COUNTERPART
from docutils import nodes
from docutils.parsers.rst import roles
from docutils.statemachine import StringList
from exhibits import HOW, faster, measured, ratios_to_pinocchio
from missing_packages import is_left_out
from pages import synonyms
from sphinx.ext.autosummary import Autosummary, generate

from treefactor.quantities.replacements import GROUPS, Replacement
from treefactor.quantities.table import QUANTITIES

ONE_CALL = HOW[0]


class Names(Autosummary):
    """List names with a sentence each, and with what Pinocchio has and the ratio of one call."""

    def run(self):
        """Return the table, with a sentence about adapters that are left out."""
        absent = [line.strip() for line in self.content if is_left_out(line.strip())]
        self.content = StringList([line for line in self.content if not is_left_out(line.strip())], "names")
        if not absent:
            return super().run()
        text = f"Left out, because their packages are not installed here: {', '.join(absent)}."
        return [*super().run(), nodes.paragraph("", text)]

    def get_items(self, names):
        """Return names, signatures, sentences and full names."""
        return [
            (name, signature, f"{placed(summary, full)} {remark(public(full))}".strip(), full)
            for name, signature, summary, full in super().get_items(names)
        ]


def public(full: str) -> str:
    """Return the name of an object as scripts write it after ``treefactor.``."""
    return full.removeprefix("treefactor.").replace("_pinocchio_cholesky", "pinocchio_.cholesky")


def placed(summary: str, full: str) -> str:
    """Return a sentence with the names of the function's own module written with their places."""
    place = full.rpartition(".")[0]
    own = dir(sys.modules.get(place))
    return re.sub(
        r"(?<!`)`(\w+)`(?!`)", lambda m: f"`{m[1]} <{place}.{m[1]}>`" if m[1] in own else m[0], summary
    )


def replaced_by(name: str) -> list[Replacement]:
    """Return what Pinocchio has in the place of a public name."""
    return [row for rows in GROUPS.values() for row in rows if name in row.ours.split(", ")]


def remark(name: str) -> str:
    """Return Pinocchio's name and the ratio of one call in a line below the sentence about a function."""
    for row in replaced_by(name)[:1]:
        ratios = ratios_to_pinocchio().get((row.measured, ONE_CALL), ())
        return f":compared:`Pinocchio: {row.theirs}{'; ' * bool(ratios)}{in_words(ratios)}`"
    return ""


def in_words(ratios) -> str:
    """Say how many times faster or slower, in a sentence."""
    if not ratios:
        return ""
    text = re.sub("<.*?>", "", faster(ratios))
    return f"{text} times" if text.startswith("slower") else f"{text} times faster"


def add(app, what, name, documented, options, lines) -> None:
    """Add words and ratios to a docstring, for Sphinx's event ``autodoc-process-docstring``."""
    name = public(name)
    first = next((k for k, line in enumerate(lines) if line), 0)
    end = lines.index("", first) if "" in lines[first:] else len(lines)
    words = [word for word, owner in words_of_names().items() if owner == name]
    if words:
        lines[end:end] = ["", ".. index::", *(f"   ! single: {word}" for word in words), ""]
    lines += comparison(name)


@cache
def words_of_names() -> dict[str, str]:
    """Map names that people look for to quantities; the first quantity keeps a name, the glossary its own."""
    owners: dict[str, str] = {}
    quantities = {key: one for key, one in QUANTITIES.items() if not one.module.endswith("functions")}
    for key, one in quantities.items():
        owners.setdefault(key, key)
        if one.has_model:
            owners.setdefault(one.name.replace("_", " "), key)
    for key, one in quantities.items():
        for word in filter(None, [*one.other_names.split(", "), *(other.name for other in one.counterparts)]):
            owners.setdefault(word, key)
            owners.setdefault(word.replace("-", " "), key)
    of_glossary = {word.lower() for words in synonyms().values() for word in words}
    return {word: key for word, key in owners.items() if word.lower() not in of_glossary}


def comparison(name: str) -> list[str]:
    """Return the table of measured ratios of a function, in reStructuredText."""
    head = ["", ".. rubric:: Compared with Pinocchio", ""]
    rows = replaced_by(name)
    if not rows:
        instead = [instead for instead, names in WITHOUT_COUNTERPART.items() if name in names]
        return [*head, f"In its place Pinocchio's Python has {instead[0]}.", ""] if instead else []
    body = [["Pinocchio", *(HOW[0], "bound", "batch of 1,024")], *map(cells, rows)]
    table = [f"   {'-' if k else '* -'} {cell}" for row in body for k, cell in enumerate(row)]
    table = [line if line.startswith("   *") else f"  {line}" for line in table]
    return [*head, ".. list-table::", "   :header-rows: 1", "", *table, "", circumstances(), ""]


def cells(row: Replacement) -> list[str]:
    """Return a row of the table of ratios."""
    names = ", ".join(f"``{name}``" for name in row.theirs.split(", "))
    note = re.sub("`(.+?)`", r"``\1``", f": {row.note}" if row.note else "")
    ratios = (ratios_to_pinocchio().get((row.measured, how), ()) for how in HOW)
    return [names + note, *(re.sub("</?b>", "**", faster(one)) for one in ratios)]


def circumstances() -> str:
    """Say of what, when and where the ratios are."""
    stored = measured("from_pinocchio")
    config, robots = stored["config"], list(stored["robots"])
    return (
        f"Times faster, the least and the largest of {', '.join(robots[:-1])} and {robots[-1]}: "
        f"{stored['date']}, {config['processor']} with {SETS[config['used']]}, one thread, "
        f"Pinocchio {stored['versions']['pin']}. :doc:`/from_pinocchio` says how they are measured."
    )


def found_in_files(filenames, entries_of=generate.find_autosummary_in_files):
    """Return the entries of tables of names for which autosummary makes pages."""
    return [entry for entry in entries_of(filenames) if not is_left_out(entry.name)]


def setup(app) -> dict:
    """Change tables of names, and docstrings after numpydoc has read them, whose priority is 500."""
    generate.find_autosummary_in_files = found_in_files
    app.add_directive("autosummary", Names, override=True)
    app.add_role("compared", roles.CustomRole("compared", roles.generic_custom_role, {"class": ["compared"]}))
    app.connect("autodoc-process-docstring", add, priority=600)
    return {"parallel_read_safe": True}
