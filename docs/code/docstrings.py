"""Write out docstrings that refer to another function: "As for `rnea`." becomes the text of that function.

Sources name a function instead of repeating its parameters and errors; the reference shows the text.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Sequence
from operator import attrgetter

import treefactor

REFERENCE = re.compile(r"As (?:for|in|of) `([\w.]+)`(; so are the errors)?\.\s*")
LISTS = ("Parameters", "Other Parameters", "Attributes", "Raises")
Entry = tuple[str, list[str]]  # the line of names and type, and the lines of text below it


def expand(lines: Sequence[str], documented) -> list[str]:
    """Return the lines of the docstring of an object with all references replaced by what they refer to."""
    parts = sections(lines)
    errors: list[Entry] = []
    for title in filter(parts.__contains__, LISTS):
        entries = []
        for entry in entries_of(parts[title]):
            match = REFERENCE.match(" ".join(entry[1]))
            if match is None:
                entries.append(entry)
                continue
            other, rest = named(match[1], documented), " ".join(entry[1])[match.end() :]
            entries += [*replaced(entry[0], other, title), *([("", [rest])] if rest else [])]
            errors = listed(other, "Raises") if match[2] else errors
        parts[title] = written(entries)
    if errors:
        parts[list(parts)[-1]].append("")
        parts.setdefault("Raises", written(errors))
    heads = {title: [title, "-" * len(title)] if title else [] for title in parts}
    return [line for title, text in parts.items() for line in (*heads[title], *text)]


def process(app, what, name, documented, options, lines) -> None:
    """Replace the lines of a docstring, for Sphinx's event ``autodoc-process-docstring``."""
    lines[:] = expand(lines, documented)


def sections(lines: Sequence[str]) -> dict[str, list[str]]:
    """Return the lines of each section by its title; those before the first section have the title ""."""
    parts: dict[str, list[str]] = {"": []}
    title = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line and re.fullmatch("-{3,}", following) and len(following) == len(line):
            title = line
            parts[title] = []
        elif not (line and re.fullmatch("-{3,}", line) and len(line) == len(title) and not parts[title]):
            parts[title].append(line)
    return parts


def entries_of(text: Sequence[str]) -> list[Entry]:
    """Return the entries of a list of parameters or errors."""
    entries: list[Entry] = []
    for line in filter(str.strip, text):
        if line[0] != " ":
            entries.append((line, []))
        else:
            entries[-1][1].append(line.removeprefix("    "))
    return entries


def written(entries: Sequence[Entry]) -> list[str]:
    """Return the lines of entries; one without a name goes on with the text of the entry before."""
    lines = []
    for head, text in entries:
        lines += [head] * bool(head) + [f"    {line}" for line in text]
    return [*lines, ""]


def names_of(head: str) -> list[str]:
    """Return the names in the first line of an entry."""
    return [name.strip(" *") for name in head.partition(" : ")[0].split(",")]


def replaced(head: str, other, title: str) -> list[Entry]:
    """Return the entries of another object that have the names in a line, with the type in that line if any.

    Entries that share a text stay together; names that the other object does not list raise LookupError.
    """
    wanted, own = names_of(head), head.partition(" : ")[2]
    chosen: list[Entry] = []
    for theirs, text in listed(other, title):
        names = [name for name in names_of(theirs) if name in wanted]
        if names:
            kind = own if own and len(wanted) == 1 else kind_of(theirs, names)
            chosen.append((", ".join(names) + (f" : {kind}" if kind else ""), text))
    missing = set(wanted) - {name for entry in chosen for name in names_of(entry[0])}
    if missing:
        raise LookupError(f"{title} of {other.__name__} do not list {', '.join(sorted(missing))}")
    return chosen


def kind_of(head: str, names: Sequence[str]) -> str:
    """Return the type in the first line of an entry; of shapes, one for each name, those of some names."""
    kind = head.partition(" : ")[2]
    match = re.fullmatch(r"(.*)shapes (\(.*?\)(?:(?:, | and )\(.*?\))*)(.*)", kind)
    shapes = re.findall(r"\(.*?\)", match[2]) if match else ()
    every = names_of(head)
    if len(shapes) != len(every) or len(names) == len(every):
        return kind
    kept = [shape for name, shape in zip(every, shapes, strict=True) if name in names]
    return f"{match[1]}shape{'s' * (len(kept) > 1)} {', '.join(kept)}{match[3]}"


def listed(other, title: str) -> list[Entry]:
    """Return the entries of a section of the expanded docstring of an object; attributes are parameters."""
    parts = sections(expand(inspect.getdoc(other).splitlines(), other))
    if title in ("Parameters", "Attributes"):
        return [*entries_of(parts.get(title, ())), *entries_of(parts.get("Attributes", ()))]
    return entries_of(parts.get(title, ()))


def named(name: str, near):
    """Return the object of a name: in the class of a method, in its module, or in treefactor."""
    near = getattr(near, "__func__", getattr(near, "fget", near))
    module = sys.modules.get(getattr(near, "__module__", ""), treefactor)
    owner = getattr(near, "__qualname__", "").rpartition(".")[0]
    places = (getattr(module, owner, None), near, module, treefactor)
    for place in places[3:] if name.startswith("treefactor.") else places:
        try:
            return attrgetter(name.removeprefix("treefactor."))(place)
        except AttributeError:
            continue
    raise LookupError(f"{near} refers to {name!r}, which is not in its class, in its module or in treefactor")


def found_elsewhere(app, env, node, text):
    """Return a link to a name of treefactor that a docstring writes without its place."""
    if node.get("refdomain") != "py":
        return None
    python, target = env.domains["py"], node["reftarget"]
    for place in ("treefactor", "treefactor.identification", "treefactor.constraints"):
        if f"{place}.{target}" in python.objects:
            at = node["refdoc"], app.builder, node["reftype"], f"{place}.{target}"
            return python.resolve_xref(env, *at, node, text)
    return None


def setup(app) -> None:
    """Replace docstrings before numpydoc reads them, whose priority is 500; find names in other folders."""
    app.connect("autodoc-process-docstring", process, priority=400)
    app.connect("missing-reference", found_elsewhere)
