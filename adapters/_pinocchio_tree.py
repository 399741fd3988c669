"""Build the tree of the freedoms of a Pinocchio model."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pinocchio as pin

from ..tree.tree import Tree, freedom_names
from ._pinocchio_arguments import require_model


def tree(model: pin.Model) -> Tree:
    """Return the tree of the freedoms of a model, in the order of its velocity vector.

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
    require_model(model)
    parents = [int(parent) - 1 for parent in list(model.parents)[1:]]  # joint 0 is the universe
    names = list(model.names)[1:]
    nvs = list(model.nvs)[1:]
    if not len(model.mimicking_joints):
        return _of_joints(tuple(parents), tuple(nvs), tuple(names))
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


@lru_cache(maxsize=64)
def _of_joints(parents: tuple[int, ...], nvs: tuple[int, ...], names: tuple[str, ...]) -> Tree:
    """Return `Tree.from_joints`; the same tree again, with its symbolic factorization, for an equal model."""
    return Tree.from_joints(parents, nvs, names)
