"""Make the cheat sheet: calls by task, with Pinocchio's names, from the declarations."""

from __future__ import annotations

import importlib
import inspect
import re
from html import escape
from operator import attrgetter

from exhibits import Html

import treefactor
from treefactor.exceptions import AdapterError
from treefactor.quantities.replacements import GROUPS

HUMP = re.compile("(?<=[a-z])(?=[A-Z])")  # where Pinocchio's names may be broken
FURTHER = {  # what Pinocchio's Python has not
    "Many states, inner loops": ("bind", "stream", "Kinematics", "to_lanes", "from_lanes"),
    "Programs for one robot": ("generate", "compile", "Kernels.bind", "Kernels.rollout"),
    "Tasks": ("control.inverse_kinematics", "control.ilqr", "control.SamplingController", "Identification"),
    "Contacts and loops": (
        *("constraints.contacts_of", "constraints.Stepper", "Stepper.step", "Stepper.run"),
        *("constraints.close", "mlcp.solve"),
    ),
    "Other engines": (
        *("adapters.mujoco_.model", "adapters.mujoco_.configuration", "adapters.mujoco_.qpos"),
        *("adapters.mujoco_.velocity", "adapters.mujoco_.qvel", "adapters.pybullet_.model"),
    ),
}


def sheet() -> Html:
    """Show our calls with the arguments that they need, beside Pinocchio's names, on one page."""
    body = "<h2>treefactor</h2><p>import treefactor as tf. All calls take leading axes as a batch.</p>"
    for group, rows in GROUPS.items():
        names = {}
        for row in rows:
            for name in filter(None, row.ours.split(", ")):
                names.setdefault(name, row.theirs.split(", ")[0])
        if names:
            body += section(group, names)
    for group, listed in FURTHER.items():
        body += section(group, dict.fromkeys(filter(is_installed, listed), ""))
    return Html(f'<div class="cheat-sheet">{body}</div>')


def section(title: str, names: dict[str, str]) -> str:
    """Show calls of a task; ``names`` are ours, each with Pinocchio's."""
    rows = "".join(
        f"<tr><td><code>{escape(call(ours))}</code></td><td>{HUMP.sub('<wbr>', escape(theirs))}</td></tr>"
        for ours, theirs in names.items()
    )
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"


def call(name: str) -> str:
    """Return the call of a function of treefactor with the arguments that it needs."""
    function = named(name)
    of_object = "." in name and name[0].isupper() and not inspect.ismethod(function)
    shown = name.removeprefix("adapters.") if of_object or name.startswith("adapters.") else f"tf.{name}"
    if not callable(function):
        return shown
    parameters = inspect.signature(function).parameters.values()
    needed = [argument(one) for one in parameters if one.default is one.empty and one.name != "self"]
    return f"{shown}({', '.join(filter(None, needed))})"


def argument(parameter: inspect.Parameter) -> str:
    """Return how a call passes an argument; others than those with a name of their own are left out."""
    marks = {parameter.VAR_POSITIONAL: "*{}", parameter.KEYWORD_ONLY: "{0}={0}", parameter.VAR_KEYWORD: ""}
    return marks.get(parameter.kind, "{}").format(parameter.name)


def is_installed(name: str) -> bool:
    """Return whether the package is installed that a function needs: not all have wheels for every Python."""
    try:
        named(name)
    except AdapterError:
        return False
    return True


def named(name: str) -> object:
    """Return an object of treefactor or of its modules by its name."""
    if name.startswith("adapters."):
        importlib.import_module("treefactor." + ".".join(name.split(".")[:2]))
    place = treefactor.constraints if name.startswith("Stepper.") else treefactor
    return attrgetter(name)(place)
