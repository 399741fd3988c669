"""Read which links of a robot need no collision checks from an SRDF."""

from __future__ import annotations

from .._util.xml import as_path, file_error, parse


def disabled_collisions(path) -> dict[frozenset[str], str]:
    """Return the reason of every pair of links with ``<disable_collisions>``, or raise AdapterError."""
    path = as_path(path, None)
    top = parse(path, None)
    if top.tag != "robot":
        raise file_error(path, None, f"an SRDF begins with <robot>, got <{top.tag}>")
    reasons = {}
    for k, element in enumerate(top.iterfind("disable_collisions")):
        links = [element.get(key) for key in ("link1", "link2")]
        if None in links:
            raise file_error(path, None, f"<disable_collisions> number {k} must have link1 and link2")
        reasons[frozenset(links)] = element.get("reason", "")
    return reasons
