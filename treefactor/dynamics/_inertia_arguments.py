"""Validate the armature of sets of inertias, the sets that elements of a batch choose, and their model."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from .._util.validation import as_array, as_real, require_finite
from ..exceptions import DtypeError, ShapeError
from ..model.model import Model
from ._recursions import BODY
from .bodies import layout_of

LANES = 8
INERTIAL = ("mass", "first", "tensor", "carried", "local", "above")  # or chosen by the inertias
MOTION = [name for name in BODY.names if name not in INERTIAL]


def armature_of(model: Model, armature, sets: tuple[int, ...]) -> np.ndarray | None:
    """Return a copy of armature (nv,) or (number of sets, nv); None: the model's."""
    if armature is None:
        return None
    rotors = as_real(armature, "armature")
    if rotors.shape not in ((model.nv,), (*sets, model.nv)):
        expected = f"({model.nv},)" + (f" or {(*sets, model.nv)}" if sets else "")
        raise ShapeError(
            f"armature must have shape {expected}, got {rotors.shape}", rotors.shape, (model.nv,)
        )
    require_finite(rotors, "armature")
    return rotors.copy() if rotors.ndim == 1 else rotors.reshape(-1, model.nv).copy()


def checked_which(which, sets: tuple[int, ...]) -> np.ndarray | None:
    """Return a copy of the numbers of sets; None: every element has its own."""
    if which is None:
        return None
    numbers = as_array(which, "which")
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise DtypeError(f"which must hold whole numbers, got dtype {numbers.dtype}", numbers.dtype)
    if len(sets) != 1:
        text = f"pi must have shape (K, njoints, 10) where which is given, got leading axes {sets}"
        raise ShapeError(text, sets, (1,))
    if numbers.ndim == 0:
        raise ShapeError("which must have the axes of a batch, got one number", (), (1,))
    bad = np.argwhere((numbers < 0) | (numbers >= sets[0]))
    if len(bad):
        at = tuple(bad[0].tolist())
        place = f"which[{', '.join(map(str, at))}]" if at else "which"
        raise IndexError(f"{place} is {numbers[at]}, but there are {sets[0]} sets: 0 to {sets[0] - 1}")
    return np.array(numbers, dtype=np.intp)


def padded(which: np.ndarray) -> np.ndarray:
    """Return numbers of sets for whole blocks of 8; the last one fills the last block."""
    return np.pad(which, (0, -len(which) % LANES), mode="edge") if len(which) else which


def index_of(rows) -> Any:
    """Return an index whose arrays are NumPy's."""
    if isinstance(rows, tuple):
        return tuple(index_of(part) for part in rows)
    if rows is None or isinstance(rows, Integral | slice):
        return rows
    numbers = as_array(rows, "rows")
    return numbers if numbers.size else numbers.astype(int)  # an empty list has numbers of no kind


def same_motions(one: Model, other: Model) -> bool:
    """Return whether models have the same bits but for inertias and armature."""
    if one is other:
        return True
    kinds = [[(joint.name, joint.kind) for joint in model.joints] for model in (one, other)]
    if kinds[0] != kinds[1] or not np.array_equal(one.gravity, other.gravity):
        return False
    bodies = [layout_of(model).structs[MOTION] for model in (one, other)]
    return all(np.array_equal(bodies[0][name], bodies[1][name]) for name in MOTION)
