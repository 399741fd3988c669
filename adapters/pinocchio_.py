"""Pinocchio: trees and inertia matrices of its models, and faster linear algebra on its ``data``."""

from __future__ import annotations

from . import missing_engine

try:
    import pinocchio as pin
except ImportError as error:
    raise missing_engine("Pinocchio", "pinocchio", error) from None

from pathlib import Path

import numpy as np

from .._arrays import as_real, flatten
from ..exceptions import AdapterError, ShapeError
from ..ltdl import BoundFactor
from ..tree import Tree, freedom_names
from . import _pinocchio_cholesky as cholesky

__all__ = ["Accelerator", "cholesky", "load", "mass_matrix", "massless_joints", "tree"]


def load(path, floating: bool = False, mimic: bool = False) -> pin.Model:
    """Load a URDF.

    Parameters
    ----------
    path : path-like
    floating : bool
        Put a free-flyer named ``root_joint`` under the root link.
    mimic : bool
        Couple mimic joints to the joint they follow, instead of leaving both free.

    Raises
    ------
    AdapterError
        Where the file is missing, no URDF, or refused by Pinocchio; names the file and the reason.
    """
    path = Path(path)
    if not path.is_file():
        raise AdapterError(f"{path}: no such file", engine="pinocchio", file=path)
    try:
        if floating:
            return pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer(), mimic=mimic)
        return pin.buildModelFromUrdf(str(path), mimic=mimic)
    except (ValueError, RuntimeError, TypeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise AdapterError(
            f"{path}: Pinocchio cannot load it: {reason}", engine="pinocchio", file=path
        ) from error


def tree(model: pin.Model) -> Tree:
    """Tree of the freedoms of a model, in the order of its velocity vector.

    Joints with several freedoms are chains, joints without freedoms vanish. In a model with mimic joints
    the freedoms of the mimicking joints merge with those they follow, and the tree is the smallest that
    holds the pattern of the reduced H.

    Parameters
    ----------
    model : pinocchio.Model

    Returns
    -------
    Tree
        Of ``model.nv`` nodes, with the joints' names.
    """
    parents = np.array(list(model.parents)[1:], dtype=int) - 1  # joint 0 is the universe
    names = list(model.names)[1:]
    nvs = np.array(list(model.nvs)[1:], dtype=int)
    if not len(model.mimicking_joints):
        return Tree.from_joints(parents, nvs, names)
    extended = np.array(list(model.nvExtendeds)[1:], dtype=int)
    # freedom of the reduced model that moves every freedom of the extended one
    moved_by = np.concatenate([
        idx_v + np.arange(count)
        for idx_v, count in zip(list(model.idx_vs)[1:], extended, strict=True)
    ])  # fmt: skip
    rows, columns = np.nonzero(Tree.from_joints(parents, extended).mask())
    pattern = np.zeros((model.nv, model.nv), dtype=bool)
    pattern[moved_by[rows], moved_by[columns]] = True
    return Tree.from_pattern(pattern, freedom_names(names, nvs))


def mass_matrix(model: pin.Model, data: pin.Data, q) -> np.ndarray:
    """Joint-space inertia matrix H by Pinocchio's CRBA, armature included.

    Parameters
    ----------
    q : array_like, shape (..., nq)
        Configurations, as Pinocchio lays them out.

    Returns
    -------
    ndarray, shape (..., nv, nv)
        Symmetric copies.
    """
    q = as_real(q, "q")
    if q.shape[-1:] != (model.nq,):
        raise ShapeError(f"q must have shape (..., {model.nq}), got {q.shape}", q.shape, (model.nq,))
    H = np.empty((*q.shape[:-1], model.nv, model.nv))
    for one, to in zip(flatten(q, 1), flatten(H, 2), strict=True):
        upper = np.triu(pin.crba(model, data, one))
        to[...] = upper + np.triu(upper, 1).T
    return H


def massless_joints(model: pin.Model) -> list[str]:
    """Joints that move no inertia: H is singular there. Armature counts as inertia."""
    moved = [np.zeros((6, 6)) for _ in range(model.njoints)]
    for j in range(model.njoints - 1, 0, -1):
        moved[j] += model.inertias[j].matrix()
        moved[model.parents[j]] += moved[j]
    armature = np.asarray(model.armature)
    return [
        model.names[j]
        for j in range(1, model.njoints)
        if model.nvs[j]
        and not moved[j].any()
        and not armature[model.idx_vs[j] : model.idx_vs[j] + model.nvs[j]].all()
    ]


class Accelerator(BoundFactor):
    """The factor of ``data.M``, read in place: the fast way for a script that calls Pinocchio's CRBA.

    Parameters
    ----------
    model : pinocchio.Model
    data : pinocchio.Data
        Only ``data.M`` is used, its upper triangle; ``data.U`` and ``data.D`` stay as they are.

    Notes
    -----
    Call `factor` after every `pinocchio.crba` or `computeAllTerms`, then any operation of `Factor`.

    Examples
    --------
    >>> import numpy as np, pinocchio as pin
    >>> from treefactor.adapters.pinocchio_ import Accelerator
    >>> model = pin.buildSampleModelHumanoid()
    >>> data = model.createData()
    >>> accelerator = Accelerator(model, data)
    >>> q, v, tau = pin.neutral(model), np.zeros(model.nv), np.ones(model.nv)
    >>> _, bias = pin.crba(model, data, q), pin.nle(model, data, q, v)
    >>> a = accelerator.factor().solve(tau - bias)
    >>> np.allclose(a, pin.aba(model, data, q, v, tau))
    True
    """

    def __init__(self, model: pin.Model, data: pin.Data):
        super().__init__(data.M, tree(model), triangle="upper")
        self._data = data  # owns the memory of M
