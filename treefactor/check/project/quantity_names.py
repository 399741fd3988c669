"""Find quantities by the names that users write."""

from __future__ import annotations

from collections.abc import Mapping

from ..._util.messages import similar
from ..judge import ALL_QUANTITIES
from . import values

ALIASES = {
    "mass matrix": "H",
    "inertia matrix": "H",
    "inertia": "H",
    "crba": "H",
    "nle": "bias",
    "rnea": "inverse dynamics",
    "forward dynamics": "q̈",
    "aba": "q̈",
    "qdd": "q̈",
    "jdotv": "J̇v",
    "ltdl": "LᵀDL",
    "factor": "LᵀDL",
    "com": "centre of mass",
    "center of mass": "centre of mass",
}
ALIASES |= {"jacobian": "Jacobians", "placement": "placements", "energy": "energies"}


def quantity_named(name: object) -> str:
    """Return the quantity of that name, in any case, also with - or _ for spaces, or "qdd" for "q̈".

    Raises
    ------
    ValueError
        If there is none; the message lists them.
    """
    known = {**ALIASES, **{quantity.lower(): quantity for quantity in ALL_QUANTITIES}}
    text = values.text(name).replace("-", " ").replace("_", " ").lower()
    if text in known:
        return known[text]
    others = ", ".join(f"{own} (also {', '.join(_other_names(own))})" for own in ALL_QUANTITIES)
    raise ValueError(f"one of {others.replace(' (also )', '')}, got {name!r}{_near(text, known)}")


def _other_names(quantity: str) -> list[str]:
    """Return the other names of a quantity."""
    return [name for name, own in ALIASES.items() if own == quantity]


def _near(text: str, known: Mapping[str, str]) -> str:
    """Return the quantities with one of the words, or else with a similar name, as a question."""
    words = {word for word in text.split() if len(word) > 2}
    sharing = [known[name] for name in known if words & {*name.split()}]
    if not sharing:
        return similar(text, known)
    return f"; did you mean {', '.join(map(repr, dict.fromkeys(sharing)))}?"
