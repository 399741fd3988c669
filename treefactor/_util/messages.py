"""Build parts of error messages: the type received instead of a model or a tree, and similar names."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from types import MappingProxyType

SHOWN = 3  # similar names
NOWHERE: Mapping[str, str] = MappingProxyType({})

ADAPTERS = {  # the call that makes a Model of an engine's object, by the engine's package and the class
    ("pinocchio", "Model"): "treefactor.adapters.pinocchio_.model(model)",
    ("pinocchio", "Data"): "treefactor.adapters.pinocchio_.model(model), where model is the pinocchio.Model",
    ("mujoco", "MjModel"): "treefactor.adapters.mujoco_.model(model)",
    ("mujoco", "MjData"): "treefactor.adapters.mujoco_.model(model), where model is the mujoco.MjModel",
}
TREES = {  # the same for a Tree
    ("pinocchio", "Model"): "treefactor.adapters.pinocchio_.tree(model)",
    ("pinocchio", "Data"): "treefactor.adapters.pinocchio_.tree(model), where model is the pinocchio.Model",
}


COAL = "pip install 'treefactor[collision]' (coal has no wheels for Windows)"

ARGUMENTS = {  # arguments by their names in other packages, see `plain`
    other: own
    for own, others in {
        "fext": "externalforces externalforce forces fexternal",
        "h": "dt timestep stepsize step deltat",
        "v": "dq qd qdot qvel velocity",
        "a": "ddq qdd qddot qacc acceleration",
        "q": "qpos configuration position positions",
        "tau": "torque torques force u ctrl effort",
        "frame": "frameid framename link body linkname frames",
        "reference": "referenceframe rf wrt",
        "num_threads": "threads nthreads numthread workers njobs",
    }.items()
    for other in others.split()
}
BELONGS = "an array belongs here, and a model in the argument of that name"
NOT_ARRAYS = {  # advice about objects in the place of an array, by package and class
    ("pinocchio", "Model"): BELONGS,
    ("mujoco", "MjModel"): BELONGS,
    ("treefactor", "Model"): BELONGS,
    ("treefactor", "Tree"): "an array belongs here, and a tree in the argument of that name",
    ("pinocchio", "Data"): "functions of treefactor take no data",
    ("mujoco", "MjData"): "functions of treefactor take no data",
}


def similar(name: object, known: Iterable[str], elsewhere: Mapping[str, str] = NOWHERE) -> str:
    """Return "; did you mean ...?" with the known names nearest to a name, or nothing.

    ``elsewhere`` has known names by their names in other packages, see `plain`; such a name is the only one.
    """
    if not isinstance(name, str):
        return ""
    import difflib  # here, because only errors need it

    known = list(known)
    if elsewhere.get(plain(name)) in known:
        return f"; did you mean {elsewhere[plain(name)]!r}?"
    low = {one.lower(): one for one in known}
    near = [low[one] for one in difflib.get_close_matches(name.lower(), low, SHOWN, 0.5)]
    near += [one for one in known if name and name.lower() in one.lower() and one not in near]
    return f"; did you mean {', '.join(map(repr, near[:SHOWN]))}?" if near else ""


def plain(name: str) -> str:
    """Return a name as tables of names elsewhere have it: without capitals, underscores and spaces."""
    return re.sub(r"[\W_]", "", name).lower()


def received(value: object) -> str:
    """Return the type of a value in words, with its package where that is an engine."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    return f"{package}.{kind.__name__}" if package in ("pinocchio", "mujoco", "pydrake") else kind.__name__


def not_a_model(value: object, name: str = "model", others: str = "") -> str:
    """Return the message about something that is not a `treefactor.Model`: how to make one of it.

    ``others`` are the other types that the argument of that name may have.
    """
    return _expected(name, f"Model{others}", value, _engine(value, ADAPTERS) or _model_of(value))


def not_a_tree(value: object) -> str:
    """Return the message about something that is not a `treefactor.Tree`: how to make one of it."""
    return _expected("tree", "Tree", value, _engine(value, TREES) or _tree_of(value))


def not_a_sequence(name: str, kind: str, value: object) -> str:
    """Return the message about something that is not a sequence of joints, loops or frames of a new model."""
    call, advice = _of_class(value, ADAPTERS), ""
    if _is_ours(value, kind):
        advice = f"pass a list, {name}=[{kind.lower()}]"
    elif _is_ours(value, "Model"):
        advice = f"pass its attribute {name}"
    elif name == "joints":
        advice = f"make a Model with {call}" if call else _model_of(value)
    return f"{name} must be a sequence of {kind}, got {received(value)}{advice and f': {advice}'}"


def not_an_array(value: object) -> str:
    """Return what to do about a model, a tree or data in the place of an array, after a colon, or nothing."""
    advice = _of_class(value, NOT_ARRAYS)
    return advice and f": {advice}"


def misfit(function: Callable, arguments: list, options: Mapping[str, object]) -> str | None:
    """Return which arguments of a call are missing, unknown, too many or given twice; None if they fit."""
    signature = inspect.signature(function)
    own = [one.replace(annotation=one.empty) for one in signature.parameters.values() if one.name != "self"]
    if any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in own):
        return None
    arguments = arguments[len(signature.parameters) - len(own) :]
    names = [one.name for one in own]
    placed = [one.name for one in own if one.kind == one.POSITIONAL_OR_KEYWORD]
    call = f"{function.__name__}({', '.join(map(str, own))})"
    for name in options:
        if name not in names:
            near = similar(name, names, ARGUMENTS) or ":"
            return f"{function.__name__} has no argument {name!r}{near} {call}"
    if len(arguments) > len(placed):
        return f"{function.__name__} takes at most {len(placed)} arguments, got {len(arguments)}: {call}"
    given = placed[: len(arguments)]
    twice = [name for name in given if name in options]
    if twice:
        return f"{function.__name__} received {twice[0]} twice, by its place and by its name: {call}"
    missing = [one.name for one in own if one.default is one.empty and one.name not in (*given, *options)]
    plural = "s" * (len(missing) > 1)
    return f"{function.__name__} needs the argument{plural} {', '.join(missing)}: {call}" if missing else None


def writable_view(value: object, name: str) -> str:
    """Return how results are written into memory of another library, after a colon, or nothing."""
    if _package(value) == "torch":
        return f": pass {name}.numpy(), which shares the memory of a tensor of float64 on the CPU"
    return ": arrays of JAX cannot be written" if _package(value) in ("jax", "jaxlib") else ""


def _expected(name: str, wanted: str, value: object, advice: str) -> str:
    return f"{name} must be a treefactor.{wanted}, got {received(value)}{advice and f': {advice}'}"


def _engine(value: object, calls: dict[tuple[str, str], str]) -> str:
    call = _of_class(value, calls)
    return f"make one with {call}" if call else ""


def _of_class(value: object, texts: dict[tuple[str, str], str]) -> str:
    """Return the text for the class of a value, by its package and name, or nothing."""
    return texts.get((_package(value), type(value).__name__), "")


def _package(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def _model_of(value: object) -> str:
    if isinstance(value, str) and value.lstrip().startswith("<"):
        return "read the text of a URDF with treefactor.Model.from_urdf_string(text)"
    if isinstance(value, str | PathLike):
        return "read a URDF with treefactor.Model.from_urdf(path)"
    if _is_ours(value, "Tree"):
        return "a tree has no masses; pass the model that it belongs to"
    return "pass its attribute model" if _is_ours(getattr(value, "model", None), "Model") else ""


def _tree_of(value: object) -> str:
    if _is_ours(value, "Model"):
        return "pass its attribute tree"
    return "treefactor.Tree(parent) makes one of a parent array" if isinstance(value, list | tuple) else ""


def _is_ours(value: object, name: str) -> bool:
    """Return whether a value is of the class of that name in this package, without importing it."""
    return type(value).__name__ == name and type(value).__module__.partition(".")[0] == "treefactor"
