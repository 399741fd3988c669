"""Replace `pinocchio.cholesky`, with functions its Python module lacks: M = U D U^T in ``data``.

Signatures and results are Pinocchio's own. Vectors may be (nv,) or (nv, k). U is the transpose of the L of
`treefactor.factor`. Everything is read from and left in ``data``, so calls may be mixed with Pinocchio's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from .._util._by_identity import ByIdentity  # type: ignore[import-not-found]  # compiled
from ..exceptions import NotPositiveDefiniteError
from ..linalg.bound_factor import BoundFactor
from ..linalg.foreign_factor import ForeignFactor
from ..linalg.solve_multiply import multiply
from ._pinocchio_arguments import require_data, require_model
from ._pinocchio_tree import tree as tree_of

_decompose = pin.cholesky.decompose
SHOWS_DINV = hasattr(pin.Data, "Dinv")  # not in Pinocchio 4.1


@dataclass(slots=True)
class _State:
    """Views of the arrays of one ``data``, and the factors on them, kept as long as it lives."""

    mimic: bool  # Pinocchio refuses mimic joints here, treefactor does not
    M: BoundFactor  # of data.M
    UD: _Factor  # in data.U and data.D
    U: np.ndarray
    D: np.ndarray
    H: np.ndarray  # data.M
    Minv: np.ndarray


_STATES = ByIdentity()  # factors kept for each pair of data and model
_find = _STATES.find


class _Factor(ForeignFactor):
    """Factor in ``data.U`` and ``data.D``."""

    def _read(self) -> None:
        try:
            super()._read()
        except NotPositiveDefiniteError as error:
            message = f"{error}: call decompose(model, data) first"
            raise NotPositiveDefiniteError(message, error.row, error.name) from None


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
    Pinocchio's Python does not show ``data.Dinv``, which its own solver reads. So its `decompose` runs, too,
    once ``data.M`` is known to be positive definite, and fills ``data``;
    `treefactor.adapters.pinocchio_.Accelerator` is the way without that cost.
    """
    state = _find(data, model) or _state(model, data)
    state.M.factor()
    if not (SHOWS_DINV or state.mimic):
        return _decompose(model, data)
    state.M.export(state.U, state.D)
    if SHOWS_DINV:  # pragma: no cover
        data.Dinv[...] = 1.0 / state.D
    return state.U.copy()


def solve(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """Return M^-1 v from ``data.U`` and ``data.D``, as `decompose` left them."""
    return (_find(data, model) or _state(model, data)).UD.solve(v)


def computeMinv(model: pin.Model, data: pin.Data) -> np.ndarray:
    """Return M^-1 from ``data.U`` and ``data.D``; also left in ``data.Minv``."""
    state = _find(data, model) or _state(model, data)
    return state.UD.inverse_kept(state.Minv)


def Mv(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """Return M v, reading the upper triangle of ``data.M``."""
    state = _find(data, model) or _state(model, data)
    return multiply(state.H, state.UD.tree, v, triangle="upper")


def Uv(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """Return U v."""
    return (_find(data, model) or _state(model, data)).UD.multiply_lt(v)


def Utv(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """Return U^T v."""
    return (_find(data, model) or _state(model, data)).UD.multiply_l(v)


def Uiv(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """Return U^-1 v."""
    return (_find(data, model) or _state(model, data)).UD.solve_lt(v)


def Utiv(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """Return U^-T v."""
    return (_find(data, model) or _state(model, data)).UD.solve_l(v)


def _state(model: pin.Model, data: pin.Data) -> _State:
    """Make the state of data, which holds views of its arrays but not data itself."""
    require_model(model)
    require_data(data)
    tree = tree_of(model)
    state = _State(
        bool(len(model.mimicking_joints)),
        BoundFactor(data.M, tree, triangle="upper"),
        _Factor(data.U, data.D, tree, triangle="upper"),
        *(data.U, data.D, data.M, data.Minv),
    )
    return _STATES.keep(data, model, state)
