"""Validate the objects of engines that adapters take; errors name the adapter that takes another one."""

from __future__ import annotations

from os import PathLike

from .messages import received

ADAPTERS = "treefactor.adapters."
TAKEN = {  # the call of an adapter that takes an object of an engine, by the engine's package and the class
    ("pinocchio", "Model"): f"{ADAPTERS}pinocchio_.model(model) takes it",
    ("pinocchio", "Data"): f"{ADAPTERS}pinocchio_.model(model) takes the model of this data",
    ("mujoco", "MjModel"): f"{ADAPTERS}mujoco_.model(model) takes it",
    ("mujoco", "MjData"): f"{ADAPTERS}mujoco_.model(model) takes the model of this data",
    ("mujoco", "MjSpec"): f"{ADAPTERS}mujoco_.model(spec.compile()) takes it",
    ("pydrake", "MultibodyPlant"): f"{ADAPTERS}drake_.Body(plant) takes it",
}


def require_object(
    value: object, kinds: type | tuple[type, ...], name: str, wanted: str, own: str = ""
) -> None:
    """Raise TypeError unless a value is what an adapter takes; the message names the right adapter.

    Parameters
    ----------
    value : object
    kinds : type or tuple of types
    name : str
        Of the argument.
    wanted : str
        What it must be, with its article.
    own : str
        Advice about this adapter for a path, "" for none.
    """
    if isinstance(value, kinds):
        return
    package = type(value).__module__.partition(".")[0]
    if isinstance(value, str | PathLike):
        advice = own
    elif package == "treefactor" and type(value).__name__ == "Model":
        advice = "a treefactor.Model needs no translation"
    elif package == "treefactor" and type(value).__name__ == "Body":
        advice = f"it is for {ADAPTERS}{_adapter_of(value)}"
    else:
        advice = TAKEN.get((package, type(value).__name__), "")
    raise TypeError(f"{name} must be {wanted}, got {received(value)}{advice and f': {advice}'}")


def _adapter_of(value: object) -> str:
    """Return the adapter that defines the class of a value: ``_mujoco_body`` belongs to mujoco_."""
    engine = type(value).__module__.rpartition(".")[2].strip("_").partition("_")[0]
    return f"{engine}_"
