"""Drop-in for `pinocchio.cholesky`, with what its Python module lacks: M = U D U^T in ``data``.

Signatures and results are Pinocchio's own. Vectors may be (nv,) or (nv, k). U is the transpose of the L of
`treefactor.factor`. Everything is read from and left in ``data``, so calls may be mixed with Pinocchio's.
"""

from __future__ import annotations

import weakref

import numpy as np
import pinocchio as pin

from .. import ltdl
from ..ltdl import Factor
from ..tree import Tree
from . import pinocchio_

_TREES: dict[int, tuple[weakref.ref, int, Tree]] = {}  # by identity: model, its joints, its tree


def decompose(model: pin.Model, data: pin.Data) -> np.ndarray:
    """Factorize the upper triangle of ``data.M``; fill ``data.U``, ``data.D`` and ``data.Dinv``.

    Returns
    -------
    ndarray, shape (nv, nv)
        A copy of ``data.U``, as Pinocchio returns it.

    Raises
    ------
    NotPositiveDefiniteError
        Where Pinocchio would go on with NaN; names the row and joint. ``data`` is unchanged then.

    Notes
    -----
    Pinocchio's Python does not show ``data.Dinv``, which its own solver reads. There its `decompose` runs,
    too, and leaves the right value; `Accelerator` is the way without that cost.
    """
    factor = ltdl.factor(data.M, _tree(model), triangle="upper")
    D = factor.D()
    if hasattr(data, "Dinv"):
        data.Dinv[...] = 1.0 / D
    elif not len(model.mimicking_joints):  # Pinocchio refuses mimic joints here, treefactor does not
        pin.cholesky.decompose(model, data)
    U = np.swapaxes(factor.L(), -1, -2)
    data.U[...] = U
    data.D[...] = D
    return U.copy()


def solve(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """M^-1 v from ``data.U`` and ``data.D``, as `decompose` left them."""
    return _factor(model, data).solve(v)


def computeMinv(model: pin.Model, data: pin.Data) -> np.ndarray:
    """M^-1 from ``data.U`` and ``data.D``; also left in ``data.Minv``."""
    inverse = _factor(model, data).inverse()
    data.Minv[...] = inverse
    return inverse


def Mv(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """M v, reading the upper triangle of ``data.M``."""
    return ltdl.multiply(data.M, _tree(model), v, triangle="upper")


def Uv(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """U v."""
    return _factor(model, data).multiply_lt(v)


def Utv(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """U^T v."""
    return _factor(model, data).multiply_l(v)


def Uiv(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """U^-1 v."""
    return _factor(model, data).solve_lt(v)


def Utiv(model: pin.Model, data: pin.Data, v) -> np.ndarray:
    """U^-T v."""
    return _factor(model, data).solve_l(v)


def _tree(model: pin.Model) -> Tree:
    """Tree of the model, made once as long as the model lives and no joint is added."""
    key = id(model)
    known, joints, tree = _TREES.get(key, (None, 0, None))
    if tree is None or known() is not model or joints != model.njoints:
        tree = pinocchio_.tree(model)
        _TREES[key] = weakref.ref(model, lambda _: _TREES.pop(key, None)), model.njoints, tree
    return tree


def _factor(model: pin.Model, data: pin.Data) -> Factor:
    """The factor that stands in ``data.U`` and ``data.D``."""
    return Factor.from_ld(data.U, data.D, _tree(model), triangle="upper")
