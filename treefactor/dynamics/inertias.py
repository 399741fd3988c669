"""Inertial parameters of their own for every element of a batch, or one set for all."""

from __future__ import annotations

import numpy as np

from .._util.validation import aligned, as_real
from ..exceptions import ShapeError
from ..model._model_parameters import rotors_of
from ..model.model import Model, require_model
from .bodies import layout_of, sets_of

LANES = 8


class Inertias:
    """Inertial parameters of a model's bodies that take the place of its own.

    Functions of the dynamics and derivatives take them as ``inertias``.

    Parameters
    ----------
    model : Model
    pi : array_like, shape (njoints, 10), (..., njoints, 10) or (K, njoints, 10)
        Parameters of every joint's body, see `Model.parameters`: one set, one for every element of a batch,
        or with ``which`` K sets.
    armature : array_like, shape (nv,) or with the leading axes of pi, optional
        By default the model's.
    which : array_like of int, shape (...), optional
        Number of the set of every element of a batch.

    Attributes
    ----------
    model : Model
    batch : tuple of int
        Leading axes of a batch whose elements have parameters of their own; () for one set.

    Raises
    ------
    ShapeError, DtypeError
    """

    def __init__(self, model: Model, pi, armature=None, which=None):
        require_model(model)
        pi = as_real(pi, "pi")
        if pi.shape[-2:] != (model.njoints, 10):
            expected = (model.njoints, 10)
            raise ShapeError(
                f"pi must have shape (..., {expected[0]}, 10), got {pi.shape}", pi.shape, expected
            )
        lead = pi.shape[:-2]
        if armature is not None:
            armature = as_real(armature, "armature")
        rotors = model._rotors if armature is None else rotors_of(model, armature)
        sets = sets_of(layout_of(model), pi, np.broadcast_to(rotors, (*lead, model.extended.n)))
        self.model = model
        if which is not None:
            which = np.asarray(which, dtype=np.intp)
            self.batch = which.shape
            bodies = model.bodies.with_sets(
                np.ascontiguousarray(sets), which.size, _padded(which.ravel()), which.ndim == 1
            )
        elif lead:
            self.batch = lead
            rows = sets.reshape(-1, sets.shape[-1])
            blocks = -(-len(rows) // LANES)
            lanes = aligned((blocks, rows.shape[1], LANES))
            numbers = np.minimum(np.arange(blocks * LANES), len(rows) - 1)  # the last one fills the block
            lanes[...] = rows[numbers].reshape(blocks, LANES, rows.shape[1]).swapaxes(1, 2)
            bodies = model.bodies.with_sets(lanes, len(rows), None, len(lead) == 1)
        else:
            self.batch = ()
            bodies = model.bodies.with_sets(np.ascontiguousarray(sets))
        self.variant = _variant(model, bodies, self.batch)


def _padded(which: np.ndarray) -> np.ndarray:
    """Return numbers of sets for whole blocks of 8; the last one fills the last block."""
    return np.pad(which, (0, -len(which) % LANES), mode="edge") if len(which) else which


def _variant(model: Model, bodies, batch: tuple[int, ...]) -> Model:
    """Return a model for compiled functions: the same but for the constants of the compiled bodies."""
    found = Model.__new__(Model)
    found.__dict__.update(model.__dict__, bodies=bodies, _elements=batch, _requests={}, _state_functions={})
    found.__dict__.pop("_without_gravity", None)
    return found


def with_inertias(model: Model, inertias) -> Model:
    """Return the model whose compiled functions have these inertias: an Inertias, or parameters."""
    if inertias is None:
        return model
    require_model(model)
    if not isinstance(inertias, Inertias):
        inertias = Inertias(model, inertias)
    elif inertias.model is not model:
        raise ValueError(f"the inertias belong to {inertias.model!r}, not to {model!r}")
    return inertias.variant


def bindable_model(model: Model, inertias) -> Model:
    """Return the model to which a call with these inertias, one set or None, can be bound."""
    found = with_inertias(model, inertias)
    if found._elements:
        raise ValueError(
            f"inertias for a batch of shape {found._elements} cannot be bound: a bound call has one "
            "configuration"
        )
    return found
