"""Store what the recursions need of a model as plain arrays, in the files of programs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...model.inertia import Inertia
from ...model.joints import AXES, SIZES, Joint, Mimic
from ...model.model import Model

HEAD = "model."  # before the names of arrays in a file
NUMBERS = 6  # of up to two axes


def arrays_of(model: Model) -> dict[str, np.ndarray]:
    """Return arrays from which `model_of` makes a model whose recursions compute the same bits."""
    joints = (model._source or model).joints  # the model may have other parameters than these
    followed = [
        (-1.0, 1.0, 0.0) if j.mimic is None else (j.mimic.leader, j.mimic.ratio, j.mimic.offset)
        for j in joints
    ]
    columns = {
        "kind": [joint.kind for joint in joints],
        "parent": [joint.parent for joint in joints],
        "R": [joint.R for joint in joints],
        "p": [joint.p for joint in joints],
        "axis": [_axes(joint) for joint in joints],
        "pitch": [joint.pitch for joint in joints],
        "mimic": followed,
        "mass": [joint.inertia.mass for joint in joints],
        "com": [joint.inertia.com for joint in joints],
        "tensor": [joint.inertia.tensor for joint in joints],
        "rotors": np.concatenate([joint.armature for joint in joints]),
        "gravity": model.gravity,
        "parameters": model.parameters,
        "armature": model.armature,
    }
    return {HEAD + name: np.array(column) for name, column in columns.items()}


def model_of(arrays: Mapping, names: tuple[str, ...], name: str) -> Model | None:
    """Return the model of the arrays of a file, with the names of its joints; None if it has none.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the arrays describe no model.
    """
    if HEAD + "kind" not in arrays:
        return None
    column = {key.removeprefix(HEAD): arrays[key] for key in arrays if key.startswith(HEAD)}
    kinds = column["kind"].tolist()
    ends = np.cumsum([SIZES[kind][1] for kind in kinds])
    armature = np.split(column["rotors"], ends[:-1])
    followed = [
        None if leader < 0 else Mimic(int(leader), *rest) for leader, *rest in column["mimic"].tolist()
    ]
    columns = [column[key].tolist() for key in ("parent", "R", "p", "axis", "pitch", "mass", "com", "tensor")]
    joints = [
        Joint(
            *own, parent, R, p, _axes_of(own[1], axes), pitch, Inertia(mass, com, tensor), rotors, mimic=mimic
        )
        for *own, parent, R, p, axes, pitch, mass, com, tensor, rotors, mimic in zip(
            names, kinds, *columns, armature, followed, strict=True
        )
    ]
    model = Model(joints, column["gravity"], name, False)
    changed = not np.array_equal(model.parameters, column["parameters"])
    if changed or not np.array_equal(model.armature, column["armature"]):
        model = model.with_parameters(column["parameters"], column["armature"])
    return model


def _axes_of(kind: str, axes: list[float]) -> np.ndarray | None:
    """Return the axes of a kind of joint among numbers that `_axes` has filled up."""
    if kind not in AXES:
        return None
    return np.reshape(axes, (2, 3)) if AXES[kind] == 2 else np.array(axes[:3])


def _axes(joint: Joint) -> np.ndarray:
    """Return the axes of a joint, filled up with zeros."""
    axes = np.zeros(NUMBERS)
    if joint.axis is not None:
        axes[: joint.axis.size] = joint.axis.ravel()
    return axes
