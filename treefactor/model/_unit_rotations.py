"""Check that the rotations in one configuration have unit length; errors name the joint and its entries."""

from __future__ import annotations

import numpy as np

from ..exceptions import ConfigurationError
from ..tolerances import REFUSED_SQUARE
from .joints import ROTATIONS
from .model import Model


def require_rotations(model: Model, q: np.ndarray, name: str, any_length: bool = False) -> None:
    """Raise ConfigurationError for a (cos, sin) or quaternion without unit length, or of length zero only.

    Parameters
    ----------
    model : Model
    q : ndarray, shape (nq,)
        Finite numbers.
    name : str
        Name of q in messages.
    any_length : bool
        Whether only length zero is refused.
    """
    for kind, turned in ROTATIONS.items():
        if kind not in model.entries:
            continue
        x = q[model.entries[kind][0][:, turned]]
        with np.errstate(over="ignore"):
            odd = ~x.any(axis=-1) if any_length else np.abs(np.square(x).sum(axis=-1) - 1.0) > REFUSED_SQUARE
        for k in np.flatnonzero(odd):
            joints = [at for at, joint in enumerate(model.joints) if joint.kind == kind and not joint.mimic]
            _refuse(model, q, joints[k], name)


def _refuse(model: Model, q: np.ndarray, number: int, name: str) -> None:
    """Raise ConfigurationError about the rotation of a joint: its length, and what to do."""
    joint, first = model.joints[number], int(model.idx_q[number])
    turned = ROTATIONS[joint.kind]
    first, last = first + turned.start, first + turned.stop
    x, quaternion = q[first:last], last - first == 4
    largest = np.abs(x).max()
    length = largest * np.linalg.norm(x / largest) if largest else 0.0
    remedy = f"treefactor.normalize(model, {name}) scales it to length 1"
    if not length:
        identity = "0, 0, 0, 1" if quaternion else "1, 0"
        remedy = f"set {name}[{first}:{last}] to ({identity}), or begin with treefactor.neutral(model)"
    what = "quaternion" if quaternion else "(cos, sin)"
    raise ConfigurationError(
        f"the {what} of joint {joint.name!r} in {name} has length {length:.9g}, not 1: {remedy}", joint.name
    )
