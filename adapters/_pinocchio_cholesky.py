"""Replace `pinocchio.cholesky`, with functions its Python module lacks: M = U D U^T in ``data``.

Signatures and results are Pinocchio's own. Vectors may be (nv,) or (nv, k). U is the transpose of the L of
`treefactor.factor`. Everything is read from and left in ``data``, so calls may be mixed with Pinocchio's.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..exceptions import NotPositiveDefiniteError
from ..linalg.bound_factor import BoundFactor
from ..linalg.factorization import Factor
from ..linalg.solve_multiply import multiply
from ..tree.tree import Tree
from ._pinocchio_tree import tree as tree_of


@dataclass
class _State:
    """Views of the arrays of one ``data``, and the factors on them, kept as long as it lives."""

    data: weakref.ref
    joints: int
    tree: Tree
    M: BoundFactor  # of data.M
    UD: Factor  # of data.U and data.D
    U: np.ndarray
    D: np.ndarray


_STATES: dict[int, _State] = {}  # by identity of data


def decompose(model: pin.Model, data: pin.Data) -> np.ndarray:
    """Factorize the upper triangle of ``data.M``; fill ``data.U``, ``data.D`` and ``data.Dinv``.

    Returns
    -------
    ndarray, shape (nv, nv)
        A copy of ``data.U``, as Pinocchio returns it.

    Raises
    ------
    NotPositiveDefiniteError
        If Pinocchio would go on with NaN; names the row and joint. ``data`` is unchanged then.

    Notes
    -----
    Pinocchio's Python does not show ``data.Dinv``, which its own solver reads. There its `decompose` runs,
    too, and leaves the right value; `treefactor.adapters.pinocchio_.Accelerator` is the way without that
    cost.
    """
    state = _state(model, data)
    state.M.factor()
    if hasattr(data, "Dinv"):  # pragma: no cover - not shown by Pinocchio 4.1
        state.M.export(state.U, state.D)
        data.Dinv[...] = 1.0 / state.D
    else:
        if not len(model.mimicking_joints):  # Pinocchio refuses mimic joints here, treefactor does not
            pin.cholesky.decompose(model, data)
        state.M.export(state.U, state.D)
    return state.U.copy()


def solve(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """Return M^-1 v from ``data.U`` and ``data.D``, as `decompose` left them."""
    return _factor(model, data).solve(v)


def computeMinv(model: pin.Model, data: pin.Data) -> np.ndarray:
    """Return M^-1 from ``data.U`` and ``data.D``; also left in ``data.Minv``."""
    inverse = _factor(model, data).inverse()
    data.Minv[...] = inverse
    return inverse


def Mv(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """Return M v, reading the upper triangle of ``data.M``."""
    return multiply(data.M, _state(model, data).tree, v, triangle="upper")


def Uv(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """Return U v."""
    return _factor(model, data).multiply_lt(v)


def Utv(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """Return U^T v."""
    return _factor(model, data).multiply_l(v)


def Uiv(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """Return U^-1 v."""
    return _factor(model, data).solve_lt(v)


def Utiv(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """Return U^-T v."""
    return _factor(model, data).solve_l(v)


def _state(model: pin.Model, data: pin.Data) -> _State:
    """Return the state of data, made at its first use."""
    key = id(data)
    state = _STATES.get(key)
    if state is None or state.data() is not data or state.joints != model.njoints:
        tree = tree_of(model)
        bound = BoundFactor(data.M, tree, triangle="upper")
        forget = weakref.ref(data, lambda _: _STATES.pop(key, None))
        taken = Factor(tree, triangle="upper")
        state = _STATES[key] = _State(forget, model.njoints, tree, bound, taken, data.U, data.D)
    return state


def _factor(model: pin.Model, data: pin.Data) -> Factor:
    """Return the factor stored in ``data.U`` and ``data.D``."""
    state = _state(model, data)
    try:
        return state.UD.adopt(state.U, state.D)
    except NotPositiveDefiniteError as error:
        message = f"{error}: call decompose(model, data) first"
        raise NotPositiveDefiniteError(message, error.row, error.name) from None
